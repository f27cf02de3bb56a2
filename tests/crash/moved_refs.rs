//! Refs that somebody else moves: nothing is overwritten, and a person decides.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::scene::{LATER, begin, change, tips};
use crate::support::tracer::usable;
use crate::support::world::program;
use crate::support::{Outcome, World};

const PUBLIC: &str = "refs/heads/main";

/// A commit that no run made, on top of the public ref.
fn foreign_commit(world: &World) -> String {
    let mut command = world.other("git");
    command.current_dir(world.archive());
    command.args(["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]);
    command.args(["commit-tree", "-m", "not ours", "-p", PUBLIC, "refs/heads/main^{tree}"]);
    Outcome::from(command.output().expect("git starts")).ok().trim().to_owned()
}

#[test]
fn moved_between_runs() {
    for foreign in [false, true] {
        let (world, upstreams) = begin(6);
        world.run();
        let first = tips(&world)[0].clone().expect("a tip");
        change(&upstreams, 6);
        world.run_at("2026-11-30T12:00:00Z");
        let moved_to = if foreign { foreign_commit(&world) } else { first };
        world.git(&["update-ref", PUBLIC, &moved_to]).ok();
        let moved = tips(&world);

        let refused = world.pagelog_at(LATER, &["run"]).exits(1);
        for part in [PUBLIC, &moved_to, "git update-ref", "pagelog audit --repair"] {
            assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
        }
        assert_eq!(tips(&world), moved, "nothing is overwritten");
        let audit = world.pagelog(&["audit"]).exits(1);
        assert!(audit.stdout.contains(PUBLIC), "{}", audit.stdout);

        world.pagelog(&["audit", "--repair"]).ok();
        assert_eq!(tips(&world), moved, "the refs are accepted as they are");
        world.run_at(LATER);
        let parent = world.git(&["rev-parse", "refs/heads/main^"]).ok();
        assert_eq!(parent.trim(), moved_to);
        let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]).ok();
        assert_eq!(fsck, "");
        world.pagelog(&["audit"]).ok();
        let files = world.files(PUBLIC);
        assert!(files.iter().any(|path| path.ends_with("part6/page6.md")), "{files:?}");
    }
}

#[test]
fn put_back_after_it_was_moved() {
    let (world, _upstreams) = begin(6);
    world.run();
    let before = tips(&world);
    let foreign = foreign_commit(&world);
    world.git(&["update-ref", PUBLIC, &foreign]).ok();
    world.pagelog_at(LATER, &["run"]).exits(1);
    world.git(&["update-ref", PUBLIC, before[0].as_deref().expect("a tip")]).ok();
    world.run_at(LATER);
    assert_eq!(world.git(&["rev-list", "--count", PUBLIC]).ok(), "2\n");
    world.pagelog(&["audit"]).ok();
}

#[test]
fn moved_during_a_run() {
    if !usable("a ref moved during a run") {
        return;
    }
    let (world, upstreams) = begin(6);
    world.run();
    let before = tips(&world);
    change(&upstreams, 6);
    let foreign = foreign_commit(&world);

    // The run waits before it names its pack: the refs were read long before.
    let mut strace = world.other("strace");
    strace.args(["-qq", "-o", "/dev/null", "-e", "trace=rename"]);
    strace.args(["-e", "inject=rename:delay_enter=2000000:when=1"]);
    strace.arg(program()).args(["--clock", LATER, "run"]);
    let run = strace.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("strace starts");
    let packs = world.archive().join("objects/pack");
    let sealed = || {
        let names = std::fs::read_dir(&packs).expect("packs").flatten();
        names.map(|entry| entry.file_name()).any(|name| {
            let name = name.to_string_lossy();
            name.starts_with("tmp_pack_pagelog_") && name.ends_with(".idx")
        })
    };
    for _ in 0..1200 {
        if sealed() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    world.git(&["update-ref", PUBLIC, &foreign]).ok();

    let refused = Outcome::from(run.wait_with_output().expect("the run ends")).exits(1);
    assert!(refused.stderr.contains(&foreign), "{}", refused.stderr);
    assert_eq!(tips(&world), [Some(foreign.clone()), before[1].clone()]);
    world.pagelog_at(LATER, &["run"]).exits(1);

    // Put back, what the run made is committed; accepted, the next run makes it again.
    let [put_back, accepted] = [world.copy(), world.copy()];
    put_back.git(&["update-ref", PUBLIC, before[0].as_deref().expect("a tip")]).ok();
    put_back.run_at(LATER);
    assert_eq!(put_back.git(&["rev-list", "--count", PUBLIC]).ok(), "3\n");
    accepted.pagelog(&["audit", "--repair"]).ok();
    accepted.run_at(LATER);
    assert_eq!(accepted.git(&["rev-parse", "refs/heads/main^"]).ok().trim(), foreign);
    assert_eq!(put_back.trees(), accepted.trees());
    for world in [put_back, accepted] {
        world.pagelog(&["audit"]).ok();
    }
}
