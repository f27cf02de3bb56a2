//! Code on lines of its own: byte for byte, in a fence that nothing in it can end.

use super::dom::{Data, Id, Tree};
use super::element::Tag;
use super::render::Renderer;
use super::words;

impl Renderer<'_, '_> {
    /// Writes a `pre`.
    pub(super) fn code(&mut self, id: Id) {
        let tree = self.tree;
        let text = text(tree, innermost(tree, id));
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let fence = "`".repeat(words::longest_run(text, '`').max(2) + 1);
        let language = language(tree, id).unwrap_or_default();
        self.writer.block();
        self.writer.line(&format!("{fence}{language}"));
        if !text.is_empty() {
            self.writer.lines(text);
        }
        self.writer.line(&fence);
        self.record_links(id);
    }

    /// Keeps the links below a node of which only the text is shown.
    pub(super) fn record_links(&mut self, id: Id) {
        let tree = self.tree;
        for link in tree.content_below(id).filter(|it| tree.is(*it, Tag::A)) {
            let Some(href) = tree.attribute(link, "href") else { continue };
            self.seen[link.index()] = true;
            if let Some(page) = self.references.link(href).and_then(|target| target.page) {
                let text = tree.plain_text(link);
                let rel = tree.attribute(link, "rel").unwrap_or_default();
                self.references.record(page, &text, rel);
            }
        }
    }
}

/// The `pre` in a `pre` that shows nothing else; both are one block of code.
fn innermost(tree: &Tree, id: Id) -> Id {
    let mut found = id;
    let mut at = id;
    loop {
        let mut shown = tree.children(at).filter(|it| match &tree.node(*it).data {
            Data::Text(text) => !words::is_blank(text),
            Data::Element { .. } => true,
            _ => false,
        });
        let (Some(only), None) = (shown.next(), shown.next()) else { return found };
        if tree.is(only, Tag::Pre) {
            found = only;
        }
        at = only;
    }
}

/// The text of a `pre`: line breaks and the bounds of blocks are newlines, everything else
/// is text.
pub(super) fn text(tree: &Tree, id: Id) -> String {
    let mut text = Code::default();
    text.children(tree, id);
    text.out
}

#[derive(Default)]
struct Code {
    out: String,
    /// Whether the next text stands on a line of its own.
    new_line: bool,
}

impl Code {
    fn children(&mut self, tree: &Tree, parent: Id) {
        for id in tree.children(parent) {
            match &tree.node(id).data {
                Data::Text(part) if part.contains('\r') => {
                    self.push(&part.replace("\r\n", "\n").replace('\r', "\n"));
                }
                Data::Text(part) => self.push(part),
                Data::Element { tag: Tag::Br, .. } => self.push("\n"),
                Data::Element { tag, .. } if tag.is_block() => {
                    self.new_line = true;
                    self.children(tree, id);
                    self.new_line = true;
                }
                Data::Element { .. } => self.children(tree, id),
                _ => {}
            }
        }
    }

    fn push(&mut self, text: &str) {
        let due = std::mem::take(&mut self.new_line);
        if due && !self.out.is_empty() && !self.out.ends_with('\n') && !text.starts_with('\n') {
            self.out.push('\n');
        }
        self.out.push_str(text);
    }
}

/// The language that classes of the element, its code or two ancestors name.
pub(super) fn language(tree: &Tree, id: Id) -> Option<String> {
    let code = tree.children(id).find(|it| tree.is(*it, Tag::Code));
    let above = std::iter::successors(tree.parent(id), |it| tree.parent(*it)).take(2);
    let places = code.into_iter().chain([id]).chain(above);
    places.into_iter().find_map(|id| {
        let by_class = tree.classes(id).find_map(|class| {
            ["language-", "lang-", "highlight-"].iter().find_map(|it| class.strip_prefix(it))
        });
        let by_attribute = || {
            let names = ["data-lang", "data-language", "syntax"];
            names.into_iter().find_map(|name| tree.attribute(id, name))
        };
        let name = by_class.or_else(by_attribute)?;
        let fits =
            |c: char| !c.is_whitespace() && !c.is_control() && c != '`' && c != '&' && c != '\\';
        (!name.is_empty() && name.len() <= 40 && name.chars().all(fits)).then(|| name.to_owned())
    })
}
