//! A run over a site is killed when it enters each of the calls that change what is on disk.

use std::collections::BTreeMap;

use super::crawl_scene::Site;
use super::scene::Refs;
use crate::support::tracer::{count, run_until, trace_with, usable};

/// Calls that name, flush or remove files, or make them.
const CALLS: &str = "?rename,?renameat,?renameat2,fsync,fdatasync,?unlink,?unlinkat,?rmdir,\
                     ?mkdir,?mkdirat,ftruncate,openat";

/// Kills of calls of one name that a test makes: of more, as many at equal distances are taken.
/// All of them are made with `PAGELOG_ALL_STEPS` set.
const MOST: usize = 8;

/// How long after the run that was killed the next one begins.
const HOUR_LATER: &str = "2026-11-30T03:00:00Z";

/// A checkpoint after nearly every answer.
const ALWAYS: &str = "[run]\ncheckpoint = \"1ms\"\n";

#[test]
fn first_crawl_killed_at_each_step() {
    at_steps("a first crawl", &Site::first_run(""), &Sweep::of_the_loop());
}

#[test]
fn later_crawl_killed_at_each_step() {
    at_steps("a later crawl", &Site::later_run(""), &Sweep::of_the_loop());
}

#[test]
fn resumed_crawl_killed_at_each_step() {
    at_steps("a resumed crawl", &Site::resumed_run(""), &Sweep::of_the_loop());
}

#[test]
fn crawl_with_checkpoints_killed_at_its_steps() {
    at_steps("a crawl with checkpoints", &Site::first_run(ALWAYS), &Sweep::of_the_loop());
}

#[test]
fn resumed_crawl_with_checkpoints_killed_at_its_steps() {
    let site = Site::resumed_run(ALWAYS);
    at_steps("a resumed crawl with checkpoints", &site, &Sweep::of_the_loop());
}

#[test]
fn crawl_killed_at_each_write_of_an_answer() {
    for (which, site) in [
        ("a first crawl", Site::first_run("")),
        ("a later crawl", Site::later_run("")),
        ("a resumed crawl", Site::resumed_run("")),
    ] {
        at_steps(which, &site, &Sweep::of_the_spool());
    }
}

/// The next run makes another pack than the one that was being named.
#[test]
fn a_pack_that_was_half_named_is_removed() {
    if !usable("killing a run while it names its pack") {
        return;
    }
    for site in [Site::first_run(""), Site::first_run(ALWAYS)] {
        for n in 1..=6 {
            let world = site.copy();
            let asked = site.crawl.hosts.count();
            run_until(&world, &site.clock, (&[], "rename", n));
            let asked = site.asked_since(asked);
            let what = format!("it was killed at rename {n}, and an hour later");
            site.check_at(HOUR_LATER, &world, (&asked, &what));
        }
    }
}

/// Which calls a run is killed at.
struct Sweep {
    /// Most kills of calls of one name.
    most: usize,
    calls: &'static str,
    /// The only file that counts, and then of all threads; where `None`, all that the thread
    /// of the loop does.
    file: Option<&'static str>,
}

impl Sweep {
    fn of_the_loop() -> Self {
        Self { most: most(), calls: CALLS, file: None }
    }

    fn of_the_spool() -> Self {
        Self { most: most().saturating_mul(2), calls: "pwrite64", file: Some("spool.sqlite-wal") }
    }
}

/// Most kills of calls of one name: a sample, or with `PAGELOG_ALL_STEPS` set all of them.
fn most() -> usize {
    if std::env::var_os("PAGELOG_ALL_STEPS").is_some() { usize::MAX } else { MOST }
}

/// Kills a run at its steps, one copy of the folder after the other.
fn at_steps(which: &str, site: &Site, sweep: &Sweep) {
    if !usable(&format!("killing {which} at its steps")) {
        return;
    }
    let options = |world: &crate::support::World| match sweep.file {
        None => Vec::new(),
        Some(file) => {
            let path = world.archive().join("pagelog").join(file);
            vec!["-f".to_owned(), "-P".to_owned(), path.display().to_string()]
        }
    };
    let traced = site.copy();
    let calls = count(&trace_with(&traced, &site.clock, (&options(&traced), sweep.calls)));
    let sampled = |(name, numbers): (&'_ String, &Vec<usize>)| -> Vec<(String, usize)> {
        let step = numbers.len().div_ceil(sweep.most).max(1);
        numbers.iter().step_by(step).map(|n| (name.clone(), *n)).collect()
    };
    let chosen: Vec<(String, usize)> = calls.iter().flat_map(sampled).collect();
    let all: usize = calls.values().map(Vec::len).sum();
    let mut kills: BTreeMap<&String, usize> = BTreeMap::new();
    let (mut before, mut after, mut missed) = (0, 0, 0);
    for (name, n) in &chosen {
        let world = site.copy();
        let asked = site.crawl.hosts.count();
        let outcome = run_until(&world, &site.clock, (&options(&world), name, *n));
        let asked = site.asked_since(asked);
        if outcome.code.is_some() {
            // How many checkpoints there are depends on the time that a run takes.
            missed += 1;
            continue;
        }
        *kills.entry(name).or_default() += 1;
        let what = format!("{which} was killed at {name} {n}");
        match site.check(&world, (&asked, &what)) {
            Refs::Old => before += 1,
            Refs::New => after += 1,
        }
    }
    println!(
        "{which}: {} kills of {all} steps ({kills:?}), {before} before the refs moved and {after} \
         after, {missed} not reached",
        before + after,
    );
    assert!(before > 0 && missed * 4 <= chosen.len(), "{which}: {before} before, {missed} missed");
    assert!(after > 0 || sweep.file.is_some(), "{which}: none after the refs moved");
}
