//! Checking the files of the state, and bringing single pages into step with the archive.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::{State, StateError, open};
use crate::model::SourceId;

/// Faults that SQLite is asked for.
const MOST: u32 = 20;

/// What SQLite finds wrong with a file of the state, page by page; nothing where there is no
/// file.
///
/// # Errors
/// It cannot be looked at: the disk is full, or another program has locked it.
pub fn file_faults(path: &Path) -> Result<Vec<String>, StateError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let query = |db: Connection| {
        db.busy_timeout(open::BUSY)?;
        let mut statement = db.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
        let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
        lines.collect::<rusqlite::Result<Vec<String>>>()
    };
    let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let asked = match opened.and_then(query) {
        // On a file system that cannot be written nobody changes it.
        Err(error) if open::is_read_only(&error) => match open::open_unchanged(path) {
            Ok(db) => query(db),
            Err(_) => Err(error),
        },
        other => other,
    };
    let failed = |error| StateError::Sqlite { path: path.to_owned(), error };
    match asked.map_err(failed) {
        Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
        Err(error) if error.is_damage() => Ok(vec![error.to_string()]),
        // A full disk and a file that somebody else has locked are no damage.
        Err(error) => Err(error),
    }
}

/// Renames a damaged file out of the way, with `mark` in its name; gives the new name.
///
/// # Errors
/// It cannot be renamed.
pub fn set_file_aside(path: &Path, mark: &str) -> Result<PathBuf, StateError> {
    open::set_aside(path, mark)
}

impl State {
    /// Answers questions as of one moment, whatever is committed meanwhile.
    ///
    /// # Errors
    /// The state cannot be read, or `work` failed.
    pub fn frozen<T, E: From<StateError>>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let frozen = self.db.unchecked_transaction().map_err(|error| self.error(error))?;
        let done = work(self)?;
        frozen.finish().map_err(|error| self.error(error))?;
        Ok(done)
    }

    /// Paths and blobs of a source's pages, in byte order of their paths: at most `most` of
    /// those behind `after`.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page_files(
        &self,
        source: &SourceId,
        (after, most): (&str, u32),
    ) -> Result<Vec<(String, String)>, StateError> {
        let query = || {
            let sql = "SELECT path, blob FROM page WHERE source = ?1 AND path > ?2 \
                       ORDER BY path LIMIT ?3";
            let mut statement = self.db.prepare_cached(sql)?;
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let rows = statement.query_map(rusqlite::params![source.as_str(), after, most], row)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Forgets pages and how their URLs answered: what was told of them was not of what is
    /// stored.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn forget_pages_at(&mut self, places: &[(SourceId, String)]) -> Result<(), StateError> {
        self.transaction(|db| {
            let mut visit = db.prepare_cached(
                "DELETE FROM visit WHERE url IN (SELECT url.id FROM url JOIN page \
                 ON page.source = url.source AND page.url = url.url \
                 WHERE page.source = ?1 AND page.path = ?2)",
            )?;
            let mut page = db.prepare_cached("DELETE FROM page WHERE source = ?1 AND path = ?2")?;
            for (source, path) in places {
                visit.execute([source.as_str(), path])?;
                page.execute([source.as_str(), path])?;
            }
            Ok(())
        })
    }
}
