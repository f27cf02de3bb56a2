//! Copies of an archive, and faults that an audit finds.

use std::fs;

use super::scene::Scene;
use crate::support::agree::body;

#[test]
fn a_copy_is_an_archive() {
    let scene = Scene::new();
    let world = &scene.world;
    let copied = world.pagelog(&["backup", "copies/one"]).exits(0);
    assert!(copied.stderr.starts_with("copied "), "{}", copied.stderr);
    let on_copy = |arguments: &[&str]| {
        let all = [&["--archive", "copies/one"], arguments].concat();
        world.pagelog_at("2026-12-20T02:00:00Z", &all)
    };
    assert_eq!(on_copy(&["audit"]).ok(), "audit: no faults\n");
    let copy = world.path().join("copies/one");
    for name in ["refs/heads/main", "refs/private/main"] {
        let here = world.git(&["rev-parse", name]).ok();
        assert_eq!(world.git_in(&copy, &["rev-parse", name]).ok(), here);
    }
    // A run on the copy goes on from there, without reading everything anew.
    scene.open.write("guide/a.md", "# A\n\nAfter the copy.\n").commit();
    let said = on_copy(&["run"]).exits(0).stdout;
    assert!(said.starts_with("open: 1 changed, 0 added, 0 removed, 0 same, 3 not modified"));
    assert_eq!(on_copy(&["audit"]).ok(), "audit: no faults\n");
    assert_eq!(world.commits("refs/heads/main"), 3, "the archive itself stays as it was");
    let page = on_copy(&["show", "https://open.git.invalid/guide/a.md"]).ok();
    assert_eq!(body(&page), "# A\n\nAfter the copy.\n");
    // So does the hook.
    let mirror = world.path().join("mirror.git");
    world.git_in(world.path(), &["init", "-q", "--bare", "mirror.git"]).ok();
    let mirror = mirror.display().to_string();
    let refused = world.git_in(&copy, &["push", &mirror, "refs/private/main:refs/heads/x"]);
    assert!(refused.stderr.contains("pagelog: refused to push"), "{}", refused.stderr);

    let again = world.pagelog(&["backup", "copies/one"]).exits(1);
    assert!(again.stderr.contains("it exists"), "{}", again.stderr);
    for inside in ["archive/copy", "archive/objects/pack/copy", "./archive/../archive/x/y"] {
        let refused = world.pagelog(&["backup", inside]).exits(1);
        assert!(refused.stderr.contains("inside of the archive"), "{}", refused.stderr);
        assert!(!world.path().join(inside).exists());
    }
    world.assert_whole();
}

#[test]
fn faults_are_found_and_told() {
    let scene = Scene::new();
    let world = &scene.world;
    let tip = world.git(&["rev-parse", "HEAD"]).ok();

    // A ref that something else moved.
    world.git(&["update-ref", "refs/heads/main", "HEAD~1"]).ok();
    let audit = world.pagelog(&["audit"]).exits(1);
    assert!(audit.stdout.contains("was moved by something else"), "{}", audit.stdout);
    let run = world.pagelog(&["run"]).exits(1);
    assert!(run.stderr.contains("git update-ref refs/heads/main"), "{}", run.stderr);
    world.git(&["update-ref", "refs/heads/main", tip.trim()]).ok();
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");

    // Files that do not belong there.
    fs::create_dir_all(world.archive().join("objects/info")).unwrap();
    let alternates = world.archive().join("objects/info/alternates");
    let elsewhere = world.path().join("open.git/objects");
    fs::write(&alternates, format!("{}\n", elsewhere.display())).unwrap();
    let audit = world.pagelog(&["audit"]).exits(1);
    assert!(audit.stdout.contains("borrows objects"), "{}", audit.stdout);
    fs::remove_file(alternates).unwrap();

    // A state that is gone, and one that is damaged.
    let state = world.archive().join("pagelog/state.sqlite");
    fs::remove_file(&state).unwrap();
    let audit = world.pagelog(&["audit"]).exits(1);
    assert!(audit.stdout.contains("missing"), "{}", audit.stdout);
    world.pagelog(&["audit", "--repair"]).exits(0);
    fs::write(&state, "no database").unwrap();
    world.pagelog(&["audit"]).exits(1);
    let repaired = world.pagelog(&["audit", "--repair"]).exits(0);
    assert!(repaired.stderr.contains("it is kept as"), "{}", repaired.stderr);
    let audit = world.pagelog(&["audit", "--json"]).json();
    assert_eq!(audit.as_array().map(Vec::len), Some(0));
    let run = world.pagelog_at("2026-12-20T02:00:00Z", &["run"]).exits(0);
    assert!(run.stdout.starts_with("open: 0 changed, 0 added, 0 removed"), "{}", run.stdout);
    world.assert_whole();
}

#[test]
fn damaged_objects_are_faults() {
    let scene = Scene::new();
    let world = &scene.world;
    let folder = world.archive().join("objects/pack");
    let pack = fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "pack"))
        .expect("a pack");
    let mut bytes = fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    // Packs are written read-only.
    let mut permissions = fs::metadata(&pack).unwrap().permissions();
    #[allow(clippy::permissions_set_readonly_false, reason = "the file is the test's own")]
    permissions.set_readonly(false);
    fs::set_permissions(&pack, permissions).unwrap();
    fs::write(&pack, bytes).unwrap();
    let audit = world.pagelog(&["audit"]).exits(1);
    assert!(!audit.stdout.contains("panicked") && !audit.stderr.contains("panicked"));
}
