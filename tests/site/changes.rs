//! What a second run asks, and what its commit changes.

use pagelog::discover::trust::is_sample;
use pagelog::model::{PageUrl, Timestamp};

use super::scene::{HOST, at, crawl, leaf, linked};
use crate::support::agree::value;
use crate::support::crawl::{Crawl, PRIVATE, PUBLIC, clock};
use crate::support::script::{Reply, Script};

#[test]
fn a_first_run_archives_what_a_sitemap_names() {
    let crawl = crawl(5);
    let ran = crawl.day(1, 0);
    let asked: Vec<String> =
        ["/robots.txt", "/sitemap.xml", "/p00", "/p01", "/p02", "/p03", "/p04"].map(at).to_vec();
    let mut found = ran.asked();
    found[2..].sort();
    assert_eq!(found, asked);
    assert_eq!((ran.counted("added"), ran.counted("failed")), (5, 0));
    assert_eq!(ran.conditional(), [""; 0]);
    crawl.assert_whole();
    let page = crawl.page(&at("/p03")).expect("a page");
    assert_eq!(value(&page, "url"), at("/p03"));
    assert_eq!(value(&page, "title"), "Page 3");
    assert_eq!(value(&page, "source"), "docs");
    assert_eq!(value(&page, "representation"), "html");
    assert!(page.ends_with("\n# Page 3\n\nThe first text of 3.\n"), "{page}");
    let links = crawl.file(PUBLIC, "links/docs/docs.example.org/p03.tsv");
    assert_eq!(links, "to\ttext\trel\n");
    assert_eq!(crawl.pages(PRIVATE), [""; 0]);
}

#[test]
fn links_are_followed_and_kept() {
    let a = Reply::page("A", "Text.", &["/a/deep", "https://example.net/out#part"]);
    let deep = Reply::page("Deep", "Text.", &["/"]);
    let crawl = Crawl::docs(linked(&[("/a", a), ("/a/deep", deep)]), &at("/"));
    let ran = crawl.day(1, 0);
    assert_eq!(ran.targets(), ["/", "/a", "/a/deep"]);
    let links = crawl.file(PUBLIC, "links/docs/docs.example.org/a.tsv");
    let expected = "to\ttext\trel\nhttps://docs.example.org/a/deep\tto /a/deep\t\n\
                    https://example.net/out\tto https://example.net/out#part\t\n";
    assert_eq!(links, expected);
}

#[test]
fn depth_bounds_the_way_from_a_start() {
    let mut script = Script::new();
    for n in 0..5 {
        let next = format!("/{}", n + 1);
        script.set(HOST, &format!("/{n}"), vec![Reply::page("P", &format!("{n}"), &[&next])]);
    }
    let source = crate::support::crawl::docs(&at("/0")).key("depth = 2");
    let crawl = Crawl::new(script, &[source]);
    assert_eq!(crawl.day(1, 0).targets(), ["/0", "/1", "/2"]);
    assert_eq!(crawl.day(2, 0).targets().len(), 3);
}

#[test]
fn a_second_run_is_answered_with_304() {
    let crawl = crawl(4);
    crawl.day(1, 0);
    let trees = crawl.trees();
    let ran = crawl.day(2, 0);
    assert_eq!(ran.conditional(), ["/p00", "/p01", "/p02", "/p03"]);
    assert_eq!(ran.counted("not_modified"), 4);
    assert_eq!(crawl.trees()[0], trees[0]);
    assert_eq!(crawl.commits(PUBLIC), 2);
    crawl.assert_outcome(&at("/p02"), "not-modified");
}

#[test]
fn a_sitemap_that_did_not_change_is_not_sent_again() {
    let crawl = crawl(3);
    let sitemap = Reply::sitemap(&super::scene::addresses(3)).etag("\"map\"");
    crawl.hosts.on(HOST, "/sitemap.xml", sitemap);
    crawl.day(1, 0);
    let ran = crawl.day(2, 0);
    let map = ran.exchanges.iter().find(|e| e.target == "/sitemap.xml").expect("a request");
    assert_eq!((map.header("if-none-match"), map.status), (Some("\"map\""), Some(304)));
    assert_eq!(ran.counted("not_modified"), 3, "what it names is still known");
}

#[test]
fn pages_whose_sitemap_says_that_nothing_changed_are_not_asked_for() {
    let crawl = crawl(3);
    let times = |last: &str| -> Vec<String> {
        let times = ["2026-10-01", "2026-10-02", last];
        let lines = super::scene::addresses(3).into_iter().zip(times);
        lines.map(|(url, time)| format!("{url} {time}")).collect()
    };
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&times("2026-10-03")));
    crawl.day(1, 0);
    // But for the sample of a day, which is looked at so that the sitemap is not believed blindly.
    let sample = |day: u32, changed: &[&str]| -> Vec<String> {
        let now = Timestamp::parse(&clock(day)).expect("a time");
        let urls = super::scene::addresses(3).into_iter().map(|url| PageUrl::parse(&url));
        let urls = urls.map(|url| url.expect("a URL"));
        let before = Timestamp::EPOCH;
        let drawn =
            urls.filter(|url| is_sample(url, before, now) && !changed.contains(&url.path()));
        drawn.map(|url| url.path().to_owned()).collect()
    };
    let ran = crawl.day(2, 0);
    assert_eq!(ran.targets(), [vec!["/sitemap.xml".to_owned()], sample(2, &[])].concat());
    assert_eq!(crawl.changes(), [""; 0]);
    // A new time: that page first, and nothing else beside the sample.
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&times("2026-12-03")));
    crawl.hosts.on(HOST, "/p02", leaf(2, "Edited."));
    let ran = crawl.day(3, 0);
    let first = vec!["/sitemap.xml".to_owned(), "/p02".to_owned()];
    assert_eq!(ran.targets(), [first, sample(3, &["/p02"])].concat());
    assert_eq!(crawl.changes(), ["M docs/docs.example.org/p02.md"]);
}

#[test]
fn one_edit_is_one_change() {
    let crawl = crawl(6);
    crawl.day(1, 0);
    let before = crawl.page(&at("/p01"));
    crawl.hosts.on(HOST, "/p04", leaf(4, "Edited text."));
    let ran = crawl.day(2, 0);
    assert_eq!(crawl.changes(), ["M docs/docs.example.org/p04.md"]);
    let counts = ["changed", "not_modified", "same", "added", "removed"].map(|c| ran.counted(c));
    assert_eq!(counts, [1, 5, 0, 0, 0]);
    crawl.assert_page(&at("/p04"), "Edited text.");
    assert_eq!(crawl.page(&at("/p01")), before);
    let page = crawl.page(&at("/p04")).expect("a page");
    assert!(value(&page, "retrieved").starts_with(&clock(2)[..10]), "{page}");
    crawl.assert_whole();
}

#[test]
fn a_page_that_is_read_again_and_is_the_same_changes_nothing() {
    let crawl = Crawl::docs(linked(&[("/a", Reply::page("A", "Text.", &[]))]), &at("/"));
    crawl.day(1, 0);
    let ran = crawl.day(2, 0);
    assert_eq!((ran.conditional(), ran.counted("same")), (Vec::new(), 2));
    assert_eq!(crawl.changes(), [""; 0]);
}

#[test]
fn markdown_is_taken_where_it_is_offered() {
    let markdown = Reply::ok("text/markdown; charset=utf-8", "# A\n\nAs it is *written*.\n");
    let crawl = Crawl::docs(linked(&[("/a", markdown)]), &at("/"));
    let ran = crawl.day(1, 0);
    let accept = ran.exchanges.iter().find(|e| e.target == "/a").and_then(|e| e.header("accept"));
    assert!(accept.is_some_and(|accept| accept.starts_with("text/markdown")), "{accept:?}");
    let page = crawl.page(&at("/a")).expect("a page");
    assert_eq!(value(&page, "representation"), "markdown");
    assert!(page.ends_with("# A\n\nAs it is *written*.\n"), "{page}");
}

#[test]
fn a_dry_run_reads_and_writes_nothing() {
    let crawl = crawl(3);
    let ran = crawl.run_with(&clock(1), &["--dry-run"]).exits(0);
    assert_eq!(ran.counted("added"), 3);
    let head = crawl.git(&["rev-parse", "--verify", "--quiet", PUBLIC]);
    assert_ne!(head.code, Some(0), "a dry run committed");
    crawl.day(1, 0);
    crawl.hosts.on(HOST, "/p01", leaf(1, "Edited."));
    let tip = crawl.trees();
    let ran = crawl.run_with(&clock(2), &["--dry-run"]).exits(0);
    assert_eq!((ran.counted("changed"), crawl.trees(), crawl.commits(PUBLIC)), (1, tip, 1));
    assert_eq!(crawl.day(3, 0).counted("changed"), 1);
}

#[test]
fn a_lost_state_is_made_anew_and_nothing_is_asked_conditionally() {
    let crawl = crawl(3);
    crawl.day(1, 0);
    let tree = crawl.trees();
    std::fs::remove_file(crawl.archive().join("pagelog/state.sqlite")).expect("a state");
    let ran = crawl.day(2, 0);
    assert_eq!(ran.conditional(), [""; 0]);
    assert_eq!((ran.counted("same"), crawl.trees()[0].clone()), (3, tree[0].clone()));
}
