//! When each mirror was last published.

use std::fmt::Write as _;

use serde::Serialize;

use super::ReportError;
use super::basis::Basis;
use crate::archive::Archive;
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
        let tip = if published.is_empty() { None } else { archive.heads()?.public };
        let runs = archive.runs(tip)?;
        let status = |mirror: &Mirror| {
            let last = published.iter().find(|last| last.mirror == mirror.name);
            Self {
                mirror: mirror.name.clone(),
                url: mirror.url.to_string(),
                published: last.map(|last| last.at.to_string()),
                commit: last.map(|last| last.commit.to_string()),
                behind: last.and_then(|last| runs.iter().position(|run| run.commit == last.commit)),
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
