//! How much of real pages survives as Markdown: read by two other programs, and compared with
//! what stands on the page.
//!
//! The reader of the pages ([`features`]) is none of the converter's code: it has its own
//! rules for what of a page is content ([`content`]), made from the same intentions. Markdown
//! is made HTML by comrak and by pulldown-cmark and read by that same reader. What is found is
//! compared as sequences ([`compare`]). A page is perfect where words, headings, code, links
//! and rows of simple tables are the same, none lost and none added.

mod compare;
mod content;
mod features;
mod readers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use pagelog::extract::Noise;
use pagelog::extract::html::{HtmlDocument, Selectors, extract_html};
use pagelog::model::PageUrl;
use url::Url;

use crate::Arguments;
use compare::Difference;
use features::{COUNTED, Features, NAMES};
use readers::READERS;

/// How many of the worst pages are told of.
const WORST: usize = 40;

/// A page of the corpus.
struct Entry {
    generator: String,
    path: String,
}

/// What became of a page: the differences by reader, then by feature.
struct Judged<'a> {
    entry: &'a Entry,
    by_reader: [[Difference; NAMES.len()]; 2],
    /// Bytes of Markdown, and those of them that are blocks of HTML.
    bytes: usize,
    raw: usize,
}

impl Judged<'_> {
    fn is_perfect(&self, reader: usize) -> bool {
        self.by_reader[reader][..COUNTED].iter().all(Difference::is_none)
    }

    /// How much is lost or added, in what makes a page perfect.
    fn badness(&self) -> usize {
        let all = self.by_reader.iter().flat_map(|it| &it[..COUNTED]);
        all.map(|it| it.page + it.markdown - 2 * it.common).sum()
    }
}

/// Measures the pages of a corpus that `scripts/corpus` made.
pub fn run(arguments: &Arguments) {
    let Some(corpus) = &arguments.corpus else {
        eprintln!("this measurement needs --corpus DIR, as scripts/corpus makes it");
        std::process::exit(2);
    };
    let unseen = arguments.unseen;
    let entries = entries(corpus, if unseen { "unseen" } else { "seen" });
    let judged = judge_all(corpus, &entries);
    print_table(&judged);
    if !unseen {
        print_worst(&judged);
    }
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
fn judge_all<'a>(corpus: &Path, entries: &'a [Entry]) -> Vec<Judged<'a>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((n, entry)) = {
            let n = next.fetch_add(1, Ordering::Relaxed);
            entries.get(n).map(|entry| (n, entry))
        } {
            match fs::read(corpus.join(&entry.path)) {
                Ok(bytes) => done.push((n, judge(entry, &bytes))),
                Err(error) => eprintln!("left out: {}: {error}", entry.path),
            }
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut judged: Vec<(usize, Judged<'a>)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|it| it.join().expect("a judge ends")).collect()
    });
    judged.sort_by_key(|(n, _)| *n);
    judged.into_iter().map(|(_, it)| it).collect()
}

fn judge<'a>(entry: &'a Entry, bytes: &[u8]) -> Judged<'a> {
    let mut base = Url::parse("https://docs.example.org/").expect("an address");
    base.set_path(&entry.path);
    let extracted = extract_html(&HtmlDocument {
        bytes,
        charset: None,
        name: "page",
        base: &PageUrl::parse(base.as_str()).expect("an address"),
        selectors: &Selectors::default(),
        noise: &Noise::default(),
        bot: "bench",
    });
    let encoding = encoding_rs::Encoding::for_label(extracted.charset.as_bytes());
    let (text, _, _) = encoding.unwrap_or(encoding_rs::UTF_8).decode(bytes);
    let page = features::of_page(&text, &base);
    let by_reader = READERS.map(|(_, reader)| {
        let markdown = features::of_markdown(&reader(&extracted.body), &base);
        differences(&page, &markdown)
    });
    let raw = readers::raw_bytes(&extracted.body);
    Judged { entry, by_reader, bytes: extracted.body.len(), raw }
}

fn differences(page: &Features, markdown: &Features) -> [Difference; NAMES.len()] {
    std::array::from_fn(|n| compare::compare(&page.0[n], &markdown.0[n]))
}

fn print_table(judged: &[Judged<'_>]) {
    let mut groups: BTreeMap<&str, Vec<&Judged<'_>>> = BTreeMap::new();
    for page in judged {
        groups.entry(&page.entry.generator).or_default().push(page);
    }
    let readers: Vec<String> = READERS.iter().map(|(name, _)| format!("perfect, {name}")).collect();
    println!("| generator | pages | {} | {} | raw HTML |", readers.join(" | "), NAMES.join(" | "));
    println!("|{}", "---|".repeat(5 + NAMES.len()));
    for (name, pages) in &groups {
        print_row(name, pages);
    }
    print_row("all", &judged.iter().collect::<Vec<_>>());
}

fn print_row(name: &str, pages: &[&Judged<'_>]) {
    let perfect: Vec<String> = (0..READERS.len())
        .map(|reader| pages.iter().filter(|it| it.is_perfect(reader)).count())
        .map(|count| percent(count, pages.len()))
        .collect();
    let features: Vec<String> = (0..NAMES.len())
        .map(|feature| {
            let each = |of: fn(&Difference) -> usize| -> usize {
                pages.iter().flat_map(|it| &it.by_reader).map(|it| of(&it[feature])).sum()
            };
            let common = each(|it| it.common);
            let recall = percent(common, each(|it| it.page));
            format!("{recall} / {}", percent(common, each(|it| it.markdown)))
        })
        .collect();
    let raw = pages.iter().map(|it| it.raw).sum();
    let bytes = pages.iter().map(|it| it.bytes).sum();
    println!(
        "| {name} | {} | {} | {} | {} |",
        pages.len(),
        perfect.join(" | "),
        features.join(" | "),
        percent(raw, bytes),
    );
}

/// A share in per cent; 100 of what there is none of.
fn percent(part: usize, whole: usize) -> String {
    match (part, whole) {
        (_, 0) => "–".to_owned(),
        (part, whole) if part == whole => "100".to_owned(),
        // Never rounded up to what is whole.
        (part, whole) => format!("{:.3}", (part * 100_000 / whole) as f64 / 1000.0),
    }
}

fn print_worst(judged: &[Judged<'_>]) {
    let mut worst: Vec<&Judged<'_>> = judged.iter().filter(|it| it.badness() > 0).collect();
    worst.sort_by_key(|it| std::cmp::Reverse(it.badness()));
    println!("\n{} pages are not perfect. The worst of each generator:\n", worst.len());
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for page in worst {
        let count = shown.entry(&page.entry.generator).or_default();
        *count += 1;
        if *count > WORST {
            continue;
        }
        println!("* {}", page.entry.path);
        for ((reader, _), differences) in READERS.iter().zip(&page.by_reader) {
            for (name, it) in NAMES.iter().zip(differences).filter(|(_, it)| !it.is_none()) {
                let (lost, added) = (it.page - it.common, it.markdown - it.common);
                println!(
                    "  * {reader}, {name}: {lost} lost {:?}, {added} added {:?}",
                    it.lost, it.added
                );
            }
        }
    }
}
