//! Pushes stay below a limit, however large an archive is.

use super::scene::{PUBLIC, Scene, mirror, noise};
use crate::support::Outcome;

/// The size of a slice in these tests, which the mirror enforces.
const SLICE: &str = "65536";

/// An archive with a large first commit, and a mirror that takes small pushes alone.
pub fn large() -> Scene {
    let scene = Scene::before_a_run(&tables());
    for n in 0..60 {
        let name = format!("part{}/deep{}/page{n}.md", n % 4, n % 3);
        scene.open.write(&name, format!("# Page {n}\n\n{}", noise(n, 6000)));
    }
    scene.open.commit();
    scene.world.run();
    let copy = scene.repository("copy.git");
    scene.world.git_in(&copy, &["config", "receive.maxInputSize", SLICE]).ok();
    scene
}

fn tables() -> String {
    format!("[publish]\nslice = \"{SLICE}B\"\n{}", mirror("copy", "./copy.git"))
}

fn pushes(told: &serde_json::Value) -> u64 {
    told["mirrors"][0]["pushes"].as_u64().unwrap()
}

#[test]
fn one_large_commit_arrives_in_parts() {
    let scene = large();
    let before = scene.objects("archive");
    let told = scene.world.pagelog(&["publish", "--json"]).json();
    // More than three times what one push may hold.
    assert!(told["mirrors"][0]["bytes"].as_u64() > Some(3 * 65536), "{told}");
    assert!(pushes(&told) >= 5, "{told}");
    scene.assert_mirrored("copy.git");
    assert_eq!(scene.objects("archive"), before, "nothing enters the archive");
    assert!(!scene.world.archive().join("pagelog/publish/copy").exists());
    assert!(scene.world.pagelog(&["publish"]).ok().ends_with(": up to date\n"));
}

#[test]
fn many_commits_go_in_groups_and_large_ones_in_parts() {
    let scene = large();
    for day in 1..=6 {
        for n in 0..5 {
            let name = format!("part{n}/more{day}.md");
            scene.open.write(&name, noise(1000 + day * 10 + n, 5000));
        }
        if day == 4 {
            for n in 0..20 {
                scene.open.write(&format!("part1/deep1/big{n}.md"), noise(2000 + n, 9000));
            }
        }
        scene.open.commit();
        scene.world.run_at(&format!("2026-12-0{day}T02:00:00Z"));
    }
    let told = scene.world.pagelog(&["publish", "--json"]).json();
    assert_eq!(told["mirrors"][0]["commits"].as_u64(), Some(7));
    assert!(pushes(&told) >= 8, "{told}");
    scene.assert_mirrored("copy.git");

    scene.open.write("last.md", "# Last\n").commit();
    scene.world.run_at("2026-12-09T02:00:00Z");
    assert_eq!(pushes(&scene.world.pagelog(&["publish", "--json"]).json()), 1);
    scene.assert_mirrored("copy.git");
}

#[test]
fn what_was_packed_into_differences_still_fits() {
    let scene = large();
    for day in 1..=3 {
        for n in 0..60_u64 {
            let name = format!("part{}/deep{}/page{n}.md", n % 4, n % 3);
            scene.open.write(&name, format!("# Page {n}, {day}\n\n{}", noise(n, 6000)));
        }
        scene.open.commit();
        scene.world.run_at(&format!("2026-12-0{day}T02:00:00Z"));
    }
    scene.world.git(&["-c", "gc.auto=0", "repack", "-q", "-a", "-d", "-f"]).ok();
    scene.world.pagelog(&["publish"]).ok();
    scene.assert_mirrored("copy.git");
}

#[test]
fn without_slices_the_mirror_refuses_and_is_not_asked_twice() {
    let scene = large();
    scene.configure(&mirror("copy", "./copy.git"));
    let told: Outcome = scene.with_stand_in("real \"$@\"").arg("publish").output().unwrap().into();
    let told = told.exits(1);
    assert!(told.stderr.contains("set `slice` in [publish] to less"), "{}", told.stderr);
    assert_eq!(scene.pushes(), 1);
    assert_eq!(scene.at("copy.git", PUBLIC), "");
}

#[test]
fn what_fits_into_no_slice_is_named() {
    let scene = Scene::before_a_run(&tables());
    scene.open.write("large.md", noise(1, 300_000)).commit();
    scene.world.run();
    scene.repository("copy.git");
    let told = scene.world.pagelog(&["publish"]).exits(1);
    assert!(told.stderr.contains("large.md") && told.stderr.contains("`slice`"), "{}", told.stderr);
}

#[test]
fn an_upload_of_somebody_else_is_begun_anew() {
    let scene = large();
    let copy = scene.world.path().join("copy.git");
    let commit = [
        "-c",
        "user.name=X",
        "-c",
        "user.email=x@example.org",
        "commit-tree",
        "-m",
        "x",
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    ];
    scene.world.git_in(&copy, &["hash-object", "-t", "tree", "-w", "/dev/null"]).ok();
    let id = scene.world.git_in(&copy, &commit).ok();
    let tag = ["update-ref", "refs/tags/pagelog-upload", id.trim()];
    scene.world.git_in(&copy, &tag).ok();
    scene.world.pagelog(&["publish"]).ok();
    scene.assert_mirrored("copy.git");
    // One that was left on a mirror that has all is removed.
    scene.world.git_in(&copy, &tag).ok();
    scene.world.pagelog(&["publish"]).ok();
    scene.assert_mirrored("copy.git");
}
