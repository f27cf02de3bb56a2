//! The links file of a page: a set of lines, sorted bytewise, below a header.

use std::collections::BTreeSet;

use crate::model::{Link, PageUrl};

const HEADER: &str = "to\ttext\trel\n";

/// Writes the links of a page, each once.
#[must_use]
pub fn encode_links(links: &[Link]) -> Vec<u8> {
    let lines: BTreeSet<String> = links
        .iter()
        .map(|link| format!("{}\t{}\t{}\n", link.to, one_cell(&link.text), link.rel))
        .collect();
    let mut out =
        String::with_capacity(HEADER.len() + lines.iter().map(String::len).sum::<usize>());
    out.push_str(HEADER);
    out.extend(lines);
    out.into_bytes()
}

/// The same links without what is text of the page: URLs only.
#[must_use]
pub fn without_text(links: &[Link]) -> Vec<Link> {
    let to: BTreeSet<&PageUrl> = links.iter().map(|link| &link.to).collect();
    to.into_iter()
        .map(|to| Link { to: to.clone(), text: String::new(), rel: String::new() })
        .collect()
}

/// Reads a links file; `None` where it is not of the format.
#[must_use]
pub fn decode_links(bytes: &[u8]) -> Option<Vec<Link>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let lines = text.strip_prefix(HEADER)?.lines();
    lines
        .map(|line| {
            let mut cells = line.split('\t');
            let to = PageUrl::parse(cells.next()?).ok()?;
            let (text, rel) = (cells.next()?.to_owned(), cells.next()?.to_owned());
            cells.next().is_none().then_some(Link { to, text, rel })
        })
        .collect()
}

/// Text without tabs and line ends.
fn one_cell(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}
