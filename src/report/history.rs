//! The dated versions of one page.

use serde::Serialize;

use super::lookup::Found;
use crate::archive::{Archive, ArchiveError, Version, versions};

/// A version of a page.
#[derive(Clone, Debug, Serialize)]
pub struct VersionLine {
    /// The commit with which it came.
    pub commit: String,
    /// Start of that run.
    pub date: String,
    /// `added`, `edited` or `removed`.
    pub kind: &'static str,
    /// Blob of the page's file; `None` where it was removed.
    pub blob: Option<String>,
    /// Blob of the version before; `None` where there was none.
    pub before: Option<String>,
}

/// The versions of a page, newest first; where its source changed its visibility, those on
/// both refs.
///
/// # Errors
/// The archive cannot be read.
pub fn find_versions(archive: &Archive, page: &Found) -> Result<Vec<VersionLine>, ArchiveError> {
    let mut all = versions(archive, page.visibility, &page.entry)?;
    all.extend(versions(archive, page.visibility.other(), &page.entry)?);
    all.sort_by_key(|version| std::cmp::Reverse(version.started));
    Ok(all.into_iter().map(line).collect())
}

fn line(version: Version) -> VersionLine {
    let kind = match (version.before, version.blob) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "edited",
    };
    VersionLine {
        commit: version.commit.to_string(),
        date: version.started.to_string(),
        kind,
        blob: version.blob.map(|id| id.to_string()),
        before: version.before.map(|id| id.to_string()),
    }
}
