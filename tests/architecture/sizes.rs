//! How long files and functions may get.

use regex::Regex;

use super::expect_none;
use super::source::{Source, item_end, program};

/// Most lines of a file, tests left out.
const FILE: usize = 600;
/// Most lines of a function, from its name to its closing brace.
const FUNCTION: usize = 70;
/// Most lines of the program's own file.
const MAIN: usize = 30;

fn lines_of_code(source: &Source) -> usize {
    source
        .text
        .lines()
        .zip(source.code.lines())
        .filter(|(text, code)| {
            // A line of a test has become blank, a comment of the program is a line like others.
            !code.trim().is_empty() || text.trim_start().starts_with("//")
        })
        .count()
}

#[test]
fn files_stay_readable() {
    let mut findings = Vec::new();
    for source in program() {
        let limit = if source.path == "src/main.rs" { MAIN } else { FILE };
        let lines = lines_of_code(&source);
        if lines > limit {
            findings.push(format!("{}: {lines} lines, {limit} at most", source.path));
        }
    }
    expect_none(&findings, "a file that is longer holds more than one thing");
}

#[test]
fn functions_stay_readable() {
    let name = Regex::new(r"\bfn\s+([a-z_0-9]+)").expect("a pattern");
    let mut findings = Vec::new();
    for source in program() {
        for found in name.captures_iter(&source.code) {
            let start = found.get(0).map_or(0, |all| all.start());
            let end = item_end(&source.code, start);
            let lines = source.code[start..end].lines().count();
            if lines > FUNCTION {
                findings.push(format!("{}: `{}` has {lines} lines", source.path, &found[1]));
            }
        }
    }
    expect_none(&findings, &format!("a function of more than {FUNCTION} lines does too much"));
}
