//! Hosts that nobody answers for.

use super::scene::{at, crawl};
use crate::support::Outcome;
use crate::support::crawl::{PUBLIC, clock};
use crate::support::server::free_port;

#[test]
fn a_host_that_refuses_connections_keeps_its_pages() {
    let crawl = crawl(3);
    crawl.day(1, 0);
    let (pages, commits) = (crawl.pages(PUBLIC), crawl.commits(PUBLIC));
    let nobody = format!("docs.example.org:443:127.0.0.1:{}", free_port());
    let mut run = crawl.command(&clock(2));
    run.args(["run", "--connect-to", &nobody]);
    let ended = Outcome::from(run.output().expect("pagelog starts")).exits(3);
    for part in ["docs", "docs.example.org", "robots.txt", "left for a later run"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert!(ended.stderr.to_lowercase().contains("refused"), "{}", ended.stderr);
    assert_eq!((crawl.pages(PUBLIC), crawl.commits(PUBLIC)), (pages, commits + 1));
    assert_eq!(crawl.outcome(&at("/sitemap.xml")).0, "deferred");
    crawl.assert_sound();
    // It is asked again as soon as it answers.
    crawl.hosts.on("docs.example.org", "/p00", super::scene::leaf(0, "What is new."));
    crawl.day(3, 0);
    crawl.assert_page(&at("/p00"), "What is new.");
}
