//! Boxes that stand out: notes, tips, warnings of the usual publishing systems.

use super::dom::{Id, Tree};
use super::element::Tag;
use super::line::{Line, Mark};
use super::render::Renderer;
use super::words;

/// A box: its kind, the node that titles it, and those that it holds.
pub(super) struct Admonition {
    kind: &'static str,
    title: Option<Id>,
    content: Vec<Id>,
}

impl Renderer<'_, '_> {
    /// Writes a box as an alert (GitHub's extension of quotations).
    pub(super) fn admonition(&mut self, found: &Admonition) {
        let tree = self.tree;
        self.writer.block();
        self.quote(|it| {
            it.writer.line(&format!("[!{}]", found.kind));
            if let Some(title) = found.title.filter(|id| !says(tree, *id, found.kind)) {
                let mut line = Line::default();
                line.open(Mark::Strong);
                it.inline_children(title, &mut line);
                line.close(Mark::Strong, String::new());
                it.writer.tighten();
                it.write_line(line);
            } else {
                it.writer.tighten();
            }
            it.nodes(found.content.iter().copied());
        });
    }
}

/// Whether a title says no more than the kind does.
fn says(tree: &Tree, id: Id, kind: &str) -> bool {
    let text = tree.plain_text(id);
    let text = text.trim_matches(|c: char| words::is_invisible(c) || c == ':');
    text.is_empty() || text.eq_ignore_ascii_case(kind)
}

/// The box that an element is.
pub(super) fn find(tree: &Tree, id: Id) -> Option<Admonition> {
    if !matches!(tree.tag(id), Some(Tag::Block | Tag::Aside | Tag::Blockquote | Tag::P)) {
        return None;
    }
    let kind = kind(tree, id)?;
    let mut content: Vec<Id> = tree.children(id).collect();
    if let Some((title, cells)) = table_box(tree, id) {
        return Some(Admonition { kind, title, content: cells });
    }
    let is_shown = |it: &Id| tree.text(*it).is_none_or(|text| !words::is_blank(text));
    let first = content.iter().position(is_shown);
    let title = first.map(|at| content[at]).filter(|it| is_title(tree, *it, kind));
    if let (Some(at), Some(_)) = (first, title) {
        content.drain(..=at);
    }
    Some(Admonition { kind, title, content })
}

fn kind(tree: &Tree, id: Id) -> Option<&'static str> {
    let mut framed = false;
    let mut kind = None;
    for class in tree.classes(id) {
        let class = class.to_ascii_lowercase();
        framed |= matches!(
            &*class,
            "admonition" | "admonitionblock" | "alert" | "theme-admonition" | "callout" | "note"
                | "warning" | "tip" | "caution" | "important" | "danger" | "awsdocs-note"
                | "hint" | "attention" | "error" | "seealso" | "markdown-alert" | "key-point"
                | "blockquote-tag"
        ) || class.starts_with("markdown-alert-") || class.starts_with("theme-admonition-")
            || class.starts_with("blockquote-tag-") || class.starts_with("alert--");
        let word = class.rsplit('-').next().unwrap_or(&class);
        let named = match if class == "key-point" { "important" } else { word } {
            "note" | "info" | "seealso" | "primary" | "secondary" => Some("NOTE"),
            "tip" | "hint" | "success" => Some("TIP"),
            "important" | "attention" => Some("IMPORTANT"),
            "warning" => Some("WARNING"),
            "caution" | "danger" | "error" => Some("CAUTION"),
            _ => None,
        };
        kind = kind.or(named);
    }
    if !framed {
        return None;
    }
    kind.or_else(|| tree.has_class(id, "admonition").then_some("NOTE"))
}

/// A title: an element of that class or a heading, or a paragraph that names the kind.
fn is_title(tree: &Tree, id: Id, kind: &str) -> bool {
    let titled = tree.classes(id).any(|class| {
        let class = class.to_ascii_lowercase();
        class.contains("title") || class.contains("heading") || class == "label"
    });
    match tree.tag(id) {
        Some(Tag::Heading(_)) => true,
        Some(Tag::P | Tag::Block | Tag::Inline | Tag::Strong) => {
            titled || tree.is(id, Tag::P) && says(tree, id, kind)
        }
        _ => false,
    }
}

/// A box whose sign and text are the cells of a table.
fn table_box(tree: &Tree, id: Id) -> Option<(Option<Id>, Vec<Id>)> {
    let mut shown = tree.children(id).filter(|it| tree.tag(*it).is_some());
    let table = shown.next().filter(|it| tree.is(*it, Tag::Table))?;
    if shown.next().is_some() {
        return None;
    }
    let cells: Vec<Id> = tree
        .content_below(table)
        .filter(|it| matches!(tree.tag(*it), Some(Tag::Cell | Tag::HeaderCell)))
        .take(3)
        .collect();
    let [icon, text] = cells[..] else { return None };
    tree.has_class(icon, "icon").then(|| (Some(icon), tree.children(text).collect()))
}
