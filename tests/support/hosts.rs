//! Scripted hosts on loopback, with and without TLS, which remember every request: who
//! asked for what, when it was complete, and when its answer was completely sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::script::{Body, Framing, Reply, Script};

/// Longest time that a host waits for anybody.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes that are sent at once.
const PIECE: usize = 64 * 1024;

/// A request and what became of its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Number of its connection, from 1.
    pub connection: usize,
    /// When its connection was accepted, where it is the first there.
    pub opened: Option<Instant>,
    /// Whether it came over TLS.
    pub secure: bool,
    pub method: String,
    pub target: String,
    /// In order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// When it was complete.
    pub at: Instant,
    /// Status of the answer; `None` where there was none.
    pub status: Option<u16>,
    /// Retry-After of the answer.
    pub retry_after: Option<String>,
    /// Right before the last byte of the answer was sent, or the connection was closed;
    /// `None` where the client went away before.
    pub end: Option<Instant>,
    /// Whether the answer was a whole one.
    pub whole: bool,
}

impl Exchange {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub fn origin(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}", self.header("host").unwrap_or_default())
    }

    pub fn url(&self) -> String {
        format!("{}{}", self.origin(), self.target)
    }

    /// The host without scheme and port.
    pub fn host(&self) -> &str {
        name_of(self.header("host").unwrap_or_default())
    }

    pub fn is_robots(&self) -> bool {
        self.target == "/robots.txt"
    }

    /// When the client began with it, as far as can be seen from here.
    pub fn began(&self) -> Instant {
        self.opened.unwrap_or(self.at)
    }
}

fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Everything that the threads of the hosts share.
struct Shared {
    script: Mutex<Script>,
    /// How many requests each path had, by host, path of the script, and target.
    counts: Mutex<BTreeMap<(String, String, String), usize>>,
    exchanges: Mutex<Vec<Exchange>>,
    connections: AtomicUsize,
    end: AtomicBool,
    tls: Arc<rustls::ServerConfig>,
}

/// The hosts; ended when dropped.
pub struct Hosts {
    /// Without and with TLS.
    addresses: [SocketAddr; 2],
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// A file below `tests/fixtures/tls`.
pub fn certificate(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

fn tls() -> rustls::ServerConfig {
    let chain = CertificateDer::from_pem_file(certificate("hosts.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(certificate("hosts.key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![chain], key))
        .expect("the certificate of the hosts")
}

impl Hosts {
    pub fn new(script: Script) -> Self {
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            counts: Mutex::default(),
            exchanges: Mutex::default(),
            connections: AtomicUsize::new(0),
            end: AtomicBool::new(false),
            tls: Arc::new(tls()),
        });
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let addresses = [0, 1].map(|n: usize| listeners[n].local_addr().expect("an address"));
        let threads = listeners.into_iter().zip([false, true]);
        let threads = threads.map(|(listener, secure)| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.accept(&listener, secure))
        });
        Self { addresses, threads: threads.collect(), shared }
    }

    /// Arguments that lead the program to the hosts of the script.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments =
            vec!["--ca-file".to_owned(), certificate("hosts-ca.pem").display().to_string()];
        for name in self.shared.script.lock().expect("the script").names() {
            for (from, to) in [80, 443].into_iter().zip(self.addresses) {
                arguments.push("--connect-to".to_owned());
                arguments.push(format!("{name}:{from}:127.0.0.1:{}", to.port()));
            }
        }
        arguments
    }

    /// The ports without and with TLS.
    pub fn ports(&self) -> [u16; 2] {
        self.addresses.map(|address| address.port())
    }

    /// `127.0.0.1:PORT` of the hosts without TLS; the script knows it as `127.0.0.1`.
    pub fn literal(&self) -> String {
        self.addresses[0].to_string()
    }

    /// Everything that was asked so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.exchanges.lock().expect("requests").clone()
    }

    /// How many requests there were so far.
    pub fn count(&self) -> usize {
        self.shared.exchanges.lock().expect("requests").len()
    }

    /// Waits until there were so many requests; gives whether there were in time.
    pub fn wait_for(&self, requests: usize) -> bool {
        let begun = Instant::now();
        while self.count() < requests && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(2));
        }
        self.count() >= requests
    }

    /// From now on a path answers this, from the first on.
    pub fn set(&self, host: &str, path: &str, replies: &[Reply]) {
        self.shared.script.lock().expect("the script").set(host, path, replies.to_vec());
        let mut counts = self.shared.counts.lock().expect("counts");
        counts.retain(|(of, which, _), _| (of.as_str(), which.as_str()) != (host, path));
    }

    /// The same with one answer.
    pub fn on(&self, host: &str, path: &str, reply: Reply) {
        self.set(host, path, &[reply]);
    }

    /// From now on these paths answer this, the others what they did.
    pub fn change(&self, script: &Script) {
        for (host, path, replies) in script.entries() {
            self.set(host, path, replies);
        }
    }

    /// From now on a host has no path.
    pub fn clear(&self, host: &str) {
        self.shared.script.lock().expect("the script").clear(host);
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::SeqCst);
        for address in self.addresses {
            // Wakes the thread; should it have ended already, there is nothing to wake.
            let _ = TcpStream::connect(address);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Either a plain connection or one over TLS.
trait Stream: Read + Write {
    /// Tells the other side that this was all.
    fn finish(&mut self) -> io::Result<()>;
}

impl Stream for TcpStream {
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Stream for rustls::StreamOwned<rustls::ServerConnection, TcpStream> {
    fn finish(&mut self) -> io::Result<()> {
        self.conn.send_close_notify();
        self.flush()
    }
}

/// A connection: what is read and written, and the socket below it.
struct Wire {
    stream: BufReader<Box<dyn Stream>>,
    socket: TcpStream,
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener, secure: bool) {
        for stream in listener.incoming() {
            let opened = Instant::now();
            if self.end.load(Ordering::SeqCst) {
                return;
            }
            let number = self.connections.fetch_add(1, Ordering::SeqCst) + 1;
            let shared = Arc::clone(&self);
            // A client that goes away early is no fault of the hosts.
            thread::spawn(move || stream.and_then(|s| shared.serve(s, secure, (number, opened))));
        }
    }

    fn serve(
        &self,
        socket: TcpStream,
        secure: bool,
        (number, opened): (usize, Instant),
    ) -> io::Result<()> {
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        socket.set_nodelay(true)?;
        let below = socket.try_clone()?;
        let stream: Box<dyn Stream> = if secure {
            let connection = rustls::ServerConnection::new(Arc::clone(&self.tls));
            let connection = connection.map_err(io::Error::other)?;
            Box::new(rustls::StreamOwned::new(connection, socket))
        } else {
            Box::new(socket)
        };
        let mut wire = Wire { stream: BufReader::new(stream), socket: below };
        let mut opened = Some(opened);
        while let Some(mut exchange) = read(&mut wire.stream)? {
            exchange.connection = number;
            exchange.opened = opened.take();
            exchange.secure = secure;
            let reply = self.reply(&exchange);
            let index = {
                let mut exchanges = self.exchanges.lock().expect("requests");
                exchanges.push(exchange);
                exchanges.len() - 1
            };
            if !self.play(&reply, &mut wire, index)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What the next request for a target is answered.
    fn reply(&self, exchange: &Exchange) -> Reply {
        let scheme = if exchange.secure { "https" } else { "http" };
        let script = self.script.lock().expect("the script");
        let Some(place) = script.find(scheme, exchange.host(), &exchange.target) else {
            return Reply::status(404);
        };
        let mut counts = self.counts.lock().expect("counts");
        let key = (place.0.clone(), place.1.clone(), exchange.target.clone());
        let count = counts.entry(key).or_default();
        *count += 1;
        let header = |name: &str| exchange.header(name).map(str::to_owned);
        let reply = script.reply(&place, *count - 1, &header);
        if reply.validates && validates(&reply, &header) {
            let etag = reply.value("etag").unwrap_or_default();
            return Reply::new(304, &[("ETag", etag)], "");
        }
        reply
    }

    fn note(&self, index: usize, change: impl FnOnce(&mut Exchange)) {
        change(&mut self.exchanges.lock().expect("requests")[index]);
    }

    /// Answers; gives whether the connection stays.
    fn play(&self, reply: &Reply, wire: &mut Wire, index: usize) -> io::Result<bool> {
        if !self.pause(reply.delay, &wire.socket)? {
            return Ok(false);
        }
        if reply.reset {
            self.note(index, |exchange| exchange.end = Some(Instant::now()));
            return reset(&wire.socket).map(|()| false);
        }
        self.note(index, |exchange| {
            exchange.status = Some(reply.status);
            exchange.retry_after = reply.value("retry-after").map(str::to_owned);
        });
        let stream = wire.stream.get_mut();
        send(stream, &head(reply))?;
        if let Some((start, unit, times)) = &reply.flood {
            send(stream, start)?;
            self.repeat(stream, unit, *times)?;
            send(stream, b"\r\n")?;
        }
        let stays = self.body(reply, wire, index)?;
        if !stays {
            self.note(index, |exchange| exchange.end = Some(Instant::now()));
            // A connection that is cut does not tell so.
            if reply.framing == Framing::Close {
                wire.stream.get_mut().finish()?;
            }
            // The client may be gone already.
            let _ = wire.socket.shutdown(std::net::Shutdown::Both);
        }
        Ok(stays)
    }

    /// Sends everything behind the header fields.
    fn body(&self, reply: &Reply, wire: &mut Wire, index: usize) -> io::Result<bool> {
        let stream = wire.stream.get_mut();
        let bytes = match &reply.body {
            Body::Repeat { start, unit, times } => {
                send(stream, b"\r\n")?;
                send(stream, start)?;
                self.repeat(stream, unit, *times)?;
                self.note(index, |exchange| exchange.whole = true);
                return Ok(reply.framing == Framing::Length);
            }
            Body::Bytes(bytes) => bytes.as_slice(),
        };
        let (mut all, whole) = framed(reply, bytes);
        if let Some((size, wait)) = reply.drip {
            send(stream, b"\r\n")?;
            for part in all.chunks(size) {
                if !self.pause(wait, &wire.socket)? {
                    return Ok(false);
                }
                send(wire.stream.get_mut(), part)?;
            }
            all.clear();
        } else {
            all.splice(0..0, *b"\r\n");
        }
        let cut = matches!(reply.framing, Framing::Cut(_) | Framing::Unended(_) | Framing::Close);
        let last = all.len().saturating_sub(1) / PIECE * PIECE;
        send(wire.stream.get_mut(), &all[..last])?;
        self.note(index, |exchange| {
            exchange.whole = whole && !reply.partial;
            exchange.end = (!cut).then(Instant::now);
        });
        send(wire.stream.get_mut(), &all[last..])?;
        Ok(!cut)
    }

    fn repeat(&self, stream: &mut Box<dyn Stream>, unit: &[u8], times: u64) -> io::Result<()> {
        for _ in 0..times {
            if self.end.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            stream.write_all(unit)?;
        }
        stream.flush()
    }

    /// Waits; gives whether client and hosts are still there.
    fn pause(&self, time: Duration, socket: &TcpStream) -> io::Result<bool> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            if self.end.load(Ordering::SeqCst) || is_gone(socket)? {
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(5).min(time));
        }
        Ok(true)
    }
}

/// Whether the validators of a request are those of the reply (RFC 9110, section 13.2.2).
fn validates(reply: &Reply, header: &dyn Fn(&str) -> Option<String>) -> bool {
    match (header("if-none-match"), header("if-modified-since")) {
        (Some(tag), _) => reply.value("etag") == Some(tag.as_str()),
        (None, Some(time)) => reply.value("last-modified") == Some(time.as_str()),
        (None, None) => false,
    }
}

/// Status line and header fields, without the empty line at the end.
fn head(reply: &Reply) -> Vec<u8> {
    let date = chrono::Utc::now();
    let stamp =
        |time: chrono::DateTime<chrono::Utc>| time.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let mut head = format!("HTTP/1.1 {} Scripted\r\nDate: {}\r\n", reply.status, stamp(date));
    for (name, value) in &reply.headers {
        let value = match value.strip_prefix("{DATE+").and_then(|rest| rest.strip_suffix('}')) {
            Some(seconds) => {
                stamp(date + chrono::TimeDelta::seconds(seconds.parse().expect("seconds")))
            }
            None => value.clone(),
        };
        // Writing to a string does not fail.
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let empty = reply.status == 304 || reply.status == 204;
    match (&reply.body, reply.framing) {
        (_, Framing::Length | Framing::Cut(_)) if empty => {}
        (Body::Bytes(bytes), Framing::Length | Framing::Cut(_)) => {
            let _ = write!(head, "Content-Length: {}\r\n", bytes.len());
        }
        (Body::Repeat { start, unit, times }, Framing::Length | Framing::Cut(_)) => {
            let length = start.len() as u64 + unit.len() as u64 * times;
            let _ = write!(head, "Content-Length: {length}\r\n");
        }
        (_, Framing::Chunked | Framing::Unended(_)) => {
            head.push_str("Transfer-Encoding: chunked\r\n");
        }
        (_, Framing::Close) => head.push_str("Connection: close\r\n"),
    }
    // Octets stand for themselves where they are no ASCII.
    head.chars().map(|c| u8::try_from(u32::from(c)).expect("an octet")).collect()
}

/// A body as it goes over the wire, and whether it is a whole one.
fn framed(reply: &Reply, bytes: &[u8]) -> (Vec<u8>, bool) {
    if reply.status == 304 || reply.status == 204 {
        return (reply.stray.clone(), true);
    }
    let chunked = |bytes: &[u8]| {
        let chunks = bytes
            .chunks(1000)
            .map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
        chunks.collect::<Vec<_>>().concat()
    };
    match reply.framing {
        Framing::Length | Framing::Close => ([bytes, &reply.stray].concat(), true),
        Framing::Cut(length) => (bytes[..length.min(bytes.len())].to_vec(), false),
        Framing::Chunked => ([chunked(bytes).as_slice(), b"0\r\n\r\n"].concat(), true),
        Framing::Unended(length) => (chunked(&bytes[..length.min(bytes.len())]), false),
    }
}

fn send(stream: &mut Box<dyn Stream>, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(PIECE) {
        stream.write_all(piece)?;
    }
    stream.flush()
}

/// Whether the other side closed the connection or says something while it has to wait.
fn is_gone(socket: &TcpStream) -> io::Result<bool> {
    socket.set_nonblocking(true)?;
    let peeked = socket.peek(&mut [0; 1]);
    socket.set_nonblocking(false)?;
    Ok(!matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock))
}

/// Closes a connection so that the other side is told of a reset.
fn reset(socket: &TcpStream) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _inside = runtime.enter();
    let copy = socket.try_clone()?;
    copy.set_nonblocking(true)?;
    let copy = tokio::net::TcpStream::from_std(copy)?;
    copy.set_zero_linger()
}

/// A whole header section; `None` at the end of the connection.
fn read(stream: &mut impl BufRead) -> io::Result<Option<Exchange>> {
    let mut raw = Vec::new();
    while !raw.ends_with(b"\r\n\r\n") {
        if stream.read_until(b'\n', &mut raw)? == 0 {
            return Ok(None);
        }
    }
    let raw: String = raw.iter().copied().map(char::from).collect();
    let mut lines = raw.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    Ok(Some(Exchange {
        connection: 0,
        opened: None,
        secure: false,
        method,
        target,
        headers,
        at: Instant::now(),
        status: None,
        retry_after: None,
        end: None,
        whole: false,
    }))
}
