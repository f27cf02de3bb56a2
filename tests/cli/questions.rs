//! Questions to an archive: dates, revisions, addresses, and what cannot be answered.

use super::scene::Scene;
use crate::support::agree::body;

const A: &str = "https://open.git.invalid/guide/a.md";
const SECRET: &str = "https://closed.git.invalid/s.md";

#[test]
fn a_page_as_it_was() {
    let scene = Scene::new();
    let first = "# A\n\nFirst line.\nSecond line.\n";
    let second = "# A\n\nFirst line, edited.\nSecond line.\n";
    let old = scene.world.git(&["rev-parse", "HEAD~2"]).ok();
    let private = scene.world.git(&["rev-parse", "refs/private/main~2"]).ok();
    for (at, text) in [
        ("2026-11-30", first),
        ("2026-11-30T02:00:00Z", first),
        ("2026-12-01T01:59:59Z", first),
        ("2026-12-01T03:00:00+01:00", second),
        ("2026-12-01", second),
        ("2027-01-01", second),
        ("HEAD", second),
        ("HEAD~2", first),
        (old.trim(), first),
        (&old[..10], first),
        // A commit of the other ref stands for its date.
        (private.trim(), first),
    ] {
        let page = scene.told(&["show", A, "--at", at]);
        assert_eq!(body(&page), text, "{at}");
    }
    for (at, text) in [("2026-12-07", "[Anchor]"), ("HEAD~1", "[Anchor]"), ("HEAD", "Edited.")] {
        let page = scene.told(&["show", SECRET, "--at", at]);
        assert!(body(&page).contains(text), "{at}: {page}");
    }
}

#[test]
fn what_was_not_there_is_said() {
    let scene = Scene::new();
    let world = &scene.world;
    for (arguments, code, why) in [
        (["show", A, "--at", "2026-11-29"].as_slice(), 1, "was not in the archive at 2026-11-29"),
        (&["show", A, "--at", "yesterday"], 2, "names nothing here"),
        (&["show", "https://open.git.invalid/guide/c.md"], 1, "is no longer in the archive"),
        (&["show", "https://open.git.invalid/nothing.md"], 1, "no page of the archive has or had"),
        (&["history", "https://open.git.invalid/none/*"], 1, "no page of the archive has or had"),
        (&["show", A, "--source", "closed"], 1, "no page of the archive has or had"),
        (&["changes", "HEAD~9"], 2, "names nothing here"),
        (&["changes", "HEAD..private"], 2, "share no history"),
        (&["changes", "HEAD^{tree}"], 2, "it is no commit"),
        (&["links", "--at", "nonsense"], 2, "names nothing here"),
        (&["links", "nobody"], 2, "no source `nobody`"),
        (&["changes", "HEAD~1...HEAD"], 2, "compared as A..B"),
        (&["show", "https://open.git.invalid/guide/*"], 2, "5 pages have an address like"),
        (&["url", "pages/open"], 2, "pages/open"),
        (&["path", "mailto:someone@example.org"], 2, "mailto"),
    ] {
        let ended = world.pagelog(arguments).exits(code);
        assert!(ended.stderr.contains(why), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout.replace("from\tto\ttext\trel\n", ""), "", "{arguments:?}");
    }
    let removed = "https://open.git.invalid/guide/c.md";
    let page = scene.told(&["show", removed, "--at", "2026-11-30"]);
    assert_eq!(body(&page), "# C\n\nWill be removed.\n");
}

#[test]
fn a_commit_on_neither_ref_is_refused() {
    let scene = Scene::new();
    let world = &scene.world;
    let tree = world.git(&["rev-parse", "HEAD^{tree}"]).ok();
    let stray = world
        .git(&[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit-tree",
            "-m",
            "stray",
            tree.trim(),
        ])
        .ok();
    let ended = world.pagelog(&["changes", stray.trim()]).exits(2);
    assert!(ended.stderr.contains("on neither ref"), "{}", ended.stderr);
}

#[test]
fn pages_by_their_path() {
    let scene = Scene::new();
    let path = "pages/open/open.git.invalid/guide/a.md";
    assert_eq!(scene.told(&["show", path]), scene.told(&["show", A]));
    assert_eq!(scene.told(&["history", path]), scene.told(&["history", A]));
    let removed = "pages/open/open.git.invalid/guide/c.md";
    let history = scene.told(&["history", removed]);
    assert!(history.contains("removed") && history.contains("added"), "{history}");
}

#[test]
fn a_page_that_two_sources_hold() {
    let world = crate::support::World::new(
        &(crate::support::world::git_source("one", "true", &["./a/docs.git"])
            + &crate::support::world::git_source("two", "true", &["./b/docs.git"])),
    );
    for folder in ["a", "b"] {
        let folder_path = world.path().join(folder);
        std::fs::create_dir_all(&folder_path).unwrap();
        let up = crate::support::Upstream::new(&folder_path, "docs");
        up.write("p.md", format!("# {folder}\n")).commit();
    }
    world.run();
    world.assert_whole();
    let url = "https://docs.git.invalid/p.md";
    let asked = world.pagelog(&["show", url]).exits(1);
    assert!(asked.stderr.contains("pages/two/docs.git.invalid/p.md"), "{}", asked.stderr);
    let shown = world.pagelog(&["show", url, "--source", "two"]).ok();
    assert_eq!(body(&shown), "# b\n");
    assert_eq!(world.pagelog(&["path", url]).ok().lines().count(), 2);
    assert_eq!(world.pagelog(&["path", url, "--source", "one"]).ok().lines().count(), 1);
    assert_eq!(world.pagelog(&["history", url, "--json"]).json().as_array().unwrap().len(), 2);
}

#[test]
fn json_is_what_programs_may_read() {
    let scene = Scene::new();
    let json = |arguments: &[&str]| scene.world.pagelog(arguments).json();
    let history = json(&["history", A, "--json"]);
    let versions = history[0]["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    for version in versions {
        let commit = version["commit"].as_str().unwrap();
        let path = history[0]["path"].as_str().unwrap();
        let blob = scene.world.git(&["rev-parse", &format!("{commit}:{path}")]).ok();
        assert_eq!(version["blob"], blob.trim());
    }
    let lines = scene.told(&["links", "--json"]);
    for line in lines.lines() {
        let edge: serde_json::Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&String> = edge.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["from", "rel", "text", "to"]);
    }
    let status = json(&["status", "--json"]);
    assert_eq!(status["runs"], 3);
    assert_eq!(status["sources"].as_array().unwrap().len(), 2);
    assert_eq!(json(&["check", "--json"])["valid"], true);
    assert_eq!(json(&["explain", A, "--json"])["pages"].as_array().unwrap().len(), 1);
    let run = json(&["run", "--json"]);
    assert_eq!(run["complete"], true);
    assert_eq!(run["public"].as_str().unwrap().len(), 40);
}

#[test]
fn commits_that_are_left_out_are_the_tip() {
    let scene = Scene::new();
    let range = scene.told(&["changes", "HEAD~2..HEAD"]);
    assert_eq!(scene.told(&["changes", "HEAD~2.."]), range);
    assert_eq!(scene.told(&["changes", "..HEAD"]), scene.told(&["changes", "HEAD..HEAD"]));
}

#[test]
fn changes_take_dates() {
    let (world, up) = crate::support::World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    up.write("b.md", "# B\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    up.write("a.md", "# A, edited\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    let kinds = |range: &str| -> Vec<String> {
        let told = world.pagelog(&["changes", range, "--json"]).json();
        let pages = told[0]["pages"].as_array().unwrap();
        pages.iter().map(|page| page["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds("2026-12-01"), ["added"]);
    assert_eq!(kinds("2026-12-01T23:00:00Z"), ["added"]);
    assert_eq!(kinds("2026-11-30..2026-12-02"), ["edited", "added"]);
    assert_eq!(kinds("2026-12-01..HEAD"), ["edited"]);
    assert_eq!(kinds("2025-01-01..2026-11-30"), ["added"]);
    let ended = world.pagelog(&["changes", "2025-01-01"]).exits(2);
    assert!(ended.stderr.contains("no run at 2025-01-01 or before"), "{}", ended.stderr);
}

#[test]
fn an_archive_without_a_run_is_copied_too() {
    let (world, up) = crate::support::World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.pagelog(&["init"]).ok();
    world.pagelog(&["backup", "copy"]).ok();
    world.pagelog(&["--archive", "copy", "audit"]).ok();
    world.pagelog(&["--archive", "copy", "run"]).ok();
}

#[test]
fn a_time_that_git_cannot_write_is_refused() {
    let (world, _up) = crate::support::World::with_upstream("true");
    let ended = world.pagelog_at("1969-12-31T23:59:59Z", &["run"]).exits(2);
    assert!(ended.stderr.contains("no time before 1970"), "{}", ended.stderr);
}
