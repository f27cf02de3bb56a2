//! How a page leaves the tree, and what keeps it there.

use super::scene::{HOST, addresses, at, crawl, leaf, script};
use crate::support::crawl::{Crawl, PRIVATE, PUBLIC, SiteSource, clock, docs};
use crate::support::script::Reply;

#[test]
fn two_looks_far_enough_apart_make_a_page_gone() {
    for status in [404, 410] {
        let crawl = crawl(6);
        crawl.day(1, 0);
        crawl.hosts.on(HOST, "/p03", Reply::status(status));
        let ran = crawl.run_with("2026-12-02T02:00:00Z", &[]).exits(0);
        assert_eq!(ran.counted("removed"), 0);
        crawl.assert_page(&at("/p03"), "first text");
        crawl.assert_outcome(&at("/p03"), "gone");
        // An hour later is too early.
        crawl.run_with("2026-12-02T03:00:00Z", &[]).exits(0);
        crawl.assert_page(&at("/p03"), "first text");
        let ran = crawl.run_with("2026-12-03T03:00:00Z", &[]).exits(0);
        assert_eq!(ran.counted("removed"), 1);
        assert_eq!(crawl.page(&at("/p03")), None);
        assert_eq!(crawl.changes(), ["D docs/docs.example.org/p03.md"]);
        let links = crawl.files(PUBLIC);
        assert!(!links.iter().any(|path| path == "links/docs/docs.example.org/p03.tsv"));
        crawl.assert_whole();
    }
}

#[test]
fn a_page_that_was_gone_once_and_came_back_stays() {
    let crawl = crawl(4);
    crawl.day(1, 0);
    let page = crawl.page(&at("/p03"));
    crawl.hosts.on(HOST, "/p03", Reply::status(404));
    crawl.day(2, 0);
    crawl.hosts.on(HOST, "/p03", leaf(3, "The first text of 3."));
    crawl.day(3, 0);
    crawl.hosts.on(HOST, "/p03", Reply::status(404));
    crawl.day(4, 0);
    assert_eq!(crawl.page(&at("/p03")), page);
    crawl.day(5, 0);
    assert_eq!(crawl.page(&at("/p03")), None);
}

#[test]
fn two_permanent_redirects_move_a_page() {
    for status in [301, 308] {
        let crawl = crawl(6);
        crawl.day(1, 0);
        crawl.hosts.on(HOST, "/p03", Reply::redirect(status, "/new"));
        crawl.hosts.on(HOST, "/new", leaf(3, "The first text of 3."));
        let ran = crawl.day(2, 0);
        assert_eq!((ran.times("/p03"), ran.times("/new")), (1, 1), "{:?}", ran.asked());
        crawl.assert_page(&at("/new"), "first text");
        crawl.assert_page(&at("/p03"), "first text");
        crawl.day(3, 0);
        assert_eq!(crawl.page(&at("/p03")), None);
        crawl.assert_outcome(&at("/p03"), "moved");
        let moved = crawl.file(PUBLIC, "moved/docs.tsv");
        let fields: Vec<&str> = moved.lines().last().unwrap_or_default().split('\t').collect();
        let status = status.to_string();
        assert_eq!(fields[..3], [at("/p03").as_str(), &at("/new"), &status], "{moved}");
        assert!(fields[3].starts_with(&clock(2)[..10]), "{moved}");
    }
}

#[test]
fn a_temporary_redirect_moves_nothing() {
    let crawl = crawl(4);
    crawl.day(1, 0);
    crawl.hosts.on(HOST, "/p03", Reply::redirect(302, "/elsewhere"));
    crawl.hosts.on(HOST, "/elsewhere", leaf(3, "Text for a while."));
    for day in 2..=4 {
        crawl.day(day, 0);
        assert!(crawl.page(&at("/p03")).is_some(), "day {day}");
    }
    assert!(!crawl.files(PUBLIC).contains(&"moved/docs.tsv".to_owned()));
}

#[test]
fn a_page_that_its_sitemap_no_longer_names_stays_while_it_answers() {
    let crawl = crawl(4);
    crawl.day(1, 0);
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&addresses(3)));
    for day in 2..=3 {
        let ran = crawl.day(day, 0);
        assert_eq!(ran.times("/p03"), 1);
        crawl.assert_page(&at("/p03"), "first text");
    }
}

#[test]
fn a_sitemap_that_cannot_be_read_removes_nothing() {
    for bad in [Reply::status(404), Reply::ok("application/xml", "<urlset><url><loc>http")] {
        let crawl = crawl(4);
        crawl.day(1, 0);
        let tree = crawl.trees();
        crawl.hosts.on(HOST, "/sitemap.xml", bad);
        crawl.hosts.on(HOST, "/p03", Reply::status(404));
        for day in 2..=3 {
            let ran = crawl.day(day, 3);
            ran.assert_says("docs");
            assert_eq!(crawl.trees()[0], tree[0]);
        }
    }
}

/// 30 pages, of which so many are gone in two runs; gives the second of these.
fn losing(gone: usize) -> Crawl {
    let crawl = crawl(30);
    crawl.day(1, 0);
    for url in addresses(gone) {
        let path = url.strip_prefix("https://docs.example.org").expect("a path");
        crawl.hosts.on(HOST, path, Reply::status(404));
    }
    crawl.day(2, 0);
    assert_eq!(crawl.pages(PUBLIC).len(), 30);
    crawl
}

#[test]
fn many_pages_do_not_leave_at_once() {
    let crawl = losing(20);
    let ran = crawl.day(3, 3);
    ran.assert_says("docs");
    ran.assert_says("20");
    ran.assert_says("--accept-removals");
    assert_eq!((ran.counted("removed"), crawl.pages(PUBLIC).len()), (0, 30));
    // It holds until somebody says that it is right, and for that run alone.
    crawl.day(4, 3);
    let ran = crawl.run_with(&clock(5), &["--accept-removals", "docs"]).exits(0);
    assert_eq!((ran.counted("removed"), crawl.pages(PUBLIC).len()), (20, 10));
    crawl.assert_whole();
}

#[test]
fn fewer_than_twenty_pages_leave_at_once() {
    let crawl = losing(19);
    let ran = crawl.day(3, 0);
    assert_eq!((ran.counted("removed"), crawl.pages(PUBLIC).len()), (19, 11));
}

#[test]
fn removals_of_no_source_are_a_mistake() {
    let crawl = crawl(1);
    let ran = crawl.run_with(&clock(1), &["--accept-removals", "dogs"]).exits(2);
    ran.assert_says("dogs");
}

#[test]
fn what_the_configuration_excludes_leaves() {
    let crawl = crawl(4);
    crawl.day(1, 0);
    crawl.configure(&docs(&at("/sitemap.xml")).key("skip = ['/p03$']").toml());
    let ran = crawl.day(2, 0);
    assert_eq!(ran.times("/p03"), 0);
    assert_eq!(crawl.page(&at("/p03")), None);
    assert_eq!(crawl.pages(PUBLIC).len(), 3);
}

#[test]
fn a_page_that_is_gone_from_the_start_never_was() {
    let script = script(3).on(HOST, "/p02", Reply::status(404));
    let crawl = Crawl::docs(script, &at("/sitemap.xml"));
    crawl.day(1, 0);
    crawl.day(2, 0);
    assert_eq!(crawl.pages(PUBLIC).len(), 2);
    crawl.assert_outcome(&at("/p02"), "gone");
}

#[test]
fn the_list_of_redirects_goes_along_with_its_source() {
    let crawl = crawl(6);
    crawl.day(1, 0);
    crawl.hosts.on(HOST, "/p03", Reply::redirect(301, "/new"));
    crawl.hosts.on(HOST, "/new", leaf(3, "The first text of 3."));
    crawl.day(2, 0);
    crawl.day(3, 0);
    let list = crawl.file(PUBLIC, "moved/docs.tsv");
    let renamed = SiteSource::new("manual", HOST, &[&at("/sitemap.xml")]).key("was = [\"docs\"]");
    crawl.configure(&renamed.toml());
    crawl.day(4, 0);
    assert_eq!(crawl.file(PUBLIC, "moved/manual.tsv"), list);
    assert!(!crawl.files(PUBLIC).contains(&"moved/docs.tsv".to_owned()));
    crawl.assert_whole();

    crawl.configure(&renamed.private().toml());
    crawl.day(5, 0);
    assert_eq!(crawl.file(PRIVATE, "moved/manual.tsv"), list);
    let public = crawl.file(PUBLIC, "moved/manual.tsv");
    assert!(public.contains(&at("/p03")) && !public.contains("301"), "{public}");
    crawl.assert_whole();
}
