//! How much of real pages survives as Markdown, by the same measure that the tests apply to
//! pages of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use url::Url;

use crate::Arguments;
use crate::score::compare::Difference;
use crate::score::features::{COUNTED, NAMES};
use crate::score::readers::READERS;
use crate::score::{Judged, judge};

/// How many of the worst pages of a generator are told of.
const WORST: usize = 40;

/// A page of the corpus.
pub struct Entry {
    generator: String,
    pub path: String,
}

impl Entry {
    /// The address that it is given.
    pub fn base(&self) -> Url {
        let mut base = Url::parse("https://docs.example.org/").expect("an address");
        base.set_path(&self.path);
        base
    }
}

type Verdict<'a> = (&'a Entry, Judged);

/// Measures the pages of a corpus that `scripts/corpus` made.
pub fn run(arguments: &Arguments) {
    let (corpus, entries) = corpus(arguments);
    let judged = judge_all(corpus, &entries);
    print_table(&judged);
    if !arguments.unseen {
        print_worst(&judged);
    }
}

/// The corpus that the command line names, and its pages.
pub fn corpus(arguments: &Arguments) -> (&Path, Vec<Entry>) {
    let Some(corpus) = &arguments.corpus else {
        eprintln!("this measurement needs --corpus DIR, as scripts/corpus makes it");
        std::process::exit(2);
    };
    (corpus, entries(corpus, if arguments.unseen { "unseen" } else { "seen" }))
}

fn entries(corpus: &Path, wanted: &str) -> Vec<Entry> {
    let list = fs::read_to_string(corpus.join("pages.tsv")).unwrap_or_else(|error| {
        eprintln!("{}: {error}; scripts/corpus makes it", corpus.join("pages.tsv").display());
        std::process::exit(2);
    });
    let fields = list.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    fields
        .filter_map(|it| match it[..] {
            [generator, seen, path] if seen == wanted => {
                Some(Entry { generator: generator.to_owned(), path: path.to_owned() })
            }
            _ => None,
        })
        .collect()
}

/// Judges pages on all cores; the result is in the order of the pages.
fn judge_all<'a>(corpus: &Path, entries: &'a [Entry]) -> Vec<Verdict<'a>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((n, entry)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            entries.get(n).map(|entry| (n, entry))
        } {
            match fs::read(corpus.join(&entry.path)) {
                Ok(bytes) => done.push((n, (entry, judge(&bytes, &entry.base())))),
                Err(error) => eprintln!("left out: {}: {error}", entry.path),
            }
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut judged: Vec<(usize, Verdict<'a>)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|it| it.join().expect("a judge ends")).collect()
    });
    judged.sort_by_key(|(n, _)| *n);
    judged.into_iter().map(|(_, it)| it).collect()
}

fn print_table(judged: &[Verdict<'_>]) {
    let mut groups: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for (entry, page) in judged {
        groups.entry(&entry.generator).or_default().push(page);
    }
    let readers: Vec<String> = READERS.iter().map(|(name, _)| format!("perfect, {name}")).collect();
    println!(
        "| generator | pages | {} | {} | list of links | raw HTML |",
        readers.join(" | "),
        NAMES.join(" | ")
    );
    println!("|{}", "---|".repeat(6 + NAMES.len()));
    for (name, pages) in &groups {
        print_row(name, pages);
    }
    print_row("all", &judged.iter().map(|(_, it)| it).collect::<Vec<_>>());
}

fn print_row(name: &str, pages: &[&Judged]) {
    let perfect: Vec<String> = (0..READERS.len())
        .map(|reader| pages.iter().filter(|it| it.is_perfect(reader)).count())
        .map(|count| percent(count, pages.len()))
        .collect();
    let features: Vec<String> = (0..NAMES.len())
        .map(|feature| {
            let all = pages.iter().flat_map(|it| &it.by_reader).map(|it| &it[feature]);
            both_ways(&all.collect::<Vec<_>>())
        })
        .collect();
    let links = both_ways(&pages.iter().map(|it| &it.links).collect::<Vec<_>>());
    let raw = pages.iter().map(|it| it.raw).sum();
    let bytes = pages.iter().map(|it| it.markdown.len()).sum();
    println!(
        "| {name} | {} | {} | {} | {links} | {} |",
        pages.len(),
        perfect.join(" | "),
        features.join(" | "),
        percent(raw, bytes),
    );
}

/// Recall and precision.
pub fn both_ways(all: &[&Difference]) -> String {
    let sum = |of: fn(&Difference) -> usize| all.iter().map(|it| of(it)).sum();
    let recall = percent(sum(|it| it.kept), sum(|it| it.page));
    format!("{recall} / {}", percent(sum(|it| it.known), sum(|it| it.markdown)))
}

/// A share in per cent; 100 of what there is none of.
pub fn percent(part: usize, whole: usize) -> String {
    match (part, whole) {
        (_, 0) => "–".to_owned(),
        (part, whole) if part == whole => "100".to_owned(),
        // Never rounded up to what is whole.
        (part, whole) => format!("{:.3}", (part * 100_000 / whole) as f64 / 1000.0),
    }
}

fn print_worst(judged: &[Verdict<'_>]) {
    let mut worst: Vec<&Verdict<'_>> = judged.iter().filter(|(_, it)| badness(it) > 0).collect();
    worst.sort_by_key(|(_, it)| std::cmp::Reverse(badness(it)));
    println!("\n{} pages are not perfect. The worst of each generator:\n", worst.len());
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for (entry, page) in worst {
        let count = shown.entry(&entry.generator).or_default();
        *count += 1;
        if *count > WORST {
            continue;
        }
        println!("* {}", entry.path);
        for line in page.report() {
            println!("  * {line}");
        }
    }
}

/// How much is lost or added, of what counts.
fn badness(page: &Judged) -> usize {
    let all = page.by_reader.iter().flat_map(|it| &it[..COUNTED]).chain([&page.links]);
    all.map(|it| it.lost() + it.added()).sum()
}
