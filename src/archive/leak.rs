//! What may not enter the public ref.
//!
//! Pages reach a ref only through the writer, which knows the visibility of each source.
//! On top of that every new public file is looked at here, by its bytes alone: a page must
//! be of a public source, a links file of a private source must hold URLs only, and a page
//! that holds more than half of a private page's nine-word runs is held back.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::layout::PageEntry;
use super::links::decode_links;
use super::page::decode_page;
use crate::model::SourceId;

/// Words of one run (shingle).
const RUN: usize = 9;

/// Hashes kept of a private page: the smallest, which sample its runs evenly.
const KEPT: usize = 128;

/// The smallest hashes of a page's nine-word runs, sorted: enough to estimate which part
/// of the page another text holds, and nothing that the text could be read from.
pub type Sketch = Vec<u64>;

/// Makes the sketch of a text; empty for texts of fewer than nine words.
#[must_use]
pub fn sketch(text: &str) -> Sketch {
    let all: BTreeSet<u64> = runs(text).collect();
    all.into_iter().take(KEPT).collect()
}

/// Hashes of all nine-word runs of a text.
fn runs(text: &str) -> impl Iterator<Item = u64> {
    let words: Vec<u64> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| {
            word.chars()
                .flat_map(char::to_lowercase)
                .fold(FNV_OFFSET, |h, c| mix(h, u64::from(u32::from(c))))
        })
        .collect();
    let hashes: Vec<u64> =
        words.windows(RUN).map(|run| run.iter().fold(FNV_OFFSET, |h, w| mix(h, *w))).collect();
    hashes.into_iter()
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// One step of a 64-bit hash that never changes between versions: it is stored.
fn mix(hash: u64, value: u64) -> u64 {
    let mixed = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// Knows the private pages and which sources are private.
#[derive(Debug, Default)]
pub struct LeakGuard {
    private_sources: HashSet<SourceId>,
    pages: Vec<(String, usize)>,
    runs: HashMap<u64, Vec<u32>>,
}

impl LeakGuard {
    /// A guard for these private sources, without pages yet.
    #[must_use]
    pub fn new(private_sources: impl IntoIterator<Item = SourceId>) -> Self {
        Self { private_sources: private_sources.into_iter().collect(), ..Self::default() }
    }

    /// Adds a private page by its sketch.
    pub fn add(&mut self, url: &str, sketch: &[u64]) {
        let Ok(number) = u32::try_from(self.pages.len()) else { return };
        self.pages.push((url.to_owned(), sketch.len()));
        for hash in sketch {
            self.runs.entry(*hash).or_default().push(number);
        }
    }

    /// The private page of whose nine-word runs this text holds more than half.
    #[must_use]
    pub fn resembles(&self, text: &str) -> Option<&str> {
        if self.runs.is_empty() {
            return None;
        }
        let mut held: HashMap<u32, usize> = HashMap::new();
        let mine: HashSet<u64> = runs(text).collect();
        for pages in mine.iter().filter_map(|hash| self.runs.get(hash)) {
            for page in pages {
                *held.entry(*page).or_default() += 1;
            }
        }
        let over_half = held.into_iter().filter(|(page, n)| n * 2 > self.pages[*page as usize].1);
        over_half
            .max_by_key(|(page, n)| (*n, std::cmp::Reverse(*page)))
            .map(|(page, _)| self.pages[page as usize].0.as_str())
    }

    /// Whether a source is private.
    #[must_use]
    pub fn is_private(&self, source: &SourceId) -> bool {
        self.private_sources.contains(source)
    }

    /// Says what is wrong with a file of the public ref, looking at its bytes only.
    ///
    /// # Errors
    /// The file must not be public: the sentence says why, without any text of it.
    pub fn check_public_file(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        if self.private_sources.is_empty() {
            return Ok(());
        }
        if let Some(entry) = PageEntry::from_page_path(path) {
            let page = decode_page(bytes).map_err(|error| format!("{path}: {error}"))?;
            for source in [&entry.source, &page.source] {
                if self.private_sources.contains(source) {
                    return Err(format!("{path} is a page of the private source {source}"));
                }
            }
        } else if let Some(entry) = PageEntry::from_links_path(path)
            && self.private_sources.contains(&entry.source)
        {
            let links = decode_links(bytes).ok_or_else(|| format!("{path} is no links file"))?;
            if links.iter().any(|link| !link.text.is_empty() || !link.rel.is_empty()) {
                return Err(format!(
                    "{path} holds anchor texts of the private source {}",
                    entry.source
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(from: usize, to: usize) -> String {
        (from..to).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn more_than_half_of_a_private_page_is_held_back() {
        let mut guard = LeakGuard::new([]);
        guard.add("https://private.example/a", &sketch(&words(0, 1008)));
        // 1,000 runs in all; a text of n words holds n - 8 of them.
        assert!(guard.resembles(&words(0, 1008)).is_some());
        assert!(guard.resembles(&words(0, 708)).is_some());
        assert!(guard.resembles(&words(0, 308)).is_none());
        assert!(guard.resembles(&words(5000, 6000)).is_none());
        assert!(guard.resembles("short").is_none());
    }

    #[test]
    fn short_pages_are_counted_exactly() {
        let mut guard = LeakGuard::new([]);
        guard.add("https://private.example/a", &sketch(&words(0, 28)));
        assert!(guard.resembles(&words(0, 19)).is_some(), "11 of 20 runs");
        assert!(guard.resembles(&words(0, 18)).is_none(), "10 of 20 runs");
        assert!(guard.resembles(&words(0, 28).to_uppercase().replace(' ', ", ")).is_some());
    }
}
