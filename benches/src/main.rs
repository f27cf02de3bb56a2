//! Measurements of pagelog beside its peers: one run, interleaved, medians.
//!
//! `bench NAME --program FILE …` prints a table; `scripts/bench` builds the program and
//! this, and calls it. `steps` and `commit` make their inputs from a bundle of a
//! documentation repository's history, `site` from the documentation of the Rust toolchain,
//! the others from nothing.

mod commit;
mod corpus;
mod many;
mod measure;
mod nginx;
mod pace;
mod responder;
mod site;
mod sitemap;
mod start;
mod steps;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A measurement: prints its table.
type Measurement = fn(&Arguments);

/// What can be measured.
const NAMES: [(&str, Measurement); 7] = [
    ("steps", steps::run),
    ("commit", commit::run),
    ("site", site::run),
    ("unchanged", many::unchanged),
    ("large", many::large),
    ("pace", pace::run),
    ("start", start::run),
];

/// What the command line asks for.
struct Arguments {
    program: PathBuf,
    bundle: Option<PathBuf>,
    spider: Option<PathBuf>,
    rounds: usize,
    pages: Option<usize>,
}

impl Arguments {
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
    let Some((_, measure)) = NAMES.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no measurement `{name}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    };
    let Some(arguments) = arguments() else {
        eprintln!(
            "usage: bench NAME --program FILE [--bundle FILE] [--spider FILE] [--rounds N] \
             [--pages N]"
        );
        return ExitCode::from(2);
    };
    measure(&arguments);
    ExitCode::SUCCESS
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(2);
    let mut program = None;
    let (mut bundle, mut spider, mut rounds, mut pages) = (None, None, 5, None);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--program" => program = Some(std::path::absolute(value).ok()?),
            "--bundle" => bundle = Some(PathBuf::from(value)),
            "--spider" => spider = Some(PathBuf::from(value)),
            "--rounds" => rounds = value.parse().ok().filter(|rounds| *rounds > 0)?,
            "--pages" => pages = Some(value.parse().ok().filter(|pages| *pages > 0)?),
            _ => return None,
        }
    }
    Some(Arguments { program: program?, bundle, spider, rounds, pages })
}
