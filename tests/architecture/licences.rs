//! Which licences come in with the dependencies.

use std::process::{Command, Output};

use spdx::{Expression, ParseMode};

use super::expect_none;
use super::source::project;

/// Licences that ask for no more than their text beside the program.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    // For data: lists of certificates, which a platform without a store of its own is given.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// What is wrong with the licence of a package; nothing where the list satisfies it.
fn fault(licence: Option<&str>) -> Option<String> {
    let Some(text) = licence else { return Some("names no licence".to_owned()) };
    // `A/B` is how packages wrote "A or B" before SPDX expressions were asked for.
    match Expression::parse_mode(text, ParseMode::LAX) {
        Err(error) => Some(format!("`{text}` is no SPDX expression: {}", error.reason)),
        Ok(expression) => {
            let allowed =
                expression.evaluate(|asked| ALLOWED.contains(&asked.to_string().as_str()));
            (!allowed).then(|| format!("`{text}` is not allowed"))
        }
    }
}

/// Everything that the lock file names, on every platform.
fn metadata(more: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .current_dir(project())
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(more)
        .output()
        .expect("cargo starts")
}

#[test]
fn licences_are_on_the_list() {
    let mut output = metadata(&["--offline"]);
    if !output.status.success() {
        output = metadata(&[]);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata failed: {said}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let findings: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let name = package["name"].as_str().unwrap_or_default();
            fault(package["license"].as_str()).map(|what| format!("{name}: {what}"))
        })
        .collect();
    expect_none(&findings, "the program stays under MIT or Apache-2.0 without further duties");
}

#[test]
fn the_list_is_applied() {
    for licence in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT AND Zlib) OR MPL-2.0"] {
        assert_eq!(fault(Some(licence)), None, "{licence}");
    }
    for licence in [Some("MPL-2.0"), Some("MIT AND GPL-2.0-only"), Some("nonsense"), None] {
        assert!(fault(licence).is_some(), "{licence:?}");
    }
}
