//! Very many pages and many runs: whether a run costs more as the archive grows, what is left
//! on disk, and what that comes to after years.
//!
//! The pages are made up, 2 kB each; each run changes 300 of them. Ten years of daily runs are
//! too many to make: what each run adds is measured and multiplied, and said to be that.

use std::path::Path;
use std::process::Command;

use crate::Arguments;
use crate::corpus::{self, configure};
use crate::edited::{self, CHANGED, Upstream};
use crate::measure::{self, Cost, git, isolated, mb, median, size};
use crate::phases;

const PAGES: usize = 1_000_000;
const RUNS: usize = 200;
/// Ten years of one run a day.
const YEARS: usize = 3_650;
/// Groups of runs whose medians are compared.
const GROUPS: usize = 5;
/// How often a question is asked; the median counts.
const QUESTIONS: usize = 5;

/// Bytes of an archive.
#[derive(Clone, Copy)]
struct Sizes {
    objects: u64,
    state: u64,
    /// What is kept of the upstream: pruned from time to time.
    cache: u64,
}

impl Sizes {
    fn of(archive: &Path) -> Self {
        let own = archive.join("pagelog");
        let state = |name: &str| std::fs::metadata(own.join(name)).map_or(0, |data| data.len());
        let state = ["state.sqlite", "state.sqlite-wal"].map(state).iter().sum();
        Self {
            objects: size(&archive.join("objects")),
            state,
            cache: size(&own).saturating_sub(state),
        }
    }
}

/// First run, the others, and questions to what is left.
pub fn run(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let pages = arguments.pages.unwrap_or(PAGES);
    let runs = arguments.runs.unwrap_or(RUNS).next_multiple_of(GROUPS);
    let upstream = Upstream::new(path, pages, runs);
    configure(path, "true");
    let archive = path.join("archive");
    println!(
        "| {pages} pages | wall | CPU | resident | anonymous | objects | state | upstream | packs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let step = |number| {
        upstream.go_to(number);
        phases::run(&arguments.program, path, &edited::clock(number)).cost
    };
    line("first run", step(0), &archive);
    let before = Sizes::of(&archive);
    for group in 0..GROUPS {
        let each = runs / GROUPS;
        let numbers = (1..=each).map(|number| group * each + number);
        let costs: Vec<Cost> = numbers.map(step).collect();
        let name = format!("runs {} to {}, median", group * each + 1, (group + 1) * each);
        line(&name, median(&costs), &archive);
        let slowest = costs.iter().max_by_key(|cost| cost.wall).expect("runs");
        line("the slowest of them", *slowest, &archive);
    }
    let listed = git(&archive, &["rev-list", "--count", "main"]);
    println!("\ncommits on main: {}", String::from_utf8_lossy(&listed).trim());
    extrapolate((before, Sizes::of(&archive)), runs);
    questions(arguments, (path, &archive), (pages, runs));
}

fn line(name: &str, cost: Cost, archive: &Path) {
    let sizes = Sizes::of(archive);
    let packs = std::fs::read_dir(archive.join("objects/pack")).expect("packs").flatten();
    let packs = packs.filter(|file| file.path().extension().is_some_and(|it| it == "pack"));
    println!(
        "| {name} | {:.2} s | {:.2} s | {:.0} MB | {:.0} MB | {:.1} MB | {:.1} MB | {:.1} MB | {} |",
        cost.wall.as_secs_f64(),
        cost.cpu.as_secs_f64(),
        mb(cost.memory),
        mb(cost.anonymous),
        mb(sizes.objects),
        mb(sizes.state),
        mb(sizes.cache),
        packs.count()
    );
}

/// What runs like those that were measured come to.
fn extrapolate((before, after): (Sizes, Sizes), runs: usize) {
    println!(
        "\n| | a changed page | a run | {YEARS} runs, with what was there |\n|---|---|---|---|"
    );
    let parts = [("objects", before.objects, after.objects), ("state", before.state, after.state)];
    for (name, before, after) in parts {
        let a_run = after.saturating_sub(before) as f64 / runs as f64;
        println!(
            "| {name} | {:.0} B | {:.1} kB | {:.2} GB |",
            a_run / CHANGED as f64,
            a_run / 1e3,
            (before as f64 + a_run * YEARS as f64) / 1e9
        );
    }
}

/// What readers ask of it.
fn questions(
    arguments: &Arguments,
    (folder, archive): (&Path, &Path),
    (pages, runs): (usize, usize),
) {
    let page = edited::changed(pages, runs).into_iter().next().expect("a page changed");
    let tree = format!("pages/docs/up.git.invalid/{}", corpus::page_path(page));
    let read = git(archive, &["show", &format!("main:{tree}")]);
    let text = String::from_utf8_lossy(&read).into_owned();
    let url =
        text.lines().find_map(|line| line.strip_prefix("url: ")).expect("a URL").trim_matches('"');
    let clock = edited::clock(runs);
    let ours = |words: &[&str]| {
        let mut command = Command::new(&arguments.program);
        command.current_dir(folder).args(["--clock", &clock, "-q"]).args(words);
        command
    };
    let log = || {
        let mut command = isolated(archive);
        command.args(["log", "--format=%H", "main", "--", &tree]);
        command
    };
    let start = edited::clock(runs / 2);
    println!("\n| question | wall | CPU | anonymous |\n|---|---|---|---|");
    for (name, make) in [
        ("`pagelog history URL`", &(|| ours(&["history", url])) as &dyn Fn() -> Command),
        ("`pagelog show URL --at DATE`", &|| ours(&["show", url, "--at", &start])),
        ("`pagelog changes`, the last run", &|| ours(&["changes"])),
        ("`pagelog status`", &|| ours(&["status"])),
        ("`git log -- PAGE`", &log),
    ] {
        let costs: Vec<Cost> = (0..QUESTIONS).map(|_| measure::run(&mut make(), None)).collect();
        let cost = median(&costs);
        println!(
            "| {name} | {:.1} ms | {:.1} ms | {:.0} MB |",
            cost.wall.as_secs_f64() * 1e3,
            cost.cpu.as_secs_f64() * 1e3,
            mb(cost.anonymous)
        );
    }
}
