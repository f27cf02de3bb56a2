//! Runs over sites that are down, and runs that are killed before they know anything.

use std::time::Duration;

use super::case::{Case, at};
use crate::support::crawl::{Crawl, PUBLIC, clock, path_of};
use crate::support::script::{Reply, Script};

/// Runs 1 and 2, where in the second one page fails in the way of the case, and p6 and p7
/// are gone.
fn outage(failing: &str) -> Option<(Case, Crawl)> {
    let case = Case::load("sch-outage-is-not-deletion")?;
    let crawl = case.crawl();
    crawl.day(1, 0);
    assert_eq!(crawl.pages(PUBLIC).len(), 10);
    for (host, path, replies) in case.later(2).entries() {
        if [failing, "/p6", "/p7"].contains(&path) {
            crawl.hosts.set(host, path, replies);
        }
    }
    let ran = crawl.run_with(&clock(2), &[]);
    // A page that fails is no fault of the source; p6 and p7 stay until they are gone twice.
    assert!(matches!(ran.outcome.code, Some(0 | 3)), "{:?}", ran.outcome);
    assert_eq!(crawl.pages(PUBLIC).len(), 10);
    crawl.assert_outcome(&at(failing), "failed");
    crawl.assert_page(&at(failing), "Body text.");
    crawl.assert_outcome(&at("/p6"), "gone");
    crawl.assert_outcome(&at("/p7"), "gone");
    Some((case, crawl))
}

#[test]
fn expect_sch_outage_is_not_deletion_500() {
    outage("/p3");
}

#[test]
fn expect_sch_outage_is_not_deletion_502() {
    outage("/p4");
}

#[test]
fn expect_sch_outage_is_not_deletion_reset() {
    outage("/p5");
}

#[test]
fn expect_sch_outage_is_not_deletion_silence() {
    outage("/p0");
}

#[test]
fn expect_sch_outage_is_not_deletion_of_everything() {
    let Some(case) = Case::load("sch-outage-is-not-deletion") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    // Run 3 of the case: nothing is there, robots.txt and sitemap among it.
    crawl.hosts.clear("docs.example.org");
    let ran = crawl.day(3, 3);
    ran.assert_says("docs");
    assert_eq!(crawl.pages(PUBLIC).len(), 10);
    crawl.day(5, 3);
    let pages = crawl.pages(PUBLIC);
    assert_eq!(pages.len(), 10, "pages left although discovery was incomplete: {pages:?}");

    // Run 4: nobody is there at all.
    let nobody = format!("docs.example.org:443:127.0.0.1:{}", crate::support::server::free_port());
    let tips = crawl.trees();
    let arguments = ["run", "--json", "--connect-to", &nobody];
    let ended = crawl.pagelog_at(&clock(7), &arguments);
    assert!(matches!(ended.code, Some(1 | 3)), "{ended:?}");
    assert_eq!(crawl.trees()[0], tips[0]);
    for n in 0..10 {
        let shown = crawl.pagelog(&["show", &at(&format!("/p{n}"))]).ok();
        assert!(shown.contains("Body text."), "{shown}");
    }
}

#[test]
fn expect_sch_empty_checkpoint() {
    let Some(case) = Case::load("sch-empty-checkpoint") else { return };
    let crawl = case.crawl();
    crawl.day(1, 0);
    let robots = Reply::robots("User-agent: *\nAllow: /\n");
    let slow = robots.clone().delay(Duration::from_mins(5));
    crawl.hosts.on("docs.example.org", "/robots.txt", slow);
    let before = crawl.hosts.count();
    let mut run = crawl.start_run(&clock(2), &[]).spawn().expect("pagelog starts");
    assert!(crawl.hosts.wait_for(before + 1), "robots.txt was not asked for");
    run.kill().expect("a process that waits");
    run.wait().expect("it ends");

    crawl.hosts.on("docs.example.org", "/robots.txt", robots);
    let ran = crawl.day(2, 0);
    for n in 0..10 {
        assert_eq!(ran.times(&format!("/p{n}")), 1, "{:?}", ran.asked());
    }
    let deleted = crawl.git(&["log", "--diff-filter=D", "--format=%H", PUBLIC, "--", "pages"]);
    assert_eq!(deleted.ok(), "");
    assert_eq!(crawl.pages(PUBLIC).len(), 10);
}

/// A run that a host asked to wait goes on with other hosts meanwhile.
#[test]
fn one_host_that_waits_does_not_hold_others() {
    let first = [Reply::status(429).header("Retry-After", "4"), Reply::page("A", "Text.", &[])];
    let script = Script::new()
        .with("docs.example.org", "/", &first)
        .on("www.example.org", "/", Reply::page("B", "Text.", &["/1", "/2"]))
        .on("www.example.org", "/1", Reply::page("One", "Text.", &[]))
        .on("www.example.org", "/2", Reply::page("Two", "Text.", &[]));
    let other = crate::support::crawl::SiteSource::new(
        "www",
        "www.example.org",
        &["https://www.example.org/"],
    );
    let crawl = Crawl::new(script, &[crate::support::crawl::docs(&at("/")), other]);
    let ran = crawl.day(1, 0);
    let times = |name: &str| -> Vec<_> {
        ran.exchanges.iter().filter(|e| e.host() == name).map(|e| e.at).collect()
    };
    let waited = times("docs.example.org").into_iter().max();
    let read = times("www.example.org").into_iter().max();
    assert!(read < waited, "{:?}", ran.asked());
    let page = format!("{PUBLIC}:{}", path_of("www", "https://www.example.org/2"));
    crawl.git(&["cat-file", "-e", &page]).ok();
}
