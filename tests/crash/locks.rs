//! Two runs at once, and lock files: those of killed runs and those of others.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use super::scene::{Refs, Scene, answers, begin, tips};
use crate::support::Outcome;
use crate::support::tracer::{count, kill_at, trace, usable};

#[test]
fn while_a_run_holds_the_lock_others_end_at_once_and_questions_are_answered() {
    let (world, _upstreams) = begin(4);
    world.run();
    let path = world.archive().join("pagelog/run.lock");
    fs::write(&path, "process 4711, since yesterday\n").expect("a holder");
    let held = File::options().read(true).open(&path).expect("the lock");
    held.lock().expect("held");

    let refused = world.pagelog(&["run"]).exits(4);
    assert!(refused.stderr.contains("process 4711, since yesterday"), "{}", refused.stderr);
    world.pagelog(&["audit", "--repair"]).exits(4);
    answers(&world);
    drop(held);
    world.run();
    world.assert_sound();
}

#[test]
fn of_two_runs_at_once_one_runs() {
    for scene in [Scene::first_run(12), Scene::second_run(12)] {
        for _ in 0..6 {
            let world = scene.copy();
            let start = || {
                let mut command = world.command(scene.clock);
                command.arg("run").stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().expect("pagelog starts")
            };
            let runs = [start(), start()];
            let outcomes =
                runs.map(|run| Outcome::from(run.wait_with_output().expect("a run ends")));
            let codes = outcomes.each_ref().map(|outcome| outcome.code.unwrap_or(-1));
            assert!(codes.contains(&0), "{outcomes:?}");
            assert!(codes.iter().all(|code| [0, 4].contains(code)), "{outcomes:?}");
            world.assert_sound();
            assert_eq!(world.trees(), scene.trees);
        }
    }
}

#[test]
fn locks_of_a_killed_run_are_removed_also_when_its_recovery_was_killed() {
    if !usable("removing the locks of killed runs") {
        return;
    }
    let scene = Scene::second_run(4);
    let calls = trace(&scene.copy(), scene.clock, "renameat,rename,unlink");
    let moves: Vec<usize> = count(&calls)["renameat"].clone();
    let world = scene.copy();
    let left = |name: &str| world.archive().join(name).exists();
    let last = *moves.last().expect("the refs are moved by a rename");
    kill_at(&world, scene.clock, ("renameat", last));
    assert!(left("packed-refs.lock") && left("refs/heads/main.lock"));
    assert_eq!(scene.check_left(&world, "the first kill"), Refs::Old);

    // The next run comes an hour later, and is killed where the first one was.
    let hour = Duration::from_hours(1);
    let state = rusqlite::Connection::open(world.archive().join("pagelog/state.sqlite"));
    let aged = "UPDATE run SET intent_at = intent_at - ? WHERE phase = 'intent'";
    let milliseconds = i64::try_from(hour.as_millis()).expect("an hour");
    assert_eq!(state.expect("the state").execute(aged, [milliseconds]), Ok(1));
    for name in ["packed-refs.lock", "refs/heads/main.lock", "refs/private/main.lock"] {
        let lock = File::options().write(true).open(world.archive().join(name)).expect("a lock");
        lock.set_modified(SystemTime::now() - hour).expect("aged");
    }
    kill_at(&world, scene.clock, ("renameat", 1));
    assert!(left("packed-refs.lock"));
    scene.check(&world, "the second kill");
}

#[test]
fn locks_of_others_are_left_alone() {
    for name in ["packed-refs.lock", "refs/heads/main.lock"] {
        let (world, upstreams) = begin(4);
        world.run();
        let before = tips(&world);
        super::scene::change(&upstreams, 4);
        let scene = Scene::of(world.copy(), super::scene::LATER);
        let lock = world.archive().join(name);
        fs::create_dir_all(lock.parent().expect("a folder")).expect("made");
        fs::write(&lock, "").expect("a lock");

        let begun = Instant::now();
        // Twice: the run after one that met the lock must not take it for its own.
        for _ in 0..2 {
            let refused = world.pagelog_at(scene.clock, &["run"]).exits(1);
            let path = lock.display().to_string();
            assert!(refused.stderr.contains(&path), "{name}: {}", refused.stderr);
            assert!(lock.exists(), "{name}");
            assert_eq!(tips(&world), before, "{name}");
        }
        assert!(begun.elapsed() < Duration::from_mins(2), "{name}: it hangs");

        // What was kept is committed by the next run, before it reads anything.
        fs::remove_file(&lock).expect("the lock");
        scene.check_next(&world, name);
        assert_eq!(world.git(&["rev-list", "--count", "refs/heads/main"]).ok(), "3\n");
    }
}

#[test]
fn temporary_packs_are_no_fault_while_a_run_works() {
    let (world, _upstreams) = begin(4);
    world.run();
    let pack = world.archive().join("objects/pack/tmp_pack_pagelog_4711");
    fs::write(&pack, "PACK").expect("a temporary pack");
    let lock = world.archive().join("pagelog/run.lock");
    let held = File::options().read(true).open(&lock).expect("the lock");
    held.lock().expect("held");
    world.pagelog(&["audit"]).exits(0);
    drop(held);
    let told = world.pagelog(&["audit"]).exits(1);
    assert!(told.stdout.contains("left by a run that was killed"), "{}", told.stdout);
    world.run();
    assert!(!pack.exists());
    world.pagelog(&["audit"]).exits(0);
}

#[test]
fn packs_are_kept_until_the_refs_have_moved_and_no_longer() {
    let (world, _upstreams) = begin(4);
    world.run();
    let packs = world.archive().join("objects/pack");
    let keeps = || {
        let entries = fs::read_dir(&packs).expect("packs").flatten();
        entries.filter(|e| e.path().extension().is_some_and(|x| x == "keep")).count()
    };
    assert_eq!(keeps(), 0, "a run that is over keeps nothing");
    // One that a killed run left, and one of somebody else.
    fs::write(packs.join("pack-a.keep"), "pagelog: kept until the refs have moved\n")
        .expect("ours");
    fs::write(packs.join("pack-b.keep"), "").expect("another's");
    world.run();
    assert_eq!(keeps(), 1);
    assert!(packs.join("pack-b.keep").exists());
}
