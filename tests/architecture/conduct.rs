//! What only one module does.

use regex::Regex;

use super::expect_none;
use super::source::{Source, program, read, rust_files};

/// A pattern that may stand in certain places only: the pattern, the places, the reason.
type Rule = (&'static str, fn(&Source) -> bool, &'static str);

fn nowhere(_: &Source) -> bool {
    false
}

fn in_cli(source: &Source) -> bool {
    source.module() == "cli"
}

const RULES: &[Rule] = &[
    (
        r"\bprocess::(Command|Child|Stdio|Output|\{)|\bCommand::new\b",
        |source| source.module() == "git",
        "child processes are started in git/ alone, where each is closed to its surroundings",
    ),
    (r"\bExitCode\b", |source| in_cli(source) || source.module() == "main", "only cli exits"),
    (r"\b(process::)?exit\s*\(", in_cli, "only cli exits; everybody else gives an error back"),
    (
        r"\b(e?println|e?print)!|\bio::(stdout|stderr|stdin)\b|\bstd(out|err)\(\)",
        in_cli,
        "only cli prints: everybody else gives values back",
    ),
    (r"\bdbg!", nowhere, "that is for a minute of work, not for a commit"),
    (r"\bstd::env\b|\benv::(var|vars|args|current_dir)", in_cli, "only cli reads the environment"),
    (
        r"\b(Instant|SystemTime|Utc|Local)::now\b",
        |source| source.path == "src/clock.rs",
        "clock.rs is the only place that asks the time, so that --clock holds everywhere",
    ),
    (r"\bunsafe\b", nowhere, "nothing here needs it"),
    (r"\b(todo|unimplemented)!", nowhere, "what is not done is not committed"),
    (
        r"\bstd::(fs|net|thread)\b",
        |source| !["discover", "extract", "politeness"].contains(&source.module()),
        "these are pure: they read what they are handed, and the same in gives the same out",
    ),
];

#[test]
fn each_thing_is_done_in_its_place() {
    let sources = program();
    for (pattern, may, reason) in RULES {
        let pattern = Regex::new(pattern).expect("a pattern");
        let mut findings = Vec::new();
        for source in sources.iter().filter(|source| !may(source)) {
            let found = source.find(&pattern).into_iter();
            findings.extend(found.map(|(line, what)| format!("{}:{line}: {what}", source.path)));
        }
        expect_none(&findings, reason);
    }
}

#[test]
fn nouns_open_nothing() {
    let io = Regex::new(r"\bstd::(fs|io|process|thread)\b|\bstd::net::(Tcp|Udp|ToSocket)")
        .expect("a pattern");
    let mut findings = Vec::new();
    for source in program().iter().filter(|source| source.module() == "model") {
        let found = source.find(&io).into_iter();
        findings.extend(found.map(|(line, what)| format!("{}:{line}: {what}", source.path)));
    }
    expect_none(&findings, "the model is plain values: no file, no connection, no thread");
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<String> = ["src", "tests"]
        .into_iter()
        .flat_map(rust_files)
        .filter(|path| !read(path).text.starts_with("//! "))
        .collect();
    expect_none(&silent, "a file begins with `//!` and what it owns and guarantees");
}
