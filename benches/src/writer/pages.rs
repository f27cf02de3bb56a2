//! Pages as values, made out of the versions of real ones.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pagelog::archive::{ArchiveFile, PageEntry, encode_links, encode_page};
use pagelog::extract::{Document, Extracted, Markup, Noise, extract};
use pagelog::model::{
    Bot, CaseRule, Link, Page, PageUrl, Representation, SourceId, Timestamp, TreePath, Visibility,
};

use crate::corpus;

/// Pages that are encoded together, as a run does it.
const BATCH: usize = 256;

/// Start of the run that the commit tells of: 2026-11-30T02:00:00Z.
pub const STARTED: i64 = 1_796_004_000;

/// A page with its place and its links.
pub struct Ready {
    pub entry: PageEntry,
    pub page: Page,
    pub links: Vec<Link>,
}

/// Writes versions into one file.
pub fn store(file: &Path, versions: &[Vec<u8>]) {
    let each = versions.iter().map(|text| [format!("{}\n", text.len()).as_bytes(), text].concat());
    fs::write(file, each.collect::<Vec<_>>().concat()).expect("versions are written");
}

/// Makes pages from the versions in a file, in the order of their paths.
pub fn make(file: &Path, count: usize) -> Vec<Ready> {
    let stored = fs::read(file).expect("versions are read");
    let mut versions = Vec::new();
    let mut rest = stored.as_slice();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let length: usize = String::from_utf8_lossy(&rest[..end]).parse().expect("a length");
        versions.push(extracted(&rest[end + 1..=end + length]));
        rest = &rest[end + 1 + length..];
    }
    let pages: Vec<Ready> = (0..count).map(|number| page(&versions, number)).collect();
    assert!(pages.windows(2).all(|pair| pair[0].entry < pair[1].entry), "paths are in order");
    // What is freed here would be used again by what is measured, and not be counted.
    std::mem::forget((stored, versions));
    pages
}

fn extracted(bytes: &[u8]) -> Extracted {
    let base = PageUrl::parse("https://docs.example.org/part/page").expect("a URL");
    let noise = Noise::default();
    let markup = Markup::Markdown;
    extract(&Document { bytes, markup, name: "page.md", base: &base, noise: &noise })
        .expect("versions are texts")
}

/// The page of that number; where there are too few versions, a copy with one more line.
fn page(versions: &[Extracted], number: usize) -> Ready {
    let of = &versions[number % versions.len()];
    let body = match number / versions.len() {
        0 => of.body.clone(),
        copy => format!("Copy {copy}.\n{}", of.body),
    };
    let path = corpus::page_path(number);
    let url = PageUrl::parse(&format!("https://docs.example.org/{path}")).expect("a URL");
    let source = SourceId::new("docs").expect("a source");
    let entry = PageEntry { source: source.clone(), path: TreePath::of_url(&url, CaseRule::Keep) };
    let page = Page {
        url,
        title: of.title.clone(),
        source,
        licence: "CC-BY-4.0".to_owned(),
        retrieved: Timestamp::from_unix(STARTED).expect("a time"),
        representation: Representation::Markdown,
        git: None,
        upstream: of.upstream.clone(),
        body,
    };
    Ready { entry, page, links: of.links.clone() }
}

/// Who writes.
pub fn bot() -> Bot {
    let text = |text: &str| text.to_owned();
    Bot {
        name: text("Bench"),
        version: text("0"),
        url: text("https://example.org/bot"),
        contact: text("bot@example.org"),
        ..Bot::default()
    }
}

/// The files at the root of the tree.
pub fn root_files(visibility: Visibility) -> Vec<ArchiveFile> {
    ArchiveFile::all(&bot(), &[], visibility, CaseRule::Keep)
}

/// All files of the commit, in the order of the tree.
pub fn files(pages: &[Ready]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let mut root: Vec<_> = root_files(Visibility::Public)
        .into_iter()
        .map(|file| (file.name.to_owned(), file.bytes))
        .collect();
    root.sort();
    let links = pages.iter().map(|ready| (ready.entry.links_path(), encode_links(&ready.links)));
    let texts = pages.iter().map(|ready| (ready.entry.page_path(), encode_page(&ready.page)));
    root.into_iter().chain(links).chain(texts)
}

/// Works on all pages with as many threads as there are cores, and puts what comes out in
/// order: the next batch is worked on while one is put, as in a run.
pub fn in_order<W: Send, T: Send>(
    pages: &[Ready],
    (worker, work): (impl Fn() -> W + Sync, impl Fn(&mut W, &Ready) -> T + Sync),
    mut put: impl FnMut(&Ready, T),
) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let idle: Mutex<Vec<W>> = Mutex::default();
    let free = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let work_on = |part: &[Ready]| {
        let taken = free().pop();
        let mut worker = taken.unwrap_or_else(&worker);
        let results: Vec<T> = part.iter().map(|ready| work(&mut worker, ready)).collect();
        free().push(worker);
        results
    };
    std::thread::scope(|scope| {
        let (mut running, mut done) = (Vec::new(), pages.iter());
        for batch in pages.chunks(BATCH).map(Some).chain([None]) {
            let mut results = Vec::new();
            for thread in std::mem::take(&mut running) {
                let thread: std::thread::ScopedJoinHandle<'_, Vec<T>> = thread;
                results.extend(thread.join().expect("the thread ends"));
            }
            let parts = batch.unwrap_or_default().chunks(BATCH.div_ceil(threads));
            running.extend(parts.map(|part| scope.spawn(|| work_on(part))));
            for result in results {
                put(done.next().expect("a page"), result);
            }
        }
    });
}
