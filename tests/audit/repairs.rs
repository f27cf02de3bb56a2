//! What a repair says it did, and what it leaves alone.

use std::fs;

use super::forge::{Forge, PUBLIC, Put};

#[test]
fn each_thing_that_was_repaired_is_a_line() {
    let forge = Forge::new();
    let world = &forge.world;
    let clean = world.pagelog(&["audit", "--repair"]).exits(0);
    assert_eq!(
        (clean.stdout.as_str(), clean.stderr.as_str()),
        ("audit: no faults\n", "nothing to repair\n")
    );

    let before = forge.tips();
    let pack = world.archive().join("objects/pack/tmp_pack_pagelog_1_0");
    fs::write(&pack, "PACK").unwrap();
    fs::remove_dir_all(world.archive().join("hooks")).unwrap();
    forge.state().execute("DELETE FROM page WHERE source = 'closed'", []).unwrap();
    let repaired = world.pagelog(&["audit", "--repair"]).exits(0);
    let lines: Vec<&str> = repaired.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{}", repaired.stderr);
    assert_eq!(lines[0], format!("removed {}", pack.display()));
    assert!(lines[1].starts_with("put right ") && lines[1].contains("hooks/pre-push"));
    let rows =
        "brought 2 pages of the state into step with the archive; the next run reads them anew";
    assert_eq!(lines[2], rows);
    assert_eq!(forge.tips(), before);
    world.assert_whole();
    // The pages know their private texts again: a run compares with them.
    let sql = "SELECT count(*) FROM page WHERE source = 'closed' AND sketch IS NOT NULL";
    assert_eq!(forge.state().query_row(sql, [], |row| row.get::<_, i64>(0)), Ok(2));
}

#[test]
fn a_page_that_is_none_is_named_and_left() {
    let forge = Forge::new();
    forge.put((PUBLIC, 0), "pages/open/open.git.invalid/a.md", &Put::File("no page\n"));
    let tips = forge.tips();
    let told = forge.world.pagelog(&["audit", "--repair"]).exits(1);
    assert!(told.stdout.contains("open.git.invalid/a.md: no front matter"), "{}", told.stdout);
    assert!(told.stderr.contains("brought 1 pages"), "{}", told.stderr);
    // Said once: a page that is none has no row.
    assert_eq!(forge.faults().len(), 1, "{:?}", forge.faults());
    assert_eq!(forge.tips(), tips, "commits and refs are never changed");
    // A run that reads it anew puts it right.
    let repaired = forge.world.run_at("2026-12-05T02:00:00Z");
    assert!(!repaired.is_empty());
}

#[test]
fn a_private_ref_that_became_public_is_never_accepted() {
    let forge = Forge::new();
    forge.world.git(&["update-ref", PUBLIC, "refs/private/main"]).ok();
    let tips = forge.tips();
    let refused = forge.world.pagelog(&["audit", "--repair"]).exits(1);
    assert!(refused.stderr.contains("private pages would be published"), "{}", refused.stderr);
    assert_eq!(forge.tips(), tips);
}
