//! Measurements of pagelog beside its peers: one run, interleaved, medians.
//!
//! `bench NAME --program FILE …` prints a table; `scripts/bench` builds the program and
//! this, and calls it. `steps`, `commit` and `growth` make their inputs from a bundle of a
//! documentation repository's history, and so does `writer`; `site` makes them from the
//! documentation of the Rust toolchain, `markdown` reads what `scripts/corpus` gathered, the
//! others make them from nothing. `all` and `quick` are made
//! of these.

mod all;
mod changed;
mod commit;
mod convert;
mod corpus;
mod edited;
mod growth;
mod history;
mod many;
mod markdown;
mod measure;
mod nginx;
mod pace;
mod phases;
mod quick;
mod responder;
mod scale;
#[path = "../../tests/score/measure/mod.rs"]
mod score;
mod site;
mod sitemap;
mod start;
mod steps;
mod toolchain;
mod writer;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A measurement: prints its table.
type Measurement = fn(&Arguments);

/// What can be measured.
const NAMES: &[(&str, Measurement)] = &[
    ("steps", steps::run),
    ("writer", writer::run),
    ("commit", commit::run),
    ("changed", changed::run),
    ("growth", growth::run_all),
    ("scale", scale::run),
    ("site", site::run),
    ("unchanged", many::unchanged),
    ("large", many::large),
    ("pace", pace::run),
    ("history", history::run),
    ("start", start::run),
    ("markdown", markdown::run),
    ("convert", convert::run),
];

/// What the command line asks for.
struct Arguments {
    program: PathBuf,
    bundle: Option<PathBuf>,
    spider: Option<PathBuf>,
    corpus: Option<PathBuf>,
    /// Whether the pages set apart are measured, and not the others.
    unseen: bool,
    rounds: usize,
    pages: Option<usize>,
    runs: Option<usize>,
    pages_small: Option<usize>,
    pages_large: Option<usize>,
    /// What was measured so far, by name: what `quick` compares with its bounds.
    figures: RefCell<Vec<(&'static str, f64)>>,
}

impl Arguments {
    /// Notes a figure; the smaller the better.
    fn note(&self, name: &'static str, value: f64) {
        self.figures.borrow_mut().push((name, value));
    }

    /// The bundle, which is needed.
    fn bundle(&self) -> &Path {
        self.bundle.as_deref().unwrap_or_else(|| {
            eprintln!("this measurement needs --bundle FILE");
            std::process::exit(2);
        })
    }
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if name == writer::WRITE_PAGES {
        return writer::write_pages();
    }
    let known = NAMES.iter().find(|(known, _)| *known == name);
    if known.is_none() && !["all", "quick"].contains(&name.as_str()) {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no measurement `{name}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let Some(arguments) = arguments() else {
        eprintln!(
            "usage: bench NAME|all|quick --program FILE [--bundle FILE] [--spider FILE] \
             [--corpus DIR] [--generators seen|unseen] [--rounds N] [--pages N] [--runs N] [--pages-small N] [--pages-large N]"
        );
        return ExitCode::from(2);
    };
    match known {
        Some((_, measure)) => measure(&arguments),
        None if name == "quick" => return quick::run(arguments),
        None => all::run(&arguments),
    }
    ExitCode::SUCCESS
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(2);
    let mut program = None;
    let (mut bundle, mut spider, mut rounds) = (None, None, 5);
    let (mut corpus, mut unseen) = (None, false);
    let (mut runs, mut pages, mut pages_small, mut pages_large) = (None, None, None, None);
    let count = |text: String| text.parse().ok().filter(|count| *count > 0_usize);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--program" => program = Some(std::path::absolute(value).ok()?),
            "--bundle" => bundle = Some(PathBuf::from(value)),
            "--spider" => spider = Some(PathBuf::from(value)),
            "--corpus" => corpus = Some(PathBuf::from(value)),
            "--generators" => unseen = value == "unseen",
            "--rounds" => rounds = count(value)?,
            "--runs" => runs = Some(count(value)?),
            "--pages" => pages = Some(count(value)?),
            "--pages-small" => pages_small = Some(count(value)?),
            "--pages-large" => pages_large = Some(count(value)?),
            _ => return None,
        }
    }
    let figures = RefCell::default();
    let program = program?;
    Some(Arguments {
        program,
        bundle,
        spider,
        corpus,
        unseen,
        rounds,
        pages,
        runs,
        pages_small,
        pages_large,
        figures,
    })
}
