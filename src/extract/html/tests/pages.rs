//! Real pages, where they are installed.

use std::fs;
use std::path::{Path, PathBuf};

use super::score::{self, Count, NAMES};
use super::*;

fn html_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            html_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "html") {
            found.push(path);
        }
    }
}

/// A score over many pages, with the losses of each page printed where asked.
fn run(pages: &[PathBuf], verbose: bool) -> ([Count; 6], usize, usize) {
    let mut sum = [Count::default(); 6];
    let (mut perfect, mut all) = (0, 0);
    let (mut markdown_bytes, mut raw_bytes, mut html_bytes, mut edits) = (0, 0, 0, 0);
    let mut time = std::time::Duration::ZERO;
    for path in pages {
        let Ok(bytes) = fs::read(path) else { continue };
        let html = String::from_utf8_lossy(&bytes);
        let start = std::time::Instant::now();
        let extracted = page(&html);
        time += start.elapsed();
        html_bytes += html.len();
        markdown_bytes += extracted.body.len();
        raw_bytes += extracted.body.lines().filter(|it| it.trim_start().starts_with('<')).map(str::len).sum::<usize>();
        edits += usize::from(extracted.body.is_empty());
        let original = score::of_page(&html);
        let read = score::of_markdown(&extracted.body);
        let counts = score::compare(&original, &read);
        all += 1;
        let full = [0, 1, 2, 4, 5].iter().all(|n| counts[*n].is_full());
        perfect += usize::from(full);
        if verbose && !full {
            let lost: Vec<String> = NAMES.iter().zip(counts).filter(|(_, it)| !it.is_full()).map(|(name, it)| format!("{name} {}/{}/{}", it.0, it.1, it.2)).collect();
            println!("{}: {}", path.display(), lost.join(", "));
            if !counts[0].is_full() {
                let at = original.words.iter().zip(&read.words).take_while(|(a, b)| a == b).count();
                let cut = |it: &[String]| it[at.saturating_sub(3).min(it.len())..(at + 5).min(it.len())].join(" ");
                println!("   words: {:?} / {:?}", cut(&original.words), cut(&read.words));
            }
            if !counts[4].is_full() {
                let at = original.links.iter().zip(&read.links).take_while(|(a, b)| a == b).count();
                println!("   links: {:?} / {:?}", original.links.get(at), read.links.get(at));
            }
            if !counts[2].is_full() {
                let at = original.code.iter().zip(&read.code).take_while(|(a, b)| a == b).count();
                println!("   code: {:?} / {:?}", original.code.get(at), read.code.get(at));
            }
            if !counts[1].is_full() {
                let at = original.headings.iter().zip(&read.headings).take_while(|(a, b)| a == b).count();
                println!("   headings: {:?} / {:?}", original.headings.get(at), read.headings.get(at));
            }
            if !counts[5].is_full() {
                let at = original.rows.iter().zip(&read.rows).take_while(|(a, b)| a == b).count();
                println!("   rows: {:?} / {:?}", original.rows.get(at), read.rows.get(at));
            }
        }
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    println!("{all} pages, {perfect} perfect; {html_bytes} -> {markdown_bytes} bytes ({raw_bytes} raw, {edits} empty); {time:?}");
    for (name, count) in NAMES.iter().zip(sum) {
        println!("  {name}: {count:?} {:.4?}", count.percent());
    }
    (sum, perfect, all)
}

#[test]
#[ignore = "a throw-away measure"]
fn corpus() {
    let dirs = std::env::var("CORPUS").unwrap();
    let step: usize = std::env::var("STEP").map_or(1, |it| it.parse().unwrap());
    for dir in dirs.split(':') {
        let mut files = Vec::new();
        html_files(Path::new(dir), &mut files);
        files.sort();
        let files: Vec<_> = files.into_iter().step_by(step).collect();
        println!("== {dir}");
        run(&files, true);
    }
}
