//! Sitemaps that state when pages changed, and are right or wrong about it.

use super::scene::{HOST, addresses, at, crawl, leaf};
use crate::support::crawl::{Crawl, clock};
use crate::support::script::Reply;

/// Many enough that a sample of them is not empty.
const PAGES: usize = 100;

/// A site whose sitemap states another day for each page, all long ago.
fn dated() -> Crawl {
    let crawl = crawl(PAGES);
    let day = |n: usize| format!("2026-{:02}-{:02}", n / 28 + 1, n % 28 + 1);
    let lines: Vec<String> =
        addresses(PAGES).iter().enumerate().map(|(n, url)| format!("{url} {}", day(n))).collect();
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&lines));
    crawl
}

/// How many pages a run of a day asked for.
fn asked(crawl: &Crawl, day: u32) -> usize {
    let ran = crawl.day(day, 0);
    ran.targets().iter().filter(|target| target.starts_with("/p")).count()
}

#[test]
fn of_pages_that_are_called_unchanged_a_sample_is_asked_for_conditionally() {
    let crawl = dated();
    assert_eq!(asked(&crawl, 1), PAGES);
    let mut looks = 0;
    for day in 2..=6 {
        let ran = crawl.day(day, 0);
        let pages: Vec<&str> =
            ran.targets().into_iter().filter(|target| target.starts_with("/p")).collect();
        assert!(pages.len() < PAGES / 8, "day {day}: {pages:?}");
        assert_eq!(ran.conditional().len(), pages.len(), "day {day}: {pages:?}");
        looks += pages.len();
    }
    assert!(looks > 0);
}

#[test]
fn a_sitemap_that_never_moves_while_pages_change_is_ignored() {
    let crawl = dated();
    crawl.day(1, 0);
    for n in 0..PAGES {
        crawl.hosts.on(HOST, &format!("/p{n:02}"), leaf(n, "Edited, and the sitemap is silent."));
    }
    // Samples find out.
    let found = (2..=7).find(|day| asked(&crawl, *day) > PAGES / 2);
    let day = found.expect("the sitemap is no longer believed");
    assert!(day > 2, "one run learns, the next knows");
    for n in 0..PAGES {
        crawl.assert_page(&at(&format!("/p{n:02}")), "Edited");
    }
    let told = crawl.pagelog_at(&clock(day + 1), &["explain", &at("/p07")]).ok();
    assert!(told.contains("entries that it called unchanged had changed"), "{told}");
    assert!(told.contains("the dates of its sitemap are ignored"), "{told}");
}

#[test]
fn a_sitemap_that_states_one_date_for_all_is_ignored() {
    let crawl = crawl(4);
    let lines: Vec<String> =
        addresses(4).iter().map(|url| format!("{url} 2026-10-01T08:00:00Z")).collect();
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&lines));
    crawl.day(1, 0);
    assert_eq!(asked(&crawl, 2), 4);
    let told = crawl.pagelog_at(&clock(3), &["explain", &at("/p01")]).ok();
    assert!(told.contains("is ignored: all entries state the same"), "{told}");
}

#[test]
fn a_sitemap_that_states_the_moment_is_ignored() {
    let crawl = crawl(4);
    let now = |day: u32| -> Vec<String> {
        let day = &clock(day)[..10];
        let stated = |n: usize| format!("{day}T01:59:{:02}Z", 50 + n);
        addresses(4).iter().enumerate().map(|(n, url)| format!("{url} {}", stated(n))).collect()
    };
    for day in 1..=2 {
        crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&now(day)));
        assert_eq!(asked(&crawl, day), 4);
    }
    let told = crawl.pagelog_at(&clock(2), &["explain", &at("/p01"), "--json"]).json();
    let site = &told["sites"][0];
    assert_eq!(site["ignored"], "all entries state the moment at which it was asked for");
}
