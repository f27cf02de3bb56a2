//! Who may use whom: within the crate, and of what others made.

use std::collections::BTreeSet;
use std::process::Command;

use regex::Regex;

use super::expect_none;
use super::source::{Source, program, project};

/// What each module of the crate may use of the others. What is not here is never used.
const MODULES: &[(&str, &[&str], &str)] = &[
    ("model", &[], "the nouns know nobody"),
    ("clock", &["model"], "it makes a point in time and nothing else"),
    ("config", &["model"], "a configuration is values; what is done with them is no matter of it"),
    ("discover", &["model", "config"], "which documents are read is a pure question"),
    ("politeness", &["model", "config"], "whether and when to ask is told by what is given"),
    ("git", &["model"], "the Git client knows no configuration file and no archive"),
    ("fetch", &["model", "config", "politeness", "git"], "fetching has no opinion on storage"),
    ("extract", &["model"], "extraction has no file, network, process or clock"),
    ("archive", &["model", "git"], "the archive does not know where pages come from"),
    (
        "state",
        &["model", "politeness"],
        "the state keeps what it is told; of politeness it knows the plain data of a host",
    ),
    (
        "run",
        &[
            "archive",
            "clock",
            "config",
            "discover",
            "extract",
            "fetch",
            "git",
            "model",
            "politeness",
            "state",
        ],
        "the loop is the only place where stages meet, and does not know who looks at it",
    ),
    (
        "report",
        &["archive", "config", "discover", "model", "politeness", "state"],
        "questions are answered from what is stored, not by running anything; what a stored \
         robots.txt says is read as a run reads it",
    ),
    (
        "publish",
        &["archive", "clock", "config", "git", "model"],
        "what leaves is decided by refs and pages alone, and Git carries it; the clock is asked how \
         long a mirror has taken",
    ),
    (
        "cli",
        &[
            "archive", "clock", "config", "extract", "git", "model", "publish", "report", "run",
            "state",
        ],
        "the command line starts things; it does not fetch by itself",
    ),
    ("main", &["cli"], "the program is the library's command line"),
    ("lib", &[], "the crate's root only lists its modules"),
];

/// Crates that are named in certain modules only, and why.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("gix", &["archive", "fetch"], "objects are read and refs moved in one place each"),
    ("reqwest", &["fetch"], "HTTP is spoken in one place"),
    ("hyper", &["fetch"], "HTTP is spoken in one place; only its errors are looked at"),
    ("rustls", &["fetch"], "HTTP is spoken in one place"),
    ("tokio", &["fetch"], "only HTTP is asynchronous"),
    ("tower_layer", &["fetch"], "connections are counted where they are made"),
    ("tower_service", &["fetch"], "connections are counted where they are made"),
    (
        "flate2",
        &["discover", "fetch"],
        "content codings and packed sitemaps; packs of Git are the archive's",
    ),
    ("libdeflater", &["archive"], "packs are written by the archive"),
    ("crc32fast", &["archive"], "packs are written by the archive"),
    ("sha1", &["archive"], "packs are written by the archive"),
    ("rusqlite", &["state"], "SQL stands in one place"),
    ("toml", &["config"], "only the configuration is TOML"),
    ("spdx", &["config"], "licences are checked where they are read"),
    ("miette", &["config", "cli"], "errors that point at a line are those of the configuration"),
    ("quick_xml", &["discover"], "sitemaps and feeds are read in one place"),
    ("encoding_rs", &["discover", "extract"], "texts of others are decoded where they are read"),
    ("chardetng", &["extract"], "only pages come without a charset"),
    ("memchr", &["politeness"], "patterns of robots.txt are searched on bytes"),
    ("pulldown_cmark", &["extract"], "markup is read in one place"),
    ("html5ever", &["extract"], "markup is read in one place"),
    ("saphyr_parser", &["extract"], "markup is read in one place"),
    ("clap", &["cli"], "options belong to the command line"),
    ("clap_complete", &["cli"], "options belong to the command line"),
    ("clap_mangen", &["cli"], "options belong to the command line"),
    ("indicatif", &["cli"], "only the command line draws"),
    ("ctrlc", &["cli"], "only the command line takes signals"),
    ("tracing_subscriber", &["cli"], "only the command line decides where the log goes"),
    ("serde_json", &["cli"], "only the command line prints JSON"),
    ("serde", &["report", "cli"], "only what is printed as JSON is serialised"),
    ("humantime", &["config", "cli"], "durations are read where people write them"),
    ("chrono", &["model"], "points in time are a noun"),
    ("sha2", &["model"], "only paths are hashed so"),
    ("url", &["model", "config", "git"], "addresses are nouns, and are checked where they enter"),
    (
        "regex",
        &["config", "discover", "extract", "model", "report", "run"],
        "patterns come from the configuration and are applied by the stages; those of policies are \
         a noun",
    ),
    ("tracing", &["archive", "cli", "git", "run"], "values, pure stages and the state are silent"),
    ("thiserror", &[], "every module has errors"),
];

/// Crates that only tests use.
const TEST_CRATES: &[&str] =
    &["comrak", "insta", "markup5ever_rcdom", "proptest", "pulldown_cmark", "robotxt", "tempfile"];

/// Modules of the crate that a file names, with the line.
fn used(source: &Source) -> Vec<(usize, String)> {
    let one = Regex::new(r"\bcrate::([a-z_]+)").expect("a pattern");
    let group = Regex::new(r"\bcrate::\{").expect("a pattern");
    let library = Regex::new(r"\bpagelog::([a-z_]+)").expect("a pattern");
    let mut found = Vec::new();
    for (at, line) in source.code.lines().enumerate() {
        for name in one.captures_iter(line).chain(library.captures_iter(line)) {
            found.push((at + 1, name[1].to_owned()));
        }
        if group.is_match(line) {
            found.push((at + 1, "{…}: name one module a line".to_owned()));
        }
    }
    found
}

#[test]
fn modules_use_only_what_the_table_lists() {
    for source in program() {
        let module = source.module();
        let Some((_, allowed, reason)) = MODULES.iter().find(|row| row.0 == module) else {
            panic!("{}: `{module}` has no row in the table of modules", source.path);
        };
        let findings: Vec<String> = used(&source)
            .into_iter()
            .filter(|(_, name)| name != module && !allowed.contains(&name.as_str()))
            .map(|(line, name)| format!("{}:{line}: uses {name}", source.path))
            .collect();
        expect_none(&findings, &format!("`{module}`: {reason}"));
    }
}

#[test]
fn nobody_climbs_to_the_root() {
    let climb = Regex::new(r"\b(super::)+").expect("a pattern");
    let mut findings = Vec::new();
    for source in program() {
        let below = source.path.trim_start_matches("src/").trim_end_matches(".rs");
        let depth = below.split('/').filter(|name| *name != "mod").count();
        for (line, chain) in source.find(&climb) {
            if chain.matches("super").count() >= depth {
                findings.push(format!("{}:{line}: {chain}", source.path));
            }
        }
    }
    expect_none(&findings, "write `crate::module`, so that the table of modules sees it");
}

#[test]
fn crates_are_named_only_where_they_belong() {
    for (name, modules, reason) in CRATES.iter().filter(|row| !row.1.is_empty()) {
        let word = Regex::new(&format!(r"(^|[^:\w.]){name}::|\buse {name};")).expect("a pattern");
        let mut findings = Vec::new();
        for source in program() {
            let elsewhere = !modules.contains(&source.module());
            for (line, _) in source.find(&word).into_iter().filter(|_| elsewhere) {
                findings.push(format!("{}:{line}: names {name}", source.path));
            }
        }
        expect_none(&findings, &format!("`{name}` is for {}: {reason}", modules.join(", ")));
    }
}

#[test]
fn git_objects_of_upstreams_are_read_in_one_place() {
    let gix = Regex::new(r"\bgix::").expect("a pattern");
    let findings: Vec<String> = program()
        .iter()
        .filter(|source| {
            source.module() == "fetch" && !source.path.starts_with("src/fetch/repository")
        })
        .filter(|source| !source.find(&gix).is_empty())
        .map(|source| source.path.clone())
        .collect();
    expect_none(&findings, "upstreams are read in src/fetch/repository.rs and its parts alone");
}

/// The dependencies of `Cargo.toml`, as they are named in code: those of the program and
/// those of tests.
fn dependencies() -> [BTreeSet<String>; 2] {
    let manifest = project().join("Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo starts");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let all = metadata["packages"][0]["dependencies"].as_array().expect("dependencies");
    let of = |kind: Option<&str>| {
        let wanted = all.iter().filter(|dependency| dependency["kind"].as_str() == kind);
        wanted.map(|d| d["name"].as_str().unwrap_or_default().replace('-', "_")).collect()
    };
    [of(None), of(Some("dev"))]
}

#[test]
fn every_dependency_has_its_place() {
    let [program_crates, test_crates] = dependencies();
    let listed: BTreeSet<String> = CRATES.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(program_crates, listed, "Cargo.toml and the table of crates differ");
    let listed: BTreeSet<String> = TEST_CRATES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(test_crates, listed, "Cargo.toml and the list of crates for tests differ");
    let code: String = program().iter().map(|source| source.code.as_str()).collect();
    let unused: Vec<String> =
        program_crates.into_iter().filter(|name| !code.contains(&format!("{name}::"))).collect();
    expect_none(&unused, "a dependency that nothing names is not taken");
}

#[test]
fn a_planted_import_is_found() {
    let text = "//! x\nuse crate::model::Page;\n// crate::run\nfn f() { crate::fetch::x() }\n";
    let code = super::source::blank(text);
    let source = Source { path: "src/archive/x.rs".to_owned(), text: text.to_owned(), code };
    assert_eq!(used(&source), [(2, "model".to_owned()), (4, "fetch".to_owned())]);
}
