//! Whole outputs of commands that succeed.

use insta::assert_snapshot;

use super::scene::{Scene, stable};

#[test]
fn run() {
    let scene = Scene::new();
    scene.open.write("guide/a.md", "# A\n\nAgain.\n").commit();
    let ended = scene.world.pagelog_at("2026-12-09T02:00:00Z", &["run"]).exits(0);
    assert_snapshot!("run", stable(&scene.world, &ended.stdout));
    assert_snapshot!("run_stderr", stable(&scene.world, &ended.stderr));
    let ended = scene.world.pagelog_at("2026-12-10T02:00:00Z", &["run", "--json"]).exits(0);
    assert_snapshot!("run_json", stable(&scene.world, &ended.stdout));
    let quiet = scene.world.pagelog_at("2026-12-11T02:00:00Z", &["run", "-q"]).exits(0);
    assert_eq!(quiet.stderr, "");
    let none = scene.world.pagelog_at("2026-12-11T03:00:00Z", &["run", "open", "--due"]).exits(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "nothing is due\n"));
}

#[test]
fn check() {
    let scene = Scene::new();
    assert_snapshot!("check", scene.told(&["check"]));
    assert_snapshot!("check_json", scene.told(&["check", "--json"]));
}

#[test]
fn status() {
    let scene = Scene::new();
    assert_snapshot!("status", scene.told(&["status"]));
    assert_snapshot!("status_json", scene.told(&["status", "--json"]));
}

#[test]
fn changes() {
    let scene = Scene::new();
    assert_snapshot!("changes_last", scene.told(&["changes"]));
    assert_snapshot!("changes_of", scene.told(&["changes", "HEAD~1"]));
    assert_snapshot!("changes_range", scene.told(&["changes", "HEAD~2..HEAD"]));
    assert_snapshot!("changes_json", scene.told(&["changes", "HEAD~1", "--json"]));
    let first = scene.told(&["changes", "HEAD~2"]);
    assert!(first.ends_with("4 added, 0 edited, 0 moved, 0 removed\n"), "{first}");
    let private = scene.told(&["changes", "private"]);
    assert!(private.starts_with("edited  https://closed.git.invalid/s.md"), "{private}");
}

#[test]
fn links() {
    let scene = Scene::new();
    assert_snapshot!("links", scene.told(&["links"]));
    assert_snapshot!("links_json", scene.told(&["links", "--json"]));
    assert_snapshot!("links_then", scene.told(&["links", "--at", "2026-11-30"]));
    assert_eq!(scene.told(&["links", "closed"]), "from\tto\ttext\trel\n");
}

#[test]
fn audit() {
    let scene = Scene::new();
    assert_eq!(scene.told(&["audit"]), "audit: no faults\n");
    assert_eq!(scene.told(&["audit", "--json"]), "[]\n");
    let repaired = scene.world.pagelog(&["audit", "--repair"]).exits(0);
    assert_eq!(repaired.stderr, "nothing to repair\n");
    assert_eq!(repaired.stdout, "audit: no faults\n");
}

#[test]
fn show() {
    let scene = Scene::new();
    assert_snapshot!("show", scene.told(&["show", "https://open.git.invalid/guide/a.md"]));
    let private = scene.told(&["show", "https://closed.git.invalid/s.md"]);
    assert!(private.ends_with("# Secret\n\nEdited.\n"), "{private}");
}
