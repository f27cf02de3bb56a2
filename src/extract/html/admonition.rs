//! Boxes that stand out: notes, tips, warnings of the usual publishing systems.

use super::dom::{Id, Tree};
use super::element::Tag;
use super::line::{Line, Mark};
use super::render::Renderer;
use super::words;

/// A box: its kind, the node that titles it, and those that it holds.
pub(super) struct Admonition {
    /// Nothing for a box that is a mere quotation.
    kind: Option<&'static str>,
    title: Option<Id>,
    content: Vec<Id>,
}

impl Renderer<'_, '_> {
    /// Writes a box as an alert (GitHub's extension of quotations).
    pub(super) fn admonition(&mut self, found: &Admonition) {
        let tree = self.tree;
        self.writer.block();
        self.quote(|it| {
            if let Some(kind) = found.kind {
                it.writer.line(&format!("[!{kind}]"));
                it.writer.tighten();
            }
            let said = |id: &Id| found.kind.is_some_and(|kind| says(tree, *id, kind));
            if let Some(title) = found.title.filter(|id| !said(id)) {
                let mut line = Line::default();
                line.open(Mark::Strong);
                it.inline_children(title, &mut line);
                line.close(Mark::Strong, String::new());
                it.write_line(line);
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
    let kind = match kind(tree, id) {
        Kind::NoBox => return None,
        Kind::Known(kind) => Some(kind),
        Kind::Titled => None,
    };
    let mut content: Vec<Id> = tree.children(id).collect();
    if let Some((title, cells)) = table_box(tree, id) {
        let kind = kind.filter(|kind| title.is_some_and(|id| says(tree, id, kind)));
        return Some(Admonition { kind, title, content: cells });
    }
    let is_shown = |it: &Id| tree.text(*it).is_none_or(|text| !words::is_blank(text));
    let mut shown = content.iter().copied().filter(is_shown);
    if let (Some(only), None) = (shown.next(), shown.next())
        && tree.is(only, Tag::Blockquote)
    {
        content = tree.children(only).collect();
    }
    let first = content.iter().position(is_shown);
    let first = first.map(|at| (at, content[at]));
    // A box that is headed or begins with its own name says what it is without our help.
    let is_headed = first.is_some_and(|(_, it)| matches!(tree.tag(it), Some(Tag::Heading(_))));
    if is_headed || begins_with_name(tree, id) {
        return Some(Admonition { kind: None, title: None, content });
    }
    let title = first.filter(|(_, it)| is_title(tree, *it, kind.unwrap_or_default()));
    if let Some((at, _)) = title {
        content.drain(..=at);
    }
    Some(Admonition { kind, title: title.map(|(_, id)| id), content })
}

/// What kind of box an element is.
enum Kind {
    NoBox,
    Known(&'static str),
    /// A box with a title that says what it is.
    Titled,
}

fn kind(tree: &Tree, id: Id) -> Kind {
    let mut framed = false;
    let mut kind = None;
    for class in tree.classes(id) {
        let class = class.to_ascii_lowercase();
        framed |= matches!(
            &*class,
            "admonition"
                | "admonitionblock"
                | "alert"
                | "theme-admonition"
                | "callout"
                | "note"
                | "warning"
                | "tip"
                | "caution"
                | "important"
                | "danger"
                | "awsdocs-note"
                | "hint"
                | "attention"
                | "error"
                | "seealso"
                | "markdown-alert"
                | "key-point"
                | "blockquote-tag"
        ) || class.starts_with("markdown-alert-")
            || class.starts_with("theme-admonition-")
            || class.starts_with("blockquote-tag-")
            || class.starts_with("alert--");
        let word = class.rsplit('-').next().unwrap_or(&class);
        let named = match if class == "key-point" { "important" } else { word } {
            "note" | "info" | "primary" | "secondary" => Some("NOTE"),
            "tip" | "hint" | "success" => Some("TIP"),
            "important" | "attention" => Some("IMPORTANT"),
            "warning" => Some("WARNING"),
            "caution" | "danger" | "error" => Some("CAUTION"),
            _ => None,
        };
        kind = kind.or(named);
    }
    match kind {
        _ if !framed => Kind::NoBox,
        Some(kind) => Kind::Known(kind),
        None if tree.classes(id).any(|it| matches!(it, "admonition" | "seealso")) => Kind::Titled,
        None => Kind::NoBox,
    }
}

/// Whether the text of a box begins with what it is, as in "Note: …".
fn begins_with_name(tree: &Tree, id: Id) -> bool {
    let text = tree.content_below(id).filter_map(|it| tree.text(it));
    let Some(first) = text.map(str::trim).find(|it| !it.is_empty()) else { return false };
    let Some((name, rest)) = first.split_once(':') else { return false };
    let names = ["note", "tip", "hint", "important", "warning", "caution", "danger"];
    !rest.is_empty() && names.iter().any(|it| name.trim().eq_ignore_ascii_case(it))
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
            titled || !tree.is(id, Tag::Block) && says(tree, id, kind)
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
