//! Checking an archive against its own format.
//!
//! Owns what a fault is and the order in which things are looked at. Guarantees: nothing is
//! changed; what cannot be read is a fault like others and ends nothing; time follows the
//! number of distinct objects, since no tree is looked at twice in the same place; memory is
//! bounded but for the ids of trees and of private pages; the same archive gives the same
//! list, whatever the number of threads.

mod accepted;
mod batches;
mod commits;
mod content;
mod directory;
mod faults;
mod pairs;
mod resemble;
mod root;
mod separation;
mod served;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::thread;

use faults::Notes;
pub use faults::{Fault, FaultKind, Faults};

pub(super) use commits::look_at;
pub(super) use content::{links_fault, page_fault};
pub(super) use directory::own_left_overs;
pub(super) use root::{fault as root_fault, moved_fault};

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::ref_name;
use super::listing::page_sources;
use super::refs::{self, Heads};
use crate::git::Git;
use crate::model::{SourceId, Visibility};
use commits::Line;

/// Who is told how a check goes; from several threads.
pub trait Watch: Sync {
    /// A part begins.
    fn stage(&self, what: &str);
    /// So many of its things were looked at.
    fn count(&self, done: u64);
}

/// A check of an archive under way.
pub struct Audit<'a> {
    archive: &'a Archive,
    watch: &'a dyn Watch,
    heads: Heads,
    /// Sources that are private now.
    private: BTreeSet<SourceId>,
    faults: Mutex<Faults>,
    notes: Mutex<Notes>,
}

impl<'a> Audit<'a> {
    /// Begins a check. Private are the given sources; `configured` are all that the
    /// configuration has: one that is not there is private where it has private pages.
    ///
    /// # Errors
    /// The refs cannot be read.
    pub fn new(
        archive: &'a Archive,
        (private, configured): (BTreeSet<SourceId>, &BTreeSet<SourceId>),
        watch: &'a dyn Watch,
    ) -> Result<Self, ArchiveError> {
        let heads = archive.heads()?;
        let mut all = private;
        let stored = page_sources(archive, heads.private).unwrap_or_default();
        all.extend(stored.into_iter().filter(|id| !configured.contains(id)));
        Ok(Self {
            archive,
            watch,
            heads,
            private: all,
            faults: Mutex::default(),
            notes: Mutex::default(),
        })
    }

    /// Checks everything that is the archive's own: its directory, its settings, every object,
    /// commit and tree, and every file of both tips.
    ///
    /// # Errors
    /// Git could not be run.
    pub fn check(&self, git: &Git) -> Result<(), ArchiveError> {
        self.watch.stage("looking at objects");
        thread::scope(|scope| {
            // Git checks objects on one core, and what they say is checked on another.
            let objects = scope.spawn(|| self.check_objects(git));
            self.check_directory(git)?;
            self.check_contents(&self.archive.accepted(git)?)?;
            objects.join().unwrap_or(Ok(()))
        })
    }

    /// Adds a fault.
    pub fn add(&self, fault: Fault) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).add(fault);
    }

    /// What was found: faults, and notes on what is no fault by itself.
    #[must_use]
    pub fn end(self) -> (Faults, Vec<String>) {
        let faults = self.faults.into_inner().unwrap_or_else(PoisonError::into_inner);
        let notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        (faults, notes.told())
    }

    fn note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).add(text);
    }

    /// Makes a fault of an error, so that the rest is looked at too.
    fn add_unreadable(&self, place: &str, error: &ArchiveError) {
        self.add(Fault::new(FaultKind::Object, place, error.to_string()));
    }

    fn check_objects(&self, git: &Git) -> Result<(), ArchiveError> {
        for line in git.fsck(self.archive.path())? {
            self.add(Fault::new(FaultKind::Object, "git fsck", line));
        }
        Ok(())
    }

    fn check_directory(&self, git: &Git) -> Result<(), ArchiveError> {
        let idle = self.archive.locked_by()?.is_none();
        let faults = directory::check(self.archive, idle).into_iter();
        let faults = faults.chain(self.archive.guard_faults(git)?);
        for fault in faults.chain(self.archive.served_signs()) {
            self.add(fault);
        }
        Ok(())
    }

    fn check_contents(&self, accepted: &Heads) -> Result<(), ArchiveError> {
        let line = |visibility| commits::line(self, visibility, accepted.of(visibility));
        let lines = [line(Visibility::Public), line(Visibility::Private)];
        commits::check_together(self, &lines);
        commits::check_other_refs(self, &lines);
        separation::check(self, &lines);
        content::check(self, &known_sources(self, &lines))?;
        resemble::check(self)
    }
}

/// Every source that the archive's commits ever spoke of.
fn known_sources(audit: &Audit<'_>, lines: &[Line; 2]) -> BTreeSet<SourceId> {
    let mut known = audit.private.clone();
    for line in lines {
        known.extend(line.sources.iter().cloned());
    }
    for tip in [audit.heads.public, audit.heads.private] {
        known.extend(page_sources(audit.archive, tip).unwrap_or_default());
    }
    known
}

/// Compares where a ref is with where it should be.
#[must_use]
pub fn ref_fault(name: &str, expected: Option<ObjectId>, found: Option<ObjectId>) -> Option<Fault> {
    (expected != found)
        .then(|| Fault::new(FaultKind::Ref, name, refs::moved(name, expected, found).to_string()))
}
