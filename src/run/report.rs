//! What a run did, for people and programs.

use crate::model::{Counts, Note, RunId, SourceId, Timestamp};

/// What a run did with one source.
#[derive(Clone, Debug)]
pub struct SourceReport {
    /// The source.
    pub source: SourceId,
    /// Its pages by outcome.
    pub counts: Counts,
    /// Why something of it could not be read; empty where everything was.
    pub trouble: Vec<String>,
    /// What was left out by choice: URL and reason.
    pub skipped: Vec<(String, String)>,
    /// What failed: URL and reason.
    pub failed: Vec<(String, String)>,
    /// What a person may want to know: URL and note.
    pub notes: Vec<(String, Note)>,
}

impl SourceReport {
    pub(super) fn new(source: SourceId) -> Self {
        Self {
            source,
            counts: Counts::default(),
            trouble: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Notes that something of the source could not be read.
    pub(super) fn fail(&mut self, why: String) {
        self.trouble.push(why);
    }

    /// Whether everything that was to be read was read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.trouble.is_empty()
    }
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its number; `None` of a dry run.
    pub run: Option<RunId>,
    /// Its start.
    pub started: Timestamp,
    /// Its end.
    pub ended: Timestamp,
    /// The commits it made, public and private, in hex; `None` of a dry run.
    pub commits: Option<(String, String)>,
    /// The sources it read, in order of the configuration.
    pub sources: Vec<SourceReport>,
}

impl Report {
    /// Whether every source was read in full.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.sources.iter().all(SourceReport::is_complete)
    }
}
