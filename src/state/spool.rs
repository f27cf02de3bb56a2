//! Answers as they came, until what they say is on disk: after a kill nothing of them is
//! asked for again.
//!
//! A file of its own, written by the threads that receive. Nothing in it is flushed: the
//! end of a process loses nothing of it, a power cut what came since the last checkpoint.
//! It is a file for minutes: each checkpoint ends it, and one that cannot be read is
//! forgotten like an answer that never came.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, params};

use super::StateError;
use crate::model::{RunId, Timestamp, Validators};

/// An answer to a request of the open run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpooledAnswer {
    /// The source that asked.
    pub source: String,
    /// The URL that was asked for; numbers of URLs are those of the state, which a kill puts
    /// back to its last checkpoint.
    pub url: String,
    /// The URL that answered, after temporary redirects.
    pub found: String,
    /// The form in which it was asked for.
    pub form: String,
    /// Permanent redirects on the way to it.
    pub hops: u8,
    /// When the answer came.
    pub time: Timestamp,
    /// Status code.
    pub status: u16,
    /// Content-Type.
    pub content_type: Option<String>,
    /// What to ask with the next time.
    pub validators: Validators,
    /// Location of a permanent redirect.
    pub moved_to: Option<String>,
    /// Values of X-Robots-Tag, one a line.
    pub robots: String,
    /// Values of Link, one a line.
    pub link: String,
    /// The decoded body.
    pub body: Vec<u8>,
}

/// The answers of the open run that are in no checkpoint.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    db: Connection,
    bytes: u64,
}

const CREATE: &str = "
CREATE TABLE IF NOT EXISTS owner (run INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS answer (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    url TEXT NOT NULL,
    found TEXT NOT NULL,
    form TEXT NOT NULL,
    hops INTEGER NOT NULL,
    time INTEGER NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT, etag TEXT, last_modified TEXT, moved_to TEXT,
    robots TEXT NOT NULL, link TEXT NOT NULL,
    body BLOB NOT NULL
);
";

impl Spool {
    /// Opens the spool of a run. Answers to another run are forgotten, and so is a file that
    /// cannot be read.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn open(path: &Path, run: RunId) -> Result<Self, StateError> {
        if let Ok(db) = connect(path)
            && owner(&db).is_ok_and(|owner| owner == Some(run.0))
        {
            return Ok(Self { path: path.to_owned(), db, bytes: 0 });
        }
        Self::make(path, run)
    }

    fn make(path: &Path, run: RunId) -> Result<Self, StateError> {
        let failed = |error| StateError::Sqlite { path: path.to_owned(), error };
        remove(path);
        let db = connect(path).map_err(failed)?;
        db.execute("INSERT INTO owner VALUES (?)", [run.0]).map_err(failed)?;
        Ok(Self { path: path.to_owned(), db, bytes: 0 })
    }

    /// Adds an answer.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, answer: &SpooledAnswer) -> Result<(), StateError> {
        let sql = "INSERT INTO answer (source, url, found, form, hops, time, status, content_type, etag, \
                   last_modified, moved_to, robots, link, body) \
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let write = || {
            self.db.prepare_cached(sql)?.execute(params![
                answer.source,
                answer.url,
                answer.found,
                answer.form,
                answer.hops,
                answer.time.unix(),
                answer.status,
                answer.content_type,
                answer.validators.etag,
                answer.validators.last_modified,
                answer.moved_to,
                answer.robots,
                answer.link,
                answer.body,
            ])
        };
        write().map_err(|error| self.error(error))?;
        self.bytes += answer.body.len() as u64;
        Ok(())
    }

    /// The first answer behind the one numbered `after`, with its number.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next(&self, after: i64) -> Result<Option<(i64, SpooledAnswer)>, StateError> {
        let query = || {
            let sql = "SELECT id, source, url, found, form, hops, time, status, content_type, etag, \
                       last_modified, moved_to, robots, link, body FROM answer \
                       WHERE id > ? ORDER BY id LIMIT 1";
            let mut statement = self.db.prepare_cached(sql)?;
            let mut rows = statement.query_map([after], answer)?;
            rows.next().transpose()
        };
        query().map_err(|error| self.error(error))
    }

    /// Bytes of bodies that were added.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Forgets everything: it is on disk elsewhere.
    ///
    /// # Errors
    /// The file cannot be made anew.
    pub fn clear(&mut self, run: RunId) -> Result<(), StateError> {
        let closed = Connection::open_in_memory().map_err(|error| self.error(error))?;
        drop(std::mem::replace(&mut self.db, closed));
        *self = Self::make(&self.path, run)?;
        Ok(())
    }

    /// Removes the file of a spool that nobody has open.
    pub fn remove(path: &Path) {
        remove(path);
    }

    fn error(&self, error: rusqlite::Error) -> StateError {
        StateError::Sqlite { path: self.path.clone(), error }
    }
}

/// Opens the file. Its log is never copied into it: both are gone before that pays.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "OFF")?;
    db.pragma_update(None, "wal_autocheckpoint", 0)?;
    db.execute_batch(CREATE)?;
    Ok(db)
}

fn owner(db: &Connection) -> rusqlite::Result<Option<i64>> {
    db.query_row("SELECT max(run) FROM owner", [], |row| row.get(0))
}

fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // What is not there need not be removed; what cannot be is found by its owner's run.
        let _ = fs::remove_file(PathBuf::from(name));
    }
}

fn answer(row: &Row<'_>) -> rusqlite::Result<(i64, SpooledAnswer)> {
    let answer = SpooledAnswer {
        source: row.get(1)?,
        url: row.get(2)?,
        found: row.get(3)?,
        form: row.get(4)?,
        hops: row.get(5)?,
        time: Timestamp::from_unix(row.get(6)?).unwrap_or(Timestamp::EPOCH),
        status: row.get(7)?,
        content_type: row.get(8)?,
        validators: Validators { etag: row.get(9)?, last_modified: row.get(10)? },
        moved_to: row.get(11)?,
        robots: row.get(12)?,
        link: row.get(13)?,
        body: row.get(14)?,
    };
    Ok((row.get(0)?, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(number: u8, body: &[u8]) -> SpooledAnswer {
        SpooledAnswer {
            source: "docs".into(),
            url: format!("https://h.example/{number}"),
            found: "https://h.example/a".into(),
            form: "page".into(),
            hops: 1,
            time: Timestamp::parse("2026-11-30T02:00:00Z").unwrap(),
            status: 200,
            content_type: Some("text/html".into()),
            validators: Validators { etag: Some("\"a\"".into()), last_modified: None },
            moved_to: None,
            robots: "noindex\nnofollow".into(),
            link: String::new(),
            body: body.to_vec(),
        }
    }

    #[test]
    fn answers_outlive_the_process_and_belong_to_their_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool.sqlite");
        let mut spool = Spool::open(&path, RunId(7)).unwrap();
        spool.add(&answer(1, b"one")).unwrap();
        spool.add(&answer(2, &[0, 255])).unwrap();
        assert_eq!(spool.bytes(), 5);
        drop(spool);
        let mut spool = Spool::open(&path, RunId(7)).unwrap();
        let (first, found) = spool.next(0).unwrap().unwrap();
        assert_eq!(found, answer(1, b"one"));
        let (second, found) = spool.next(first).unwrap().unwrap();
        assert_eq!(found, answer(2, &[0, 255]));
        assert_eq!(spool.next(second).unwrap(), None);
        spool.clear(RunId(7)).unwrap();
        assert_eq!(spool.next(0).unwrap(), None);
        spool.add(&answer(3, b"three")).unwrap();
        drop(spool);
        let other = Spool::open(&path, RunId(8)).unwrap();
        assert_eq!(other.next(0).unwrap(), None);
        drop(other);
        Spool::remove(&path);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }

    #[test]
    fn a_damaged_file_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool.sqlite");
        fs::write(&path, "this is no database, however long it may be".repeat(100)).unwrap();
        let mut spool = Spool::open(&path, RunId(1)).unwrap();
        spool.add(&answer(1, b"one")).unwrap();
        assert!(spool.next(0).unwrap().is_some());
    }
}
