//! How the program ends: exit codes, closed pipes, quiet and loud.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::scene::Scene;
use crate::support::world::{START, git_source};
use crate::support::{Outcome, World};

#[test]
fn exit_codes() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    // 1: failed and nothing was committed.
    world.write("archive/stray.txt", "in the way\n");
    world.pagelog(&["run"]).exits(1);
    std::fs::remove_dir_all(world.archive()).unwrap();
    // 0: done.
    world.pagelog(&["run"]).exits(0);
    world.pagelog(&["--help"]).exits(0);
    world.pagelog(&["--version"]).exits(0);
    world.pagelog(&["run", "--help"]).exits(0);
    // 2: bad usage or configuration.
    for arguments in [
        ["nonsense"].as_slice(),
        &[],
        &["run", "--nonsense"],
        &["run", "--budget"],
        &["run", "nobody"],
        &["--clock", "noon", "run"],
        &["--color", "blue", "run"],
        &["--connect-to", "nowhere", "run"],
        &["--config", "missing.toml", "run"],
        &["history", "x", "--json", "--diff"],
        &["completions", "tcl"],
    ] {
        let ended = world.pagelog(arguments).exits(2);
        assert!(!ended.stderr.is_empty() && ended.stdout.is_empty(), "{arguments:?}");
    }
    // 3: done in part.
    std::fs::rename(up.path(), world.path().join("away")).unwrap();
    world.pagelog(&["run"]).exits(3);
    std::fs::rename(world.path().join("away"), up.path()).unwrap();
    // 4: another run holds the lock.
    let lock = File::options().write(true).open(world.archive().join("pagelog/run.lock")).unwrap();
    lock.lock().unwrap();
    let commits = world.commits("refs/heads/main");
    for command in [["run"].as_slice(), &["run", "--dry-run"], &["audit", "--repair"]] {
        let ended = world.pagelog(command).exits(4);
        assert!(ended.stderr.contains("another run holds the lock"), "{}", ended.stderr);
    }
    // Questions and copies need no lock.
    for command in [["status"].as_slice(), &["changes"], &["links"], &["audit"], &["backup", "b"]] {
        world.pagelog(command).exits(0);
    }
    drop(lock);
    assert_eq!(world.commits("refs/heads/main"), commits);
    world.run_at("2026-12-02T02:00:00Z");
    world.assert_whole();
}

#[test]
fn readers_may_leave() {
    let world = World::new(&git_source("docs", "true", &["./up.git"]));
    let up = world.upstream("up");
    let links = (0..3000)
        .map(|n| format!("[l{n}](https://example.org/{n})\n"))
        .collect::<Vec<_>>()
        .concat();
    for number in 0..30 {
        up.write(&format!("{number}.md"), format!("# {number}\n\n{links}"));
    }
    up.commit();
    world.run();
    // Far more than a pipe holds, of which one line is read.
    for arguments in [["links"].as_slice(), &["links", "--json"], &["run", "--json"]] {
        let mut child = world
            .command("2026-12-01T02:00:00Z")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        drop(reader);
        let ended: Outcome = child.wait_with_output().unwrap().into();
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
    world.assert_whole();
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_closed_or_full() {
    let scene = Scene::new();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let ended: Outcome =
        scene.world.command(START).arg("status").stdout(full()).output().unwrap().into();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("cannot write to standard output"), "{}", ended.stderr);
    // A run whose report cannot be printed has committed, and says that it was not all done.
    let mut run = scene.world.command("2026-12-08T02:00:00Z");
    let ended: Outcome = run.arg("run").stdout(full()).output().unwrap().into();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("the run was done, but cannot write"), "{}", ended.stderr);
    assert_eq!(scene.world.commits("refs/heads/main"), 4);
    // A run whose report goes nowhere has committed all the same.
    scene.open.write("guide/a.md", "# A\n\nLast.\n").commit();
    let reader = Stdio::piped();
    let mut child = scene
        .world
        .command("2026-12-09T02:00:00Z")
        .arg("run")
        .stdout(reader)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(scene.world.commits("refs/heads/main"), 5);
    scene.world.assert_whole();
}

#[test]
fn quiet_loud_and_coloured() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    let quiet = world.pagelog(&["-q", "run"]).exits(0);
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.starts_with("docs: "), "data is printed all the same");
    up.write("a.md", "# B\n").commit();
    let loud = world.pagelog_at("2026-12-01T02:00:00Z", &["-vv", "run"]).exits(0);
    assert!(!loud.stderr.contains('\u{1b}'), "{}", loud.stderr);
    let url = "https://up.git.invalid/a.md";
    let plain = world.pagelog(&["history", url, "--diff"]).ok();
    assert!(!plain.contains('\u{1b}'), "{plain}");
    let coloured = world.pagelog(&["--color", "always", "history", url, "--diff"]).ok();
    assert!(coloured.contains("\u{1b}[32m+# B\u{1b}[m\n"), "{coloured}");
    let never = world.pagelog(&["--color", "never", "history", url, "--diff"]).ok();
    assert_eq!(never, plain);
    std::fs::remove_dir_all(up.path()).unwrap();
    let json = world.pagelog_at("2026-12-02T02:00:00Z", &["--log-format", "json", "run"]).exits(3);
    for line in json.stderr.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        assert!(value["level"].is_string(), "{line}");
    }
    assert!(json.stderr.contains("gone or closed"), "{}", json.stderr);
}

#[test]
fn completions_and_man_pages() {
    let world = World::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = world.pagelog(&["completions", shell]).ok();
        for command in ["run", "history", "completions", "backup"] {
            assert!(text.contains(command), "{shell} knows no {command}");
        }
    }
    world.pagelog(&["man", "share/man"]).exits(0);
    for name in ["pagelog.1", "pagelog-run.1", "pagelog-history.1", "pagelog-backup.1"] {
        let text = std::fs::read_to_string(world.path().join("share/man").join(name));
        assert!(text.is_ok_and(|text| text.starts_with(".ie") || text.contains(".TH")), "{name}");
    }
    world.write("a-file", "");
    let refused = world.pagelog(&["man", "a-file"]).exits(1);
    assert!(refused.stderr.contains("a-file"), "{}", refused.stderr);
}
