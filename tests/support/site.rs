//! A scripted web site on a loopback address, which remembers who asked for what.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest time that the site waits for anybody.
const PATIENCE: Duration = Duration::from_secs(20);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Number of its connection, from 1.
    pub connection: usize,
    pub method: String,
    pub target: String,
    /// In order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Octets of the header section, one character each.
    pub raw: String,
    /// Who asked.
    pub from: SocketAddr,
    /// When it was complete.
    pub at: Instant,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// One step of an answer.
#[derive(Clone, Debug)]
enum Step {
    Send(Vec<u8>),
    /// Sends the same again and again, until the client goes away.
    Endless(Vec<u8>),
    Wait(Duration),
    Close,
    /// Closes with what was asked unread, which resets the connection.
    Reset,
}

/// What is answered: steps one after the other.
#[derive(Clone, Debug, Default)]
pub struct Answer(Vec<Step>);

impl Answer {
    /// An answer with its Content-Length. Headers are lines without their ends.
    pub fn new(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        let length = format!("Content-Length: {}", body.as_ref().len());
        Self::head(status, &[headers, &[&length]].concat()).send(body)
    }

    /// `200 OK` with this body.
    pub fn ok(headers: &[&str], body: impl AsRef<[u8]>) -> Self {
        Self::new("200 OK", headers, body)
    }

    /// Status line and headers only.
    pub fn head(status: &str, headers: &[&str]) -> Self {
        let mut head = format!("HTTP/1.1 {status}\r\n");
        for line in headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        Self::raw(format!("{head}\r\n"))
    }

    /// These bytes, whatever they are.
    pub fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self::default().send(bytes)
    }

    /// The same, and then more bytes.
    pub fn send(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    /// The same, and then a chunk (RFC 9112, section 7.1); an empty one is the last.
    pub fn chunk(self, bytes: impl AsRef<[u8]>) -> Self {
        let size = format!("{:x}\r\n", bytes.as_ref().len());
        self.send([size.as_bytes(), bytes.as_ref(), b"\r\n"].concat())
    }

    pub fn endless(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Step::Endless(bytes.as_ref().to_vec()));
        self
    }

    pub fn wait(mut self, time: Duration) -> Self {
        self.0.push(Step::Wait(time));
        self
    }

    /// The same, and then the connection is closed.
    pub fn close(mut self) -> Self {
        self.0.push(Step::Close);
        self
    }

    /// The same, and then the connection is reset.
    pub fn reset(mut self) -> Self {
        self.0.push(Step::Reset);
        self
    }

    fn resets(&self) -> bool {
        self.0.iter().any(|step| matches!(step, Step::Reset))
    }
}

/// Either a plain connection or one over TLS.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// Everything that the threads of a site share.
#[derive(Default)]
struct Shared {
    paths: BTreeMap<String, Vec<Answer>>,
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
    sent: AtomicU64,
    names: Mutex<Vec<Option<String>>>,
    end: AtomicBool,
    tls: Option<Arc<rustls::ServerConfig>>,
}

/// The site; ended when dropped.
pub struct Site {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    /// A site whose paths answer one thing after the other; the last is repeated. Other
    /// paths answer 404.
    pub fn new(paths: &[(&str, &[Answer])]) -> Self {
        Self::start(paths, None)
    }

    /// A site with one path, `/`.
    pub fn answering(answer: Answer) -> Self {
        Self::new(&[("/", &[answer])])
    }

    /// The same over TLS.
    pub fn secure(paths: &[(&str, &[Answer])], tls: rustls::ServerConfig) -> Self {
        Self::start(paths, Some(Arc::new(tls)))
    }

    fn start(paths: &[(&str, &[Answer])], tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let paths =
            paths.iter().map(|(path, answers)| ((*path).to_owned(), answers.to_vec())).collect();
        let shared = Arc::new(Shared { paths, tls, ..Shared::default() });
        let thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                for stream in listener.incoming() {
                    if shared.end.load(Ordering::SeqCst) {
                        return;
                    }
                    let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                    let shared = Arc::clone(&shared);
                    // A client that goes away early is no fault of the site.
                    thread::spawn(move || stream.and_then(|s| shared.serve(s, number)));
                }
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Everything it was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("requests").clone()
    }

    /// How many connections were made to it.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Bytes that it could send.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Names that TLS connections asked for.
    pub fn names(&self) -> Vec<Option<String>> {
        self.shared.names.lock().expect("names").clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::SeqCst);
        // Wakes the thread; should it have ended already, there is nothing to wake.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream, number: usize) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let from = stream.peer_addr()?;
        let plain = stream.try_clone()?;
        let mut stream: BufReader<Box<dyn Stream>> = match &self.tls {
            None => BufReader::new(Box::new(stream)),
            Some(config) => {
                let mut connection =
                    rustls::ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                let mut stream = stream;
                while connection.is_handshaking() {
                    connection.complete_io(&mut stream)?;
                }
                let name = connection.server_name().map(str::to_owned);
                self.names.lock().expect("names").push(name);
                BufReader::new(Box::new(rustls::StreamOwned::new(connection, stream)))
            }
        };
        loop {
            let peeked = self.tls.is_none().then(|| peek(&plain)).transpose()?;
            // What is only peeked at stays unread.
            let asked = peeked.and_then(|raw| parse(&raw, (number, from)));
            let resets = asked.as_ref().is_some_and(|asked| self.answer(asked).resets());
            let asked = match asked {
                Some(asked) if resets => asked,
                _ => match read(&mut stream, (number, from))? {
                    Some(asked) => asked,
                    None => return Ok(()),
                },
            };
            let answer = self.answer(&asked);
            self.asked.lock().expect("requests").push(asked);
            if !self.play(&answer, stream.get_mut())? {
                return Ok(());
            }
        }
    }

    /// What the next request for a target is answered.
    fn answer(&self, asked: &Asked) -> Answer {
        let before = self.asked.lock().expect("requests");
        let before = before.iter().filter(|other| other.target == asked.target).count();
        match self.paths.get(&asked.target) {
            Some(answers) => answers[before.min(answers.len() - 1)].clone(),
            None => Answer::new("404 Not Found", &[], "nothing here"),
        }
    }

    /// Gives whether the connection stays.
    fn play(&self, answer: &Answer, stream: &mut Box<dyn Stream>) -> io::Result<bool> {
        let mut send = |bytes: &[u8]| -> io::Result<()> {
            stream.write_all(bytes)?;
            stream.flush()?;
            self.sent.fetch_add(bytes.len() as u64, Ordering::SeqCst);
            Ok(())
        };
        for step in &answer.0 {
            match step {
                Step::Send(bytes) => send(bytes)?,
                Step::Endless(bytes) => {
                    while !self.end.load(Ordering::SeqCst) {
                        send(bytes)?;
                    }
                }
                Step::Wait(time) => thread::sleep(*time),
                Step::Close | Step::Reset => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// A whole header section, left where it is.
fn peek(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = stream.peek(&mut buffer)?;
        let found = buffer[..length].windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = found {
            return Ok(buffer[..end + 4].to_vec());
        }
        if length == 0 {
            return Ok(Vec::new());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// A whole header section; `None` at the end of the connection.
fn read(stream: &mut impl BufRead, who: (usize, SocketAddr)) -> io::Result<Option<Asked>> {
    let mut raw = Vec::new();
    while !raw.ends_with(b"\r\n\r\n") {
        if stream.read_until(b'\n', &mut raw)? == 0 {
            return Ok(None);
        }
    }
    Ok(parse(&raw, who))
}

fn parse(raw: &[u8], (connection, from): (usize, SocketAddr)) -> Option<Asked> {
    let raw: String = raw.iter().copied().map(char::from).collect();
    let mut lines = raw.split("\r\n");
    let mut words = lines.next()?.split(' ').map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    Some(Asked { connection, method, target, headers, raw, from, at: Instant::now() })
}
