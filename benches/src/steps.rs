//! A real documentation repository, stepped through all its commits as an upstream.

use std::fs;
use std::process::Command;

use crate::Arguments;
use crate::corpus::{configure, pagelog};
use crate::measure::{Cost, git, mb, size};

/// Runs once per upstream commit, with public and with private pages.
pub fn run(arguments: &Arguments) {
    for publish in ["true", "false"] {
        walk(arguments, publish);
    }
}

fn walk(arguments: &Arguments, publish: &str) {
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
    for (week, commit) in commits.lines().enumerate() {
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
    report((&costs, differing), path, publish);
}

/// The change list of the last run: kind and file, a moved page as removed and added.
fn told_changes(arguments: &Arguments, folder: &std::path::Path) -> Vec<(char, String)> {
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
fn git_changes(repository: &std::path::Path, old: &str, new: &str) -> Vec<(char, String)> {
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

fn report((costs, differing): (&[Cost], usize), path: &std::path::Path, publish: &str) {
    let archive = path.join("archive");
    let count = |name| {
        String::from_utf8_lossy(&git(&archive, &["rev-list", "--count", name])).trim().to_owned()
    };
    let stored = size(&archive.join("objects"));
    let loose = String::from_utf8_lossy(&git(&archive, &["count-objects"])).into_owned();
    let total: f64 = costs.iter().map(|cost| cost.wall.as_secs_f64()).sum();
    let next = crate::measure::median(&costs[1..]);
    let memory = costs.iter().map(|cost| cost.memory).max().unwrap_or(0);
    git(&archive, &["fsck", "--full", "--strict"]);
    git(&archive, &["repack", "-adq", "--window=10", "--depth=50"]);
    let state = fs::metadata(archive.join("pagelog/state.sqlite")).map_or(0, |data| data.len());
    println!("publish = {publish}");
    println!(
        "  commits, public and private      {} and {}",
        count("refs/heads/main"),
        count("refs/private/main")
    );
    println!("  runs whose changes differ from Git's  {differing} of {}", costs.len());
    println!("  wall, all runs                   {total:.2} s");
    println!("  wall, first run                  {:.2} s", costs[0].wall.as_secs_f64());
    println!("  wall, next runs (median)         {:.3} s", next.wall.as_secs_f64());
    println!("  largest resident set             {:.1} MB", mb(memory));
    println!("  objects as written               {:.2} MB ({})", mb(stored), loose.trim());
    println!("  objects after git repack -ad     {:.2} MB", mb(size(&archive.join("objects"))));
    println!("  state                            {:.2} MB", mb(state));
}
