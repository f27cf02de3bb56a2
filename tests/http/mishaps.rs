//! Servers that are silent, slow, or do not speak HTTP.

use std::net::TcpListener;
use std::time::Duration;

use pagelog::fetch::http::{HttpFailure, Timeouts, Wait};

use super::scene::{Asker, Setup, get};
use crate::support::site::{Answer, Site};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_mins(1);

fn impatient(site: &Site, idle: Duration, whole: Duration) -> Asker {
    let mut setup = Setup::default().host(site.host());
    // Enough for a busy machine; the wait for a header section has it as well.
    let connect = Duration::from_secs(2);
    setup.timeouts = Timeouts { connect, idle, whole };
    setup.asker()
}

fn waits(site: &Site, idle: Duration, whole: Duration) -> Wait {
    match impatient(site, idle, whole).get(&site.url("/")) {
        Err(failure @ HttpFailure::Timeout(wait)) => {
            assert!(failure.is_network());
            wait
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn silence_ends() {
    let head = Answer::head("200 OK", &["Content-Length: 1000"]);
    for answer in [
        Answer::default().wait(LONG / 20),
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Le").wait(LONG / 20),
        head.clone().send("<p>").wait(LONG / 20),
        head.send("<p>").wait(Duration::from_millis(20)).send("half").wait(LONG / 20),
    ] {
        assert_eq!(waits(&Site::answering(answer), SHORT, LONG), Wait::Idle);
    }
}

#[test]
fn a_drip_ends() {
    let mut body = Answer::head("200 OK", &["Content-Length: 1000"]);
    let mut head = Answer::raw("HTTP/1.1 200 OK\r\n");
    for _ in 0..400 {
        body = body.send("x").wait(Duration::from_millis(20));
        head = head.send("X: y\r\n").wait(Duration::from_millis(20));
    }
    assert_eq!(waits(&Site::answering(body), LONG, SHORT), Wait::Whole);
    assert_eq!(waits(&Site::answering(head.clone()), LONG, SHORT), Wait::Whole);
    assert_eq!(waits(&Site::answering(head), SHORT, LONG), Wait::Idle);
}

#[test]
fn a_slow_body_that_moves_on_is_read() {
    let mut answer = Answer::head("200 OK", &["Content-Length: 8"]);
    for _ in 0..8 {
        answer = answer.send("x").wait(Duration::from_millis(50));
    }
    let site = Site::answering(answer);
    let asker = impatient(&site, LONG, LONG);
    assert_eq!(asker.get(&site.url("/")).unwrap().body, b"xxxxxxxx");
}

#[test]
fn a_handshake_that_is_not_answered_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let mut setup = Setup::default().host(host.as_str());
    setup.timeouts.connect = SHORT;
    let failure = setup.asker().get(&format!("https://{host}/")).unwrap_err();
    assert!(matches!(failure, HttpFailure::Timeout(Wait::Connect)), "{failure:?}");
}

#[test]
fn what_is_not_http_is_told() {
    let many = "X-Y: z\r\n".repeat(1000);
    for answer in [
        Answer::raw("<html>a page of HTTP/0.9</html>").close(),
        Answer::raw("SSH-2.0-OpenSSH_9.2\r\n\r\n").close(),
        Answer::raw("HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\nx").close(),
        Answer::raw("HTTP/1.1 banana\r\n\r\n").close(),
        Answer::raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n").close(),
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy").close(),
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n").close(),
        Answer::raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").close(),
        Answer::raw(format!("HTTP/1.1 200 OK\r\n{many}\r\n")).close(),
        Answer::raw("HTTP/1.1 200 OK\r\nX: ").endless([b'y'; 4096]),
        Answer::raw(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        ),
    ] {
        let site = Site::answering(answer.clone());
        let failure = get(&site).unwrap_err();
        assert!(
            matches!(failure, HttpFailure::Protocol(_)),
            "{}: {failure:?}",
            format!("{answer:?}").chars().take(200).collect::<String>()
        );
        assert!(!failure.is_network());
        let message = failure.to_string();
        assert!(message.chars().all(|c| !c.is_control()) && message.len() < 300, "{message}");
        assert_eq!(site.connections(), 1);
    }
}

#[test]
fn many_headers_are_no_fault() {
    let many: Vec<String> = (0..200).map(|n| format!("X-{n}: {}", "y".repeat(500))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(get(&Site::answering(Answer::ok(&many, "x"))).unwrap().body, b"x");
}

#[test]
fn early_hints_without_end_end() {
    let hints = Answer::default().endless("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n");
    let site = Site::answering(hints);
    let wait = waits(&site, SHORT, LONG);
    assert_eq!(wait, Wait::Idle);
}
