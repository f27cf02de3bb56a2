//! Every form of Retry-After, each on a site of its own.

use std::thread;
use std::time::Duration;

use super::case::{Case, at};
use crate::support::crawl::{Crawl, Ran};
use crate::support::script::{Reply, Script};

/// One run over a site whose start answers this once.
fn run(first: Reply) -> (Crawl, Ran) {
    let good = Reply::page("Start", "Text.", &[]);
    let script = Script::new()
        .on("docs.example.org", "/robots.txt", Reply::robots(""))
        .with("docs.example.org", "/", &[first, good])
        .on("docs.example.org", "/next", Reply::page("Next", "Text.", &[]));
    let crawl = Crawl::docs(script, &at("/"));
    let ran = crawl.run_with(&crate::support::crawl::clock(1), &[]);
    (crawl, ran)
}

/// The time between the end of the first answer to `/` and the next request.
fn gap(ran: &Ran) -> Duration {
    let place = ran.exchanges.iter().position(|exchange| exchange.target == "/").expect("/");
    let next = ran.exchanges.get(place + 1).expect("a request after /");
    next.began() - ran.exchanges[place].end.expect("an answer")
}

#[test]
fn expect_htt_retry_after_forms() {
    let Some(case) = Case::load("htt-retry-after-forms") else { return };
    let rows = case.input("rows").as_array().expect("rows");
    // Milliseconds that the host is left alone at the least; nothing leaves it for a later run.
    let least =
        [Some(3000), Some(3000), Some(2900), Some(1000), None, Some(1000), Some(1000), Some(1000)];
    let row = |(row, least): (&serde_json::Value, Option<u64>)| {
        let status = u16::try_from(row[0].as_u64().expect("a status")).expect("a status");
        let value = match row[1].as_str().expect("a value") {
            text if text.starts_with("HTTP-date, now") => "{DATE+3}",
            text if text.starts_with("HTTP-date, one year ago") => "{DATE+-31536000}",
            text => text,
        };
        let (crawl, ran) = run(Reply::status(status).header("Retry-After", value));
        let Some(least) = least else {
            assert_eq!(ran.outcome.code, Some(3), "{row}: {:?}", ran.outcome);
            assert_eq!(ran.times("/"), 1, "{row}: {:?}", ran.asked());
            ran.assert_says("docs");
            return;
        };
        assert_eq!(ran.outcome.code, Some(0), "{row}: {:?}", ran.outcome);
        assert!(gap(&ran) >= Duration::from_millis(least), "{row}: {:?}", gap(&ran));
        crawl.assert_page(&at("/"), "# Start");
    };
    thread::scope(|scope| {
        for pair in rows.iter().zip(least) {
            scope.spawn(move || row(pair));
        }
    });
}

#[test]
fn expect_htt_retry_after_forms_of_a_redirect() {
    let Some(case) = Case::load("htt-retry-after-forms") else { return };
    let row = &case.input("rows")[8];
    assert_eq!((row[0].as_u64(), row[1].as_str()), (Some(301), Some("3")));
    // The judge asserts that what was asked for is waited.
    let (crawl, ran) = run(Reply::redirect(301, "/next").header("Retry-After", "3"));
    assert_eq!(ran.times("/next"), 1, "{:?}", ran.asked());
    crawl.assert_page(&at("/next"), "# Next");
}

#[test]
fn expect_htt_retry_after_forms_where_there_is_none() {
    let Some(case) = Case::load("htt-retry-after-forms") else { return };
    assert!(case.input("rows")[9][1].is_null());
    let (crawl, ran) = run(Reply::status(429));
    assert!(gap(&ran) >= Duration::from_secs(1), "{:?}", gap(&ran));
    crawl.assert_page(&at("/"), "# Start");
}
