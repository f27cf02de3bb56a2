//! Every file and commit of an archive, against the description of the format.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::{self, Page};
use crate::support::World;
use crate::support::world::git_source;

const REFS: [&str; 2] = ["refs/heads/main", "refs/private/main"];

/// An archive of three runs over a public and a private source, each with texts that need
/// care.
fn archive() -> World {
    let world = World::new(
        &(git_source("open", "true", &["./open.git"])
            + "vendor = \"a | b\"\nvolatile = [\"ms.date\"]\n"
            + &git_source("closed", "false", &["./closed.git"])
            + "licence = \"LicenseRef-Closed\"\n")
            .replacen("licence = \"CC-BY-4.0\"\npublish = false", "publish = false", 1),
    );
    let (open, closed) = (world.upstream("open"), world.upstream("closed"));
    open.write("README.md", "# Title: with \"quotes\" \\ and ünïcode 🌍\n\n[a](docs/a.md)\n")
        .write("docs/a.md", "---\ntitle: 'yes'\nms.date: 1\nversion: 1.10\nlist: [a, b]\nwhen: 2026-01-02\n---\n\n\
                             [x](https://example.org/x#part) [y](../README.md 'hover')\n\
                             <a rel=\"nofollow noopener ugc\" href=\"https://example.org/z?b=1&a=2\">  two\n words </a>\n\
                             [same](b.md) [same](b.md) [other](b.md) [Ü](https://example.org/Ü%20ü)\n")
        .write("docs/b.md", "# null\n")
        .write("docs/c.md", "---\n: : broken [\n---\n\ntext\n")
        .write("docs/empty.md", "")
        .write("docs/two words.md", "---\ntitle: \"2026-01-02\"\n---\n\n\n\nIndented below.\n\n\n")
        .write("docs/plain.rst", "Heading\n=======\n\nhttps://example.org/bare.\n")
        .commit();
    closed.write("s.md", "# Closed\n\n[anchor](https://example.org/s) [b](t.md)\n").commit();
    world.run();
    open.write("docs/b.md", "# b\n").remove("docs/c.md");
    open.commit();
    closed.write("t.md", "# T\n").commit();
    world.run_at("2026-12-01T02:00:00Z");
    world.run_at("2026-12-08T23:59:59Z");
    world.assert_whole();
    world
}

/// The pages of a ref by the path below `pages/`.
fn pages(world: &World, name: &str) -> BTreeMap<String, Page> {
    let mut pages = BTreeMap::new();
    for path in world.files(name) {
        if let Some(below) = path.strip_prefix("pages/") {
            let page = reader::page(&world.file(name, &path));
            pages.insert(below.to_owned(), page.unwrap_or_else(|why| panic!("{path}: {why}")));
        }
    }
    pages
}

#[test]
fn every_page_is_as_described() {
    let world = archive();
    let mut titles = BTreeSet::new();
    for (name, source) in REFS.into_iter().zip(["open", "closed"]) {
        let pages = pages(&world, name);
        assert!(!pages.is_empty());
        for (path, page) in pages {
            let value = |key: &str| page.value(key).unwrap_or_default().to_owned();
            assert_eq!(value("source"), source, "{path}");
            let (folder, file) = path.split_once(".git.invalid/").unwrap();
            assert_eq!(folder, format!("{source}/{source}"));
            assert_eq!(value("repository"), format!("https://{source}.git.invalid/"));
            // The path is the file's, `!.md` standing for what does not end in `.md`.
            let plain =
                file.strip_suffix("!.md").unwrap_or(file).replace("%20", " ").replace("!20", " ");
            assert_eq!(plain, value("file"), "{path}");
            let retrieved = value("retrieved");
            assert!(retrieved.len() == 20 && retrieved.ends_with('Z'), "{retrieved}");
            let commit = value("commit");
            assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()));
            assert!(value("url").starts_with(&format!("https://{source}.git.invalid/")));
            assert!(["git", "text"].contains(&value("representation").as_str()));
            let licence = if source == "open" { "CC-BY-4.0" } else { "LicenseRef-Closed" };
            assert_eq!(value("licence"), licence);
            assert!(!page.upstream.iter().any(|line| line.starts_with("ms.date")));
            titles.insert(value("title"));
        }
    }
    for title in ["Title: with \"quotes\" \\ and ünïcode 🌍", "yes", "b", "empty.md", "2026-01-02"]
    {
        assert!(titles.contains(title), "{title} of {titles:?}");
    }
    let public = pages(&world, REFS[0]);
    let upstream = &public["open/open.git.invalid/docs/a.md"].upstream;
    assert!(upstream.iter().any(|line| line.starts_with("version: ")), "{upstream:?}");
    let changed = &public["open/open.git.invalid/docs/b.md"];
    assert_eq!(changed.value("retrieved"), Some("2026-12-01T02:00:00Z"));
    let kept = &public["open/open.git.invalid/docs/a.md"];
    assert_eq!(kept.value("retrieved"), Some("2026-11-30T02:00:00Z"));
}

#[test]
fn every_links_file_is_as_described() {
    let world = archive();
    for name in REFS {
        let pages: BTreeSet<String> = pages(&world, name).into_keys().collect();
        let mut with_links = BTreeSet::new();
        for path in world.files(name) {
            let Some(below) = path.strip_prefix("links/") else { continue };
            let links = reader::links(&world.file(name, &path));
            let links = links.unwrap_or_else(|why| panic!("{path}: {why}"));
            if name == REFS[0] && below.starts_with("closed/") {
                assert!(links.iter().all(|link| link.text.is_empty() && link.rel.is_empty()));
                continue;
            }
            let page = below.strip_suffix(".tsv").unwrap().to_owned() + ".md";
            with_links.insert(page);
        }
        assert_eq!(with_links, pages, "{name}: one links file a page");
    }
    let links = world.file(REFS[0], "links/open/open.git.invalid/docs/a.tsv");
    let found = reader::links(&links).unwrap();
    let told: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|link| (link.to.as_str(), link.text.as_str(), link.rel.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("https://example.org/%C3%9C%20%C3%BC", "Ü", ""),
            ("https://example.org/x", "x", ""),
            ("https://example.org/z?b=1&a=2", "two words", "nofollow ugc"),
            ("https://open.git.invalid/README.md", "y", ""),
            ("https://open.git.invalid/docs/b.md", "other", ""),
            ("https://open.git.invalid/docs/b.md", "same", ""),
        ]
    );
}

#[test]
fn every_commit_is_as_described() {
    let world = archive();
    let starts = ["2026-12-08T23:59:59Z", "2026-12-01T02:00:00Z", "2026-11-30T02:00:00Z"];
    for name in REFS {
        let format = "--format=%H%x1f%P%x1f%an%x1f%ae%x1f%at%x1f%cn%x1f%ce%x1f%ct%x1f%aI%x1f%B%x1e";
        let log = world.git(&["-c", "log.showSignature=false", "log", format, name]).ok();
        let commits: Vec<Vec<&str>> = log
            .split('\u{1e}')
            .map(|one| one.trim_start().split('\u{1f}').collect())
            .filter(|one: &Vec<&str>| one.len() > 1)
            .collect();
        assert_eq!(commits.len(), 3);
        for (number, commit) in commits.iter().enumerate() {
            let [_, parents, an, ae, at, cn, ce, ct, date, message] = commit.as_slice() else {
                panic!("{commit:?}")
            };
            let parent = commits.get(number + 1).map_or("", |older| older[0]);
            assert_eq!(*parents, parent, "one line of commits");
            assert_eq!([*an, *ae, *cn, *ce], ["TestBot", "bot@example.org"].repeat(2)[..]);
            let (started, ended): (i64, i64) = (at.parse().unwrap(), ct.parse().unwrap());
            assert!(ended >= started);
            assert_eq!(date.replace("+00:00", "Z"), starts[number]);
            assert_message(message, starts[number]);
        }
    }
}

#[track_caller]
fn assert_message(message: &str, started: &str) {
    let (title, _) = message.split_once("\n\n").expect("a title");
    assert!(title.starts_with(&format!("{}: ", &started[..10])), "{title}");
    assert!(title.len() <= 72, "{title}");
    let trailers = reader::trailers(message);
    let keys: Vec<&str> = trailers.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys[..3], ["Run", "Format", "Extractor"]);
    assert_eq!(trailers[0].1, started);
    assert_eq!(trailers[1].1, "1");
    let mut counted = BTreeMap::new();
    for (key, value) in &trailers[3..] {
        match key.as_str() {
            "Source" => {
                let (source, counts) = reader::source_line(value).expect("counts");
                let names: BTreeSet<&str> = counts.keys().map(String::as_str).collect();
                let all =
                    ["added", "changed", "complete", "failed", "not-modified", "removed", "same"];
                assert_eq!(names, all.into_iter().collect());
                for sum in ["changed", "added", "removed"] {
                    *counted.entry(sum).or_insert(0) += counts[sum].parse::<u64>().unwrap();
                }
                assert!(["open", "closed"].contains(&source.as_str()));
            }
            "Upstream" => {
                let words: Vec<&str> = value.split(' ').collect();
                assert_eq!(words.len(), 3);
                assert_eq!(words[1], format!("https://{}.git.invalid/", words[0]));
                assert_eq!(words[2].len(), 40);
            }
            other => panic!("the trailer {other}"),
        }
    }
    let [changed, added, removed] = ["changed", "added", "removed"].map(|sum| counted[sum]);
    let summary = format!("{changed} changed, {added} added, {removed} removed");
    assert!(title.ends_with(&summary), "{title}");
}

#[test]
fn the_files_at_the_root_are_as_described() {
    let world = archive();
    for name in REFS {
        let files = world.files(name);
        let root: Vec<&str> =
            files.iter().map(String::as_str).filter(|path| !path.contains('/')).collect();
        assert_eq!(root, [".gitattributes", "README.md", "archive.toml"]);
        let folders: BTreeSet<&str> =
            files.iter().filter_map(|f| Some(f.split_once('/')?.0)).collect();
        assert_eq!(folders, BTreeSet::from(["links", "pages"]));
        let toml = world.file(name, "archive.toml");
        assert_eq!(toml, "format = 1\npaths = 1\nportable_case = false\n");
        let attributes = world.file(name, ".gitattributes");
        assert_eq!(attributes.lines().next(), Some("*.md diff=markdown text eol=lf"));
        let readme = world.file(name, "README.md");
        for part in ["| open | a \\| b | CC-BY-4.0 | public |", "bot@example.org", "How to cite"] {
            assert!(readme.contains(part), "{readme}");
        }
        // Modes: files and folders, nothing executable, no link.
        let tree = world.git(&["ls-tree", "-r", "-t", name]).ok();
        assert!(tree.lines().all(|l| l.starts_with("100644 blob") || l.starts_with("040000 tree")));
    }
}

#[test]
fn the_same_captures_give_the_same_bytes() {
    let (one, two) = (archive(), archive());
    for name in REFS {
        let tree = |world: &World| world.git(&["rev-parse", &format!("{name}^{{tree}}")]).ok();
        assert_eq!(tree(&one), tree(&two));
        let messages = |world: &World| world.git(&["log", "--format=%an %at%n%B", name]).ok();
        assert_eq!(messages(&one), messages(&two));
    }
}
