//! Which documents of a source are read. Pure: nothing here opens a file or a connection.

mod selection;

pub use selection::Selection;
