//! What never replaces a good page.

use super::scene::{HOST, at, crawl};
use crate::support::crawl::{Crawl, PUBLIC, clock};
use crate::support::script::{Framing, Reply};

const SHELL: &str = "<html><head><title>App</title></head><body><main id=app></main>\
    <script>boot()</script></body></html>";
const LOGIN: &str = "<html><head><title>Sign in</title></head><body><main><h1>Sign in</h1>\
    <form method=post action=/login><label>Name <input name=user></label>\
    <label>Password <input type=password name=password></label><button>Sign in</button></form>\
    </main></body></html>";
const CHALLENGE: &str = "<html><head><title>Just a moment...</title></head><body><main>\
    <h1>Checking your browser before you go on</h1>\
    <p>Enable JavaScript and cookies to continue</p></main></body></html>";
const SORRY: &str = "<html><head><title>404 - Page not found</title></head><body><main>\
    <h1>Page not found</h1><p>Sorry, the page that you asked for does not exist.</p></main>\
    </body></html>";

/// A good run; then one page answers that; it stays as it was, and the run says why.
#[track_caller]
fn check(what: &str, bad: Reply) -> Crawl {
    let crawl = crawl(3);
    crawl.day(1, 0);
    let page = crawl.page(&at("/p02"));
    crawl.hosts.on(HOST, "/p02", bad);
    let ran = crawl.run_with(&clock(2), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{what}: {:?}", ran.outcome);
    assert_eq!(crawl.page(&at("/p02")), page, "{what}");
    assert_eq!(crawl.changes(), [""; 0], "{what}");
    let (outcome, reason) = crawl.outcome(&at("/p02"));
    assert!(!["changed", "same", "not-modified"].contains(&outcome.as_str()), "{what}: {outcome}");
    assert!(!reason.is_empty(), "{what}: {outcome}");
    crawl
}

/// The same bodies where there was no page: they do not become one either.
#[track_caller]
fn check_new(what: &str, bad: Reply) {
    let crawl = crawl(3);
    crawl.hosts.on(HOST, "/p02", bad);
    let ran = crawl.run_with(&clock(1), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{what}: {:?}", ran.outcome);
    assert_eq!(crawl.page(&at("/p02")), None, "{what}");
    assert_eq!(crawl.pages(PUBLIC).len(), 2, "{what}");
}

#[test]
fn an_empty_body() {
    check("empty", Reply::html(""));
    check("blanks", Reply::html(" \n\t\n"));
    check_new("empty", Reply::html(""));
}

#[test]
fn a_page_without_words() {
    check("a shell for a script", Reply::html(SHELL));
}

#[test]
fn a_login_page() {
    check("login", Reply::html(LOGIN));
}

#[test]
fn a_challenge() {
    check("challenge", Reply::html(CHALLENGE));
    check("challenge with 403", Reply::new(403, &[("Content-Type", "text/html")], CHALLENGE));
}

#[test]
fn an_error_page_with_200() {
    check("soft 404", Reply::html(SORRY));
}

#[test]
fn a_text_in_another_encoding_than_it_says() {
    let text =
        "<main><h1>\u{418}</h1><p>\u{43e}\u{43f}\u{438}\u{441}\u{430}\u{43d}\u{438}\u{435}</main>";
    let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(text);
    let crawl = check("garbled", Reply::html(&bytes));
    let (outcome, reason) = crawl.outcome(&at("/p02"));
    assert_eq!(outcome, "failed");
    assert!(reason.contains("characters are not UTF-8"), "{reason}");
    check_new("garbled", Reply::html(&bytes));
}

#[test]
fn a_body_that_is_cut() {
    let text = "The first text of 2, and much more of it.".repeat(50);
    check("cut", Reply::page("Page 2", &text, &[]).framing(Framing::Cut(900)));
}

#[test]
fn a_body_whose_last_chunk_is_missing() {
    let text = "The first text of 2, and much more of it.".repeat(50);
    check("cut", Reply::page("Page 2", &text, &[]).framing(Framing::Unended(900)));
}

#[test]
fn an_error() {
    check("500", Reply::status(500));
}

#[test]
fn a_connection_that_is_reset() {
    check("reset", Reply::html("x").reset());
}

#[test]
fn statuses_that_mean_nothing_final() {
    for status in [400, 401, 403, 405, 406, 418, 451] {
        check(&status.to_string(), Reply::status(status));
    }
}

#[test]
fn something_that_is_no_text() {
    let image = Reply::ok("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    check("an image", image.clone());
    check_new("an image", image);
    // HTML in name only.
    check("an image called HTML", Reply::html(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xff\xfe"));
}

#[test]
fn a_page_that_is_too_large() {
    let large = Reply::html("").repeating(b"<main>", &vec![b'a'; 65536], 17 * 16);
    let crawl = check("17 MiB", large);
    let (outcome, reason) = crawl.outcome(&at("/p02"));
    assert_eq!(outcome, "failed");
    assert!(reason.contains("large"), "{reason}");
}

#[test]
fn a_body_in_several_ways_of_framing_is_a_page() {
    for framing in [Framing::Chunked, Framing::Close] {
        let crawl = crawl(2);
        let text = "Whole.".repeat(1000);
        crawl.hosts.on(HOST, "/p01", Reply::page("P", &text, &[]).framing(framing));
        crawl.day(1, 0);
        crawl.assert_page(&at("/p01"), &text);
    }
}
