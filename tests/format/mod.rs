//! The archive format, read by a second implementation that shares no code with the first.

mod archive;
mod reader;
