//! Footnotes: marks in the text and what they lead to.

use std::collections::{HashMap, HashSet};

use super::dom::{Id, Tree};
use super::element::Tag;
use super::render::Renderer;

/// The footnotes of a page: only those that are both defined and referred to.
#[derive(Default)]
pub(super) struct Footnotes {
    /// By the id of their element.
    labels: HashMap<String, String>,
    definitions: HashMap<Id, String>,
}

impl Renderer<'_, '_> {
    /// Writes a footnote.
    pub(super) fn footnote(&mut self, id: Id, label: &str) {
        let tree = self.tree;
        self.writer.block();
        self.writer.open_note(format!("[^{label}]: "));
        let before = std::mem::replace(&mut self.in_footnote, true);
        self.nodes(tree.children(id).filter(|it| !is_label(tree, *it)));
        self.in_footnote = before;
        self.writer.close();
    }
}

impl Footnotes {
    pub(super) fn find(tree: &Tree) -> Self {
        let targets: HashMap<&str, String> = tree
            .elements()
            .filter(|id| is_reference(tree, *id))
            .filter_map(|id| {
                let name = tree.attribute(id, "href")?.strip_prefix('#')?;
                Some((name, label(tree, id)?))
            })
            .collect();
        let mut found = Self::default();
        let mut taken = HashSet::new();
        if targets.is_empty() {
            return found;
        }
        for id in tree.elements().filter(|id| is_definition(tree, *id)) {
            let Some(name) = tree.attribute(id, "id") else { continue };
            let Some(label) = targets.get(name).filter(|it| taken.insert((*it).clone())) else {
                continue;
            };
            found.labels.insert(name.to_owned(), label.clone());
            found.definitions.insert(id, label.clone());
        }
        found
    }

    /// The label of the footnote that a link leads to.
    pub(super) fn reference(&self, tree: &Tree, id: Id) -> Option<&str> {
        if self.labels.is_empty() || !is_reference(tree, id) {
            return None;
        }
        let name = tree.attribute(id, "href")?.strip_prefix('#')?;
        self.labels.get(name).map(String::as_str)
    }

    /// The label of the footnote that an element is.
    pub(super) fn definition(&self, id: Id) -> Option<String> {
        self.definitions.get(&id).cloned()
    }
}

/// The number that a mark shows. Marks that show more than that stay links.
fn label(tree: &Tree, id: Id) -> Option<String> {
    let text = tree.plain_text(id);
    let text = text.trim();
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| text.to_owned())
}

fn is_reference(tree: &Tree, id: Id) -> bool {
    tree.is(id, Tag::A)
        && (tree.has_attribute(id, "data-footnote-ref")
            || tree.attribute(id, "role") == Some("doc-noteref")
            || tree.classes(id).any(|it| matches!(it, "footnote-ref" | "footnote-reference"))
            || tree.parent(id).is_some_and(|it| {
                tree.classes(it)
                    .any(|it| matches!(it, "footnote-reference" | "footnote-ref" | "footnote"))
            }))
}

fn is_definition(tree: &Tree, id: Id) -> bool {
    match tree.tag(id) {
        Some(Tag::Li) => std::iter::successors(tree.parent(id), |it| tree.parent(*it))
            .take(2)
            .any(|it| tree.classes(it).any(|it| matches!(it, "footnotes" | "footnote-list"))),
        Some(Tag::Block | Tag::Aside | Tag::P) => {
            tree.classes(id).any(|it| matches!(it, "footnote-definition" | "footnote"))
        }
        _ => false,
    }
}

/// Whether a node is the number of a footnote or the way back from it.
fn is_label(tree: &Tree, id: Id) -> bool {
    tree.classes(id).any(|it| matches!(it, "label" | "footnote-definition-label"))
}

/// Whether a link leads from a footnote back to its mark.
pub(super) fn is_way_back(tree: &Tree, id: Id) -> bool {
    tree.has_attribute(id, "data-footnote-backref")
        || tree.attribute(id, "role") == Some("doc-backlink")
        || tree.classes(id).any(|it| matches!(it, "footnote-backref" | "fn-backref"))
        || matches!(tree.plain_text(id).trim_end_matches('\u{fe0e}').trim(), "↩" | "↑")
}
