//! A web server that takes its time and notes when it was asked: three hosts of one machine.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// From the first byte of a request to the moment at which its answer is sent. Whoever asked
/// has the answer later, and sends the next request before it arrives here: a gap between two
/// spans is never shorter than the one that was kept.
pub type Span = (Instant, Instant);

/// A host with its own address. Its threads end with the process.
pub struct Responder {
    /// Address and port.
    pub host: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Responder {
    /// Listens on a free port of a loopback address; answers after `service`, with a sitemap
    /// of `pages` pages, with these, and with 404.
    pub fn start(address: Ipv4Addr, pages: usize, service: Duration) -> Self {
        let listener =
            TcpListener::bind(SocketAddr::from((address, 0))).expect("a free port (needs Linux)");
        let host = listener.local_addr().expect("an address").to_string();
        let spans: Arc<Mutex<Vec<Span>>> = Arc::default();
        let (kept, name) = (Arc::clone(&spans), host.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (spans, name) = (Arc::clone(&kept), name.clone());
                std::thread::spawn(move || {
                    serve(stream, (&name, pages), service, &spans);
                });
            }
        });
        Self { host, spans }
    }

    /// What was asked since the last call, in order of the beginnings.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans = std::mem::take(&mut *self.spans.lock().expect("no thread failed"));
        spans.sort_unstable();
        spans
    }
}

/// The shortest time from the end of one request to the beginning of the next.
pub fn least_gap(spans: &[Span]) -> Option<Duration> {
    spans.windows(2).map(|pair| pair[1].0.saturating_duration_since(pair[0].1)).min()
}

/// Most requests that were being answered at one moment.
pub fn most_at_once(spans: &[Span]) -> usize {
    let at = |moment: Instant| spans.iter().filter(|s| s.0 <= moment && moment < s.1).count();
    spans.iter().map(|span| at(span.0)).max().unwrap_or(0)
}

/// Answers the requests of one connection.
fn serve(
    mut stream: TcpStream,
    (host, pages): (&str, usize),
    service: Duration,
    spans: &Mutex<Vec<Span>>,
) {
    let _ = stream.set_nodelay(true);
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    let mut begun = None;
    loop {
        let Ok(count) = stream.read(&mut buffer) else { return };
        if count == 0 {
            return;
        }
        let start = *begun.get_or_insert_with(Instant::now);
        read.extend_from_slice(&buffer[..count]);
        if !read.ends_with(b"\r\n\r\n") {
            continue;
        }
        let request = String::from_utf8_lossy(&read).into_owned();
        let path = request.split(' ').nth(1).unwrap_or("/");
        let answer = answer(path, host, pages);
        std::thread::sleep(service.saturating_sub(start.elapsed()));
        spans.lock().expect("no thread failed").push((start, Instant::now()));
        if stream.write_all(&answer).is_err() {
            return;
        }
        read.clear();
        begun = None;
    }
}

fn answer(path: &str, host: &str, pages: usize) -> Vec<u8> {
    let (status, kind, body) = if path == "/robots.txt" {
        ("200 OK", "text/plain", "User-agent: *\nAllow: /\n".to_owned())
    } else if path == "/sitemap.xml" {
        let each = |number| format!("<url><loc>http://{host}/page-{number:03}.html</loc></url>\n");
        let all: String = (0..pages).map(each).collect();
        let space = "http://www.sitemaps.org/schemas/sitemap/0.9";
        ("200 OK", "application/xml", format!("<urlset xmlns=\"{space}\">\n{all}</urlset>\n"))
    } else if path.starts_with("/page-") {
        let text = format!(
            "<!DOCTYPE html><html><head><title>{path}</title></head><body><main><h1>{path}</h1>\
             <p>A page of {host} that took its time.</p></main></body></html>\n"
        );
        ("200 OK", "text/html; charset=utf-8", text)
    } else {
        ("404 Not Found", "text/plain", "There is no such page.\n".to_owned())
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}
