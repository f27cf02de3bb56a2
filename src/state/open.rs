//! Opening the state: known, new, or set aside and new.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{StateError, schema};

/// How long a command waits for another one that writes.
const BUSY: Duration = Duration::from_secs(30);

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
}

impl State {
    /// Opens the state for writing, under the run lock. A damaged file is renamed (with
    /// `mark` in its name) and a new one made.
    ///
    /// # Errors
    /// The file cannot be opened, made or set aside, or is of a newer version.
    pub fn open(path: &Path, mark: &str) -> Result<(Self, Condition), StateError> {
        let existed = path.exists();
        match Self::try_open(path) {
            Ok(state) => Ok((state, if existed { Condition::Known } else { Condition::New })),
            Err(error) if existed && is_damage(&error) => {
                let aside = set_aside(path, mark)?;
                Ok((Self::try_open(path)?, Condition::SetAside(aside)))
            }
            Err(error) => Err(error),
        }
    }

    /// Opens the state for questions; `None` where there is none.
    ///
    /// # Errors
    /// The file is damaged or of a newer version.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StateError> {
        if !path.exists() {
            return Ok(None);
        }
        match Self::try_open(path) {
            Err(StateError::Sqlite { error, .. }) if is_read_only(&error) => {
                Self::open_unchanged(path).map(Some)
            }
            other => other.map(Some),
        }
    }

    /// Opens a state on a file system that cannot be written, where nobody changes it.
    fn open_unchanged(path: &Path) -> Result<Self, StateError> {
        let failed = |error| StateError::Sqlite { path: path.to_owned(), error };
        let escaped =
            path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let db = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
        Ok(Self { db: db.map_err(failed)?, path: path.to_owned() })
    }

    fn try_open(path: &Path) -> Result<Self, StateError> {
        let failed = |error| StateError::Sqlite { path: path.to_owned(), error };
        let db = Connection::open(path).map_err(failed)?;
        let state = Self { db, path: path.to_owned() };
        state.prepare().map_err(|error| state.error(error))?;
        let version: i64 = state
            .db
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|error| state.error(error))?;
        match usize::try_from(version).ok().and_then(|version| schema::STEPS.get(version..)) {
            Some(steps) => state.bring_up(steps)?,
            None => return Err(StateError::Newer { path: state.path, found: version }),
        }
        Ok(state)
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.db.busy_timeout(BUSY)?;
        self.db.pragma_update(None, "journal_mode", "WAL")?;
        self.db.pragma_update(None, "synchronous", "FULL")?;
        self.db.pragma_update(None, "foreign_keys", true)?;
        self.db.set_prepared_statement_cache_capacity(64);
        let sound: String = self.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if sound == "ok" {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Err(rusqlite::Error::SqliteFailure(code, Some(sound)))
    }

    /// Makes the tables that this version has and the file has not.
    fn bring_up(&self, steps: &[&str]) -> Result<(), StateError> {
        if steps.is_empty() {
            return Ok(());
        }
        let (version, steps) = (schema::VERSION, steps.concat());
        let text = format!("BEGIN IMMEDIATE;{steps}PRAGMA user_version = {version};COMMIT;");
        self.db.execute_batch(&text).map_err(|error| self.error(error))
    }

    /// Copies the state, consistently, also while a run writes it.
    ///
    /// # Errors
    /// The copy cannot be written.
    pub fn copy_to(&self, target: &Path) -> Result<(), StateError> {
        let failed = |error| StateError::Sqlite { path: target.to_owned(), error };
        let mut copy = Connection::open(target).map_err(failed)?;
        let backup = rusqlite::backup::Backup::new(&self.db, &mut copy).map_err(failed)?;
        backup.run_to_completion(1024, Duration::ZERO, None).map_err(failed)
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> StateError {
        StateError::Sqlite { path: self.path.clone(), error }
    }

    /// Runs `work` in one transaction that is on disk when this returns; within a crawl
    /// ([`State::begin_crawl`]) it is on disk with the next checkpoint.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StateError> {
        let path = self.path.clone();
        let run = |db: &mut Connection| {
            if db.is_autocommit() {
                let behavior = rusqlite::TransactionBehavior::Immediate;
                let transaction = db.transaction_with_behavior(behavior)?;
                let result = work(&transaction)?;
                transaction.commit()?;
                return Ok(result);
            }
            let savepoint = db.savepoint()?;
            let result = work(&savepoint)?;
            savepoint.commit()?;
            Ok(result)
        };
        run(&mut self.db).map_err(|error| StateError::Sqlite { path, error })
    }
}

/// Whether SQLite could not write where it stands.
fn is_read_only(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

fn is_damage(error: &StateError) -> bool {
    let StateError::Sqlite { error, .. } = error else { return false };
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        }
        _ => false,
    }
}

/// Renames the file and its companions out of the way; gives the new name.
fn set_aside(path: &Path, mark: &str) -> Result<PathBuf, StateError> {
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
