//! A Git-first archiver: public documentation as dated commits of Markdown pages and links.
//!
//! Data flows one way; each module is a stage and knows only those before it:
//!
//! ```text
//! sources.toml → config → run ⟲ { discover → fetch → extract } → archive (one commit)
//! ```
//!
//!

pub mod archive;
pub mod config;
pub mod discover;
pub mod extract;
pub mod fetch;
pub mod git;
pub mod model;
pub mod state;
