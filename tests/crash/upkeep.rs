//! Upkeep is killed, its Git too, and runs out of room: the run stays done, every object stays
//! there, and the next run's upkeep goes on.

use std::collections::BTreeMap;
use std::fs;

use super::disk::filled;
use super::kill_children::steps;
use crate::support::many_runs::{ManyRuns, names, packs};
use crate::support::stand_in;
use crate::support::tracer::{count, kill_at, missing, trace, usable};
use crate::support::{Outcome, World};

/// Calls that name, flush or remove files, or make them.
const CALLS: &str = "?rename,?renameat,?renameat2,fsync,fdatasync,?unlink,?unlinkat,?rmdir,\
                     ?mkdir,?mkdirat,ftruncate,openat";

/// Those that a call of Git is killed at.
const OF_GIT: &str = "?rename,?renameat2,?link,?fsync,?fdatasync,?unlink,?rmdir,?mkdir";

/// Takes the place of `git`: traces its calls that make packs and graphs, or kills one of them.
const STAND_IN: &str = r#"
case " $* " in
*" pack-objects "*) which=pack ;;
*" commit-graph "*) which=graph ;;
*) exec git "$@" ;;
esac
if [ -e "@FOLDER@/kill-$which" ]; then
    exec strace -f -qq -o /dev/null $(cat "@FOLDER@/kill-$which") git "$@"
fi
exec strace -f -qq -o "@FOLDER@/trace-$which" -e signal=none -e trace=@CALLS@ git "$@"
"#;

/// Checks what a disturbed upkeep left, and that the next run's is done.
#[track_caller]
fn check(scene: &ManyRuns, world: &World, what: &str) {
    let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]);
    assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{what}: {}", fsck.stderr);
    scene.assert_history(world);
    let Outcome { code, stderr, .. } = world.pagelog_at(&scene.next_clock(), &["run"]);
    assert_eq!(code, Some(0), "the run after {what}: {stderr}");
    assert!(!stderr.contains("warning"), "the run after {what}: {stderr}");
    assert!(packs(world).len() <= 8, "the run after {what}: {:?}", packs(world));
    assert_clean(world, what);
    scene.assert_history(world);
    world.pagelog(&["audit"]).ok();
}

#[track_caller]
fn assert_clean(world: &World, what: &str) {
    world.assert_sound();
    assert!(!world.archive().join("pagelog/upkeep").exists(), "{what}");
    assert_eq!(
        names(&world.archive().join("objects/pack"), ".keep"),
        Vec::<String>::new(),
        "{what}"
    );
}

#[test]
fn upkeep_killed_at_each_step() {
    if !usable("killing upkeep at each step") {
        return;
    }
    let scene = ManyRuns::with_upkeep_due(0);
    let traced = scene.world.copy();
    let calls = trace(&traced, &scene.clock(), CALLS);
    assert!(packs(&traced).len() < 8, "no upkeep: {:?}", packs(&traced));
    let moved = calls.iter().position(|call| call.name == "renameat").expect("the refs move");
    let before = count(&calls[..=moved]);
    let mut kills = BTreeMap::new();
    for (name, numbers) in count(&calls) {
        let done = before.get(&name).and_then(|done| done.last()).copied().unwrap_or(0);
        for n in numbers.into_iter().filter(|n| *n > done) {
            let world = scene.world.copy();
            kill_at(&world, &scene.clock(), (&name, n));
            check(&scene, &world, &format!("it was killed at {name} {n}"));
            *kills.entry(name.clone()).or_insert(0) += 1;
        }
    }
    println!("kills after the refs moved: {kills:?}");
    assert!(kills.values().sum::<usize>() > 30, "{kills:?}");
}

#[test]
fn git_killed_at_each_step_of_upkeep() {
    if !usable("killing Git at each step of upkeep") {
        return;
    }
    let scene = ManyRuns::with_upkeep_due(0);
    let script = STAND_IN.replace("@CALLS@", OF_GIT);
    let run = |world: &World| -> Outcome {
        let mut command = stand_in::command(world, &scene.clock(), &script);
        command.output().expect("pagelog starts").into()
    };
    let traced = scene.world.copy();
    run(&traced).ok();
    let mut kills = 0;
    for which in ["pack", "graph"] {
        let trace = fs::read_to_string(traced.path().join(format!("trace-{which}")));
        for (name, n) in steps(&trace.expect("a trace")) {
            let world = scene.world.copy();
            let options = format!("-e trace={name} -e inject={name}:signal=SIGKILL:when={n}");
            fs::write(world.path().join(format!("kill-{which}")), options).expect("written");
            let what = format!("git was killed at {name} {n} of the {which}");
            let outcome = run(&world);
            assert_eq!(outcome.code, Some(0), "{what}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("upkeep failed"), "{what}: {}", outcome.stderr);
            assert_clean(&world, &what);
            check(&scene, &world, &what);
            kills += 1;
        }
    }
    assert!(kills > 6, "{kills}");
}

#[test]
fn upkeep_on_a_full_disk_fails_and_the_run_does_not() {
    let scene = ManyRuns::with_upkeep_due(300_000);
    for room in [1_200_000, 1_600_000, 2_000_000] {
        let world = scene.world.copy();
        let Some((disk, filler)) = filled(&world, room) else {
            return missing(false, "a small tmpfs", "upkeep on a full disk");
        };
        let what = format!("{room} bytes of room");
        let before = packs(&world);
        let outcome = world.pagelog_at(&scene.clock(), &["run"]).exits(0);
        assert!(outcome.stderr.contains("upkeep failed"), "{what}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("make room"), "{what}: {}", outcome.stderr);
        assert!(outcome.stdout.contains("docs: 1 changed"), "{what}: {}", outcome.stdout);
        assert!(before.iter().all(|pack| packs(&world).contains(pack)), "{what}");
        assert_clean(&world, &what);
        fs::remove_file(&filler).expect("room is made");
        check(&scene, &world, &what);
        drop(disk);
    }
}
