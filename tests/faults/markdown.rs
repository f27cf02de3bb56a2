//! HTML that is hard to convert; what comes out is read by another program.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};

use super::case::Case;
use super::files::convert;

/// Blocks and code spans of some Markdown, as another reader sees them.
#[derive(Debug, Default)]
struct Seen {
    /// Kinds of the blocks at the top, in order.
    blocks: Vec<&'static str>,
    /// Info string and text of code blocks.
    code: Vec<(String, String)>,
    spans: Vec<String>,
    /// Text of paragraphs.
    paragraphs: Vec<String>,
    others: Vec<&'static str>,
}

fn text_of<'a>(node: &'a AstNode<'a>) -> String {
    let parts = node.descendants().map(|node| match &node.data.borrow().value {
        NodeValue::Text(text) => text.to_string(),
        NodeValue::Code(code) => code.literal.clone(),
        NodeValue::SoftBreak | NodeValue::LineBreak => "\n".to_owned(),
        _ => String::new(),
    });
    parts.collect()
}

fn seen(markdown: &str) -> Seen {
    let arena = Arena::new();
    let root = parse_document(&arena, markdown, &Options::default());
    let mut seen = Seen::default();
    for block in root.children() {
        seen.blocks.push(match &block.data.borrow().value {
            NodeValue::Paragraph => "paragraph",
            NodeValue::Heading(_) => "heading",
            NodeValue::CodeBlock(_) => "code",
            NodeValue::HtmlBlock(_) => "html",
            _ => "other",
        });
    }
    for node in root.descendants() {
        match &node.data.borrow().value {
            NodeValue::CodeBlock(block) => {
                seen.code.push((block.info.clone(), block.literal.clone()));
            }
            NodeValue::Code(code) => seen.spans.push(code.literal.clone()),
            NodeValue::Paragraph => seen.paragraphs.push(text_of(node)),
            NodeValue::List(_) => seen.others.push("list"),
            NodeValue::ThematicBreak => seen.others.push("rule"),
            NodeValue::BlockQuote => seen.others.push("quote"),
            NodeValue::Image(_) => seen.others.push("image"),
            NodeValue::Link(_) => seen.others.push("link"),
            // Keys have no sign in Markdown.
            NodeValue::HtmlInline(tag) if tag == "<kbd>" || tag == "</kbd>" => {}
            NodeValue::HtmlInline(_) | NodeValue::HtmlBlock(_) => seen.others.push("html"),
            _ => {}
        }
    }
    seen
}

fn converted(id: &str) -> Option<Seen> {
    let case = Case::load(id)?;
    Some(seen(&convert("page.html", &case.text("html"), &["--base", &case.text("base_url")])))
}

#[test]
fn expect_mkd_fence_longer_than_content() {
    let Some(seen) = converted("mkd-fence-longer-than-content") else { return };
    let code = "before\n```js\nlet a = `x`;\n```\nafter\n";
    assert_eq!(seen.code, [("md".to_owned(), code.to_owned())]);
    assert_eq!(seen.spans, ["a ` b", "``"]);
    assert_eq!(seen.blocks, ["heading", "code", "paragraph", "paragraph"]);
    assert_eq!(seen.paragraphs.last().map(String::as_str), Some("End"));
}

#[test]
fn expect_mkd_pre_whitespace_and_spans() {
    let Some(seen) = converted("mkd-pre-whitespace-and-spans") else { return };
    let code: Vec<&str> = seen.code.iter().map(|(_, text)| text.trim_end_matches('\n')).collect();
    let first = "def f():\n    if x < 1:\n\n\treturn A<T>";
    assert_eq!(code, [first, "one\n  two\nthree", "a: 1\n  b: 2", "\nlead"]);
}

#[test]
fn expect_mkd_literal_punctuation() {
    let Some(seen) = converted("mkd-literal-punctuation") else { return };
    assert_eq!(seen.blocks, ["paragraph"; 9]);
    assert_eq!(seen.others, [""; 0]);
    let expected = [
        "Vec<T> and List<String> &lt; kept.",
        "* * ** It aims to be*",
        "1986. A great year",
        "# not a heading",
        "+ plus",
        "a_b_c __init__ A_B X*Y",
        "---",
        "> not quoted",
        "![x](y) [z]: w",
    ];
    assert_eq!(seen.paragraphs, expected);
}
