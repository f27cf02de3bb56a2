//! Bodies: framing, codings, bombs.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use pagelog::fetch::http::{HttpFailure, unpack};

use super::scene::{Asker, get};
use crate::support::site::{Answer, Site};

const GZIP: &str = "Content-Encoding: gzip";

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn fails(answer: Answer) -> HttpFailure {
    get(&Site::answering(answer)).unwrap_err()
}

#[test]
fn framing_in_all_its_forms() {
    let text = "a body".repeat(1000);
    let (first, second) = text.split_at(1234);
    let chunked = ["Transfer-Encoding: chunked"];
    let to_the_end = Answer::head("200 OK", &["Connection: close"]).send(&text).close();
    for answer in [
        Answer::ok(&[], &text),
        Answer::head("200 OK", &chunked).chunk(first).chunk(second).chunk(""),
        to_the_end,
        Answer::raw("HTTP/1.0 200 OK\r\n\r\n").send(&text).close(),
    ] {
        let body = get(&Site::answering(answer.clone())).unwrap().body;
        assert_eq!(body, text.as_bytes(), "{answer:?}");
    }
}

#[test]
fn what_is_cut_is_incomplete() {
    let long = "Content-Length: 1000";
    let chunked = "Transfer-Encoding: chunked";
    let packed = gzip(&b"a body that is packed".repeat(50));
    let cut = &packed[..packed.len() - 5];
    for answer in [
        Answer::head("200 OK", &[long]).send("<p>half").close(),
        Answer::head("200 OK", &[long]).close(),
        Answer::head("200 OK", &[chunked]).chunk("<p>half").close(),
        Answer::head("200 OK", &[chunked]).send("20\r\n<p>half").close(),
        Answer::head("200 OK", &[GZIP, "Connection: close"]).send(cut).close(),
        Answer::ok(&[GZIP], cut),
        Answer::raw("HTTP/1.1 200 OK\r\nContent-Type: text/ht").close(),
        Answer::default().close(),
    ] {
        let failure = fails(answer.clone());
        assert!(matches!(failure, HttpFailure::Truncated), "{answer:?}: {failure:?}");
        assert!(failure.is_network());
    }
}

#[test]
fn a_reset_is_told() {
    let half = Answer::head("200 OK", &["Content-Length: 1000"]).send("<p>half");
    let failure = fails(half.reset());
    assert!(matches!(failure, HttpFailure::Reset | HttpFailure::Truncated), "{failure:?}");
    let failure = fails(Answer::default().reset());
    assert!(matches!(failure, HttpFailure::Reset), "{failure:?}");
}

#[test]
fn codings_are_undone() {
    let text = b"# Title\n\nsome text, some text, some text\n".repeat(100);
    let once = gzip(&text);
    for (answer, raw) in [
        (Answer::ok(&[GZIP], &once), once.len()),
        (Answer::ok(&["Content-Encoding: X-GZIP"], &once), once.len()),
        (Answer::ok(&["Content-Encoding: gzip, gzip"], gzip(&once)), gzip(&once).len()),
        (Answer::ok(&[GZIP, GZIP], gzip(&once)), gzip(&once).len()),
        (Answer::ok(&["Content-Encoding: identity"], &text), text.len()),
        // It claims to be packed and is not.
        (Answer::ok(&[GZIP], &text), text.len()),
    ] {
        let found = get(&Site::answering(answer.clone())).unwrap();
        assert_eq!((found.body.as_slice(), found.raw_length), (text.as_slice(), raw as u64));
    }
    let empty = get(&Site::answering(Answer::ok(&[GZIP], ""))).unwrap();
    assert_eq!((empty.status, empty.body.len()), (200, 0));
}

#[test]
fn codings_that_were_not_asked_for_are_failures() {
    for coding in ["br", "zstd", "gzip, br", "gzip, gzip, gzip", "nonsense"] {
        let failure = fails(Answer::ok(&[&format!("Content-Encoding: {coding}")], "x"));
        assert!(matches!(failure, HttpFailure::Encoding(_)), "{coding}: {failure:?}");
        assert!(!failure.is_network());
    }
    let transfer = ["Transfer-Encoding: gzip, chunked"];
    let failure = fails(Answer::head("200 OK", &transfer).chunk(gzip(b"x")).chunk(""));
    assert!(matches!(failure, HttpFailure::Protocol(_)), "{failure:?}");
    let mut damaged = gzip(b"a text");
    damaged[12] ^= 0x55;
    let failure = fails(Answer::ok(&[GZIP], damaged));
    assert!(matches!(failure, HttpFailure::Encoding(_) | HttpFailure::Truncated), "{failure:?}");
}

/// Bytes that a connection may take in before its other end notices that nobody reads.
const BUFFERS: u64 = 32 << 20;

#[test]
fn bodies_without_end_are_left_early() {
    let chunked = "Transfer-Encoding: chunked";
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
    let site = Site::answering(Answer::head("200 OK", &[chunked]).endless(chunk));
    let failure = Asker::of(&site).get_up_to(100_000, &site.url("/")).unwrap_err();
    assert!(matches!(failure, HttpFailure::TooLarge { limit: 100_000 }), "{failure:?}");
    assert!(site.sent() < BUFFERS, "{} bytes were taken", site.sent());

    // Members of nothing, one after the other.
    let site = Site::answering(Answer::head("200 OK", &[GZIP]).endless(gzip(b"").repeat(100)));
    let failure = Asker::of(&site).get_up_to(100_000, &site.url("/")).unwrap_err();
    assert!(matches!(failure, HttpFailure::TooLarge { .. }), "{failure:?}");
    assert!(site.sent() < BUFFERS, "{} bytes were taken", site.sent());
}

#[test]
fn a_body_that_says_that_it_is_too_large_is_not_read() {
    let head = Answer::head("200 OK", &["Content-Length: 100001"]).endless([b'x'; 4096]);
    let site = Site::answering(head);
    let failure = Asker::of(&site).get_up_to(100_000, &site.url("/")).unwrap_err();
    assert!(matches!(failure, HttpFailure::TooLarge { limit: 100_000 }), "{failure:?}");
    let exact = Site::answering(Answer::ok(&[], vec![b'x'; 100_000]));
    let found = Asker::of(&exact).get_up_to(100_000, &exact.url("/")).unwrap();
    assert_eq!(found.body.len(), 100_000);
}

#[test]
fn bombs_end_early() {
    let bomb = gzip(&vec![0; 64 << 20]);
    let two = "Content-Encoding: gzip, gzip";
    for (answer, limit) in [
        (Answer::ok(&[GZIP], &bomb), 1 << 30),
        (Answer::ok(&[two], gzip(&bomb)), 1 << 30),
        (Answer::ok(&["Content-Encoding: deflate"], &bomb[10..bomb.len() - 8]), 1 << 30),
    ] {
        let site = Site::answering(answer);
        let failure = Asker::of(&site).get_up_to(limit, &site.url("/")).unwrap_err();
        assert!(matches!(failure, HttpFailure::Ratio), "{failure:?}");
    }
    let site = Site::answering(Answer::ok(&[GZIP], &bomb));
    let failure = Asker::of(&site).get_up_to(1 << 20, &site.url("/")).unwrap_err();
    assert!(matches!(failure, HttpFailure::TooLarge { .. }), "{failure:?}");
    assert!(matches!(unpack(&bomb, 1 << 30), Err(HttpFailure::Ratio)));
    assert_eq!(unpack(&gzip(b"<urlset/>"), 100).unwrap(), b"<urlset/>");
    assert_eq!(unpack(b"<urlset/>", 100).unwrap(), b"<urlset/>");
}

#[test]
fn the_status_of_an_error_counts_whatever_its_body_is() {
    for answer in [
        Answer::head("429 Many", &["Retry-After: 3", "Content-Length: 99"]).send("x").close(),
        Answer::new("429 Many", &["Retry-After: 3", "Content-Encoding: br"], "x"),
        Answer::new("429 Many", &["Retry-After: 3", GZIP], &gzip(&vec![0; 8 << 20])[..1000]),
        Answer::head("429 Many", &["Retry-After: 3"]).endless([b'x'; 4096]),
    ] {
        let found = get(&Site::answering(answer)).unwrap();
        assert_eq!((found.status, found.headers.retry_after.len(), found.body.len()), (429, 1, 0));
    }
    let found = get(&Site::answering(Answer::new("404 Not Found", &[], "no such page"))).unwrap();
    assert_eq!((found.status, found.body.as_slice()), (404, &b"no such page"[..]));
}
