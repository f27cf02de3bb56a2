//! Runs and what their upkeep leaves, its budget, and its end by a signal.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::readers::slow;
use crate::support::Outcome;
use crate::support::many_runs::{ManyRuns, packs};

#[test]
fn after_many_runs_packs_are_few_and_every_run_can_be_read() {
    let mut scene = ManyRuns::new("");
    for run in 1..=40 {
        let outcome = scene.run().exits(0);
        assert!(!outcome.stderr.contains("upkeep"), "run {run}: {}", outcome.stderr);
        assert!(packs(&scene.world).len() <= 8, "run {run}: {:?}", packs(&scene.world));
    }
    let world = &scene.world;
    world.assert_sound();
    world.git(&["commit-graph", "verify"]).ok();
    assert!(world.archive().join("objects/info/commit-graph").exists());
    scene.assert_history(world);
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
    let dates = world.pagelog(&["history", "https://up.git.invalid/guide/page.md"]).ok();
    assert_eq!(dates.matches("T02:00:00Z  ").count(), 40, "{dates}");
    // Versions of a page are kept as differences.
    let deltas = world.git(&["cat-file", "--batch-all-objects", "--batch-check=%(deltabase)"]).ok();
    assert!(deltas.lines().filter(|base| !base.trim_matches('0').is_empty()).count() > 60);
}

#[test]
fn switched_off_it_leaves_all_packs() {
    let mut scene = ManyRuns::new("[run]\nupkeep = \"0s\"\n");
    for _ in 0..10 {
        scene.run().exits(0);
    }
    assert!(packs(&scene.world).len() >= 10);
    let told = scene.world.pagelog(&["check"]).ok();
    assert!(told.contains("its upkeep takes      no time"), "{told}");
}

#[test]
fn a_small_archive_is_left_as_it_is() {
    let mut scene = ManyRuns::new("");
    let mut command = scene.world.command("2027-01-02T02:00:00Z");
    scene.edit();
    let said: Outcome = command.args(["-vv", "run"]).output().expect("it starts").into();
    assert!(said.exits(0).stderr.contains("upkeep: nothing is due"));
}

#[test]
fn when_its_time_is_up_the_run_is_done_and_the_next_upkeep_does_less() {
    let scene = ManyRuns::with_upkeep_due(0);
    scene.configure("[run]\nupkeep = \"1s\"\n");
    let before = packs(&scene.world);
    let outcome: Outcome = slow(&scene, 60).output().expect("it starts").into();
    let outcome = outcome.exits(0);
    assert!(!outcome.stderr.contains("warning"), "{}", outcome.stderr);
    assert!(before.iter().all(|pack| packs(&scene.world).contains(pack)));
    assert!(!scene.world.archive().join("pagelog/upkeep").exists());
    let noted = scene.world.archive().join("pagelog/upkeep-limit");
    let text = fs::read_to_string(&noted).expect("a note");
    assert!(text.ends_with(" 1\n"), "{text}");
    // With more time it is tried again.
    scene.configure("");
    scene.world.run_at(&scene.next_clock());
    assert!(packs(&scene.world).len() <= 8);
    scene.world.assert_sound();
    scene.assert_history(&scene.world);
}

#[test]
fn a_signal_ends_it_at_once_and_the_run_is_done() {
    let scene = ManyRuns::with_upkeep_due(0);
    let before = packs(&scene.world);
    let mut run = slow(&scene, 60);
    run.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = run.spawn().expect("it starts");
    for _ in 0..1200 {
        if scene.world.path().join("packing").exists() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let signal = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(signal.expect("kill starts").success());
    let ended: Outcome = run.wait_with_output().expect("it ends").into();
    let ended = ended.exits(0);
    assert!(ended.stdout.contains("docs: 1 changed"), "{}", ended.stdout);
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
    assert!(before.iter().all(|pack| packs(&scene.world).contains(pack)));
    scene.world.assert_sound();
    scene.world.run_at(&scene.next_clock());
    assert!(packs(&scene.world).len() <= 8);
    scene.assert_history(&scene.world);
}

#[test]
fn settings_that_older_archives_lack_are_added_without_a_word() {
    let mut scene = ManyRuns::new("");
    scene.run().exits(0);
    let names = ["core.commitGraph", "core.multiPackIndex", "fetch.writeCommitGraph"];
    let ask = |name: &str| scene.world.git(&["config", "--local", "--get", name]);
    for name in names {
        ask(name).ok();
        scene.world.git(&["config", "--local", "--unset-all", name]).ok();
    }
    let said = scene.world.pagelog_at(&scene.next_clock(), &["run"]).exits(0);
    assert!(!said.stderr.contains("config"), "{}", said.stderr);
    let values = names.map(|name| ask(name).ok());
    assert_eq!(values, ["true\n", "true\n", "false\n"]);
    // What somebody wants otherwise stays.
    scene.world.git(&["config", "--local", "core.commitGraph", "false"]).ok();
    scene.world.run_at(&scene.next_clock());
    assert_eq!(ask("core.commitGraph").ok(), "false\n");
}
