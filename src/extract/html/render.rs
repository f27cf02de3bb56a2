//! The content of a page as Markdown, block by block.

use super::admonition;
use super::dom::{Data, Id, Tree};
use super::element::Tag;
use super::escape::Place;
use super::footnotes::Footnotes;
use super::line::{Line, Mark, paragraphs, without_breaks};
use super::references::References;
use super::tabs::Tabs;
use super::text;
use super::words;
use super::writer::Writer;

/// Most lists and quotations within each other: readers go through all of them at each
/// line. What is nested deeper stands at the last level.
const MAX_NESTING: usize = 24;

/// Writes content as Markdown.
pub(super) struct Renderer<'t, 'a> {
    pub(super) tree: &'t Tree,
    pub(super) references: References<'a>,
    pub(super) writer: Writer,
    pub(super) footnotes: Footnotes,
    pub(super) tabs: Tabs,
    /// The links that were met, by the index of their node.
    pub(super) seen: Vec<bool>,
    /// The address of a link around blocks.
    link: Option<String>,
    nesting: usize,
    /// Whether a footnote is being written.
    pub(super) in_footnote: bool,
}

impl<'t, 'a> Renderer<'t, 'a> {
    pub(super) fn new(tree: &'t Tree, references: References<'a>) -> Self {
        Self {
            tree,
            references,
            writer: Writer::default(),
            footnotes: Footnotes::find(tree),
            tabs: Tabs::find(tree),
            seen: vec![false; tree.len()],
            link: None,
            nesting: 0,
            in_footnote: false,
        }
    }

    /// Writes an element that holds content.
    pub(super) fn root(&mut self, id: Id) {
        self.nodes(std::iter::once(id));
    }

    /// Keeps the links of areas of images, which show nothing.
    pub(super) fn areas(&mut self, root: Id) {
        let tree = self.tree;
        let enter = |tree: &Tree, id: Id| !tree.node(id).skipped || tree.name(id) == "map";
        for id in tree.walk(root, enter).filter(|id| tree.is(*id, Tag::Area)) {
            let href = tree.attribute(id, "href").filter(|_| !tree.node(id).skipped);
            let target = href.and_then(|href| self.references.link(href));
            if let Some(page) = target.and_then(|it| it.page) {
                self.seen[id.index()] = true;
                let text = tree.attribute(id, "alt").unwrap_or_default();
                self.references.record(page, text, tree.attribute(id, "rel").unwrap_or_default());
            }
        }
    }

    /// Writes the children of a node.
    pub(super) fn blocks(&mut self, parent: Id) {
        let tree = self.tree;
        self.nodes(tree.children(parent));
    }

    /// Writes nodes below each other; those within a line are one paragraph.
    pub(super) fn nodes(&mut self, nodes: impl Iterator<Item = Id>) {
        let mut run = Vec::new();
        for node in nodes {
            self.gather(node, &mut run);
        }
        self.paragraph(&run);
    }

    /// Adds a node to a run of text, which a block ends. An element within a line ends none:
    /// the text after a block in it goes on behind the element.
    fn gather(&mut self, node: Id, run: &mut Vec<Id>) {
        let tree = self.tree;
        if !tree.node(node).blocky {
            run.push(node);
        } else if matches!(
            tree.tag(node),
            Some(Tag::Inline | Tag::Em | Tag::Strong | Tag::Del | Tag::Code | Tag::Kept(_))
        ) && self.tabs.label(node).is_none()
            && !self.tabs.is_list(node)
        {
            for child in tree.children(node) {
                self.gather(child, run);
            }
        } else {
            self.paragraph(run);
            run.clear();
            self.block(node);
        }
    }

    /// Writes a paragraph, if it shows anything.
    pub(super) fn paragraph(&mut self, run: &[Id]) {
        let blank = |id: &Id| match &self.tree.node(*id).data {
            Data::Text(text) => words::is_blank(text),
            Data::Nothing => true,
            _ => false,
        };
        if run.iter().all(blank) {
            return;
        }
        let mut line = Line::default();
        let link = self.link.clone();
        if link.is_some() {
            line.open(Mark::Link);
        }
        for id in run {
            self.inline(*id, &mut line);
        }
        if let Some(address) = link {
            line.close(Mark::Link, address);
        }
        self.write_line(line);
    }

    /// Writes collected text as paragraphs.
    pub(super) fn write_line(&mut self, line: Line) {
        let mut first = true;
        for part in paragraphs(&line.finish()) {
            let text = text::markdown(part, Place::Paragraph);
            if text.chars().all(words::is_invisible) {
                continue;
            }
            if first {
                self.writer.block();
            } else {
                self.writer.gap();
            }
            first = false;
            self.writer.lines(&text);
        }
    }

    fn block(&mut self, id: Id) {
        let tree = self.tree;
        if self.tabs.is_list(id) {
            return;
        }
        if let Some(label) = self.footnotes.definition(id) {
            self.footnote(id, &label);
            return;
        }
        if let Some(found) = admonition::find(tree, id) {
            self.admonition(&found);
            return;
        }
        match tree.tag(id) {
            Some(Tag::A) => self.link_around(id),
            Some(Tag::Heading(level)) => self.heading(id, level),
            Some(Tag::Hr) => {
                self.writer.block();
                self.writer.line("***");
            }
            Some(Tag::Pre) => self.code(id),
            Some(Tag::Ul) => self.bullets(id),
            Some(Tag::Ol) => self.numbers(id),
            Some(Tag::Dl) => self.definitions(id),
            Some(Tag::Table) => self.table(id),
            Some(Tag::Details) => self.details(id),
            Some(Tag::Blockquote) => {
                self.writer.block();
                self.quote(|it| it.blocks(id));
            }
            _ => {
                if let Some(label) = self.tabs.label(id) {
                    let mut line = Line::default();
                    line.open(Mark::Strong);
                    line.text(&label);
                    line.close(Mark::Strong, String::new());
                    self.write_line(line);
                }
                self.blocks(id);
            }
        }
    }

    /// Writes within a quotation.
    pub(super) fn quote(&mut self, content: impl FnOnce(&mut Self)) {
        if !self.enter() {
            content(self);
            return;
        }
        self.writer.open_quote();
        content(self);
        self.writer.close();
        self.leave();
    }

    /// Goes a level deeper, unless that is too deep.
    pub(super) fn enter(&mut self) -> bool {
        if self.nesting == MAX_NESTING {
            self.references
                .note("lists and quotations nested too deeply: the inmost are flattened");
            return false;
        }
        self.nesting += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.nesting -= 1;
    }

    /// A heading; around lists, tables and the like only what it says itself is one.
    fn heading(&mut self, id: Id, level: u8) {
        let mut run = Vec::new();
        self.heading_parts(id, level, &mut run);
        self.heading_line(&run, level);
    }

    fn heading_parts(&mut self, parent: Id, level: u8, run: &mut Vec<Id>) {
        let tree = self.tree;
        for child in tree.children(parent) {
            let mut below = tree.content_below(child);
            if !tree.node(child).blocky || !below.any(|it| stands_alone(tree, it)) {
                run.push(child);
            } else if !stands_alone(tree, child) && !tree.is(child, Tag::A) {
                self.heading_parts(child, level, run);
            } else if run.iter().any(|it| shows(tree, *it))
                || is_heading(tree, child)
                || has_rows(tree, child)
            {
                self.heading_line(&std::mem::take(run), level);
                self.block(child);
            } else {
                // What has nothing before it places the heading.
                run.push(child);
            }
        }
    }

    fn heading_line(&mut self, run: &[Id], level: u8) {
        let mut line = Line::default();
        let link = self.link.clone();
        if link.is_some() {
            line.open(Mark::Link);
        }
        for id in run {
            self.inline(*id, &mut line);
        }
        if let Some(address) = link {
            line.close(Mark::Link, address);
        }
        let pieces = line.finish();
        let text = text::markdown(without_breaks(&pieces), Place::Heading);
        if text.chars().all(words::is_invisible) {
            return;
        }
        self.writer.block();
        self.writer.line(&format!("{} {text}", "#".repeat(usize::from(level))));
    }

    /// A link around blocks: each paragraph and heading in it becomes one.
    fn link_around(&mut self, id: Id) {
        let tree = self.tree;
        let href = tree.attribute(id, "href");
        let Some(target) = href.and_then(|href| self.references.link(href)) else {
            self.blocks(id);
            return;
        };
        self.seen[id.index()] = true;
        if let Some(page) = target.page {
            let rel = tree.attribute(id, "rel").unwrap_or_default();
            self.references.record(page, &tree.plain_text(id), rel);
        }
        let before = self.link.replace(target.address);
        self.blocks(id);
        self.link = before;
    }

    /// A box that opens: as it is where it is closed and its summary is one line, else its
    /// content.
    fn details(&mut self, id: Id) {
        let tree = self.tree;
        let summary = tree.children(id).find(|it| tree.is(*it, Tag::Summary));
        let plain = summary.filter(|it| {
            !tree.has_attribute(id, "open") && tree.children(*it).all(|it| !tree.node(it).blocky)
        });
        let Some(summary) = plain else {
            self.blocks(id);
            return;
        };
        let text = self.raw_inline(summary);
        self.writer.block();
        self.writer.line("<details>");
        self.writer.line(&format!("<summary>{text}</summary>"));
        self.writer.gap();
        self.nodes(tree.children(id).filter(|it| *it != summary));
        self.writer.gap();
        self.writer.line("</details>");
    }
}

/// Whether an element is no part of a heading, even in one.
fn stands_alone(tree: &Tree, id: Id) -> bool {
    matches!(
        tree.tag(id),
        Some(
            Tag::Blockquote
                | Tag::Details
                | Tag::Dl
                | Tag::Heading(_)
                | Tag::Ol
                | Tag::Pre
                | Tag::Table
                | Tag::Ul
        )
    )
}

fn is_heading(tree: &Tree, id: Id) -> bool {
    matches!(tree.tag(id), Some(Tag::Heading(_)))
}

/// Whether an element is a table of more than one row.
fn has_rows(tree: &Tree, id: Id) -> bool {
    let rows = tree.content_below(id).filter(|it| tree.is(*it, Tag::Row));
    tree.is(id, Tag::Table) && rows.take(2).count() > 1
}

/// Whether there is text in a node.
fn shows(tree: &Tree, id: Id) -> bool {
    tree.content_below(id).any(|it| tree.text(it).is_some_and(|text| !words::is_blank(text)))
}

/// Marks the nodes that are blocks or hold one.
pub(super) fn mark_blocks(tree: &mut Tree, roots: &[Id]) {
    let order: Vec<Id> = roots.iter().flat_map(|root| tree.content_below(*root)).collect();
    for id in order.into_iter().rev() {
        let blocky = tree.node(id).blocky || tree.tag(id).is_some_and(Tag::is_block);
        tree.node_mut(id).blocky = blocky;
        if blocky && let Some(parent) = tree.parent(id) {
            tree.node_mut(parent).blocky = true;
        }
    }
}
