//! A run is killed at moments drawn from a generator with a fixed seed.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::scene::{Refs, Scene};
use crate::support::World;
use crate::support::many_runs::{ManyRuns, packs};
use crate::support::numbers::Numbers;

/// How many moments each test draws; `PAGELOG_KILLS` says another number.
fn moments() -> usize {
    let said = std::env::var("PAGELOG_KILLS").ok();
    said.map_or(100, |text| text.parse().expect("PAGELOG_KILLS is a number"))
}

#[test]
fn first_run_killed_at_any_moment() {
    at_moments("a first run", &Scene::first_run(200), 1);
}

#[test]
fn second_run_killed_at_any_moment() {
    at_moments("a second run", &Scene::second_run(200), 2);
}

fn at_moments(which: &str, scene: &Scene, seed: u64) {
    let longest = longest(&|| scene.copy(), scene.clock);
    let mut draws = Numbers(seed);
    let moments = moments();
    let (mut killed, mut before, mut after) = (0, 0, 0);
    for n in 0..moments {
        let world = scene.copy();
        let delay = longest.mul_f64(draws.fraction());
        killed += usize::from(killed_after(&world, scene.clock, delay));
        match scene.check(&world, &format!("{which} was killed at moment {n}, after {delay:?}")) {
            Refs::Old => before += 1,
            Refs::New => after += 1,
        }
    }
    println!(
        "{which}: {moments} moments, {killed} kills; \
         {before} before the refs moved and {after} after or at the end"
    );
    assert!(killed > 0);
}

/// A run that upkeep follows is killed, the more often the later.
#[test]
fn upkeep_killed_at_any_moment() {
    let scene = ManyRuns::with_upkeep_due(0);
    let longest = longest(&|| scene.world.copy(), &scene.clock());
    let mut draws = Numbers(3);
    let moments = moments() / 2;
    let (mut killed, mut left) = (0, 0);
    for n in 0..moments {
        let world = scene.world.copy();
        let delay = longest.mul_f64(1.0 - draws.fraction().powi(2));
        killed += usize::from(killed_after(&world, &scene.clock(), delay));
        let what = format!("a run with upkeep was killed at moment {n}, after {delay:?}");
        let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]);
        assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{what}: {}", fsck.stderr);
        left += usize::from(world.archive().join("pagelog/upkeep").exists());
        // What was committed is not read again; what was not is.
        world.run_at(&scene.clock());
        world.assert_sound();
        scene.assert_history(&world);
        assert!(packs(&world).len() <= 8, "{what}: {:?}", packs(&world));
        assert!(!world.archive().join("pagelog/upkeep").exists(), "{what}");
    }
    println!("upkeep: {moments} moments, {killed} kills, {left} while packs were rolled up");
    assert!(killed > 0);
}

/// How long a run takes, and some more.
fn longest(copy: &dyn Fn() -> World, clock: &str) -> Duration {
    let mut lengths = [(); 3].map(|()| {
        let world = copy();
        let begun = Instant::now();
        world.run_at(clock);
        begun.elapsed()
    });
    lengths.sort_unstable();
    lengths[1].mul_f64(1.2)
}

/// Begins a run and kills it after that time; whether it was still at work.
fn killed_after(world: &World, clock: &str, delay: Duration) -> bool {
    let mut command = world.command(clock);
    command.arg("run").stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().expect("pagelog starts");
    thread::sleep(delay);
    // A run that has ended by itself cannot be killed: that is a moment, too.
    let _ = run.kill();
    run.wait().expect("it ends").code().is_none()
}
