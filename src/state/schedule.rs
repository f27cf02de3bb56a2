//! When each host may be asked again, in a file of its own that every process on one archive
//! shares, and the conduct that was measured.
//!
//! Owns the state of hosts with the lease of the request under way, the requests that count
//! against limits which hosts share, what robots.txt of each
//! origin said, what was counted in each run, and what `pagelog stop` was told. Guarantees
//! that whoever takes the turn of a host does so alone, whatever other processes do, and
//! that a lease ends with its process. What is committed survives the end of the process,
//! not that of the machine: after a power cut a host may have lost its last wait.

mod conduct;
mod host;
mod lease;
mod passage;
mod robots;
mod tables;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::StateError;
use super::open::{
    Condition, Look, copy_file, open_file, open_file_to_read, open_memory, transact,
};
use crate::model::{RunId, SourceId};
use crate::politeness::{Gate, HostState, Millis, Parked, Passage};

pub use conduct::{Counted, HostConduct, Tally};
pub use lease::Lease;
pub use passage::AtGates;
pub use robots::RobotsRow;

/// The politeness file of one archive.
#[derive(Debug)]
pub struct Schedule {
    db: Connection,
    path: PathBuf,
    /// Who this process is, in leases.
    holder: String,
}

/// A host as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRow {
    /// What its schedule goes by.
    pub state: HostState,
    /// Whether a request is under way.
    pub lease: Lease,
    /// Whether somebody stopped it, or the source that asks.
    pub stopped: bool,
    /// What passed each of the gates that were asked about.
    pub passages: Vec<Vec<Passage>>,
}

/// What becomes of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What its schedule goes by from now on.
    pub state: HostState,
    /// What becomes of the request under way.
    pub hold: Hold,
    /// What becomes of its passages through the gates that were asked about.
    pub gates: AtGates,
    /// What is counted of the request that ended.
    pub counted: Option<Counted>,
}

/// What becomes of the request that a host has under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: whoever makes it goes on.
    AsItIs,
    /// This process begins one, which ends then at the latest.
    Until(Millis),
    /// None is under way any more.
    Ended,
}

/// What is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<'a> {
    /// A source, by its id.
    Source(&'a str),
    /// A host.
    Host(&'a str),
}

impl Schedule {
    /// Opens the file; makes it where there is none. A damaged one is renamed (with `mark`
    /// in its name) and a new one made.
    ///
    /// # Errors
    /// It cannot be opened, made or set aside, or is of a newer version.
    pub fn open(path: &Path, mark: &str) -> Result<(Self, Condition), StateError> {
        let (db, condition) = open_file(path, (mark, Look::Through), &tables::FORMAT)?;
        Ok((Self::new(db, path), condition))
    }

    /// Opens the file for questions; `None` where there is none.
    ///
    /// # Errors
    /// It is damaged or of a newer version.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StateError> {
        Ok(open_file_to_read(path, Look::Through, &tables::FORMAT)?.map(|db| Self::new(db, path)))
    }

    /// A schedule that is kept nowhere, for requests without an archive.
    ///
    /// # Errors
    /// SQLite has no memory for it.
    pub fn in_memory() -> Result<Self, StateError> {
        let path = Path::new(":memory:");
        Ok(Self::new(open_memory(path, &tables::FORMAT)?, path))
    }

    fn new(db: Connection, path: &Path) -> Self {
        Self { db, path: path.to_owned(), holder: lease::own() }
    }

    /// Copies the file, consistently, also while it is being written.
    ///
    /// # Errors
    /// The copy cannot be written.
    pub fn copy_to(&self, target: &Path) -> Result<(), StateError> {
        copy_file(&self.db, target)
    }

    /// Begins a run: forgets conduct under its number and later ones, which a state that was
    /// made anew gives once more. Outside of runs (number 0) that of the last command is
    /// forgotten.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin_run(&mut self, run: RunId) -> Result<(), StateError> {
        self.transaction(|db| conduct::forget(db, run))
    }

    /// Lets `work` look at a host for a source, and at what passed some gates, and say what
    /// becomes of it; nobody else does so at the same time.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn with_host<T>(
        &mut self,
        (host, source, gates): (&str, &SourceId, &[Gate]),
        now: Millis,
        work: impl FnOnce(HostRow) -> (Option<Change>, T),
    ) -> Result<T, StateError> {
        let holder = self.holder.clone();
        self.transaction(|db| {
            let (row, before) = host::load(db, (host, source.as_str()), (&holder, now))?;
            let passages = passage::load(db, gates, (&holder, now))?;
            let (change, result) = work(HostRow { passages, ..row });
            if let Some(change) = change {
                let lease = match change.hold {
                    Hold::AsItIs => before.lease,
                    Hold::Until(until) => (Some(holder), Some(until)),
                    Hold::Ended => (None, None),
                };
                host::save(db, host, (&change.state, &before.crawl_delays), &lease)?;
                passage::save(db, (gates, host), (now, &change.gates))?;
                if let Some(counted) = &change.counted {
                    conduct::count(db, host, counted)?;
                }
            }
            Ok(result)
        })
    }

    /// A host as it stands; that of one that was never asked is the default.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn host(&self, host: &str, now: Millis) -> Result<HostRow, StateError> {
        let row = host::load(&self.db, (host, ""), (&self.holder, now));
        row.map(|(row, _)| row).map_err(|error| self.error(error))
    }

    /// Hosts that are left for a later run, by name, and why.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn parked(&self) -> Result<Vec<(String, Parked)>, StateError> {
        host::parked(&self.db).map_err(|error| self.error(error))
    }

    /// Whether a host was ever asked.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn knows(&self, host: &str) -> Result<bool, StateError> {
        let found = self.db.query_row(
            "SELECT EXISTS (SELECT 1 FROM host WHERE host = ?1)",
            [host],
            |row| row.get(0),
        );
        found.map_err(|error| self.error(error))
    }

    /// Stops a source or a host for the run that is in progress.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn stop(&mut self, stop: Stop<'_>) -> Result<(), StateError> {
        let (kind, name) = match stop {
            Stop::Source(name) => ("source", name),
            Stop::Host(name) => ("host", name),
        };
        let insert = "INSERT OR IGNORE INTO stop (kind, name) VALUES (?1, ?2)";
        self.transaction(|db| db.execute(insert, [kind, name]).map(drop))
    }

    /// Whether somebody stopped a host, or a source.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_stopped(&self, (host, source): (&str, &SourceId)) -> Result<bool, StateError> {
        host::is_stopped(&self.db, (host, source.as_str())).map_err(|error| self.error(error))
    }

    /// Forgets what was stopped; only for the holder of the run lock.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn forget_stops(&mut self) -> Result<(), StateError> {
        self.transaction(|db| db.execute("DELETE FROM stop", []).map(drop))
    }

    fn error(&self, error: rusqlite::Error) -> StateError {
        StateError::Sqlite { path: self.path.clone(), error }
    }

    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StateError> {
        let done = transact(&mut self.db, |transaction| work(transaction));
        done.map_err(|error| StateError::Sqlite { path: self.path.clone(), error })
    }
}

/// Whole milliseconds, rounded up: no wait gets shorter by being saved.
fn milliseconds(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

fn duration(milliseconds: i64) -> std::time::Duration {
    std::time::Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}
