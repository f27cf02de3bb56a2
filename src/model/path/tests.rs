//! Paths: the rules one by one, shared cases, and properties of all URLs and files.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::PathBuf;
use std::thread;

use super::*;

/// A small generator of numbers (xorshift64*), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % limit
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Takes numbers that are hashes already: a test without optimisation is slow enough.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

type Build = BuildHasherDefault<AsIs>;

/// A hash of 64 bits (FNV-1a) that can be continued.
fn continued(mut hash: u64, text: &[u8]) -> u64 {
    let mut at = 0;
    while at < text.len() {
        hash = (hash ^ u64::from(text[at])).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash ^ hash >> 29
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// What the paths of one archive must be to each other. Holds hashes in place of texts.
#[derive(Default)]
struct Tree {
    /// Path to address.
    owners: HashMap<u64, u64, Build>,
    /// Directories of pages in lower case.
    directories: HashSet<u64, Build>,
    /// Pages and their links files in lower case.
    files: HashSet<u64, Build>,
}

impl Tree {
    /// Adds a page; `false` if it is there already. Two addresses of one path are an error.
    fn add(&mut self, path: &TreePath, address: &[u8], case: CaseRule) -> bool {
        let (text, address) = (path.as_str(), continued(SEED, address));
        if let Some(other) = self.owners.insert(continued(SEED, text.as_bytes()), address) {
            assert_eq!(other, address, "{text} belongs to two addresses");
            return false;
        }
        assert_eq!(TreePath::parse(text).as_ref(), Ok(path));
        let folded = text.to_ascii_lowercase();
        assert!(case == CaseRule::Keep || folded == text, "{text}");
        let (mut hash, mut rest) = (SEED, folded.as_str());
        while let Some((name, below)) = rest.split_once('/') {
            hash = continued(hash, name.as_bytes());
            self.directories.insert(hash);
            rest = below;
        }
        let stem = rest.strip_suffix(".md").unwrap();
        self.files.insert(continued(hash, rest.as_bytes()));
        self.files.insert(continued(hash, format!("{stem}.tsv").as_bytes()));
        true
    }

    fn check(&self) {
        let both = self.directories.intersection(&self.files).count();
        assert_eq!(both, 0, "pages or their links stand where a directory does");
    }
}

const PIECES: &[&str] = &[
    "!",
    "%",
    "/",
    ".",
    "~",
    ":",
    "?",
    "#",
    "&",
    ";",
    "=",
    "A",
    "B",
    "a",
    "b",
    "m",
    "d",
    "t",
    "s",
    "v",
    "/",
    ".",
    "/a",
    ".md",
    ".tsv",
    ".MD",
    ".md/",
    ".tsv/",
    "index",
    "Index",
    "con",
    "CON",
    "com1",
    "aux.",
    "conin$",
    "%2e",
    "%2F",
    "%21",
    "%C3%a9",
    "%41",
    "é",
    "ü",
    "..",
    "../",
    "!-",
    "!0",
    "!9",
    "!8/",
    "!a",
    "!2e",
    "!.md",
    ";jsessionid=",
    "utm_x=",
    "[",
    "|",
    "\\",
    " ",
    "+",
    "@",
    ",",
    "-",
    "_",
    "'",
    "git~1",
    ".git",
];
const HOSTS: &[&str] = &[
    "h.example",
    "h.example",
    "h.example",
    "H.example:8443",
    "h.example+8443",
    "a.md",
    "con.x",
    "bücher.example",
    "x.tsv:1",
    "[::1]:2",
];

fn random_text(random: &mut Random, out: &mut String) {
    for _ in 0..3 + random.below(9) {
        out.push_str(random.pick(PIECES));
    }
    match random.below(200) {
        0 => out.extend(std::iter::repeat_n(random.pick(PIECES), 100 + random.below(150))),
        1 => out.extend(std::iter::repeat_n("/b", 30 + random.below(20))),
        2 => (0..9).for_each(|_| {
            out.push('/');
            out.extend(std::iter::repeat_n("c", 95 + random.below(8)));
        }),
        _ => return,
    }
    out.push_str(random.pick(PIECES));
}

fn random_urls(seed: u64, count: usize, case: CaseRule) -> usize {
    let (mut random, mut tree, mut text) = (Random(seed), Tree::default(), String::new());
    for _ in 0..count {
        text.clear();
        text.push_str(if random.below(8) == 0 { "http://" } else { "https://" });
        text.push_str(random.pick(HOSTS));
        text.push('/');
        random_text(&mut random, &mut text);
        let Ok(url) = PageUrl::parse(&text) else { continue };
        let path = TreePath::of_url(&url, case);
        if !tree.add(&path, url.as_str().as_bytes(), case) {
            continue;
        }
        // A path that is not hashed decodes to the text of the canonical URL, which is parsed
        // again: equality also says that canonical URLs are stable.
        match path.to_url() {
            Ok(back) => assert_eq!(back, url, "{path}"),
            Err(error) => {
                assert_eq!(error, PathError::Hashed, "{url}");
                assert_eq!(PageUrl::parse(url.as_str()).as_ref(), Ok(&url), "{text}");
                assert!(path.as_str().contains("!9") || path.as_str().contains("/!8/"));
            }
        }
    }
    tree.check();
    tree.owners.len()
}

#[test]
fn a_million_random_urls() {
    let keep = thread::spawn(|| random_urls(0x9e37_79b9_7f4a_7c15, 500_000, CaseRule::Keep));
    let portable = random_urls(0xdead_beef_cafe_f00d, 500_000, CaseRule::Portable);
    let keep = keep.join().unwrap();
    println!("{keep} and {portable} distinct URLs");
    assert!(keep > 350_000 && portable > 350_000, "{keep} and {portable} distinct URLs");
}

fn random_files(seed: u64, count: usize, case: CaseRule) -> usize {
    let repository = Repository::parse("https://git.example:8443/Owner.md/re%20po.git").unwrap();
    let (mut random, mut tree, mut text) = (Random(seed), Tree::default(), String::new());
    for _ in 0..count {
        text.clear();
        random_text(&mut random, &mut text);
        if random.below(2) == 0 {
            text.push_str(".md");
        }
        let mut file = text.clone().into_bytes();
        if random.below(8) == 0 {
            let at = random.below(file.len());
            file[at] = [0xff, 0xc3, 0x01, 0x7f, b'\n'][random.below(5)];
        }
        let path = TreePath::of_file(&repository, &file, case);
        if !tree.add(&path, &file, case) {
            continue;
        }
        match path.to_file(&repository) {
            Ok(back) => assert_eq!(back, file, "{path}"),
            Err(error) => assert_eq!(error, PathError::Hashed, "{path}"),
        }
    }
    tree.check();
    tree.owners.len()
}

#[test]
fn random_files_of_repositories() {
    let keep = thread::spawn(|| random_files(0x1234_5678_9abc_def1, 100_000, CaseRule::Keep));
    let portable = random_files(0xfeed_5eed_0bad_cafe, 100_000, CaseRule::Portable);
    let keep = keep.join().unwrap();
    assert!(keep > 80_000 && portable > 80_000, "{keep} and {portable} distinct files");
}

/// The shared cases of canonical form and path, where they are at hand.
fn shared_cases() -> Option<Vec<serde_json::Value>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("PAGELOG_SHARED").map_or(beside, PathBuf::from);
    let text = fs::read_to_string(folder.join("conformance/url_paths.json")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn conformance() {
    let Some(cases) = shared_cases() else {
        println!("skipped: conformance/url_paths.json is not at hand (PAGELOG_SHARED)");
        return;
    };
    assert_eq!(cases.len(), 93);
    for case in &cases {
        let text = case["url"].as_str().unwrap();
        let url = match (PageUrl::parse(text), case["reject"].as_str()) {
            (Err(refusal), Some(want)) => {
                assert_eq!(refusal.code(), want, "{text}");
                continue;
            }
            (Ok(url), None) => url,
            (other, want) => panic!("{text}: {other:?} instead of {want:?}"),
        };
        assert_eq!(url.as_str(), case["canonical"].as_str().unwrap());
        for (rule, field) in [(CaseRule::Keep, "path"), (CaseRule::Portable, "path_portable")] {
            let path = TreePath::of_url(&url, rule);
            match case[field].as_str() {
                Some(want) => {
                    assert_eq!(path.as_str(), want, "{text}");
                    assert_eq!(path.to_url(), Ok(url.clone()));
                }
                None => assert!(case["path_rule"].is_string(), "{text}"),
            }
            assert!(path.as_str().len() <= 900 && path.as_str().split('/').count() <= 40);
            assert!(path.as_str().split('/').all(|name| is_safe_component(name.as_bytes())));
            assert_eq!(TreePath::parse(path.as_str()), Ok(path));
        }
    }
}

#[test]
fn paths_of_urls() {
    for (url, keep, portable) in [
        ("https://h/index?x", "h/!69ndex!-x.md", "h/!69ndex!-x.md"),
        ("https://h/?x", "h/index!-x.md", "h/index!-x.md"),
        ("https://h/index/", "h/index/index.md", "h/index/index.md"),
        ("https://h/a//", "h/a/!0/index.md", "h/a/!0/index.md"),
        ("https://h/a.MD/b", "h/a!2eMD/b.md", "h/a.!m!d/b.md"),
        ("https://h/a.tsv/b", "h/a!2etsv/b.md", "h/a!2etsv/b.md"),
        ("https://h/a.tsv", "h/a.tsv.md", "h/a.tsv.md"),
        ("https://h/.md/b", "h/!2emd/b.md", "h/!2emd/b.md"),
        ("https://h/Con/x", "h/!43on/x.md", "h/!con/x.md"),
        ("https://h/con?x=1", "h/con!-x=1.md", "h/con!-x=1.md"),
        ("https://h/con?x=1.2", "h/con!-x=1.2.md", "h/con!-x=1.2.md"),
        ("https://h/conin$", "h/!63onin!24.md", "h/!63onin!24.md"),
        ("https://h/a?x=.", "h/a!-x=!2e.md", "h/a!-x=!2e.md"),
        ("https://h/a.?x", "h/a.!-x.md", "h/a.!-x.md"),
        ("https://h/a?.", "h/a!-!2e.md", "h/a!-!2e.md"),
        ("https://h/a%3Fx", "h/a%3fx.md", "h/a%3fx.md"),
        ("https://town.md/a", "town!2emd/a.md", "town!2emd/a.md"),
        ("https://town.md:1/a", "town.md+1/a.md", "town.md+1/a.md"),
        ("http://h:81/", "h+81+http/index.md", "h+81+http/index.md"),
        ("https://h+81/", "h!2b81/index.md", "h!2b81/index.md"),
        ("https://h+http/", "h!2bhttp/index.md", "h!2bhttp/index.md"),
    ] {
        let url = PageUrl::parse(url).unwrap();
        for (case, want) in [(CaseRule::Keep, keep), (CaseRule::Portable, portable)] {
            let path = TreePath::of_url(&url, case);
            assert_eq!(path.as_str(), want, "{url}");
            assert_eq!(path.to_url(), Ok(url.clone()));
            assert_eq!(TreePath::parse(want), Ok(path));
        }
    }
}

#[test]
fn paths_of_files() {
    let repository = Repository::parse("https://github.com/Own/repo.git").unwrap();
    for (file, keep, portable) in [
        (&b"a.md"[..], "a.md", "a.md"),
        (b"docs/index.md", "docs/index.md", "docs/index.md"),
        (b"README.md", "README.md", "!r!e!a!d!m!e.md"),
        (b"README.MD", "README.MD!.md", "!r!e!a!d!m!e.!m!d!.md"),
        (b"foo.rst", "foo.rst!.md", "foo.rst!.md"),
        (b".md", "!2emd!.md", "!2emd!.md"),
        (b"a.md.md", "a.md.md", "a.md.md"),
        (b"a!.md", "a!21.md", "a!21.md"),
        (b"a..md", "a!2e.md", "a!2e.md"),
        (b"a.", "a!2e!.md", "a!2e!.md"),
        (b"con.md", "!63on.md", "!63on.md"),
        (b"con", "con!.md", "con!.md"),
        (b"con.txt", "!63on.txt!.md", "!63on.txt!.md"),
        (b"x.md/a.md", "x!2emd/a.md", "x!2emd/a.md"),
        (b"x.tsv/a.md", "x!2etsv/a.md", "x!2etsv/a.md"),
        (b"a b%41.md", "a!20b!2541.md", "a!20b!2541.md"),
        ("caf\u{e9}.md".as_bytes(), "caf%c3%a9.md", "caf%c3%a9.md"),
        (b"C3\xc3\x01.md", "C3%c3%01.md", "!c3%c3%01.md"),
        (b"../..//./x.md", "!2e!2e/!2e!2e/!0/!2e/x.md", "!2e!2e/!2e!2e/!0/!2e/x.md"),
    ] {
        for (case, want) in [(CaseRule::Keep, keep), (CaseRule::Portable, portable)] {
            let path = TreePath::of_file(&repository, file, case);
            let want = format!("{}/{want}", repository.tree_root_for(case));
            assert_eq!(path.as_str(), want);
            assert_eq!(path.to_file(&repository).as_deref(), Ok(file));
            assert_eq!(TreePath::parse(&want), Ok(path));
        }
    }
    let other = Repository::parse("https://github.com/own/other").unwrap();
    let path = TreePath::of_file(&repository, b"a.md", CaseRule::Keep);
    assert!(matches!(path.to_file(&other), Err(PathError::Invalid(_))));
    assert_eq!(path.links(), "github.com/Own/repo/a.tsv");
}

#[test]
fn long_paths() {
    let repository = Repository::parse("https://github.com/Own/repo.git").unwrap();
    let name = format!("{}%", "a".repeat(118));
    let file = format!("{}/{name}{}.md", name.repeat(2), "b".repeat(90));
    let path = TreePath::of_file(&repository, file.as_bytes(), CaseRule::Keep);
    let names: Vec<&str> = path.as_str().split('/').skip(3).collect();
    assert!(names[0].starts_with(&format!("{}!9", "a".repeat(118))), "{path}");
    assert_eq!((names[0].len(), names[1].len()), (118 + 34, 118 + 34 + 3));
    assert_eq!(path.to_file(&repository), Err(PathError::Hashed));
    let deep = format!("{}x.rst", "d/".repeat(40));
    let path = TreePath::of_file(&repository, deep.as_bytes(), CaseRule::Portable);
    assert!(path.as_str().starts_with("github.com/!own/repo/!8/"), "{path}");
    assert_eq!(path.to_file(&repository), Err(PathError::Hashed));
    assert_eq!(escape::hash(""), "4oymiquy7qobjgx36tejs35zeqt24qpe");
}

#[test]
fn what_is_no_path() {
    for path in [
        "",
        "a.md",
        "h",
        "h/",
        "h/a",
        "h/.md",
        "/h/a.md",
        "h//a.md",
        "h/./a.md",
        "h/../a.md",
        "h/.a.md",
        "h/a./b.md",
        "h/a..md",
        "h/a.md/b.md",
        "h/a.TSV/b.md",
        "h/con.md",
        "h/AUX/b.md",
        "h/a b.md",
        "h/a~1.md",
        "h/a:b.md",
        "h/é.md",
        "h/a\\b.md",
        "h/a\0.md",
        "h/a%.md",
        "h/a!.b.md",
        "h/a%C3.md",
        "h/a!.md/b.md",
        "h/!8/a.md",
        "h/!0.md",
        "h/a!0/b.md",
        "h/a!9abc.md",
        "h/A!b.md",
        "h/!1a.md",
        "h/!8/x/4oymiquy7qobjgx36tejs35zeqt24qpe.md",
    ] {
        assert!(matches!(TreePath::parse(path), Err(PathError::Invalid(_))), "{path}");
    }
    TreePath::parse("h/!8/4oymiquy7qobjgx36tejs35zeqt24qpe.md").unwrap();
    for path in ["h/!61.md", "h/%61.md", "h/a!.md", "h+443/a.md", "h+http+1/a.md", "h/!2e!2e/a.md"]
    {
        let path = TreePath::parse(path).unwrap();
        assert!(matches!(path.to_url(), Err(PathError::Invalid(_))), "{path}");
    }
    for name in [&b".git"[..], b"git~1", b"", b"..", b"a.", b"nul", b"COM1.x", b"a/b", b"\xc3"] {
        assert!(!is_safe_component(name), "{name:?}");
    }
    assert!(is_safe_component(&[b'a'; 200]) && !is_safe_component(&[b'a'; 201]));
}
