//! A real documentation repository, stepped through all its commits as an upstream.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Arguments;
use crate::corpus::{configure, pagelog};
use crate::measure::{Cost, git, mb, median, size};

/// What was found in one way of reading the history.
struct Walk {
    publish: &'static str,
    costs: Vec<Cost>,
    /// Runs whose list of changes was not Git's.
    differing: usize,
    commits: [String; 2],
    stored: u64,
    loose: String,
    repacked: u64,
    state: u64,
}

/// Runs once per upstream commit, with public and with private pages.
pub fn run(arguments: &Arguments) {
    let walks = ["true", "false"].map(|publish| walk(arguments, publish));
    table(&walks);
    let differing: usize = walks.iter().map(|walk| walk.differing).sum();
    arguments.note("steps: runs that differ from Git", differing as f64);
    let ratio = |walk: &Walk| {
        median(&walk.costs[1..]).wall.as_secs_f64() / walk.costs[0].wall.as_secs_f64()
    };
    arguments.note("steps: next run, of the first", ratio(&walks[0]).max(ratio(&walks[1])));
}

/// Steps through the first `--pages` commits, or all.
fn walk(arguments: &Arguments, publish: &'static str) -> Walk {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let bundle = arguments.bundle().to_string_lossy();
    git(path, &["clone", "-q", "--bare", "-b", "main", &bundle, "up.git"]);
    git(path, &["clone", "-q", "--bare", "-b", "main", &bundle, "full.git"]);
    configure(path, publish);
    let commits =
        String::from_utf8(git(&path.join("full.git"), &["rev-list", "--reverse", "main"]));
    let commits = commits.expect("ids");
    let (mut costs, mut differing): (Vec<Cost>, usize) = (Vec::new(), 0);
    let mut before = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    let most = arguments.pages.unwrap_or(usize::MAX);
    for (week, commit) in commits.lines().take(most).enumerate() {
        git(&path.join("up.git"), &["update-ref", "refs/heads/main", commit]);
        let clock = format!(
            "{}-{:02}-{:02}T02:00:00Z",
            2025 + week / 48,
            week / 4 % 12 + 1,
            week % 4 * 7 + 1
        );
        costs.push(crate::measure::run(&mut pagelog(&arguments.program, path, &clock), None));
        let told = told_changes(arguments, path);
        if told != git_changes(&path.join("full.git"), before, commit) {
            differing += 1;
        }
        before = commit;
    }
    found((costs, differing), path, publish)
}

/// The change list of the last run: kind and file, a moved page as removed and added.
fn told_changes(arguments: &Arguments, folder: &Path) -> Vec<(char, String)> {
    let output = Command::new(&arguments.program)
        .current_dir(folder)
        .args(["changes", "--json"])
        .output()
        .expect("pagelog starts");
    let refs: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut told = Vec::new();
    let file = |path: &serde_json::Value| {
        let path = path.as_str().expect("a path").split_once(".git.invalid/").expect("a page").1;
        path.replace("!2e", ".").replace("!7e", "~")
    };
    for page in
        refs.as_array().expect("refs").iter().flat_map(|r| r["pages"].as_array().expect("pages"))
    {
        match page["kind"].as_str().expect("a kind") {
            "added" => told.push(('A', file(&page["path"]))),
            "edited" => told.push(('M', file(&page["path"]))),
            "removed" => told.push(('D', file(&page["path"]))),
            _ => {
                told.push(('A', file(&page["path"])));
                told.push(('D', file(&page["from"])));
            }
        }
    }
    told.sort();
    told
}

/// The same list by Git's own reckoning.
fn git_changes(repository: &Path, old: &str, new: &str) -> Vec<(char, String)> {
    let listed =
        git(repository, &["diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new]);
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let words: Vec<&str> = listed.split_terminator('\0').collect();
    let pairs = words.chunks(2).filter(|pair| pair[1].ends_with(".md"));
    let mut told: Vec<_> =
        pairs.map(|pair| (pair[0].chars().next().expect("a letter"), pair[1].to_owned())).collect();
    told.sort();
    told
}

/// What stands in the archive at the end.
fn found((costs, differing): (Vec<Cost>, usize), path: &Path, publish: &'static str) -> Walk {
    let archive = path.join("archive");
    let text =
        |arguments: &[&str]| String::from_utf8_lossy(&git(&archive, arguments)).trim().to_owned();
    let count = |name| text(&["rev-list", "--count", name]);
    let commits = [count("refs/heads/main"), count("refs/private/main")];
    let (stored, loose) = (size(&archive.join("objects")), text(&["count-objects"]));
    git(&archive, &["fsck", "--full", "--strict"]);
    git(&archive, &["repack", "-adq", "--window=10", "--depth=50"]);
    let repacked = size(&archive.join("objects"));
    let state = fs::metadata(archive.join("pagelog/state.sqlite")).map_or(0, |data| data.len());
    Walk { publish, costs, differing, commits, stored, loose, repacked, state }
}

fn table(walks: &[Walk; 2]) {
    println!("| | {} |", each(walks, |walk| format!("`publish = {}`", walk.publish)));
    println!("|---|---|---|");
    let row = |name: &str, of: fn(&Walk) -> String| println!("| {name} | {} |", each(walks, of));
    row("commits, public and private", |walk| walk.commits.join(" and "));
    row("runs whose list of changes differs from Git's", |walk| {
        format!("{} of {}", walk.differing, walk.costs.len())
    });
    row("wall time of all runs, fetches included", |walk| {
        let all: f64 = walk.costs.iter().map(|cost| cost.wall.as_secs_f64()).sum();
        format!("{all:.1} s")
    });
    row("first run", |walk| format!("{:.2} s", walk.costs[0].wall.as_secs_f64()));
    row("next runs, median", |walk| {
        format!("{:.3} s", median(&walk.costs[1..]).wall.as_secs_f64())
    });
    row("largest resident set", |walk| {
        let most = walk.costs.iter().map(|cost| cost.memory).max();
        format!("{:.0} MB", mb(most.unwrap_or(0)))
    });
    row("objects as written", |walk| format!("{:.1} MB ({})", mb(walk.stored), walk.loose));
    row("objects after `git repack -ad`", |walk| format!("{:.1} MB", mb(walk.repacked)));
    row("state", |walk| format!("{:.1} MB", mb(walk.state)));
}

fn each(walks: &[Walk; 2], of: fn(&Walk) -> String) -> String {
    walks.each_ref().map(of).join(" | ")
}
