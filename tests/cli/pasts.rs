//! Questions about the past have the same answers with the index of the history and without
//! a state, whatever happened to the pages.

use std::fs;

use crate::support::World;
use crate::support::world::git_source;

/// Runs over two sources: pages are added, edited, moved, removed and put back; one source
/// changes its ref and its name, the other its addresses; a run finds nothing new.
fn eventful() -> World {
    let docs = |publish| git_source("docs", publish, &["./up.git"]);
    let side = git_source("side", "true", &["./side.git"]);
    let world = World::new(&(docs("true") + &side));
    let (up, other) = (world.upstream("up"), world.upstream("side"));
    up.write("a.md", "# A\n")
        .write("part/b.md", "# B\n\nGoes elsewhere.\n")
        .write("part/c.md", "# C\n")
        .write("part.md", "# Part\n")
        .write("d.md", "# D\n")
        .commit();
    other.write("a.md", "# Beside\n").write("old.md", "# Old\n").commit();
    world.run();
    up.git(&["mv", "part/b.md", "moved.md"]).ok();
    up.write("a.md", "# A\n\nEdited.\n").remove("part/c.md").remove("d.md").commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.run_at("2026-12-02T02:00:00Z");
    // From one ref to the other, with an edit in the same run.
    world.configure(&(docs("false") + &side));
    up.write("a.md", "# A\n\nEdited again.\n").write("d.md", "# D\n\nIs back.\n").commit();
    world.run_at("2026-12-03T02:00:00Z");
    // A new name, on the private ref; the other source has published addresses now.
    let renamed = docs("false").replace("id = \"docs\"", "id = \"guide\"\nwas = [\"docs\"]");
    let published = side.clone() + "base_url = \"https://side.example/\"\n";
    world.configure(&(renamed.clone() + &published));
    up.remove("d.md").commit();
    other.remove("old.md").commit();
    world.run_at("2026-12-04T02:00:00Z");
    // And public again.
    world.configure(&(renamed.replace("publish = false", "publish = true") + &published));
    up.write("part/c.md", "# C\n\nAnother one.\n").remove("part.md").commit();
    world.run_at("2026-12-05T02:00:00Z");
    world
}

const URLS: [&str; 8] = [
    "https://up.git.invalid/a.md",
    "https://up.git.invalid/part/b.md",
    "https://up.git.invalid/part/c.md",
    "https://up.git.invalid/part.md",
    "https://up.git.invalid/d.md",
    "https://side.git.invalid/old.md",
    "https://side.example/old",
    "https://side.example/a",
];

/// Commands that ask about the past.
fn questions(world: &World) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut ask = |words: &[&str]| all.push(words.iter().map(|word| (*word).to_owned()).collect());
    for url in URLS {
        ask(&["history", url]);
        ask(&["history", url, "--diff"]);
        for day in ["2026-11-29", "2026-11-30", "2026-12-01", "2026-12-03", "2026-12-05"] {
            ask(&["show", url, "--at", day]);
        }
        ask(&["show", url, "--at", "main~2"]);
        ask(&["show", url, "--at", "private~1"]);
    }
    for pattern in ["https://up.git.invalid/*", "https://*/part*", "*", "https://none.example/*"] {
        ask(&["history", pattern, "--json"]);
    }
    ask(&["history", "https://up.git.invalid/part*", "--diff"]);
    ask(&["history", "https://up.git.invalid/*", "--source", "docs"]);
    ask(&["history", "pages/side/side.git.invalid/old.md"]);
    ask(&["history", "pages/docs/up.git.invalid/part/c.md"]);
    let ids = world.git(&["log", "--format=%H", "main", "refs/private/main"]).ok();
    let ids: Vec<&str> = ids.lines().collect();
    for id in &ids {
        ask(&["changes", id, "--json"]);
    }
    let first = ids.last().expect("a commit");
    for range in [
        "",
        "2026-12-01",
        "2026-11-30..2026-12-03",
        "2026-12-03..2026-11-30",
        "main~4..main",
        "main..main~3",
        "private~2..private",
        "main..private",
        "nowhere",
        &format!("{first}.."),
    ] {
        let range: &[&str] = if range.is_empty() { &[] } else { &[range] };
        ask(&[&["changes", "--json"], range].concat());
        ask(&[&["changes"], range].concat());
    }
    ask(&["links", "--at", "2026-12-01"]);
    all
}

#[test]
fn with_the_index_and_without_a_state() {
    let world = eventful();
    world.assert_indexed();
    let bare = world.copy();
    fs::remove_file(bare.archive().join("pagelog/state.sqlite")).expect("a state");
    let (mut good, mut bad) = (0, 0);
    for question in questions(&world) {
        let [indexed, walked] = [&world, &bare].map(|world| world.pagelog(&question));
        assert_eq!(indexed.code, walked.code, "{question:?}: {indexed:?} {walked:?}");
        assert_eq!(indexed.stdout, walked.stdout, "{question:?}");
        assert_eq!(indexed.stderr, walked.stderr, "{question:?}");
        if indexed.code == Some(0) { good += 1 } else { bad += 1 }
    }
    // A page is told of once, with all its past, under whichever name its source had.
    let d = world.pagelog(&["history", "https://up.git.invalid/d.md", "--json"]).json();
    let kinds: Vec<&str> =
        d[0]["versions"].as_array().unwrap().iter().map(|v| v["kind"].as_str().unwrap()).collect();
    assert_eq!(d.as_array().unwrap().len(), 1, "{d}");
    assert_eq!(d[0]["path"], "pages/guide/up.git.invalid/d.md");
    assert_eq!(kinds, ["removed", "moved", "added", "removed", "added"]);
    assert!(good > 60 && bad > 10, "{good} answers, {bad} refusals");
    assert!(!bare.archive().join("pagelog/state.sqlite").exists());
    let runs = |world: &World| world.pagelog(&["status", "--json"]).json()["runs"].clone();
    assert_eq!(runs(&world), runs(&bare));
}

#[test]
fn an_index_that_is_lost_older_or_of_other_refs_is_made_anew() {
    let world = eventful();
    let state = world.archive().join("pagelog/state.sqlite");
    let asked = ["history", "https://up.git.invalid/*", "--json"];
    let expected = world.pagelog(&asked).ok();
    let damages = [
        "DELETE FROM version; DELETE FROM place; DELETE FROM ref_commit;",
        "DELETE FROM version WHERE number > 3; DELETE FROM ref_commit WHERE number > 3;",
        "DELETE FROM version WHERE ref = 1; DELETE FROM ref_commit WHERE ref = 1;",
        "UPDATE ref_commit SET id = zeroblob(20) WHERE number = (SELECT max(number) FROM ref_commit);",
    ];
    for damage in damages {
        for repair in [&["audit", "--repair"][..], &["run", "--dry-run"], &["run"]] {
            let world = world.copy();
            let state = world.archive().join("pagelog/state.sqlite");
            let db = rusqlite::Connection::open(&state).expect("a state");
            db.execute_batch(damage).expect("damaged");
            drop(db);
            assert_eq!(world.pagelog(&asked).ok(), expected, "{damage}: it is walked");
            world.pagelog_at("2026-12-09T02:00:00Z", repair).ok();
            world.assert_indexed();
            assert_eq!(world.pagelog(&asked).ok(), expected, "{damage}: {repair:?}");
        }
    }
    assert!(state.exists());
}

/// A state as version 2 of its tables had it.
fn of_version_2(world: &World) {
    let state = world.archive().join("pagelog/state.sqlite");
    let db = rusqlite::Connection::open(state).expect("a state");
    let sql = "DROP TABLE stated; DROP TABLE version; DROP TABLE place; DROP TABLE ref_commit; DROP INDEX run_public; \
               PRAGMA user_version = 2;";
    db.execute_batch(sql).expect("as it was");
}

#[test]
fn a_state_of_version_2_gets_its_index_with_the_next_run() {
    let world = eventful();
    let asked = ["history", "https://up.git.invalid/*", "--json"];
    let expected = world.pagelog(&asked).ok();
    of_version_2(&world);
    assert_eq!(world.pagelog(&asked).ok(), expected, "it is walked");
    let upstreams = |world: &World| -> Vec<String> {
        let state = world.archive().join("pagelog/state.sqlite");
        let db = rusqlite::Connection::open(state).expect("a state");
        let mut rows = db.prepare("SELECT repository || settings FROM upstream").expect("rows");
        let rows = rows.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|row| row.expect("a row")).collect()
    };
    let before = upstreams(&world);
    assert_eq!(before.len(), 2);
    world.run_at("2026-12-09T02:00:00Z");
    world.assert_indexed();
    assert_eq!(upstreams(&world), before);
}

#[test]
fn a_ref_that_was_put_back_is_indexed_as_it_is() {
    let world = eventful();
    for name in ["refs/heads/main", "refs/private/main"] {
        world.git(&["update-ref", name, &format!("{name}~2")]).ok();
    }
    // Pages are missing where one ref lacks what the other has: that is a fault.
    world.pagelog(&["audit", "--repair"]);
    world.assert_indexed();
    // Only one of the two, so that the refs have different numbers of commits.
    world.git(&["update-ref", "refs/heads/main", "refs/heads/main~1"]).ok();
    world.pagelog(&["audit", "--repair"]);
    world.assert_indexed();
    world.run_at("2026-12-09T02:00:00Z");
    world.assert_indexed();
}
