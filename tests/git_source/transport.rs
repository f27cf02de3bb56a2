//! What goes over the network, and what does not.

use std::net::TcpListener;

use crate::support::World;
use crate::support::agree::{body, value};
use crate::support::server::{Daemon, Web, free_port};
use crate::support::world::{START, git_source};

const PUBLIC: &str = "refs/heads/main";

/// The User-Agent of all tests' bot.
const AGENT: &str = "TestBot/1.0 (+https://example.org/bot; bot@example.org)";

#[test]
fn gits_own_protocol() {
    let world = World::empty();
    let Some(daemon) = Daemon::start(world.path()) else { return };
    let address = format!("git://127.0.0.1:{}/up.git", daemon.port());
    world.configure(&git_source("docs", "true", &[&address]));
    let up = world.upstream("up");
    up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    world.assert_whole();
    let page = format!("pages/docs/127.0.0.1+{}/up/a.md", daemon.port());
    let text = world.file(PUBLIC, &page);
    assert_eq!(value(&text, "repository"), address);

    let newest = up.write("a.md", "# A, changed\n").commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed, 0 added, 0 removed, 0 same, 1 not modified"));
    let text = world.file(PUBLIC, &page);
    assert_eq!((body(&text), value(&text, "commit")), ("# A, changed\n", newest.as_str()));
    world.assert_whole();

    drop(daemon);
    let trees = world.trees();
    let ended = world.pagelog_at("2026-12-02T02:00:00Z", &["run"]).exits(3);
    assert!(ended.stderr.contains("could not be reached"), "{}", ended.stderr);
    assert_eq!(world.trees(), trees);
    assert_eq!(world.commits(PUBLIC), 3);
    world.assert_whole();
}

#[test]
fn names_of_local_addresses_are_never_contacted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for scheme in ["git", "http"] {
        let world = World::empty();
        let address = format!("{scheme}://localhost:{port}/up.git");
        world.configure(&git_source("docs", "true", &[&address]));
        let ended = world.pagelog(&["run"]);
        assert!(matches!(ended.code, Some(2 | 3)), "{ended:?}");
        assert!(ended.stderr.contains("localhost"), "{}", ended.stderr);
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn every_request_says_who_asks() {
    let world = World::empty();
    let up = world.upstream("up");
    up.write("a.md", "# A\n").commit();
    let web = Web::serving_git(world.path());
    let address = format!("http://127.0.0.1:{}/up.git", web.port());
    world.configure(&git_source("docs", "true", &[&address]));
    world.run();
    world.assert_whole();
    up.write("a.md", "# A, changed\n").commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed"), "{said}");
    world.assert_whole();
    let requests = web.requests();
    assert!(requests.len() >= 4, "{requests:?}");
    for request in requests {
        assert_eq!(request.headers["user-agent"], AGENT, "{request:?}");
        assert_eq!(request.headers["from"], "bot@example.org", "{request:?}");
        assert!(!request.headers.contains_key("authorization"), "{request:?}");
        assert!(request.target.starts_with("/up.git/"), "{request:?}");
    }
}

#[test]
fn what_a_server_refuses_freezes_the_source() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let to = elsewhere.local_addr().unwrap().port();
    let redirect = format!("Location: http://127.0.0.1:{to}/up.git/info/refs\r\n");
    let login = "WWW-Authenticate: Basic realm=\"docs\"\r\n";
    for (status, headers, why) in [
        ("404 Not Found", "", "gone or closed"),
        ("403 Forbidden", "", "gone or closed"),
        ("410 Gone", "", "gone or closed"),
        ("401 Unauthorized", login, "gone or closed"),
        ("500 Internal Server Error", "", "could not be reached"),
        ("503 Service Unavailable", "Retry-After: 1\r\n", "could not be reached"),
        ("429 Too Many Requests", "", "could not be reached"),
        ("301 Moved Permanently", redirect.as_str(), "could not be reached"),
        ("302 Found", redirect.as_str(), "could not be reached"),
    ] {
        let web = Web::answering(status, headers);
        let world = World::empty();
        let address = format!("http://127.0.0.1:{}/up.git", web.port());
        world.configure(&git_source("docs", "true", &[&address]));
        let ended = world.pagelog(&["run"]).exits(3);
        assert!(ended.stderr.contains(why), "{status}: {}", ended.stderr);
        let requests = web.requests();
        assert_eq!(requests.len(), 1, "{status}: {requests:?}");
        assert_eq!(requests[0].headers["user-agent"], AGENT);
        assert_eq!(requests[0].headers["from"], "bot@example.org");
        assert_eq!(world.commits(PUBLIC), 1, "{status}");
    }
    assert!(elsewhere.accept().is_err(), "a redirect was followed");
}

#[test]
fn nobody_listens() {
    let world = World::empty();
    let address = format!("http://127.0.0.1:{}/up.git", free_port());
    world.configure(&git_source("docs", "true", &[&address]));
    let ended = world.pagelog_at(START, &["run"]).exits(3);
    assert!(ended.stderr.contains("could not be reached"), "{}", ended.stderr);
    assert_eq!(world.commits(PUBLIC), 1);
    world.assert_whole();
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    let proxy = Web::answering("502 Bad Gateway", "");
    let world = World::empty();
    world.upstream("up").write("a.md", "# A\n").commit();
    let web = Web::serving_git(world.path());
    let address = format!("http://127.0.0.1:{}/up.git", web.port());
    world.configure(&git_source("docs", "true", &[&address]));
    let mut command = world.command(START);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, format!("http://127.0.0.1:{}", proxy.port()));
    }
    let ended: crate::support::Outcome = command.arg("run").output().unwrap().into();
    ended.exits(0);
    assert!(proxy.requests().is_empty());
}
