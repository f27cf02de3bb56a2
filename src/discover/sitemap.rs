//! Sitemaps, their indexes, and feeds read for their links.
//!
//! Owns the way from the bytes of such a file to addresses. Guarantees:
//!
//! * What a file is, its bytes tell: neither its name nor its media type is asked for.
//! * A file is read as it comes, in memory that does not grow with it, whatever is in it:
//!   each layer of compression, each tag and the number of entries are bounded, and no
//!   entity is expanded.
//! * A fault spoils the entry that it is in, which is given out as [`Spoiled`] with what it
//!   said; the others are read. No address is made up: one that was cut, or could not be
//!   read to the last character, is no address.
//! * What could not be read to its end is `partial`: a page that it does not list may still
//!   exist.
//!
//! Whether an address may be read is not decided here ([`super::Scope`]), nor how far
//! indexes are followed: whoever follows them remembers which files it has seen.

mod characters;
#[cfg(test)]
mod conformance;
mod draft;
mod layers;
#[cfg(test)]
mod tests;
mod text;
mod xml;

use std::io::BufRead;

use super::{LastMod, LastModSpread};
use crate::model::{Note, PageUrl, Refusal, Spread, Timestamp};

use characters::Characters;
use layers::Stop;

/// How much of what is spoilt is given out, in characters.
const TOLD: usize = 300;
/// How much of a text is looked at to tell what it is.
const SNIFFED: usize = 1024;

/// What a file may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of each layer: as received, and behind each layer of compression.
    pub bytes: u64,
    /// Most bytes that one compressed byte may become.
    pub ratio: u64,
    /// Unpacked bytes from which that counts.
    pub ratio_after: u64,
    /// Most bytes of one tag or text.
    pub token: usize,
    /// Entries, good and spoilt, that a file should have at most: more are worth a note.
    pub entries: u64,
    /// Entries, good and spoilt, after which a file is not read further.
    pub most_entries: u64,
}

impl Default for Limits {
    /// 50 MiB and 50,000 entries, as the protocol has it, twice as many at most; 200 times
    /// the compressed size from 1 MiB on; 1 MiB a tag.
    fn default() -> Self {
        Self {
            bytes: 50 * 1024 * 1024,
            ratio: 200,
            ratio_after: 1024 * 1024,
            token: 1024 * 1024,
            entries: 50_000,
            most_entries: 100_000,
        }
    }
}

/// The circumstances in which a file is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Its address: relative links of feeds are relative to it.
    pub base: &'a PageUrl,
    /// When it is read: a change stated for later says nothing.
    pub now: Timestamp,
    /// What it may cost.
    pub limits: Limits,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sitemap of pages.
    UrlSet,
    /// A list of sitemaps.
    Index,
    /// A text with an address a line.
    Text,
    /// A feed: RSS of any version.
    Rss,
    /// A feed: Atom of any version.
    Atom,
}

impl Kind {
    /// The name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UrlSet => "urlset",
            Self::Index => "index",
            Self::Text => "text",
            Self::Rss => "rss",
            Self::Atom => "atom",
        }
    }

    fn is_sitemap(self) -> bool {
        matches!(self, Self::UrlSet | Self::Index)
    }
}

/// What a file holds one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An entry.
    Entry(Entry),
    /// An entry that cannot be used.
    Spoiled(Spoiled),
}

/// An entry: a page, or in an index a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its address.
    pub url: PageUrl,
    /// When it was changed, where that is said and can be.
    pub lastmod: Option<LastMod>,
}

/// An entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoiled {
    /// What it says for its address, or the beginning of that; may be empty.
    pub text: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What makes an entry unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The entry or its address does not end.
    #[error("the entry is not closed")]
    NotClosed,
    /// It has no address.
    #[error("the entry has no address")]
    NoAddress,
    /// A reference to an entity that XML does not define stands in its address.
    #[error("the address holds an entity that is not defined")]
    UnknownEntity,
    /// Its address holds control characters, or bytes that are not of the file's encoding.
    #[error("the address holds characters that cannot be read")]
    Unreadable,
    /// Its address is longer than 2,048 characters.
    #[error("the address is longer than 2,048 characters")]
    TooLong,
    /// Its address is of no use.
    #[error("{0}")]
    Address(Refusal),
    /// The markup in it is broken.
    #[error("the entry is not well-formed")]
    Broken,
}

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What it is; `None` where it is none of what can be read here.
    pub kind: Option<Kind>,
    /// Entries that were given out.
    pub entries: u64,
    /// Entries that cannot be used.
    pub spoiled: u64,
    /// Whether something of the file was not read.
    pub partial: bool,
    /// What the times of change that its entries state have in common.
    pub spread: Spread,
    /// What people may want to know, once each.
    pub notes: Vec<Note>,
}

/// Reads a file and gives out what is in it, in its order.
///
/// Failures of `input` end the reading like the end of the file does, and are reported.
pub fn read_sitemap(
    input: impl BufRead,
    reading: Reading<'_>,
    mut found: impl FnMut(Item),
) -> Report {
    let mut sink = Sink {
        reading,
        found: &mut found,
        report: Report::default(),
        spread: LastModSpread::new(reading.now),
    };
    let (head, plain) = layers::open(input, &reading.limits);
    let mut characters = Characters::new(&head, plain, reading.limits.token);
    match characters.skip_blank() {
        Ok(()) => {
            let beginning = characters.ahead(SNIFFED);
            if beginning.contains(&b'<') && !is_address(beginning) {
                xml::read(characters, &mut sink);
            } else {
                text::read(characters, &mut sink);
            }
        }
        Err(error) => sink.stop(&Stop::of(&error)),
    }
    sink.report.spread = sink.spread.common();
    sink.report
}

fn is_address(text: &[u8]) -> bool {
    text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"http"))
}

/// Where entries go.
struct Sink<'a> {
    reading: Reading<'a>,
    found: &'a mut dyn FnMut(Item),
    report: Report,
    spread: LastModSpread,
}

impl Sink<'_> {
    /// Gives an entry out, or what it said where it is spoilt; `None` when it was the last
    /// that may be read.
    fn give(
        &mut self,
        text: &str,
        url: Result<PageUrl, Fault>,
        lastmod: Option<LastMod>,
    ) -> Option<()> {
        let limits = self.reading.limits;
        let count = self.report.entries + self.report.spoiled;
        if count == limits.entries {
            self.note("the file has more entries than the protocol allows");
        }
        if count >= limits.most_entries {
            self.report.partial = true;
            self.note("the file has too many entries and was not read to its end");
            return None;
        }
        match url {
            Ok(url) => {
                self.report.entries += 1;
                self.spread.see(lastmod);
                let lastmod = lastmod.and_then(|lastmod| lastmod.known(self.reading.now));
                (self.found)(Item::Entry(Entry { url, lastmod }));
            }
            Err(fault) => {
                self.report.spoiled += 1;
                let text = text.trim().chars().take(TOLD).collect();
                (self.found)(Item::Spoiled(Spoiled { text, fault }));
            }
        }
        Some(())
    }

    /// Notes that the file was not read to its end.
    fn stop(&mut self, stop: &Stop) {
        self.report.partial = true;
        self.note(&stop.to_string());
    }

    fn note(&mut self, text: &str) {
        if self.report.notes.iter().all(|note| note.0 != text) {
            self.report.notes.push(Note(text.to_owned()));
        }
    }
}
