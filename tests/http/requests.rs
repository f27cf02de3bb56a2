//! What goes with a request, what is read of an answer, and that there is only one.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use pagelog::fetch::http::{Accept, Request};
use pagelog::model::{PageUrl, Timestamp, Validators};

use super::scene::{Asker, LIMIT, Setup, get};
use crate::support::server::Web;
use crate::support::site::{Answer, Site};

const AGENT: &str = "TestBot/1.0 (+https://example.org/bot; bot@example.org)";

/// Names and values in the order of names.
fn sorted(headers: &[(String, String)]) -> Vec<(&str, &str)> {
    let mut headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    headers.sort_unstable();
    headers
}

#[test]
fn headers_are_those_promised_and_no_others() {
    let site = Site::answering(Answer::ok(&[], "text"));
    get(&site).unwrap();
    let asked = site.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].method.as_str(), asked[0].target.as_str()), ("GET", "/"));
    assert_eq!(
        sorted(&asked[0].headers),
        [
            ("accept", "text/markdown, text/html;q=0.9"),
            ("accept-encoding", "gzip"),
            ("from", "bot@example.org"),
            ("host", site.host().as_str()),
            ("user-agent", AGENT),
        ]
    );
}

#[test]
fn each_kind_has_its_accept_header() {
    let site = Site::answering(Answer::ok(&[], "text"));
    let asker = Asker::of(&site);
    let url = PageUrl::parse(&site.url("/")).unwrap();
    let kinds = [
        (Accept::Page, "text/markdown"),
        (Accept::Html, "text/html"),
        (Accept::Robots, "text/plain"),
        (Accept::Sitemap, "application/xml"),
        (Accept::Feed, "application/atom+xml"),
        (Accept::Document, "application/pdf"),
    ];
    for (accept, _) in kinds {
        asker.ask(Request::new(&url, accept, LIMIT)).unwrap();
    }
    for (asked, (accept, first)) in site.asked().iter().zip(kinds) {
        let sent = asked.header("accept").unwrap();
        assert_eq!(sent, accept.header());
        assert!(sent.starts_with(first), "{sent}");
    }
}

#[test]
fn validators_go_back_octet_for_octet_and_both() {
    let odd = "ETag: \"a\u{9b}31m-gzip\"";
    let head: Vec<u8> =
        format!("HTTP/1.1 200 OK\r\n{odd}\r\nLast-Modified: Mon, 01 Jun 2026 10:00:00 GMT\r\n")
            .chars()
            .map(|c| u8::try_from(c).unwrap())
            .collect();
    let first = Answer::raw(head).send("Content-Length: 1\r\n\r\nx");
    let second = Answer::head("304 Not Modified", &["ETag: W/\"new\""]);
    let site = Site::new(&[("/", &[first, second])]);
    let asker = Asker::of(&site);
    let url = PageUrl::parse(&site.url("/")).unwrap();
    let request = |validators| Request { validators, ..Request::new(&url, Accept::Page, LIMIT) };
    let validators = asker.ask(request(None)).unwrap().headers.validators;
    let answer = asker.ask(request(Some(&validators))).unwrap();
    assert_eq!((answer.status, answer.body.len()), (304, 0));
    assert_eq!(answer.headers.validators.etag.as_deref(), Some("W/\"new\""));
    let asked = &site.asked()[1];
    assert!(asked.raw.to_lowercase().contains("if-none-match: \"a\u{9b}31m-gzip\"\r\n"));
    assert_eq!(asked.header("if-modified-since"), Some("Mon, 01 Jun 2026 10:00:00 GMT"));
    assert_eq!(asked.headers.len(), 7, "{:?}", asked.headers);

    let only_date = Validators { etag: None, ..validators.clone() };
    asker.ask(request(Some(&only_date))).unwrap();
    assert_eq!(site.asked()[2].header("if-none-match"), None);
    assert!(site.asked()[2].header("if-modified-since").is_some());
}

#[test]
fn a_redirect_is_an_answer_like_others() {
    let elsewhere = Site::answering(Answer::ok(&[], "text"));
    let location = format!("Location: {}", elsewhere.url("/"));
    for status in ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"] {
        let site = Site::answering(Answer::new(status, &[&location, "Retry-After: 3"], ""));
        let asker = Setup::default().host(site.host()).host(elsewhere.host()).asker();
        let answer = asker.get(&site.url("/")).unwrap();
        assert_eq!(answer.status.to_string(), status[..3]);
        assert_eq!(answer.headers.location, Some(elsewhere.url("/")));
        assert_eq!(answer.headers.retry_after, ["3"]);
        assert_eq!(site.asked().len(), 1);
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn headers_that_matter_are_handed_over() {
    let site = Site::answering(Answer::ok(
        &[
            "Content-Type: text/plain",
            "Content-Type: text/HTML; charset=\"UTF-8\"",
            "Date: Mon, 30 Nov 2026 02:00:00 GMT",
            "Retry-After: 3",
            "Retry-After: soon",
            "Link: </a>; rel=\"canonical\"",
            "Link: </b>; rel=\"next\"",
            "X-Robots-Tag: noarchive",
            "x-robots-tag: otherbot: noindex",
            "Location: /caf\u{e9}",
            "Set-Cookie: a=b",
        ],
        "text",
    ));
    let asker = Asker::of(&site);
    let answer = asker.get(&site.url("/")).unwrap();
    let headers = &answer.headers;
    assert_eq!(headers.media_type().unwrap().essence(), "text/html");
    assert_eq!(headers.media_type().unwrap().charset(), Some("utf-8"));
    assert_eq!(headers.date.as_deref(), Some("Mon, 30 Nov 2026 02:00:00 GMT"));
    assert_eq!(headers.retry_after, ["3", "soon"]);
    assert_eq!(headers.link, ["</a>; rel=\"canonical\"", "</b>; rel=\"next\""]);
    assert_eq!(headers.x_robots_tag, ["noarchive", "otherbot: noindex"]);
    assert_eq!(headers.location.as_deref(), Some("/caf\u{e9}"));
    assert_eq!((answer.status, answer.body.as_slice(), answer.raw_length), (200, &b"text"[..], 4));
    assert_eq!(answer.remote.unwrap().port(), site.port());
    asker.get(&site.url("/")).unwrap();
    assert_eq!(site.asked()[1].header("cookie"), None, "a cookie was kept");

    let (asked, found) = (site.url("/a"), site.url("/"));
    let (asked, found) = (PageUrl::parse(&asked).unwrap(), PageUrl::parse(&found).unwrap());
    let capture = answer.capture(&asked, &found, Timestamp::EPOCH);
    assert_eq!((&capture.requested, &capture.found), (&asked, &found));
    assert_eq!((capture.status, capture.media_type), (200, headers.media_type()));
    assert!(capture.validators.is_empty());
}

#[test]
fn locations_that_differ_lead_nowhere() {
    let headers = ["Location: /a", "Location: /b"];
    let answer = get(&Site::answering(Answer::new("301 Moved", &headers, ""))).unwrap();
    assert_eq!((answer.status, answer.headers.location), (301, None));
}

#[test]
fn nothing_is_tried_again() {
    for status in ["408 Timeout", "421 Misdirected", "425 Early", "429 Many", "500 E", "503 S"] {
        let site = Site::answering(Answer::new(status, &["Retry-After: 0"], "later"));
        assert_eq!(get(&site).unwrap().status.to_string(), status[..3]);
        assert_eq!((site.asked().len(), site.connections()), (1, 1), "{status}");
    }
    for answer in [Answer::default().close(), Answer::default().reset()] {
        let site = Site::answering(answer);
        assert!(get(&site).unwrap_err().is_network());
        assert_eq!(site.connections(), 1);
    }
}

#[test]
fn a_connection_serves_again_while_it_is_whole() {
    let site = Site::answering(Answer::ok(&[], "text"));
    let asker = Asker::of(&site);
    for _ in 0..3 {
        asker.get(&site.url("/")).unwrap();
    }
    let asked = site.asked();
    let numbers: Vec<usize> = asked.iter().map(|asked| asked.connection).collect();
    assert_eq!(numbers, [1, 1, 1]);
    assert!(asked.windows(2).all(|two| two[0].at < two[1].at));
}

#[test]
fn a_connection_that_was_closed_in_between_is_no_failure() {
    let site = Site::answering(Answer::ok(&[], "text").close());
    let asker = Asker::of(&site);
    for _ in 0..3 {
        assert_eq!(asker.get(&site.url("/")).unwrap().body, b"text");
        asker.pass(Duration::from_millis(300));
    }
    let numbers: Vec<usize> = site.asked().iter().map(|asked| asked.connection).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_stray_body_behind_304_spoils_nothing() {
    let stray = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\n\r\n\
                 <html>stray body</html>";
    let stray = Answer::raw(stray);
    let site = Site::new(&[("/", &[stray]), ("/n", &[Answer::ok(&[], "right")])]);
    let asker = Asker::of(&site);
    let answer = asker.get(&site.url("/")).unwrap();
    assert_eq!((answer.status, answer.body.len()), (304, 0));
    asker.pass(Duration::from_millis(200));
    assert_eq!(asker.get(&site.url("/n")).unwrap().body, b"right");
}

#[test]
fn early_hints_are_passed_over() {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n";
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext";
    let site = Site::answering(Answer::raw(hints).send(text));
    let answer = get(&site).unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"text"[..]));
    assert!(answer.headers.link.is_empty());
}

#[test]
fn a_configured_proxy_is_used_and_literal_addresses_are_checked_all_the_same() {
    let proxy = Web::answering("204 No Content", "");
    let mut setup = Setup::default();
    setup.network.proxy = Some(format!("http://localhost:{}", proxy.port()));
    let asker = setup.asker();
    assert_eq!(asker.get("http://docs.example.org/a").unwrap().status, 204);
    asker.get("http://10.0.0.1/").unwrap_err();
    let requests = proxy.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].target, "http://docs.example.org/a");
    assert_eq!(requests[0].headers["host"], "docs.example.org");
    assert_eq!(requests[0].headers["user-agent"], AGENT);
}

#[test]
fn a_proxy_that_is_given_addresses_is_given_checked_ones() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut setup = Setup::default();
    setup.network.proxy = Some(format!("socks5://127.0.0.1:{port}"));
    let asker = setup.asker();
    asker.get("http://localhost/").unwrap_err();
    asker.get("http://127.0.0.1/").unwrap_err();
    assert!(listener.accept().is_err(), "the proxy was asked");
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    let proxy = Web::answering("502 Bad Gateway", "");
    // Another process, since the environment belongs to all tests of this one.
    let mut again = Command::new(std::env::current_exe().unwrap());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        again.env(name, format!("http://127.0.0.1:{}", proxy.port()));
    }
    again.env_remove("no_proxy").env_remove("NO_PROXY");
    let name = "http::requests::headers_are_those_promised_and_no_others";
    let output = again.args(["--exact", name]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert!(proxy.requests().is_empty());
}
