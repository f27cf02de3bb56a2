//! Public pages that hold more than half of a private page.
//!
//! Such a page failed (it counts as `failed` and is listed with its reason), but its source
//! was read in full: the run is done and exits 0, as with any page that cannot be used.

use crate::support::World;
use crate::support::agree::body;
use crate::support::world::git_source;

const PUBLIC: &str = "refs/heads/main";
const PAGE: &str = "pages/open/open.git.invalid/a.md";
const URL: &str = "https://open.git.invalid/a.md";

/// Words that no other text has.
fn words(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("zqword{n}")).collect::<Vec<_>>().join(" ") + "\n"
}

fn sources() -> String {
    // The public source stands first, so that order alone does not keep it apart.
    git_source("open", "true", &["./open.git"]) + &git_source("closed", "false", &["./closed.git"])
}

fn has_page(world: &World) -> bool {
    world.files(PUBLIC).iter().any(|path| path == PAGE)
}

#[test]
fn a_page_is_held_back_until_the_private_one_is_gone() {
    let world = World::new(&sources());
    let (open, closed) = (world.upstream("open"), world.upstream("closed"));
    closed.write("secret.md", words(0, 200)).commit();
    open.write("a.md", format!("Intro.\n\n{}", words(0, 150))).write("b.md", words(0, 60)).commit();
    let ended = world.pagelog(&["run"]).exits(0);
    assert!(
        ended
            .stdout
            .contains("open: 0 changed, 1 added, 0 removed, 0 same, 0 not modified, 1 failed"),
        "{}",
        ended.stdout
    );
    let reason = format!("{URL}: held back: it holds more than half of the private page");
    assert!(ended.stdout.contains(&reason), "{}", ended.stdout);
    assert!(!has_page(&world));
    let explained = world.pagelog(&["explain", URL]).ok();
    assert!(explained.contains("failed: held back"), "{explained}");
    let status = world.pagelog(&["status"]).ok();
    assert!(status.contains("1 URLs failed when last looked at"), "{status}");
    world.assert_whole();
    assert_eq!(world.git(&["grep", "-l", "zqword149", PUBLIC]).stdout, "");

    // Nothing changed, and the state was lost: still held back.
    world.run_at("2026-12-01T02:00:00Z");
    assert!(!has_page(&world));
    std::fs::remove_file(world.archive().join("pagelog/state.sqlite")).unwrap();
    world.run_at("2026-12-02T02:00:00Z");
    assert!(!has_page(&world));
    world.assert_whole();

    closed.remove("secret.md").write("other.md", "# Harmless\n").commit();
    world.run_at("2026-12-03T02:00:00Z");
    world.run_at("2026-12-04T02:00:00Z");
    assert!(has_page(&world), "{}", world.pagelog(&["explain", URL]).ok());
    assert!(body(&world.file(PUBLIC, PAGE)).contains("zqword149"));
    world.assert_whole();
}

#[test]
fn a_page_that_begins_to_resemble_keeps_its_old_text() {
    let world = World::new(&sources());
    let (open, closed) = (world.upstream("open"), world.upstream("closed"));
    closed.write("secret.md", words(0, 200)).commit();
    open.write("a.md", "# Public text\n").commit();
    world.run();
    let before = world.file(PUBLIC, PAGE);
    open.write("a.md", words(0, 200)).commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert_eq!(world.file(PUBLIC, PAGE), before);
    open.write("a.md", words(900, 990)).commit();
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(body(&world.file(PUBLIC, PAGE)), words(900, 990));
    world.assert_whole();
}

#[test]
fn a_source_that_is_not_read_still_guards_its_pages() {
    let world = World::new(&sources());
    let (open, closed) = (world.upstream("open"), world.upstream("closed"));
    closed.write("secret.md", words(0, 200)).commit();
    open.write("b.md", "# B\n").commit();
    world.run();
    open.write("a.md", words(20, 190)).commit();
    world.pagelog_at("2026-12-01T02:00:00Z", &["run", "open"]).exits(0);
    assert!(!has_page(&world));
    // A private source that left the configuration is as private as before.
    world.configure(&git_source("open", "true", &["./open.git"]));
    world.run_at("2026-12-02T02:00:00Z");
    assert!(!has_page(&world));
    world.assert_whole();
}
