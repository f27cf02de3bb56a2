//! Fenced blocks of a document.

use std::fs;
use std::path::Path;

/// A document of the project.
pub fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The insides of the fenced blocks whose info string is `info`.
pub fn blocks(text: &str, info: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks < 3 {
            continue;
        }
        let fence = &line[..ticks];
        let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        if &line[ticks..] == info {
            found.push(inside.join("\n") + "\n");
        }
    }
    found
}

/// The cells of the rows of the table whose first header cell is `first`, back-ticks left
/// out.
pub fn table(text: &str, first: &str) -> Vec<Vec<String>> {
    let head = format!("| {first} |");
    let mut rows = text.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
    let cells = |line: &str| -> Vec<String> {
        let inside = line.trim().trim_matches('|');
        inside.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let found: Vec<_> = rows.by_ref().take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!found.is_empty(), "there is no table `{first}`");
    found
}
