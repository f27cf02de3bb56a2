//! nginx in a folder of its own, on a free loopback port.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that ends with this value.
pub struct Nginx {
    child: Child,
    log: PathBuf,
    /// Scheme, host and port.
    pub origin: String,
}

impl Nginx {
    /// Starts nginx over the files below `folder/site`; `locations` are further lines of its
    /// server block. Bodies are not compressed; validators are nginx's own.
    pub fn start(folder: &Path, locations: &str) -> Self {
        let port = free_port();
        let at = folder.display();
        // nginx's workers leave root otherwise, and could not read a folder that is closed.
        let user = if is_root() { "user root;\n" } else { "" };
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {at}/{kind};\n"))
            .collect();
        let text = format!(
            "{user}worker_processes 1;\ndaemon off;\npid {at}/nginx.pid;\n\
             error_log {at}/error.log;\nevents {{ worker_connections 512; }}\n\
             http {{\n{temporary}sendfile on;\ntcp_nopush on;\nkeepalive_timeout 65;\n\
             keepalive_requests 1000000;\nopen_file_cache off;\n\
             types {{ text/html html; text/css css; application/xml xml; text/plain txt; }}\n\
             charset utf-8;\nlog_format short '$status $request_uri';\n\
             access_log {at}/access.log short;\n\
             server {{\nlisten 127.0.0.1:{port};\nroot {at}/site;\n{locations}\n}}\n}}\n"
        );
        let settings = folder.join("nginx.conf");
        fs::write(&settings, text).expect("nginx is configured");
        let mut child = Command::new("nginx")
            .args(["-e", &format!("{at}/error.log"), "-p", &format!("{at}"), "-c"])
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts (Debian: nginx-light)");
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            if child.try_wait().expect("nginx is there").is_some() {
                let told = fs::read_to_string(folder.join("error.log")).unwrap_or_default();
                panic!("nginx did not start: {told}");
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        let origin = format!("http://127.0.0.1:{port}");
        Self { child, log: folder.join("access.log"), origin }
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.origin.trim_start_matches("http://")
    }

    /// Requests by status since the last call.
    pub fn requests(&self) -> Requests {
        let text = fs::read_to_string(&self.log).expect("log is read");
        // The file is open in nginx for appending, so that it goes on at its new end.
        fs::OpenOptions::new()
            .write(true)
            .open(&self.log)
            .and_then(|file| file.set_len(0))
            .expect("log is emptied");
        let mut requests = Requests::default();
        for line in text.lines() {
            match line.split(' ').next() {
                Some("200") => requests.ok += 1,
                Some("304") => requests.not_modified += 1,
                _ => requests.other += 1,
            }
        }
        requests
    }

    /// A count of requests that can be asked for while they come.
    pub fn counter(&self) -> impl FnMut() -> usize + Send + use<> {
        let mut file = fs::File::open(&self.log).expect("log is read");
        let mut count = 0;
        move || {
            let mut new = Vec::new();
            let _ = file.read_to_end(&mut new);
            count += new.iter().filter(|byte| **byte == b'\n').count();
            count
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // A polite end, so that the worker goes with its master.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

/// How many requests there were, by status.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    pub ok: usize,
    pub not_modified: usize,
    pub other: usize,
}

impl std::fmt::Display for Requests {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} / {} / {}", self.ok, self.not_modified, self.other)
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
