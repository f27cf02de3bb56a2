//! A takedown is killed when it enters each of the calls that change what is on disk; the next
//! run, or the same takedown again, does what is left.

use super::scene::{LATER, PUBLIC, SECRET, Scene, assert_nowhere, assert_whole};
use crate::support::tracer::{count, trace_command, until, usable};

/// Calls that name, flush or remove files, or make them.
const CALLS: &str = "?rename,?renameat,?renameat2,fsync,fdatasync,?unlink,?unlinkat,?rmdir,\
                     ?mkdir,?mkdirat,ftruncate";

/// Most kills of calls of one name: a sample, or with `PAGELOG_ALL_STEPS` set all of them.
fn most() -> usize {
    if std::env::var_os("PAGELOG_ALL_STEPS").is_some() { usize::MAX } else { 8 }
}

const PURGE: &[&str] = &["purge", SECRET];

#[test]
fn a_takedown_killed_at_each_step_is_done_or_not_begun() {
    if !usable("killing a takedown at each step") {
        return;
    }
    let scene = Scene::new();
    let copy = scene.world.copy();
    let calls = count(&trace_command(&copy, LATER, (&[], CALLS), PURGE));
    let expected = copy.trees();
    let (mut begun, mut done) = (0, 0);
    for (name, numbers) in &calls {
        let step = numbers.len().div_ceil(most()).max(1);
        for n in numbers.iter().step_by(step) {
            let what = format!("killed at {name} {n}");
            let world = scene.world.copy();
            let killed = until(&world, LATER, (&[], name, *n), PURGE);
            assert_eq!(killed.code, None, "{what}: {killed:?}");
            let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]);
            assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{what}: {}", fsck.stderr);
            let has = world
                .files(PUBLIC)
                .iter()
                .any(|path| path.contains("docs/up.git.invalid/part/secret"));
            if has {
                begun += 1;
                world.pagelog_at(LATER, PURGE).ok();
            } else {
                done += 1;
                world.pagelog_at(LATER, &["run"]).ok();
            }
            assert_nowhere(&world, &world.archive(), "open zqsecret");
            assert_whole(&world);
            assert!(!world.archive().join("pagelog/pruning").exists(), "{what}");
            if has {
                assert_eq!(world.trees(), expected, "{what}");
            }
        }
    }
    println!("{begun} kills before the refs moved, {done} after");
    assert!(begun > 0 && done > 0, "{begun} {done}");
}
