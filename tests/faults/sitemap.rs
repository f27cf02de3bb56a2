//! Sitemaps that are packed, endless, wrong or hostile.

use super::case::{Case, at};
use crate::support::crawl::{PUBLIC, clock, docs};
use crate::support::script::Reply;

#[test]
fn expect_smp_gzip_matrix() {
    let Some(case) = Case::load("smp-gzip-matrix") else { return };
    let crawl = case.crawl();
    let ran = crawl.day(1, 0);
    for n in 1..=5 {
        crawl.assert_page(&at(&format!("/p{n}")), &format!("# P{n}"));
    }
    assert_eq!(ran.counted("failed"), 0, "{}", ran.json());
}

#[test]
fn expect_smp_self_reference() {
    let Some(case) = Case::load("smp-self-reference") else { return };
    let judge = Case::judge().again(&at("/a.xml"));
    let crawl = Case::crawl_of(case.script(), &[docs(&at("/a.xml"))]).judged(judge);
    let ran = crawl.run_with(&clock(1), &[]);
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    assert!(ran.times("/a.xml") <= 2 && ran.times("/c.xml") == 1, "{:?}", ran.asked());
    assert!(ran.times("/robots.txt") <= 2, "{:?}", ran.asked());
    crawl.assert_page(&at("/p1"), "# P1");
}

#[test]
fn expect_smp_lastmod_odd() {
    let Some(case) = Case::load("smp-lastmod-odd") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    for n in 0..8 {
        crawl.assert_page(&at(&format!("/p{n}")), "Body text.");
    }
}

#[test]
fn expect_smp_lastmod_lies() {
    let Some(case) = Case::load("smp-lastmod-lies") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    crawl.assert_page(&at("/p1"), "old");
    crawl.hosts.change(&case.later(2));
    // Forty days later.
    let ran = crawl.day(21, 0);
    assert_eq!(ran.times("/p1"), 1);
    crawl.assert_page(&at("/p1"), "new");
}

#[test]
fn expect_smp_offsite_locs() {
    let Some(case) = Case::load("smp-offsite-locs") else { return };
    let script = case
        .script()
        .on("http://docs.example.org", "/p1", Reply::redirect(301, &at("/p1")))
        .on("evil.example.net", "/*", Reply::page("Evil", "Not ours.", &[]));
    let crawl = Case::crawl_of(script, &[case.source()]);
    // The judge asserts that nothing went to another host.
    let ran = crawl.run_with(&clock(1), &[]);
    let expected = ["/sitemap.xml", "/p1", "/p2", "/p3"];
    assert!(ran.targets().iter().all(|t| expected.contains(t)), "{:?}", ran.asked());
    let pages = crawl.pages(PUBLIC);
    let of_p1: Vec<_> = pages.iter().filter(|path| path.ends_with("/p1.md")).collect();
    assert_eq!(of_p1, ["docs/docs.example.org/p1.md"]);
    let explained = crawl.pagelog(&["explain", "https://evil.example.net/x", "--json"]).json();
    assert_eq!(explained["covered_by"], serde_json::json!([]));
    let text = format!("{}{}", ran.outcome.stdout, ran.outcome.stderr);
    assert!(!text.contains("hostname is"), "{text}");
}

#[test]
fn expect_smp_undeclared_entity() {
    let Some(case) = Case::load("smp-undeclared-entity") else { return };
    let crawl = case.crawl();
    let ran = crawl.run_with(&clock(1), &[]);
    assert!(!ran.targets().iter().any(|target| target.starts_with("/toy")), "{:?}", ran.asked());
    crawl.assert_page(&at("/p1"), "# P1");
    crawl.assert_page(&at("/p3"), "# P3");
    ran.assert_says("toy-1&Acirc;&ordm;-europe.html");
}
