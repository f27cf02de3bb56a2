//! The judge finds what it is there for: each violation is planted and must be told.

use std::thread;
use std::time::{Duration, Instant};

use super::hosts::{Exchange, Hosts, certificate};
use super::judge::{Judge, conditional};
use super::script::{Framing, Reply, Script};
use crate::http::scene::Setup;

const PACE: Duration = Duration::from_millis(10);

/// A run that is beyond reproach: three requests, 20 ms apart, each answered in 1 ms.
fn polite() -> Vec<Exchange> {
    let start = Instant::now();
    let paths = ["/robots.txt", "/a", "/b"];
    let exchange = |(n, target): (u32, &str)| Exchange {
        connection: 1,
        opened: (n == 0).then_some(start),
        secure: true,
        method: "GET".to_owned(),
        target: target.to_owned(),
        headers: [
            ("host", "docs.example.org"),
            ("user-agent", "TestBot/1.0 (+https://example.org/bot; bot@example.org)"),
            ("from", "bot@example.org"),
            ("accept", "text/html"),
            ("accept-encoding", "gzip"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        at: start + Duration::from_millis(20) * n,
        status: Some(200),
        retry_after: None,
        end: Some(start + Duration::from_millis(20) * n + Duration::from_millis(1)),
        whole: true,
    };
    (0..).zip(paths).map(exchange).collect()
}

/// What the judge says of the polite run with something changed in it.
fn told(change: impl FnOnce(&mut Vec<Exchange>)) -> String {
    let mut exchanges = polite();
    change(&mut exchanges);
    let judge = Judge::new(PACE).within(&["https://docs.example.org/"]);
    judge.findings(&exchanges).join("; ")
}

fn set(exchange: &mut Exchange, name: &str, value: Option<&str>) {
    exchange.headers.retain(|(found, _)| found != name);
    exchange.headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
}

#[test]
fn a_polite_run_has_no_findings() {
    assert_eq!(told(|_| {}), "");
    Judge::new(PACE).assert(&polite(), "a polite run");
}

#[test]
fn headers_that_miss_or_must_not_be() {
    for name in ["user-agent", "from", "accept-encoding", "accept"] {
        assert!(
            told(|e| set(&mut e[1], name, None)).contains(&format!("{name} is None")),
            "{name}"
        );
    }
    assert!(told(|e| set(&mut e[1], "accept", Some("*/*"))).contains("accept is"));
    assert!(
        told(|e| set(&mut e[1], "accept-encoding", Some("gzip, br"))).contains("accept-encoding")
    );
    for name in ["cookie", "referer", "accept-language", "authorization"] {
        let told = told(|e| set(&mut e[2], name, Some("x")));
        assert!(told.contains(&format!("{name} was sent")), "{told}");
    }
    let twice = told(|e| e[1].headers.push(("from".into(), "bot@example.org".into())));
    assert!(twice.contains("from was sent twice"), "{twice}");
    for host in [Some("docs.example.org:443"), Some(""), None] {
        assert!(told(|e| set(&mut e[1], "host", host)).contains("host is"), "{host:?}");
    }
    assert!(told(|e| e[0].method = "HEAD".into()).contains("asked with HEAD"));
}

#[test]
fn requests_too_close_or_at_once() {
    let later = |e: &Exchange, millis| e.end.map(|end| end + Duration::from_millis(millis));
    let close = told(|e| e[2].at = later(&e[1], 5).unwrap());
    assert!(close.contains("/b after /a: 5ms apart, 10ms at the least"), "{close}");
    assert_eq!(told(|e| e[2].at = later(&e[1], 10).unwrap()), "");
    let at_once = told(|e| e[1].end = later(&e[2], 1));
    assert!(at_once.contains("two requests at once"), "{at_once}");
    // A connection that is opened too early is a request that begins too early.
    let opened = told(|e| e[2].opened = later(&e[1], 2));
    assert!(opened.contains("2ms apart"), "{opened}");
}

#[test]
fn a_host_that_asks_for_rest_gets_it() {
    for status in [Some(429), Some(500), Some(503), None] {
        let told = told(|e| e[1].status = status);
        assert!(told.contains("1s at the least"), "{status:?}: {told}");
    }
    let asked = told(|e| e[1].retry_after = Some("3".into()));
    assert!(asked.contains("3s at the least"), "{asked}");
    let mut exchanges = polite();
    exchanges[1].status = Some(503);
    let judge = Judge::new(PACE).without_backoff("docs.example.org");
    assert_eq!(judge.findings(&exchanges), Vec::<String>::new());
}

#[test]
fn robots_come_first_at_each_origin() {
    assert!(told(|e| e[0].target = "/c".into()).contains("before robots.txt of its origin"));
    let other = told(|e| e[2].secure = false);
    assert!(other.contains("http://docs.example.org/b: before robots.txt"), "{other}");
}

#[test]
fn nothing_is_asked_outside_or_twice() {
    let outside = told(|e| set(&mut e[2], "host", Some("evil.example.net")));
    assert!(outside.contains("https://evil.example.net/b: out of scope"), "{outside}");
    let outside = told(|e| {
        set(&mut e[2], "host", Some("evil.example.net"));
        e[2].target = "/robots.txt".into();
    });
    assert!(outside.contains("out of scope"), "{outside}");
    let twice = told(|e| e[2].target = "/a".into());
    assert!(twice.contains("https://docs.example.org/a: asked for again"), "{twice}");
    let mut exchanges = polite();
    exchanges[2].target = "/a".to_owned();
    let judge = Judge::new(PACE).again("https://docs.example.org/a");
    assert_eq!(judge.findings(&exchanges), Vec::<String>::new());
    // What failed may be tried again, twice.
    let retried = told(|e| {
        e[1].whole = false;
        e[2].target = "/a".into();
    });
    assert_eq!(retried, "");
    let hammered = told(|e| {
        for exchange in e.iter_mut() {
            exchange.whole = false;
        }
        for n in 1..=3 {
            let mut again = e[1].clone();
            again.at = e[2].at + Duration::from_secs(n);
            again.end = None;
            e.push(again);
        }
    });
    assert!(hammered.contains("more than 2 retries"), "{hammered}");
}

#[test]
fn conditional_requests_are_told() {
    let mut exchanges = polite();
    set(&mut exchanges[1], "if-none-match", Some("\"1\""));
    set(&mut exchanges[2], "if-modified-since", Some("Mon, 01 Jun 2026 10:00:00 GMT"));
    let urls = conditional(&exchanges);
    assert_eq!(urls, ["https://docs.example.org/a", "https://docs.example.org/b"]);
}

/// The hosts themselves, asked by a client that knows nothing of them.
#[test]
fn hosts_answer_as_their_script_says() {
    use std::io::{Read as _, Write as _};

    let script = Script::new()
        .with("docs.example.org", "/n", &[Reply::html("one"), Reply::html("two")])
        .on("docs.example.org", "/p*", Reply::html("prefix"))
        .on("docs.example.org", "/pl*", Reply::html("longer"))
        .on("http://docs.example.org", "/s", Reply::redirect(301, "https://docs.example.org/s"))
        .on("docs.example.org", "/tag", Reply::html("tagged").etag("\"1\""))
        .on("docs.example.org", "/cut", Reply::html("12345").framing(Framing::Cut(3)))
        .on("docs.example.org", "/open", Reply::html("12345").framing(Framing::Unended(3)))
        .on("docs.example.org", "/close", Reply::html("12345").framing(Framing::Close))
        .on("docs.example.org", "/chunks", Reply::html("12345").framing(Framing::Chunked))
        .on("docs.example.org", "/gone", Reply::html("x").reset())
        .on("docs.example.org", "/wait", Reply::html("x").delay(Duration::from_mins(10)));
    let hosts = Hosts::new(script);
    let ask = |target: &str, more: &str| {
        let mut stream = std::net::TcpStream::connect(hosts.literal()).unwrap();
        let lines = format!("GET {target} HTTP/1.1\r\nHost: docs.example.org\r\n{more}\r\n");
        stream.write_all(lines.as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
        let mut answer = Vec::new();
        // An answer that leaves the connection open is over when nothing more comes.
        let ended = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        (
            answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()),
            answer,
            ended,
        )
    };
    let bodies = ["/n", "/n", "/n", "/p1", "/plus", "/close", "/cut"].map(|t| ask(t, "").0);
    assert_eq!(bodies, ["one", "two", "two", "prefix", "longer", "12345", "123"]);
    assert_eq!(ask("/chunks", "").0, "5\r\n12345\r\n0\r\n\r\n");
    assert_eq!(ask("/open", "").0, "3\r\n123\r\n");
    assert!(ask("/cut", "").1.contains("Content-Length: 5\r\n"));
    assert!(ask("/s", "").1.starts_with("HTTP/1.1 301 "));
    assert!(ask("/nothing", "").1.starts_with("HTTP/1.1 404 "));
    assert!(ask("/tag", "If-None-Match: \"1\"\r\n").1.starts_with("HTTP/1.1 304 "));
    assert!(ask("/tag", "If-None-Match: \"2\"\r\n").1.starts_with("HTTP/1.1 200 "));
    let reset = ask("/gone", "").2.unwrap_err();
    assert_eq!(reset.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(ask("/wait", "").1, "");
    hosts.on("docs.example.org", "/n", Reply::html("three"));
    assert_eq!(ask("/n", "").0, "three");
    let exchanges = hosts.exchanges();
    let find = |target: &str| exchanges.iter().find(|e| e.target == target).unwrap();
    let seen = ["/n", "/cut", "/gone", "/wait"].map(|t| {
        let found = find(t);
        (found.status, found.whole, found.end.is_some())
    });
    assert_eq!(
        seen,
        [
            (Some(200), true, true),
            (Some(200), false, true),
            (None, false, true),
            (None, false, false)
        ]
    );
    assert!(exchanges.iter().all(|e| e.end.is_none_or(|end| end >= e.at && e.opened < Some(e.at))));
}

/// Two runs of a client that waits as it should and of one that does not, over TLS and
/// without.
#[test]
fn a_client_is_seen_as_it_is() {
    let page = Reply::page("A", "Text.", &[]);
    let script = Script::new().on("docs.example.org", "/*", page.clone().etag("\"1\"")).on(
        "inner.example.net",
        "/*",
        page,
    );
    let hosts = Hosts::new(script);
    let targets =
        ["https://docs.example.org", "http://docs.example.org", "https://inner.example.net"];
    let ask = |pace: Duration| {
        let before = hosts.count();
        let mut setup = Setup::default();
        setup.network.ca_file = Some(certificate("hosts-ca.pem"));
        let arguments = hosts.arguments();
        let rules = arguments.iter().filter(|text| text.contains(":127.0.0.1:"));
        let asker = rules.fold(setup, |setup, rule| setup.connect_to(rule)).asker();
        for origin in targets {
            for path in ["/robots.txt", "/a", "/b"] {
                thread::sleep(pace);
                assert_eq!(asker.get(&format!("{origin}{path}")).unwrap().status, 200);
            }
        }
        hosts.exchanges().split_off(before)
    };
    let judge = Judge::new(PACE).within(&targets.map(|origin| format!("{origin}/")));
    let polite = ask(PACE);
    assert_eq!(polite.len(), 9);
    judge.assert(&polite, "a client that keeps its pace");
    assert!(polite.iter().all(|e| e.whole && e.end.is_some()), "{polite:?}");
    let opened = polite.iter().filter(|e| e.opened.is_some()).count();
    assert_eq!(opened, 3, "one connection to each origin");
    let hasty = judge.findings(&ask(Duration::ZERO));
    assert!(hasty.iter().any(|finding| finding.contains("10ms at the least")), "{hasty:?}");
    let none = Judge::new(Duration::ZERO).within(&["https://docs.example.org/"]);
    let outside = none.findings(&polite);
    assert_eq!(outside.len(), 6, "{outside:?}");
}
