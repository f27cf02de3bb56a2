//! A run is killed at moments drawn from a generator with a fixed seed.

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use super::scene::{Refs, Scene};

/// How many moments each test draws.
const MOMENTS: usize = 100;

#[test]
fn first_run_killed_at_any_moment() {
    at_moments("a first run", &Scene::first_run(200), 1);
}

#[test]
fn second_run_killed_at_any_moment() {
    at_moments("a second run", &Scene::second_run(200), 2);
}

fn at_moments(which: &str, scene: &Scene, seed: u64) {
    let mut lengths = [(); 3].map(|()| {
        let world = scene.copy();
        let begun = Instant::now();
        world.run_at(scene.clock);
        begun.elapsed()
    });
    lengths.sort_unstable();
    let longest = lengths[1].mul_f64(1.2);
    let mut draws = Draws(seed);
    let (mut killed, mut before, mut after) = (0, 0, 0);
    for n in 0..MOMENTS {
        let world = scene.copy();
        let delay = longest.mul_f64(draws.next());
        let mut command = world.command(scene.clock);
        command.arg("run").stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().expect("pagelog starts");
        thread::sleep(delay);
        // A run that has ended by itself cannot be killed: that is a moment, too.
        let _ = run.kill();
        killed += usize::from(run.wait().expect("it ends").code().is_none());
        match scene.check(&world, &format!("{which} was killed at moment {n}, after {delay:?}")) {
            Refs::Old => before += 1,
            Refs::New => after += 1,
        }
    }
    println!(
        "{which}: {MOMENTS} moments, {killed} kills; \
         {before} before the refs moved and {after} after or at the end"
    );
    assert!(killed > 0);
}

/// A generator of fractions (splitmix64).
struct Draws(u64);

impl Draws {
    /// The next number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from((mixed >> 32) as u32) / f64::from(u32::MAX)
    }
}
