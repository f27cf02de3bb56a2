//! Which files are read and where they are published; what a change of those rules does.

use crate::support::World;
use crate::support::agree::value;
use crate::support::world::git_source;

const PUBLIC: &str = "refs/heads/main";
const FOLDER: &str = "pages/docs/up.git.invalid/";

fn with_keys(keys: &str) -> String {
    git_source("docs", "true", &["./up.git"]) + keys
}

/// Paths of the pages below the folder of the repository.
fn pages(world: &World) -> Vec<String> {
    let files = world.files(PUBLIC);
    files.iter().filter_map(|path| path.strip_prefix(FOLDER)).map(str::to_owned).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn only_selected_documentation_is_read() {
    let world = World::new(&with_keys(
        "paths = [\"guide/\", \"faq.md\"]\nskip = ['/old/', '-wip\\.md$']\n",
    ));
    let up = world.upstream("up");
    for name in [
        "guide/a.md",
        "guide/b.rst",
        "guide/c.adoc",
        "guide/old/d.md",
        "guide/e-wip.md",
        "guide/f.png",
        "guide/g.txt",
        "guides/h.md",
        "faq.md",
        "README.md",
    ] {
        up.write(name, format!("# {name}\n"));
    }
    up.commit();
    world.run();
    world.assert_whole();
    assert_eq!(pages(&world), ["faq.md", "guide/a.md", "guide/b.rst!.md", "guide/c.adoc!.md"]);
    let page = world.file(PUBLIC, &format!("{FOLDER}guide/b.rst!.md"));
    assert_eq!(value(&page, "representation"), "text");

    // A change outside of the selection is no change.
    let trees = world.trees();
    up.write("README.md", "# Changed\n").write("guide/old/d.md", "# Changed\n").commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.starts_with("docs: 0 changed, 0 added, 0 removed, 0 same, 4 not modified"));
    assert_eq!(world.trees(), trees);
    world.assert_whole();
}

#[test]
fn addresses_follow_the_mapping() {
    let world = World::new(&with_keys(
        "paths = [\"content/\"]\nbase_url = \"https://guide.example.org/\"\n",
    ));
    let up = world.upstream("up");
    up.write("content/index.md", "# Start\n\n[first](first.md) [up](../LICENSE.md)\n");
    up.write("content/first.md", "# First\n\n[start](index.md#top)\n").commit();
    world.run();
    world.assert_whole();
    let first = world.file(PUBLIC, &format!("{FOLDER}content/first.md"));
    let url = value(&first, "url");
    assert!(url.starts_with("https://guide.example.org/first"), "{url}");
    assert_eq!(world.pagelog(&["show", url]).ok(), first);
    let index = world.file(PUBLIC, &format!("{FOLDER}content/index.md"));
    let graph = world.pagelog(&["links"]).ok();
    let edge = format!("{}\t{url}\tfirst\t\n", value(&index, "url"));
    assert!(graph.contains(&edge), "{graph}");
    let edge = format!("{url}\t{}\tstart\t\n", value(&index, "url"));
    assert!(graph.contains(&edge), "{graph}");
}

#[test]
fn new_rules_come_in_a_commit_of_their_own() {
    let world = World::new(&with_keys(""));
    let up = world.upstream("up");
    up.write("docs/a.md", "# A\n\n[b](b.md)\n").write("docs/b.md", "# B\n").write("x.md", "# X\n");
    up.commit();
    world.run();
    let before = world.file(PUBLIC, &format!("{FOLDER}docs/a.md"));

    // Rules and upstream change together; what we did and what they did stay apart.
    up.write("docs/b.md", "# B, changed\n").write("docs/c.md", "# C\n").commit();
    world.configure(&with_keys("paths = [\"docs/\"]\nbase_url = \"https://guide.example.org/\"\n"));
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
    assert_eq!(world.commits(PUBLIC), 3);
    assert_eq!(world.trailers("refs/heads/main~1", "Kind"), ["configuration"]);
    assert!(world.trailers(PUBLIC, "Kind").is_empty());
    assert_eq!(
        world.changed_in("refs/heads/main~1", FOLDER),
        pairs(&[("edited", "docs/a.md"), ("edited", "docs/b.md"), ("removed", "x.md")])
    );
    assert_eq!(
        world.changed_in(PUBLIC, FOLDER),
        pairs(&[("edited", "docs/b.md"), ("added", "docs/c.md")])
    );
    let after = world.file(PUBLIC, &format!("{FOLDER}docs/a.md"));
    for key in ["retrieved", "commit", "title"] {
        assert_eq!(value(&after, key), value(&before, key));
    }
    assert!(value(&after, "url").starts_with("https://guide.example.org/"));

    // Once is enough.
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.commits(PUBLIC), 4);
    world.assert_whole();
}

#[test]
fn skipping_more_and_less() {
    let world = World::new(&with_keys(""));
    let up = world.upstream("up");
    up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    world.configure(&with_keys("skip = ['^b']\n"));
    world.run_at("2026-12-01T02:00:00Z");
    assert_eq!(pages(&world), ["a.md"]);
    assert_eq!(world.trailers("refs/heads/main~1", "Kind"), ["configuration"]);
    assert!(world.changed("").is_empty());
    world.configure(&with_keys(""));
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(pages(&world), ["a.md", "b.md"]);
    assert_eq!(world.changed_in("refs/heads/main~1", FOLDER), pairs(&[("added", "b.md")]));
    world.assert_whole();
}

#[test]
fn a_new_extractor_comes_in_a_commit_of_its_own() {
    let world = World::new(&with_keys(""));
    let up = world.upstream("up");
    up.write("a.md", "# A\n").write("b.md", "# B\n").commit();
    world.run();
    let trees = world.trees();
    let page = world.file(PUBLIC, &format!("{FOLDER}a.md"));
    let older = || {
        let state = rusqlite::Connection::open(world.archive().join("pagelog/state.sqlite"));
        state.unwrap().execute("UPDATE upstream SET extractor = 0", []).unwrap();
    };

    older();
    up.write("b.md", "# B, changed\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
    assert_eq!(world.commits(PUBLIC), 3);
    assert_eq!(world.trailers("refs/heads/main~1", "Kind"), ["extractor"]);
    // The rules give the same here, so that nothing differs, `retrieved` included.
    let tree = world.git(&["rev-parse", "refs/heads/main~1^{tree}"]).ok();
    assert_eq!(tree.trim(), trees[0]);
    assert_eq!(world.file(PUBLIC, &format!("{FOLDER}a.md")), page);
    assert_eq!(world.changed(FOLDER), pairs(&[("edited", "b.md")]));

    // Where the old files are not kept, the run reads everything again.
    older();
    std::fs::remove_dir_all(world.archive().join("pagelog/upstream")).unwrap();
    world.run_at("2026-12-02T02:00:00Z");
    world.assert_whole();
    assert_eq!(world.file(PUBLIC, &format!("{FOLDER}a.md")), page);
    assert_eq!(world.commits(PUBLIC), 4);
}
