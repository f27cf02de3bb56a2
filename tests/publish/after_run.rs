//! Publishing at the end of a run.

use super::scene::{PUBLIC, Scene, mirror};

#[test]
fn a_run_serves_the_mirrors() {
    let tables = format!("[publish]\nafter_run = true\n{}", mirror("copy", "./copy.git"));
    let scene = Scene::before_a_run(&tables);
    scene.repository("copy.git");
    scene.world.pagelog(&["run", "--dry-run"]).ok();
    assert_eq!(scene.at("copy.git", PUBLIC), "");
    let told = scene.world.run();
    assert!(told.contains("): published 1 commits"), "{told}");
    scene.assert_mirrored("copy.git");
    let json = scene.world.pagelog_at("2026-12-01T02:00:00Z", &["run", "--json"]).exits(0);
    let run: serde_json::Value = serde_json::from_str(&json.stdout).expect("one JSON document");
    assert_eq!(run["run"], 2);
    assert!(json.stderr.contains("): published 1 commits"), "{}", json.stderr);
    scene.assert_mirrored("copy.git");
}

#[test]
fn a_mirror_that_fails_makes_a_run_done_in_part() {
    let tables = "[publish]\nafter_run = true\n".to_owned()
        + &mirror("missing", "./missing.git")
        + &mirror("copy", "./copy.git");
    let scene = Scene::before_a_run(&tables);
    scene.repository("copy.git");
    let told = scene.world.pagelog(&["run"]).exits(3);
    assert!(told.stderr.contains("error: missing: it does not exist"), "{}", told.stderr);
    scene.assert_mirrored("copy.git");

    let scene = Scene::before_a_run("[publish]\nafter_run = true\n");
    let told = scene.world.pagelog(&["run"]).exits(3);
    assert!(told.stderr.contains("the run was done, but nothing was published: no mirror"));
    assert_eq!(scene.world.commits(PUBLIC), 1);
}
