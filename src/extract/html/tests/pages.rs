//! Real pages, where they are installed: those of the Rust documentation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::score::{self, Count, NAMES};
use super::*;

/// How many pages are read.
const PAGES: usize = 120;

/// Every so many-th page below a folder, in the order of their paths.
fn pages() -> Vec<PathBuf> {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output();
    let root = root.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    let mut found = Vec::new();
    for book in ["book", "cargo", "reference", "nomicon", "rustc", "clippy", "std/collections"] {
        let folder = root.as_deref().unwrap_or_default();
        html_files(&Path::new(folder).join("share/doc/rust/html").join(book), &mut found);
    }
    found.sort();
    let step = found.len().div_ceil(PAGES).max(1);
    found.into_iter().step_by(step).collect()
}

fn html_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            html_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "html") {
            found.push(path);
        }
    }
}

#[test]
fn real_pages_survive_a_round_trip() {
    let pages = pages();
    if pages.is_empty() {
        println!("not run: the Rust documentation is not installed");
        return;
    }
    let mut sum = [Count::default(); 6];
    let mut imperfect = Vec::new();
    for path in &pages {
        let html = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let markdown = page(&html).body;
        let counts = score::compare(&score::of_page(&html), &score::of_markdown(&markdown));
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
        if !counts.iter().all(|it| it.is_full()) {
            imperfect.push(path.display().to_string());
        }
    }
    println!("{} pages, not perfect: {imperfect:#?}", pages.len());
    for (name, count) in NAMES.iter().zip(sum) {
        let (recall, precision) = count.percent();
        println!("{name}: {recall:.3} {precision:.3}");
        assert!(recall >= 99.99 && precision >= 99.99, "{name}: {count:?}");
    }
    assert!(imperfect.len() * 200 <= pages.len(), "{imperfect:#?}");
}
