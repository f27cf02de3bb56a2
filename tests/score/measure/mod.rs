//! How much of a page survives as Markdown: read by two other programs, and compared with what
//! stands on the page.
//!
//! The reader of the pages ([`features`]) is none of the converter's code: it has its own
//! rules for what of a page is content ([`content`]), made from the same intentions. Markdown
//! is made HTML by comrak and by pulldown-cmark ([`readers`]) and read by that same reader. What
//! is found is compared as sequences ([`compare`]). A page is perfect where words, headings, code,
//! links and rows of tables are the same, none lost and none added. Its list of links ([`links`])
//! is compared as a set.

pub mod compare;
pub mod content;
pub mod features;
mod links;
pub mod readers;
mod rows;
pub mod tree;

use std::collections::BTreeSet;

use pagelog::extract::Noise;
use pagelog::extract::html::{ExtractedHtml, HtmlDocument, Selectors, extract_html};
use pagelog::model::PageUrl;
use url::Url;

use compare::Difference;
use features::{COUNTED, Features, NAMES, ROWS};
use readers::READERS;

/// Differences by reader of Markdown, then by feature.
pub type ByReader = [[Difference; NAMES.len()]; READERS.len()];

/// What became of a page.
pub struct Judged {
    pub by_reader: ByReader,
    /// The differences of its list of links.
    pub links: Difference,
    pub markdown: String,
    /// Bytes of the Markdown that are blocks of HTML.
    pub raw: usize,
}

impl Judged {
    /// Whether nothing that counts is lost or added.
    pub fn is_perfect(&self, reader: usize) -> bool {
        is_perfect(&self.by_reader[reader])
    }

    /// What is lost and added, a line each.
    pub fn report(&self) -> Vec<String> {
        let line = |what: String, it: &Difference| {
            let (lost, added) = (it.lost(), it.added());
            format!("{what}: {lost} lost {:?}, {added} added {:?}", it.lost, it.added)
        };
        let mut lines = Vec::new();
        for ((reader, _), differences) in READERS.iter().zip(&self.by_reader) {
            for (name, it) in NAMES.iter().zip(differences).filter(|(_, it)| !it.is_none()) {
                lines.push(line(format!("{reader}, {name}"), it));
            }
        }
        if !self.links.is_none() {
            lines.push(line("list of links".to_owned(), &self.links));
        }
        lines
    }
}

/// Converts a page as a run would.
pub fn convert(bytes: &[u8], base: &Url) -> ExtractedHtml {
    extract_html(&HtmlDocument {
        bytes,
        charset: None,
        name: "page",
        base: &PageUrl::parse(base.as_str()).expect("an address"),
        selectors: &Selectors::default(),
        noise: &Noise::default(),
        bot: "score",
    })
}

/// Converts a page and judges what came of it.
pub fn judge(bytes: &[u8], base: &Url) -> Judged {
    let extracted = convert(bytes, base);
    let encoding = encoding_rs::Encoding::for_label(extracted.charset.as_bytes());
    let (text, _, _) = encoding.unwrap_or(encoding_rs::UTF_8).decode(bytes);
    let page = features::of_page(&text, base);
    let by_reader = judge_markdown(&page, &extracted.body, base);
    let list = extracted.links.iter().map(|it| (it.to.to_string(), it.text.clone()));
    let texts = |set: BTreeSet<(String, String)>| -> Vec<String> {
        set.into_iter().map(|(to, text)| format!("{to} {text}")).collect()
    };
    let links = compare::compare(&texts(links::of_page(&text, base)), &texts(list.collect()));
    let raw = readers::raw_bytes(&extracted.body);
    Judged { by_reader, links, markdown: extracted.body, raw }
}

/// What each reader of Markdown misses of a page.
pub fn judge_markdown(page: &Features, markdown: &str, base: &Url) -> ByReader {
    READERS.map(|(_, reader)| differences(page, &features::of_markdown(&reader(markdown), base)))
}

/// Whether nothing that counts is lost or added.
pub fn is_perfect(differences: &[Difference]) -> bool {
    differences[..COUNTED].iter().all(Difference::is_none)
}

fn differences(page: &Features, markdown: &Features) -> [Difference; NAMES.len()] {
    std::array::from_fn(|n| match n {
        // Not each row of the page has to be one in Markdown; those of the Markdown do.
        ROWS => compare::compare_part(&page.found[n], &page.all_rows, &markdown.all_rows),
        _ => compare::compare(&page.found[n], &markdown.found[n]),
    })
}
