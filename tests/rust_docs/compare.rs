//! Pages and their Markdown, side by side.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pagelog::extract::Noise;
use pagelog::extract::html::{HtmlDocument, Selectors, extract_html};
use pagelog::model::PageUrl;
use url::Url;

use super::{Found, html, markdown};

/// How many pages are taken of each part; all of them with `PAGELOG_ALL_PAGES` set.
const OF_EACH: usize = 60;

/// Where the pages would stand.
const ORIGIN: &str = "https://doc.example.org/";

/// The folder of the documentation, where it is installed.
fn folder() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let root = String::from_utf8(output.stdout).ok()?;
    Some(Path::new(root.trim()).join("share/doc/rust/html")).filter(|folder| folder.is_dir())
}

/// Pages below a folder by their paths, so many at equal distances.
fn pages(
    folder: &Path,
    (part, of_each): (&str, usize),
    fits: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.join(part)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html") && fits(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    let step = found.len().div_ceil(of_each).max(1);
    found.into_iter().step_by(step).collect()
}

/// What the Markdown of a page lacks, or has too much.
fn differences(page: &Found, markdown: &Found) -> Vec<String> {
    let mut told = Vec::new();
    let mut list = |what: &str, one: Vec<String>, two: Vec<String>| {
        if one != two {
            let lacking = one.iter().filter(|it| !two.contains(it)).take(3);
            let more = two.iter().filter(|it| !one.contains(it)).take(3);
            let lacking: Vec<&String> = lacking.collect();
            let more: Vec<&String> = more.collect();
            let counts = (one.len(), two.len());
            told.push(format!("{what}: {counts:?}, lacks {lacking:#?}, has {more:#?}"));
        }
    };
    list("code", page.code.clone(), markdown.code.clone());
    let headings =
        |found: &Found| found.headings.iter().map(|(n, it)| format!("{n} {it}")).collect();
    list("headings", headings(page), headings(markdown));
    let links = |found: &Found| found.links.iter().cloned().collect();
    list("links", links(page), links(markdown));
    let rows = |found: &Found| found.rows.iter().map(usize::to_string).collect();
    list("rows", rows(page), rows(markdown));
    told
}

#[test]
fn real_pages_are_converted_exactly() {
    // With the variable set: all chapters and modules, of which many tell the same.
    let all = std::env::var_os("PAGELOG_ALL_PAGES").is_some();
    compare(if all { usize::MAX } else { OF_EACH });
}

/// Compares so many pages of each part.
fn compare(of_each: usize) {
    let Some(folder) = folder() else {
        println!("the Rust documentation is not installed: no page of it was converted");
        return;
    };
    let is_index = |path: &Path| path.file_name().is_some_and(|name| name == "index.html");
    let chapter = |path: &Path| path.file_name().is_some_and(|name| name != "print.html");
    let all = [
        pages(&folder, ("book", of_each), &chapter),
        pages(&folder, ("reference", of_each), &chapter),
        pages(&folder, ("std", of_each), &is_index),
    ]
    .concat();
    let (mut sum, mut read, mut worst) = ([0; 4], 0, Vec::new());
    for path in &all {
        let text = fs::read_to_string(path).expect("a page");
        // Pages that only lead elsewhere have no content.
        if !text.contains("<main") {
            continue;
        }
        read += 1;
        let below = path.strip_prefix(&folder).expect("below the folder").display().to_string();
        let (page, markdown) = found(&text, &format!("{ORIGIN}{below}"));
        let counts = [page.code.len(), page.headings.len(), page.links.len(), page.rows.len()];
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
        let told = differences(&page, &markdown);
        if !told.is_empty() {
            worst.push((told.len(), format!("{below}:\n  {}", told.join("\n  "))));
        }
    }
    let [code, headings, links, rows] = sum;
    println!(
        "{read} pages: {code} blocks of code, {headings} headings, {links} links, {rows} rows"
    );
    worst.sort();
    let told: Vec<&str> = worst.iter().rev().map(|(_, text)| text.as_str()).collect();
    assert!(told.is_empty(), "{} of {read} pages:\n{}", told.len(), told.join("\n"));
    assert!(read > 0 && sum.iter().all(|count| *count > 0), "{read} pages: {sum:?}");
}

/// What both readers find in a page at an address.
fn found(text: &str, address: &str) -> (Found, Found) {
    let base = Url::parse(address).expect("an address");
    let converted = extract_html(&HtmlDocument {
        bytes: text.as_bytes(),
        charset: None,
        name: "page",
        base: &PageUrl::parse(address).expect("an address"),
        selectors: &Selectors::default(),
        noise: &Noise::default(),
        bot: "TestBot",
    });
    (html::read(text, &base), markdown::read(&converted.body, &base))
}
