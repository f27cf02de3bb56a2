//! What the next run must remember, in SQLite beside the archive's objects.
//!
//! Owns the runs with their phases, where each page stands, what was learnt about each
//! URL (the ledger), which upstream commit was archived last, and what was taken down.
//! Guarantees that an intent is on disk before it is acted on, and that what is known
//! about pages always belongs to the commits in `tips`. An index tells which commits changed
//! each page, and of which commits it speaks. The pages are the truth and this
//! is a cache: lost or damaged, it is set aside (never deleted) and made anew from them.
//!
//! Beside it stands the [`Schedule`]: when each host may be asked again, shared by every
//! process on one archive, and the conduct that was measured.

mod check;
mod crawl;
mod drafts;
mod history;
#[cfg(test)]
mod history_tests;
mod ledger;
mod open;
mod pages;
mod pending;
mod runs;
mod schedule;
mod schema;
#[cfg(test)]
mod site_tests;
mod soundness;
mod spool;
mod stated;
mod upstreams;
mod visits;

use std::path::PathBuf;

pub use check::{file_faults, set_file_aside};
pub use crawl::{Crawl, Place};
pub use drafts::{Draft, DraftFiles, DraftedPage, TreeChange};
pub use history::{
    Addition, Cause, ChangedPlace, GonePage, Id, IndexedCommit, PageChange, PageChanges, PagePlace,
};
pub use ledger::{Interval, LedgerEntry};
pub use open::{Condition, State};
pub use pages::{PageKey, PageRow};
pub use runs::{CommitRecord, KnownRun, Phase, RunRow};
pub use schedule::{
    AtGates, Change, Counted, Hold, HostConduct, HostRow, Lease, RobotsRow, Schedule, Stop, Tally,
};
pub use spool::{Spool, SpooledAnswer};
pub use upstreams::UpstreamRow;
pub use visits::SiteUrl;

/// A fault of the state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// SQLite failed.
    #[error("the state {path}: {error}{}", hint(.error))]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        error: rusqlite::Error,
    },
    /// What a commit changed could not be told.
    #[error("the index of the history: {0}")]
    History(Cause),
    /// The file could not be set aside.
    #[error("cannot set the damaged state {path} aside: {error}")]
    SetAside {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It was written by a newer version of this program.
    #[error(
        "the state {path} is of version {found}, newer than this program knows; use the newer program, or move the file away to have it made anew"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
}

impl StateError {
    /// Whether the file is damaged, or none of the state.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let Self::Sqlite { error, .. } = self else { return false };
        matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
    }
}

fn hint(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => "; make room and run again, nothing is lost",
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "; another command is using it, try again"
        }
        // Room for SQLite's own files is missed with these codes.
        Some(rusqlite::ErrorCode::SystemIoFailure | rusqlite::ErrorCode::CannotOpen) => {
            "; if the disk is full, make room and run again, nothing is lost"
        }
        _ => "",
    }
}
