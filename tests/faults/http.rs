//! Answers that are cut, empty, coded, not modified, or not what they seem.

use super::case::{Case, at};
use crate::support::agree::body;
use crate::support::crawl::{Crawl, PUBLIC, Ran, SiteSource};
use crate::support::script::Reply;

/// A good run over a page, and one in which it is cut.
fn cut(target: &str) {
    let Some(case) = Case::load("htt-short-body") else { return };
    let only = Reply::sitemap(&[at(target)]);
    let crawl = case.crawl();
    crawl.hosts.on("docs.example.org", "/sitemap.xml", only.clone());
    crawl.day(1, 0);
    crawl.assert_page(&at(target), "THE END");
    crawl.hosts.change(&case.later(2));
    let tip = crawl.page(&at(target));
    let ran = crawl.run_with(&crate::support::crawl::clock(2), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    // The judge asserts that retries are bounded.
    assert!(ran.times(target) >= 1, "{:?}", ran.asked());
    assert_eq!(crawl.page(&at(target)), tip);
    let (outcome, reason) = crawl.outcome(&at(target));
    assert_eq!(outcome, "failed", "{reason}");
    assert!(!reason.is_empty());
}

#[test]
fn expect_htt_short_body_with_a_length() {
    cut("/len");
}

#[test]
fn expect_htt_short_body_in_chunks() {
    cut("/chunk");
}

#[test]
fn expect_htt_short_body_in_gzip() {
    cut("/gz");
}

/// Two runs of a case.
fn two_runs(case: &Case) -> (Crawl, Ran) {
    let crawl = case.crawl();
    crawl.day(1, 0);
    if !case.input("later_runs").is_null() {
        crawl.hosts.change(&case.later(2));
    }
    let ran = crawl.day(2, 0);
    (crawl, ran)
}

#[test]
fn expect_htt_304_keeps_children() {
    let Some(case) = Case::load("htt-304-keeps-children") else { return };
    let (crawl, ran) = two_runs(&case);
    assert_eq!((ran.times("/b"), ran.times("/a/deep")), (1, 1), "{:?}", ran.asked());
    assert_eq!(ran.conditional(), ["/", "/a"]);
    assert_eq!(crawl.changes(), ["M docs/docs.example.org/a/deep.md"]);
    crawl.assert_page(&at("/a/deep"), "changed");
    crawl.assert_outcome(&at("/"), "not-modified");
}

#[test]
fn expect_htt_304_coded_empty() {
    let Some(case) = Case::load("htt-304-coded-empty") else { return };
    let (crawl, ran) = two_runs(&case);
    assert_eq!(ran.times("/n"), 1);
    assert_eq!(crawl.changes(), [""; 0]);
    crawl.assert_outcome(&at("/"), "not-modified");
    crawl.assert_outcome(&at("/n"), "same");
    let stray = crawl.git(&["grep", "-c", "stray", PUBLIC]);
    assert_eq!(stray.stdout, "");
}

#[test]
fn expect_htt_200_same_etag_new_body() {
    let Some(case) = Case::load("htt-200-same-etag-new-body") else { return };
    let (crawl, _) = two_runs(&case);
    crawl.assert_page(&at("/p1"), "new");
}

#[test]
fn expect_htt_etag_gzip_suffix() {
    let Some(case) = Case::load("htt-etag-gzip-suffix") else { return };
    let (crawl, ran) = two_runs(&case);
    let asked = ran.exchanges.iter().find(|exchange| exchange.target == "/p1").expect("a request");
    assert_eq!(asked.header("if-none-match"), Some("\"abc-gzip\""));
    assert_eq!(asked.header("if-modified-since"), Some("Mon, 01 Jun 2026 10:00:00 GMT"));
    assert_eq!(crawl.changes(), [""; 0]);
    crawl.assert_outcome(&at("/p1"), "same");
}

#[test]
fn expect_htt_maintenance_hammer() {
    let Some(case) = Case::load("htt-maintenance-hammer") else { return };
    let crawl = case.crawl();
    crawl.hosts.on("docs.example.org", "/p*", Reply::page("Page", "Text before the works.", &[]));
    crawl.day(1, 0);
    assert_eq!(crawl.pages(PUBLIC).len(), 200);
    crawl.hosts.change(&case.script());
    let ran = crawl.day(2, 3);
    let pages = ran.targets().iter().filter(|target| target.starts_with("/p")).count();
    assert!(pages <= 3, "{:?}", ran.asked());
    ran.assert_says("docs");
    assert_eq!(crawl.pages(PUBLIC).len(), 200);
    assert_eq!(crawl.changes(), [""; 0]);
}

#[test]
fn expect_htt_late_meta_charset() {
    let Some(case) = Case::load("htt-late-meta-charset") else { return };
    let also = case.input("config")["also_fetch"].as_array().expect("paths");
    let mut start = vec![at("/")];
    start.extend(also.iter().map(|path| at(path.as_str().expect("a path"))));
    let start: Vec<&str> = start.iter().map(String::as_str).collect();
    let source = SiteSource::new("docs", "docs.example.org", &start);
    let crawl = Case::crawl_of(case.script(), &[source]);
    crawl.day(1, 0);
    let headings = [
        ("/", "Größe – naïve “test” 日本"),
        ("/bom", "Größe"),
        ("/sj", "日本語文書"),
        ("/u7", "Plain"),
    ];
    for (path, heading) in headings {
        crawl.assert_page(&at(path), &format!("# {heading}\n"));
        let page = crawl.page(&at(path)).expect("a page");
        assert!(!page.contains('\u{fffd}') && !page.contains('Ã'), "{page}");
    }
}

#[test]
fn expect_htt_empty_200() {
    let Some(case) = Case::load("htt-empty-200") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    crawl.hosts.change(&case.later(2));
    let ran = crawl.run_with(&crate::support::crawl::clock(2), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    assert_eq!(crawl.changes(), [""; 0]);
    for path in ["/p1", "/p2"] {
        crawl.assert_page(&at(path), "Body text.");
        let (outcome, reason) = crawl.outcome(&at(path));
        assert_eq!(outcome, "failed", "{path}: {reason}");
        assert!(!reason.is_empty(), "{path}");
    }
    assert!(crawl.outcome(&at("/p1")).1.contains("empty"), "{:?}", crawl.outcome(&at("/p1")));
}

#[test]
fn expect_htt_soft_404_redirect() {
    let Some(case) = Case::load("htt-soft-404-redirect") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    crawl.hosts.change(&case.later(2));
    // The judge asserts that / and /notfound are asked for once each.
    let ran = crawl.run_with(&crate::support::crawl::clock(2), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    for n in 1..=3 {
        let url = at(&format!("/old{n}"));
        crawl.assert_page(&url, &format!("# Old {n}"));
        let page = crawl.page(&url).expect("a page");
        assert!(!page.contains("Home") && !page.contains("Sorry"), "{page}");
        let (outcome, reason) = crawl.outcome(&url);
        assert!(!["changed", "same", "not-modified"].contains(&outcome.as_str()), "{outcome}");
        assert!(!reason.is_empty(), "{url}: {outcome}");
    }
}

#[test]
fn expect_htt_representation_flip() {
    let Some(case) = Case::load("htt-representation-flip") else { return };
    let crawl = case.crawl();
    let words = |page: &str| -> String {
        let text = body(page).replace(['*', '-'], " ").replace('_', " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut before = None;
    for day in 1..=3 {
        crawl.day(day, 0);
        let page = crawl.page(&at("/p1")).expect("a page");
        let text = words(&page);
        assert_eq!(*before.get_or_insert_with(|| text.clone()), text, "day {day}: {page}");
        assert_eq!(crawl.pages(PUBLIC).len(), 1);
    }
}
