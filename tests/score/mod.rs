//! How much of pages survives as Markdown: small pages of our own that are built like those of
//! the usual generators, read by a reader that is not the converter's. `scripts/bench markdown`
//! applies the same measure to thousands of real pages.

mod edits;
pub mod measure;
mod sample;
