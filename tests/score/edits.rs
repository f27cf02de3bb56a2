//! One word of a page changes: how many lines of its Markdown do.

use std::collections::BTreeMap;

use super::measure::convert;
use super::sample::{base, pages};
use crate::support::numbers::Numbers;

/// How many edits are made.
const EDITS: usize = 500;
/// What replaces a word; no page has it.
const WORD: &str = "zwischenraum";

/// Where words are that a reader sees: letters between blanks, outside of tags, in the content.
fn words(html: &str) -> Vec<(usize, usize)> {
    let body = html.find("<body").unwrap_or(0);
    let mut found = Vec::new();
    let mut in_tag = false;
    let mut start = None;
    for (at, c) in html.char_indices().filter(|(at, _)| *at >= body) {
        in_tag |= c == '<';
        if !in_tag && c.is_ascii_alphabetic() {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            let before = html[..start].chars().next_back();
            let is_word = before.is_some_and(|it| matches!(it, ' ' | '>' | '\n')) && at - start > 2;
            if is_word && matches!(c, ' ' | '<' | '\n' | '.' | ',') {
                found.push((start, at));
            }
        }
        in_tag &= c != '>';
    }
    found
}

/// How many lines of a text are not in the other, in order.
fn changed(one: &str, other: &str) -> usize {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.lines().collect(), other.lines().collect());
    let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    one.len().max(other.len()) - end
}

/// An edit of one word changes the line that the word is in, and no other; but for the title of a
/// box, which stands on a line of its own where it is not just the kind of the box.
#[test]
fn an_edited_word_is_an_edited_line() {
    let mut numbers = Numbers(20_261_207);
    let pages: Vec<(String, String)> = pages()
        .into_iter()
        .map(|(name, bytes)| (name, String::from_utf8(bytes).expect("UTF-8")))
        .collect();
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    let mut made = 0;
    while made < EDITS {
        let (name, html) = &pages[numbers.below(pages.len())];
        let words = words(html);
        let (start, end) = words[numbers.below(words.len())];
        let edited = format!("{}{WORD}{}", &html[..start], &html[end..]);
        let base = base(name);
        let before = convert(html.as_bytes(), &base).body;
        let after = convert(edited.as_bytes(), &base).body;
        // A word that no reader sees, as in a menu.
        if !after.contains(WORD) {
            assert_eq!(before, after, "{name}: {}", &html[start..end]);
            continue;
        }
        made += 1;
        let size = changed(&before, &after);
        *sizes.entry(size).or_default() += 1;
        assert!(size <= 2, "{name}: {} changes {size} lines", &html[start..end]);
    }
    println!("edits by changed lines: {sizes:?}");
    assert!(sizes[&1] * 100 >= EDITS * 98, "{sizes:?}");
}
