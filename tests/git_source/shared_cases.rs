//! The shared fault cases of Git sources: an assertion for each line that they expect.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::World;
use crate::support::agree::body;
use crate::support::shared::shared;
use crate::support::world::{git_source, isolate};

const PUBLIC: &str = "refs/heads/main";
const FOLDER: &str = "pages/docs/upstream.git.invalid/";

/// A folder whose source is what the script makes; `None` where it is not here.
fn made_by(script: &str, arguments: &[&str]) -> Option<(World, std::path::PathBuf)> {
    let script = shared(&format!("faults/inputs/{script}"))?;
    let world = World::new(&git_source("docs", "true", &["./case/upstream.git"]));
    make(&world, &script, arguments);
    Some((world, script))
}

fn make(world: &World, script: &Path, arguments: &[&str]) {
    let mut command = Command::new("bash");
    isolate(&mut command, world.path());
    command.current_dir(world.path()).arg(script).arg(world.path().join("case")).args(arguments);
    let output = command.output().expect("bash starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn git_shallow_update() {
    let Some((world, script)) = made_by("git-shallow-update.sh", &["0"]) else { return };
    let cache = world.archive().join("pagelog/upstream/docs/upstream.git.invalid.git");
    for stage in 0..4 {
        if stage > 0 {
            make(&world, &script, &[&stage.to_string()]);
        }
        world.run_at(&format!("2026-12-0{}T02:00:00Z", stage + 1));
        world.assert_whole();
        // Each run stores the new text.
        let page = world.file(PUBLIC, &format!("{FOLDER}docs/page.md"));
        let last = if stage == 0 { "line 60".to_owned() } else { format!("stage {stage}") };
        assert!(body(&page).ends_with(&format!("{last}\n")), "{page}");
        // Few commits are held locally, and the shallow points are recorded.
        let held = world
            .git_in(&cache, &["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
        let commits = held.ok().lines().filter(|kind| *kind == "commit").count();
        assert!(commits < 10, "stage {stage}: {commits} commits");
        let fsck = world.git_in(&cache, &["fsck", "--full", "--no-dangling"]).exits(0);
        assert_eq!(fsck.stdout, "", "stage {stage}");
    }
}

#[test]
fn git_submodule_lfs_gaps() {
    let Some((world, _)) = made_by("git-submodule-lfs-gaps.sh", &[]) else { return };
    let said = world.run();
    world.assert_whole();
    let files = world.files(PUBLIC);
    assert!(files.contains(&format!("{FOLDER}docs/ok.md")));
    // The gitlink and the pointer are told of, and neither is a page.
    assert!(said.contains("docs/api: a submodule"), "{said}");
    assert!(said.contains("docs/big.md: a Git LFS pointer"), "{said}");
    assert!(!files.iter().any(|path| path.contains("big") || path.contains("api")), "{files:?}");
    // Neither address was contacted: nothing of them is configured, and Git was given one URL.
    let cache = world.archive().join("pagelog/upstream/docs");
    let modules = world.git_in(&cache.join("upstream.git.invalid.git"), &["config", "--list"]);
    assert!(!modules.stdout.contains("submodule"), "{}", modules.stdout);

    // Real text of an earlier run is not replaced by a pointer.
    let up = world.upstream("other");
    world.configure(&git_source("docs", "true", &["./other.git"]));
    up.write("docs/big.md", "# Real text\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    let pointer = world
        .git_in(&world.path().join("case/upstream.git"), &["cat-file", "blob", "main:docs/big.md"]);
    up.write("docs/big.md", pointer.ok()).commit();
    world.run_at("2026-12-02T02:00:00Z");
    let page = world.file(PUBLIC, "pages/docs/other.git.invalid/docs/big.md");
    assert_eq!(body(&page), "# Real text\n");
}

#[test]
fn sec_repo_symlinks_filters() {
    let Some((world, _)) = made_by("sec-repo-symlinks-filters.sh", &[]) else { return };
    let mut command = world.command("2026-11-30T02:00:00Z");
    command.env("GIT_CONFIG_GLOBAL", world.path().join("case/evil.gitconfig"));
    let ended: crate::support::Outcome = command.arg("run").output().unwrap().into();
    let said = ended.ok();
    world.assert_whole();
    // No text of the machine's files, and a line about each link.
    if let Ok(secret) = fs::read_to_string("/etc/hostname") {
        for path in world.files(PUBLIC) {
            let text = world.file(PUBLIC, &path);
            let secret = secret.trim();
            assert!(secret.is_empty() || !text.contains(secret), "{path}: {text}");
        }
    }
    for link in ["docs/leak.md", "docs/up.md", "docs/dir", "docs/ok.md"] {
        assert!(said.contains(&format!("{link}: a symbolic link")), "{link}: {said}");
    }
    let pages = world.files(PUBLIC);
    let pages: Vec<&String> = pages.iter().filter(|path| path.starts_with("pages/")).collect();
    assert_eq!(pages, [&format!("{FOLDER}docs/real.md")]);
    // Nothing was run, and no submodule was made.
    let found = Command::new("find").arg(world.path()).args(["-name", "PWNED"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
    let cache = world.archive().join("pagelog/upstream/docs/upstream.git.invalid.git");
    assert!(!cache.join("modules").exists());
    // What the upstream says about attributes and modules is inert.
    let attributes = world.file(PUBLIC, ".gitattributes");
    assert!(!attributes.contains("evil"), "{attributes}");
    assert!(!world.files(PUBLIC).iter().any(|path| path.contains("gitmodules")));
}

#[test]
fn git_tree_order() {
    let (world, up) = World::with_upstream("true");
    let first = ["file/a.md", "file.to.md", "file.toml.md", "file0.md", "bin.md", "file-x.md"];
    let second = ["file.to/x.md", "bin/y.md", "bin.d/z.md", "file.md", "file/b/c.md"];
    for (day, names) in [first.as_slice(), &second].into_iter().enumerate() {
        for name in names {
            up.write(name, format!("# {name}\n"));
        }
        up.commit();
        world.run_at(&format!("2026-12-0{}T02:00:00Z", day + 1));
        world.assert_whole();
        for (number, name) in [PUBLIC, "refs/private/main"].into_iter().enumerate() {
            assert_trees_are_gits(&world, name);
            if number == 0 {
                assert_clone_is_clean(&world, &format!("copy{day}"));
            }
        }
    }
    assert_eq!(world.files(PUBLIC).iter().filter(|f| f.starts_with("pages/")).count(), 11);
}

/// `git mktree` makes the same tree of what `git ls-tree` says of it.
#[track_caller]
fn assert_trees_are_gits(world: &World, name: &str) {
    let objects = world.git(&["rev-list", "--objects", name]).ok();
    let objects: Vec<&str> = objects.lines().filter_map(|line| line.split(' ').next()).collect();
    let mut trees = 0;
    for id in objects {
        if world.git(&["cat-file", "-t", id]).ok() != "tree\n" {
            continue;
        }
        trees += 1;
        let script = format!("git ls-tree -z {id} | git mktree -z");
        let mut command = Command::new("sh");
        isolate(&mut command, world.path());
        // The copy takes what mktree writes, so that the archive stays as it was.
        let objects = world.path().join("scratch");
        fs::create_dir_all(&objects).unwrap();
        let output = command
            .current_dir(world.archive())
            .env("GIT_OBJECT_DIRECTORY", &objects)
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", world.archive().join("objects"))
            .args(["-c", &script])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), id);
    }
    assert!(trees > 0);
}

#[track_caller]
fn assert_clone_is_clean(world: &World, copy: &str) {
    let archive = world.archive().display().to_string();
    world.git_in(world.path(), &["clone", "-q", &archive, copy]).ok();
    let status = world.git_in(&world.path().join(copy), &["status", "--porcelain"]).ok();
    assert_eq!(status, "");
}
