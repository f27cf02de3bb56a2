//! Measurements of pagelog beside its peers: one run, interleaved, medians.
//!
//! `bench NAME [--bundle FILE] [--rounds N]` prints a table; `scripts/bench` builds the
//! program and this, and calls it. Inputs are made here from a bundle of a documentation
//! repository's history.

mod commit;
mod corpus;
mod measure;
mod steps;

use std::path::PathBuf;
use std::process::ExitCode;

/// What the command line asks for.
struct Arguments {
    name: String,
    program: PathBuf,
    bundle: PathBuf,
    rounds: usize,
    pages: usize,
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!(
            "usage: bench steps|commit --program FILE --bundle FILE [--rounds N] [--pages N]"
        );
        return ExitCode::from(2);
    };
    match arguments.name.as_str() {
        "steps" => steps::run(&arguments),
        "commit" => commit::run(&arguments),
        other => {
            eprintln!("there is no measurement `{other}`; there are steps, commit");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let name = words.next()?;
    let (mut program, mut bundle, mut rounds, mut pages) = (None, None, 5, 20_000);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--program" => program = Some(PathBuf::from(value)),
            "--bundle" => bundle = Some(PathBuf::from(value)),
            "--rounds" => rounds = value.parse().ok()?,
            "--pages" => pages = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(Arguments { name, program: program?, bundle: bundle?, rounds, pages })
}
