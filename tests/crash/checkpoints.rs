//! Checkpoints of a crawl: what they keep, and until when.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::crawl_scene::{Site, assert_tidy, kept_packs};
use crate::support::Outcome;
use crate::support::contents::Contents;

/// How long a run may take to come to something.
const PATIENCE: Duration = Duration::from_mins(2);

/// A run over the site with slow answers and this interval, killed when it has made so many
/// packs, and what it had asked for.
fn killed_after(packs: usize, site: &Site, world: &crate::support::World) -> Vec<String> {
    let before = site.crawl.hosts.count();
    let mut run = world.command(&site.clock);
    run.arg("run").stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().expect("pagelog starts");
    let begun = Instant::now();
    while !world.archive().join("objects/pack").exists() || kept_packs(world).len() < packs {
        assert!(begun.elapsed() < PATIENCE, "no {packs} checkpoints");
        assert!(run.try_wait().expect("a process").is_none(), "it ended before {packs} packs");
        thread::sleep(Duration::from_millis(5));
    }
    run.kill().expect("a run at work");
    run.wait().expect("it ends");
    let asked = site.asked_since(before);
    let kept = kept_packs(world).len();
    assert!(kept >= packs, "{kept} packs are kept");
    site.check(world, (&asked, &format!("it was killed after {kept} checkpoints")));
    asked.iter().map(|exchange| exchange.target.clone()).collect()
}

#[test]
fn packs_of_checkpoints_are_kept_until_the_refs_have_moved() {
    let site = Site::slow_run("[run]\ncheckpoint = \"200ms\"\n", Duration::from_millis(120));
    for packs in 1..=3 {
        let world = site.copy();
        let asked = killed_after(packs, &site, &world);
        assert!(asked.len() > packs, "{asked:?}");
        assert_tidy(&world, "after checkpoints");
    }
}

#[test]
fn a_run_without_time_for_a_checkpoint_makes_none() {
    let site = Site::first_run("[run]\ncheckpoint = \"1h\"\n");
    let world = site.copy();
    let told = world.pagelog_at(&site.clock, &["-v", "run"]).exits(0).stderr;
    assert!(!told.contains("a checkpoint is on disk"), "{told}");
}

/// What checkpoints wrote is one pack at the end, which Git accepts.
#[test]
fn packs_of_checkpoints_are_folded_together() {
    let site = Site::slow_run("[run]\ncheckpoint = \"100ms\"\n", Duration::from_millis(40));
    let world = site.copy();
    let told = world.pagelog_at(&site.clock, &["-v", "run"]).exits(0).stderr;
    let checkpoints = told.matches("a checkpoint is on disk").count();
    assert!(checkpoints > 1, "{told}");
    let count = world.git(&["count-objects", "-v"]).ok();
    assert!(count.contains("packs: 1\n") && count.contains("garbage: 0\n"), "{count}");
    let packs = std::fs::read_dir(world.archive().join("objects/pack")).expect("a folder");
    let paths: Vec<_> = packs.flatten().map(|entry| entry.path()).collect();
    let of_kind = |ending: &str| {
        paths.iter().filter(|path| path.extension().is_some_and(|it| it == ending)).count()
    };
    assert_eq!((of_kind("pack"), of_kind("idx"), of_kind("keep")), (1, 1, 0), "{paths:?}");
    world.assert_sound();
}

/// The interval belongs to no run: another one goes on where the first was left.
#[test]
fn another_interval_is_no_other_run() {
    let often = "[run]\ncheckpoint = \"100ms\"\n";
    let site = Site::slow_run(often, Duration::from_millis(60));
    let world = site.copy();
    let mut run = world.command(&site.clock);
    run.arg("run").stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().expect("pagelog starts");
    let begun = Instant::now();
    while site.crawl.hosts.exchanges().iter().filter(|it| it.target == "/docs/p3").count() < 2 {
        assert!(begun.elapsed() < PATIENCE, "it comes to nothing");
        thread::sleep(Duration::from_millis(5));
    }
    run.kill().expect("a run at work");
    run.wait().expect("it ends");
    let text = std::fs::read_to_string(world.path().join("sources.toml")).expect("read");
    world.write("sources.toml", &text.replace("100ms", "1h"));
    let next: Outcome = world.pagelog_at(&site.clock, &["run"]).exits(0);
    assert!(next.stderr.contains("going on with the run of"), "{}", next.stderr);
    site.expected.assert_same(&Contents::of(&world), "another interval");
    assert_tidy(&world, "another interval");
}
