//! Which documents of a source are read. Pure: nothing here opens a file or a connection.
//!
//! * [`Selection`] which files of a repository are pages
//! * [`Scope`] which addresses belong to a site

mod scope;
mod selection;

pub use scope::{Scope, Verdict};
pub use selection::Selection;
