//! One resource in, what was captured of it out. Has no opinion on storage.

pub mod http;
mod repository;

pub use repository::{
    BlobReader, FileKind, Files, ReadFailure, Upstream, UpstreamChange, UpstreamError,
};
