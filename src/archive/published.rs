//! When each mirror was last published, and how publishing is kept apart.
//!
//! `pagelog/published.tsv` holds for each mirror the commit that it was given and when. It is
//! there to be shown: what a mirror has is asked of the mirror.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::OWN_FOLDER;
use super::lock::RunLock;
use super::pack::{rename_flushed, write_flushed};
use crate::model::Timestamp;

const HEADER: &str = "mirror\tcommit\tpublished\n";

/// What a mirror was last given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Name of the mirror.
    pub mirror: String,
    /// The commit that its branch was at afterwards.
    pub commit: ObjectId,
    /// When.
    pub at: Timestamp,
}

impl Archive {
    /// What each mirror was last given, sorted by name; lines that are none of the format are
    /// left out.
    #[must_use]
    pub fn published(&self) -> Vec<Published> {
        let text = fs::read_to_string(self.published_file()).unwrap_or_default();
        text.lines().skip(1).filter_map(line).collect()
    }

    /// Notes what a mirror was given.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn note_published(&self, new: &Published) -> Result<(), ArchiveError> {
        let mut all = self.published();
        all.retain(|old| old.mirror != new.mirror);
        all.push(new.clone());
        all.sort_by(|a, b| a.mirror.cmp(&b.mirror));
        let mut text = HEADER.to_owned();
        for Published { mirror, commit, at } in &all {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{mirror}\t{commit}\t{at}");
        }
        let file = self.published_file();
        let temporary = file.with_extension("new");
        write_flushed(&temporary, text.as_bytes())?;
        rename_flushed(&temporary, &file)
    }

    /// Takes the lock that lets one process at a time publish. It is none of the run's: a run
    /// may go on beside it. Whoever rewrites history holds both.
    ///
    /// # Errors
    /// Another process publishes.
    pub fn lock_publishing(&self, holder: &str) -> Result<RunLock, ArchiveError> {
        RunLock::acquire(&self.path().join(OWN_FOLDER).join("publish.lock"), holder)
    }

    /// The folder of what a mirror is sent in parts: a repository of its own, which borrows
    /// the objects of the archive and has none of its refs.
    #[must_use]
    pub fn outbox(&self, mirror: &str) -> PathBuf {
        self.path().join(OWN_FOLDER).join("publish").join(mirror)
    }

    pub(super) fn published_file(&self) -> PathBuf {
        self.path().join(OWN_FOLDER).join("published.tsv")
    }
}

fn line(line: &str) -> Option<Published> {
    let mut columns = line.split('\t');
    Some(Published {
        mirror: columns.next()?.to_owned(),
        commit: ObjectId::from_hex(columns.next()?.as_bytes()).ok()?,
        at: Timestamp::parse(columns.next()?).ok()?,
    })
}
