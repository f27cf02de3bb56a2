//! Questions about the past of an archive of very many runs, beside `git log`.
//!
//! The first run is a real one. The others are one stream for `git fast-import`, written as
//! the format says: each changes a few pages on both refs. `pagelog audit --repair` then
//! makes the index of the history.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Arguments;
use crate::corpus::{BOT, batch, fast_import, pagelog, stream};
use crate::measure::{self, Cost, git, isolated, median, size};
use crate::sitemap::date;

/// 2026-11-30T02:00:00Z, the first run.
const FIRST: i64 = 1_796_004_000;
/// From the start of a run to that of the next.
const BETWEEN: i64 = 21_600;
/// Commits of each ref.
const RUNS: usize = 10_000;
/// Pages of both refs; one in four is private.
const PAGES: usize = 2_000;
/// Pages that a run changes on the public ref, and on the private one.
const CHANGED: (usize, usize) = (7, 3);
/// Pages of one folder.
const FOLDER: usize = 100;
/// Of so many runs one removes a page, and the next one puts it back.
const REMOVES: usize = 50;
/// Fewest rounds.
const ROUNDS: usize = 5;

/// A page of the first run, as the archive has it.
struct Page {
    path: String,
    text: String,
    links: String,
}

/// The pages of a ref.
struct Side {
    name: &'static str,
    source: &'static str,
    pages: Vec<Page>,
    /// Trailers that name what was read.
    upstreams: String,
    next: usize,
}

/// What is asked of the past, by the index and by Git.
pub fn run(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let pages = arguments.pages.unwrap_or(PAGES);
    first_run(arguments, path, pages);
    let archive = path.join("archive");
    let state = archive.join("pagelog/state.sqlite");
    let before = size_of(&state);
    let versions = further_runs(path, &archive);
    let repair = || {
        let mut command = Command::new(&arguments.program);
        command.current_dir(path).args(["-q", "audit", "--repair"]);
        measure::run(&mut command, None)
    };
    let made = repair();
    let after = size_of(&state);
    let again = repair();
    git(&archive, &["commit-graph", "write", "--reachable", "--changed-paths"]);
    println!("{pages} pages, {RUNS} commits on each ref, {versions} versions behind the first\n");
    println!("| | |\n|---|---|");
    println!("| `audit --repair` that makes the index | {} |", seconds(made));
    println!("| `audit --repair` when it is in step | {} |", seconds(again));
    println!("| objects | {:.1} MB |", measure::mb(size(&archive.join("objects"))));
    let grown = after.saturating_sub(before);
    println!(
        "| the state grew by | {:.1} MB, {} bytes a version |\n",
        measure::mb(grown),
        grown / versions as u64
    );
    questions(arguments, path, &archive);
}

/// A question, and how it is asked.
struct Question {
    name: String,
    ask: Box<dyn Fn() -> Command>,
    costs: Vec<Cost>,
}

fn questions(arguments: &Arguments, folder: &Path, archive: &Path) {
    let page = "docs/part-003/page-000305.md";
    let url = format!("https://up.git.invalid/{page}");
    let tree = format!("pages/docs/up.git.invalid/{page}");
    let middle = date(FIRST + BETWEEN * i64::try_from(RUNS / 2).expect("few runs"));
    let ours = |words: &[&str]| -> Box<dyn Fn() -> Command> {
        let (program, folder) = (arguments.program.clone(), folder.to_owned());
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Box::new(move || {
            let mut command = Command::new(&program);
            command.current_dir(&folder).args(&words);
            command
        })
    };
    let theirs = |words: &[&str]| -> Box<dyn Fn() -> Command> {
        let archive = archive.to_owned();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Box::new(move || {
            let mut command = isolated(&archive);
            command.args(&words);
            command
        })
    };
    let log = ["log", "--format=%H", "main", "--", &tree];
    let plain = [&["-c", "core.commitGraph=false"][..], &log].concat();
    let (one, hundred) = (format!("main~{}", RUNS / 2), format!("main~{}..main~100", 200));
    let diff = ["diff", "--no-renames", "--name-status", "main~200", "main~100", "--", "pages"];
    let mut all: Vec<Question> = [
        ("`git log -- PATH`", theirs(&plain)),
        ("`git log -- PATH`, commit-graph with changed paths", theirs(&log)),
        ("`pagelog history URL`", ours(&["history", &url])),
        ("`pagelog history 'https://…/part-003/*'`", {
            ours(&["history", "https://up.git.invalid/docs/part-003/*"])
        }),
        ("`pagelog show URL --at DATE`", ours(&["show", &url, "--at", &middle])),
        ("`pagelog changes` of the last run", ours(&["changes"])),
        ("`pagelog changes` of one run in the middle", ours(&["changes", &one])),
        ("`pagelog changes` over 100 runs", ours(&["changes", &hundred])),
        ("`git diff --name-status` over 100 runs", theirs(&diff)),
        ("`pagelog changes` over all runs", ours(&["changes", "2026-11-30..2999-01-01"])),
        ("`pagelog status`", ours(&["status"])),
        ("`pagelog --version`", ours(&["--version"])),
    ]
    .into_iter()
    .map(|(name, ask)| Question { name: name.to_owned(), ask, costs: Vec::new() })
    .collect();
    for round in 0..=arguments.rounds.max(ROUNDS) {
        for question in &mut all {
            let cost = measure::run(&mut (question.ask)(), None);
            // The first round only fills the caches.
            if round > 0 {
                question.costs.push(cost);
            }
        }
    }
    let base = median(&all[0].costs).wall;
    println!("| | wall | CPU | `git log -- PATH` / this |\n|---|---|---|---|");
    for Question { name, costs, .. } in &all {
        let Cost { wall, cpu, .. } = median(costs);
        println!(
            "| {name} | {:.1} ms | {:.1} ms | {:.1} |",
            wall.as_secs_f64() * 1e3,
            cpu.as_secs_f64() * 1e3,
            base.as_secs_f64() / wall.as_secs_f64()
        );
    }
    // Last, since the state is gone then.
    let state = archive.join("pagelog/state.sqlite");
    fs::rename(&state, state.with_extension("aside")).expect("the state is set aside");
    for (name, words) in [("history URL", ["history", &url]), ("changes REV", ["changes", &one])] {
        let walked = measure::run(&mut ours(&words)(), None);
        println!("| `pagelog {name}` without a state | {} | | |", seconds(walked));
    }
}

/// Two upstreams and one real run over them.
fn first_run(arguments: &Arguments, folder: &Path, pages: usize) {
    let mut text = BOT.to_owned();
    for (name, source, publish) in [("up", "docs", "true"), ("in", "inner", "false")] {
        let _ = write!(
            text,
            "[[source]]\nid = \"{source}\"\nkind = \"git\"\nlicence = \"CC-BY-4.0\"\n\
             publish = {publish}\nrepositories = [\"./{name}.git\"]\n"
        );
        let repository = format!("{name}.git");
        git(folder, &["init", "-q", "--bare", "-b", "main", &repository]);
        let count = if name == "up" { pages - pages / 4 } else { pages / 4 };
        let files = (0..count).map(|number| (page_path(number), page_text(name, number)));
        let made = stream(&folder.join(format!("{name}.stream")), (0, None), files);
        fast_import(&folder.join(repository), &made);
    }
    fs::write(folder.join("sources.toml"), text).expect("configuration is written");
    measure::run(&mut pagelog(&arguments.program, folder, &date(FIRST)), None);
}

fn page_path(number: usize) -> String {
    format!("docs/part-{:03}/page-{number:06}.md", number / FOLDER)
}

fn page_text(which: &str, number: usize) -> Vec<u8> {
    let mut text =
        format!("# Page {number} of {which}\n\nSee [the next](page-{}.md).\n", number + 1);
    for line in 0..30 {
        let word = (number * 31 + line * 17) % 1009;
        let _ =
            writeln!(text, "\nLine {line} of {number} in {which} has the word {word}, and others.");
    }
    text.into_bytes()
}

/// Imports the further runs; gives how many times they change a page.
fn further_runs(folder: &Path, archive: &Path) -> usize {
    let side = |name, source, upstream: &str| Side {
        name,
        source,
        pages: stored_pages(archive, (name, source)),
        upstreams: trailers(folder, source, upstream),
        next: 0,
    };
    let mut public = side("refs/heads/main", "docs", "up");
    let mut private = side("refs/private/main", "inner", "in");
    let both = public.upstreams.clone() + &private.upstreams;
    private.upstreams = both;
    let file: PathBuf = folder.join("runs.stream");
    let mut out = BufWriter::new(File::create(&file).expect("stream is made"));
    let mut versions = 0;
    for run in 1..RUNS {
        for (side, count) in [(&mut public, CHANGED.0), (&mut private, CHANGED.1)] {
            let (text, changed) = commit(side, run, count);
            versions += changed;
            out.write_all(text.as_bytes()).expect("stream is written");
        }
    }
    out.write_all(b"done\n").expect("stream is written");
    drop(out);
    fast_import(archive, &file);
    fs::remove_file(file).expect("stream is removed");
    versions
}

/// The pages of a ref with their links.
fn stored_pages(archive: &Path, (name, source): (&str, &str)) -> Vec<Page> {
    let listed = |kind: &str| -> (Vec<String>, Vec<Vec<u8>>) {
        let folder = format!("{kind}/{source}");
        let rows = git(archive, &["ls-tree", "-r", "-z", name, &folder]);
        let rows = String::from_utf8(rows).expect("paths are text");
        let rows: Vec<(&str, &str)> =
            rows.split_terminator('\0').filter_map(|row| row.split_once('\t')).collect();
        let ids: Vec<&str> = rows.iter().filter_map(|(meta, _)| meta.rsplit(' ').next()).collect();
        let paths = rows.iter().map(|(_, path)| (*path).to_owned()).collect();
        (paths, batch(archive, &ids))
    };
    let ((paths, texts), (_, links)) = (listed("pages"), listed("links"));
    let pages = paths.into_iter().zip(texts).zip(links).map(|((path, text), links)| Page {
        path,
        text: String::from_utf8(text).expect("pages are text"),
        links: String::from_utf8(links).expect("links are text"),
    });
    pages.collect()
}

fn trailers(folder: &Path, source: &str, upstream: &str) -> String {
    let id = git(&folder.join(format!("{upstream}.git")), &["rev-parse", "main"]);
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    format!("Upstream: {source} https://{upstream}.git.invalid/ {id}\n")
}

/// The commit of one ref in a run, and how many pages it changes.
fn commit(side: &mut Side, run: usize, count: usize) -> (String, usize) {
    let time = FIRST + BETWEEN * i64::try_from(run).expect("few runs");
    let mut files = String::new();
    let (last, others) = side.pages.split_last().expect("pages");
    for _ in 0..count {
        let page = &others[side.next % others.len()];
        side.next += 1;
        put(&mut files, &page.path, &edited(&page.text, (run, time)));
    }
    let links = last.path.replacen("pages/", "links/", 1);
    let links = links.trim_end_matches(".md").to_owned() + ".tsv";
    let (mut added, mut removed) = (0, 0);
    if side.source == "docs" && run.is_multiple_of(REMOVES) {
        let _ = write!(files, "D {}\nD {links}\n", last.path);
        removed = 1;
    } else if side.source == "docs" && run % REMOVES == 1 && run > 1 {
        put(&mut files, &last.path, &edited(&last.text, (run, time)));
        put(&mut files, &links, &last.links);
        added = 1;
    }
    let sum = format!("{count} changed, {added} added, {removed} removed");
    let message = format!(
        "{}: {sum}\n\n{source}: {sum}\n\nRun: {}\nFormat: 1\nExtractor: 1\n\
         Source: {source} changed={count} added={added} removed={removed} same=0 \
         not-modified=0 failed=0 complete=yes\n{}",
        &date(time)[..10],
        date(time),
        side.upstreams,
        source = side.source
    );
    let who = "Bench <bot@example.org>";
    let from = if run == 1 { format!("from {}^0\n", side.name) } else { String::new() };
    let text = format!(
        "commit {}\nauthor {who} {time} +0000\ncommitter {who} {} +0000\ndata {}\n{message}\n\
         {from}{files}",
        side.name,
        time + 60,
        message.len()
    );
    (text, count + added + removed)
}

/// The page as a later run read it.
fn edited(text: &str, (run, time): (usize, i64)) -> String {
    let (front, body) = text.split_once("\nretrieved: ").expect("a time");
    let (_, rest) = body.split_once('\n').expect("a line");
    format!("{front}\nretrieved: {}\n{rest}\nRead again in run {run}.\n", date(time))
}

fn put(out: &mut String, path: &str, text: &str) {
    let _ = writeln!(out, "M 100644 inline {path}\ndata {}\n{text}", text.len());
}

fn size_of(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |data| data.len())
}

fn seconds(cost: Cost) -> String {
    format!("{:.2} s", cost.wall.as_secs_f64())
}
