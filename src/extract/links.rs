//! The links of a document: resolved, cleaned, a sorted set.

use std::collections::BTreeSet;

use super::text::one_line;
use crate::model::{Link, Note, PageUrl, Refusal, Resolve};

/// Longest anchor text, in characters.
const MAX_TEXT: usize = 1_000;
/// Most different notes about links of one document.
const MAX_NOTES: usize = 20;
/// The `rel` tokens that matter, sorted.
const REL: [&str; 9] =
    ["alternate", "author", "canonical", "license", "next", "nofollow", "prev", "sponsored", "ugc"];

/// Collects references and resolves them.
pub(super) struct Links<'a> {
    base: &'a dyn Resolve,
    found: Vec<Link>,
    notes: BTreeSet<String>,
}

impl<'a> Links<'a> {
    pub(super) fn new(base: &'a dyn Resolve) -> Self {
        Self { base, found: Vec::new(), notes: BTreeSet::new() }
    }

    /// Takes a reference as found, unless it leads to nothing that can be archived or to a
    /// place in the same document.
    pub(super) fn add(&mut self, href: &str, text: &str, rel: &str) {
        if let Some(to) = self.resolve(href) {
            self.record(to, text, rel);
        }
    }

    /// Where a reference leads, unless that is nothing that can be archived or a place in
    /// the same document.
    pub(super) fn resolve(&mut self, href: &str) -> Option<PageUrl> {
        let href = href.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_control());
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        match self.base.resolve(href) {
            Ok(to) => Some(to),
            Err(Refusal::Scheme) => None,
            Err(refusal) => {
                self.note(&refused(href, &refusal));
                None
            }
        }
    }

    /// Takes a link.
    pub(super) fn record(&mut self, to: PageUrl, text: &str, rel: &str) {
        self.found.push(Link { to, text: one_line(text, MAX_TEXT), rel: tokens(rel) });
    }

    /// Remembers something unusual.
    pub(super) fn note(&mut self, text: &str) {
        if self.notes.len() < MAX_NOTES {
            self.notes.insert(text.to_owned());
        }
    }

    /// The links as a sorted set, and the notes.
    pub(super) fn finish(mut self) -> (Vec<Link>, Vec<Note>) {
        self.found.sort_unstable();
        self.found.dedup();
        (self.found, self.notes.into_iter().map(Note).collect())
    }
}

/// A note that never holds a password: an address with an `@` is not repeated.
fn refused(href: &str, refusal: &Refusal) -> String {
    let shown = one_line(href, 80);
    if matches!(refusal, Refusal::TooLong | Refusal::Userinfo) || shown.contains('@') {
        let reason = if matches!(refusal, Refusal::Parse(_)) {
            "not a URL".to_owned()
        } else {
            refusal.to_string()
        };
        format!("link left out: {reason}")
    } else {
        format!("link left out: {refusal}: {shown}")
    }
}

fn tokens(rel: &str) -> String {
    if rel.is_empty() {
        return String::new();
    }
    let lower = rel.to_ascii_lowercase();
    let given: Vec<&str> = lower.split_ascii_whitespace().collect();
    let kept: Vec<&str> = REL.into_iter().filter(|token| given.contains(token)).collect();
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::Base;
    use super::*;

    #[test]
    fn a_sorted_set() {
        let mut links = Links::new(&Base);
        links.add("b", "  two\n words ", "");
        links.add("a", "x", "UGC nofollow noopener nofollow");
        links.add(" b ", "two\twords", "");
        links.add("", "none", "");
        links.add("#part", "none", "");
        links.add("mailto:someone", "none", "");
        let (found, notes) = links.finish();
        let found: Vec<_> =
            found.iter().map(|it| (it.to.as_str(), it.text.as_str(), it.rel.as_str())).collect();
        let a = ("https://base.example/dir/a", "x", "nofollow ugc");
        assert_eq!(found, [a, ("https://base.example/dir/b", "two words", "")]);
        assert!(notes.is_empty());
    }

    #[test]
    fn only_surprising_refusals_are_noted() {
        let mut links = Links::new(&Base);
        links.add("javascript:void(0)", "", "");
        links.add("https://user:secret@a.example/", "", "");
        links.add("https://[/?user:sec@ret", "", "");
        links.add("https://[/", "", "");
        let (found, notes) = links.finish();
        let notes: Vec<_> = notes.iter().map(|note| note.0.as_str()).collect();
        assert!(found.is_empty());
        assert!(notes.iter().all(|note| !note.contains("sec")), "{notes:?}");
        assert_eq!(notes.len(), 3, "{notes:?}");
    }
}
