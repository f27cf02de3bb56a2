//! Whether the compiler sees every file: one that no `mod` names is never run.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;

use super::expect_none;
use super::source::{blank, project, read, rust_files};

/// All files that are reached from `root` by `mod`, `root` among them.
fn reached(root: &str) -> BTreeSet<String> {
    let item = Regex::new(r"(?m)^\s*(?:pub(?:\([a-z]+\))? )?mod ([a-z_0-9]+);").expect("a pattern");
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let text = read(&path).text;
        for name in item.captures_iter(&blank(&text)) {
            open.push(file_of(&path, &text, &name[1]));
        }
        found.insert(path);
    }
    found
}

/// The file of a module that is named in `path`.
fn file_of(path: &str, text: &str, name: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let given = Regex::new(&format!(r#"#\[path = "([^"]+)"\]\s*mod {name};"#)).expect("a pattern");
    if let Some(given) = given.captures(text) {
        return format!("{folder}/{}", &given[1]);
    }
    let below = match file {
        "mod.rs" | "main.rs" | "lib.rs" => folder.to_owned(),
        other => format!("{folder}/{}", other.trim_end_matches(".rs")),
    };
    let plain = format!("{below}/{name}.rs");
    if Path::new(project()).join(&plain).exists() {
        plain
    } else {
        format!("{below}/{name}/mod.rs")
    }
}

#[test]
fn every_test_file_is_run() {
    let seen = reached("tests/main.rs");
    let lost: Vec<String> = rust_files("tests").into_iter().filter(|f| !seen.contains(f)).collect();
    expect_none(&lost, "a file below tests/ is run only where a `mod` names it");
}

#[test]
fn every_source_file_is_compiled() {
    let mut seen = reached("src/lib.rs");
    seen.insert("src/main.rs".to_owned());
    let lost: Vec<String> = rust_files("src").into_iter().filter(|f| !seen.contains(f)).collect();
    expect_none(&lost, "a file below src/ is compiled only where a `mod` names it");
}
