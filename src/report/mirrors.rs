//! When each mirror was last published.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::ReportError;
use super::basis::Basis;
use crate::archive::{Archive, ObjectId};
use crate::config::Mirror;

/// When a mirror was last published.
#[derive(Clone, Debug, Serialize)]
pub struct MirrorStatus {
    /// Its name.
    pub mirror: String,
    /// Where it is.
    pub url: String,
    /// When it was last given what it lacked.
    pub published: Option<String>,
    /// The commit that it was at then.
    pub commit: Option<String>,
    /// Commits of the public ref that came since; `None` where it was never published, or at
    /// a commit that is no longer there.
    pub behind: Option<usize>,
}

impl MirrorStatus {
    /// The mirrors, in order of the configuration.
    pub(super) fn all(basis: &Basis<'_>, archive: &Archive) -> Result<Vec<Self>, ReportError> {
        let published = archive.published();
        // As many commits are walked as came since the mirror that is furthest behind.
        let mut sought: HashSet<ObjectId> = published.iter().map(|last| last.commit).collect();
        let mut places = HashMap::new();
        let mut runs = archive.walk(archive.heads()?.public).enumerate();
        while !sought.is_empty()
            && let Some((behind, run)) = runs.next()
        {
            let commit = run?.commit;
            if sought.remove(&commit) {
                places.insert(commit, behind);
            }
        }
        let status = |mirror: &Mirror| {
            let last = published.iter().find(|last| last.mirror == mirror.name);
            Self {
                mirror: mirror.name.clone(),
                url: mirror.url.to_string(),
                published: last.map(|last| last.at.to_string()),
                commit: last.map(|last| last.commit.to_string()),
                behind: last.and_then(|last| places.get(&last.commit).copied()),
            }
        };
        Ok(basis.config.mirrors.iter().map(status).collect())
    }

    /// Writes it as a line.
    pub(super) fn write(&self, out: &mut String) {
        let last = self.published.as_deref().unwrap_or("never");
        let since = match self.behind {
            None => String::new(),
            Some(0) => ", nothing new since".to_owned(),
            Some(behind) => format!(", {behind} commits since"),
        };
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "mirror      {} ({}): published {last}{since}", self.mirror, self.url);
    }
}
