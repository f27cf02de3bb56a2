//! References between the documents lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    for folder in ["docs", "docs/decisions"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder").flatten();
        found
            .extend(entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    found
}

#[test]
fn files_that_documents_link_to_exist() {
    let link = Regex::new(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)").expect("a pattern");
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document");
        for found in link.captures_iter(&text) {
            let target = document.parent().expect("a folder").join(&found[1]);
            assert!(target.exists(), "{}: there is no {}", document.display(), &found[1]);
        }
    }
}

#[test]
fn decisions_are_numbered_without_gaps_and_have_their_parts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for (number, name) in names.iter().enumerate() {
        assert!(name.starts_with(&format!("{:04}-", number + 1)), "{name} is out of order");
        let text = fs::read_to_string(folder.join(name)).expect("a decision");
        for part in ["## What", "## Why", "## Evidence", "## What would change our mind"] {
            assert!(text.contains(&format!("\n{part}\n")), "{name}: no part `{part}`");
        }
    }
}
