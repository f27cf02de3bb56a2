//! First pushes, later ones, and pushes of nothing.

use std::fs;

use super::scene::{PRIVATE, PUBLIC, Scene, mirror, words};
use crate::support::server::Daemon;

#[test]
fn a_mirror_is_filled_and_kept_up_to_date() {
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    let world = &scene.world;
    scene.repository("copy.git");
    let planned = world.pagelog(&["publish", "--dry-run"]).ok();
    assert!(planned.contains("copy ("), "{planned}");
    assert!(planned.contains("would be given 1 commits,"), "{planned}");
    assert!(planned.contains("(first-push)"), "{planned}");
    let said = world.pagelog(&["publish"]).ok();
    assert!(said.contains("published 1 commits,") && said.contains("(first-push)"), "{said}");
    scene.assert_mirrored("copy.git");
    let to_push = || world.pagelog(&["status", "--json"]).json()["sizes"]["push_size"].as_u64();
    assert_eq!(to_push(), Some(0), "the mirror has all");

    let again = world.pagelog(&["publish"]).ok();
    assert!(again.ends_with(": up to date\n"), "{again}");

    scene.open.write("b.md", "# B\n").commit();
    scene.closed.write("t.md", words("zqother", 30)).commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert!(to_push() > Some(0), "a commit came since");
    let status = world.pagelog(&["status"]).ok();
    let line = status.lines().find(|line| line.starts_with("mirror")).unwrap();
    assert!(line.contains("published 2026-11-30T") && line.ends_with(", 1 commits since"));
    let told = world.pagelog_at("2026-12-01T03:00:00Z", &["publish", "--json"]).json();
    let of = &told["mirrors"][0];
    assert_eq!((of["mirror"].as_str(), of["result"].as_str()), (Some("copy"), Some("published")));
    assert_eq!(of["standing"], "fast-forward");
    assert_eq!(of["old"], scene.id(&format!("{PUBLIC}~1")).as_str());
    assert_eq!((of["commits"].as_u64(), of["pushes"].as_u64()), (Some(1), Some(1)));
    assert_eq!(told["public"], scene.id(PUBLIC).as_str());
    let counted = format!("{PUBLIC}~1..{PUBLIC}");
    let listed = world.git(&["rev-list", "--objects", "--no-object-names", &counted]).ok();
    assert_eq!(of["objects"].as_u64(), Some(listed.lines().count() as u64));
    let usage = world.git(&["rev-list", "--objects", "--disk-usage", &counted]).ok();
    assert_eq!(of["bytes"].to_string(), usage.trim());
    scene.assert_mirrored("copy.git");
    let status = world.pagelog(&["status", "--json"]).json();
    let of = &status["mirrors"][0];
    assert!(of["published"].as_str().unwrap().starts_with("2026-12-01T"), "{of}");
    assert_eq!((of["behind"].as_u64(), of["commit"].as_str()), (Some(0), Some(&*scene.id(PUBLIC))));
    assert!(!world.archive().join("pagelog/publish/copy").exists());
}

#[test]
fn a_dry_run_changes_nothing() {
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    scene.repository("copy.git");
    let listed = |scene: &Scene| {
        let mut find = scene.world.other("find");
        let found = find.args(["archive", "copy.git", "-printf", "%p %T@ %s\n"]).output();
        String::from_utf8(found.unwrap().stdout).unwrap()
    };
    scene.world.pagelog(&["audit"]).ok();
    let before = listed(&scene);
    scene.world.pagelog(&["publish", "--dry-run"]).ok();
    let json = scene.world.pagelog(&["publish", "--dry-run", "--json"]).json();
    assert_eq!(json["mirrors"][0]["result"], "planned");
    assert_eq!(listed(&scene), before);
    assert_eq!(scene.at("copy.git", PUBLIC), "");
}

#[test]
fn each_mirror_has_its_own_result() {
    let nobody = crate::support::server::free_port();
    let tables = mirror("gone", &format!("http://127.0.0.1:{nobody}/a.git"))
        + &mirror("missing", "./missing.git")
        + &mirror("copy", "./copy.git");
    let scene = Scene::new(&tables);
    scene.repository("copy.git");
    let told = scene.world.pagelog(&["publish"]).exits(3);
    assert!(told.stderr.contains("error: gone: it could not be reached"), "{}", told.stderr);
    assert!(told.stderr.contains("error: missing: it does not exist"), "{}", told.stderr);
    assert!(told.stdout.contains("): published 1 commits"), "{}", told.stdout);
    scene.assert_mirrored("copy.git");
    scene.world.pagelog(&["publish", "--mirror", "copy"]).ok();
    scene.world.pagelog(&["publish", "--mirror", "missing"]).exits(1);
    let both = scene.world.pagelog(&["publish", "--mirror", "copy", "missing", "--json"]).exits(3);
    let both: serde_json::Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!(both["mirrors"].as_array().unwrap().len(), 2);
    let unknown = scene.world.pagelog(&["publish", "--mirror", "other"]).exits(2);
    assert!(unknown.stderr.contains("no mirror `other`"), "{}", unknown.stderr);
}

#[test]
fn without_a_mirror_or_a_commit_nothing_is_published() {
    let scene = Scene::before_a_run("");
    scene.world.run();
    let told = scene.world.pagelog(&["publish"]).exits(2);
    assert!(told.stderr.contains("[[mirror]]"), "{}", told.stderr);
    let scene = Scene::before_a_run(&mirror("copy", "./copy.git"));
    scene.repository("copy.git");
    let told = scene.world.pagelog(&["publish"]).exits(1);
    assert!(told.stderr.contains("there is no archive"), "{}", told.stderr);
    fs::rename(scene.world.path().join("sources.toml"), scene.world.path().join("kept")).unwrap();
    scene.world.pagelog(&["init"]).ok();
    fs::rename(scene.world.path().join("kept"), scene.world.path().join("sources.toml")).unwrap();
    let told = scene.world.pagelog(&["publish"]).exits(1);
    assert!(told.stderr.contains("nothing to publish yet"), "{}", told.stderr);
}

#[test]
fn private_objects_cannot_be_had_from_a_mirror() {
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    let copy = scene.repository("copy.git");
    scene.world.pagelog(&["publish"]).ok();
    let private: Vec<String> =
        scene.reached(PRIVATE).difference(&scene.reached(PUBLIC)).cloned().collect();
    let mut addresses = vec![format!("file://{}", copy.display())];
    let daemon = Daemon::start(scene.world.path());
    addresses.extend(daemon.as_ref().map(|d| format!("git://127.0.0.1:{}/copy.git", d.port())));
    scene.repository("asks.git");
    let asks = scene.world.path().join("asks.git");
    for address in addresses {
        for id in &private {
            let asked = scene.world.git_in(&asks, &["fetch", "-q", &address, id]);
            assert_ne!(asked.code, Some(0), "{address} gave {id}");
        }
        scene.world.git_in(&asks, &["fetch", "-q", &address, PUBLIC]).ok();
    }
    scene.assert_nothing_private("asks.git");
}

#[test]
fn a_run_may_go_on_beside_it_and_another_publisher_may_not() {
    let scene = Scene::new(&mirror("copy", "./copy.git"));
    scene.repository("copy.git");
    let held = fs::File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(scene.world.archive().join("pagelog/publish.lock"))
        .unwrap();
    held.lock().unwrap();
    let told = scene.world.pagelog(&["publish"]).exits(4);
    assert!(told.stderr.contains("publish.lock"), "{}", told.stderr);
    scene.world.run_at("2026-12-01T02:00:00Z");
    drop(held);
    let run = fs::File::options().write(true).open(scene.world.archive().join("pagelog/run.lock"));
    let run = run.unwrap();
    run.lock().unwrap();
    scene.world.pagelog(&["publish"]).ok();
    drop(run);
    scene.assert_mirrored("copy.git");
}
