//! Where pages stand: on which ref, under which name; and what moves them.

use crate::support::World;
use crate::support::agree::value;
use crate::support::world::git_source;

const PUBLIC: &str = "refs/heads/main";
const PRIVATE: &str = "refs/private/main";
const PAGE: &str = "pages/docs/up.git.invalid/a.md";
const LINKS: &str = "links/docs/up.git.invalid/a.tsv";
const TEXT: &str = "# Title\n\nSee [the anchor](https://example.org/target).\n";

fn has(world: &World, name: &str, path: &str) -> bool {
    world.files(name).iter().any(|file| file == path)
}

#[test]
fn pages_of_a_source_follow_its_visibility() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", TEXT).commit();
    world.run();
    let page = world.file(PUBLIC, PAGE);
    let links = world.file(PUBLIC, LINKS);
    assert!(links.contains("the anchor"));

    world.configure(&git_source("docs", "false", &["./up.git"]));
    let ended = world.pagelog_at("2026-12-01T02:00:00Z", &["run"]).exits(0);
    assert!(ended.stderr.contains("is private now"), "{}", ended.stderr);
    world.assert_whole();
    assert_eq!(world.commits(PUBLIC), 3);
    assert_eq!(world.trailers("refs/heads/main~1", "Kind"), ["configuration"]);
    assert!(!has(&world, PUBLIC, PAGE));
    assert_eq!(world.file(PUBLIC, LINKS), "to\ttext\trel\nhttps://example.org/target\t\t\n");
    assert_eq!(world.file(PRIVATE, PAGE), page, "nothing of the text was read anew");
    assert_eq!(world.file(PRIVATE, LINKS), links);
    let found = world.pagelog(&["show", "https://up.git.invalid/a.md"]).ok();
    assert_eq!(found, page);

    world.configure(&git_source("docs", "true", &["./up.git"]));
    world.run_at("2026-12-02T02:00:00Z");
    world.assert_whole();
    assert_eq!(world.file(PUBLIC, PAGE), page);
    assert_eq!(world.file(PUBLIC, LINKS), links);
    let private = world.files(PRIVATE);
    assert!(!private.iter().any(|path| path.contains("docs")), "{private:?}");
}

#[test]
fn a_renamed_source_takes_its_pages_along() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", TEXT).write("b.md", "# B\n").commit();
    world.run();
    let before = world.file(PUBLIC, PAGE);
    up.write("b.md", "# B, changed\n").commit();
    world.configure(&format!("{}was = [\"docs\"]\n", git_source("manual", "true", &["./up.git"])));
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
    assert_eq!(world.trailers("refs/heads/main~1", "Kind"), ["configuration"]);
    let moved = world.changed_in("refs/heads/main~1", "pages/manual/up.git.invalid/");
    let moved: Vec<&str> = moved.iter().map(|(_, path)| path.as_str()).collect();
    assert!(moved.contains(&"a.md") && moved.contains(&"b.md"), "{moved:?}");
    assert_eq!(
        world.changed("pages/manual/up.git.invalid/"),
        [("edited".to_owned(), "b.md".to_owned())]
    );
    let after = world.file(PUBLIC, "pages/manual/up.git.invalid/a.md");
    assert_eq!(after, before.replace("source: docs", "source: manual"));
    let files = world.files(PUBLIC);
    assert!(!files.iter().any(|path| path.contains("/docs/")), "{files:?}");
    let history = world.pagelog(&["history", "https://up.git.invalid/a.md"]).ok();
    assert!(history.contains("pages/manual/up.git.invalid/a.md"), "{history}");
    // Its past under the old id belongs to it.
    assert!(history.contains("2026-12-01T02:00:00Z  moved"), "{history}");
    assert!(history.contains("2026-11-30T02:00:00Z  added"), "{history}");
    let then = ["show", "https://up.git.invalid/a.md", "--at", "2026-11-30"];
    assert_eq!(world.pagelog(&then).ok(), before);

    // The run after it has nothing left to do.
    let trees = world.trees();
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.trees(), trees);
    assert_eq!(world.commits(PUBLIC), 4);
}

#[test]
fn a_source_may_be_renamed_and_become_private_at_once() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", TEXT).commit();
    world.run();
    world.configure(&format!("{}was = [\"docs\"]\n", git_source("manual", "false", &["./up.git"])));
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
    let public = world.files(PUBLIC);
    assert!(!public.iter().any(|path| path.starts_with("pages/")), "{public:?}");
    assert!(!public.iter().any(|path| path.contains("/docs/")), "{public:?}");
    let links = "links/manual/up.git.invalid/a.tsv";
    assert_eq!(world.file(PUBLIC, links), "to\ttext\trel\nhttps://example.org/target\t\t\n");
    let page = world.file(PRIVATE, "pages/manual/up.git.invalid/a.md");
    assert_eq!(value(&page, "source"), "manual");
    assert_eq!(value(&page, "retrieved"), "2026-11-30T02:00:00Z");
}

#[test]
fn a_page_that_moves_to_the_public_ref_is_compared_with_what_stays_private() {
    let world = World::new(&format!(
        "{}{}",
        git_source("docs", "false", &["./up.git"]),
        git_source("secret", "false", &["./secret.git"])
    ));
    let (up, secret) = (world.upstream("up"), world.upstream("secret"));
    let text = (0..60).map(|n| format!("word{n} ")).collect::<Vec<_>>().concat();
    up.write("a.md", &text).write("b.md", "# Harmless\n").commit();
    secret.write("s.md", &text).commit();
    world.run();
    world.configure(&format!(
        "{}{}",
        git_source("docs", "true", &["./up.git"]),
        git_source("secret", "false", &["./secret.git"])
    ));
    let said = world.run_at("2026-12-01T02:00:00Z");
    assert!(said.contains("held back"), "{said}");
    world.assert_whole();
    assert!(has(&world, PUBLIC, "pages/docs/up.git.invalid/b.md"));
    let texts = world.git(&["grep", "-l", "word7", PUBLIC]);
    assert_eq!(texts.stdout, "", "text of a private page is public");
    let texts = world.git(&["grep", "-l", "word7", "refs/heads/main~1"]);
    assert_eq!(texts.stdout, "", "text of a private page was public");
}

#[test]
fn a_source_that_is_no_longer_configured_keeps_its_pages() {
    let world = World::new(&format!(
        "{}{}",
        git_source("docs", "true", &["./up.git"]),
        git_source("other", "false", &["./other.git"])
    ));
    let (up, other) = (world.upstream("up"), world.upstream("other"));
    up.write("a.md", TEXT).commit();
    other.write("o.md", TEXT).commit();
    world.run();
    let trees = world.trees();
    world.configure(&git_source("docs", "true", &["./up.git"]));
    world.run_at("2026-12-01T02:00:00Z");
    assert!(has(&world, PRIVATE, "pages/other/other.git.invalid/o.md"));
    let status = world.pagelog(&["status"]).ok();
    assert!(status.contains("other: no longer in the configuration"), "{status}");
    world.configure(&format!(
        "{}{}",
        git_source("docs", "true", &["./up.git"]),
        git_source("other", "false", &["./other.git"])
    ));
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.trees(), trees);
    world.assert_whole();
}

#[test]
fn pages_of_a_repository_leave_with_it() {
    let world = World::new(&git_source("docs", "true", &["./a.git", "./b.git"]));
    let ups = ["a", "b", "c"].map(|name| world.upstream(name));
    for up in &ups {
        up.write("p.md", TEXT).commit();
    }
    world.run();
    let kept = world.file(PUBLIC, "pages/docs/b.git.invalid/p.md");
    world.configure(&git_source("docs", "true", &["./b.git", "./c.git"]));
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
    assert_eq!(world.trailers("refs/heads/main~1", "Kind"), ["configuration"]);
    let told = |revision: &str| world.changed_in(revision, "pages/docs/");
    let one = |kind: &str, path: &str| vec![(kind.to_owned(), path.to_owned())];
    assert_eq!(told("refs/heads/main~1"), one("removed", "a.git.invalid/p.md"));
    assert_eq!(told(PUBLIC), one("added", "c.git.invalid/p.md"));
    assert!(!has(&world, PUBLIC, "links/docs/a.git.invalid/p.tsv"));
    assert_eq!(world.file(PUBLIC, "pages/docs/b.git.invalid/p.md"), kept);
    let explained = world.pagelog(&["explain", "https://a.git.invalid/p.md"]).ok();
    assert!(explained.contains("its repository is no longer one of the source's"), "{explained}");

    // Once, also after the state was made anew from messages that name it.
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.commits(PUBLIC), 4);
    std::fs::remove_file(world.archive().join("pagelog/state.sqlite")).unwrap();
    world.run_at("2026-12-03T02:00:00Z");
    assert_eq!(world.commits(PUBLIC), 5);
    world.assert_whole();

    world.configure(&git_source("docs", "true", &["./a.git", "./b.git", "./c.git"]));
    let said = world.run_at("2026-12-04T02:00:00Z");
    assert!(said.starts_with("docs: 0 changed, 1 added, 0 removed"), "{said}");
    world.assert_whole();
}

#[test]
fn a_repository_that_leaves_a_source_does_not_become_public_with_it() {
    let world = World::new(&git_source("docs", "false", &["./a.git", "./b.git"]));
    for name in ["a", "b"] {
        world.upstream(name).write("p.md", format!("# Only in {name}{name}{name}\n")).commit();
    }
    world.run();
    world.configure(&git_source("docs", "true", &["./b.git"]));
    world.run_at("2026-12-01T02:00:00Z");
    world.assert_whole();
    assert!(has(&world, PUBLIC, "pages/docs/b.git.invalid/p.md"));
    for revision in [PUBLIC, "refs/heads/main~1"] {
        assert_eq!(world.git(&["grep", "-l", "aaa", revision]).stdout, "", "{revision}");
        assert!(!world.files(revision).iter().any(|path| path.contains("a.git.invalid")));
    }
    let private = world.files(PRIVATE);
    assert!(!private.iter().any(|path| path.contains("docs")), "{private:?}");
    world.run_at("2026-12-02T02:00:00Z");
    assert_eq!(world.commits(PUBLIC), 4);
    world.assert_whole();
}

#[test]
fn a_former_id_may_be_named_later() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", TEXT).commit();
    world.run();
    world.configure(&git_source("manual", "true", &["./up.git"]));
    world.run_at("2026-12-01T02:00:00Z");
    world.configure(&format!("{}was = [\"docs\"]\n", git_source("manual", "true", &["./up.git"])));
    world.run_at("2026-12-02T02:00:00Z");
    world.assert_whole();
    let files = world.files(PUBLIC);
    assert!(!files.iter().any(|path| path.contains("/docs/")), "{files:?}");
    let told = world.pagelog(&["explain", "https://up.git.invalid/a.md"]).ok();
    assert!(told.contains("run 1 (manual): changed: added"), "{told}");
}
