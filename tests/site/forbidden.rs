//! What is never asked: other hosts, other paths, what robots.txt or a page forbids.

use super::scene::{HOST, at, linked, script};
use crate::support::crawl::{Crawl, PACE, PUBLIC, clock, docs};
use crate::support::judge::Judge;
use crate::support::script::{Reply, Script, page};

#[test]
fn links_and_redirects_out_of_scope_are_not_asked() {
    let index = Reply::page(
        "Index",
        "Text.",
        &[
            "/en/a",
            "/fr/b",
            "https://other.example.org/en/c",
            "/en/away",
            "/en/across",
            "/en/skipped/d",
            "mailto:x@example.org",
        ],
    );
    let script = Script::new()
        .on(HOST, "/robots.txt", Reply::robots(""))
        .on(HOST, "/en/", index)
        .on(HOST, "/en/a", Reply::page("A", "Text.", &["//evil.example.net/x"]))
        .on(HOST, "/en/away", Reply::redirect(302, "https://evil.example.net/y"))
        .on(HOST, "/en/across", Reply::redirect(301, "/fr/z"))
        .on("other.example.org", "/*", Reply::page("Other", "Not ours.", &[]))
        .on("evil.example.net", "/*", Reply::page("Evil", "Not ours.", &[]));
    let source = docs(&at("/en/")).paths(&["/en/"]).key("skip = ['/skipped/']");
    let crawl = Crawl::new(script, &[source]).judged(Judge::new(PACE).within(&[at("/en/")]));
    let ran = crawl.day(1, 0);
    let mut targets = ran.targets();
    targets.sort_unstable();
    assert_eq!(targets, ["/en/", "/en/a", "/en/across", "/en/away"]);
    assert_eq!(crawl.pages(PUBLIC).len(), 2);
    for path in ["/en/away", "/en/across"] {
        let (outcome, reason) = crawl.outcome(&at(path));
        assert!(!["changed", "same"].contains(&outcome.as_str()), "{path}: {outcome}");
        assert!(!reason.is_empty(), "{path}: {outcome}");
    }
}

#[test]
fn a_start_may_be_read_whatever_the_paths_are() {
    let map = Reply::sitemap(&[at("/en/a"), at("/fr/b")]);
    let script = Script::new().on(HOST, "/maps/all.xml", map).on(
        HOST,
        "/en/a",
        Reply::page("A", "Text.", &[]),
    );
    let source = docs(&at("/maps/all.xml")).paths(&["/en/"]);
    let judge = Judge::new(PACE).within(&[at("/en/"), at("/maps/all.xml")]);
    let crawl = Crawl::new(script, &[source]).judged(judge);
    assert_eq!(crawl.day(1, 0).targets(), ["/maps/all.xml", "/en/a"]);
    assert_eq!(crawl.pages(PUBLIC), ["docs/docs.example.org/en/a.md"]);
}

#[test]
fn what_robots_forbid_is_not_asked() {
    let script = linked(&[("/private/a", Reply::page("A", "Text.", &[]))]).on(
        HOST,
        "/robots.txt",
        Reply::robots("User-agent: TestBot\nDisallow: /private/\n"),
    );
    let crawl = Crawl::docs(script, &at("/"));
    let ran = crawl.day(1, 0);
    assert_eq!(ran.targets(), ["/"]);
    crawl.assert_outcome(&at("/private/a"), "disallowed");
}

#[test]
fn a_page_that_robots_forbid_later_is_kept() {
    let crawl = Crawl::docs(script(3), &at("/sitemap.xml"));
    crawl.day(1, 0);
    let page = crawl.page(&at("/p01"));
    crawl.hosts.on(HOST, "/robots.txt", Reply::robots("User-agent: *\nDisallow: /p01\n"));
    for day in 2..=4 {
        let ran = crawl.day(day, 0);
        assert_eq!(ran.times("/p01"), 0);
        assert_eq!(crawl.page(&at("/p01")), page);
        crawl.assert_outcome(&at("/p01"), "disallowed");
    }
}

#[test]
fn a_page_that_robots_forbid_later_leaves_where_the_operator_says_so() {
    let source = docs(&at("/sitemap.xml")).key("robots_removed = \"drop\"");
    let crawl = Crawl::new(script(3), &[source]);
    crawl.day(1, 0);
    crawl.hosts.on(HOST, "/robots.txt", Reply::robots("User-agent: *\nDisallow: /p01\n"));
    crawl.day(2, 0);
    assert_eq!(crawl.page(&at("/p01")), None);
    assert_eq!(crawl.pages(PUBLIC).len(), 2);
}

#[test]
fn robots_that_fail_postpone_and_remove_nothing() {
    let crawl = Crawl::docs(script(3), &at("/sitemap.xml"));
    crawl.day(1, 0);
    let tree = crawl.trees();
    crawl.hosts.on(HOST, "/robots.txt", Reply::status(503));
    let ran = crawl.day(2, 3);
    assert_eq!(ran.targets(), [""; 0]);
    assert!(ran.times("/robots.txt") <= 3);
    ran.assert_says("docs");
    ran.assert_says("503");
    assert_eq!(crawl.trees()[0], tree[0]);
}

#[test]
fn robots_that_are_missing_forbid_nothing() {
    for status in [404, 403, 410] {
        let script = script(2).on(HOST, "/robots.txt", Reply::status(status));
        let crawl = Crawl::docs(script, &at("/sitemap.xml"));
        crawl.day(1, 0);
        assert_eq!(crawl.pages(PUBLIC).len(), 2, "{status}");
    }
}

#[test]
fn pages_that_ask_not_to_be_archived_are_not() {
    let meta = "<html><head><meta name=robots content=noarchive></head>\
                <body><main><p>meta words</p><a href=/below>b</a></main></body></html>";
    let header = Reply::html(page("H", "header words", &[])).header("X-Robots-Tag", "noarchive");
    let noindex = Reply::html(page("I", "index words", &[])).header("X-Robots-Tag", "noindex");
    let pages = [("/meta", Reply::html(meta)), ("/header", header), ("/noindex", noindex)];
    let script = linked(&pages).on(HOST, "/below", Reply::page("Below", "below words", &[]));
    let crawl = Crawl::docs(script, &at("/"));
    crawl.day(1, 0);
    for path in ["/meta", "/header"] {
        crawl.assert_outcome(&at(path), "noarchive");
        assert_eq!(crawl.page(&at(path)), None);
    }
    crawl.assert_page(&at("/noindex"), "index words");
    // Not to archive is not to ignore: its links count.
    crawl.assert_page(&at("/below"), "below words");
    let everything = crawl.git(&["log", "--all", "-p", "--format=%B"]).ok();
    assert!(!everything.contains("meta words") && !everything.contains("header words"));

    // A page that says so later leaves, and its text stays in the past only.
    let late = Reply::html(page("I", "index words", &[])).header("X-Robots-Tag", "noarchive");
    crawl.hosts.on(HOST, "/noindex", late);
    crawl.day(2, 0);
    assert_eq!(crawl.page(&at("/noindex")), None);
    crawl.assert_outcome(&at("/noindex"), "noarchive");
}

#[test]
fn links_that_say_nofollow_are_not_followed() {
    let link = "<main><p>Text <a rel=nofollow href=/single>s</a> <a href=/plain>p</a></p></main>";
    let meta = "<head><meta name=robots content=nofollow></head>\
                <body><main><p>Words. <a href=/hidden>h</a></p></main></body>";
    let header = Reply::page("H", "Text.", &["/concealed"]).header("X-Robots-Tag", "nofollow");
    let plain = Reply::page("Plain", "Text.", &[]);
    let pages = [("/link", Reply::html(link)), ("/meta", Reply::html(meta)), ("/header", header)];
    let script = linked(&pages)
        .on(HOST, "/plain", plain.clone())
        .on(HOST, "/single", plain.clone())
        .on(HOST, "/hidden", plain.clone())
        .on(HOST, "/concealed", plain);
    let crawl = Crawl::docs(script, &at("/"));
    let ran = crawl.run_with(&clock(1), &[]).exits(0);
    let mut targets = ran.targets();
    targets.sort_unstable();
    assert_eq!(targets, ["/", "/header", "/link", "/meta", "/plain"]);
    let links = crawl.file(PUBLIC, "links/docs/docs.example.org/link.tsv");
    assert!(links.contains("/single\ts\tnofollow\n"), "{links}");
}
