//! A Git-first archiver: public documentation as dated commits of Markdown pages and links.
//!
//! Data flows one way; each module is a stage and knows only those before it:
//!
//! ```text
//! sources.toml → config → run ⟲ { discover → fetch → extract } → archive (one commit) → publish
//! ```
//!
//! A crawl needs links and extraction makes them; that circle is cut by [`run`], which owns
//! the loop. In reading order:
//!
//! * [`model`] the nouns: plain values
//! * [`config`] `sources.toml`, resolved
//! * [`discover`] which documents of a source are read, and in which order
//! * [`politeness`] whether and when a request may be made: robots, schedule, policies
//! * [`git`] the Git client as a child process
//! * [`fetch`] one resource in, what was captured of it out
//! * [`extract`] a document becomes a page's text, links and notes
//! * [`archive`] the bare repository: format, packs, refs, what can be read from them
//! * [`state`] what the next run must remember
//! * [`run`] the loop, and the order in which things become durable
//! * [`publish`] what may leave, the proof that nothing else does, and the push
//! * [`report`] what archive and state tell, as text and JSON
//! * [`cli`] the command line
//! * [`clock`] the only `now()`

pub mod archive;
pub mod cli;
pub mod clock;
pub mod config;
pub mod discover;
pub mod extract;
pub mod fetch;
pub mod git;
pub mod model;
pub mod politeness;
pub mod publish;
pub mod report;
pub mod run;
pub mod state;
