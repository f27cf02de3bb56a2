//! A mirror that was filled by the one push that the archive allows has nothing private,
//! however it is asked: by file, by Git's own protocol, and by HTTP.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::forge::{Forge, PRIVATE, PUBLIC};
use crate::support::World;
use crate::support::world::isolate;

/// Every object that a ref reaches.
fn objects(world: &World, name: &str) -> BTreeSet<String> {
    let listed = world.git(&["rev-list", "--objects", "--no-object-names", name]).ok();
    listed.lines().map(str::to_owned).collect()
}

/// The archive, its mirror, and the objects that are private alone.
fn mirrored() -> (Forge, PathBuf, BTreeSet<String>) {
    let forge = Forge::new();
    let world = &forge.world;
    world.git_in(world.path(), &["init", "-q", "--bare", "-b", "main", "mirror.git"]).ok();
    let mirror = world.path().join("mirror.git");
    // Whoever serves it may be as open as can be.
    for name in ["uploadpack.allowAnySHA1InWant", "http.uploadpack", "http.getanyfile"] {
        world.git_in(&mirror, &["config", name, "true"]).ok();
    }
    let to = mirror.display().to_string();
    world.git(&["push", "-q", &to, &format!("{PUBLIC}:{PUBLIC}")]).ok();
    let private = &objects(world, PRIVATE) - &objects(world, PUBLIC);
    assert!(private.len() >= 9, "commits, trees and blobs: {private:?}");
    (forge, mirror, private)
}

/// Asks for each private object by its id; none may come, and what is public does.
#[track_caller]
fn ask(world: &World, address: &str, private: &BTreeSet<String>) {
    world.git_in(world.path(), &["init", "-q", "--bare", "asker.git"]).ok();
    let asker = world.path().join("asker.git");
    let fetch = |id: &str| {
        let protocol = "protocol.version=2";
        world.git_in(&asker, &["-c", protocol, "fetch", "-q", "--depth=1", address, id])
    };
    fetch(world.git(&["rev-parse", PUBLIC]).ok().trim()).ok();
    for id in private {
        let refused = fetch(id);
        assert_ne!(refused.code, Some(0), "{id}");
        let said = ["not our ref", "remote error", "unadvertised object", "Could not read"];
        assert!(said.iter().any(|said| refused.stderr.contains(said)), "{}", refused.stderr);
    }
    let arrived = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
    let arrived: BTreeSet<String> =
        world.git_in(&asker, &arrived).ok().lines().map(str::to_owned).collect();
    assert!(!arrived.is_empty() && arrived.is_disjoint(private), "{arrived:?}");
}

#[test]
fn by_file() {
    let (forge, mirror, private) = mirrored();
    ask(&forge.world, &format!("file://{}", mirror.display()), &private);
    for id in &private {
        let known = forge.world.git_in(&mirror, &["cat-file", "-e", id]);
        assert_ne!(known.code, Some(0), "{id}");
    }
    // The test can tell: the archive itself hands them out to whoever knows their ids.
    let archive = format!("file://{}", forge.world.archive().display());
    let one = private.iter().next().expect("an object");
    forge.world.git_in(forge.world.path(), &["init", "-q", "--bare", "other.git"]).ok();
    let other = forge.world.path().join("other.git");
    forge.world.git_in(&other, &["-c", "protocol.version=2", "fetch", "-q", &archive, one]).ok();
}

/// A process that ends with its value, and those that it started.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn by_git_daemon() {
    let (forge, _, private) = mirrored();
    let world = &forge.world;
    // Taken and given back: nothing else is likely to take it in between.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let path = world.git_in(world.path(), &["--exec-path"]).ok();
    let program = Path::new(path.trim()).join("git-daemon");
    if !program.exists() {
        assert!(std::env::var_os("CI").is_none(), "git daemon is missing");
        eprintln!("left out: git daemon is not installed");
        return;
    }
    let mut daemon = Command::new(program);
    isolate(&mut daemon, world.path());
    daemon.args(["--reuseaddr", "--listen=127.0.0.1", "--export-all"]);
    daemon.arg(format!("--port={port}")).arg(format!("--base-path={}", world.path().display()));
    daemon.arg(world.path().join("mirror.git")).stdin(Stdio::null()).stderr(Stdio::null());
    let _daemon = Server(daemon.spawn().expect("git daemon starts"));
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    ask(world, &format!("git://127.0.0.1:{port}/mirror.git"), &private);
}

#[test]
fn by_http() {
    let (forge, _, private) = mirrored();
    let world = &forge.world;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let root = world.path().to_owned();
    // Ends with the test's process; each connection is one request.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let root = root.clone();
            thread::spawn(move || drop(answer(stream, &root)));
        }
    });
    let address = format!("http://127.0.0.1:{port}/mirror.git");
    ask(world, &address, &private);
    // The dumb protocol: files as they are.
    for id in &private {
        let (folder, file) = id.split_at(2);
        let status = get(port, &format!("/mirror.git/objects/{folder}/{file}"));
        assert!(status.starts_with("HTTP/1.1 404"), "{status}");
    }
    assert!(get(port, "/mirror.git/HEAD").starts_with("HTTP/1.1 200"));
}

/// The first line of an answer.
fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

/// Answers one request with `git http-backend`, as a server's CGI does.
fn answer(mut stream: TcpStream, root: &Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut command = Command::new("git");
    isolate(&mut command, root);
    command.arg("http-backend").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.envs([("GIT_PROJECT_ROOT", root.as_os_str()), ("GIT_HTTP_EXPORT_ALL", "1".as_ref())]);
    command.envs([
        ("REQUEST_METHOD", method.as_str()),
        ("PATH_INFO", path),
        ("QUERY_STRING", query),
    ]);
    let mut body = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => body = value.parse().unwrap_or(0),
            "content-type" => drop(command.env("CONTENT_TYPE", value)),
            "git-protocol" => drop(command.env("GIT_PROTOCOL", value)),
            "content-encoding" => drop(command.env("HTTP_CONTENT_ENCODING", value)),
            _ => {}
        }
    }
    command.env("CONTENT_LENGTH", body.to_string());
    let mut child = command.spawn()?;
    let mut bytes = vec![0; body];
    reader.read_exact(&mut bytes)?;
    child.stdin.take().expect("a pipe").write_all(&bytes)?;
    let output = child.wait_with_output()?.stdout;
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(output.len());
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n{head}\r\n\r\n")?;
    stream.write_all(output.get(end + 4..).unwrap_or_default())
}
