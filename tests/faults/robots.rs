//! robots.txt: files that are hard to read, and files that cannot be read.

use std::time::Duration;

use pagelog::model::PageUrl;
use pagelog::politeness::{Host, HostState, Robots, Terms};

use super::case::{Case, TOKEN, at};
use crate::support::crawl::{Crawl, PUBLIC, Ran, SiteSource, clock};
use crate::support::hosts::Exchange;
use crate::support::judge::Judge;
use crate::support::script::{Reply, Script};

#[test]
fn expect_rob_bom_first_line() {
    let Some(case) = Case::load("rob-bom-first-line") else { return };
    let crawl = case.crawl();
    let ran = crawl.day(1, 3);
    assert_eq!(ran.asked(), [at("/robots.txt")]);
    ran.assert_says("docs");
    ran.assert_says("robots.txt");
}

#[test]
fn expect_rob_5xx_closed() {
    let Some(case) = Case::load("rob-5xx-closed") else { return };
    let crawl = case.crawl();
    let robots = case.script();
    let failing = Reply::status(503);
    crawl.hosts.on("docs.example.org", "/robots.txt", failing);
    let ran = crawl.day(1, 3);
    assert_eq!(ran.targets(), [""; 0]);
    ran.assert_says("docs");
    ran.assert_says("robots.txt");
    assert_eq!(crawl.pages(PUBLIC), [""; 0]);

    crawl.hosts.change(&robots);
    let good = Reply::robots("User-agent: *\nDisallow: /private/\n");
    crawl.hosts.on("docs.example.org", "/robots.txt", good);
    let ran = crawl.day(2, 0);
    assert_eq!(ran.targets(), ["/", "/guide"]);
    crawl.assert_page(&at("/guide"), "# Guide");
    assert_eq!(crawl.page(&at("/private/notes")), None);
}

#[test]
fn expect_rob_429() {
    let Some(case) = Case::load("rob-429") else { return };
    let ran = case.crawl().day(1, 0);
    let first = &ran.exchanges[..2];
    assert!(first.iter().all(Exchange::is_robots), "{:?}", ran.asked());
    let gap = first[1].began() - first[0].end.expect("an answer");
    assert!(gap >= Duration::from_secs(3), "{gap:?}");
    assert_eq!(ran.targets(), ["/", "/guide"]);
}

#[test]
fn expect_rob_redirect_five() {
    let Some(case) = Case::load("rob-redirect-five") else { return };
    let free = Reply::page("Free", "Nobody forbids this.", &[]);
    let script = case.script().on("www.example.org", "/private/free", free);
    let start = "https://www.example.org/private/free";
    let sources = [case.source(), SiteSource::new("www", "www.example.org", &[start])];
    let judge = Case::judge().within(&["https://www.example.org/"]);
    let crawl = Crawl::new(script, &sources).judged(judge);
    let ran = crawl.day(1, 0);
    for hop in 1..=4 {
        assert_eq!(ran.times(&format!("/r{hop}.txt")), 1, "{:?}", ran.asked());
    }
    crawl.assert_page(&at("/guide"), "# Guide");
    assert!(!ran.asked().contains(&at("/private/notes")), "{:?}", ran.asked());
    let free = crawl.page_at(PUBLIC, "www", start);
    assert!(free.is_some_and(|page| page.contains("Nobody forbids this.")));
}

#[test]
fn expect_rob_redirect_loop() {
    let Some(case) = Case::load("rob-redirect-loop") else { return };
    let start = "https://www.example.org/";
    let script = case
        .script()
        .on("http://docs.example.org", "/robots.txt", Reply::redirect(302, &at("/robots.txt")))
        .on("www.example.org", "/", Reply::page("Other", "Reads on.", &[]));
    let sources = [case.source(), SiteSource::new("www", "www.example.org", &[start])];
    let judge = Case::judge()
        .within(&[start])
        .again(&at("/robots.txt"))
        .again("http://docs.example.org/robots.txt");
    let crawl = Crawl::new(script, &sources).judged(judge);
    let ran = crawl.day(1, 3);
    let docs = ran.exchanges.iter().filter(|exchange| exchange.host() == "docs.example.org");
    let docs: Vec<_> = docs.collect();
    assert!(docs.len() <= 11 && docs.iter().all(|e| e.is_robots()), "{:?}", ran.asked());
    ran.assert_says("loop");
    let other = crawl.page_at(PUBLIC, "www", start);
    assert!(other.is_some_and(|page| page.contains("Reads on.")));
}

/// Holds the rows of a table against the library.
fn check_table(id: &str) {
    let Some(case) = Case::load(id) else { return };
    let robots = Robots::parse(case.text("robots_txt").as_bytes(), TOKEN);
    for row in case.input("urls").as_array().expect("rows") {
        let path = row[0].as_str().expect("a path");
        let url = PageUrl::parse(&at(path)).expect("a URL");
        let path = url.as_str().strip_prefix("https://docs.example.org").expect("a path");
        assert_eq!(robots.allows(path).allowed, row[1].as_bool().expect("a verdict"), "{row}");
    }
}

#[test]
fn expect_rob_longest_match() {
    check_table("rob-longest-match");
}

#[test]
fn expect_rob_groups_merge() {
    check_table("rob-groups-merge");
}

#[test]
fn expect_rob_percent_path() {
    check_table("rob-percent-path");
}

#[test]
fn expect_rob_crawl_delay_odd_values() {
    let Some(case) = Case::load("rob-crawl-delay-odd-values") else { return };
    let rows = case.input("cases").as_array().expect("rows");
    let seconds = |text: &str| Some(Duration::from_secs_f64(text.parse().expect("seconds")));
    // Least and most that each row may mean; nothing means that the line is ignored.
    let expected = [
        (seconds("0.5"), seconds("0.5")),
        (seconds("1.5"), seconds("1.5")),
        (None, seconds("0")),
        (None, None),
        (None, None),
        (None, Some(Duration::MAX)),
        (None, Some(Duration::MAX)),
        (seconds("601"), Some(Duration::MAX)),
        (seconds("5"), seconds("5")),
        (None, seconds("2")),
    ];
    assert_eq!(rows.len(), expected.len());
    let pace = Duration::from_secs(1);
    for (row, (least, most)) in rows.iter().zip(expected) {
        let text = case.put(row[0].as_str().expect("a file"));
        let robots = Robots::parse(text.as_bytes(), TOKEN);
        let delay = robots.crawl_delay();
        assert!(delay >= least && delay <= most, "{row}: {delay:?}");
        assert_eq!(robots.allows("/private/x").allowed, !text.contains("/private/"), "{row}");
        // Whatever the file says, a host is never asked faster than at the own pace.
        let standard = pagelog::config::shipped_policies().expect("policies").remove(0);
        let terms = Terms::new(pace, &standard);
        let mut host = Host::new(terms, HostState::default());
        host.set_crawl_delay(&at(""), delay);
        let least = pace.max(delay.unwrap_or_default().min(Duration::from_hours(24)));
        assert!(host.wait() >= least, "{row}: {:?}", host.wait());
    }
}

/// A site of three pages whose robots.txt is that row of the case.
fn three_pages(case: &Case, row: usize, pace: Duration) -> Crawl {
    let robots = case.put(case.input("cases")[row][0].as_str().expect("a file"));
    let script = Script::new()
        .on("docs.example.org", "/robots.txt", Reply::robots(&robots))
        .on("docs.example.org", "/", Reply::page("Index", "Text.", &["/a", "/b"]))
        .on("docs.example.org", "/a", Reply::page("A", "Text.", &[]))
        .on("docs.example.org", "/b", Reply::page("B", "Text.", &[]));
    Crawl::docs(script, &at("/")).judged(Judge::new(pace))
}

#[test]
fn expect_rob_crawl_delay_odd_values_between_requests() {
    let Some(case) = Case::load("rob-crawl-delay-odd-values") else { return };
    // The judge asserts the gaps.
    let ran = three_pages(&case, 1, Duration::from_millis(1500)).day(1, 0);
    assert_eq!(ran.targets(), ["/", "/a", "/b"]);
    for row in [3, 4, 9] {
        three_pages(&case, row, Duration::from_millis(10)).day(1, 0);
    }
}

#[test]
fn expect_rob_crawl_delay_odd_values_without_end() {
    let Some(case) = Case::load("rob-crawl-delay-odd-values") else { return };
    // The budget only keeps a failure from hanging.
    let crawl = three_pages(&case, 7, Duration::from_millis(10));
    let ran = crawl.run_with(&clock(1), &["--budget", "20s"]).exits(3);
    assert_eq!(ran.asked(), [at("/robots.txt")]);
    ran.assert_says("docs");
}

#[test]
fn expect_rob_delay_all_paths() {
    let Some(case) = Case::load("rob-delay-all-paths") else { return };
    let robots = "User-agent: *\nCrawl-delay: 0.4\nSitemap: https://docs.example.org/sitemap.xml\n";
    let script = case.script().on("docs.example.org", "/robots.txt", Reply::robots(robots));
    let sources = [SiteSource::new("docs", "docs.example.org", &[&at("/sitemap.xml"), &at("/")])];
    let judge = Judge::new(Duration::from_millis(400)).within(&[at("/")]);
    let crawl = Crawl::new(script, &sources).judged(judge);
    let ran: Ran = crawl.run_with(&clock(1), &[]);
    for target in ["/sitemap.xml", "/", "/p0", "/p5", "/l1", "/l2", "/feed.xml"] {
        assert_eq!(ran.times(target), 1, "{target}: {:?}", ran.asked());
    }
    crawl.assert_page(&at("/l2"), "# L2");
}
