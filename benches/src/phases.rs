//! A run of the program told apart by what its log says and when.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::measure::{Cost, middle, run_logged};

/// What ends a phase: messages of the log, in their order.
const MARKS: [&str; 3] = ["fetched", "converted", "objects and intent are on disk"];

/// Names of the phases; the last one ends with the process.
pub const NAMES: [&str; 4] = ["start, fetch", "read, convert", "pack, flush", "refs, state"];

/// A run that was measured, and how long each of its phases took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phased {
    pub cost: Cost,
    pub phases: [Duration; 4],
}

impl Phased {
    /// From the moment at which all was converted to the end of the process.
    pub fn committing(&self) -> Duration {
        self.phases[2] + self.phases[3]
    }
}

/// Runs the program in a folder, which must succeed.
pub fn run(program: &Path, folder: &Path, clock: &str) -> Phased {
    let log = folder.join("run.log");
    let mut command = Command::new(program);
    command.current_dir(folder).args(["--clock", clock, "-v", "--log-format", "json", "run"]);
    let start = SystemTime::now();
    let measured = run_logged(&mut command, &log);
    let text = std::fs::read_to_string(&log).expect("the log is read");
    assert!(measured.code == 0, "{command:?}: exit code {}\n{text}", measured.code);
    let mut before = start;
    let mut phases = [Duration::ZERO; 4];
    for (phase, mark) in phases.iter_mut().zip(MARKS) {
        let at = time_of(&text, mark).unwrap_or_else(|| panic!("no `{mark}` in the log:\n{text}"));
        *phase = at.duration_since(before).unwrap_or_default();
        before = at;
    }
    phases[3] = (start + measured.cost.wall).duration_since(before).unwrap_or_default();
    Phased { cost: measured.cost, phases }
}

/// The time at which a message was last written.
fn time_of(log: &str, message: &str) -> Option<SystemTime> {
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.rfind(|line| line["fields"]["message"] == message)?;
    humantime::parse_rfc3339(line["timestamp"].as_str()?).ok()
}

/// The median of each figure.
pub fn median(runs: &[Phased]) -> Phased {
    let costs: Vec<Cost> = runs.iter().map(|run| run.cost).collect();
    let each = |phase: usize| middle(runs.iter().map(|run| run.phases[phase]).collect());
    Phased { cost: crate::measure::median(&costs), phases: [0, 1, 2, 3].map(each) }
}
