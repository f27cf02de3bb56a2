//! Beginning: a sample configuration, what is wrong with one, and an archive's directory.

use std::fs;

use insta::assert_snapshot;

use super::scene::stable;
use crate::support::World;
use crate::support::world::git_source;

#[test]
fn a_first_day() {
    let world = World::empty();
    let begun = world.pagelog(&["init"]).exits(0);
    assert_snapshot!("init_stderr", stable(&world, &begun.stderr));
    assert_eq!(begun.stdout, "");
    assert_snapshot!("init_check", stable(&world, &world.pagelog(&["check"]).ok()));
    let run = world.pagelog(&["run"]).exits(0);
    assert_snapshot!("init_run", stable(&world, &run.stdout));
    world.assert_whole();

    let sample = fs::read(world.path().join("sources.toml")).unwrap();
    let again = world.pagelog(&["init"]).exits(0);
    assert_snapshot!("init_again", stable(&world, &again.stderr));
    assert_eq!(fs::read(world.path().join("sources.toml")).unwrap(), sample);
    assert_eq!(world.commits("refs/heads/main"), 1);
}

#[test]
fn init_with_portable_case() {
    let world = World::empty();
    world.pagelog(&["init", "--portable-case"]).exits(0);
    let text = fs::read_to_string(world.path().join("sources.toml")).unwrap();
    assert!(text.contains("\nportable_case = true\n"), "{text}");
    world.pagelog(&["run"]).exits(0);
    assert!(world.file("refs/heads/main", "archive.toml").contains("portable_case = true\n"));
    world.assert_whole();

    let other = World::empty();
    other.pagelog(&["init"]).exits(0);
    let refused = other.pagelog(&["init", "--portable-case"]).exits(2);
    assert!(refused.stderr.contains("does not ask for portable case"), "{}", refused.stderr);
}

#[test]
fn files_named_on_the_command_line() {
    let world = World::empty();
    let elsewhere = ["--config", "conf/my.toml", "--archive", "data/kept"];
    let missing = world.pagelog(&[&elsewhere[..], &["init"]].concat()).exits(1);
    assert!(missing.stderr.contains("conf/my.toml"), "{}", missing.stderr);
    fs::create_dir(world.path().join("conf")).unwrap();
    world.pagelog(&[&elsewhere[..], &["init"]].concat()).exits(0);
    assert!(world.path().join("data/kept/HEAD").exists());
    assert!(!world.path().join("conf/archive").exists());
    world.pagelog(&[&["run"], &elsewhere[..]].concat()).exits(0);
    world.pagelog(&[&["audit"], &elsewhere[..]].concat()).exits(0);
}

#[test]
fn every_mistake_is_told_at_once() {
    let world = World::empty();
    world.write(
        "sources.toml",
        "[bot]\nname = \"Bot 7\"\nurl = \"https://example.org/bot\"\n\n[archiv]\npath = \"x\"\n\n\
         [run]\nbudget = \"soon\"\n\n[[source]]\nid = \"My Docs\"\nkind = \"git\"\n\
         licence = \"free\"\nrepositories = [\"https://user:secret@git.example.org/a.git\"]\n\
         hosts = [\"a.example.org\"]\n",
    );
    for command in ["check", "run", "status", "changes", "links"] {
        let ended = world.pagelog(&[command]).exits(if command == "check" { 1 } else { 2 });
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
        if command == "check" {
            assert_snapshot!("mistakes", stable(&world, &ended.stderr));
        }
    }
    let found = world.pagelog(&["check", "--json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(json["valid"], false);
    assert!(json["faults"].as_array().unwrap().len() > 5, "{json}");
    assert!(!world.archive().exists());
}

#[test]
fn a_configuration_that_cannot_be_read() {
    let world = World::empty();
    let missing = world.pagelog(&["check"]).exits(2);
    assert!(missing.stderr.contains("`pagelog init` writes one"), "{}", missing.stderr);
    let missing = world.pagelog(&["run"]).exits(2);
    assert!(missing.stderr.contains("sources.toml"), "{}", missing.stderr);
    fs::create_dir(world.path().join("sources.toml")).unwrap();
    let folder = world.pagelog(&["run"]).exits(2);
    assert!(folder.stderr.contains("sources.toml"), "{}", folder.stderr);
    fs::remove_dir(world.path().join("sources.toml")).unwrap();
    fs::write(world.path().join("sources.toml"), b"[bot]\nname = \"\xff\"\n").unwrap();
    let broken = world.pagelog(&["check"]).exits(1);
    assert!(broken.stderr.contains("sources.toml"), "{}", broken.stderr);
    world.write("sources.toml", "");
    let empty = world.pagelog(&["check"]).exits(1);
    assert!(empty.stderr.contains("[bot]"), "{}", empty.stderr);
}

/// Makes something where the archive should be.
type Make = fn(&World);

#[test]
fn what_is_no_archive_stays_untouched() {
    let world = World::new(&git_source("docs", "true", &["./up.git"]));
    world.upstream("up").write("a.md", "# A\n").commit();
    let listed = |world: &World| {
        let output =
            std::process::Command::new("find").arg(world.archive()).output().expect("find starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let make: [(&str, Make); 4] = [
        ("it is a file", |world| world.write("archive", "text\n")),
        ("and is no bare Git repository", |world| world.write("archive/notes.txt", "mine\n")),
        ("that pagelog did not make", |world| {
            world.git_in(world.path(), &["init", "-q", "--bare", "archive"]).ok();
        }),
        ("no bare Git repository", |world| {
            world.git_in(world.path(), &["init", "-q", "archive"]).ok();
        }),
    ];
    for (why, make) in make {
        make(&world);
        let before = listed(&world);
        for (command, code) in [("init", 1), ("run", 1), ("status", 1), ("audit", 1)] {
            let ended = world.pagelog(&[command]).exits(code);
            assert!(ended.stderr.contains(why), "{command}: {}", ended.stderr);
            assert_eq!(listed(&world), before, "{command}: {why}");
        }
        let path = world.archive();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    let missing = world.pagelog(&["status"]).exits(1);
    assert!(missing.stderr.contains("`pagelog init` makes one"), "{}", missing.stderr);
    world.write("archive/README.md", "What may stand there.\n");
    world.run();
    world.assert_whole();
}

#[test]
fn an_archive_of_a_newer_format_is_left_alone() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    world.git(&["config", "pagelog.format", "2"]).ok();
    for command in ["run", "status", "audit"] {
        let refused = world.pagelog(&[command]).exits(1);
        assert!(refused.stderr.contains("newer than this program"), "{}", refused.stderr);
    }
}
