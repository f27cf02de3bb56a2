//! What is asked of a run: which sources, how long, and whether anything is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::World;
use crate::support::world::{START, git_source};

const PUBLIC: &str = "refs/heads/main";

/// All files of the archive that hold objects and refs, with their bytes.
fn git_files(world: &World) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![world.archive()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(world.archive()).unwrap().display().to_string();
            if name == "pagelog" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Every row of every table of the state.
fn rows(world: &World) -> Vec<String> {
    let path = world.archive().join("pagelog/state.sqlite");
    let state = rusqlite::Connection::open(Path::new(&path)).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut statement = state.prepare(tables).unwrap();
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut all = Vec::new();
    for name in names {
        let mut statement = state.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = statement.column_count();
        let mut found = statement.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let values: Vec<String> = (0..columns)
                .map(|at| format!("{:?}", row.get::<_, rusqlite::types::Value>(at).unwrap()))
                .collect();
            all.push(format!("{name}: {}", values.join(", ")));
        }
    }
    all
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    let before = (git_files(&world), rows(&world));
    up.write("a.md", "# A, changed\n").remove("b.md").write("c.md", "# C\n").commit();
    for _ in 0..2 {
        let ended = world.pagelog_at("2026-12-01T02:00:00Z", &["run", "--dry-run"]).exits(0);
        assert!(ended.stdout.starts_with("docs: 1 changed, 1 added, 1 removed"));
        assert!(ended.stdout.ends_with("dry run: nothing was committed\n"));
        assert_eq!((git_files(&world), rows(&world)), before);
    }
    // New rules would be a commit of their own: a dry run makes none either.
    world.configure(&format!("{}skip = ['^a']\n", git_source("docs", "false", &["./up.git"])));
    world.pagelog_at("2026-12-01T02:00:00Z", &["run", "--dry-run", "--json"]).json();
    assert_eq!((git_files(&world), rows(&world)), before);

    world.configure(&git_source("docs", "true", &["./up.git"]));
    let said = world.run_at("2026-12-02T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed, 1 added, 1 removed"), "{said}");
    world.assert_whole();
}

#[test]
fn a_budget_that_is_used_up_defers_the_rest() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    let trees = world.trees();
    up.write("a.md", "# A, changed\n").commit();
    let ended = world.pagelog_at("2026-12-01T02:00:00Z", &["run", "--budget", "0s"]).exits(3);
    assert!(ended.stderr.contains("left for a later run"), "{}", ended.stderr);
    // Nobody looked at it, so nobody knows that it has not changed.
    assert!(ended.stdout.contains("0 not modified"), "{}", ended.stdout);
    assert_eq!(world.trees(), trees);
    assert_eq!(world.commits(PUBLIC), 2);
    world.assert_whole();
    let said = world.run_at("2026-12-02T02:00:00Z");
    assert!(said.starts_with("docs: 1 changed"), "{said}");
    world.pagelog(&["run", "--budget", "soon"]).exits(2);
}

#[test]
fn due_sources_only() {
    let world = World::new(&format!(
        "{}every = \"7d\"\n{}every = \"1d\"\n",
        git_source("weekly", "true", &["./a.git"]),
        git_source("daily", "true", &["./b.git"])
    ));
    for name in ["a", "b"] {
        world.upstream(name).write("p.md", "# P\n").commit();
    }
    let read = |clock: &str| -> Vec<String> {
        let ended = world.pagelog_at(clock, &["run", "--due"]).exits(0);
        let lines = ended.stdout.lines().filter_map(|line| line.split_once(": "));
        lines.map(|(source, _)| source.to_owned()).collect()
    };
    assert_eq!(read(START), ["weekly", "daily"]);
    assert!(read("2026-11-30T12:00:00Z").is_empty(), "no run without a due source");
    assert_eq!(world.commits(PUBLIC), 1);
    assert_eq!(read("2026-12-01T02:00:00Z"), ["daily"]);
    assert_eq!(read("2026-12-07T02:00:00Z"), ["weekly", "daily"]);
    assert_eq!(world.commits(PUBLIC), 3);
    // What could not be read in full stays due.
    fs::rename(world.path().join("b.git"), world.path().join("away")).unwrap();
    world.pagelog_at("2026-12-08T02:00:00Z", &["run", "--due"]).exits(3);
    fs::rename(world.path().join("away"), world.path().join("b.git")).unwrap();
    assert_eq!(read("2026-12-08T03:00:00Z"), ["daily"]);
    world.assert_whole();
}

#[test]
fn one_source_of_several() {
    let world = World::new(&format!(
        "{}{}",
        git_source("one", "true", &["./a.git"]),
        git_source("two", "true", &["./b.git"])
    ));
    for name in ["a", "b"] {
        world.upstream(name).write("p.md", "# P\n").commit();
    }
    world.pagelog(&["run", "two"]).exits(0);
    let files = world.files(PUBLIC);
    assert!(files.iter().any(|path| path.starts_with("pages/two/")));
    assert!(!files.iter().any(|path| path.starts_with("pages/one/")));
    let refused = world.pagelog(&["run", "two", "three"]).exits(2);
    assert!(refused.stderr.contains("no source `three`"), "{}", refused.stderr);
    assert_eq!(world.commits(PUBLIC), 1);
    world.pagelog_at("2026-12-01T02:00:00Z", &["run", "two", "one", "two"]).exits(0);
    assert_eq!(world.trailers(PUBLIC, "Source").len(), 2);
    world.assert_whole();
}

#[test]
fn feeds_are_left_alone() {
    let world = World::new(&format!(
        "{}[[source]]\nid = \"news\"\nkind = \"feed\"\nlicence = \"CC-BY-4.0\"\n\
         publish = false\nfeeds = [\"https://news.example.org/rss\"]\n",
        git_source("docs", "true", &["./up.git"])
    ));
    world.upstream("up").write("a.md", "# A\n").commit();
    let ended = world.pagelog(&["run"]).exits(3);
    assert!(ended.stderr.contains("feeds are left alone"), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("docs: 0 changed, 1 added"), "{}", ended.stdout);
    world.assert_whole();
    let incomplete: Vec<bool> =
        world.trailers(PUBLIC, "Source").iter().map(|line| line.ends_with("complete=no")).collect();
    assert_eq!(incomplete, [false, true]);
}
