//! Runs on a disk that has too little room, at each of many fillings.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::crawl_scene::Site;
use super::scene::{Refs, Scene, answers, begin};
use crate::support::tracer::{Call, missing, trace, usable};
use crate::support::world::{copy_tree, program};
use crate::support::{Outcome, World};

/// Size of the disk.
const SIZE: &str = "size=24m,mode=700";

/// How much more room each run has than the one before, in bytes: first until one has
/// enough, then below what that one had.
const STEPS: [u64; 2] = [32 << 10, 4 << 10];

/// How long a run may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// A folder before a run that is to have too little room.
trait Crowded {
    fn copy(&self) -> World;
    fn clock(&self) -> &str;
    /// How much more room each run has, first and then.
    fn steps(&self) -> [u64; 2];
    /// Checks what the run left; then runs again with enough room.
    fn check(&self, world: &World, what: &str, make_room: &dyn Fn()) -> Refs;
}

impl Crowded for Scene {
    fn copy(&self) -> World {
        self.copy()
    }

    fn clock(&self) -> &str {
        self.clock
    }

    fn steps(&self) -> [u64; 2] {
        STEPS
    }

    fn check(&self, world: &World, what: &str, make_room: &dyn Fn()) -> Refs {
        let refs = self.check_left(world, what);
        make_room();
        self.check_next(world, what);
        refs
    }
}

/// A site, and how many requests there had been before a run.
struct CrowdedSite {
    site: Site,
    before: Cell<usize>,
}

impl CrowdedSite {
    fn new(site: Site) -> Self {
        Self { site, before: Cell::new(0) }
    }
}

impl Crowded for CrowdedSite {
    fn copy(&self) -> World {
        self.before.set(self.site.crawl.hosts.count());
        self.site.copy()
    }

    fn clock(&self) -> &str {
        &self.site.clock
    }

    fn steps(&self) -> [u64; 2] {
        STEPS.map(|step| step * 2)
    }

    fn check(&self, world: &World, what: &str, make_room: &dyn Fn()) -> Refs {
        let asked = self.site.asked_since(self.before.get());
        make_room();
        self.site.check(world, (&asked, what))
    }
}

#[test]
fn a_commit_that_cannot_be_noted_is_a_commit() {
    if !usable("a state that cannot be written after the refs moved") {
        return;
    }
    let scene = Scene::second_run(4);
    let calls = trace(&scene.copy(), scene.clock, "fsync,renameat");
    let moved = calls.iter().position(|call| call.name == "renameat").expect("the refs move");
    let flushes = |calls: &[Call]| calls.iter().filter(|call| call.name == "fsync").count();
    let noted = |call: &Call| call.name == "fsync" && call.rest.contains("state.sqlite-wal>");
    let at = moved + calls[moved..].iter().position(noted).expect("the state is flushed");

    let world = scene.copy();
    let mut strace = world.other("strace");
    let inject = format!("inject=fsync:error=ENOSPC:when={}", flushes(&calls[..=at]));
    strace.args(["-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", &inject]);
    strace.arg(program()).args(["--clock", scene.clock, "run"]);
    let outcome = Outcome::from(strace.output().expect("strace starts")).exits(0);
    assert!(outcome.stderr.contains("could not be noted"), "{}", outcome.stderr);
    assert_eq!(scene.check(&world, "a commit was not noted"), Refs::New);
}

/// Such a disk cannot be had here.
struct NoDisk;

/// A small file system in memory, unmounted with this value.
pub(super) struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // What cannot be unmounted shows when the folder cannot be removed.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn questions_are_answered_where_nothing_can_be_written() {
    let (world, _upstreams) = begin(4);
    world.run();
    let aside = world.path().join("aside");
    fs::rename(world.archive(), &aside).expect("put aside");
    let Some(disk) = Disk::mount(&world.archive()) else {
        missing(false, "a mounted tmpfs", "a file system that is read-only");
        return;
    };
    for entry in fs::read_dir(&aside).expect("a folder").flatten() {
        copy_tree(&entry.path(), &world.archive().join(entry.file_name()));
    }
    let mut remount = Command::new("mount");
    remount.args(["-o", "remount,ro"]).arg(world.archive());
    assert!(remount.status().is_ok_and(|status| status.success()));
    answers(&world);
    world.pagelog(&["audit"]).ok();
    let refused = world.pagelog(&["run"]).exits(1);
    assert!(refused.stderr.contains("read-only"), "{}", refused.stderr);
    drop(disk);
}

#[test]
fn first_run_on_a_full_disk() {
    at_each_filling("a first run on a full disk", &Scene::first_run(24));
}

#[test]
fn second_run_on_a_full_disk() {
    at_each_filling("a second run on a full disk", &Scene::second_run(24));
}

#[test]
fn first_crawl_on_a_full_disk() {
    let site = CrowdedSite::new(Site::first_run(""));
    at_each_filling("a first crawl on a full disk", &site);
}

#[test]
fn crawl_with_checkpoints_on_a_full_disk() {
    let site = CrowdedSite::new(Site::first_run("[run]\ncheckpoint = \"1ms\"\n"));
    at_each_filling("a crawl with checkpoints on a full disk", &site);
}

#[test]
fn later_crawl_on_a_full_disk() {
    let site = CrowdedSite::new(Site::later_run(""));
    at_each_filling("a later crawl on a full disk", &site);
}

fn at_each_filling(which: &str, scene: &dyn Crowded) {
    let (mut refusals, mut complete) = (BTreeMap::new(), 0);
    let mut room: u64 = 0;
    let steps = scene.steps();
    for step in steps {
        let enough = room;
        room = enough.saturating_sub(steps[0] * 2);
        loop {
            let refusal = match with_room(room, (which, scene)) {
                Ok(refusal) => refusal,
                Err(NoDisk) => return missing(false, "a small tmpfs", which),
            };
            complete += usize::from(refusal.is_none());
            // Each round goes on until a run has room: how much one needs depends on how many
            // checkpoints the time makes.
            let done = refusal.is_none() && room >= enough;
            if let Some(refusal) = refusal {
                *refusals.entry(refusal).or_insert(0) += 1;
            }
            if done {
                break;
            }
            room += step;
            assert!(room < 16 << 20, "{which} needs more and more room");
        }
    }
    let failed: usize = refusals.values().sum();
    println!("{which}: {failed} runs failed, {complete} did not");
    for (refusal, times) in &refusals {
        println!("  {times} times: {refusal}");
    }
    assert!(refusals.len() >= 3 && complete >= 2, "{which}: {complete} did not fail");
}

/// A run with so many bytes of room, and the next one with more: what the first one said
/// when it failed.
fn with_room(room: u64, (which, scene): (&str, &dyn Crowded)) -> Result<Option<String>, NoDisk> {
    let world = scene.copy();
    let (disk, filler) = filled(&world, room).ok_or(NoDisk)?;
    let what = format!("{which} with {room} bytes of room");
    let outcome = bounded(world.command(scene.clock()), &what);
    let refusal = (outcome.code != Some(0)).then(|| refusal(&what, outcome));
    assert_eq!(temporary_packs(&world), 0, "{what}");
    let make_room = || fs::remove_file(&filler).expect("room is made");
    let refs = scene.check(&world, &what, &make_room);
    assert_eq!(refs == Refs::New, refusal.is_none(), "{what}: {refusal:?}");
    drop(disk);
    let start = world.path().display().to_string();
    Ok(refusal.map(|text| text.replace(&start, "").chars().take(90).collect()))
}

/// A run that comes to its end, whatever it met: no thread waits for another one that is gone.
fn bounded(mut run: Command, what: &str) -> Outcome {
    run.arg("run").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = run.spawn().expect("pagelog starts");
    let begun = Instant::now();
    while run.try_wait().expect("a process").is_none() {
        if begun.elapsed() > PATIENCE {
            run.kill().expect("killed");
            run.wait().expect("it ends");
            panic!("{what}: it came to no end");
        }
        thread::sleep(Duration::from_millis(5));
    }
    run.wait_with_output().expect("its output").into()
}

/// Puts the archive on a disk of its own with so many bytes of room left.
pub(super) fn filled(world: &World, room: u64) -> Option<(Disk, PathBuf)> {
    let (archive, aside) = (world.archive(), world.path().join("aside"));
    let existed = archive.exists();
    if existed {
        fs::rename(&archive, &aside).expect("put aside");
    }
    let disk = Disk::mount(&archive)?;
    if existed {
        for entry in fs::read_dir(&aside).expect("a folder").flatten() {
            copy_tree(&entry.path(), &archive.join(entry.file_name()));
        }
    }
    // An archive may be made beside what is in its own folder.
    let filler = archive.join("pagelog/filler");
    fs::create_dir_all(archive.join("pagelog")).expect("a folder");
    let mut file = File::create(&filler).expect("a filler");
    let mut length = 0;
    while let Ok(written @ 1..) = file.write(&[0; 4096]) {
        length += written as u64;
    }
    file.set_len(length.saturating_sub(room)).expect("room is left");
    Some((disk, filler))
}

/// The message of a run that failed, which must say what to do.
#[track_caller]
fn refusal(what: &str, outcome: Outcome) -> String {
    let stderr = outcome.exits(1).stderr;
    let error = stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(error.contains("make room"), "{what}: {stderr}");
    error.to_owned()
}

fn temporary_packs(world: &World) -> usize {
    let Ok(folder) = fs::read_dir(world.archive().join("objects/pack")) else { return 0 };
    folder.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("tmp_")).count()
}
