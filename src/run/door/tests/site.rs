//! A site on a loopback address that plays a script and remembers when it was asked.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// One answer of a script.
#[derive(Clone, Debug, Default)]
pub struct Play {
    pub status: u16,
    pub headers: String,
    pub body: Vec<u8>,
    /// How long the answer takes.
    pub delay: Duration,
    /// Whether the connection is cut instead.
    pub cut: bool,
}

/// An answer with a body.
pub fn play(status: u16, body: impl Into<Vec<u8>>) -> Play {
    Play { status, body: body.into(), ..Play::default() }
}

/// A redirect.
pub fn lead(status: u16, to: impl std::fmt::Display) -> Play {
    Play { status, headers: format!("Location: {to}\r\n"), ..Play::default() }
}

/// A request as it was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    pub target: String,
    pub headers: HashMap<String, String>,
    /// When it was complete.
    pub start: Instant,
    /// When its answer began to be sent.
    pub end: Instant,
}

struct Inner {
    script: Mutex<HashMap<String, Vec<Play>>>,
    seen: Mutex<Vec<Seen>>,
    under_way: AtomicU32,
    most: AtomicU32,
    connections: AtomicU32,
    end: AtomicBool,
}

/// The site; its thread ends with it.
pub struct Site {
    address: SocketAddr,
    inner: Arc<Inner>,
}

impl Site {
    /// A site whose addresses answer in turn, the last answer again and again; what is not
    /// in the script is 404.
    pub fn new(ip: &str) -> Self {
        let listener = TcpListener::bind((ip, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            script: Mutex::default(),
            seen: Mutex::default(),
            under_way: AtomicU32::new(0),
            most: AtomicU32::new(0),
            connections: AtomicU32::new(0),
            end: AtomicBool::new(false),
        });
        let shared = Arc::clone(&inner);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.end.load(Ordering::SeqCst) {
                    return;
                }
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { address, inner }
    }

    pub fn on(&self, target: &str, plays: impl IntoIterator<Item = Play>) -> &Self {
        let plays = plays.into_iter().collect();
        self.inner.script.lock().unwrap().insert(target.to_owned(), plays);
        self
    }

    /// Address and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    pub fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.inner.seen.lock().unwrap().clone()
    }

    pub fn targets(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.target).collect()
    }

    pub fn most_at_once(&self) -> u32 {
        self.inner.most.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> u32 {
        self.inner.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.inner.end.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, inner: &Inner) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    while let Some((target, headers)) = request(&mut reader) {
        let start = Instant::now();
        inner.most.fetch_max(inner.under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let play = {
            let mut script = inner.script.lock().unwrap();
            match script.get_mut(&target) {
                Some(plays) if plays.len() > 1 => plays.remove(0),
                Some(plays) => plays[0].clone(),
                None => play(404, "none"),
            }
        };
        thread::sleep(play.delay);
        let length = play.body.len();
        let head = format!(
            "HTTP/1.1 {} Some\r\n{}Content-Length: {length}\r\n\r\n",
            play.status, play.headers
        );
        inner.under_way.fetch_sub(1, Ordering::SeqCst);
        // Before the client can know of it: no gap is taken for a shorter one.
        inner.seen.lock().unwrap().push(Seen { target, headers, start, end: Instant::now() });
        let sent = if play.cut {
            Err(std::io::ErrorKind::Other.into())
        } else {
            let mut out = stream;
            out.write_all(&[head.as_bytes(), &play.body].concat())
        };
        if sent.is_err() {
            return;
        }
    }
}

fn request(reader: &mut impl BufRead) -> Option<(String, HashMap<String, String>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let target = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            return Some((target, headers));
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
}
