//! How long the program takes to start and end.

use std::process::Command;

use crate::Arguments;
use crate::measure::{self, median};

/// Calls in a row.
const CALLS: usize = 50;

/// The median of `pagelog --version`.
pub fn run(arguments: &Arguments) {
    let call = || measure::run(Command::new(&arguments.program).arg("--version"), None);
    call();
    let costs: Vec<_> = (0..CALLS).map(|_| call()).collect();
    let slowest = costs.iter().map(|cost| cost.wall).max().unwrap_or_default();
    println!("| `pagelog --version`, {CALLS} calls | wall |\n|---|---|");
    let middle = median(&costs).wall.as_secs_f64() * 1e3;
    println!("| median | {middle:.1} ms |");
    println!("| slowest | {:.1} ms |", slowest.as_secs_f64() * 1e3);
    arguments.note("start: ms", middle);
}
