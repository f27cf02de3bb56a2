//! What README and decisions promise, once each, as a user would look at it.

use crate::support::shared::shared;
use crate::support::world::git_source;
use crate::support::{Upstream, World};

/// Title and `Kind` of the commits of a ref, newest first.
fn kinds(world: &World, tip: &str) -> Vec<String> {
    let format = "--format=%s|%(trailers:key=Kind,valueonly,separator=%x2C)";
    let log = world.git(&["log", format, tip]).ok();
    log.lines().map(|line| line.rsplit('|').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_same_upstream_gives_the_same_trees() {
    let (first, up) = World::with_upstream("true");
    up.write("a.md", "# A\n\n[b](b.md)\n").write("b.rst", "B\n=\n").commit();
    first.run();
    let address = up.path().to_string_lossy().into_owned();
    let second = World::new(&git_source("docs", "true", &[&address]));
    second.run();
    assert_eq!(first.trees(), second.trees());

    let head = first.git_in(up.work(), &["rev-parse", "HEAD"]).ok();
    let message = first.git(&["log", "-1", "--format=%B", "refs/heads/main"]).ok();
    assert!(message.contains(&format!("Upstream: docs https://up.git.invalid/ {head}")));
    let page = first.file("refs/heads/main", "pages/docs/up.git.invalid/a.md");
    assert!(page.contains("retrieved: 2026-11-30T02:00:00Z\n"), "{page}");
    assert!(!page.contains(&*first.path().to_string_lossy()), "no local path is stored");
}

#[test]
fn what_we_change_has_a_commit_of_its_own() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    let licensed = git_source("docs", "true", &["./up.git"]).replace("CC-BY-4.0", "MIT");
    world.configure(&licensed);
    up.write("b.md", "# B\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert_eq!(kinds(&world, "refs/heads/main"), ["", "configuration", ""]);
    let page = world.file("refs/heads/main", "pages/docs/up.git.invalid/a.md");
    assert!(page.contains("licence: MIT\n") && page.contains("retrieved: 2026-11-30T"), "{page}");

    world.configure(&licensed.replace("id = \"docs\"", "id = \"guide\"\nwas = [\"docs\"]"));
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(kinds(&world, "refs/heads/main")[..2], ["", "configuration"]);
    let pages = |tip: &str| -> Vec<String> {
        world.files(tip).into_iter().filter(|path| path.starts_with("pages/")).collect()
    };
    let renamed = ["pages/guide/up.git.invalid/a.md", "pages/guide/up.git.invalid/b.md"];
    assert_eq!(pages("refs/heads/main"), renamed);

    let private = world.path().join("sources.toml");
    let text = std::fs::read_to_string(private).unwrap();
    world.write("sources.toml", &text.replace("publish = true", "publish = false"));
    world.run_at("2026-12-03T02:00:00Z");
    assert_eq!(kinds(&world, "refs/private/main")[..2], ["", "configuration"]);
    assert_eq!(pages("refs/private/main"), renamed);
    assert!(pages("refs/heads/main").is_empty());
    let [main, earlier] = ["refs/heads/main", "refs/heads/main~1"].map(|tip| world.files(tip));
    assert_eq!(main, earlier, "the run itself found nothing to change");
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
    world.assert_sound();
}

#[test]
fn links_submodules_and_pointers_are_no_pages() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    up.write("b.md", pointer).commit();
    std::os::unix::fs::symlink("a.md", up.work().join("link.md")).unwrap();
    up.git(&["add", "-A", "."]).ok();
    let module = format!("160000,{},module.md", "1".repeat(40));
    up.git(&["update-index", "--add", "--cacheinfo", &module]).ok();
    up.commit_index();
    world.run_at("2026-12-01T02:00:00Z");
    let files = world.files("refs/heads/main");
    let pages: Vec<&String> = files.iter().filter(|path| path.starts_with("pages/")).collect();
    assert_eq!(pages, ["pages/docs/up.git.invalid/a.md", "pages/docs/up.git.invalid/b.md"]);
    for (name, why) in [("b.md", "Git LFS"), ("link.md", "link"), ("module.md", "submodule")] {
        let told = world.pagelog(&["explain", &format!("https://up.git.invalid/{name}")]).ok();
        assert!(told.contains("skipped") && told.contains(why), "{name}: {told}");
    }
    world.assert_sound();
}

#[test]
fn a_moved_ref_stops_the_run_until_it_is_accepted() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    up.write("a.md", "# A\n\nMore.\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.git(&["update-ref", "refs/heads/main", "refs/heads/main~1"]).ok();
    let refused = world.pagelog_at("2026-12-02T02:00:00Z", &["run"]).exits(1);
    assert!(refused.stderr.contains("audit --repair"), "{}", refused.stderr);
    world.pagelog(&["audit", "--repair"]).ok();
    world.run_at("2026-12-02T02:00:00Z");
    let page = world.file("refs/heads/main", "pages/docs/up.git.invalid/a.md");
    assert!(page.contains("More."), "{page}");
}

#[test]
fn kinds_that_are_not_read_yet_are_left_alone() {
    let feed = "[[source]]\nid = \"news\"\nkind = \"feed\"\nlicence = \"CC-BY-4.0\"\n\
                publish = true\nfeeds = [\"https://news.example.org/rss\"]\n";
    let world = World::new(feed);
    let outcome = world.pagelog(&["run"]).exits(3);
    assert!(outcome.stderr.contains("left alone"), "{}", outcome.stderr);
    assert_eq!(world.git(&["rev-list", "--count", "refs/heads/main"]).ok(), "1\n");
}

#[test]
fn real_documentation_keeps_the_format() {
    let Some(bundle) = shared("data/aks-docs.bundle") else { return };
    let (world, _) = World::with_upstream("true");
    std::fs::remove_dir_all(world.path().join("up.git")).unwrap();
    let bundle = bundle.canonicalize().unwrap().to_string_lossy().into_owned();
    let clone = ["clone", "-q", "--bare", "-b", "main", &bundle, "up.git"];
    world.git_in(world.path(), &clone).ok();
    world.run();
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
    world.assert_sound();
    assert!(world.files("refs/heads/main").len() > 100);
}

#[test]
fn an_empty_upstream_is_told_and_changes_nothing() {
    let world = World::new(&git_source("docs", "true", &["./none.git"]));
    let _none: Upstream = world.upstream("none");
    let outcome = world.pagelog(&["run"]).exits(3);
    assert!(outcome.stderr.contains("https://none.git.invalid/"), "{}", outcome.stderr);
}
