//! Runs over an upstream that changes between them.

use crate::support::World;

#[test]
fn each_run_is_a_commit_and_says_what_changed() {
    let (world, up) = World::with_upstream("true");
    up.write("README.md", "# Hello\n").write("docs/a.md", "# A\n\nText.\n").commit();
    world.run();
    up.write("docs/a.md", "# A\n\nOther text.\n")
        .write("docs/b.md", "# B\n")
        .remove("README.md")
        .commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_sound();

    let changes = world.pagelog(&["changes", "--json"]).json();
    let pages = changes[0]["pages"].as_array().expect("pages");
    let told: Vec<(&str, &str)> = pages
        .iter()
        .map(|page| (page["kind"].as_str().unwrap(), page["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("removed", "pages/docs/up.git.invalid/README.md"),
            ("edited", "pages/docs/up.git.invalid/docs/a.md"),
            ("added", "pages/docs/up.git.invalid/docs/b.md"),
        ]
    );
    assert_eq!(world.git(&["rev-list", "--count", "refs/heads/main"]).ok(), "2\n");
    assert_eq!(world.git(&["rev-list", "--count", "refs/private/main"]).ok(), "2\n");
}
