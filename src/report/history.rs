//! The dated versions of one page.

use std::cmp::Reverse;

use serde::Serialize;

use super::lookup::Found;
use super::{Past, ReportError};
use crate::archive::Version;
use crate::config::Config;

/// A version of a page.
#[derive(Clone, Debug, Serialize)]
pub struct VersionLine {
    /// The commit with which it came.
    pub commit: String,
    /// Start of that run.
    pub date: String,
    /// `added`, `edited`, `moved` (to another ref or source id) or `removed`.
    pub kind: &'static str,
    /// Blob of the page's file; `None` where it was removed.
    pub blob: Option<String>,
    /// Blob of the version before; `None` where there was none.
    pub before: Option<String>,
}

/// The versions of a page, newest first, wherever it stood: on both refs, and under former
/// ids of its source.
///
/// # Errors
/// The archive cannot be read.
pub fn find_versions(
    past: &Past<'_>,
    config: &Config,
    page: &Found,
) -> Result<Vec<VersionLine>, ReportError> {
    let mut all = Vec::new();
    for (visibility, entry) in page.places(config) {
        all.extend(past.versions(visibility, &entry)?);
    }
    // Commits of one run share its start, and stand equally far behind the tips.
    all.sort_by_key(|version| (Reverse(version.started), version.behind));
    let mut lines: Vec<VersionLine> = Vec::new();
    for commits in all.chunk_by(|a, b| (a.started, a.behind) == (b.started, b.behind)) {
        let of_commit = lines.len();
        for version in commits.iter().map(|version| line(*version)) {
            let last = lines[of_commit..].last_mut();
            match last.filter(|last| is_one_move(last, &version)) {
                Some(last) => {
                    last.kind = "moved";
                    last.before = last.before.take().or(version.before);
                    if last.blob.is_none() {
                        last.blob = version.blob;
                        last.commit = version.commit;
                    }
                }
                None => lines.push(version),
            }
        }
    }
    Ok(lines)
}

/// Whether the page vanished from one place and came up at another.
fn is_one_move(a: &VersionLine, b: &VersionLine) -> bool {
    matches!((a.kind, b.kind), ("added", "removed") | ("removed", "added"))
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
