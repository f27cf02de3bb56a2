//! nginx on a loopback address: a server that is not ours, with real validators, gzip and
//! 304, and a log of its own.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::server::free_port;

/// A running nginx; ended when dropped.
pub struct Nginx {
    child: Child,
    port: u16,
    log: PathBuf,
}

/// A line of its log.
#[derive(Clone, Debug)]
pub struct Logged {
    /// When the answer was sent, in seconds since 1970.
    pub msec: f64,
    /// How long the request took, in seconds.
    pub request_time: f64,
    pub status: u64,
    pub uri: String,
    /// Bytes of the body as sent.
    pub bytes: u64,
    pub host: String,
    pub connection: u64,
}

impl Nginx {
    /// Serves a folder, with its own files in `work`; `None`, with a line that says so,
    /// where nginx is not installed.
    pub fn serving(folder: &Path, work: &Path) -> Option<Self> {
        let Some(program) = program() else {
            assert!(
                std::env::var_os("CI").is_none_or(|value| value != "true"),
                "nginx is missing; scripts/test installs it (Debian's nginx-light)"
            );
            println!("nginx is not installed: nothing was asked of it");
            return None;
        };
        let work = work.join("nginx");
        fs::create_dir_all(&work).expect("folder is made");
        for _ in 0..5 {
            let port = free_port();
            fs::write(work.join("nginx.conf"), configuration(folder, &work, port))
                .expect("file is written");
            let mut child = Command::new(&program)
                .arg("-p")
                .arg(&work)
                .arg("-e")
                .arg(work.join("error.log"))
                .args(["-c", "nginx.conf"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("nginx starts");
            if answers(&mut child, port) {
                return Some(Self { child, port, log: work.join("access.log") });
            }
            // Somebody else took the port, or nothing works: the last log tells.
            let _ = child.kill();
            let _ = child.wait();
        }
        let said = fs::read_to_string(work.join("error.log")).unwrap_or_default();
        panic!("nginx does not answer: {said}");
    }

    /// `127.0.0.1:PORT`.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// What it logged so far, once there are at least so many lines.
    #[track_caller]
    pub fn log(&self, least: usize) -> Vec<Logged> {
        for _ in 0..400 {
            let text = fs::read_to_string(&self.log).unwrap_or_default();
            let lines: Vec<&str> =
                text.split_inclusive('\n').filter(|l| l.ends_with('\n')).collect();
            if lines.len() >= least {
                return lines.iter().map(|line| logged(line)).collect();
            }
            thread::sleep(Duration::from_millis(25));
        }
        panic!("nginx logged less than {least} requests");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // A server that has ended already cannot be ended again. It has no other process.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where nginx is; it stands beside the path of those who are not root.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join("nginx")).find(|program| program.exists())
}

fn answers(child: &mut Child, port: u16) -> bool {
    for _ in 0..200 {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return true;
        }
        thread::sleep(Duration::from_millis(25));
    }
    false
}

fn configuration(folder: &Path, work: &Path, port: u16) -> String {
    let (folder, work) = (folder.display(), work.display());
    format!(
        r#"daemon off;
# One process, so that its end is the end of all.
master_process off;
pid {work}/nginx.pid;
error_log {work}/error.log;
events {{ worker_connections 64; }}
http {{
    client_body_temp_path {work}/body;
    proxy_temp_path {work}/proxy;
    fastcgi_temp_path {work}/fastcgi;
    uwsgi_temp_path {work}/uwsgi;
    scgi_temp_path {work}/scgi;
    types {{
        text/html html;
        text/markdown md;
        text/plain txt;
        application/xml xml;
    }}
    default_type application/octet-stream;
    charset utf-8;
    charset_types text/html text/markdown text/plain;
    gzip on;
    gzip_min_length 200;
    gzip_types text/markdown text/plain application/xml;
    log_format lines escape=json '{{"msec":$msec,"request_time":$request_time,"status":$status,'
        '"uri":"$request_uri","bytes":$body_bytes_sent,"host":"$http_host",'
        '"connection":$connection}}';
    access_log {work}/access.log lines;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
        index index.html;
    }}
}}
"#
    )
}

fn logged(line: &str) -> Logged {
    let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
    let text = |name: &str| line[name].as_str().expect("text").to_owned();
    let number = |name: &str| line[name].as_f64().expect("a number");
    let whole = |name: &str| line[name].as_u64().expect("a number");
    Logged {
        msec: number("msec"),
        request_time: number("request_time"),
        status: whole("status"),
        uri: text("uri"),
        bytes: whole("bytes"),
        host: text("host"),
        connection: whole("connection"),
    }
}
