//! Mirrors are given the new history, and nothing but what a takedown rewrote is replaced.

use std::path::Path;

use super::scene::{LATER, PUBLIC, SECRET, Scene, assert_nowhere};
use crate::publish::scene::noise;
use crate::support::World;
use crate::support::world::git_source;

/// The scene with mirrors that have been published.
fn published(slice: &str, mirrors: &[&str]) -> Scene {
    let scene = Scene::new();
    for day in [5, 6] {
        scene.upstreams[0].write(&format!("noise{day}.md"), noise(day, 90_000)).commit();
        scene.world.run_at(&format!("2026-12-0{day}T02:00:00Z"));
    }
    let table = |name: &&str| format!("[[mirror]]\nname = \"{name}\"\nurl = \"./{name}.git\"\n");
    let mirrors_toml: String = mirrors.iter().map(table).collect();
    let sources =
        git_source("docs", "true", &["./up.git"]) + &git_source("inner", "false", &["./in.git"]);
    scene.world.configure(&format!("[publish]\nslice = \"{slice}\"\n{mirrors_toml}{sources}"));
    for name in mirrors {
        let made = ["init", "-q", "--bare", "-b", "main", &format!("{name}.git")];
        scene.world.git_in(scene.world.path(), &made).ok();
    }
    scene.world.pagelog_at(LATER, &["publish"]).ok();
    scene
}

fn at(world: &World, folder: &Path) -> String {
    world.git_in(folder, &["rev-parse", PUBLIC]).ok().trim().to_owned()
}

#[test]
fn the_new_history_replaces_the_old_one_on_each_mirror() {
    for slice in ["1GiB", "64KiB"] {
        let scene = published(slice, &["one", "two"]);
        let world = &scene.world;
        let told = world.pagelog_at(LATER, &["purge", SECRET]).ok();
        assert!(told.contains("(rewritten)"), "{slice}: {told}");
        assert_eq!(told.contains(" pushes"), slice == "64KiB", "{told}");
        for name in ["one.git", "two.git"] {
            let mirror = world.path().join(name);
            assert_eq!(at(world, &mirror), at(world, &world.archive()), "{slice}");
            // What its host does, sooner or later.
            world.git_in(&mirror, &["gc", "-q", "--prune=now"]).ok();
            assert_nowhere(world, &mirror, "open zqsecret");
            let fsck = world.git_in(&mirror, &["fsck", "--full", "--strict"]);
            assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{}", fsck.stderr);
        }
        scene.assert_whole();
    }
}

#[test]
fn no_more_is_sent_than_what_the_takedown_wrote() {
    let scene = published("1GiB", &["one"]);
    let world = &scene.world;
    let mirror = world.path().join("one.git");
    let objects = || {
        let listed =
            ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered"];
        let listed = world.git_in(&mirror, &listed).ok();
        listed.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    // What arrives is kept as it comes, in a pack of its own.
    world.git_in(&mirror, &["config", "receive.unpackLimit", "1"]).ok();
    let packs = || std::fs::read_dir(mirror.join("objects/pack")).expect("packs").count();
    let (before, count) = (objects(), packs());
    world.pagelog_at(LATER, &["purge", SECRET]).ok();
    assert!(packs() > count);
    let new: Vec<String> = objects().difference(&before).cloned().collect();
    let listed = ["rev-list", "--objects", "--no-object-names", PUBLIC];
    let reached = world.git_in(&mirror, &listed).ok();
    let lacking = reached.lines().filter(|id| !before.contains(*id)).count();
    assert_eq!(new.len(), lacking);
    let first = world.git(&["rev-list", "--max-parents=0", PUBLIC]).ok();
    let mut packed = 0;
    for entry in std::fs::read_dir(mirror.join("objects/pack")).expect("packs").flatten() {
        if entry.path().extension().is_some_and(|end| end == "idx") {
            let shown =
                world.git_in(&mirror, &["verify-pack", "-v", &entry.path().to_string_lossy()]);
            packed += usize::from(shown.ok().contains(first.trim()));
        }
    }
    assert_eq!(packed, 0, "the first commit, which stayed, was sent again");
}

#[test]
fn one_that_could_not_be_reached_is_given_it_later() {
    let scene = published("1GiB", &["one", "two"]);
    let world = &scene.world;
    let (mirror, away) = (world.path().join("two.git"), world.path().join("away"));
    std::fs::rename(&mirror, &away).expect("moved away");
    let ended = world.pagelog_at(LATER, &["purge", SECRET]).exits(3);
    assert!(ended.stderr.contains("two"), "{}", ended.stderr);
    std::fs::rename(&away, &mirror).expect("moved back");
    // And another takedown in between: what it has was rewritten twice.
    world.pagelog_at(LATER, &["purge", "https://up.git.invalid/part/b.md"]).ok();
    assert_eq!(at(world, &mirror), at(world, &world.archive()));
}

#[test]
fn what_somebody_else_pushed_stays() {
    let scene = published("1GiB", &["one"]);
    let world = &scene.world;
    let mirror = world.path().join("one.git");
    let who = ["-c", "user.name=X", "-c", "user.email=x@example.org"];
    let commit = ["commit-tree", "-p", PUBLIC, "-m", "mine", &format!("{PUBLIC}^{{tree}}")];
    let made = world.git_in(&mirror, &[&who[..], &commit[..]].concat()).ok();
    world.git_in(&mirror, &["update-ref", PUBLIC, made.trim()]).ok();
    world.pagelog_at(LATER, &["purge", SECRET]).exits(3);
    assert_eq!(at(world, &mirror), made.trim());
    scene.assert_whole();
}
