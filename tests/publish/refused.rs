//! What a mirror has and the archive does not is never overwritten.

use super::scene::{PUBLIC, Scene, mirror};

/// A scene whose mirror has the first of two commits.
fn half_published() -> Scene {
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    scene.repository("copy.git");
    scene.world.pagelog(&["publish"]).ok();
    scene.open.write("b.md", "# B\n").commit();
    scene.world.run_at("2026-12-01T02:00:00Z");
    scene
}

/// Puts a commit that says `text` on top of a mirror's branch; gives its id.
fn intrude(scene: &Scene, text: &str) -> String {
    let work = scene.world.path().join("intruder");
    scene.world.git_in(scene.world.path(), &["clone", "-q", "copy.git", "intruder"]).ok();
    let commit = [
        "-c",
        "user.name=X",
        "-c",
        "user.email=x@example.org",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        text,
    ];
    scene.world.git_in(&work, &commit).ok();
    scene.world.git_in(&work, &["push", "-q", "origin", "HEAD:main"]).ok();
    scene.at("intruder", "HEAD")
}

#[track_caller]
fn assert_refused(scene: &Scene, why: &str) {
    let before = scene.at("copy.git", PUBLIC);
    for arguments in [["publish", "--dry-run"].as_slice(), &["publish"]] {
        let told = scene.world.pagelog(arguments).exits(1);
        assert!(told.stderr.contains(why), "{}", told.stderr);
        assert!(told.stderr.contains("publish again"), "{}", told.stderr);
        assert!(told.stdout.ends_with(": left as it is\n"), "{}", told.stdout);
    }
    assert_eq!(scene.at("copy.git", PUBLIC), before);
}

#[test]
fn a_commit_of_somebody_else_stays() {
    let scene = half_published();
    intrude(&scene, "mine");
    assert_refused(&scene, "which is no commit of this archive");
    let json = scene.world.pagelog(&["publish", "--json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["mirrors"][0]["standing"], "foreign");
    assert_eq!(json["mirrors"][0]["result"], "refused");
}

#[test]
fn a_mirror_that_is_ahead_or_diverged_stays() {
    let scene = half_published();
    let world = &scene.world;
    world.pagelog(&["publish"]).ok();
    world.git(&["update-ref", PUBLIC, &format!("{PUBLIC}~1")]).ok();
    assert_refused(&scene, "is ahead of the archive");
    world.pagelog(&["audit", "--repair"]).ok();
    world.run_at("2026-12-02T02:00:00Z");
    assert_refused(&scene, "has diverged");
}

#[test]
fn what_is_pushed_in_between_is_not_overwritten() {
    let scene = half_published();
    let script = "git --git-dir=\"@FOLDER@/copy.git\" update-ref refs/heads/main \
                  \"$(cat \"@FOLDER@/theirs\")\"\nreal \"$@\"";
    let theirs = intrude(&scene, "meanwhile");
    let ours = scene.id(&format!("{PUBLIC}~1"));
    let copy = scene.world.path().join("copy.git");
    scene.world.git_in(&copy, &["update-ref", PUBLIC, &ours]).ok();
    scene.world.write("theirs", &theirs);
    let told: crate::support::Outcome =
        scene.with_stand_in(script).arg("publish").output().unwrap().into();
    let told = told.exits(1);
    assert!(told.stderr.contains("somebody else pushed to it meanwhile"), "{}", told.stderr);
    assert_eq!(scene.at("copy.git", PUBLIC), theirs);
    assert_eq!(scene.pushes(), 1);
}

#[test]
fn what_a_mirror_refuses_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    let hook = scene.repository("copy.git").join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho not today >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = scene.world.pagelog(&["publish"]).exits(1);
    assert!(told.stderr.contains("it refused the push"), "{}", told.stderr);
    assert!(told.stderr.contains("not today"), "{}", told.stderr);
}
