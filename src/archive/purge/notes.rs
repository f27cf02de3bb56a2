//! What is noted of takedowns: `TAKEDOWNS.md` and `denied.tsv`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::archive::templates::{DeniedEntry, cell};
use crate::model::SourceId;

/// What readers of the public ref are told of a takedown: no address and no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Its date.
    pub date: String,
    /// The source.
    pub source: SourceId,
    /// How many pages were taken down.
    pub pages: usize,
    /// Why, in the words of whoever did it; empty unless asked for.
    pub why: String,
}

const HEAD: &str = "# Takedowns\n\n\
    Pages that were taken out of all of this history, on request. Commits from then on have \
    other\nids than those that held them.\n\n\
    | date | source | pages | why |\n|---|---|---|---|\n";

/// The list with further lines at its end.
pub(super) fn with_tombstones(before: Option<&[u8]>, new: &[Tombstone]) -> Vec<u8> {
    let before = before.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let mut out = before.unwrap_or_else(|| HEAD.to_owned());
    for Tombstone { date, source, pages, why } in new {
        let why = cell(why);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {date} | {source} | {pages} | {why} |");
    }
    out.into_bytes()
}

/// Writes `denied.tsv`; of one that is named twice the first date stands.
pub(super) fn encode_denied(denied: &BTreeSet<DeniedEntry>) -> Vec<u8> {
    let mut out = "source\turl\tsince\n".to_owned();
    let mut last = None;
    for DeniedEntry { source, url, since } in denied {
        if last.replace((source, url)) != Some((source, url)) {
            let _ = writeln!(out, "{source}\t{url}\t{since}");
        }
    }
    out.into_bytes()
}
