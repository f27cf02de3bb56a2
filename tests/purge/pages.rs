//! Single pages.

use super::scene::{INNER, LATER, PRIVATE, PUBLIC, SECRET, Scene, assert_nowhere, files_with};

const NEXT: &str = "2026-12-10T02:00:00Z";

#[test]
fn a_page_is_nowhere_afterwards_and_all_else_is_as_it_was() {
    let scene = Scene::new();
    let world = &scene.world;
    let before = [PUBLIC, PRIVATE].map(|name| scene.commits(name));
    let files = world.files(PUBLIC);
    let told = world.pagelog_at(LATER, &["purge", SECRET]).ok();
    assert!(told.contains("docs: 1 pages taken down"), "{told}");

    assert_nowhere(world, &world.archive(), "open zqsecret");
    assert_eq!(
        files_with(&world.archive(), "open zqsecret"),
        [""; 0].map(std::path::PathBuf::from)
    );
    scene.assert_whole();
    let after = [PUBLIC, PRIVATE].map(|name| scene.commits(name));
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(after.len(), before.len() + 1);
        let texts = |commits: &[(String, String)]| {
            commits.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(before), texts(&after[..before.len()]), "dates, authors, messages, order");
        assert!(after[before.len()].1.contains("\nKind: takedown"));
    }
    let same = |n: usize| before[n].iter().zip(&after[n]).filter(|(a, b)| a.0 == b.0).count();
    assert_eq!(same(0), 1, "of the public commits the one before it came");
    assert_eq!(same(1), 4, "the private ones do not have it");

    let gone =
        ["links/docs/up.git.invalid/part/secret.tsv", "pages/docs/up.git.invalid/part/secret.md"];
    let mut expected: Vec<String> =
        files.into_iter().filter(|path| !gone.contains(&path.as_str())).collect();
    expected.push("TAKEDOWNS.md".to_owned());
    expected.sort();
    assert_eq!(world.files(PUBLIC), expected);
    let takedowns = world.file(PUBLIC, "TAKEDOWNS.md");
    assert!(takedowns.ends_with("| 2026-12-09 | docs | 1 |  |\n"), "{takedowns}");
    assert!(!takedowns.contains("secret"), "{takedowns}");
    let denied = world.file(PRIVATE, "denied.tsv");
    assert_eq!(denied, format!("source\turl\tsince\ndocs\t{SECRET}\t2026-12-09\n"));
    let links = world.file(PUBLIC, "links/docs/up.git.invalid/a.tsv");
    assert!(links.contains(SECRET), "an address is no text: {links}");
}

#[test]
fn it_is_not_read_again_also_where_the_state_was_lost() {
    let scene = Scene::new();
    let world = &scene.world;
    world.pagelog_at(LATER, &["purge", SECRET]).ok();
    scene.upstreams[0].write("part/secret.md", "# Hidden\n\nopen zqsecret4\n").commit();
    world.run_at(NEXT);
    let told = world.pagelog(&["explain", SECRET]).ok();
    assert!(told.contains("denied") && told.contains("taken down on 2026-12-09"), "{told}");
    std::fs::remove_file(world.archive().join("pagelog/state.sqlite")).expect("a state");
    scene.upstreams[0].write("part/secret.md", "# Hidden\n\nopen zqsecret5\n").commit();
    world.run_at("2026-12-11T02:00:00Z");
    assert_nowhere(world, &world.archive(), "open zqsecret");
    assert!(
        !world.files(PUBLIC).iter().any(|path| path.contains("docs/up.git.invalid/part/secret"))
    );
    scene.assert_whole();
}

#[test]
fn a_private_page_leaves_both_refs() {
    let scene = Scene::new();
    let world = &scene.world;
    world.pagelog_at(LATER, &["purge", "--path", "inner/*/secret.md"]).ok();
    assert_nowhere(world, &world.archive(), "closed zqsecret");
    for name in [PUBLIC, PRIVATE] {
        let listed = world.files(name);
        let inner = listed.iter().filter(|path| path.contains("inner") && path.contains("secret"));
        assert_eq!(inner.count(), 0, "{listed:?}");
    }
    assert!(world.file(PRIVATE, "denied.tsv").contains(INNER));
    scene.assert_whole();
}

#[test]
fn links_to_it_go_where_that_is_asked_for() {
    let scene = Scene::new();
    let world = &scene.world;
    world.pagelog_at(LATER, &["purge", SECRET, "--links", "--why", "its owner | asked"]).ok();
    let listed = world.git(&["rev-list", PUBLIC]).ok();
    for commit in listed.lines() {
        let links = world.file(commit, "links/docs/up.git.invalid/a.tsv");
        assert_eq!(links, "to\ttext\trel\n", "{commit}");
    }
    let takedowns = world.file(PUBLIC, "TAKEDOWNS.md");
    assert!(takedowns.contains("| docs | 1 | its owner \\| asked |\n"), "{takedowns}");
    scene.assert_whole();
}

#[test]
fn one_that_left_long_ago_is_found_in_the_past() {
    let scene = Scene::new();
    let world = &scene.world;
    scene.upstreams[0].remove("part/secret.md").commit();
    world.run_at("2026-12-05T02:00:00Z");
    world.pagelog_at(LATER, &["purge", SECRET]).ok();
    assert_nowhere(world, &world.archive(), "open zqsecret");
    scene.assert_whole();
    // Twice is once.
    world.pagelog_at(LATER, &["purge", SECRET]).ok();
    let takedowns = world.file(PUBLIC, "TAKEDOWNS.md");
    assert_eq!(takedowns.matches("| docs |").count(), 1, "{takedowns}");
    scene.assert_whole();
}

#[test]
fn what_was_never_read_is_denied_all_the_same() {
    let scene = Scene::new();
    let world = &scene.world;
    let tips = world.trees();
    world.pagelog_at(LATER, &["purge", "https://up.git.invalid/other.md"]).ok();
    assert_ne!(world.trees()[1], tips[1]);
    scene.upstreams[0].write("other.md", "# Other\n\nzqother\n").commit();
    world.run_at(NEXT);
    assert_nowhere(world, &world.archive(), "zqother");
    scene.assert_whole();
}

#[test]
fn a_dry_run_says_the_same_and_changes_nothing() {
    let scene = Scene::new();
    let world = &scene.world;
    let before = [PUBLIC, PRIVATE].map(|name| scene.commits(name));
    let packs = || std::fs::read_dir(world.archive().join("objects/pack")).expect("packs").count();
    let count = packs();
    let told = world.pagelog_at(LATER, &["purge", SECRET, "--dry-run", "--json"]).json();
    assert_eq!([PUBLIC, PRIVATE].map(|name| scene.commits(name)), before);
    assert_eq!(packs(), count);
    scene.assert_whole();
    let done = world.pagelog_at(LATER, &["purge", SECRET, "--json"]).json();
    for key in ["pages", "denied", "commits", "files", "file_bytes", "objects", "bytes"] {
        assert_eq!(told[key], done[key], "{key}");
    }
    assert_eq!((told["commits"].as_u64(), told["public"].as_str()), (Some(3), None));
}
