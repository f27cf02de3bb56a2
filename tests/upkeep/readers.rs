//! Those who read while packs are replaced.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pagelog::archive::{Archive, Snapshot};

use crate::support::many_runs::{ManyRuns, packs};
use crate::support::tracer::missing;
use crate::support::world::program;
use crate::support::{Outcome, World};

/// Takes the place of `git`: making a pack takes its time.
const SLOW: &str = r#"
case " $* " in
*" pack-objects "*)
    touch "@FOLDER@/packing"
    sleep @SECONDS@
esac
exec git "$@"
"#;

/// Between two rounds of questions.
const PAUSE: Duration = Duration::from_millis(1);

/// A run whose upkeep takes so many seconds longer.
pub fn slow(scene: &ManyRuns, seconds: u32) -> Command {
    let script = SLOW.replace("@SECONDS@", &seconds.to_string());
    crate::support::stand_in::command(&scene.world, &scene.clock(), &script)
}

#[test]
fn a_copy_waits_for_an_upkeep_and_is_whole() {
    let scene = ManyRuns::with_upkeep_due(0);
    let world = &scene.world;
    let mut run = slow(&scene, 2);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    for _ in 0..1200 {
        if world.path().join("packing").exists() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    let copied = world.pagelog(&["backup", "copy"]).exits(0);
    assert!(copied.stderr.contains("waiting for its end"), "{}", copied.stderr);
    assert!(run.wait().expect("it ends").success());
    assert!(packs(world).len() <= 8);
    assert_eq!(world.pagelog(&["--archive", "copy", "audit"]).ok(), "audit: no faults\n");
    let copy = world.path().join("copy");
    world.git_in(&copy, &["fsck", "--full", "--strict"]).ok();
    world.git_in(&copy, &["rev-list", "--objects", "--all"]).ok();
}

#[test]
fn while_somebody_reads_all_packs_they_stay() {
    let scene = ManyRuns::with_upkeep_due(0);
    let world = &scene.world;
    let lock = world.archive().join("pagelog/upkeep.lock");
    let lock = File::options().read(true).append(true).create(true).open(lock).expect("the lock");
    lock.lock_shared().expect("shared");
    let before = packs(world);
    let said = world.pagelog_at(&scene.clock(), &["run"]).exits(0);
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
    assert!(before.iter().all(|pack| packs(world).contains(pack)));
    drop(lock);
    world.run_at(&scene.next_clock());
    assert!(packs(world).len() <= 8);
    scene.assert_history(world);
}

#[test]
fn a_reader_from_before_finds_every_object_after() {
    let scene = ManyRuns::with_upkeep_due(0);
    let world = &scene.world;
    let archive = Archive::open(&world.archive()).expect("an archive");
    let heads = archive.heads().expect("heads");
    let runs = archive.runs(heads.public).expect("runs");
    let old = Snapshot::open(&archive, heads.public).expect("a snapshot");
    let files = old.files("").expect("files");
    let packs_before = packs(world);
    world.run_at(&scene.clock());
    assert!(packs(world).len() < packs_before.len());
    for (path, id) in files {
        old.read(id).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    for run in runs {
        let snapshot = Snapshot::open(&archive, Some(run.commit)).expect("a snapshot");
        for (path, id) in snapshot.files("").expect("files") {
            snapshot.read(id).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
}

#[test]
fn questions_are_answered_and_audits_clean_while_packs_are_replaced() {
    let mut scene = ManyRuns::new("");
    scene.run().exits(0);
    let path = scene.world.path().to_owned();
    let over = AtomicBool::new(false);
    let url = "https://up.git.invalid/guide/page.md";
    let ask = |commands: &[&[&str]], pause: Duration| {
        let mut asked = 0;
        while !over.load(Ordering::Relaxed) {
            for arguments in commands {
                let mut command = Command::new(program());
                crate::support::world::isolate(&mut command, &path);
                let command = command.current_dir(&path).args(*arguments);
                let outcome: Outcome = command.output().expect("it starts").into();
                assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
                asked += 1;
            }
            thread::sleep(pause);
        }
        asked
    };
    let asked = thread::scope(|scope| {
        let audits = scope.spawn(|| ask(&[&["audit"]], Duration::from_millis(400)));
        let questions =
            scope.spawn(|| ask(&[&["history", "--diff", url], &["show", url], &["status"]], PAUSE));
        for _ in 0..30 {
            let outcome = scene.run();
            if outcome.code != Some(0) {
                over.store(true, Ordering::Relaxed);
                outcome.ok();
            }
        }
        over.store(true, Ordering::Relaxed);
        [audits.join().expect("audits"), questions.join().expect("questions")]
    });
    println!("{asked:?} questions");
    assert!(asked.iter().all(|asked| *asked > 0));
    // None was done while an audit read all packs.
    scene.run().exits(0);
    assert!(packs(&scene.world).len() <= 8);
    scene.world.assert_sound();
    scene.assert_history(&scene.world);
}

#[test]
fn an_archive_that_cannot_be_written_is_audited() {
    let mut scene = ManyRuns::new("");
    scene.run().exits(0);
    let lock = scene.world.archive().join("pagelog/upkeep.lock");
    assert!(!lock.exists() || std::fs::remove_file(&lock).is_ok());
    let world: &World = &scene.world;
    let mounted = |arguments: &[&str]| {
        let status = Command::new("mount").args(arguments).arg(world.archive()).output();
        status.is_ok_and(|output| output.status.success())
    };
    let archive = world.archive().display().to_string();
    if !mounted(&["--bind", &archive]) {
        return missing(false, "a mount", "an audit of what is read-only");
    }
    assert!(mounted(&["-o", "remount,bind,ro"]));
    let said = world.pagelog(&["audit"]);
    let copied = world.pagelog(&["backup", "copy"]);
    let unmounted = Command::new("umount").arg(world.archive()).status();
    assert!(unmounted.expect("umount starts").success());
    assert_eq!(said.ok(), "audit: no faults\n");
    copied.exits(0);
}
