//! How the archive's directory stands guard over what leaves it by Git.

use crate::support::world::git_source;
use crate::support::{Outcome, World};

const PUBLIC: &str = "refs/heads/main";
const PRIVATE: &str = "refs/private/main";

/// An archive with pages on both refs, and an empty repository `mirror.git` beside it.
fn with_mirror() -> World {
    let world = World::new(
        &(git_source("open", "true", &["./open.git"])
            + &git_source("closed", "false", &["./closed.git"])),
    );
    world.upstream("open").write("a.md", "# Open\n").commit();
    world.upstream("closed").write("s.md", "# Closed\n").commit();
    world.run();
    world.git_in(world.path(), &["init", "-q", "--bare", "-b", "main", "mirror.git"]).ok();
    world
}

fn push(world: &World, arguments: &[&str]) -> Outcome {
    let mirror = world.path().join("mirror.git").display().to_string();
    world.git(&[&["push", &mirror], arguments].concat())
}

/// Ids of the objects that the mirror has.
fn arrived(world: &World) -> String {
    let check = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];
    world.git_in(&world.path().join("mirror.git"), &check).ok()
}

#[test]
fn only_the_public_branch_can_be_pushed() {
    let world = with_mirror();
    world.git(&["tag", "oops", PRIVATE]).ok();
    world.git(&["branch", "oops-branch", PRIVATE]).ok();
    let secret = world.git(&["rev-parse", PRIVATE]).ok();
    for arguments in [
        ["refs/private/main"].as_slice(),
        &["refs/private/main:refs/heads/main"],
        &["--mirror"],
        &["--all"],
        &["--tags"],
        &["refs/tags/oops"],
        &["oops-branch"],
        &["+refs/*:refs/*"],
        &["refs/private/*:refs/private/*"],
        &[&format!("{}:refs/heads/x", secret.trim())],
        &["refs/heads/main", "refs/private/main:refs/heads/y"],
        &["refs/heads/main:refs/private/main"],
    ] {
        let refused = push(&world, arguments);
        assert_ne!(refused.code, Some(0), "{arguments:?}");
        assert!(refused.stderr.contains("pagelog: refused to push"), "{}", refused.stderr);
        assert_eq!(arrived(&world), "", "{arguments:?}");
    }
}

#[test]
fn the_public_branch_may_be_pushed() {
    let world = with_mirror();
    push(&world, &["refs/heads/main"]).ok();
    let mirror = world.path().join("mirror.git");
    let refs = world.git_in(&mirror, &["for-each-ref", "--format=%(refname)"]).ok();
    assert_eq!(refs, format!("{PUBLIC}\n"));
    // Templates are on both refs; beyond them nothing of the private ref arrived.
    let objects = world.git(&["rev-list", "--objects", "--no-object-names", PUBLIC]).ok();
    let sorted = |text: &str| -> std::collections::BTreeSet<String> {
        text.lines().map(str::to_owned).collect()
    };
    assert_eq!(sorted(&arrived(&world)), sorted(&objects));
}

#[test]
fn the_private_ref_is_not_offered() {
    let world = with_mirror();
    let archive = world.archive().display().to_string();
    let offered = world.git_in(world.path(), &["ls-remote", &archive]).ok();
    assert!(offered.contains(PUBLIC), "{offered}");
    assert!(!offered.contains("private"), "{offered}");
    world.git_in(world.path(), &["clone", "-q", "--mirror", &archive, "copy.git"]).ok();
    let copy = world.path().join("copy.git");
    let refs = world.git_in(&copy, &["for-each-ref", "--format=%(refname)"]).ok();
    assert_eq!(refs, format!("{PUBLIC}\n"));
    let fetched = world.git_in(&copy, &["fetch", &archive, PRIVATE]);
    assert_ne!(fetched.code, Some(0));
}

#[test]
fn signs_of_being_served_are_told() {
    let world = with_mirror();
    std::fs::write(world.archive().join("git-daemon-export-ok"), "").unwrap();
    let audit = world.pagelog(&["audit"]).exits(1);
    assert!(audit.stdout.contains("looks served"), "{}", audit.stdout);
    let status = world.pagelog(&["status"]).ok();
    assert!(status.contains("looks served"), "{status}");
    std::fs::remove_file(world.archive().join("git-daemon-export-ok")).unwrap();
    world.assert_whole();
}

#[cfg(unix)]
#[test]
fn the_archive_is_closed_to_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let world = with_mirror();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.archive()), 0o700);
    world.pagelog(&["backup", "copy"]).exits(0);
    assert_eq!(mode(&world.path().join("copy")), 0o700);
    std::fs::set_permissions(world.archive(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let audit = world.pagelog(&["audit"]).exits(1);
    assert!(audit.stdout.contains("can read private pages"), "{}", audit.stdout);
}
