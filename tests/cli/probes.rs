//! `check --probe`: what is asked, and what is told of it.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::Outcome;
use crate::support::crawl::{Crawl, clock, docs};
use crate::support::hosts::Exchange;
use crate::support::judge::Judge;
use crate::support::script::{Reply, Script};
use crate::support::world::git_source;

const HOST: &str = "docs.example.org";

fn at(path: &str) -> String {
    format!("https://{HOST}{path}")
}

fn page(text: &str) -> Reply {
    Reply::page("A page", text, &["/more"])
}

/// A site with a sitemap of two pages, one of which robots.txt forbids, and one elsewhere.
fn script() -> Script {
    let robots = "User-agent: *\nDisallow: /private/\nDisallow: /en/old/\nCrawl-delay: 0.02\n";
    let lines = ["/en/a 2026-10-01", "/en/old/b 2026-10-02", "/fr/c"].map(at);
    Script::new()
        .on(HOST, "/robots.txt", Reply::robots(robots))
        .on(HOST, "/sitemap.xml", Reply::sitemap(&lines))
        .on(HOST, "/en/a", page("Some words of the page.").etag("\"a\""))
}

fn crawl(script: Script) -> Crawl {
    Crawl::new(script, &[docs(&at("/sitemap.xml")).paths(&["/en/"])])
}

/// A probe, whose requests are polite and few; it makes no archive.
#[track_caller]
fn probe(crawl: &Crawl, more: &[&str]) -> (Outcome, Vec<Exchange>) {
    let before = crawl.hosts.count();
    let there = crawl.archive().exists();
    let mut command = crawl.command(&clock(1));
    command.args(["check", "--probe"]).args(crawl.hosts.arguments()).args(more);
    let outcome = Outcome::from(command.output().expect("pagelog starts"));
    let exchanges = crawl.hosts.exchanges().split_off(before);
    assert_eq!(crawl.archive().exists(), there);
    (outcome, exchanges)
}

fn targets(exchanges: &[Exchange]) -> Vec<&str> {
    exchanges.iter().map(|exchange| exchange.target.as_str()).collect()
}

/// What was found of the first source, as JSON.
#[track_caller]
fn found(crawl: &Crawl, code: i32) -> Value {
    let (outcome, _) = probe(crawl, &["--json"]);
    let outcome = outcome.exits(code);
    let all: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    all["probe"][0].clone()
}

#[track_caller]
fn assert_says(outcome: &Outcome, lines: &[&str]) {
    for line in lines {
        assert!(outcome.stdout.contains(line), "`{line}` is not said\n{}", outcome.stdout);
    }
}

#[test]
fn a_probe_tells_what_a_run_would_meet() {
    let crawl = crawl(script());
    let (outcome, exchanges) = probe(&crawl, &[]);
    let outcome = outcome.exits(0);
    assert_eq!(targets(&exchanges), ["/robots.txt", "/sitemap.xml", "/en/a", "/en/a"]);
    assert_eq!(exchanges[3].header("if-none-match"), Some("\"a\""));
    Judge::new(Duration::from_millis(20)).again(&at("/en/a")).assert(&exchanges, "a probe");
    assert_says(
        &outcome,
        &[
            "docs: asked\n",
            "  robots.txt of https://docs.example.org: read\n",
            "      line 3: Disallow: /en/old/\n",
            "    asks for a Crawl-delay of 20ms\n",
            "  in force: 20ms between two requests (`pace` is 10ms)\n",
            "/sitemap.xml lists 3 addresses; a run would read 1 of them\n",
            "    1 outside of `hosts` and `paths`\n",
            "    1 forbidden by robots.txt\n",
            "    1 pages in all, besides what they link to\n",
            "    a full pass over them takes at least 40ms\n",
            "    lastmod: given for 2, and believed\n",
            "/en/a is text/html; charset=utf-8, kept as html\n",
            "    title: A page\n",
            " words and 1 links in its main content\n",
            "    read again with ETag: 304, not modified\n",
        ],
    );
    assert!(!outcome.stdout.contains("/private/"), "no part of `paths`: {}", outcome.stdout);
}

#[test]
fn an_index_gives_an_estimate() {
    let index = Reply::ok(
        "application/xml",
        format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
             <sitemap><loc>{}</loc></sitemap><sitemap><loc>{}</loc></sitemap>\
             <sitemap><loc>https://elsewhere.example.net/m.xml</loc></sitemap></sitemapindex>",
            at("/one.xml"),
            at("/two.xml")
        ),
    );
    let script = script().on(HOST, "/sitemap.xml", index).on(
        HOST,
        "/one.xml",
        Reply::sitemap(&[at("/en/a"), at("/en/b")]),
    );
    let crawl = crawl(script);
    let site = found(&crawl, 0);
    let listing = &site["listing"];
    assert_eq!(listing["index"]["sitemaps"], 2, "{site}");
    assert_eq!((&listing["wanted"], &listing["pages"]), (&2.into(), &4.into()), "{site}");
    assert_eq!(listing["pages_are_estimated"], true);
    assert_eq!(listing["full_pass_ms"], 6 * 20);
    let (outcome, exchanges) = probe(&crawl, &[]);
    assert_eq!(exchanges.len(), 5, "{:?}", targets(&exchanges));
    let outcome = outcome.exits(0);
    assert_says(&outcome, &["about 4 pages in all", "lastmod: not given"]);
}

#[test]
fn what_differs_between_two_readings_is_shown() {
    let mut script = script();
    let changing = |n: u32| page(&format!("Asked {n} times."));
    script.set(HOST, "/en/a", vec![changing(1), changing(2)]);
    let site = found(&crawl(script.clone()), 0);
    assert_eq!(site["page"]["again"], "other-text", "{site}");
    assert_eq!(site["page"]["differing_lines"][0][1], "Asked 2 times.", "{site}");
    let (outcome, _) = probe(&crawl(script.clone()), &[]);
    let shown = "      - Asked 1 times.\n      + Asked 2 times.\n";
    assert_says(&outcome.exits(0), &["read again without validators: 200", "`volatile`", shown]);

    let noise = |n: u32| Reply::html(format!("<!-- {n} --><main><p>The same words.</p></main>"));
    script.set(HOST, "/en/a", vec![noise(1), noise(2)]);
    assert_eq!(found(&crawl(script.clone()), 0)["page"]["again"], "other-bytes");
    script.set(HOST, "/en/a", vec![noise(1)]);
    assert_eq!(found(&crawl(script), 0)["page"]["again"], "same");
}

#[test]
fn what_a_page_asks_and_whether_its_content_is_a_guess() {
    let html = "<html><head><meta name=robots content='noarchive, nofollow'></head>\
                <body><p>Words without a place. <a href=/x>x</a></p></body></html>";
    let crawl = crawl(script().on(HOST, "/en/a", Reply::html(html)));
    let (outcome, _) = probe(&crawl, &[]);
    assert_says(
        &outcome.exits(0),
        &["asks not to be kept (noarchive)", "(nofollow)", "the main content is a guess"],
    );
}

#[test]
fn a_start_that_is_a_page_is_the_page() {
    let script = script().on(HOST, "/en/", page("Welcome.").etag("\"w\""));
    let crawl = Crawl::new(script, &[docs(&at("/en/")).paths(&["/en/"])]);
    let (outcome, exchanges) = probe(&crawl, &[]);
    assert_eq!(targets(&exchanges), ["/robots.txt", "/en/", "/en/"]);
    assert_says(&outcome.exits(0), &["304, not modified"]);
}

#[test]
fn requests_are_few_however_many_starts_and_forms_there_are() {
    let mut script = script();
    let mut starts = vec![at("/sitemap.xml")];
    for n in 0..9 {
        let host = format!("h{n}.example.org");
        script.set(&host, "/robots.txt", vec![Reply::robots("")]);
        starts.push(format!("https://{host}/"));
    }
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let source = crate::support::crawl::SiteSource::new("docs", HOST, &starts)
        .paths(&["/en/"])
        .key("markdown = \"suffix:.md\"");
    let crawl = Crawl::new(script, &[source]);
    let (outcome, exchanges) = probe(&crawl, &[]);
    assert_eq!(exchanges.len(), 6, "{:?}", targets(&exchanges));
    let outcome = outcome.exits(0);
    assert_says(&outcome, &["robots.txt of https://h8.example.org: not asked", "304"]);
}

#[test]
fn what_cannot_be_read_is_told_and_the_exit_code_says_so() {
    for (path, reply, why) in [
        ("/robots.txt", Reply::robots("User-agent: *\nDisallow: /\n"), "forbidden by line 2"),
        ("/robots.txt", Reply::status(404).header("X", "y"), ""),
        ("/sitemap.xml", Reply::status(404), "status 404"),
        ("/sitemap.xml", Reply::sitemap(&[at("/fr/c")]), "none of the 1 addresses"),
        ("/en/a", Reply::status(410), "status 410"),
        ("/en/a", Reply::redirect(301, "/fr/a"), "no page of the source"),
        ("/en/a", Reply::ok("image/png", "x"), "image/png is no text of a page"),
    ] {
        let crawl = crawl(script().on(HOST, path, reply));
        let (outcome, _) = probe(&crawl, &[]);
        let outcome = outcome.exits(i32::from(!why.is_empty()));
        assert_says(&outcome, &[why]);
    }
    let crawl = crawl(script().on(HOST, "/robots.txt", Reply::status(503)));
    let (outcome, exchanges) = probe(&crawl, &[]);
    assert!(exchanges.iter().all(Exchange::is_robots), "{:?}", targets(&exchanges));
    assert_says(&outcome.exits(1), &["unreachable", "status 503", "could not be read"]);
}

#[test]
fn repositories_and_feeds_are_not_asked() {
    let feed = "[[source]]\nid = \"news\"\nkind = \"feed\"\nlicence = \"CC-BY-4.0\"\n\
                publish = true\nfeeds = [\"https://news.example.org/rss\"]\n";
    let crawl = crawl(script());
    crawl.configure(&format!("{}{feed}", git_source("code", "true", &["./code.git"])));
    let (outcome, exchanges) = probe(&crawl, &[]);
    let outcome = outcome.exits(0);
    assert!(exchanges.is_empty());
    let code = "code: not asked: a probe does not contact repositories\n";
    assert_says(&outcome, &[code, "news: not asked: "]);
}

#[test]
fn a_probe_beside_an_archive_is_measured_and_changes_no_page() {
    let crawl = crawl(script());
    crawl.day(1, 0);
    let trees = crawl.trees();
    let (outcome, _) = probe(&crawl, &[]);
    outcome.exits(0);
    let told = crawl.pagelog(&["manners", "outside", "--json"]).json();
    let requests = &told["hosts"][0]["requests"];
    assert_eq!((&requests["robots"], &requests["page"]), (&1.into(), &2.into()), "{told}");
    assert!(told["hosts"][0]["least_gap_ms"].as_i64().expect("a gap") >= 20, "{told}");
    assert_eq!(crawl.trees(), trees);
    crawl.assert_whole();
}

#[test]
fn an_interrupt_ends_a_probe() {
    let crawl = Crawl::new(script(), &[docs(&at("/sitemap.xml")).paths(&["/en/"]).pace("1h")]);
    let before = crawl.hosts.count();
    let mut command = crawl.command(&clock(1));
    command.args(["check", "--probe"]).args(crawl.hosts.arguments());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    assert!(crawl.hosts.wait_for(before + 1), "nothing was asked");
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill");
    assert!(killed.success());
    let ended = Outcome::from(child.wait_with_output().expect("it ends")).exits(130);
    assert!(ended.stderr.ends_with("error: interrupted\n"), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}
