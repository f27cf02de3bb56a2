//! A guard against what became slower: ratios on small inputs, each with a bound.

use std::process::ExitCode;
use std::time::Instant;

use crate::{Arguments, Measurement, changed, growth, pace, site, start, steps, writer};

/// A figure that may be at most so large.
struct Guard {
    figure: &'static str,
    bound: f64,
    /// The target that it watches over, which holds for inputs of full size.
    target: &'static str,
}

const fn guard(figure: &'static str, bound: f64, target: &'static str) -> Guard {
    Guard { figure, bound, target }
}

/// What is measured, and with how many pages. A new measurement comes here, its figures with
/// their bounds below.
const RUNS: &[(&str, Measurement, Option<usize>)] = &[
    ("writer", writer::run, Some(3_000)),
    ("steps", steps::run, Some(12)),
    ("start", start::run, None),
    ("changed", changed::run, None),
    ("pace", pace::run, Some(40)),
    ("site", site::run, Some(500)),
    ("growth", growth::run_all, Some(1_000)),
];

/// Stored pages of `changed`.
const CHANGED: (usize, usize) = (20_000, 100_000);

/// Bounds, with room for inputs that are small and machines that are busy. Where a figure
/// gets better for good, its bound follows.
const GUARDS: &[Guard] = &[
    guard("writer: wall, of fast-import's", 0.35, "first commit, fsync on: at most 1/8"),
    guard("writer: CPU, of fast-import's", 0.32, "first commit, fsync on: at most 1/8"),
    guard("writer: wall, of quick fast-import's", 0.7, "first commit, compression 1: at most 1/4"),
    guard("writer: size, of fast-import's", 1.06, "first commit: size at most 1.05"),
    guard("writer: anonymous memory, MB", 30.0, "writer at 100,000 pages: at most 100 MB"),
    guard("steps: runs that differ from Git", 0.0, "changes are those of Git"),
    guard("steps: next run, of the first", 0.4, "next snapshot of a Git source: at most 1/10"),
    guard("start: ms", 25.0, "start of the program: at most 10 ms"),
    guard("changed: wall, large of small", 3.5, "300 changed pages, 300,000 / 20,000: at most 2"),
    guard(
        "changed: wall after the fetch, large of small",
        2.5,
        "300 changed pages, 300,000 / 20,000: at most 2",
    ),
    guard("pace: wall, of the limit", 1.25, "three hosts: at most 1.03 of the limit"),
    guard("site: first run's wall, of wget's", 2.0, "5,000 real pages, first run"),
    guard("site: 1 % edited's wall, of wget's", 0.5, "5,000 real pages, second run"),
    guard("site: requests a changed page", 1.0, "requests a changed page, with lastmod: 1.00"),
    guard("growth: with upkeep, of without", 0.5, "50 runs of 1 %, after upkeep: at most 0.4"),
    guard("growth: CPU of upkeep a run, s", 0.5, "upkeep at 100,000 pages: at most 5 s, mean"),
];

/// Measures, compares, and fails where a figure is worse than its bound.
pub fn run(arguments: Arguments) -> ExitCode {
    let start = Instant::now();
    let rounds = arguments.rounds.min(3);
    let mut small = Arguments { rounds, spider: None, ..arguments };
    (small.pages_small, small.pages_large) = (Some(CHANGED.0), Some(CHANGED.1));
    for (name, measure, pages) in RUNS {
        println!("\n### {name}\n");
        small.pages = *pages;
        measure(&small);
    }
    let figures = small.figures.take();
    let mut worse = 0;
    println!("\n| figure | measured | bound | | guards |\n|---|---|---|---|---|");
    for Guard { figure, bound, target } in GUARDS {
        let found = figures.iter().find(|(name, _)| name == figure);
        // What was not measured is no better than what is too slow.
        let held = found.is_some_and(|(_, value)| value <= bound);
        worse += usize::from(!held);
        let told = found.map_or("not measured".to_owned(), |(_, value)| format!("{value:.3}"));
        let verdict = if held { "holds" } else { "WORSE" };
        println!("| {figure} | {told} | {bound} | {verdict} | {target} |");
    }
    println!("\n{worse} worse than their bounds; {:.0} s", start.elapsed().as_secs_f64());
    if worse == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
