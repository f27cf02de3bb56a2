//! Two readers of Markdown, as GitHub writes it.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// A program that makes HTML of Markdown.
pub type Reader = fn(&str) -> String;

/// The readers and their names.
pub const READERS: [(&str, Reader); 2] = [("comrak", comrak), ("pulldown-cmark", pulldown_cmark)];

fn comrak(markdown: &str) -> String {
    let mut options = comrak::Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.autolink = true;
    options.extension.tasklist = true;
    options.extension.alerts = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options.render.r#unsafe = true;
    comrak::markdown_to_html(markdown, &options)
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH
}

fn pulldown_cmark(markdown: &str) -> String {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(markdown, options()));
    html
}

/// How many bytes of Markdown are blocks of HTML.
pub fn raw_bytes(markdown: &str) -> usize {
    let events = Parser::new_ext(markdown, options()).into_offset_iter();
    let blocks = events.filter(|(event, _)| matches!(event, Event::Start(Tag::HtmlBlock)));
    blocks.map(|(_, range)| range.len()).sum()
}
