//! The index of the history: in which commits of which ref the file of each page changed.
//!
//! It says nothing that the commits do not say; it only finds it without walking them. It
//! speaks of the commits that it lists, numbered from the first one of each ref on: where
//! the last of them is not the tip of its ref, it is out of step and not to be asked. A
//! commit is in it with all that it changed or not at all.

use std::error::Error;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::{PageKey, State, StateError};
use crate::model::{SourceId, Timestamp, Visibility};

/// The id of an object.
pub type Id = [u8; 20];

/// Why what a commit changed could not be told.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Changes after which what was added is brought to disk.
const BATCH: usize = 10_000;

/// A commit in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedCommit {
    /// Its number on its ref, from 0.
    pub number: i64,
    /// Its id.
    pub id: Id,
    /// Start of its run.
    pub started: Timestamp,
}

/// What a commit did to the file of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageChange {
    /// The page's source.
    pub source: SourceId,
    /// Its path below the source's folder.
    pub path: String,
    /// Its file; `None` where it left.
    pub file: Option<Id>,
    /// The URL that it had, where it left.
    pub url: Option<String>,
}

/// What a commit changed, to be gone through once.
pub type PageChanges<'a> = Box<dyn Iterator<Item = Result<PageChange, Cause>> + 'a>;

/// A commit that follows the last one in the index.
pub struct Addition<'a> {
    /// Its ref.
    pub visibility: Visibility,
    /// Its id.
    pub id: Id,
    /// Start of its run.
    pub started: Timestamp,
    /// What it changed.
    pub changes: PageChanges<'a>,
}

/// The place of a page: its source and its path there.
pub type PagePlace = (SourceId, String);

/// A page whose file differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPlace {
    /// Its place.
    pub place: PagePlace,
    /// Its file after the earlier commit.
    pub old: Option<Id>,
    /// Its file after the later commit.
    pub new: Option<Id>,
}

/// A page that is on no ref any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GonePage {
    /// Where it stood.
    pub place: PagePlace,
    /// The URL it had last.
    pub url: String,
    /// The ref it stood on last.
    pub visibility: Visibility,
}

impl State {
    /// Whether there is a place for the index: a file that cannot be written may be older.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn has_history(&self) -> Result<bool, StateError> {
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'ref_commit'";
        let count = self.db.query_row(sql, [], |row| row.get::<_, i64>(0));
        count.map(|n| n > 0).map_err(|error| self.error(error))
    }

    /// The last commit of a ref that is in the index.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn last_indexed(&self, on: Visibility) -> Result<Option<IndexedCommit>, StateError> {
        let sql = "SELECT number, id, started FROM ref_commit WHERE ref = ? \
                   ORDER BY number DESC LIMIT 1";
        let row = self.db.query_row(sql, [number(on)], indexed).optional();
        row.map_err(|error| self.error(error))
    }

    /// The commit with that id, and the ref that it is on.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn indexed(&self, id: &Id) -> Result<Option<(Visibility, IndexedCommit)>, StateError> {
        let sql = "SELECT number, id, started, ref FROM ref_commit WHERE id = ?";
        let row = self.db.query_row(sql, [id], |row| Ok((visibility(row.get(3)?), indexed(row)?)));
        row.optional().map_err(|error| self.error(error))
    }

    /// The last commit of a ref, up to the one with that number, whose run began at a time
    /// or before.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn indexed_at(
        &self,
        (on, most): (Visibility, i64),
        at: Timestamp,
    ) -> Result<Option<IndexedCommit>, StateError> {
        let sql = "SELECT number, id, started FROM ref_commit WHERE ref = ? AND number <= ? \
                   AND started <= ? ORDER BY number DESC LIMIT 1";
        let row = self.db.query_row(sql, params![number(on), most, at.unix()], indexed).optional();
        row.map_err(|error| self.error(error))
    }

    /// The commits of a ref, up to the one with that number, that changed the file of a
    /// page, oldest first, with the file that it had from then on.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page_versions(
        &self,
        (on, most): (Visibility, i64),
        (source, path): (&SourceId, &str),
    ) -> Result<Vec<(IndexedCommit, Option<Id>)>, StateError> {
        let query = || {
            let sql = "SELECT number, ref_commit.id, started, file FROM place \
                       CROSS JOIN version ON version.place = place.id \
                       CROSS JOIN ref_commit USING (ref, number) \
                       WHERE source = ? AND path = ? AND ref = ? AND number <= ? ORDER BY number";
            let mut statement = self.db.prepare_cached(sql)?;
            let values = params![source.as_str(), path, number(on), most];
            let rows = statement.query_map(values, |row| Ok((indexed(row)?, row.get(3)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// The file of a page after the commit with that number.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn file_at(
        &self,
        (on, at): (Visibility, i64),
        (source, path): (&SourceId, &str),
    ) -> Result<Option<Id>, StateError> {
        let sql = "SELECT file FROM place CROSS JOIN version ON version.place = place.id \
                   WHERE source = ? AND path = ? AND ref = ? AND number <= ? \
                   ORDER BY number DESC LIMIT 1";
        let values = params![source.as_str(), path, number(on), at];
        let row = self.db.query_row(sql, values, |row| row.get(0)).optional();
        row.map(Option::flatten).map_err(|error| self.error(error))
    }

    /// The pages whose files differ between two commits of a ref, the numbers of which are
    /// given, the earlier one first; -1 stands for what was before the first.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn changed_places(
        &self,
        on: Visibility,
        (after, to): (i64, i64),
    ) -> Result<Vec<ChangedPlace>, StateError> {
        let query = || {
            let file = |at: &str| {
                format!(
                    "(SELECT file FROM version WHERE place = place.id AND ref = ?1 \
                     AND number <= {at} ORDER BY number DESC LIMIT 1)"
                )
            };
            let sql = format!(
                "SELECT source, path, {}, {} FROM place WHERE id IN (SELECT place FROM version \
                 WHERE ref = ?1 AND number > ?2 AND number <= ?3)",
                file("?2"),
                file("?3")
            );
            let mut statement = self.db.prepare(&sql)?;
            let mut rows = statement.query([number(on), after, to])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let (Some(place), old, new) = (place(row)?, row.get(2)?, row.get(3)?) else {
                    continue;
                };
                if old != new {
                    found.push(ChangedPlace { place, old, new });
                }
            }
            Ok(found)
        };
        query().map_err(|error| self.error(error))
    }

    /// Pages that are on no ref any more, by the URL that they had last.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn gone_with_url(&self, url: &str) -> Result<Vec<GonePage>, StateError> {
        self.gone_pages("url = ?1 AND ?2", (url, "1"), &|_| true)
    }

    /// The page that stood at a place and is on no ref any more.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn gone_at(&self, source: &SourceId, path: &str) -> Result<Vec<GonePage>, StateError> {
        let sql = "source = ?1 AND path = ?2 AND url IS NOT NULL";
        self.gone_pages(sql, (source.as_str(), path), &|_| true)
    }

    /// Pages that are on no ref any more whose last URL or place begins with a text, and is
    /// one of those that are wanted.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn gone_from(
        &self,
        key: PageKey,
        start: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<GonePage>, StateError> {
        let column = key.sql();
        let sql = format!("{column} >= ?1 AND {column} < ?2 AND url IS NOT NULL");
        let wanted = |page: &GonePage| wanted(&key.of((&page.place.0, &page.place.1), &page.url));
        self.gone_pages(&sql, (start, &behind(start)), &wanted)
    }

    fn gone_pages(
        &self,
        filter: &str,
        values: (&str, &str),
        wanted: &dyn Fn(&GonePage) -> bool,
    ) -> Result<Vec<GonePage>, StateError> {
        let query = || {
            let sql = format!("SELECT source, path, url, gone FROM place WHERE {filter}");
            let mut statement = self.db.prepare(&sql)?;
            let mut rows = statement.query([values.0, values.1])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let Some(place) = place(row)? else { continue };
                let visibility = visibility(row.get(3)?);
                let page = GonePage { place, url: row.get(2)?, visibility };
                if wanted(&page) {
                    found.push(page);
                }
            }
            Ok(found)
        };
        query().map_err(|error| self.error(error))
    }

    /// Adds commits that follow the last ones in the index. They are brought to disk a few at
    /// a time, each with all that it changed; a run's commit on the private ref goes with the
    /// one on the public ref.
    ///
    /// # Errors
    /// The state cannot be written, or what a commit changed cannot be told; what was brought
    /// to disk by then stays.
    pub fn index_commits<'a, E: From<StateError>>(
        &mut self,
        additions: impl Iterator<Item = Result<Addition<'a>, E>>,
    ) -> Result<(), E> {
        let failed = |error| match error {
            rusqlite::Error::ToSqlConversionFailure(cause) => StateError::History(cause),
            error => self.error(error),
        };
        let begin = || Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate);
        let mut transaction = begin().map_err(failed)?;
        let mut changes = 0;
        for addition in additions {
            let addition = addition?;
            if changes >= BATCH && addition.visibility == Visibility::Public {
                transaction.commit().map_err(failed)?;
                transaction = begin().map_err(failed)?;
                changes = 0;
            }
            changes += append(&transaction, addition).map_err(failed)?;
        }
        Ok(transaction.commit().map_err(failed)?)
    }

    /// Forgets the index; for making it anew.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn forget_history(&mut self) -> Result<(), StateError> {
        let sql = "DELETE FROM version; DELETE FROM place; DELETE FROM ref_commit;";
        self.transaction(|db| db.execute_batch(sql))
    }
}

/// The end of the range of texts that begin with `start`.
pub(super) fn behind(start: &str) -> String {
    format!("{start}{}", char::MAX)
}

/// Adds one commit with all that it changed; gives how many pages these are.
pub(super) fn append(db: &Connection, addition: Addition<'_>) -> rusqlite::Result<usize> {
    let (on, mut count) = (number(addition.visibility), 0);
    let sql = "SELECT coalesce(max(number) + 1, 0) FROM ref_commit WHERE ref = ?";
    let at: i64 = db.prepare_cached(sql)?.query_row([on], |row| row.get(0))?;
    db.prepare_cached("INSERT INTO ref_commit VALUES (?, ?, ?, ?)")?.execute(params![
        on,
        at,
        addition.id,
        addition.started.unix()
    ])?;
    for change in addition.changes {
        // The closest that there is of an error that is not SQLite's.
        let change = change.map_err(rusqlite::Error::ToSqlConversionFailure)?;
        store(db, (on, at), &change)?;
        count += 1;
    }
    Ok(count)
}

fn store(db: &Connection, (on, at): (i64, i64), change: &PageChange) -> rusqlite::Result<()> {
    let key = [change.source.as_str(), &change.path];
    let mut find = db.prepare_cached("SELECT id FROM place WHERE source = ? AND path = ?")?;
    let known: Option<i64> = find.query_row(key, |row| row.get(0)).optional()?;
    let place = if let Some(known) = known {
        known
    } else {
        db.prepare_cached("INSERT INTO place (source, path) VALUES (?, ?)")?.execute(key)?;
        db.last_insert_rowid()
    };
    db.prepare_cached("INSERT INTO version VALUES (?, ?, ?, ?)")?.execute(params![
        place,
        on,
        at,
        change.file
    ])?;
    if change.file.is_some() {
        let sql = "UPDATE place SET url = NULL, gone = NULL WHERE id = ? AND url IS NOT NULL";
        return db.prepare_cached(sql)?.execute([place]).map(drop);
    }
    let sql = "SELECT file FROM version WHERE place = ? AND ref = ? ORDER BY number DESC LIMIT 1";
    let elsewhere: Option<Option<Id>> =
        db.prepare_cached(sql)?.query_row([place, 1 - on], |row| row.get(0)).optional()?;
    if elsewhere.flatten().is_none() {
        db.prepare_cached("UPDATE place SET url = ?, gone = ? WHERE id = ?")?
            .execute(params![change.url, on, place])?;
    }
    Ok(())
}

/// How a ref is called in the tables.
fn number(on: Visibility) -> i64 {
    match on {
        Visibility::Public => 0,
        Visibility::Private => 1,
    }
}

fn visibility(number: i64) -> Visibility {
    if number == 0 { Visibility::Public } else { Visibility::Private }
}

fn indexed(row: &Row<'_>) -> rusqlite::Result<IndexedCommit> {
    let started = Timestamp::from_unix(row.get(2)?).unwrap_or(Timestamp::EPOCH);
    Ok(IndexedCommit { number: row.get(0)?, id: row.get(1)?, started })
}

/// A place; `None` where its source is not a source's name, which no version writes.
fn place(row: &Row<'_>) -> rusqlite::Result<Option<PagePlace>> {
    let Ok(source) = SourceId::new(&row.get::<_, String>(0)?) else { return Ok(None) };
    Ok(Some((source, row.get(1)?)))
}
