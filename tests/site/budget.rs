//! Runs that end before they are through.

use std::collections::BTreeSet;

use super::scene::{HOST, addresses, at, leaf, script};
use crate::support::crawl::{Crawl, PUBLIC, clock, docs};
use crate::support::judge::Judge;
use crate::support::script::Reply;

/// 20 pages at 200 ms: no run of three seconds reads them all.
fn slow() -> Crawl {
    let judge = Judge::new(std::time::Duration::from_millis(200));
    Crawl::new(script(20), &[docs(&at("/sitemap.xml")).pace("200ms")]).judged(judge)
}

#[test]
fn a_budget_leaves_the_rest_for_the_next_run() {
    let crawl = slow();
    let ran = crawl.run_with(&clock(1), &["--budget", "3s"]).exits(3);
    let first: BTreeSet<String> = crawl.pages(PUBLIC).into_iter().collect();
    assert!(!first.is_empty() && first.len() < 20, "{first:?}");
    ran.assert_says("docs");
    let waiting = addresses(20).into_iter().find(|url| crawl.page(url).is_none());
    crawl.assert_outcome(&waiting.expect("a page that is left"), "deferred");
    // The next run begins with what is new.
    let ran = crawl.day(2, 0);
    let pages = |target: &&&str| target.starts_with("/p");
    let order: Vec<&str> = ran.targets().iter().filter(pages).copied().collect();
    let new = 20 - first.len();
    for target in &order[..new] {
        let path = format!("docs/docs.example.org{target}.md");
        assert!(!first.contains(&path), "{target} came before what is new: {order:?}");
    }
    assert_eq!(crawl.pages(PUBLIC).len(), 20);
    crawl.assert_whole();
}

#[test]
fn a_budget_removes_nothing_and_goes_on_with_what_was_looked_at_longest_ago() {
    let crawl = slow();
    crawl.day(1, 0);
    let mut looked: BTreeSet<String> = BTreeSet::new();
    for day in 2..=7 {
        let ran = crawl.run_with(&clock(day), &["--budget", "3s"]);
        assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
        let targets = ran.targets();
        let pages = targets.iter().filter(|target| target.starts_with("/p"));
        looked.extend(pages.map(|target| (*target).to_owned()));
        assert_eq!(crawl.pages(PUBLIC).len(), 20);
        if looked.len() == 20 {
            return;
        }
    }
    // A machine too slow for one page a run gets further than this all the same.
    assert!(looked.len() >= 6, "{looked:?}");
}

#[test]
fn what_changed_by_its_sitemap_comes_first() {
    let crawl = slow();
    crawl.day(1, 0);
    let mut lines = addresses(20);
    lines[17].push_str(" 2026-12-01");
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&lines));
    crawl.hosts.on(HOST, "/p17", leaf(17, "Edited."));
    let ran = crawl.day(2, 0);
    assert_eq!(ran.targets()[..2], ["/sitemap.xml", "/p17"]);
}

#[test]
fn max_pages_bounds_a_run() {
    let crawl = Crawl::new(script(6), &[docs(&at("/sitemap.xml")).key("max_pages = 4")]);
    let ran = crawl.run_with(&clock(1), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    assert_eq!(crawl.pages(PUBLIC).len(), 4);
    crawl.run_with(&clock(2), &[]);
    assert_eq!(crawl.pages(PUBLIC).len(), 6);
}

#[test]
fn a_budget_ends_an_answer_that_does_not() {
    let crawl = Crawl::new(script(3), &[docs(&at("/sitemap.xml")).pace("10ms")]);
    let slow = leaf(1, "Slow.").delay(std::time::Duration::from_secs(20));
    crawl.hosts.on(HOST, "/p01", slow);
    let ran = crawl.run_with(&clock(1), &["--budget", "2s"]).exits(3);
    ran.assert_says("the time of this run is up");
    assert!(crawl.page(&at("/p00")).is_some());
    crawl.assert_outcome(&at("/p01"), "deferred");
}

#[test]
fn a_run_that_was_cut_short_leaves_its_source_due() {
    let source = docs(&at("/sitemap.xml")).pace("200ms").key("every = \"1d\"");
    let judge = Judge::new(std::time::Duration::from_millis(200));
    let crawl = Crawl::new(script(20), &[source]).judged(judge);
    crawl.run_with(&clock(1), &["--budget", "3s"]).exits(3);
    let status = crawl.pagelog_at(&clock(1), &["status"]).ok();
    assert!(!status.contains("last read in full: 2026"), "{status}");
    let ran = crawl.run_with(&clock(1), &["--due"]).exits(0);
    assert!(!ran.targets().is_empty());
    assert_eq!(crawl.pages(PUBLIC).len(), 20);
}
