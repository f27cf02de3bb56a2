//! Takedowns that must not begin, or have nothing to do.

use std::fs::{self, File};

use super::scene::{LATER, PUBLIC, SECRET, Scene};

#[test]
fn nothing_is_taken_down_that_is_not_there() {
    let scene = Scene::new();
    let world = &scene.world;
    let before = scene.commits(PUBLIC);
    for what in [
        &["purge", "https://elsewhere.example/"][..],
        &["purge", "no address"],
        &["purge", "https://nowhere.example/*"],
        &["purge", "--path", "docs/nothing*"],
        &["purge", "--source", "nobody"],
        &["purge", "--source", "No Source"],
        &["purge"],
    ] {
        let ended = world.pagelog_at(LATER, what).exits(2);
        assert!(!ended.stderr.is_empty(), "{what:?}");
    }
    assert_eq!(scene.commits(PUBLIC), before);
    scene.assert_whole();
}

#[test]
fn other_refs_stand_in_the_way() {
    let scene = Scene::new();
    let world = &scene.world;
    world.git(&["update-ref", "refs/tags/mine", PUBLIC]).ok();
    let ended = world.pagelog_at(LATER, &["purge", SECRET]).exits(1);
    assert!(ended.stderr.contains("refs/tags/mine"), "{}", ended.stderr);
    world.git(&["update-ref", "-d", "refs/tags/mine"]).ok();
    world.pagelog_at(LATER, &["purge", SECRET]).ok();
    scene.assert_whole();
}

#[test]
fn a_run_in_progress_is_awaited_or_left_alone() {
    let scene = Scene::new();
    let world = &scene.world;
    let path = world.archive().join("pagelog/run.lock");
    fs::write(&path, "process 4711, since yesterday\n").expect("a holder");
    let held = File::options().read(true).open(&path).expect("the lock");
    held.lock().expect("held");
    let refused = world.pagelog_at(LATER, &["purge", SECRET, "--no-stop"]).exits(4);
    assert!(refused.stderr.contains("process 4711"), "{}", refused.stderr);
    world.pagelog_at(LATER, &["purge", SECRET, "--dry-run"]).exits(4);

    let mut command = world.command(LATER);
    command.args(["purge", SECRET]).stderr(std::process::Stdio::piped());
    let mut purge = command.spawn().expect("pagelog starts");
    let politeness = world.archive().join("pagelog/politeness.sqlite");
    // It ends when the run does, and not before.
    while !is_stopped(&politeness) {
        assert!(purge.try_wait().expect("it can be asked").is_none(), "it did not wait");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(held);
    assert!(purge.wait().expect("it ends").success());
    scene.assert_whole();
}

/// Whether the run was told to ask `docs` for nothing more.
fn is_stopped(politeness: &std::path::Path) -> bool {
    let Ok(db) = rusqlite::Connection::open(politeness) else { return false };
    let sql = "SELECT count(*) FROM stop WHERE name = 'docs'";
    db.query_row(sql, [], |row| row.get::<_, i64>(0)).is_ok_and(|count| count > 0)
}
