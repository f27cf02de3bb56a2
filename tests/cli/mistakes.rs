//! Mistakes that people make, and states that are not what they should be: each is told of
//! with what to do.

use std::fs;

use crate::support::World;
use crate::support::world::git_source;

/// Two runs over one page.
fn archived() -> World {
    let (world, upstream) = World::with_upstream("true");
    upstream.write("a.md", "# A\n").commit();
    world.run();
    upstream.write("a.md", "# A\n\nEdited.\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    world
}

fn page(world: &World) -> String {
    let listed = world.pagelog(&["history", "*", "--json"]).json();
    listed[0]["url"].as_str().expect("a page").to_owned()
}

#[test]
fn a_source_that_was_renamed_has_moved_pages() {
    let world = World::new(&git_source("one", "true", &["./up.git"]));
    world.upstream("up").write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    let renamed = git_source("two", "true", &["./up.git"]);
    world.configure(&renamed.replace("id = \"two\"", "id = \"two\"\nwas = [\"one\"]"));
    world.run_at("2026-12-01T02:00:00Z");
    let told = world.pagelog(&["changes", "HEAD~1"]).ok();
    assert!(told.contains("refs/heads/main: 0 added, 0 edited, 2 moved, 0 removed"), "{told}");
    let history = world.pagelog(&["history", "https://up.git.invalid/a.md"]).ok();
    assert_eq!(history.matches("moved").count(), 1, "{history}");
    assert_eq!(history.matches("added").count(), 1, "{history}");
}

#[test]
fn a_damaged_state_is_told_of_and_done_without() {
    let world = archived();
    let url = page(&world);
    let asked = |words: &[&str]| world.pagelog(words).exits(0);
    let before = asked(&["history", &url]).stdout;
    let file = world.archive().join("pagelog/state.sqlite");
    let mut bytes = fs::read(&file).expect("a state");
    let half = bytes.len() / 2;
    bytes[4096..half].fill(0xa5);
    fs::write(&file, bytes).expect("damaged");
    let after = asked(&["history", &url]);
    assert_eq!(after.stdout, before);
    assert!(after.stderr.contains("`pagelog audit --repair`"), "{}", after.stderr);
    for words in [vec!["status"], vec!["show", &url], vec!["changes"], vec!["explain", &url]] {
        let told = asked(&words).stderr;
        assert!(told.contains("answered without it"), "{words:?}: {told}");
    }
}

#[test]
fn a_missing_state_is_told_of() {
    let world = archived();
    fs::remove_file(world.archive().join("pagelog/state.sqlite")).expect("removed");
    for words in [vec!["status"], vec!["explain", "https://up.git.invalid/a.md"]] {
        let told = world.pagelog(&words).exits(0).stderr;
        assert!(told.contains("the next run makes it anew"), "{words:?}: {told}");
    }
}

#[test]
fn what_was_not_meant_is_named() {
    let world = archived();
    let url = page(&world);
    let told = |words: &[&str], code| world.pagelog(words).exits(code).stderr;
    let wrong_date = told(&["show", &url, "--at", "2026-02-30"], 2);
    assert!(wrong_date.contains("there is no such date"), "{wrong_date}");
    let wrong_range = told(&["changes", "2026-13-01..2026-12-01"], 2);
    assert!(wrong_range.contains("there is no such date"), "{wrong_range}");
    let wrong_source = told(&["history", &url, "--source", "nobody"], 1);
    assert!(wrong_source.contains("no source `nobody`"), "{wrong_source}");
    let no_mirror = told(&["publish"], 2);
    assert!(no_mirror.contains("[[mirror]]"), "{no_mirror}");
}
