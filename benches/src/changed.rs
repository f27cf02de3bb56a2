//! A few hundred changed pages in a small archive and in a large one: what they cost follows
//! the change, and not what is stored.
//!
//! The pages are made up, 2 kB each. Both archives read a Git upstream of their own; each
//! round changes 300 pages in both: half of them among the first twentieth of all pages, half
//! spread over all. Before each run the same fetch is made by Git alone into a cache of its
//! own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Arguments;
use crate::corpus::configure;
use crate::edited::{self, CHANGED, Upstream};
use crate::measure::{Cost, git, isolated, mb, median};
use crate::phases::{self, Phased};

/// Pages of the two archives, unless said otherwise.
const STORED: (usize, usize) = (20_000, 300_000);

/// An archive and its upstream, stepped through its commits.
struct Place {
    folder: PathBuf,
    pages: usize,
    upstream: Upstream,
    first: Phased,
    runs: Vec<Phased>,
    fetches: Vec<Cost>,
}

/// Measures all.
pub fn run(arguments: &Arguments) {
    let folder = tempfile::tempdir().expect("a folder");
    let small = arguments.pages_small.unwrap_or(STORED.0);
    let large = arguments.pages_large.unwrap_or(STORED.1);
    let mut places = [("small", small), ("large", large)]
        .map(|(name, pages)| Place::new(&folder.path().join(name), pages, arguments.rounds));
    for place in &mut places {
        place.first = place.step(arguments, 0).0;
    }
    for round in 1..=arguments.rounds {
        for place in &mut places {
            let (run, fetch) = place.step(arguments, round);
            place.check();
            place.runs.push(run);
            place.fetches.push(fetch);
        }
    }
    table(arguments, &places);
}

impl Place {
    fn new(folder: &Path, pages: usize, rounds: usize) -> Self {
        let upstream = Upstream::new(folder, pages, rounds);
        configure(folder, "true");
        git(folder, &["init", "-q", "--bare", "-b", "main", "alone.git"]);
        let (first, runs, fetches) = (Phased::default(), Vec::new(), Vec::new());
        Self { folder: folder.to_owned(), pages, upstream, first, runs, fetches }
    }

    /// Goes on to that commit of the upstream: Git's fetch alone, then a run.
    fn step(&self, arguments: &Arguments, round: usize) -> (Phased, Cost) {
        self.upstream.go_to(round);
        let mut fetch = isolated(&self.folder.join("alone.git"));
        fetch.args(["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"]);
        fetch.args(["--no-recurse-submodules", "--no-auto-maintenance", "--force"]);
        let address = format!("file://{}", self.upstream.repository.display());
        fetch.args([&address, &format!("+{}:refs/upstream/fetched", edited::BRANCH)]);
        let fetched = crate::measure::run(&mut fetch, None);
        let clock = edited::clock(round);
        (phases::run(&arguments.program, &self.folder, &clock), fetched)
    }

    /// The last commit changed the pages that were changed, and nothing is loose.
    fn check(&self) {
        let archive = self.folder.join("archive");
        let listed = git(&archive, &["diff", "--name-only", "main~1", "main", "--", "pages"]);
        let changed = listed.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(changed, CHANGED, "the changed pages are in the commit");
    }
}

fn table(arguments: &Arguments, places: &[Place; 2]) {
    let [small, large] = places.each_ref().map(|place| phases::median(&place.runs));
    println!(
        "| {CHANGED} changed pages on | wall | CPU | resident | anonymous | {} | Git's fetch alone |",
        phases::NAMES.join(" | ")
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (place, run) in places.iter().zip([small, large]) {
        let row = format!("{} stored", place.pages);
        line(&row, &run, &ms(median(&place.fetches).wall));
    }
    for place in places {
        line(&format!("first run of {}", place.pages), &place.first, "");
    }
    ratios(arguments, places, (&small, &large));
}

/// What the large archive costs over the small one.
fn ratios(arguments: &Arguments, places: &[Place; 2], (small, large): (&Phased, &Phased)) {
    let ratio = |of: fn(&Phased) -> f64| of(large) / of(small).max(1e-9);
    let wall = ratio(|run| run.cost.wall.as_secs_f64());
    let cpu = ratio(|run| run.cost.cpu.as_secs_f64());
    let own = |run: &Phased, place: &Place| {
        run.cost.wall.saturating_sub(median(&place.fetches).wall).as_secs_f64()
    };
    let own = own(large, &places[1]) / own(small, &places[0]).max(1e-9);
    println!("\n| {} / {} stored | |\n|---|---|", places[1].pages, places[0].pages);
    println!("| wall | {wall:.2} |\n| CPU | {cpu:.2} |");
    println!("| wall less Git's fetch alone | {own:.2} |");
    println!("| wall after the fetch | {:.2} |", ratio(after_fetch));
    println!("| anonymous memory | {:.2} |", ratio(|run| run.cost.anonymous as f64));
    arguments.note("changed: wall, large of small", wall);
    arguments.note("changed: wall less Git's fetch, large of small", own);
    arguments.note("changed: wall after the fetch, large of small", ratio(after_fetch));
}

fn after_fetch(run: &Phased) -> f64 {
    (run.phases[1] + run.committing()).as_secs_f64()
}

fn line(name: &str, run: &Phased, fetch: &str) {
    println!(
        "| {name} | {:.3} s | {:.3} s | {:.0} MB | {:.0} MB | {} | {fetch} |",
        run.cost.wall.as_secs_f64(),
        run.cost.cpu.as_secs_f64(),
        mb(run.cost.memory),
        mb(run.cost.anonymous),
        run.phases.map(ms).join(" | ")
    );
}

fn ms(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1e3)
}
