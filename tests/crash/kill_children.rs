//! The Git processes of a run are killed, one after the other, at each of their steps.

use std::collections::BTreeMap;
use std::fs;

use super::scene::{Refs, Scene};
use crate::support::stand_in;
use crate::support::tracer::usable;
use crate::support::{Outcome, World};

/// Calls that name, flush or remove files, or make them.
const CALLS: &[&str] =
    &["rename", "renameat2", "link", "fsync", "fdatasync", "unlink", "rmdir", "mkdir"];

/// Takes the place of `git`: counts the calls, and traces each or kills one.
const STAND_IN: &str = r#"
n=$(($(cat "@FOLDER@/calls" 2>/dev/null || echo 0) + 1))
echo "$n" > "@FOLDER@/calls"
if [ -e "@FOLDER@/kill-$n" ]; then
    exec strace -f -qq -o /dev/null $(cat "@FOLDER@/kill-$n") git "$@"
elif [ -e "@FOLDER@/tracing" ]; then
    exec strace -f -qq -o "@FOLDER@/trace-$n" -e signal=none -e trace=@CALLS@ git "$@"
fi
exec git "$@"
"#;

#[test]
fn git_killed_at_each_step_of_a_first_run() {
    each_step("Git in a first run", Scene::first_run);
}

#[test]
fn git_killed_at_each_step_of_a_second_run() {
    each_step("Git in a second run", Scene::second_run);
}

fn each_step(which: &str, scene: impl FnOnce(usize) -> Scene) {
    if !usable(&format!("killing {which} at each step")) {
        return;
    }
    let scene = scene(2);
    let traced = scene.copy();
    fs::write(traced.path().join("tracing"), "").expect("written");
    run(&scene, &traced).ok();
    let mut kills = BTreeMap::new();
    let (mut codes, mut after) = (BTreeMap::new(), 0);
    for call in 1.. {
        let Ok(trace) = fs::read_to_string(traced.path().join(format!("trace-{call}"))) else {
            break;
        };
        for (name, n) in steps(&trace) {
            let world = scene.copy();
            let options = format!("-e trace={name} -e inject={name}:signal=SIGKILL:when={n}");
            fs::write(world.path().join(format!("kill-{call}")), options).expect("written");
            let outcome = run(&scene, &world);
            let what = format!("call {call} of {which} was killed at {name} {n}");
            let code = outcome.code.filter(|code| [0, 1, 3].contains(code));
            assert!(code.is_some(), "{what}: {outcome:?}");
            *codes.entry(code).or_insert(0) += 1;
            *kills.entry(name).or_insert(0) += 1;
            let refs = scene.check(&world, &what);
            assert_eq!(refs == Refs::New, code != Some(1), "{what}: {outcome:?}");
            after += usize::from(refs == Refs::New);
        }
    }
    println!("{which}: kills {kills:?}, exit codes {codes:?}, {after} of them with a commit");
    assert!(kills.values().sum::<usize>() > 10);
}

/// The steps at which one of the processes of a trace can be killed.
pub(super) fn steps(trace: &str) -> Vec<(&'static str, usize)> {
    let mut most: BTreeMap<(&str, &'static str), usize> = BTreeMap::new();
    for line in trace.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let called = call.trim_start().split('(').next().unwrap_or_default();
        if let Some(name) = CALLS.iter().find(|name| **name == called) {
            *most.entry((process, name)).or_default() += 1;
        }
    }
    let mut steps: Vec<(&'static str, usize)> =
        most.into_iter().flat_map(|((_, name), most)| (1..=most).map(move |n| (name, n))).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// A run whose `git` is the stand-in.
fn run(scene: &Scene, world: &World) -> Outcome {
    let calls = format!("?{}", CALLS.join(",?"));
    let script = STAND_IN.replace("@CALLS@", &calls);
    let mut command = stand_in::command(world, scene.clock, &script);
    command.output().expect("pagelog starts").into()
}
