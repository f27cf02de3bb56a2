//! Pages of the Rust documentation, converted, and what two readers find in them: one of our
//! own for the pages, which knows nothing of the converter's, and comrak for the Markdown.
//!
//! The pages come with the toolchain. Where they are not installed, the test says so and
//! passes, with `CI=true` too: a toolchain without documentation is a whole one.

mod compare;
mod html;
mod markdown;

use std::collections::BTreeSet;

/// What a reader finds in the content of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Text of blocks of code, in order, without the line break at the end.
    pub code: Vec<String>,
    /// Level and text of headings, in order.
    pub headings: Vec<(u8, String)>,
    /// Where links lead.
    pub links: BTreeSet<String>,
    /// How many cells that are not empty the rows of tables have, in order; rows without any
    /// are left out.
    pub rows: Vec<usize>,
}

/// Text with single spaces between its words.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
