//! The dated versions of pages.

use insta::assert_snapshot;

use super::scene::Scene;
use crate::support::World;
use crate::support::agree::body;
use crate::support::world::git_source;

#[test]
fn history() {
    let scene = Scene::new();
    let url = "https://open.git.invalid/guide/a.md";
    assert_snapshot!("history", scene.told(&["history", url]));
    assert_snapshot!("history_diff", scene.told(&["history", url, "--diff"]));
    assert_snapshot!("history_json", scene.told(&["history", url, "--json"]));
    let pattern = scene.told(&["history", "https://open.git.invalid/guide/*"]);
    assert_snapshot!("history_pattern", pattern);
    for path in ["pages/open/*/guide/*", "pages/*/guide/*.md", "pages/*/a.md"] {
        let found = scene.told(&["history", path]);
        let only_a = path.ends_with("a.md");
        for page in ["guide/a.md", "guide/c.md"] {
            let told = found.contains(&format!("https://open.git.invalid/{page}"));
            assert_eq!(told, !only_a || page.ends_with("a.md"), "{path}: {found}");
        }
    }
    let removed = scene.told(&["history", "https://open.git.invalid/guide/c.md"]);
    assert_snapshot!("history_removed", removed);
    let removed = scene.told(&["history", "https://open.git.invalid/guide/c.md", "--diff"]);
    assert_snapshot!("history_removed_diff", removed);
}

#[test]
fn a_page_whose_source_changed_its_visibility() {
    let (world, up) = World::with_upstream("true");
    let url = "https://up.git.invalid/a.md";
    up.write("a.md", "# One\n").commit();
    world.run();
    up.write("a.md", "# Two\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.configure(&git_source("docs", "false", &["./up.git"]));
    up.write("a.md", "# Three\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    for (at, text) in
        [("2026-11-30", "# One\n"), ("2026-12-01", "# Two\n"), ("2026-12-02", "# Three\n")]
    {
        assert_eq!(body(&world.pagelog(&["show", url, "--at", at]).ok()), text);
    }
    let history = world.pagelog(&["history", url, "--json"]).json();
    let versions = history[0]["versions"].as_array().unwrap();
    let told: Vec<(&str, &str)> = versions
        .iter()
        .map(|v| (&v["date"].as_str().unwrap()[..10], v["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("2026-12-02", "edited"),
            ("2026-12-02", "moved"),
            ("2026-12-01", "edited"),
            ("2026-11-30", "added"),
        ]
    );
}
