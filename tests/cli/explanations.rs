//! Why a URL is in the archive, or is not.

use insta::assert_snapshot;

use super::scene::Scene;

#[test]
fn explain() {
    let scene = Scene::new();
    for (name, url) in [
        ("explain_known", "https://open.git.invalid/guide/a.md"),
        ("explain_removed", "https://open.git.invalid/guide/c.md"),
        ("explain_failed", "https://open.git.invalid/guide/latin.md"),
        ("explain_skipped", "https://open.git.invalid/drafts/d.md"),
        ("explain_unknown", "https://elsewhere.example.org/"),
    ] {
        assert_snapshot!(name, scene.told(&["explain", url]));
    }
    let url = "https://open.git.invalid/guide/a.md";
    assert_snapshot!("explain_json", scene.told(&["explain", url, "--json"]));
}
