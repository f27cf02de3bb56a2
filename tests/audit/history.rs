//! Trees of all commits: what stood in one of them once is found, though no tip has it.

use super::forge::{Forge, PRIVATE, PUBLIC, Put};
use crate::support::World;
use crate::support::world::git_source;

#[test]
fn modes_and_names_are_those_of_the_format() {
    let forge = Forge::new();
    let tips = forge.tips();
    let id = forge.blob("x\n");
    let commit = forge.id(PUBLIC);
    let folder = "pages/open/open.git.invalid";
    let cases: [(&str, String, Put<'_>, &str); 10] = [
        ("mode", format!("{folder}/a.md"), Put::Entry("100755", id.clone()), "100755"),
        ("mode", format!("{folder}/link.md"), Put::Entry("120000", id.clone()), "120000"),
        ("mode", format!("{folder}/module.md"), Put::Entry("160000", commit), "160000"),
        ("path", format!("{folder}/con.md"), Put::File("x\n"), "every file system"),
        ("path", format!("{folder}/a:b.md"), Put::File("x\n"), "every file system"),
        ("path", format!("{folder}/plain.txt"), Put::File("x\n"), "no file or directory"),
        ("path", "extra/x.md".to_owned(), Put::File("x\n"), "no file or directory"),
        (
            "path",
            "pages/Not-A-Source/h.example/x.md".to_owned(),
            Put::File("x\n"),
            "no file or directory",
        ),
        (
            "path",
            "denied.tsv".to_owned(),
            Put::File("source\turl\tsince\n"),
            "no file or directory",
        ),
        ("path", "moved/deeper/x.tsv".to_owned(), Put::File("x\n"), "no file or directory"),
    ];
    for (kind, path, put, what) in cases {
        // In the second of three commits, so that the tip is sound.
        forge.put((PUBLIC, 1), &path, &put);
        let place = path.strip_suffix("/x.md").or(path.strip_suffix("/x.tsv")).unwrap_or(&path);
        let place = place.strip_suffix("/h.example").unwrap_or(place);
        forge.names([kind, place, what]);
        forge.names([kind, place, "refs/heads/main from"]);
        forge.restore(&tips);
    }
    forge.put((PRIVATE, 1), "TAKEDOWNS.md", &Put::File("# Takedowns\n"));
    forge.names(["path", "TAKEDOWNS.md", "no file or directory"]);
    forge.restore(&tips);
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}

#[test]
fn nothing_private_is_in_any_public_tree() {
    let forge = Forge::new();
    let tips = forge.tips();
    let page = "pages/closed/closed.git.invalid/s.md";
    let links = "links/closed/closed.git.invalid/s.tsv";
    let blob = |path: &str| Put::Entry("100644", forge.id(&format!("{PRIVATE}:{path}")));
    let cases = [
        (page, page, "a page of the private source closed"),
        ("pages/open/open.git.invalid/innocent.md", page, "a page of the private source closed"),
        ("links/open/open.git.invalid/innocent.tsv", page, "a page of the private source closed"),
        ("README.md", page, "a page of the private source closed"),
        ("moved/open.tsv", page, "a page of the private source closed"),
        ("extra/deep/down", page, "a page of the private source closed"),
        (links, links, "more than the URLs"),
        ("pages/open/open.git.invalid/innocent.md", links, "a links file of a private source"),
        ("README.md", links, "a links file of a private source"),
    ];
    for (place, what, told) in cases {
        for back in [0, 1, 2] {
            forge.put((PUBLIC, back), place, &blob(what));
            forge.names(["leak", place, told]);
            forge.restore(&tips);
        }
    }
    // Any file of a private source's pages, whatever it holds.
    forge.put((PUBLIC, 1), page, &Put::File("x\n"));
    forge.names(["leak", page, "a page of the private source closed"]);
    forge.restore(&tips);
    // One of a source that the private ref does not have, and no page beside it.
    forge.put(
        (PUBLIC, 1),
        "links/gone/h.example/x.tsv",
        &Put::File("to\ttext\trel\nhttps://a.example/\tsecret\t\n"),
    );
    forge.names(["leak", "links/gone/h.example/x.tsv", "more than the URLs"]);
    forge.restore(&tips);
    assert_eq!(forge.world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}

#[test]
fn what_was_public_in_its_time_is_no_leak() {
    let (world, up) = World::with_upstream("true");
    up.write("a.md", "# A\n\n[x](https://example.org/x)\n").commit();
    world.run();
    world.configure(&git_source("docs", "false", &["./up.git"]));
    world.run_at("2026-12-01T02:00:00Z");
    let told = world.pagelog(&["audit"]).exits(0);
    assert_eq!(told.stdout, "audit: no faults\n");
    assert!(told.stderr.contains("docs is private now"), "{}", told.stderr);
    // Back again: what was private is public by decision.
    world.configure(&git_source("docs", "true", &["./up.git"]));
    world.run_at("2026-12-02T02:00:00Z");
    let told = world.pagelog(&["audit"]).exits(0);
    assert_eq!((told.stdout.as_str(), told.stderr.as_str()), ("audit: no faults\n", ""));
}

#[test]
fn texts_that_both_have_are_no_leak() {
    let both = git_source("open", "true", &["./open.git"])
        + &git_source("closed", "false", &["./closed.git"]);
    let world = World::new(&both);
    // The same licence, and no links in either: equal links files on both refs.
    for name in ["open", "closed"] {
        world.upstream(name).write("licence.md", "# Licence\n\nDo what you like.\n").commit();
    }
    world.run();
    assert_eq!(world.pagelog(&["audit"]).ok(), "audit: no faults\n");
}
