//! Folders before a run over a site of thirteen pages, and what must hold after that run was
//! disturbed.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::scene::{Refs, check_left, tips};
use crate::support::contents::Contents;
use crate::support::crawl::{Crawl, PUBLIC, SiteSource, clock};
use crate::support::hosts::Exchange;
use crate::support::script::{Reply, Script};
use crate::support::{Outcome, World};

/// The host: a literal address, which needs no pace.
const HOST: &str = "127.0.0.1";

/// A folder before a run over the site, and what that run makes of it when nothing disturbs it.
pub struct Site {
    pub crawl: Crawl,
    pub clock: String,
    old: [Option<String>; 2],
    commits: usize,
    pub expected: Contents,
    /// What an interrupted run had read of the site.
    read: BTreeSet<String>,
}

impl Site {
    /// Before the first run. `more` is put before the sources into the configuration.
    pub fn first_run(more: &str) -> Self {
        Self::of(site(more), 1, BTreeSet::new())
    }

    /// Before the first run over a site whose pages take so long to answer.
    pub fn slow_run(more: &str, wait: Duration) -> Self {
        let crawl = site(more);
        for n in 0..8 {
            let reply = leaf(&format!("Page {n}"), &format!("The slow text of page {n}."));
            crawl.hosts.on(HOST, &format!("/docs/p{n}"), reply.delay(wait));
        }
        Self::of(crawl, 1, BTreeSet::new())
    }

    /// Before a run that finds pages new, edited, as they were, gone for the second time and
    /// moved for the second time.
    pub fn later_run(more: &str) -> Self {
        let crawl = site(more);
        crawl.run_unjudged(&clock(1), &[]).exits(0);
        crawl.hosts.on(HOST, "/docs/p1", Reply::status(404));
        crawl.hosts.on(HOST, "/docs/p2", Reply::redirect(301, "/docs/p8"));
        crawl.hosts.on(HOST, "/docs/p8", leaf("Page 8", "Where page 2 went."));
        crawl.run_unjudged(&clock(2), &[]).exits(0);
        crawl.hosts.on(HOST, "/docs/p3", leaf("Page 3", "The second text of page 3."));
        crawl.hosts.on(HOST, "/docs/p0", linking("Page 0", "It names one more.", &["/docs/p9"]));
        crawl.hosts.on(HOST, "/docs/p9", leaf("Page 9", "A new one."));
        crawl.hosts.on(HOST, "/inner/1", leaf("Inner 1", "The second text within."));
        Self::of(crawl, 3, BTreeSet::new())
    }

    /// Before a run that goes on with one that was interrupted, and so begins with what a
    /// checkpoint holds.
    pub fn resumed_run(more: &str) -> Self {
        let crawl = site(more);
        let slow = leaf("Page 5", "Its answer takes its time.").delay(Duration::from_secs(20));
        crawl.hosts.on(HOST, "/docs/p5", slow);
        let mut run = crawl.command(&clock(1));
        run.arg("run").stdout(Stdio::null()).stderr(Stdio::null());
        let run = run.spawn().expect("pagelog starts");
        let asked = |target: &str| crawl.hosts.exchanges().iter().any(|it| it.target == target);
        for _ in 0..3000 {
            if asked("/docs/p5") {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let signal = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
        assert!(signal.expect("kill starts").success());
        let ended: Outcome = run.wait_with_output().expect("it ends").into();
        ended.exits(130);
        let read = whole(&crawl.hosts.exchanges());
        assert!((4..12).contains(&read.len()), "{read:?}");
        assert!(!kept_packs(&crawl).is_empty(), "no checkpoint");
        crawl.hosts.on(HOST, "/docs/p5", leaf("Page 5", "Its answer takes its time."));
        Self::of(crawl, 1, read)
    }

    fn of(crawl: Crawl, day: u32, read: BTreeSet<String>) -> Self {
        let clock = clock(day);
        let undisturbed = crawl.copy();
        undisturbed.run_at(&clock);
        undisturbed.assert_sound();
        let commits = undisturbed.commits(PUBLIC) - 1;
        let expected = Contents::of(&undisturbed);
        Self { clock, old: tips(&crawl), commits, expected, read, crawl }
    }

    /// A copy of the folder, to disturb a run in.
    pub fn copy(&self) -> World {
        self.crawl.copy()
    }

    /// Checks what a disturbed run left, which had asked for this; runs without disturbance,
    /// and checks that it ends as if nothing had happened.
    #[track_caller]
    pub fn check(&self, world: &World, (asked, what): (&[Exchange], &str)) -> Refs {
        self.check_at(&self.clock, world, (asked, what))
    }

    /// The same, where the next run begins at another time.
    #[track_caller]
    pub fn check_at(&self, clock: &str, world: &World, (asked, what): (&[Exchange], &str)) -> Refs {
        let refs = check_left(world, &self.old, what);
        let before = self.crawl.hosts.count();
        let Outcome { code, stdout, stderr } = world.pagelog_at(clock, &["run"]);
        assert_eq!(code, Some(0), "the run after {what}\n{stdout}{stderr}");
        let next = self.crawl.hosts.exchanges().split_off(before);
        self.expected.assert_same(&Contents::of(world), what);
        assert_tidy(world, what);
        world.pagelog(&["audit"]).ok();
        // What was committed, be it by the next run from what the intent says, was a run of its
        // own: the next one asks anew.
        if world.commits(PUBLIC) == self.commits + 1 {
            let read = self.read.union(&settled(asked)).cloned().collect();
            let again: Vec<String> = whole(&next).intersection(&read).cloned().collect();
            assert!(again.is_empty(), "{what}: asked for again: {again:?}");
        }
        refs
    }

    /// What the hosts were asked for since there were so many requests, when the process that
    /// asked is gone.
    pub fn asked_since(&self, before: usize) -> Vec<Exchange> {
        thread::sleep(Duration::from_millis(20));
        self.crawl.hosts.exchanges().split_off(before)
    }
}

/// No temporary, loose or kept file is left, nor a spool.
#[track_caller]
pub fn assert_tidy(world: &World, what: &str) {
    let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]);
    assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{what}: {}", fsck.stderr);
    let count = world.git(&["count-objects", "-v"]).ok();
    assert!(count.contains("count: 0\n") && count.contains("garbage: 0\n"), "{what}: {count}");
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(world.archive().join(folder)).expect("a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let mut left = names("objects/pack");
    left.retain(|name| name.starts_with("tmp_"));
    left.extend(kept_packs(world));
    left.extend(names("pagelog").into_iter().filter(|name| name.starts_with("spool")));
    assert!(left.is_empty(), "{what}: {left:?}");
}

/// Packs of the archive that nothing may drop yet, by their `.keep` files.
pub fn kept_packs(world: &World) -> Vec<String> {
    let packs = fs::read_dir(world.archive().join("objects/pack")).expect("packs").flatten();
    let kept = packs.filter(|it| it.path().extension().is_some_and(|end| end == "keep"));
    kept.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// URLs that were answered completely, robots.txt left out.
fn whole(exchanges: &[Exchange]) -> BTreeSet<String> {
    let whole = exchanges.iter().filter(|exchange| exchange.whole && !exchange.is_robots());
    whole.map(Exchange::url).collect()
}

/// The same without the last: its answer may have been under way when the client ended.
fn settled(exchanges: &[Exchange]) -> BTreeSet<String> {
    whole(&exchanges[..exchanges.len().saturating_sub(1)])
}

fn leaf(title: &str, text: &str) -> Reply {
    linking(title, text, &[])
}

fn linking(title: &str, text: &str, links: &[&str]) -> Reply {
    Reply::page(title, text, links).etag(&format!("\"{title}-{}\"", text.len()))
}

/// A public source that begins with a sitemap, and a private one that begins with a page.
fn site(more: &str) -> Crawl {
    let mut script = Script::new().on(HOST, "/robots.txt", Reply::robots("")).on(
        HOST,
        "/inner/",
        linking("Inner", "The index within.", &["/inner/1", "/inner/2", "/inner/3"]),
    );
    for n in 1..=3 {
        let reply = leaf(&format!("Inner {n}"), &format!("The text within of page {n}."));
        script.set(HOST, &format!("/inner/{n}"), vec![reply]);
    }
    for n in 0..8 {
        let links: &[&str] = if n == 0 { &["/docs/p6", "/docs/p7"] } else { &[] };
        let reply = linking(&format!("Page {n}"), &format!("The text of page {n}."), links);
        script.set(HOST, &format!("/docs/p{n}"), vec![reply]);
    }
    let crawl = Crawl::new(script, &[]);
    let host = crawl.hosts.literal();
    let listed: Vec<String> = (0..6).map(|n| format!("http://{host}/docs/p{n}")).collect();
    crawl.hosts.on(HOST, "/docs/sitemap.xml", Reply::sitemap(&listed));
    let source = |id: &str, path: &str, start: &str| {
        let start = format!("http://{host}{start}");
        SiteSource::new(id, &host, &[&start]).paths(&[path]).pace("0s")
    };
    let docs = source("docs", "/docs/", "/docs/sitemap.xml").toml();
    let inner = source("inner", "/inner/", "/inner/").private().toml();
    crawl.configure(&format!("{more}{docs}{inner}"));
    crawl
}
