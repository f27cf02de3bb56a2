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

const FOLDER: &str = "pages/docs/up.git.invalid/";

/// What a step must be told as, in order of the paths.
#[track_caller]
fn assert_changed(world: &World, expected: &[(&str, &str)]) {
    world.assert_whole();
    let changed = world.changed(FOLDER);
    let changed: Vec<(&str, &str)> =
        changed.iter().map(|(kind, path)| (kind.as_str(), path.as_str())).collect();
    assert_eq!(changed, expected);
}

#[test]
fn a_renamed_file_is_one_moved_page() {
    let (world, up) = World::with_upstream("true");
    up.write("old/a.md", "# A\n\nText that stays.\n").write("b.md", "# B\n").commit();
    world.run();
    up.git(&["mv", "old", "new"]).ok();
    up.commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert_changed(&world, &[("moved", "new/a.md")]);
    let json = world.pagelog(&["changes", "--json"]).json();
    assert_eq!(json[0]["pages"][0]["from"], format!("{FOLDER}old/a.md"));
}

#[test]
fn a_mode_is_no_text() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").commit();
    world.run();
    let trees = world.trees();
    up.git(&["update-index", "--chmod=+x", "a.md"]).ok();
    up.commit_index();
    world.run_at("2026-12-01T02:00:00Z");
    assert_changed(&world, &[]);
    assert_eq!(world.trees(), trees);
}

#[test]
fn files_and_folders_change_places() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# File\n").write("b.md/inner.md", "# Folder\n").write("c.md", "# C\n");
    up.commit();
    world.run();
    up.remove("a.md").write("a.md/inner.md", "# Folder now\n");
    std::fs::remove_dir_all(up.work().join("b.md")).unwrap();
    up.write("b.md", "# File now\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    assert_changed(
        &world,
        &[
            ("added", "a!2emd/inner.md"),
            ("removed", "a.md"),
            ("removed", "b!2emd/inner.md"),
            ("added", "b.md"),
        ],
    );
    std::fs::remove_dir_all(up.work().join("a.md")).unwrap();
    up.write("a.md", "# File\n").remove("b.md").write("b.md/inner.md", "# Folder\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    assert_changed(
        &world,
        &[
            ("removed", "a!2emd/inner.md"),
            ("added", "a.md"),
            ("added", "b!2emd/inner.md"),
            ("removed", "b.md"),
        ],
    );
}

#[cfg(unix)]
#[test]
fn a_page_that_becomes_a_link_or_a_submodule_leaves() {
    use std::os::unix::fs::symlink;
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n").write("b.md", "# B\n").write("c.md", "# C\n").commit();
    world.run();
    up.remove("a.md").remove("b.md");
    symlink("c.md", up.work().join("a.md")).unwrap();
    up.git(&["add", "-A", "."]).ok();
    let link = format!("160000,{},b.md", "1".repeat(40));
    up.git(&["update-index", "--add", "--cacheinfo", &link]).ok();
    up.commit_index();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.contains("a symbolic link") && said.contains("a submodule"), "{said}");
    assert_changed(&world, &[("removed", "a.md"), ("removed", "b.md")]);

    up.git(&["rm", "-q", "--cached", "b.md"]).ok();
    up.remove("a.md").write("a.md", "# A again\n").write("b.md", "# B again\n").commit();
    world.run_at("2026-12-02T02:00:00Z");
    assert_changed(&world, &[("added", "a.md"), ("added", "b.md")]);
}

#[test]
fn all_pages_may_leave_a_repository_at_once() {
    let (world, up) = World::with_upstream("true");
    for number in 0..30 {
        up.write(&format!("docs/{number}.md"), format!("# Page {number}\n"));
    }
    up.commit();
    world.run();
    up.git(&["rm", "-q", "-r", "docs"]).ok();
    up.commit_index();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 0 changed, 0 added, 30 removed"), "{said}");
    world.assert_whole();
    let root = ["README.md", "archive.toml"];
    let files = world.files("refs/heads/main");
    assert!(root.iter().all(|name| files.iter().any(|file| file == name)));
    assert!(!files.iter().any(|file| file.starts_with("pages/") || file.starts_with("links/")));
}

#[test]
fn many_files_keep_their_own_text() {
    let (world, up) = World::with_upstream("true");
    let text = |number: usize, round: usize| format!("# Page {number}\n\nRound {round}.\n");
    for number in 0..700 {
        up.write(&format!("d{}/{number}.md", number % 7), text(number, 0));
    }
    up.commit();
    world.run();
    for number in (0..700).step_by(3) {
        up.write(&format!("d{}/{number}.md", number % 7), text(number, 1));
    }
    up.commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    let counts = "docs: 234 changed, 0 added, 0 removed, 0 same, 466 not modified, 0 failed\n";
    assert!(said.starts_with(counts), "{said}");
    world.assert_whole();
    for number in [0, 1, 299, 300, 698, 699] {
        let path = format!("{FOLDER}d{}/{number}.md", number % 7);
        let page = world.file("refs/heads/main", &path);
        assert!(page.ends_with(&text(number, usize::from(number % 3 == 0))), "{page}");
    }
}
