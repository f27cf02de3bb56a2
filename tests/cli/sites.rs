//! What is told of sites: how far they are read, and why a URL is asked for.

use std::process::Command;

use crate::support::Outcome;
use crate::support::crawl::{Crawl, clock, docs};
use crate::support::script::{Reply, Script};

const HOST: &str = "docs.example.org";

fn at(path: &str) -> String {
    format!("https://{HOST}{path}")
}

fn leaf(n: usize) -> Reply {
    Reply::page(&format!("Page {n}"), &format!("Text {n}."), &[]).etag(&format!("\"{n}\""))
}

/// A site of so many pages; the sitemap states a day for the first.
fn script(pages: usize) -> Script {
    let mut lines: Vec<String> = (0..pages).map(|n| at(&format!("/p{n}"))).collect();
    lines[0].push_str(" 2026-10-01");
    let robots = "User-agent: TestBot\nDisallow: /p1$\n";
    let mut script = Script::new().on(HOST, "/robots.txt", Reply::robots(robots)).on(
        HOST,
        "/sitemap.xml",
        Reply::sitemap(&lines),
    );
    for n in 0..pages {
        script.set(HOST, &format!("/p{n}"), vec![leaf(n)]);
    }
    script
}

#[track_caller]
fn told(crawl: &Crawl, day: u32, arguments: &[&str]) -> String {
    // How hosts are reached is a part of what a run may be gone on with.
    let mut command = crawl.command(&clock(day));
    command.args(arguments).args(crawl.hosts.arguments());
    Outcome::from(command.output().expect("pagelog starts")).ok()
}

#[track_caller]
fn assert_told(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not told:\n{text}");
    }
}

#[test]
fn a_url_is_explained_by_what_a_run_would_do_with_it() {
    let crawl = Crawl::docs(script(4), &at("/sitemap.xml"));
    crawl.day(1, 0);
    let explain = |day, path: &str| told(&crawl, day, &["explain", &at(path)]);
    assert_told(
        &explain(2, "/p0"),
        &[
            "  known to docs as a page, 0 link steps from a start, listed by \
             https://docs.example.org/sitemap.xml, which states 2026-10-01\n",
            ": changed, and read; as Markdown or HTML, with ETag\n",
            "    a run that began now does not ask for it before 2026-12-30T02:00:0",
            " allows it to TestBot, by no rule of robots.txt\n",
        ],
    );
    // After `recheck` it is asked for whatever the sitemap says, and in full.
    assert_told(
        &explain(20, "/p0"),
        &["asks for it after what is new and what has changed: its sitemap was believed for as \
           long as `recheck` says; without validators, since it was read in full longer ago"],
    );
    assert_told(&explain(2, "/p2"), &["no sitemap states when it changed; with its validators\n"]);
    assert_told(
        &explain(2, "/p1"),
        &["a run that began now does not ask for it: robots.txt", "line 2 of robots.txt"],
    );
    assert_told(&explain(2, "/sitemap.xml"), &["as a sitemap", "first, since it is a start"]);

    crawl.hosts.on(HOST, "/p2", Reply::status(404));
    crawl.hosts.on(HOST, "/p3", Reply::redirect(301, "/p0"));
    crawl.day(2, 0);
    assert_told(&explain(3, "/p2"), &["    gone since the run of 2026-12-02T02:00:00Z\n"]);
    assert_told(&explain(3, "/p3"), &["    moved to https://docs.example.org/p0 since the run of"]);
    crawl.day(3, 0);
    assert_told(
        &explain(4, "/p2"),
        &["not in the archive", "does not ask for it before ", "the last look found it gone"],
    );

    let json = crawl.pagelog_at(&clock(4), &["explain", &at("/p0"), "--json"]).json();
    let site = &json["sites"][0];
    assert_eq!((&site["kind"], &site["depth"]), (&"page".into(), &0.into()), "{json}");
    assert_eq!(site["last"]["validators"], serde_json::json!(["ETag"]));
    assert_eq!(json["robots"]["allowed"], true);

    // What the configuration leaves out now.
    crawl.configure(&docs(&at("/sitemap.xml")).key("skip = ['/p0$']").toml());
    assert_told(&explain(4, "/p0"), &["does not ask for it: `skip` has /p0$\n"]);
}

#[test]
fn a_url_that_is_known_and_was_not_read_says_so() {
    let crawl = Crawl::new(script(6), &[docs(&at("/sitemap.xml")).key("max_pages = 2")]);
    crawl.run_with(&clock(1), &[]);
    let known = crawl.pagelog_at(&clock(2), &["status", "--json"]).json();
    let site = &known["sources"][0]["site"];
    assert_eq!(site["known"], 6, "{known}");
    let left = told(&crawl, 2, &["explain", &at("/p5")]);
    assert_told(
        &left,
        &["    not asked for yet\n", "asks for it among what is new: it never was\n"],
    );
}

#[test]
fn status_tells_how_far_a_site_is_read() {
    let crawl = Crawl::docs(script(4), &at("/sitemap.xml"));
    crawl.day(1, 0);
    let text = told(&crawl, 1, &["status"]);
    assert_told(
        &text,
        &["docs (site, public): 3 pages", "  4 pages are known, 3 of them were ever read\n"],
    );
    assert!(!text.contains("open run") && !text.contains("politeness"), "{text}");
}

#[test]
fn status_tells_of_a_run_that_can_be_gone_on_with() {
    let crawl = Crawl::new(script(9), &[docs(&at("/sitemap.xml")).pace("300ms")]);
    let before = crawl.hosts.count();
    let child = crawl.start_run(&clock(1), &[]).spawn().expect("pagelog starts");
    assert!(crawl.hosts.wait_for(before + 4), "nothing was asked");
    assert_told(&told(&crawl, 1, &["status"]), &["open run    run 1 of ", " is in progress"]);
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &id]).status().expect("kill");
    assert!(killed.success());
    let output = child.wait_with_output().expect("pagelog ends");
    assert_eq!(output.status.code(), Some(130));
    let text = told(&crawl, 1, &["status"]);
    assert_told(
        &text,
        &["run 1 of 2026-11-30T02:00:00Z can be gone on with: addresses that wait: "],
    );
    assert_told(&text, &[" of docs on docs.example.org\n"]);
    // Too late, or with another configuration.
    let stale = "did not come to its end; the next run commits what it has";
    assert_told(&told(&crawl, 2, &["status"]), &[stale]);
    crawl.configure(&docs(&at("/sitemap.xml")).pace("301ms").toml());
    assert_told(&told(&crawl, 1, &["status"]), &[stale]);
}

#[test]
fn hosts_that_are_left_alone_are_named() {
    let busy = Reply::status(429).header("Retry-After", "7200");
    let crawl = Crawl::docs(script(3).on(HOST, "/sitemap.xml", busy), &at("/sitemap.xml"));
    crawl.run_unjudged(&clock(1), &[]).exits(3);
    let alone = "docs.example.org is left alone until ";
    assert_told(&told(&crawl, 1, &["status"]), &[&format!("politeness  {alone}")]);
    assert_told(&told(&crawl, 1, &["explain", &at("/p2")]), &[alone]);
}

#[test]
fn a_short_run_tells_nothing_of_hosts() {
    let crawl = Crawl::docs(script(3), &at("/sitemap.xml"));
    let ran = crawl.run_with(&clock(1), &[]).exits(0);
    assert_eq!(ran.outcome.stderr, "docs: reading\n");
    let quiet = crawl.run_with(&clock(2), &["-q"]).exits(0);
    assert_eq!(quiet.outcome.stderr, "");
}
