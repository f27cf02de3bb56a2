//! Redirects between pages, and hosts that ask to wait.

use super::scene::{HOST, at, linked};
use crate::support::crawl::{Crawl, PACE, PUBLIC, clock, docs};
use crate::support::judge::Judge;
use crate::support::script::{Reply, Script};

/// A chain of so many temporary redirects from `/hop1`, with a page at its end.
fn chain(hops: usize) -> Script {
    let mut script = linked(&[("/hop1", Reply::status(404))]);
    for hop in 1..=hops {
        let next = if hop == hops { "/end".to_owned() } else { format!("/hop{}", hop + 1) };
        script.set(HOST, &format!("/hop{hop}"), vec![Reply::redirect(302, &next)]);
    }
    script.on(HOST, "/end", Reply::page("End", "The end of the chain.", &[]))
}

#[test]
fn five_hops_are_followed() {
    let crawl = Crawl::docs(chain(5), &at("/"));
    let ran = crawl.day(1, 0);
    assert_eq!(ran.times("/end"), 1, "{:?}", ran.asked());
    let pages = crawl.pages(PUBLIC);
    let holds = |path: &String| {
        crawl.file(PUBLIC, &format!("pages/{path}")).contains("The end of the chain.")
    };
    assert_eq!(pages.iter().filter(|path| holds(path)).count(), 1, "{pages:?}");
}

#[test]
fn a_sixth_hop_is_not() {
    let crawl = Crawl::docs(chain(6), &at("/"));
    let ran = crawl.day(1, 0);
    assert_eq!(ran.times("/end"), 0, "{:?}", ran.asked());
    let (outcome, reason) = crawl.outcome(&at("/hop6"));
    assert_eq!(outcome, "moved", "{reason}");
    assert!(reason.contains("/end"), "{reason}");
}

#[test]
fn a_loop_ends() {
    let pages = [("/a", Reply::redirect(302, "/b")), ("/b", Reply::redirect(302, "/a"))];
    let judge = Judge::new(PACE).again(&at("/a")).again(&at("/b"));
    let crawl = Crawl::docs(linked(&pages), &at("/")).judged(judge);
    let ran = crawl.day(1, 0);
    assert!(ran.times("/a") <= 2 && ran.times("/b") <= 2, "{:?}", ran.asked());
    for path in ["/a", "/b"] {
        let (outcome, reason) = crawl.outcome(&at(path));
        assert_eq!(outcome, "moved", "{reason}");
    }
    assert_eq!(crawl.pages(PUBLIC).len(), 1);
}

#[test]
fn redirects_that_lead_nowhere_fail() {
    let pages = [
        ("/none", Reply::new(302, &[], "")),
        ("/odd", Reply::redirect(302, "http://[")),
        ("/scheme", Reply::redirect(302, "ftp://docs.example.org/x")),
        ("/down", Reply::redirect(302, "http://docs.example.org/plain")),
    ];
    let script = linked(&pages).on(HOST, "/plain", Reply::page("Plain", "Text.", &[]));
    let judge = Judge::new(PACE).within(&[at("/")]);
    let crawl = Crawl::docs(script, &at("/")).judged(judge);
    crawl.day(1, 0);
    assert_eq!(crawl.pages(PUBLIC).len(), 1);
    for (path, _) in pages {
        let (outcome, reason) = crawl.outcome(&at(path));
        assert!(!["changed", "same"].contains(&outcome.as_str()), "{path}: {outcome}");
        assert!(!reason.is_empty(), "{path}: {outcome}");
    }
}

#[test]
fn each_hop_needs_robots_of_its_origin() {
    let robots = Reply::robots("User-agent: *\nDisallow: /no/\n");
    let script = Script::new()
        .on(HOST, "/robots.txt", robots.clone())
        .on(HOST, "/", Reply::page("Index", "Text.", &["/in", "/into", "/over"]))
        .on(HOST, "/in", Reply::redirect(302, "https://www.example.org/yes"))
        .on(HOST, "/into", Reply::redirect(302, "/no/a"))
        .on(HOST, "/over", Reply::redirect(302, "https://www.example.org/no/b"))
        .on("www.example.org", "/robots.txt", robots)
        .on("www.example.org", "/*", Reply::page("There", "Text.", &[]));
    let crawl = Crawl::new(script, &[docs(&at("/")).host("www.example.org")]);
    let ran = crawl.day(1, 0);
    let asked = ran.asked();
    assert!(!asked.iter().any(|url| url.contains("/no/")), "{asked:?}");
    assert!(asked.contains(&"https://www.example.org/yes".to_owned()), "{asked:?}");
    // Where a page leads is another page, with an outcome of its own.
    for url in [at("/no/a"), "https://www.example.org/no/b".to_owned()] {
        crawl.assert_outcome(&url, "disallowed");
    }
}

#[test]
fn a_start_that_moved_is_followed() {
    let script = Script::new()
        .on(HOST, "/old.xml", Reply::redirect(301, "/maps/new.xml"))
        .on(HOST, "/maps/new.xml", Reply::sitemap(&[at("/a")]))
        .on(HOST, "/a", Reply::page("A", "Text.", &[]));
    let crawl = Crawl::docs(script, &at("/old.xml"));
    crawl.day(1, 0);
    crawl.assert_page(&at("/a"), "Text.");
}

#[test]
fn a_host_that_asks_to_wait_is_waited_for() {
    let first = Reply::status(503).header("Retry-After", "2");
    let good = Reply::page("A", "Text.", &[]);
    let script = linked(&[]).on(HOST, "/", Reply::page("Index", "Text.", &["/a", "/b"]));
    let script = script.with(HOST, "/a", &[first, good.clone()]).on(HOST, "/b", good);
    let crawl = Crawl::docs(script, &at("/"));
    // The judge asserts the wait.
    let ran = crawl.day(1, 0);
    assert_eq!((ran.times("/a"), ran.times("/b")), (2, 1), "{:?}", ran.asked());
    assert_eq!(crawl.pages(PUBLIC).len(), 3);
}

#[test]
fn a_host_that_asks_for_longer_than_a_run_waits_is_left_for_a_later_one() {
    let script = linked(&[("/a", Reply::page("A", "Text.", &[]))]);
    let crawl = Crawl::docs(script, &at("/"));
    crawl.hosts.on(HOST, "/a", Reply::status(429).header("Retry-After", "601"));
    let ran = crawl.run_with(&clock(1), &[]).exits(3);
    assert_eq!(ran.times("/a"), 1);
    ran.assert_says("docs");
    // What was read before is committed.
    crawl.assert_page(&at("/"), "Text of the index.");
    crawl.assert_outcome(&at("/a"), "deferred");
}

#[test]
fn a_chain_without_end_ends_over_all_runs() {
    let crawl = Crawl::docs(chain(40), &at("/"));
    let mut furthest = 0;
    for day in 1..=4 {
        let ran = crawl.day(day, 0);
        let hops = ran.targets().into_iter().filter_map(|target| target.strip_prefix("/hop"));
        furthest = hops.filter_map(|hop| hop.parse().ok()).max().unwrap_or(0).max(furthest);
    }
    // The depth of the source is 3.
    assert!((6..=9).contains(&furthest), "{furthest}");
}

#[test]
fn a_web_page_is_no_sitemap() {
    let script = Script::new().on(HOST, "/sitemap.xml", Reply::page("Oh", "Not here.", &["/a"]));
    let crawl = Crawl::docs(script, &at("/sitemap.xml"));
    let ran = crawl.day(1, 3);
    ran.assert_says("a web page answered where a sitemap was expected");
    assert_eq!(crawl.pages(PUBLIC), [""; 0]);
}
