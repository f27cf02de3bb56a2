//! All measurements one after the other, below a line that says where and when.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Arguments, NAMES};

/// Prints everything as it can stand in `docs/PERFORMANCE.md`.
pub fn run(arguments: &Arguments) {
    eprintln!(
        "all measurements take about an hour and a half on two cores; the machine should be idle"
    );
    println!("{}", circumstances());
    // What needs a corpus of its own is measured where there is one.
    let has_corpus = arguments.corpus.is_some();
    for (name, measure) in NAMES.iter().filter(|(name, _)| has_corpus || !["markdown", "convert"].contains(name)) {
        eprintln!("{}: {name}", now());
        let rounds = arguments.rounds;
        println!("\n### `scripts/bench {name}` (rounds: {rounds}, load before: {})\n", load());
        measure(arguments);
    }
}

/// Date, machine and what was measured.
fn circumstances() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse().ok());
    let memory = memory.map_or(0.0, |kilobytes: f64| kilobytes * 1024.0 / 1e9);
    let folder = std::env::temp_dir();
    let folder = folder.to_string_lossy();
    format!(
        "{}, {cores} cores ({}, {memory:.0} GB, {}), {}, {}, release build at commit {}.",
        now().get(..10).unwrap_or_default(),
        std::env::consts::ARCH,
        first_line("findmnt", &["-n", "-o", "FSTYPE", "-T", &folder]),
        first_line("git", &["--version"]),
        first_line("rustc", &["--version"]),
        first_line("git", &["describe", "--always", "--dirty", "--exclude", "*"]),
    )
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    crate::sitemap::date(i64::try_from(since.as_secs()).unwrap_or(0))
}

/// The machine's load over the last minute.
fn load() -> String {
    let load = fs::read_to_string(Path::new("/proc/loadavg")).unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// The first line that a program prints; a question mark where there is none.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.lines().next().unwrap_or("?").to_owned()
}
