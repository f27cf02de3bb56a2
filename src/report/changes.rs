//! What changed between two commits.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Past, ReportError};
use crate::archive::{Change, ChangeKind, ObjectId, ref_name};
use crate::model::Visibility;

/// One changed page.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeLine {
    /// `added`, `edited`, `moved` or `removed`.
    pub kind: &'static str,
    /// Its source.
    pub source: String,
    /// Its URL.
    pub url: String,
    /// Its path in the tree.
    pub path: String,
    /// The path it came from, of a moved page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Size before, in bytes.
    pub old_size: usize,
    /// Size after, in bytes.
    pub new_size: usize,
}

/// The changes of one ref between two commits.
#[derive(Clone, Debug, Serialize)]
pub struct Changes {
    /// The ref.
    #[serde(rename = "ref")]
    pub name: String,
    /// The older commit; `None` before the first.
    pub old: Option<String>,
    /// The newer commit.
    pub new: String,
    /// The pages, sorted by path.
    pub pages: Vec<ChangeLine>,
}

impl Changes {
    /// Compares two commits of a ref.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn between(
        past: &Past<'_>,
        visibility: Visibility,
        (old, new): (Option<ObjectId>, ObjectId),
    ) -> Result<Self, ReportError> {
        let pages = past.changes(visibility, (old, new))?.into_iter().map(line).collect();
        let name = ref_name(visibility);
        Ok(Self {
            name: name.to_owned(),
            old: old.map(|id| id.to_string()),
            new: new.to_string(),
            pages,
        })
    }

    /// As text: a line a page, and a line that sums up.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for page in &self.pages {
            let size = match page.kind {
                "added" => format!("{} bytes", page.new_size),
                "removed" => format!("{} bytes", page.old_size),
                _ => format!("{} → {} bytes", page.old_size, page.new_size),
            };
            let _ = writeln!(out, "{:<8}{}  ({size})", page.kind, page.url);
            if let Some(from) = &page.from {
                let _ = writeln!(out, "        was {from}");
            }
        }
        let count = |kind| self.pages.iter().filter(|page| page.kind == kind).count();
        let _ = writeln!(
            out,
            "{}: {} added, {} edited, {} moved, {} removed",
            self.name,
            count("added"),
            count("edited"),
            count("moved"),
            count("removed")
        );
        out
    }
}

fn line(change: Change) -> ChangeLine {
    ChangeLine {
        kind: ChangeKind::name(change.kind),
        source: change.entry.source.to_string(),
        path: change.entry.page_path(),
        from: change.from.map(|from| from.page_path()),
        url: change.url,
        old_size: change.old_size,
        new_size: change.new_size,
    }
}
