//! Sizes in `status`: what Git says they are, counted once for each commit.

use std::fs;

use super::forge::{Forge, PRIVATE, PUBLIC, Put};
use crate::support::World;

#[track_caller]
fn told(world: &World) -> serde_json::Value {
    world.pagelog(&["status", "--json"]).json()["sizes"].take()
}

#[track_caller]
fn usage(world: &World, revisions: &[&str]) -> u64 {
    let arguments = [&["rev-list", "--disk-usage", "--objects"], revisions].concat();
    world.git(&arguments).ok().trim().parse().expect("a number")
}

/// What Git says of the same.
#[track_caller]
fn agrees(world: &World) -> serde_json::Value {
    let sizes = told(world);
    assert_eq!(sizes["public_size"], usage(world, &[PUBLIC]));
    assert_eq!(sizes["private_size"], usage(world, &[PRIVATE]));
    assert_eq!(sizes["push_size"], sizes["public_size"], "no mirror is known");
    let objects = world.git(&["rev-list", "--objects", PUBLIC]).ok();
    let mut largest = (0, String::new());
    for line in objects.lines() {
        let Some((id, path)) = line.split_once(' ').filter(|(_, path)| !path.is_empty()) else {
            continue;
        };
        if world.git(&["cat-file", "-t", id]).ok() == "blob\n" {
            let size: u64 = world.git(&["cat-file", "-s", id]).ok().trim().parse().unwrap();
            largest = largest.max((size, path.to_owned()));
        }
    }
    assert_eq!(sizes["largest_file"]["size"], largest.0);
    assert_eq!(told(world), sizes, "asked again, the same is told");
    sizes
}

#[test]
fn they_are_what_git_says_run_after_run() {
    let forge = Forge::new();
    let world = &forge.world;
    let first = agrees(world);
    let grown = usage(world, &[PUBLIC, &format!("^{PUBLIC}~2")]);
    assert_eq!((&first["growth_runs"], &first["growth_size"]), (&2.into(), &(grown / 2).into()));
    assert!(first["runs_left"].as_u64() > Some(1), "{first}");
    assert_eq!(first["largest_directory"]["size"], 2, "{first}");

    let more = "One line of many.\n".repeat(2000);
    let up = crate::support::Upstream::new(world.path(), "big");
    for n in 0..30 {
        up.write(&format!("many/p{n}.md"), format!("# {n}\n"));
    }
    up.write("large.md", &more).commit();
    let text = fs::read_to_string(world.path().join("sources.toml")).unwrap();
    world.write("sources.toml", &text.replace("\"./open.git\"", "\"./open.git\", \"./big.git\""));
    world.run_at("2026-12-05T02:00:00Z");
    let second = agrees(world);
    assert!(second["largest_file"]["path"].as_str().unwrap().ends_with("/large.md"), "{second}");
    assert_eq!(second["largest_directory"]["size"], 30, "{second}");
    // What was counted and what is counted anew is the same, also when all is packed anew.
    fs::remove_file(world.archive().join("pagelog/sizes.tsv")).unwrap();
    assert_eq!(told(world), second);
    world.git(&["repack", "-q", "-a", "-d"]).ok();
    agrees(world);
    // The largest file is that of any commit: a page that left is still pushed.
    up.remove("large.md").commit();
    world.run_at("2026-12-06T02:00:00Z");
    let third = agrees(world);
    assert_eq!(third["largest_file"], second["largest_file"]);
    world.assert_whole();
}

#[test]
fn a_push_carries_what_a_mirror_lacks() {
    let forge = Forge::new();
    let world = &forge.world;
    let old = format!("{PUBLIC}~2");
    world.git(&["update-ref", "refs/remotes/mirror/main", &old]).ok();
    let lacks = usage(world, &[PUBLIC, &format!("^{old}")]);
    assert_eq!(told(world)["push_size"], lacks);
    world.git(&["update-ref", "refs/remotes/other/main", PUBLIC]).ok();
    assert_eq!(told(world)["push_size"], lacks, "the most of all mirrors");
    world.git(&["update-ref", "refs/remotes/mirror/main", PUBLIC]).ok();
    assert_eq!(told(world)["push_size"], 0);
}

#[test]
fn refs_that_were_moved_are_counted_anew() {
    let forge = Forge::new();
    agrees(&forge.world);
    forge.put((PUBLIC, 2), "README.md", &Put::File(&"Other.\n".repeat(9000)));
    let sizes = agrees(&forge.world);
    assert_eq!(sizes["largest_file"]["path"], "README.md");
}

#[test]
fn a_cache_that_is_damaged_is_written_anew() {
    let forge = Forge::new();
    let sizes = agrees(&forge.world);
    let cache = forge.world.archive().join("pagelog/sizes.tsv");
    let sound = fs::read_to_string(&cache).unwrap();
    for damaged in [
        "",
        "pagelog sizes 1\n",
        "pagelog sizes 3\n",
        "something else\n",
        &sound.replace("\tpages", " "),
        sound.strip_suffix("end").unwrap(),
        &sound[..sound.len() / 2],
    ] {
        fs::write(&cache, damaged).unwrap();
        assert_eq!(told(&forge.world), sizes, "{damaged}");
    }
    assert_eq!(fs::read_to_string(&cache).unwrap(), sound);
}

#[test]
fn a_wide_directory_is_warned_of() {
    let (world, up) = World::with_upstream("true");
    for n in 0..2000 {
        up.write(&format!("wide/p{n:04}.md"), "");
    }
    up.commit();
    world.run();
    let status = world.pagelog(&["status"]).ok();
    assert!(status.contains("wide has 2000 entries; common hosts advise at most 3000"), "{status}");
}
