//! Names of files, however they are spelt.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::support::agree::{body, value};
use crate::support::{Upstream, World};

const PUBLIC: &str = "refs/heads/main";

/// A name of bytes; only Unix has such names.
#[cfg(unix)]
fn name(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn name(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Names that a careless program trips over.
fn odd_names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        "two words.md",
        " leading.md",
        "trailing .md",
        "line\nend.md",
        "tab\there.md",
        "-n.md",
        "--help.md",
        "con.md",
        "AUX.md",
        "com1.x.md",
        "folder.md/page.md",
        "folder.tsv/page.md",
        ".hidden.md",
        ".md",
        "..double.md",
        "dots...md",
        "Größe.md",
        "日本語/頁.md",
        "e\u{301}.md",
        "é.md",
        "a:b.md",
        "quote\".md",
        "star*.md",
        "question?.md",
        "hash#.md",
        "percent%41.md",
        "bang!41.md",
        "Case.md",
        "case.md",
        "CASE/x.md",
        "Case/x.md",
        "index.md",
        "README.md",
        "readme.md",
        "UPPER.MD",
        "other.markdown",
        "plain.rst",
        "plain.rst.md",
        "$HOME.md",
        "`id`.md",
        "@{-1}.md",
        ":(glob)x.md",
        "~user.md",
        "emoji 🌍.md",
        "rtl \u{202e}.md",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    names.push([b"n".repeat(250), b".md".to_vec()].concat());
    names.push([b"n".repeat(251), b".md".to_vec()].concat());
    names.push(["ü".repeat(120).as_bytes(), b".md"].concat());
    names.push([b"deep/".repeat(60), b"page.md".to_vec()].concat());
    names.push([b"deep/".repeat(61), b"page.md".to_vec()].concat());
    names.push(format!("{}/x.md", vec!["w".repeat(200); 6].join("/")).into_bytes());
    if cfg!(target_os = "linux") {
        names.push(b"latin \xe9.md".to_vec());
        names.push(b"latin \xe8.md".to_vec());
        names.push(b"\xff\xfe/x.md".to_vec());
    }
    names
}

fn write_all(up: &Upstream, names: &[Vec<u8>], round: usize) {
    for (number, bytes) in names.iter().enumerate() {
        let path = up.work().join(name(bytes));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(number, round)).unwrap();
    }
    up.commit();
}

fn text(number: usize, round: usize) -> String {
    format!("# Number {number}\n\nRound {round} of number {number}.\n")
}

/// Pages by their text; no two have one text, so none is lost or there twice.
fn pages(world: &World) -> BTreeMap<String, (String, String)> {
    let files = world.files(PUBLIC);
    let found = files.iter().filter(|path| path.starts_with("pages/")).map(|path| {
        let page = world.file(PUBLIC, path);
        (body(&page).to_owned(), (path.clone(), page))
    });
    let pages: BTreeMap<_, _> = found.collect();
    assert_eq!(pages.len(), files.iter().filter(|path| path.starts_with("pages/")).count());
    pages
}

#[test]
fn every_name_is_a_page_of_its_own() {
    let (world, up) = World::with_upstream("true");
    let names = odd_names();
    write_all(&up, &names, 0);
    let said = world.run();
    let counts = format!("docs: 0 changed, {} added, 0 removed", names.len());
    assert!(said.starts_with(&counts), "{said}");
    world.assert_whole();

    let found = pages(&world);
    assert_eq!(found.len(), names.len());
    for (number, bytes) in names.iter().enumerate() {
        let (path, page) = &found[&text(number, 0)];
        let safe = |part: &str| {
            part.len() <= 255
                && part.bytes().all(|b| b.is_ascii_graphic() && !b"\\:*?\"<>|".contains(&b))
        };
        assert!(path.len() < 1024 && path.split('/').all(safe), "{path}");
        let file = value(page, "file");
        let shown = String::from_utf8_lossy(bytes);
        if !file.starts_with('"') {
            assert_eq!(file, shown);
        }
        let url = value(page, "url").trim_matches('"');
        assert_eq!(world.pagelog(&["show", url]).ok(), *page, "{shown}");
        assert_eq!(world.pagelog(&["url", path]).ok(), format!("{url}\n"));
        assert_eq!(world.pagelog(&["path", url]).ok(), format!("{path}\n"), "{url}");
    }

    write_all(&up, &names, 1);
    let said = world.run_at("2026-12-01T02:00:00Z");
    let counts = format!("docs: {} changed, 0 added, 0 removed", names.len());
    assert!(said.starts_with(&counts), "{said}");
    world.assert_whole();

    up.git(&["rm", "-q", "-r", "."]).ok();
    up.commit_index();
    let said = world.run_at("2026-12-02T02:00:00Z");
    let counts = format!("docs: 0 changed, 0 added, {} removed", names.len());
    assert!(said.starts_with(&counts), "{said}");
    assert!(pages(&world).is_empty());
    world.assert_whole();
}

#[test]
fn a_clone_has_every_name() {
    let (world, up) = World::with_upstream("true");
    let mut names = odd_names();
    // A file system that ignores case cannot hold both; that is what `portable_case` is for.
    names.retain(|bytes| !bytes.to_ascii_lowercase().starts_with(b"case"));
    write_all(&up, &names, 0);
    world.run();
    let archive = world.archive().display().to_string();
    world.git_in(world.path(), &["clone", "-q", &archive, "copy"]).ok();
    let copy = world.path().join("copy");
    assert_eq!(world.git_in(&copy, &["status", "--porcelain"]).ok(), "");
    assert_eq!(world.git_in(&copy, &["ls-files", "pages"]).ok().lines().count(), names.len());
}

#[test]
fn portable_case_keeps_names_apart_that_differ_in_case() {
    let (world, up) = World::with_upstream("true");
    let sources = fs::read_to_string(world.path().join("sources.toml")).unwrap();
    world.write(
        "sources.toml",
        &sources.replace("path = \"archive\"\n", "path = \"archive\"\nportable_case = true\n"),
    );
    up.write("Case.md", "# One\n").write("case.md", "# Two\n").write("CASE/x.md", "# Three\n");
    up.commit();
    world.run();
    world.assert_whole();
    let files = world.files(PUBLIC);
    let folded: std::collections::BTreeSet<String> =
        files.iter().map(|path| path.to_lowercase()).collect();
    assert_eq!(folded.len(), files.len(), "{files:?}");
    let pages: Vec<&String> = files.iter().filter(|path| path.starts_with("pages/")).collect();
    assert_eq!(pages.len(), 3);
    for path in pages {
        let page = world.file(PUBLIC, path);
        assert_eq!(world.pagelog(&["path", value(&page, "url")]).ok(), format!("{path}\n"));
    }

    // The rule is the archive's: a configuration that says otherwise is refused.
    world.write("sources.toml", &sources);
    let refused = world.pagelog(&["run"]).exits(2);
    assert!(refused.stderr.contains("portable_case"), "{}", refused.stderr);
}

#[test]
fn names_that_differ_in_case_only_are_told() {
    let (world, up) = World::with_upstream("true");
    up.write("Case.md", "# One\n").write("other.md", "# Other\n").commit();
    let said = world.run();
    assert!(!said.contains("capitals"), "{said}");
    up.write("case.md", "# Two\n").write("New.md", "# N\n").write("NEW.md", "# N2\n").commit();
    let said = world.run_at("2026-12-01T02:00:00Z");
    for pair in [
        "https://up.git.invalid/case.md: its path differs in capitals only from up.git.invalid/Case.md",
        "https://up.git.invalid/New.md: its path differs in capitals only from up.git.invalid/NEW.md",
    ] {
        assert!(said.contains(pair), "{said}");
    }
    // Nothing is lost, nothing is told twice, and a renamed file is no pair.
    let said = world.run_at("2026-12-02T02:00:00Z");
    assert!(!said.contains("capitals"), "{said}");
    up.git(&["mv", "other.md", "OTHER.md"]).ok();
    up.commit();
    let said = world.run_at("2026-12-03T02:00:00Z");
    assert!(!said.contains("capitals"), "{said}");
    world.assert_whole();
}
