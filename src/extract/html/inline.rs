//! Running text of a page: elements within a line become pieces.

use super::dom::{Data, Id};
use super::element::Tag;
use super::footnotes;
use super::line::{Line, Mark, Piece, plain_text};
use super::math;
use super::render::Renderer;

impl Renderer<'_, '_> {
    /// Adds a node and what is below it to a line.
    pub(super) fn inline(&mut self, id: Id, line: &mut Line) {
        let tree = self.tree;
        if tree.node(id).skipped {
            return;
        }
        let tag = match &tree.node(id).data {
            Data::Text(text) => {
                line.text(text);
                return;
            }
            Data::Element { tag, .. } => *tag,
            Data::Root => Tag::Block,
            Data::Nothing => return,
        };
        match tag {
            Tag::A => self.link(id, line),
            Tag::Br | Tag::Hr => line.line_break(),
            Tag::Code => {
                let before = line.set_code(true);
                self.inline_children(id, line);
                line.set_code(before);
            }
            Tag::Em => self.marked(id, Mark::Em, line),
            Tag::Strong => self.marked(id, Mark::Strong, line),
            Tag::Del => self.marked(id, Mark::Del, line),
            Tag::Kept(name) => self.kept(id, name, line),
            Tag::Img => self.image(id, line),
            Tag::Math => {
                if let Some(text) = math::markdown(tree, id) {
                    line.piece(Piece::Raw(text));
                }
            }
            Tag::Silent if tree.name(id) == "input" => {
                if line.is_empty() && self.is_task(id) {
                    let done = tree.has_attribute(id, "checked");
                    line.piece(Piece::Raw(if done { "[x]" } else { "[ ]" }.to_owned()));
                    line.space();
                }
            }
            Tag::Wbr | Tag::Silent => {}
            tag if tag.is_block() => {
                line.space();
                self.inline_children(id, line);
                line.space();
            }
            _ => self.inline_children(id, line),
        }
    }

    /// Whether a box stands at the begin of an item of a list: a switch is none.
    fn is_task(&self, id: Id) -> bool {
        let tree = self.tree;
        let above = std::iter::successors(tree.parent(id), |it| tree.parent(*it)).take(3);
        above.into_iter().any(|it| tree.is(it, Tag::Li))
    }

    pub(super) fn inline_children(&mut self, id: Id, line: &mut Line) {
        let tree = self.tree;
        for child in tree.children(id) {
            self.inline(child, line);
        }
    }

    fn marked(&mut self, id: Id, mark: Mark, line: &mut Line) {
        if line.is_open(mark) || line.in_code() {
            self.inline_children(id, line);
            return;
        }
        line.open(mark);
        self.inline_children(id, line);
        line.close(mark, String::new());
    }

    /// An element that stays a tag, unless it is the mark of a footnote.
    fn kept(&mut self, id: Id, name: &'static str, line: &mut Line) {
        let tree = self.tree;
        let mut children = tree.children(id);
        if let (Some(only), None) = (children.next(), children.next())
            && self.footnotes.reference(tree, only).is_some()
        {
            self.inline(only, line);
            return;
        }
        self.marked(id, Mark::Kept(name), line);
    }

    fn link(&mut self, id: Id, line: &mut Line) {
        let tree = self.tree;
        if let Some(label) = self.footnotes.reference(tree, id) {
            line.piece(Piece::Raw(format!("[^{label}]")));
            return;
        }
        if self.in_footnote && footnotes::is_way_back(tree, id) {
            return;
        }
        let Some(href) = tree.attribute(id, "href") else {
            self.inline_children(id, line);
            return;
        };
        self.seen[id.index()] = true;
        let Some(target) = self.references.link(href) else {
            self.inline_children(id, line);
            return;
        };
        let nested = line.is_open(Mark::Link);
        let start = line.length();
        if nested {
            self.inline_children(id, line);
        } else {
            line.open(Mark::Link);
            self.inline_children(id, line);
            let holds = line.close(Mark::Link, target.address.clone());
            if !holds && target.page.is_some() {
                line.empty_link(&target.address);
            }
        }
        if let Some(page) = target.page {
            let text = plain_text(line.since(start));
            self.references.record(page, &text, tree.attribute(id, "rel").unwrap_or_default());
        }
    }

    fn image(&mut self, id: Id, line: &mut Line) {
        let tree = self.tree;
        let alt = tree.attribute(id, "alt").unwrap_or_default();
        let alt: Vec<&str> = alt.split_whitespace().collect();
        let source = self.image_source(id);
        if source.is_none() && alt.is_empty() {
            return;
        }
        line.piece(Piece::Image { alt: alt.join(" "), source: source.unwrap_or_default() });
    }

    /// The address of an image.
    pub(super) fn image_source(&self, id: Id) -> Option<String> {
        ["src", "data-src", "data-original"]
            .into_iter()
            .filter_map(|name| self.tree.attribute(id, name))
            .find_map(|source| self.references.image(source))
            .or_else(|| self.first_of_set(id))
    }

    /// The first candidate of a `srcset`, of the image or of the picture around it.
    fn first_of_set(&self, id: Id) -> Option<String> {
        let tree = self.tree;
        let around = tree.parent(id).filter(|it| tree.is(*it, Tag::Picture));
        let sources = around.into_iter().flat_map(|it| tree.all_children(it));
        std::iter::once(id).chain(sources).find_map(|id| {
            let set = tree.attribute(id, "srcset")?;
            self.references.image(set.trim().split([' ', ',']).next()?)
        })
    }
}
