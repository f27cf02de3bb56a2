//! A state that is lost, damaged or of another version: the pages are the truth.

use std::fs::{self, File};
use std::path::PathBuf;

use super::scene::{LATER, Refs, Scene, answers, begin, change};
use crate::support::World;

/// Something that damages the state of a folder.
type Damage<'a> = &'a dyn Fn(&World);

/// A folder before its third run, whose state is about to be damaged.
fn scene() -> Scene {
    let (world, upstreams) = begin(12);
    world.run_at("2026-11-30T02:00:00Z");
    change(&upstreams, 12);
    world.run_at("2026-11-30T12:00:00Z");
    upstreams[0].write("part2/added.md", "# Added\n").commit();
    Scene::of(world, LATER)
}

fn state(world: &World) -> PathBuf {
    world.archive().join("pagelog/state.sqlite")
}

/// Checks what the program still knows after its state was made anew.
fn check(scene: &Scene, world: &World, what: &str) {
    scene.check_next(world, what);
    answers(world);
    assert_eq!(world.git(&["rev-list", "--count", "refs/heads/main"]).ok(), "3\n");
    let runs = world.pagelog(&["status", "--json"]).json();
    assert!(runs.to_string().contains("2026-12-01"), "{what}: {runs}");
    let page = world.file("refs/heads/main", "pages/docs/up.git.invalid/part2/page2.md");
    assert!(page.contains("retrieved: 2026-11-30T02:00:0"), "{what}: {page}");
    world.pagelog(&["audit"]).ok();
}

#[test]
fn lost() {
    let scene = scene();
    let world = scene.copy();
    fs::remove_file(state(&world)).expect("a state");
    answers(&world);
    check(&scene, &world, "the state was lost");
}

#[test]
fn damaged() {
    let scene = scene();
    let size = fs::metadata(state(&scene.copy())).expect("a state").len();
    let garbage = vec![0xa5; usize::try_from(size).expect("a small file")];
    let whole = |world: &World| fs::write(state(world), &garbage).expect("written");
    let middle = |world: &World| {
        let mut bytes = fs::read(state(world)).expect("a state");
        let half = bytes.len() / 2;
        bytes[4096..half].fill(0xa5);
        fs::write(state(world), bytes).expect("written");
    };
    let shorter = |length: u64| {
        move |world: &World| {
            let file = File::options().write(true).open(state(world)).expect("a state");
            file.set_len(length).expect("truncated");
        }
    };
    let damages: [(&str, Damage<'_>); 5] = [
        ("overwritten", &whole),
        ("overwritten in the middle", &middle),
        ("cut in half", &shorter(size / 2)),
        ("cut to one page", &shorter(4096)),
        ("cut within its header", &shorter(40)),
    ];
    for (what, damage) in damages {
        let world = scene.copy();
        damage(&world);
        let audit = world.pagelog(&["audit"]);
        assert_eq!(audit.code, Some(1), "{what}");
        assert!(audit.stdout.contains("state.sqlite"), "{what}: {}", audit.stdout);

        let warned = world.pagelog_at(scene.clock, &["run"]).exits(0).stderr;
        assert!(warned.contains("the state was damaged; it is kept as "), "{what}: {warned}");
        let kept = fs::read_dir(world.archive().join("pagelog")).expect("a folder").flatten();
        let kept = kept.filter(|e| e.file_name().to_string_lossy().contains("damaged-")).count();
        assert!(kept >= 1, "{what}");
        assert_eq!(world.trees(), scene.trees, "{what}");

        let repaired = scene.copy();
        damage(&repaired);
        repaired.pagelog(&["audit", "--repair"]).ok();
        check(&scene, &repaired, what);
    }
}

#[test]
fn emptied() {
    let scene = scene();
    let world = scene.copy();
    File::create(state(&world)).expect("emptied");
    check(&scene, &world, "the state was emptied");
}

#[test]
fn of_a_newer_version() {
    let scene = scene();
    let world = scene.copy();
    let newer = rusqlite::Connection::open(state(&world)).expect("a state");
    newer.pragma_update(None, "user_version", 99).expect("a version");
    drop(newer);
    for command in ["run", "status"] {
        let refused = world.pagelog_at(scene.clock, &[command]).exits(1).stderr;
        assert!(refused.contains("is of version 99"), "{command}: {refused}");
    }
    assert_eq!(scene.check_left(&world, "a newer state"), Refs::Old);
}
