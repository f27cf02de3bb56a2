//! Which documents of a source are read. Pure: nothing here opens a file or a connection.
//!
//! * [`Selection`] which files of a repository are pages
//! * [`Scope`] which addresses belong to a site
//! * [`LastMod`] when a site says that a page changed
//! * [`sitemap`] which pages a site lists
//! * [`trust`] whether what it states of changes is believed
//! * [`frontier`] what a run reads next, and what it leaves out
//! * [`revisit`] whether what is known is asked for again, and with what

pub mod frontier;
mod lastmod;
pub mod revisit;
mod scope;
mod selection;
pub mod sitemap;
pub mod trust;

pub use lastmod::{LastMod, LastModSpread};
pub use scope::{Scope, Verdict};
pub use selection::Selection;
