//! Paths of pages are safe names for Git on every file system.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use pagelog::model::{CaseRule, PageUrl, Repository, TreePath};

use crate::support::world::isolate;
use crate::support::{World, shared::shared};

/// Addresses whose parts are dangerous as file names somewhere.
const NASTY: &[&str] = &[
    "https://h.example/.git/config",
    "https://h.example/.GIT/HEAD",
    "https://h.example/a/.git%E2%80%8C/x",
    "https://h.example/a/%E2%80%8C.git/x",
    "https://h.example/git~1/x",
    "https://h.example/GIT~12/x",
    "https://h.example/.git::$INDEX_ALLOCATION/x",
    "https://h.example/.git%20/x",
    "https://h.example/.git./x",
    "https://h.example/.gitmodules",
    "https://h.example/.gitattributes/x",
    "https://h.example/gitmod~1",
    "https://h.example/con",
    "https://h.example/a/NUL.txt",
    "https://h.example/lpt1/aux.b/com9",
    "https://h.example/conin$",
    "https://h.example/a:b",
    "https://h.example/a%5Cb",
    "https://h.example/..%2F..%2Fetc%2Fpasswd",
    "https://h.example/a%2F..%2F..%2Fb",
    "https://h.example/ends.",
    "https://h.example/ends%20",
    "https://h.example/a.md/b",
    "https://h.example/a.tsv/b",
    "https://h.example/a.MD/b",
    "https://h.example//",
    "https://h.example/a//b//",
    "https://h.example/?..",
    "https://h.example/a?/../x",
    "https://h.example/a?b=c:d|e<f>g\"h*i",
    "https://aux.example/",
    "https://[::1]:8443/x",
    "http://127.0.0.1:8080/con",
];

#[test]
fn git_takes_every_path_with_all_protections() {
    let mut urls: Vec<String> = NASTY.iter().map(|url| (*url).to_owned()).collect();
    if let Some(file) = shared("conformance/url_paths.json") {
        let cases: serde_json::Value =
            serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let known = cases.as_array().unwrap().iter().filter(|case| case["reject"].is_null());
        urls.extend(known.map(|case| case["url"].as_str().unwrap().to_owned()));
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    urls.extend((0..1500).map(|_| random.url()));
    let urls: Vec<PageUrl> = urls.iter().filter_map(|url| PageUrl::parse(url).ok()).collect();
    assert!(urls.len() > 1000, "most random addresses are canonical: {}", urls.len());

    let repository = Repository::parse("https://h.example/o/r.git").unwrap();
    let files: Vec<Vec<u8>> = (0..1000).map(|_| random.file()).collect();
    for case in [CaseRule::Keep, CaseRule::Portable] {
        let mut paths = BTreeSet::new();
        for url in &urls {
            paths.insert(format!("pages/site/{}", TreePath::of_url(url, case)));
            paths.insert(format!("links/site/{}", TreePath::of_url(url, case).links()));
        }
        for file in &files {
            let path = TreePath::of_file(&repository, file, case);
            paths.insert(format!("pages/git/{path}"));
            paths.insert(format!("links/git/{}", path.links()));
        }
        commit(&paths);
    }
}

/// Commits files at these paths and lets Git check them, refusing what is unsafe on NTFS
/// or HFS+.
fn commit(paths: &BTreeSet<String>) {
    let world = World::empty();
    let folder = world.path();
    world.git_in(folder, &["init", "-q", "--bare", "-b", "main", "r.git"]).ok();
    let repository = folder.join("r.git");
    for setting in ["core.protectNTFS", "core.protectHFS"] {
        world.git_in(&repository, &["config", setting, "true"]).ok();
    }
    let blob = git_with_input(&world, &["hash-object", "-w", "--stdin"], b"");
    let lines: Vec<String> =
        paths.iter().map(|path| format!("100644 {blob} 0\t{path}\n")).collect();
    git_with_input(&world, &["update-index", "--add", "--index-info"], lines.concat().as_bytes());
    let tree = world.git_in(&repository, &["write-tree"]).ok();
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let commit = [&identity[..], &["commit-tree", "-m", "all", tree.trim()]].concat();
    let commit = world.git_in(&repository, &commit).ok();
    world.git_in(&repository, &["update-ref", "refs/heads/main", commit.trim()]).ok();
    let fsck = world.git_in(&repository, &["fsck", "--full", "--strict"]);
    assert_eq!((fsck.code, fsck.stdout.as_str(), fsck.stderr.as_str()), (Some(0), "", ""));
    let listed = world.git_in(&repository, &["ls-tree", "-r", "--name-only", "-z", "main"]).ok();
    let listed: BTreeSet<String> = listed.split_terminator('\0').map(str::to_owned).collect();
    assert_eq!(&listed, paths, "no path pushed another one out");
}

fn git_with_input(world: &World, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    command.current_dir(world.path().join("r.git")).stdin(Stdio::piped()).stdout(Stdio::piped());
    isolate(&mut command, world.path());
    let mut child = command.args(arguments).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A small generator with a fixed seed (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn word(&mut self) -> &'static str {
        const WORDS: &[&str] = &[
            ".git",
            "git~1",
            "con",
            "aux",
            "nul",
            ".md",
            ".tsv",
            "index",
            "a",
            "B",
            "~",
            "!",
            "%2F",
            "%5C",
            ".",
            "..",
            ":",
            "-",
            "_",
            "%E2%80%8C",
            "é",
            " ",
            "+",
            "=",
            "@",
            ",",
            ";",
            "'",
            "0",
            "README",
            "%00%",
            "very-long-name-that-goes-on-and-on-and-on-and-on-and-on-for-long",
        ];
        WORDS[self.next(WORDS.len())]
    }

    fn url(&mut self) -> String {
        let mut url = String::from("https://h.example/");
        for _ in 0..self.next(12) {
            url.push_str(self.word());
            if self.next(3) == 0 {
                url.push('/');
            }
        }
        if self.next(4) == 0 {
            url.push('?');
            for _ in 0..self.next(5) {
                url.push_str(self.word());
            }
        }
        url
    }

    fn file(&mut self) -> Vec<u8> {
        let mut file = Vec::new();
        for part in 0..=self.next(4) {
            if part > 0 {
                file.push(b'/');
            }
            for _ in 0..=self.next(4) {
                file.extend_from_slice(self.word().as_bytes());
            }
            file.push(b"abcXYZ\xff\n"[self.next(8)]);
        }
        if self.next(2) == 0 {
            file.extend_from_slice(b".md");
        }
        file
    }
}
