//! The reader of Markdown: comrak.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};
use url::Url;

use super::html::{read_part, resolved};
use super::{Found, plain};

/// Reads Markdown whose references are relative to `base`.
pub fn read(markdown: &str, base: &Url) -> Found {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.alerts = true;
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &options);
    let mut found = Found::default();
    for node in root.descendants() {
        match &node.data.borrow().value {
            NodeValue::CodeBlock(block) => {
                let code = block.literal.strip_suffix('\n').unwrap_or(&block.literal);
                found.code.push(code.to_owned());
            }
            NodeValue::Heading(heading) => {
                found.headings.push((heading.level, plain(&text(node))));
            }
            NodeValue::Link(link) => {
                found.links.insert(resolved(base, &link.url));
            }
            // Tables that Markdown cannot say stay HTML.
            NodeValue::HtmlBlock(block) => {
                let Found { code, headings, links, rows } = read_part(&block.literal, base);
                found.code.extend(code);
                found.headings.extend(headings);
                found.links.extend(links);
                found.rows.extend(rows);
            }
            NodeValue::TableRow(_) => {
                let cells = node.children().filter(|cell| !plain(&text(cell)).is_empty());
                found.rows.extend(Some(cells.count()).filter(|count| *count > 0));
            }
            _ => {}
        }
    }
    found
}

fn text<'a>(node: &'a AstNode<'a>) -> String {
    let parts = node.descendants().map(|node| match &node.data.borrow().value {
        NodeValue::Text(text) => text.to_string(),
        NodeValue::Code(code) => code.literal.clone(),
        NodeValue::SoftBreak | NodeValue::LineBreak => "\n".to_owned(),
        _ => String::new(),
    });
    parts.collect()
}
