//! A run is killed when it enters each of the calls that change what is on disk.

use super::scene::{Refs, Scene};
use crate::support::tracer::{count, kill_at, trace, usable};

/// Calls that name, flush or remove files, or make them.
const CALLS: &str = "?rename,?renameat,?renameat2,fsync,fdatasync,?unlink,?unlinkat,?rmdir,\
                     ?mkdir,?mkdirat,ftruncate,openat";

#[test]
fn first_run_killed_at_each_step() {
    each_step("a first run", Scene::first_run);
}

#[test]
fn second_run_killed_at_each_step() {
    each_step("a second run", Scene::second_run);
}

#[test]
fn run_over_loose_refs_killed_at_each_step() {
    each_step("a run over loose refs", Scene::loose_refs);
}

#[test]
fn run_with_lost_state_killed_at_each_step() {
    each_step("a run with lost state", Scene::lost_state);
}

/// Kills a run at each step, one copy of the folder after the other.
fn each_step(which: &str, scene: impl FnOnce(usize) -> Scene) {
    if !usable(&format!("killing {which} at each step")) {
        return;
    }
    let scene = scene(8);
    let calls = count(&trace(&scene.copy(), scene.clock, CALLS));
    assert!(calls.contains_key("fsync") && calls.keys().any(|name| name.starts_with("rename")));
    let (mut before, mut after) = (0, 0);
    for (name, numbers) in &calls {
        for n in numbers {
            let world = scene.copy();
            kill_at(&world, scene.clock, (name, *n));
            match scene.check(&world, &format!("{which} was killed at {name} {n}")) {
                Refs::Old => before += 1,
                Refs::New => after += 1,
            }
        }
    }
    let counts: Vec<String> = calls.iter().map(|(name, n)| format!("{name} {}", n.len())).collect();
    println!(
        "{which}: {} kills ({}), {before} before the refs moved and {after} after",
        before + after,
        counts.join(", ")
    );
    assert!(before > 0 && after > 0, "{which}: {before} before, {after} after");
}
