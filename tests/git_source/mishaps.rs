//! Upstreams that vanish, come back, change their history or were never there.

use std::fs;

use crate::support::agree::{body, value};
use crate::support::world::{START, git_source};
use crate::support::{Outcome, World};

const PAGE: &str = "pages/docs/up.git.invalid/a.md";
const PUBLIC: &str = "refs/heads/main";

/// A run that must be done in part: what it printed is also committed, as incomplete.
#[track_caller]
fn run_in_part(world: &World, clock: &str) -> Outcome {
    let ended = world.pagelog_at(clock, &["run"]).exits(3);
    world.assert_whole();
    let sources = world.trailers(PUBLIC, "Source");
    assert!(sources.iter().any(|line| line.ends_with("complete=no")), "{sources:?}");
    ended
}

#[test]
fn an_upstream_that_is_gone_freezes_its_pages() {
    let (world, up) = World::with_upstream("true");
    let first = up.write("a.md", "# A\n").commit();
    world.run();
    let trees = world.trees();
    let hidden = world.path().join("hidden.git");
    fs::rename(up.path(), &hidden).unwrap();

    let ended = run_in_part(&world, "2026-12-01T02:00:00Z");
    assert!(ended.stdout.contains("0 not modified"), "{}", ended.stdout);
    assert!(ended.stderr.contains("gone or closed"), "{}", ended.stderr);
    assert_eq!(world.trees(), trees);
    assert_eq!(world.commits(PUBLIC), 2);
    let upstream = format!("docs https://up.git.invalid/ {first}");
    assert_eq!(world.trailers(PUBLIC, "Upstream"), [upstream]);
    let status = world.pagelog(&["status"]).ok();
    assert!(status.contains("gone or closed"), "{status}");
    let explained = world.pagelog(&["explain", "https://up.git.invalid/a.md"]).ok();
    assert!(explained.contains("could not be read the last time"), "{explained}");

    fs::rename(&hidden, up.path()).unwrap();
    up.write("a.md", "# A\n\nBack.\n").write("b.md", "# B\n").commit();
    let said = world.run_at("2026-12-02T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed, 1 added, 0 removed"), "{said}");
    let status = world.pagelog(&["status"]).ok();
    assert!(!status.contains("gone or closed"), "{status}");
    world.assert_whole();
}

#[test]
fn an_upstream_that_never_was_gives_an_empty_commit() {
    let world = World::new(&git_source("docs", "true", &["./nothing.git"]));
    let ended = run_in_part(&world, START);
    assert!(ended.stderr.contains("gone or closed"), "{}", ended.stderr);
    assert_eq!(world.commits(PUBLIC), 1);
    assert!(world.trailers(PUBLIC, "Upstream").is_empty());
}

#[test]
fn a_repository_without_a_commit_is_told_apart() {
    let (world, up) = World::with_upstream("true");
    let ended = run_in_part(&world, START);
    assert!(ended.stderr.contains("is empty or has no such branch"), "{}", ended.stderr);
    up.write("a.md", "# A\n").commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 0 changed, 1 added"), "{said}");
    world.assert_whole();
}

#[test]
fn a_rewritten_history_is_compared_by_its_files() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").write("b.md", "# B\n").write("c.md", "# C\n").commit();
    world.run();
    let kept = world.file(PUBLIC, PAGE);
    up.git(&["checkout", "-q", "--orphan", "fresh"]).ok();
    up.write("b.md", "# B, rewritten\n").remove("c.md").write("d.md", "# D\n");
    up.commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed, 1 added, 1 removed"), "{said}");
    assert_eq!(world.file(PUBLIC, PAGE), kept);
    world.assert_whole();

    // An older commit is a state like any other.
    up.git(&["checkout", "-q", "main"]).ok();
    up.commit_index();
    let said = world.run_at("2026-12-02T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed, 1 added, 1 removed"), "{said}");
    world.assert_whole();
}

#[test]
fn a_default_branch_may_be_renamed() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    up.write("a.md", "# A on trunk\n");
    up.git(&["add", "-A"]).ok();
    up.git(&["commit", "-q", "-m", "change"]).ok();
    up.git(&["push", "-q", "origin", "HEAD:refs/heads/trunk"]).ok();
    world.git_in(up.path(), &["symbolic-ref", "HEAD", "refs/heads/trunk"]).ok();
    world.git_in(up.path(), &["branch", "-q", "-D", "main"]).ok();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed, 0 added, 0 removed"), "{said}");
    assert_eq!(body(&world.file(PUBLIC, PAGE)), "# A on trunk\n");
    world.assert_whole();
}

#[test]
fn a_branch_that_is_missing_freezes_its_pages() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    let release = format!("{}branch = \"release\"\n", git_source("docs", "true", &["./up.git"]));
    up.git(&["push", "-q", "origin", "HEAD:refs/heads/release"]).ok();
    world.configure(&release);
    world.run();
    let trees = world.trees();
    // The default branch moves on, which is not what was asked for.
    up.write("a.md", "# A, unreleased\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert_eq!(world.trees(), trees);
    world.git_in(up.path(), &["branch", "-q", "-D", "release"]).ok();
    let ended = run_in_part(&world, "2026-12-02T02:00:00Z");
    assert!(ended.stderr.contains("no such branch"), "{}", ended.stderr);
    assert_eq!(world.trees(), trees);

    // A head without a branch is no empty repository either.
    world.configure(&git_source("docs", "true", &["./up.git"]));
    world.git_in(up.path(), &["symbolic-ref", "HEAD", "refs/heads/nowhere"]).ok();
    run_in_part(&world, "2026-12-03T02:00:00Z");
    assert_eq!(world.trees(), trees);
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let (world, up) = World::with_upstream("true");
    let first = up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    let cache = world.archive().join("pagelog/upstream/docs/up.git.invalid.git");
    assert!(cache.join("HEAD").exists(), "the cache stands elsewhere");
    up.write("b.md", "# B, changed\n").commit();
    for (day, damage) in ["HEAD", "objects", "config", "everything"].into_iter().enumerate() {
        match damage {
            "everything" => fs::remove_dir_all(&cache).unwrap(),
            "objects" => fs::remove_dir_all(cache.join("objects")).unwrap(),
            file => fs::write(cache.join(file), "\0damaged\n").unwrap(),
        }
        let said = world.run_at(&format!("2026-12-0{}T02:00:00Z", day + 1));
        assert!(said.contains(" 0 added, 0 removed"), "{damage}: {said}");
        assert_eq!(value(&world.file(PUBLIC, PAGE), "commit"), first, "{damage}");
        world.assert_whole();
    }
}

#[test]
fn a_frozen_source_does_not_stop_the_others() {
    let world = World::new(&format!(
        "{}{}{}",
        git_source("one", "true", &["./a.git", "./b.git"]),
        git_source("two", "false", &["./c.git"]),
        git_source("three", "true", &["./d.git"]),
    ));
    let ups: Vec<_> = ["a", "b", "c", "d"].iter().map(|name| world.upstream(name)).collect();
    for up in &ups {
        up.write("p.md", "# First\n").commit();
    }
    world.run();
    world.assert_whole();
    let kept = world.file(PUBLIC, "pages/one/b.git.invalid/p.md");
    for up in &ups {
        up.write("p.md", "# Second\n").commit();
    }
    fs::rename(ups[1].path(), world.path().join("away.git")).unwrap();
    let ended = run_in_part(&world, "2026-12-01T02:00:00Z");
    assert!(ended.stdout.contains("one: 1 changed, 0 added, 0 removed, 0 same, 0 not modified"));
    assert_eq!(world.file(PUBLIC, "pages/one/b.git.invalid/p.md"), kept);
    for (name, path) in [
        (PUBLIC, "pages/one/a.git.invalid/p.md"),
        ("refs/private/main", "pages/two/c.git.invalid/p.md"),
        (PUBLIC, "pages/three/d.git.invalid/p.md"),
    ] {
        assert_eq!(body(&world.file(name, path)), "# Second\n", "{path}");
    }
    let complete: Vec<bool> = world
        .trailers(PUBLIC, "Source")
        .iter()
        .map(|line| line.ends_with("complete=yes"))
        .collect();
    assert_eq!(complete, [false, true, true], "in order of the configuration");
}

/// Changes bytes of the cache's packs: those of the object `only`, or all behind the first 40.
fn corrupt_packs(world: &World, cache: &std::path::Path, only: Option<&str>) {
    for entry in fs::read_dir(cache.join("objects/pack")).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|end| end == "pack") {
            let mut bytes = fs::read(&path).unwrap();
            let (mut start, mut length) = (40, bytes.len());
            if let Some(id) = only {
                // Id, kind, size, size in the pack, offset.
                let index = path.display().to_string();
                let listed = world.git_in(cache, &["verify-pack", "-v", &index]).ok();
                let line = listed.lines().find(|line| line.starts_with(id)).expect("the object");
                let number =
                    |at| line.split_whitespace().nth(at).unwrap().parse::<usize>().unwrap();
                // Behind the header of the object.
                (start, length) = (number(4) + 3, number(3) - 3);
            }
            bytes.iter_mut().skip(start).take(length).for_each(|byte| *byte ^= 0x55);
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
    }
}

#[test]
fn damaged_objects_of_a_cache_heal() {
    for upstream_moves in [false, true] {
        for damage in ["removed", "corrupted", "one file corrupted"] {
            let (world, up) = World::with_upstream("true");
            up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
            world.run();
            let page = world.file(PUBLIC, PAGE);
            let cache = world.archive().join("pagelog/upstream/docs/up.git.invalid.git");
            let blob = world.git_in(&cache, &["rev-parse", "refs/upstream/fetched:a.md"]).ok();
            match damage {
                "removed" => fs::remove_dir_all(cache.join("objects/pack")).unwrap(),
                "corrupted" => corrupt_packs(&world, &cache, None),
                _ => corrupt_packs(&world, &cache, Some(blob.trim())),
            }
            if upstream_moves {
                up.write("b.md", "# B, changed\n").commit();
            }
            // A new licence makes the next run read every file.
            let licence = git_source("docs", "true", &["./up.git"]).replace("CC-BY-4.0", "CC0-1.0");
            world.configure(&licence);
            let first = world.pagelog_at("2026-12-01T02:00:00Z", &["run"]);
            assert!(matches!(first.code, Some(0 | 3)), "{first:?}");
            world.assert_whole();
            assert_eq!(body(&world.file(PUBLIC, PAGE)), body(&page), "nothing is removed");
            let case = format!("{damage}, upstream moves: {upstream_moves}");
            let second = world.pagelog_at("2026-12-02T02:00:00Z", &["run"]);
            assert_eq!(second.code, Some(0), "{case}: {second:?}\nafter {first:?}");
            assert!(second.stdout.contains(" 0 failed"), "{case}: {second:?}");
            world.assert_whole();
            let healed = page.replace("CC-BY-4.0", "CC0-1.0");
            assert_eq!(world.file(PUBLIC, PAGE), healed, "{case}: {second:?}\nafter {first:?}");
            let other = world.file(PUBLIC, "pages/docs/up.git.invalid/b.md");
            assert_eq!(body(&other).contains("changed"), upstream_moves, "{case}");
        }
    }
}

#[test]
fn a_cache_does_not_grow_without_end() {
    let (world, up) = World::with_upstream("true");
    let cache = world.archive().join("pagelog/upstream/docs/up.git.invalid.git");
    for round in 0..30 {
        up.write("a.md", format!("# A\n\nRound {round}.\n")).commit();
        world.run_at(&format!("2026-12-{:02}T02:00:00Z", round + 1));
        assert_eq!(body(&world.file(PUBLIC, PAGE)), format!("# A\n\nRound {round}.\n"));
    }
    let packs = fs::read_dir(cache.join("objects/pack")).unwrap().flatten();
    let packs = packs.filter(|e| e.path().extension().is_some_and(|end| end == "pack")).count();
    let loose = world.git_in(&cache, &["count-objects"]).ok();
    assert!((1..=25).contains(&packs), "{packs} packs");
    assert!(loose.starts_with("0 objects"), "{loose}");
    world.assert_whole();
}
