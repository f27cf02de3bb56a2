//! The dated versions of pages.

use insta::assert_snapshot;

use super::scene::Scene;

#[test]
fn history() {
    let scene = Scene::new();
    let url = "https://open.git.invalid/guide/a.md";
    assert_snapshot!("history", scene.told(&["history", url]));
    assert_snapshot!("history_diff", scene.told(&["history", url, "--diff"]));
    assert_snapshot!("history_json", scene.told(&["history", url, "--json"]));
    let pattern = scene.told(&["history", "https://open.git.invalid/guide/*"]);
    assert_snapshot!("history_pattern", pattern);
    let removed = scene.told(&["history", "https://open.git.invalid/guide/c.md"]);
    assert_snapshot!("history_removed", removed);
    let removed = scene.told(&["history", "https://open.git.invalid/guide/c.md", "--diff"]);
    assert_snapshot!("history_removed_diff", removed);
}
