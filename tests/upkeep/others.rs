//! What other people's Git does in the archive, and what of theirs is left alone.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::many_runs::{ManyRuns, packs};

#[test]
fn files_of_others_stay() {
    let scene = ManyRuns::with_upkeep_due(0);
    let world = &scene.world;
    let folder = world.archive().join("objects");
    let kept = packs(world)[3].replace(".pack", ".keep");
    let foreign = [
        format!("pack/{kept}"),
        "pack/multi-pack-index.lock".to_owned(),
        "pack/tmp_pack_AbCdEf".to_owned(),
        "info/commit-graph.lock".to_owned(),
        "info/commit-graphs/commit-graph-chain.lock".to_owned(),
        "info/commit-graphs/tmp_graph_AbCdEf".to_owned(),
    ];
    for name in &foreign {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "somebody's").expect("written");
    }
    world.run_at(&scene.clock());
    for name in &foreign {
        assert_eq!(fs::read_to_string(folder.join(name)).expect(name), "somebody's");
        fs::remove_file(folder.join(name)).expect("removed");
    }
    let left = packs(world);
    assert!(left.contains(&kept.replace(".keep", ".pack")) && left.len() <= 4, "{left:?}");
    world.assert_sound();
    scene.assert_history(world);
}

#[test]
fn an_index_over_packs_names_none_that_is_gone() {
    let scene = ManyRuns::with_upkeep_due(0);
    let world = &scene.world;
    world.git(&["multi-pack-index", "write", "--bitmap"]).ok();
    world.run_at(&scene.clock());
    assert!(packs(world).len() <= 8);
    world.assert_sound();
    scene.assert_history(world);
    // One that is current comes along into no copy.
    world.git(&["multi-pack-index", "write"]).ok();
    world.pagelog(&["backup", "copy"]).exits(0);
    let copy = world.path().join("copy/objects");
    assert!(!copy.join("pack/multi-pack-index").exists());
    assert!(!copy.join("info/commit-graph").exists());
}

#[test]
fn a_pruned_commit_is_in_no_graph() {
    let scene = ManyRuns::with_upkeep_due(0);
    let world = &scene.world;
    world.run_at(&scene.clock());
    world.git(&["update-ref", "refs/heads/main", "refs/heads/main~2"]).ok();
    world.git(&["gc", "--quiet", "--prune=now"]).ok();
    let fsck = world.git(&["fsck", "--full", "--strict"]);
    assert_eq!((fsck.code, fsck.stderr.as_str()), (Some(0), ""), "{}", fsck.stdout);
}

#[test]
fn somebodys_gc_at_the_same_time_does_no_harm() {
    let mut scene = ManyRuns::new("");
    scene.run().exits(0);
    let over = AtomicBool::new(false);
    let archive = scene.world.archive();
    let home = scene.world.path().to_owned();
    thread::scope(|scope| {
        let gc = scope.spawn(|| {
            let mut times = 0;
            while !over.load(Ordering::Relaxed) {
                let mut git = std::process::Command::new("git");
                crate::support::world::isolate(&mut git, &home);
                // It may meet a pack that has just been replaced, and fail: that is its right.
                git.current_dir(&archive).args(["repack", "-adq"]).output().expect("it starts");
                times += 1;
                thread::sleep(std::time::Duration::from_millis(300));
            }
            times
        });
        for _ in 0..30 {
            let outcome = scene.run();
            if outcome.code != Some(0) {
                over.store(true, Ordering::Relaxed);
                outcome.ok();
            }
        }
        over.store(true, Ordering::Relaxed);
        assert!(gc.join().expect("it ends") > 0);
    });
    let world = &scene.world;
    let fsck = world.git(&["fsck", "--full", "--strict", "--no-dangling"]);
    assert_eq!((fsck.code, fsck.stdout.as_str()), (Some(0), ""), "{}", fsck.stderr);
    scene.assert_history(world);
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}
