//! Runs that are interrupted or killed, and the runs that go on from there.

use std::collections::BTreeSet;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::scene::{HOST, addresses, at, leaf, script};
use crate::support::contents::Contents;
use crate::support::crawl::{Crawl, PRIVATE, PUBLIC, SiteSource, clock, docs, start_run};
use crate::support::hosts::Exchange;
use crate::support::judge::Judge;
use crate::support::numbers::Numbers;
use crate::support::script::{Reply, Script};
use crate::support::{Outcome, World};

/// Pages of the site.
const PAGES: usize = 20;

/// How often a run is killed.
const KILLS: usize = 24;

/// The pace that the sources ask for.
const PACE: Duration = Duration::from_millis(30);

/// An answer that was sent so long before a kill has been stored.
const SETTLED: Duration = Duration::from_millis(200);

fn scene() -> Crawl {
    scene_of(PAGES)
}

fn scene_of(pages: usize) -> Crawl {
    let judge = Judge::new(PACE);
    Crawl::new(script(pages), &[docs(&at("/sitemap.xml")).pace("30ms")]).judged(judge)
}

fn tips(world: &World) -> Vec<String> {
    let names = [PUBLIC, PRIVATE];
    if !world.archive().join("HEAD").exists() {
        return Vec::new();
    }
    let tip = |name: &&str| world.git(&["rev-parse", "--verify", "--quiet", name]).stdout;
    names.iter().map(tip).filter(|tip| !tip.is_empty()).collect()
}

/// Lets the hosts read what a process that is gone has sent.
fn settle() {
    thread::sleep(Duration::from_millis(30));
}

/// URLs that were answered completely and long enough before.
fn settled(exchanges: &[Exchange], before: Instant) -> BTreeSet<String> {
    let sent = |exchange: &&Exchange| {
        exchange.whole
            && !exchange.is_robots()
            && exchange.end.is_some_and(|end| end + SETTLED <= before)
    };
    exchanges.iter().filter(sent).map(Exchange::url).collect()
}

/// No request of a run is for what an interrupted one had read.
#[track_caller]
fn assert_nothing_again(read: &BTreeSet<String>, exchanges: &[Exchange], what: &str) {
    let again: Vec<String> =
        exchanges.iter().map(Exchange::url).filter(|url| read.contains(url)).collect();
    assert!(again.is_empty(), "{what}: asked for again: {again:?}");
}

#[test]
fn an_interrupted_run_is_continued() {
    let crawl = scene();
    let mut run = crawl.start_run(&clock(1), &[]);
    let run = run.spawn().expect("pagelog starts");
    assert!(crawl.hosts.wait_for(12), "too few requests");
    let signal = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(signal.expect("kill starts").success());
    let sent = Instant::now();
    let ended: Outcome = run.wait_with_output().expect("it ends").into();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert_eq!(tips(&crawl), Vec::<String>::new(), "an interrupted run commits nothing");
    let read = settled(&crawl.hosts.exchanges(), sent);
    assert!(!read.is_empty());

    let ran = crawl.day(1, 0);
    assert_nothing_again(&read, &ran.exchanges, "after an interrupt");
    assert_eq!(crawl.pages(PUBLIC).len(), PAGES);
    crawl.assert_whole();
}

#[test]
fn a_first_run_killed_at_any_instant_goes_on() {
    killed_at_any_instant(&scene(), &clock(1), 1);
}

#[test]
fn a_second_run_killed_at_any_instant_goes_on() {
    let crawl = scene();
    crawl.day(1, 0);
    for n in (0..PAGES).step_by(4) {
        crawl.hosts.on(HOST, &format!("/p{n:02}"), leaf(n, "The second text, which is longer."));
    }
    let mut lines = addresses(PAGES);
    lines.push(at("/new"));
    crawl.hosts.on(HOST, "/sitemap.xml", Reply::sitemap(&lines));
    crawl.hosts.on(HOST, "/new", Reply::page("New", "Text.", &[]));
    killed_at_any_instant(&crawl, &clock(2), 2);
}

/// Pages that nobody knew before are found on two hosts at once, in an order that is never
/// the same: what is kept of one must not become the text of another.
#[test]
fn a_run_that_finds_new_pages_killed_at_any_instant_goes_on() {
    find_on_two_hosts(|source| source, 3);
}

/// The same where one of them is private: none of its text may stand on the public ref.
#[test]
fn a_run_that_finds_private_pages_killed_at_any_instant_goes_on() {
    find_on_two_hosts(SiteSource::private, 4);
}

fn find_on_two_hosts(second: impl Fn(SiteSource) -> SiteSource, seed: u64) {
    let hosts = [HOST, "www.example.org"];
    let mut script = Script::new();
    let mut sources = Vec::new();
    for (id, host) in ["docs", "www"].into_iter().zip(hosts) {
        script.set(host, "/", vec![Reply::page("Index", "The index of before.", &[])]);
        let start = format!("https://{host}/");
        sources.push(SiteSource::new(id, host, &[&start]).pace("30ms"));
    }
    let sources = [sources.remove(0), second(sources.remove(0))];
    let crawl = Crawl::new(script, &sources).judged(Judge::new(PACE));
    crawl.day(1, 0);
    for host in hosts {
        let sections = ["/a", "/b", "/c", "/d"];
        crawl.hosts.on(host, "/", Reply::page("Index", "The index of now.", &sections));
        for section in sections {
            let leaves = [1, 2, 3, 4].map(|n| format!("{section}/{n}"));
            let links: Vec<&str> = leaves.iter().map(String::as_str).collect();
            crawl.hosts.on(
                host,
                section,
                Reply::page(section, &format!("{host}{section}"), &links),
            );
            for leaf in &leaves {
                let text = format!("This is {host}{leaf}.");
                crawl.hosts.on(host, leaf, Reply::page(leaf, &text, &[]));
            }
        }
    }
    killed_at_any_instant(&crawl, &clock(2), seed);
}

/// How many commits there are.
fn commits(world: &World) -> usize {
    if tips(world).is_empty() { 0 } else { world.commits(PUBLIC) }
}

fn killed_at_any_instant(crawl: &Crawl, clock: &str, seed: u64) {
    let undisturbed = crawl.copy();
    let begun = Instant::now();
    let ended: Outcome = start_run(&undisturbed, &crawl.hosts, clock, &[]).output().unwrap().into();
    let length = begun.elapsed();
    ended.exits(0);
    let expected = Contents::of(&undisturbed);
    let old = commits(crawl);
    let mut draws = Numbers(seed);
    let (mut killed, mut spared) = (0, 0);
    for n in 0..KILLS {
        let world = crawl.copy();
        let before = crawl.hosts.count();
        let mut run = start_run(&world, &crawl.hosts, clock, &[]).spawn().expect("pagelog starts");
        let delay = length.mul_f64(draws.fraction());
        thread::sleep(delay);
        let kill = Instant::now();
        // A run that has ended by itself cannot be killed: that is a moment, too.
        let _ = run.kill();
        killed += usize::from(run.wait().expect("it ends").code().is_none());
        settle();
        let asked = crawl.hosts.exchanges().split_off(before);
        let what = format!("killed at moment {n}, after {delay:?}");

        let before = crawl.hosts.count();
        let next: Outcome = start_run(&world, &crawl.hosts, clock, &[]).output().unwrap().into();
        let next = next.exits(0);
        let more = crawl.hosts.exchanges().split_off(before);
        world.assert_sound();
        expected.assert_same(&Contents::of(&world), &format!("{what}\n{next:?}"));
        // What came to its commit, or so far that the next run could finish it, was a run of
        // its own: the next one asks anew.
        if commits(&world) == old + 1 {
            let read = settled(&asked, kill);
            spared += read.len();
            assert_nothing_again(&read, &more, &what);
        }
        Judge::new(PACE).assert(&more, &what);
    }
    println!("{KILLS} moments, {killed} kills, {spared} requests that were not repeated");
    assert!(killed > 0 && spared > 0);
}

#[test]
fn two_interrupts_in_a_row_lose_nothing_either() {
    // More than is read until the second interrupt, however late it comes.
    let pages = PAGES * 4;
    let crawl = scene_of(pages);
    let mut read = BTreeSet::new();
    for (round, requests) in [8, 14].into_iter().enumerate() {
        let before = crawl.hosts.count();
        let mut run = crawl.start_run(&clock(1), &[]).spawn().expect("pagelog starts");
        let target = requests.max(before + 3);
        assert!(crawl.hosts.wait_for(target), "round {round}: too few requests");
        thread::sleep(SETTLED);
        let kill = Instant::now();
        run.kill().expect("a run at work");
        run.wait().expect("it ends");
        settle();
        let asked = crawl.hosts.exchanges().split_off(before);
        assert_nothing_again(&read, &asked, &format!("round {round}"));
        read.extend(settled(&asked, kill));
    }
    let ran = crawl.day(1, 0);
    assert_nothing_again(&read, &ran.exchanges, "the last run");
    assert_eq!(crawl.pages(PUBLIC).len(), pages);
}
