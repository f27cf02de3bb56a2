//! Two sequences, and what they have in common.

use std::collections::HashMap;

/// Cells of the table that is filled to compare two sequences; more, and they are compared
/// without their order.
const MOST: usize = 100_000_000;
/// How many examples are kept.
const EXAMPLES: usize = 6;

/// How two sequences differ.
pub struct Difference {
    pub page: usize,
    pub markdown: usize,
    /// How much of the page the Markdown has: the longest common subsequence.
    pub kept: usize,
    /// How much of the Markdown the page has.
    pub known: usize,
    /// The first things that only the page has.
    pub lost: Vec<String>,
    /// The first things that only the Markdown has.
    pub added: Vec<String>,
}

impl Difference {
    pub fn is_none(&self) -> bool {
        self.lost() == 0 && self.added() == 0
    }

    pub fn lost(&self) -> usize {
        self.page - self.kept
    }

    pub fn added(&self) -> usize {
        self.markdown - self.known
    }
}

/// Compares what has to survive of a page, and all that there is on it of that kind, with what
/// the Markdown has.
pub fn compare_part(page: &[String], all: &[String], markdown: &[String]) -> Difference {
    let kept = compare(page, markdown);
    let known = compare(all, markdown);
    Difference { known: known.known, added: known.added, ..kept }
}

/// Compares what the page has with what the Markdown has.
pub fn compare(page: &[String], markdown: &[String]) -> Difference {
    let start = page.iter().zip(markdown).take_while(|(a, b)| a == b).count();
    let (a, b) = (&page[start..], &markdown[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let common =
        if a.len().saturating_mul(b.len()) > MOST { unordered(a, b) } else { ordered(a, b) };
    Difference {
        page: page.len(),
        markdown: markdown.len(),
        kept: start + common + end,
        known: start + common + end,
        lost: examples(a, b),
        added: examples(b, a),
    }
}

/// What one sequence has more often than the other; if nothing, where they begin to differ.
fn examples(one: &[String], other: &[String]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for it in other {
        *counts.entry(it).or_default() += 1;
    }
    let mut found: Vec<String> = one
        .iter()
        .filter(|it| match counts.get_mut(it.as_str()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        })
        .take(EXAMPLES)
        .cloned()
        .collect();
    if found.is_empty() {
        found.extend(one.iter().take(EXAMPLES).cloned());
    }
    found.iter().map(|it| it.chars().take(160).collect()).collect()
}

fn unordered(one: &[String], other: &[String]) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for it in one {
        *counts.entry(it).or_default() += 1;
    }
    let taken = other.iter().filter(|it| {
        counts.get_mut(it.as_str()).is_some_and(|n| std::mem::replace(n, n.saturating_sub(1)) > 0)
    });
    taken.count()
}

fn ordered(one: &[String], other: &[String]) -> usize {
    // Numbers are compared faster than texts.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for it in one.iter().chain(other) {
        let next = numbers.len();
        numbers.entry(it).or_insert(next);
    }
    let numbered =
        |texts: &[String]| -> Vec<usize> { texts.iter().map(|it| numbers[it.as_str()]).collect() };
    let (one, other) = (numbered(one), numbered(other));
    let mut row = vec![0; other.len() + 1];
    for x in one {
        let mut diagonal = 0;
        for (n, y) in other.iter().enumerate() {
            let above = row[n + 1];
            row[n + 1] = if x == *y { diagonal + 1 } else { above.max(row[n]) };
            diagonal = above;
        }
    }
    row[other.len()]
}
