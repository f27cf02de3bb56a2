//! The hook and settings that keep private commits in, and what tells of their loss.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::World;
use crate::support::world::git_source;

fn world() -> World {
    let both = git_source("open", "true", &["./open.git"])
        + &git_source("closed", "false", &["./closed.git"]);
    let world = World::new(&both);
    world.upstream("open").write("a.md", "# Open\n").commit();
    world.upstream("closed").write("b.md", "# Closed\n").commit();
    world.run();
    world
}

#[test]
fn lost_protections_are_told_and_put_back() {
    let world = world();
    let hook = world.archive().join("hooks/pre-push");
    let broken: [&dyn Fn(); 6] = [
        &|| fs::remove_dir_all(world.archive().join("hooks")).unwrap(),
        &|| fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap(),
        &|| fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).unwrap(),
        &|| drop(world.git(&["config", "core.hooksPath", "/dev/null"]).ok()),
        &|| drop(world.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]).ok()),
        &|| drop(world.git(&["config", "--unset-all", "transfer.hideRefs"]).ok()),
    ];
    for (number, damage) in broken.iter().enumerate() {
        damage();
        world.pagelog(&["audit"]).exits(1);
        let run = world.pagelog_at(&format!("2026-12-{:02}T02:00:00Z", number + 1), &["run"]);
        assert!(run.exits(0).stderr.contains("warning: "), "damage {number}");
        world.pagelog(&["audit"]).ok();
    }
    world.git(&["config", "remote.out.mirror", "true"]).ok();
    let told = world.pagelog(&["audit"]).exits(1).stdout;
    assert!(told.contains("remote.out.mirror is true"), "{told}");
}

#[test]
fn a_public_ref_with_private_commits_is_never_accepted() {
    let world = world();
    world.git(&["update-ref", "refs/heads/main", "refs/private/main"]).ok();
    let told = world.pagelog(&["audit"]).exits(1).stdout;
    assert!(told.contains("of refs/private/main: private pages would be published"), "{told}");
    world.pagelog(&["audit", "--repair"]).exits(1);
    world.pagelog(&["run"]).exits(1);
    world.git_in(world.path(), &["init", "-q", "--bare", "out.git"]).ok();
    let pushed = world.git(&["push", "../out.git", "refs/heads/main"]);
    assert_ne!(pushed.code, Some(0));
    assert!(pushed.stderr.contains("it holds commits of refs/private/main"), "{}", pushed.stderr);
}

#[test]
fn what_was_public_before_its_like_was_private_is_told() {
    let text: String = (0..80).map(|n| format!("shared{n} ")).collect::<Vec<_>>().concat();
    let world = world();
    let both = git_source("open", "true", &["./first.git"])
        + &git_source("closed", "false", &["./later.git"]);
    world.configure(&both);
    let first = world.upstream("first");
    first.write("copy.md", &text).commit();
    let later = world.upstream("later");
    later.write("c.md", "# C\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    later.write("secret.md", &text).commit();
    world.run_at("2026-12-02T02:00:00Z");
    let audit = world.pagelog(&["audit"]).exits(0);
    let page = "pages/open/first.git.invalid/copy.md is public and holds more than half";
    assert!(audit.stderr.contains(page), "{}", audit.stderr);
}
