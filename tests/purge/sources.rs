//! Whole sources.

use super::scene::{LATER, PRIVATE, PUBLIC, Scene, assert_nowhere, files_with};

#[test]
fn a_source_leaves_all_history_and_is_left_alone() {
    let scene = Scene::new();
    let world = &scene.world;
    let told = world.pagelog_at(LATER, &["purge", "--source", "docs"]).ok();
    assert!(told.contains("docs: 3 pages taken down"), "{told}");
    assert_nowhere(world, &world.archive(), "open text");
    assert_eq!(files_with(&world.archive().join("pagelog"), "open text").len(), 0);
    assert!(!world.archive().join("pagelog/upstream/docs").exists());
    let listed = world.files(PUBLIC);
    assert!(!listed.iter().any(|path| path.contains("/docs/")), "{listed:?}");
    assert!(listed.iter().any(|path| path.starts_with("links/inner/")), "{listed:?}");
    assert!(world.file(PRIVATE, "denied.tsv").contains("docs\t*\t2026-12-09\n"));
    scene.assert_whole();
    let ran = world.pagelog_at("2026-12-10T02:00:00Z", &["run"]).exits(0);
    assert!(ran.stderr.contains("docs was taken down on 2026-12-09"), "{}", ran.stderr);
    assert!(!world.archive().join("pagelog/upstream/docs").exists(), "it was not asked");
    assert_nowhere(world, &world.archive(), "open text");
    scene.assert_whole();
}
