//! How much of a page survives: Markdown is read by another program, and what that makes of
//! it is compared with the page.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

use super::super::dom::{Data, Id, Tree};
use super::super::element::Tag;
use super::super::{main_content, parse, references::References};
use super::*;

/// What a reader finds in a page.
#[derive(Debug, Default)]
pub(super) struct Features {
    pub(super) words: Vec<String>,
    pub(super) headings: Vec<(u8, String)>,
    pub(super) code: Vec<String>,
    pub(super) languages: Vec<String>,
    pub(super) links: Vec<(String, String)>,
    pub(super) rows: Vec<String>,
}

/// Matched, in the page, in the Markdown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count(pub usize, pub usize, pub usize);

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
        self.2 += other.2;
    }
}

impl Count {
    pub(super) fn is_full(self) -> bool {
        self.0 == self.1 && self.0 == self.2
    }

    /// Recall and precision in per cent.
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    pub(super) fn percent(self) -> (f64, f64) {
        let of = |all: usize| if all == 0 { 100.0 } else { 100.0 * self.0 as f64 / all as f64 };
        (of(self.1), of(self.2))
    }
}

pub(super) const NAMES: [&str; 6] = ["words", "headings", "code", "languages", "links", "rows"];

/// The features of the content of a page.
pub(super) fn of_page(html: &str) -> Features {
    let mut tree = parse::parse(html).tree;
    let head = Head::read(&tree, "pagelog");
    let content = main_content::choose(&mut tree, &Selectors::default());
    let base = meta::resolved(head.base.as_deref(), &Base);
    features(&tree, &content.roots, References::new(&Base, base.as_ref()))
}

/// The features of Markdown as comrak reads it.
pub(super) fn of_markdown(markdown: &str) -> Features {
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.alerts = true;
    options.render.r#unsafe = true;
    let html = comrak::markdown_to_html(markdown, &options);
    let mut tree = parse::parse(&html).tree;
    let boxes: Vec<Id> = tree.elements().filter(|id| tree.name(*id) == "input").collect();
    for id in boxes {
        tree.node_mut(id).skipped = true;
    }
    features(&tree, &[Tree::ROOT], References::new(&Base, None))
}

pub(super) fn compare(page: &Features, markdown: &Features) -> [Count; 6] {
    [
        common(&page.words, &markdown.words),
        common(&page.headings, &markdown.headings),
        common(&page.code, &markdown.code),
        common(&page.languages, &markdown.languages),
        common(&page.links, &markdown.links),
        common(&page.rows, &markdown.rows),
    ]
}

fn normal(text: &str) -> String {
    text.split(char::is_whitespace).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

fn features(tree: &Tree, roots: &[Id], mut references: References<'_>) -> Features {
    let mut found = Features::default();
    let mut text = String::new();
    for id in roots.iter().flat_map(|root| tree.content_below(*root)) {
        let tag = match &tree.node(id).data {
            Data::Text(part) => {
                text.push_str(part);
                // The end of a block is not seen, its last text is.
                if ends_block(tree, id) {
                    text.push(' ');
                }
                continue;
            }
            Data::Element { tag, .. } => *tag,
            _ => continue,
        };
        if tag.is_block() || tag == Tag::Br {
            text.push(' ');
        }
        match tag {
            Tag::Heading(level) => {
                let heading = normal(&tree.plain_text(id));
                if !heading.is_empty() {
                    found.headings.push((level, heading));
                }
            }
            Tag::Pre => {
                let code = code::text(tree, id);
                found.code.push(code.strip_suffix('\n').unwrap_or(&code).to_owned());
                found.languages.extend(code::language(tree, id));
            }
            Tag::A if !is_in_code(tree, id) => {
                let target = tree.attribute(id, "href").and_then(|it| references.link(it));
                let text = normal(&tree.plain_text(id));
                if let Some(target) = target.filter(|it| it.page.is_some() || !text.is_empty()) {
                    found.links.push((decoded(&target.address), text));
                }
            }
            Tag::Table if is_simple(tree, id) => {
                let rows = tree.content_below(id).filter(|it| tree.is(*it, Tag::Row));
                found.rows.extend(rows.filter_map(|row| self::row(tree, row)));
            }
            _ => {}
        }
    }
    found.words = text.split_whitespace().map(str::to_owned).collect();
    found
}

/// An address without percent-encoding, which readers of Markdown add as they like.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = (*first == b'%').then(|| std::str::from_utf8(tail.get(..2)?).ok()).flatten();
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn ends_block(tree: &Tree, id: Id) -> bool {
    let mut at = id;
    while let Some(parent) = tree.parent(at) {
        if tree.all_children(parent).last() != Some(at) {
            return false;
        }
        if tree.tag(parent).is_some_and(Tag::is_block) {
            return true;
        }
        at = parent;
    }
    true
}

fn is_in_code(tree: &Tree, id: Id) -> bool {
    std::iter::successors(tree.parent(id), |it| tree.parent(*it)).any(|it| tree.is(it, Tag::Pre))
}

fn row(tree: &Tree, row: Id) -> Option<String> {
    let cells = tree.children(row).filter(|it| tree.tag(*it).is_some());
    let cells: Vec<String> = cells.map(|cell| normal(&tree.plain_text(cell))).collect();
    let line = cells.join(" | ");
    (!line.trim_matches(['|', ' ']).is_empty())
        .then(|| line.trim_end_matches(['|', ' ']).to_owned())
}

fn is_simple(tree: &Tree, id: Id) -> bool {
    tree.content_below(id).skip(1).all(|it| {
        let spans = |name| tree.attribute(it, name).is_some_and(|span| span != "1");
        let table = matches!(
            tree.tag(it),
            Some(Tag::Row | Tag::Rows | Tag::HeadRows | Tag::Cell | Tag::HeaderCell | Tag::Caption)
        );
        // A paragraph alone in its cell is the cell.
        let alone = matches!(tree.tag(it), Some(Tag::P | Tag::Block))
            && tree.parent(it).is_some_and(|cell| {
                let shown = |it: &Id| tree.text(*it).is_none_or(|text| !words::is_blank(text));
                tree.children(cell).filter(shown).count() == 1
            });
        let block = tree.tag(it).is_some_and(Tag::is_block);
        !spans("colspan") && !spans("rowspan") && (table || alone || !block)
    })
}

/// The longest common subsequence, or the common elements where that is too long.
fn common<T: Eq + Hash>(one: &[T], other: &[T]) -> Count {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (a, b) = (&one[start..], &other[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let middle = if a.len().saturating_mul(b.len()) > 25_000_000 {
        let mut counts: HashMap<&T, usize> = HashMap::new();
        for it in a {
            *counts.entry(it).or_default() += 1;
        }
        b.iter()
            .filter(|it| {
                counts.get_mut(it).is_some_and(|n| std::mem::replace(n, n.saturating_sub(1)) > 0)
            })
            .count()
    } else {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (n, y) in b.iter().enumerate() {
                let above = row[n + 1];
                row[n + 1] = if x == y { diagonal + 1 } else { above.max(row[n]) };
                diagonal = above;
            }
        }
        row[b.len()]
    };
    Count(start + middle + end, one.len(), other.len())
}
