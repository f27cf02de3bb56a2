//! HTML as it is, for what Markdown cannot say: one tag a line, no blank line, only the
//! attributes that mean something.

use std::fmt::Write as _;

use super::code;
use super::dom::{Data, Id};
use super::element::Tag;
use super::grid::Grid;
use super::render::Renderer;
use super::table;
use super::words;

impl Renderer<'_, '_> {
    /// Writes a table as it is.
    pub(super) fn raw_table(&mut self, grid: &Grid) {
        self.writer.block();
        self.raw_block(grid);
    }

    fn raw_block(&mut self, grid: &Grid) {
        self.writer.line("<table>");
        if let Some(caption) = grid.caption {
            let text = self.raw_inline(caption);
            self.writer.line(&format!("<caption>{text}</caption>"));
        }
        for row in &grid.rows {
            self.writer.line("<tr>");
            for cell in &row.cells {
                self.raw_cell(*cell);
            }
            self.writer.line("</tr>");
        }
        self.writer.line("</table>");
    }

    fn raw_cell(&mut self, id: Id) {
        let tree = self.tree;
        let name = if tree.is(id, Tag::HeaderCell) { "th" } else { "td" };
        let mut open = format!("<{name}");
        for span in ["colspan", "rowspan"] {
            let number = tree.attribute(id, span).and_then(|it| it.trim().parse::<u16>().ok());
            if let Some(number) = number.filter(|it| *it > 1) {
                let _ = write!(open, " {span}=\"{number}\"");
            }
        }
        open.push('>');
        if let Some(inner) = table::line_of(tree, id) {
            let text = self.raw_inline(inner);
            self.writer.line(&format!("{open}{text}</{name}>"));
            return;
        }
        self.writer.line(&open);
        self.raw_children(id);
        self.writer.line(&format!("</{name}>"));
    }

    /// Writes what is below an element: blocks on lines of their own.
    fn raw_children(&mut self, parent: Id) {
        let tree = self.tree;
        let mut text = String::new();
        for child in tree.children(parent) {
            if tree.node(child).blocky {
                self.raw_text(&mut text);
                self.raw_element(child);
            } else {
                self.push_raw(child, &mut text);
            }
        }
        self.raw_text(&mut text);
    }

    fn raw_text(&mut self, text: &mut String) {
        let line = text.trim_matches(words::is_space);
        if !line.is_empty() {
            self.writer.line(line);
        }
        text.clear();
    }

    fn raw_element(&mut self, id: Id) {
        let tree = self.tree;
        let tag = match tree.tag(id) {
            Some(Tag::Pre) => return self.raw_code(id),
            Some(Tag::Hr) => return self.writer.line("<hr>"),
            Some(Tag::Table) => {
                let grid = Grid::of(tree, id);
                return if grid.has_strays {
                    self.raw_children(id);
                } else {
                    self.raw_block(&grid);
                };
            }
            Some(tag) => tag,
            None => return,
        };
        let name = match tag {
            Tag::Ul => "ul",
            Tag::Ol => "ol",
            Tag::Li => "li",
            Tag::P => "p",
            Tag::Dl => "dl",
            Tag::Dt => "dt",
            Tag::Dd => "dd",
            Tag::Blockquote => "blockquote",
            Tag::Heading(_) => tree.name(id),
            _ if tree.children(id).all(|it| !tree.node(it).blocky) => "p",
            _ => return self.raw_children(id),
        };
        if tree.children(id).all(|it| !tree.node(it).blocky) {
            let text = self.raw_inline(id);
            if !text.is_empty() || name != "p" {
                self.writer.line(&format!("<{name}>{text}</{name}>"));
            }
            return;
        }
        self.writer.line(&format!("<{name}>"));
        self.raw_children(id);
        self.writer.line(&format!("</{name}>"));
    }

    /// Code: newlines that would make a blank line are written as references.
    fn raw_code(&mut self, id: Id) {
        let text = code::text(self.tree, id);
        let mut out = String::from("<pre><code>");
        let mut blank = false;
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                out.push_str(if blank { "&#10;" } else { "\n" });
            }
            push_escaped(&mut out, line);
            blank = line.trim_matches([' ', '\t']).is_empty();
        }
        out.push_str("</code></pre>");
        let language = code::language(self.tree, id);
        if let Some(language) = language.filter(|it| it.chars().all(|c| c != '"' && c != '<')) {
            out.replace_range(5..11, &format!("<code class=\"language-{language}\">"));
        }
        self.writer.lines(&out);
        self.record_links(id);
    }

    /// The content of an element on one line.
    pub(super) fn raw_inline(&mut self, id: Id) -> String {
        let tree = self.tree;
        let mut out = String::new();
        for child in tree.children(id) {
            self.push_raw(child, &mut out);
        }
        out.trim_matches(words::is_space).to_owned()
    }

    fn push_raw(&mut self, id: Id, out: &mut String) {
        let tree = self.tree;
        if tree.node(id).skipped {
            return;
        }
        let tag = match &tree.node(id).data {
            Data::Text(text) => return push_collapsed(out, text),
            Data::Element { tag, .. } => *tag,
            _ => return,
        };
        let name = match tag {
            Tag::Br => return out.push_str("<br>"),
            Tag::A => return self.push_raw_link(id, out),
            Tag::Img => return self.push_raw_image(id, out),
            Tag::Code => "code",
            Tag::Em => "em",
            Tag::Strong => "strong",
            Tag::Del => "del",
            Tag::Kept(name) => name,
            Tag::Silent | Tag::Wbr => return,
            _ => {
                for child in tree.children(id) {
                    self.push_raw(child, out);
                }
                return;
            }
        };
        let _ = write!(out, "<{name}>");
        for child in tree.children(id) {
            self.push_raw(child, out);
        }
        let _ = write!(out, "</{name}>");
    }

    fn push_raw_link(&mut self, id: Id, out: &mut String) {
        let tree = self.tree;
        let href = tree.attribute(id, "href");
        let target = href.and_then(|href| self.references.link(href));
        if href.is_some() {
            self.seen[id.index()] = true;
        }
        if let Some(target) = &target {
            out.push_str("<a href=\"");
            push_attribute(out, &target.address);
            out.push_str("\">");
        }
        for child in tree.children(id) {
            self.push_raw(child, out);
        }
        if let Some(target) = target {
            out.push_str("</a>");
            if let Some(page) = target.page {
                let rel = tree.attribute(id, "rel").unwrap_or_default();
                self.references.record(page, &tree.plain_text(id), rel);
            }
        }
    }

    fn push_raw_image(&mut self, id: Id, out: &mut String) {
        let source = self.image_source(id).unwrap_or_default();
        let alt = self.tree.attribute(id, "alt").unwrap_or_default();
        let alt: Vec<&str> = alt.split_whitespace().collect();
        if source.is_empty() && alt.is_empty() {
            return;
        }
        out.push_str("<img src=\"");
        push_attribute(out, &source);
        out.push_str("\" alt=\"");
        push_attribute(out, &alt.join(" "));
        out.push_str("\">");
    }
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
}

/// Appends text with runs of white space as one space.
fn push_collapsed(out: &mut String, text: &str) {
    for (n, word) in text.split(words::is_space).enumerate() {
        if n > 0 && !out.ends_with(' ') {
            out.push(' ');
        }
        push_escaped(out, word);
    }
}

fn push_attribute(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            c if c.is_ascii_control() => {}
            c => out.push(c),
        }
    }
}
