//! Folders in the middle of their history, and what must hold after a run was disturbed.

use std::fmt::Write as _;
use std::fs;

use crate::support::world::{START, git_source};
use crate::support::{Outcome, Upstream, World};

/// When second runs begin.
pub const LATER: &str = "2026-12-01T02:00:00Z";

/// A folder before a run, and what that run makes of it when nothing disturbs it.
pub struct Scene {
    world: World,
    pub clock: &'static str,
    old: [Option<String>; 2],
    pub trees: [String; 2],
}

/// Whether a disturbed run had moved the refs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refs {
    Old,
    New,
}

impl Scene {
    /// Before the first run over so many public pages and half as many private ones.
    pub fn first_run(pages: usize) -> Self {
        Self::of(begin(pages).0, START)
    }

    /// Before a second run, with pages added, changed and removed since the first one.
    pub fn second_run(pages: usize) -> Self {
        let (world, upstreams) = begin(pages);
        world.run();
        change(&upstreams, pages);
        Self::of(world, LATER)
    }

    /// The same, after somebody wrote the refs as loose files, at the same commits.
    pub fn loose_refs(pages: usize) -> Self {
        let (world, upstreams) = begin(pages);
        world.run();
        change(&upstreams, pages);
        loosen(&world);
        Self::of(world, LATER)
    }

    /// The same, after the state was lost.
    pub fn lost_state(pages: usize) -> Self {
        let (world, upstreams) = begin(pages);
        world.run();
        change(&upstreams, pages);
        lose_state(&world);
        Self::of(world, LATER)
    }

    /// A folder that a run at that time is to be disturbed in.
    pub fn of(world: World, clock: &'static str) -> Self {
        let undisturbed = world.copy();
        undisturbed.run_at(clock);
        undisturbed.assert_sound();
        let trees = undisturbed.trees();
        Self { old: tips(&world), world, clock, trees }
    }

    /// A copy of the folder, to disturb a run in.
    pub fn copy(&self) -> World {
        self.world.copy()
    }

    /// Checks what a disturbed run left: nothing broken, and both refs old or both new.
    #[track_caller]
    pub fn check_left(&self, world: &World, what: &str) -> Refs {
        check_left(world, &self.old, what)
    }

    /// Runs without disturbance, and checks that it ends as if nothing had happened.
    #[track_caller]
    pub fn check_next(&self, world: &World, what: &str) {
        let Outcome { code, stdout, stderr } = world.pagelog_at(self.clock, &["run"]);
        assert_eq!(code, Some(0), "the run after {what}\n{stdout}{stderr}");
        world.assert_sound();
        world.assert_indexed();
        assert_eq!(world.trees(), self.trees, "the run after {what}");
        assert_eq!(locks(world), Vec::<String>::new(), "the run after {what}");
    }

    /// Both checks.
    #[track_caller]
    pub fn check(&self, world: &World, what: &str) -> Refs {
        let refs = self.check_left(world, what);
        self.check_next(world, what);
        refs
    }
}

/// Checks what a disturbed run left: nothing broken, and both refs old or both new.
#[track_caller]
pub fn check_left(world: &World, old: &[Option<String>; 2], what: &str) -> Refs {
    if !["HEAD", "objects", "refs"].iter().all(|name| world.archive().join(name).exists()) {
        return Refs::Old;
    }
    let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]);
    assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{what}: {}", fsck.stderr);
    let found = tips(world);
    if found == *old {
        return Refs::Old;
    }
    let moved = found.iter().zip(old).all(|(new, old)| new.is_some() && new != old);
    assert!(moved, "{what}: one ref moved without the other: {old:?} to {found:?}");
    Refs::New
}

/// A folder with a public and a private source.
pub fn begin(pages: usize) -> (World, [Upstream; 2]) {
    let sources =
        [git_source("docs", "true", &["./up.git"]), git_source("inner", "false", &["./in.git"])];
    let world = World::new(&sources.concat());
    let upstreams = [world.upstream("up"), world.upstream("in")];
    for (upstream, pages) in upstreams.iter().zip([pages, pages / 2]) {
        for n in 0..pages {
            upstream.write(&name(n), text(&upstream.path().to_string_lossy(), n, "first"));
        }
        upstream.commit();
    }
    (world, upstreams)
}

/// Adds, changes and removes pages of both upstreams.
pub fn change(upstreams: &[Upstream; 2], pages: usize) {
    for (upstream, pages) in upstreams.iter().zip([pages, pages / 2]) {
        let folder = upstream.path().to_string_lossy().into_owned();
        for n in (0..pages).step_by(3) {
            upstream.write(&name(n), text(&folder, n, "second"));
        }
        for n in pages..pages + pages.div_ceil(4) {
            upstream.write(&name(n), text(&folder, n, "new"));
        }
        upstream.remove(&name(1)).commit();
    }
}

fn name(n: usize) -> String {
    format!("part{}/page{n}.md", n % 7)
}

fn text(upstream: &str, n: usize, version: &str) -> String {
    let which = if upstream.ends_with("up.git") { "public" } else { "private" };
    let mut text = format!("# Page {n}\n\nThe {version} {which} text, see [{n}](page{n}.md).\n");
    for line in 0..12 {
        let number = (n * 31 + line * 17) % 1009;
        let _ = writeln!(text, "\n{which} paragraph {number} of {n}, {version}, line {line}.");
    }
    text
}

/// Rewrites the refs as loose files, as `git update-ref` leaves them.
pub fn loosen(world: &World) {
    let names = ["refs/heads/main", "refs/private/main"];
    let tips = tips(world).map(|tip| tip.expect("a tip"));
    fs::remove_file(world.archive().join("packed-refs")).expect("packed refs");
    for (name, tip) in names.iter().zip(&tips) {
        world.git(&["update-ref", name, tip]).ok();
    }
}

/// Removes the state.
pub fn lose_state(world: &World) {
    fs::remove_file(world.archive().join("pagelog/state.sqlite")).expect("a state");
}

/// The commits of both refs.
pub fn tips(world: &World) -> [Option<String>; 2] {
    if !world.archive().join("HEAD").exists() {
        return [None, None];
    }
    ["refs/heads/main", "refs/private/main"].map(|name| {
        let found = world.git(&["rev-parse", "--verify", "--quiet", name]);
        found.code.filter(|code| *code == 0).map(|_| found.stdout.trim().to_owned())
    })
}

/// Lock files of Git in the archive, its caches included.
pub fn locks(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.archive()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "lock")
                && !path.starts_with(world.archive().join("pagelog"))
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Commands that only read answer.
#[track_caller]
pub fn answers(world: &World) {
    let url = "https://up.git.invalid/part0/page0.md";
    world.pagelog(&["status"]).ok();
    world.pagelog(&["changes"]).ok();
    world.pagelog(&["manners"]).ok();
    assert!(world.pagelog(&["path", url]).ok().contains("part0/page0.md"));
    assert!(world.pagelog(&["history", url]).ok().contains("2026-11-30"));
    world.pagelog(&["explain", url]).ok();
    assert!(world.pagelog(&["show", url]).ok().contains("# Page 0"));
}
