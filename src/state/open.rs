//! Opening a file of the state: known, new, or set aside and new.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::soundness::Soundness;
use super::{StateError, pending, schema};

/// How long a command waits for another one that writes.
pub(super) const BUSY: Duration = Duration::from_secs(30);

/// In what condition the state was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It was there.
    Known,
    /// There was none.
    New,
    /// It was damaged and now stands at that path.
    SetAside(PathBuf),
}

/// The state of one archive.
#[derive(Debug)]
pub struct State {
    pub(super) db: Connection,
    path: PathBuf,
    // Dropped after the connection.
    soundness: Soundness,
}

/// Whether a file is looked through when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Every page of it is read.
    Through,
    /// It is known to be sound.
    Not,
}

/// A kind of file: its tables, and how soon what is committed is on disk.
pub(super) struct Format {
    /// What makes the tables of each version (`PRAGMA user_version`) from those of the one
    /// before; the first makes them from nothing.
    pub steps: &'static [&'static str],
    /// `PRAGMA synchronous`: FULL is on disk at once, NORMAL survives the process only.
    pub synchronous: &'static str,
    /// `PRAGMA page_size` of a new file: what one small change writes.
    pub page_size: u32,
}

/// The state itself.
const STATE: Format = Format { steps: &schema::STEPS, synchronous: "FULL", page_size: 4096 };

impl State {
    /// Opens the state for writing, under the run lock. A damaged file is renamed (with
    /// `mark` in its name) and a new one made.
    ///
    /// # Errors
    /// The file cannot be opened, made or set aside, or is of a newer version.
    pub fn open(path: &Path, mark: &str) -> Result<(Self, Condition), StateError> {
        let soundness = Soundness::of(path);
        let look = if soundness.is_known() { Look::Not } else { Look::Through };
        soundness.forget();
        let (db, condition) = open_file(path, (mark, look), &STATE)?;
        pending::prepare(&db)
            .map_err(|error| StateError::Sqlite { path: path.to_owned(), error })?;
        soundness.trust();
        Ok((Self { db, path: path.to_owned(), soundness }, condition))
    }

    /// Opens the state for questions; `None` where there is none.
    ///
    /// # Errors
    /// The file is damaged or of a newer version.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StateError> {
        let soundness = Soundness::of(path);
        // One that is in use was looked through by who uses it.
        let (known, in_use) = (soundness.is_known(), soundness.has_log());
        let look = if known || in_use { Look::Not } else { Look::Through };
        let db = open_file_to_read(path, look, &STATE)?;
        if look == Look::Through {
            soundness.trust();
        }
        Ok(db.map(|db| Self { db, path: path.to_owned(), soundness }))
    }

    /// Copies the state, consistently, also while a run writes it.
    ///
    /// # Errors
    /// The copy cannot be written.
    pub fn copy_to(&self, target: &Path) -> Result<(), StateError> {
        copy_file(&self.db, target)
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> StateError {
        let error = StateError::Sqlite { path: self.path.clone(), error };
        if error.is_damage() {
            self.soundness.doubt();
        }
        error
    }

    /// Runs `work` in one transaction that is on disk when this returns; within a crawl
    /// ([`State::begin_crawl`]) it is on disk with the next checkpoint.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StateError> {
        let done = if self.db.is_autocommit() {
            transact(&mut self.db, |db| work(db))
        } else {
            nested(&mut self.db, work)
        };
        done.map_err(|error| self.error(error))
    }
}

/// Opens a file for writing; one that is damaged is renamed (with `mark` in its name) and a
/// new one made.
pub(super) fn open_file(
    path: &Path,
    (mark, look): (&str, Look),
    format: &Format,
) -> Result<(Connection, Condition), StateError> {
    let existed = path.exists();
    match try_open(path, look, format) {
        Ok(db) => Ok((db, if existed { Condition::Known } else { Condition::New })),
        Err(error) if existed && error.is_damage() => {
            let aside = set_aside(path, mark)?;
            Ok((try_open(path, look, format)?, Condition::SetAside(aside)))
        }
        Err(error) => Err(error),
    }
}

/// Opens a file for questions; `None` where there is none.
pub(super) fn open_file_to_read(
    path: &Path,
    look: Look,
    format: &Format,
) -> Result<Option<Connection>, StateError> {
    if !path.exists() {
        return Ok(None);
    }
    match try_open(path, look, format) {
        Err(StateError::Sqlite { error, .. }) if is_read_only(&error) => {
            open_unchanged(path).map(Some)
        }
        other => other.map(Some),
    }
}

/// Opens a file that is none: it is kept in memory, and `name` stands in errors.
pub(super) fn open_memory(name: &Path, format: &Format) -> Result<Connection, StateError> {
    let open = || {
        let mut db = Connection::open_in_memory()?;
        prepare(&db, Look::Not, format)?;
        bring_up(&mut db, format)?;
        Ok(db)
    };
    open().map_err(|error| StateError::Sqlite { path: name.to_owned(), error })
}

/// Opens a file on a file system that cannot be written, where nobody changes it.
pub(super) fn open_unchanged(path: &Path) -> Result<Connection, StateError> {
    let escaped =
        path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
    db.map_err(|error| StateError::Sqlite { path: path.to_owned(), error })
}

fn try_open(path: &Path, look: Look, format: &Format) -> Result<Connection, StateError> {
    let failed = |error| StateError::Sqlite { path: path.to_owned(), error };
    let mut db = Connection::open(path).map_err(failed)?;
    prepare(&db, look, format).map_err(failed)?;
    let found = version(&db).map_err(failed)?;
    match missing(found, format) {
        None => return Err(StateError::Newer { path: path.to_owned(), found }),
        Some([]) => {}
        Some(_) => bring_up(&mut db, format).map_err(failed)?,
    }
    Ok(db)
}

fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// What a file of that version lacks; `None` where it is newer.
fn missing(version: i64, format: &Format) -> Option<&[&'static str]> {
    format.steps.get(usize::try_from(version).ok()?..)
}

fn prepare(db: &Connection, look: Look, format: &Format) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY)?;
    db.pragma_update(None, "page_size", format.page_size)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", format.synchronous)?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.set_prepared_statement_cache_capacity(64);
    // A statement keeps its plan, whatever is bound to it: it would be parsed anew each time.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.pragma_update(None, "wal_autocheckpoint", 8192)?;
    if look == Look::Not {
        return Ok(());
    }
    let sound: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if sound == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(sound)))
}

/// Makes the tables that are missing, unless another process does so at this moment.
fn bring_up(db: &mut Connection, format: &Format) -> rusqlite::Result<()> {
    transact(db, |db| {
        for step in missing(version(db)?, format).unwrap_or_default() {
            db.execute_batch(step)?;
        }
        let version = i64::try_from(format.steps.len()).unwrap_or(i64::MAX);
        db.pragma_update(None, "user_version", version)
    })
}

/// Copies a file, consistently, also while another process writes it.
pub(super) fn copy_file(db: &Connection, target: &Path) -> Result<(), StateError> {
    let failed = |error| StateError::Sqlite { path: target.to_owned(), error };
    let mut copy = Connection::open(target).map_err(failed)?;
    let backup = rusqlite::backup::Backup::new(db, &mut copy).map_err(failed)?;
    backup.run_to_completion(1024, Duration::ZERO, None).map_err(failed)
}

/// Runs `work` as a part of the transaction under way.
fn nested<T>(
    db: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let savepoint = db.savepoint()?;
    let result = work(&savepoint)?;
    savepoint.commit()?;
    Ok(result)
}

/// Runs `work` in one transaction that nobody else writes beside.
pub(super) fn transact<T>(
    db: &mut Connection,
    work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let result = work(&transaction)?;
    transaction.commit()?;
    Ok(result)
}

/// Whether SQLite could not write where it stands.
pub(super) fn is_read_only(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Renames the file and its companions out of the way; gives the new name.
pub(super) fn set_aside(path: &Path, mark: &str) -> Result<PathBuf, StateError> {
    let failed = |error| StateError::SetAside { path: path.to_owned(), error };
    let mut aside = path.with_extension(format!("damaged-{mark}"));
    for n in 2.. {
        if !aside.exists() {
            break;
        }
        aside = path.with_extension(format!("damaged-{mark}-{n}"));
    }
    fs::rename(path, &aside).map_err(failed)?;
    for companion in ["-wal", "-shm"] {
        let mut old = path.as_os_str().to_owned();
        old.push(companion);
        let mut new = aside.as_os_str().to_owned();
        new.push(companion);
        if Path::new(&old).exists() {
            fs::rename(old, new).map_err(failed)?;
        }
    }
    Ok(aside)
}
