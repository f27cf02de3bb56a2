//! Servers on loopback addresses, each ended with the value that stands for it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::world::isolate;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// A web server that remembers what it was asked. One request a connection.
pub struct Web {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Web {
    /// Answers everything with a status line and further header lines.
    pub fn answering(status: &str, headers: &str) -> Self {
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\n");
        Self::new(move |_| format!("{head}Connection: close\r\n\r\n").into_bytes())
    }

    /// Serves the repositories below a folder as Git's own CGI program does.
    pub fn serving_git(root: &Path) -> Self {
        let root = root.to_owned();
        Self::new(move |request| backend(&root, request).expect("git http-backend"))
    }

    /// The same, to whoever says that header alone.
    pub fn serving_git_to(root: &Path, authorization: &str) -> Self {
        let (root, authorization) = (root.to_owned(), authorization.to_owned());
        Self::new(move |request| {
            if request.headers.get("authorization") == Some(&authorization) {
                return backend(&root, request).expect("git http-backend");
            }
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"mirror\"\r\n\
              Content-Length: 0\r\nConnection: close\r\n\r\n"
                .to_vec()
        })
    }

    fn new(answer: impl Fn(&Request) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (requests, end) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let thread = thread::spawn({
            let (requests, end) = (Arc::clone(&requests), Arc::clone(&end));
            move || {
                for stream in listener.incoming() {
                    if end.load(Ordering::SeqCst) {
                        return;
                    }
                    // A client that goes away early is no fault of the server.
                    let _ = stream.and_then(|stream| serve(&stream, &requests, &answer));
                }
            }
        });
        Self { address, requests, end, thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Everything it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("requests").clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
        // Wakes the thread; should it have ended already, there is nothing to wake.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    stream: &TcpStream,
    requests: &Mutex<Vec<Request>>,
    answer: &impl Fn(&Request) -> Vec<u8>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = read_request(&mut reader)?;
    requests.lock().expect("requests").push(request.clone());
    let mut stream = stream;
    stream.write_all(&answer(&request))
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request { method, target, headers, body })
}

/// Runs `git http-backend` for one request (RFC 3875).
fn backend(root: &Path, request: &Request) -> io::Result<Vec<u8>> {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let header = |name: &str| request.headers.get(name).cloned().unwrap_or_default();
    let mut command = Command::new("git");
    isolate(&mut command, root);
    command
        .arg("http-backend")
        .envs([("GIT_HTTP_EXPORT_ALL", "1"), ("PATH_INFO", path), ("QUERY_STRING", query)])
        .env("GIT_PROJECT_ROOT", root)
        .env("REQUEST_METHOD", &request.method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_USER", if header("authorization").is_empty() { "" } else { "bob" })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    child.stdin.take().expect("standard input").write_all(&request.body)?;
    let output = child.wait_with_output()?.stdout;
    let status = output.strip_prefix(b"Status: ").map_or_else(
        || "200 OK".to_owned(),
        |rest| String::from_utf8_lossy(rest.split(|b| *b == b'\r').next().unwrap_or(b"")).into(),
    );
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    Ok([head.as_bytes(), &output].concat())
}

/// Git's own daemon over a folder; ended when dropped.
pub struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Starts it; `None`, with a line that says so, where Git was installed without it.
    pub fn start(root: &Path) -> Option<Self> {
        let output = Command::new("git").arg("--exec-path").output().expect("git starts");
        let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let program = folder.join("git-daemon");
        if !program.exists() {
            println!("git-daemon is not installed: nothing was asked of it");
            return None;
        }
        let port = free_port();
        let mut command = Command::new(program);
        isolate(&mut command, root);
        let child = command
            .arg(format!("--port={port}"))
            .args(["--listen=127.0.0.1", "--export-all", "--reuseaddr"])
            .arg(format!("--base-path={}", root.display()))
            .arg(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("git-daemon starts");
        let this = Self { child, port };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(this);
            }
            thread::sleep(Duration::from_millis(25));
        }
        panic!("git-daemon does not answer");
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A daemon that has ended already cannot be ended again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nothing listens on.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
