//! One pass over the due sources, as commit messages tell it.

use std::fmt;

use super::SourceId;

/// Number of a run in one archive, from 1; local to the state, not part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What made a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// A run over sources.
    Read,
    /// A new extractor version read stored bodies again.
    Extractor,
    /// The configuration moved stored pages: a source was renamed or changed its ref.
    Configuration,
    /// Pages were taken out of all history before it.
    Takedown,
}

impl RunKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Read, "read"),
        (Self::Extractor, "extractor"),
        (Self::Configuration, "configuration"),
        (Self::Takedown, "takedown"),
    ];

    /// The name in the state and, but for `read`, in the trailer `Kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("read", |(_, name)| name)
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, n)| *n == name).map(|(kind, _)| *kind)
    }
}

/// How many pages of a source had which outcome in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages whose text or links changed.
    pub changed: u64,
    /// Pages that were not in the archive before.
    pub added: u64,
    /// Pages that left the tree.
    pub removed: u64,
    /// Pages that were read and had not changed.
    pub same: u64,
    /// Pages that were known not to have changed without being read.
    pub not_modified: u64,
    /// Pages that could not be read or used.
    pub failed: u64,
}

/// The commit of an upstream repository that a run read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpstreamHead {
    /// The source it belongs to.
    pub source: SourceId,
    /// Address of the repository as it may be shown.
    pub repository: String,
    /// Commit id in hex.
    pub commit: String,
}

/// The commits (hex) at the tips of the two refs; `None` before the first run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tips {
    /// Tip of the public ref.
    pub public: Option<String>,
    /// Tip of the private ref.
    pub private: Option<String>,
}
