//! What can go wrong with an archive.

use std::path::{Path, PathBuf};

use crate::git::GitError;

/// A fault of the archive or of the machine it stands on. Nothing that was committed
/// before is lost by any of them.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A file could not be read or written.
    #[error("cannot {what} {path}: {error}{}", disk_hint(.error))]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// There is no archive.
    #[error("there is no archive at {0}; `pagelog init` makes one")]
    Missing(PathBuf),
    /// Something else is there.
    #[error("{path} is not an archive: {why}")]
    NotAnArchive {
        /// The directory.
        path: PathBuf,
        /// How it can be told.
        why: String,
    },
    /// Another run holds the lock.
    #[error("another run holds the lock {path}{}", .holder.as_ref().map_or_else(String::new, |h| format!(" ({h})")))]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// What the holder wrote about itself.
        holder: Option<String>,
    },
    /// A ref was moved by somebody else.
    #[error(
        "{name} was moved by something else: expected {expected}, found {found}; what this run made is kept and nothing was overwritten. Put the ref back with `git update-ref {name} {expected}`, or accept it as it is with `pagelog audit --repair`"
    )]
    RefMoved {
        /// The ref.
        name: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A lock file of Git stands in the way.
    #[error(
        "{path} is in the way: another Git process is changing the archive's refs, or one died. If none is running, remove the file and run again"
    )]
    RefLock {
        /// The lock file.
        path: PathBuf,
    },
    /// An upkeep does not come to its end.
    #[error(
        "an upkeep of the archive is still under way, as {path} says; its packs can be read when it is over: try again later"
    )]
    Upkeep {
        /// The lock file.
        path: PathBuf,
    },
    /// Objects could not be read or written.
    #[error("{what}: {why}")]
    Object {
        /// What was tried.
        what: String,
        /// What gix said.
        why: String,
    },
    /// A name that must not enter a tree.
    #[error("`{0}` is not a path this archive may hold")]
    Path(String),
    /// A text that names no commit of the archive.
    #[error(
        "`{text}` names no commit of the archive: {why}; name a date, a time, an id, `public` or `private`"
    )]
    Revision {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A page, links file or message that is not of the format.
    #[error("{place} is not of the archive format: {why}")]
    Format {
        /// Path or commit.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The Git client failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl ArchiveError {
    /// Wraps an error of the system with what was tried on which file.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { what, path, error }
    }

    /// Wraps an error of gix with what was tried.
    pub(crate) fn object<E: std::error::Error>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| Self::Object { what, why: with_causes(&error) }
    }
}

/// An error and its causes on one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        if let Some(error) = inner.downcast_ref() {
            text.push_str(disk_hint(error));
        }
        cause = inner.source();
    }
    text
}

fn disk_hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "; make room and run again, nothing is lost"
        }
        std::io::ErrorKind::ReadOnlyFilesystem => "; the file system is read-only",
        _ => "",
    }
}
