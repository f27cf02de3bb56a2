//! Several hosts and several sources in one run.

use std::process::Command;
use std::time::Duration;

use super::scene::{HOST, at, linked};
use crate::support::crawl::{Crawl, PRIVATE, PUBLIC, SiteSource, clock, docs};
use crate::support::judge::Judge;
use crate::support::script::{Reply, Script};

const OTHER: &str = "inner.example.net";

fn other(path: &str) -> String {
    format!("https://{OTHER}{path}")
}

fn pages(script: Script, host: &str, count: usize, word: &str) -> Script {
    let targets: Vec<String> = (0..count).map(|n| format!("/p{n}")).collect();
    let links: Vec<&str> = targets.iter().map(String::as_str).collect();
    let mut script = script.on(host, "/", Reply::page(&format!("{word} index"), word, &links));
    for target in &targets {
        let reply =
            Reply::page(&format!("{word} {target}"), &format!("{word} text {target}."), &[]);
        script.set(host, target, vec![reply.etag(&format!("\"{word}{}\"", target.len()))]);
    }
    script
}

#[test]
fn two_hosts_are_read_side_by_side() {
    let script = pages(pages(Script::new(), HOST, 15, "one"), OTHER, 15, "two");
    let sources = [
        docs(&at("/")).pace("100ms"),
        SiteSource::new("other", OTHER, &[&other("/")]).pace("100ms"),
    ];
    let judge = Judge::new(Duration::from_millis(100));
    let crawl = Crawl::new(script, &sources).judged(judge);
    let ran = crawl.day(1, 0);
    assert_eq!(crawl.pages(PUBLIC).len(), 32);
    // Neither waits for the other to end: both were asked before either had its last.
    let of = |host: &str| -> Vec<_> {
        ran.exchanges.iter().filter(|e| e.host() == host).map(|e| e.at).collect()
    };
    let (one, two) = (of(HOST), of(OTHER));
    assert!(one.iter().min() < two.iter().max() && two.iter().min() < one.iter().max());
}

#[test]
fn sources_on_one_host_share_its_pace_and_take_the_strictest() {
    let script = Script::new()
        .on(HOST, "/a/", Reply::page("A", "Text.", &["/a/1", "/a/2"]))
        .on(HOST, "/a/*", Reply::page("Of A", "Text.", &[]))
        .on(HOST, "/b/", Reply::page("B", "Text.", &["/b/1", "/b/2"]))
        .on(HOST, "/b/*", Reply::page("Of B", "Text.", &[]));
    let a = SiteSource::new("a", HOST, &[&at("/a/")]).paths(&["/a/"]);
    let b = SiteSource::new("b", HOST, &[&at("/b/")]).paths(&["/b/"]).pace("150ms");
    let judge = Judge::new(Duration::from_millis(150));
    let crawl = Crawl::new(script, &[a, b]).judged(judge);
    let ran = crawl.day(1, 0);
    assert_eq!((ran.times("/robots.txt"), ran.targets().len()), (1, 6), "{:?}", ran.asked());
}

#[test]
fn http_and_https_are_two_origins_of_one_host() {
    let script = Script::new()
        .on(HOST, "/", Reply::page("Secure", "Text.", &["http://docs.example.org/plain"]))
        .on("http://docs.example.org", "/plain", Reply::page("Plain", "Text.", &[]));
    let crawl = Crawl::docs(script, &at("/"));
    let ran = crawl.day(1, 0);
    assert_eq!(ran.times("/robots.txt"), 2, "{:?}", ran.asked());
    let pages = crawl.pages(PUBLIC);
    assert_eq!(pages, ["docs/docs.example.org+http/plain.md", "docs/docs.example.org/index.md"]);
}

#[test]
fn a_literal_loopback_address_needs_no_pace() {
    let hosts_script = pages(Script::new(), "127.0.0.1", 5, "local");
    let crawl = Crawl::new(hosts_script, &[docs(&at("/"))]).judged(Judge::new(Duration::ZERO));
    let host = crawl.hosts.literal();
    let start = format!("http://{host}/");
    crawl.configure(&SiteSource::new("docs", &host, &[&start]).pace("0s").toml());
    let ran = crawl.day(1, 0);
    assert_eq!(ran.targets().len(), 6);
    let folder = format!("docs/{}+http/", host.replace(':', "+"));
    let pages = crawl.pages(PUBLIC);
    assert!(pages.iter().all(|path| path.starts_with(&folder)) && pages.len() == 6, "{pages:?}");
}

#[test]
fn a_private_site_leaves_no_word_on_the_public_ref() {
    let canary = "zqcanary";
    let secret = Reply::page(&format!("{canary}title"), &format!("{canary}body"), &[])
        .header("X-Note", &format!("{canary}header"));
    let index = format!(
        "<html><head><title>{canary}index</title></head><body><main><h1>{canary}heading</h1>\
         <p>{canary}text <a href=/s>{canary}anchor</a></p></main></body></html>"
    );
    let script = pages(Script::new(), HOST, 3, "public")
        .on(OTHER, "/", Reply::html(index))
        .on(OTHER, "/s", secret);
    let sources = [docs(&at("/")), SiteSource::new("inner", OTHER, &[&other("/")]).private()];
    let crawl = Crawl::new(script, &sources);
    for day in 1..=2 {
        crawl.day(day, 0);
        crawl.assert_whole();
    }
    let everything = crawl.git(&["log", "-p", "--format=%an %B", PUBLIC]).ok();
    assert!(!everything.contains(canary), "{everything}");
    assert_eq!(crawl.pages(PUBLIC).len(), 4);
    assert_eq!(
        crawl.pages(PRIVATE),
        ["inner/inner.example.net/index.md", "inner/inner.example.net/s.md"]
    );
    // Addresses of private links are public, the words around them are not.
    let links = crawl.file(PUBLIC, "links/inner/inner.example.net/index.tsv");
    assert_eq!(links, "to\ttext\trel\nhttps://inner.example.net/s\t\t\n");
    let links = crawl.file(PRIVATE, "links/inner/inner.example.net/index.tsv");
    assert!(links.contains(&format!("{canary}anchor")), "{links}");
}

#[test]
fn a_source_that_fails_holds_no_other() {
    let script = pages(linked(&[]), OTHER, 2, "other").on(HOST, "/robots.txt", Reply::status(500));
    let sources = [docs(&at("/")), SiteSource::new("other", OTHER, &[&other("/")])];
    let crawl = Crawl::new(script, &sources);
    let ran = crawl.day(1, 3);
    ran.assert_says("docs");
    assert_eq!(crawl.pages(PUBLIC).len(), 3);
}

#[test]
fn a_private_text_of_an_interrupted_run_is_known_under_its_new_name() {
    let words: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
    let secret = format!("zqsecret {}", words.join(" "));
    let mut script = Script::new()
        .on(HOST, "/", Reply::page("In", "Text.", &["/priv/a"]))
        .on(HOST, "/priv/a", Reply::page("A", &secret, &[]))
        .on(OTHER, "/", Reply::page("Out", "Text.", &["/copy"]))
        .on(OTHER, "/copy", Reply::page("Copy", &secret, &["/slow"]));
    let slow = Reply::page("Slow", "Text.", &[]).delay(Duration::from_secs(20));
    script.set(OTHER, "/slow", vec![slow, Reply::page("Slow", "Text.", &[])]);
    let inner = |id: &str| SiteSource::new(id, HOST, &[&at("/")]).private();
    let outer = SiteSource::new("outer", OTHER, &[&other("/")]);
    let crawl = Crawl::new(script, &[inner("inner"), outer.clone()]);
    let mut run = crawl.start_run(&clock(1), &[]);
    let run = run.spawn().expect("pagelog starts");
    assert!(crawl.hosts.wait_for(7), "too few requests");
    let signal = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(signal.expect("kill starts").success());
    assert_eq!(run.wait_with_output().expect("it ends").status.code(), Some(130));
    let renamed = inner("hidden").key("was = [\"inner\"]");
    crawl.configure(&format!("{}{}", renamed.toml(), outer.toml()));
    // What was held back stays in a pack that nothing reaches.
    let ended = crawl.start_run(&clock(1), &[]).output().expect("pagelog starts");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let everything = crawl.git(&["log", "-p", "--format=%B", PUBLIC]).ok();
    assert!(!everything.contains("zqsecret"), "{everything}");
    let found = crawl.page_at(PRIVATE, "hidden", &at("/priv/a"));
    assert!(found.is_some_and(|page| page.contains("zqsecret")));
}
