//! What a pass did so far with pages of repositories, until its commit makes it true.
//!
//! Owns temporary tables of the connection: they are gone with the process, whatever ends it,
//! and what does not fit into SQLite's cache is in its temporary file. So a pass may put as
//! many pages as it likes. Of one place and one URL the last word counts; pages that left are
//! taken out before those that were put are written, so that a page may leave a place and
//! another one come to it in one pass.

use rusqlite::{Connection, OptionalExtension, params};

use super::ledger::{LedgerEntry, record};
use super::pages::{PageRow, encode_sketch};
use super::{State, StateError};
use crate::model::{Outcome, OutcomeKind, RunId, SourceId};

/// The tables; the cache is a bound in KiB.
const TABLES: &str = "
PRAGMA temp.cache_size = -4096;
CREATE TEMP TABLE put (         -- pages that are new or changed
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    url TEXT NOT NULL,
    blob TEXT NOT NULL,
    run INTEGER NOT NULL,
    sketch BLOB,
    PRIMARY KEY (source, path)
) WITHOUT ROWID;
CREATE TEMP TABLE gone (        -- places that pages left
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (source, path)
) WITHOUT ROWID;
CREATE TEMP TABLE learnt (      -- outcomes, in the order in which they came
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL
);
";

/// Forgets all that is in them.
const CLEAR: &str = "
DELETE FROM temp.put;
DELETE FROM temp.gone;
DELETE FROM temp.learnt;
DROP INDEX IF EXISTS temp.put_folded;
";

impl State {
    /// Forgets what a pass did that did not come to its commit.
    ///
    /// # Errors
    /// The temporary tables cannot be written.
    pub fn forget_pending(&mut self) -> Result<(), StateError> {
        self.db.execute_batch(CLEAR).map_err(|error| self.error(error))
    }

    /// A page is new or changed, from the commit on.
    ///
    /// # Errors
    /// The temporary tables cannot be written.
    pub fn put_page(&mut self, page: &PageRow) -> Result<(), StateError> {
        let write = || {
            let sql = "INSERT OR REPLACE INTO temp.put VALUES (?, ?, ?, ?, ?, ?)";
            let sketch = page.sketch.as_deref().map(encode_sketch);
            self.db.prepare_cached(sql)?.execute(params![
                page.source.as_str(),
                page.path,
                page.url,
                page.blob,
                page.run.0,
                sketch
            ])
        };
        write().map(drop).map_err(|error| self.error(error))
    }

    /// A page left that place, from the commit on.
    ///
    /// # Errors
    /// The temporary tables cannot be written.
    pub fn drop_page(&mut self, source: &SourceId, path: &str) -> Result<(), StateError> {
        let write = || {
            let sql = "INSERT OR REPLACE INTO temp.gone VALUES (?, ?)";
            self.db.prepare_cached(sql)?.execute([source.as_str(), path])
        };
        write().map(drop).map_err(|error| self.error(error))
    }

    /// Adds to what the run learnt, from its intent on.
    ///
    /// # Errors
    /// The temporary tables cannot be written.
    pub fn learn(&mut self, entry: &LedgerEntry) -> Result<(), StateError> {
        let LedgerEntry { source, url, outcome } = entry;
        let write = || {
            let sql = "INSERT INTO temp.learnt (source, url, outcome, reason) VALUES (?, ?, ?, ?)";
            let values = [source.as_str(), url, outcome.kind.name(), &outcome.reason];
            self.db.prepare_cached(sql)?.execute(values)
        };
        write().map(drop).map_err(|error| self.error(error))
    }

    /// Takes a page back that was put at a place; gives its URL, and the last outcome that
    /// was learnt of it.
    ///
    /// # Errors
    /// The temporary tables cannot be used.
    pub fn take_back(
        &mut self,
        source: &SourceId,
        path: &str,
    ) -> Result<Option<(String, Option<Outcome>)>, StateError> {
        let take = || {
            let sql = "DELETE FROM temp.put WHERE source = ? AND path = ? RETURNING url";
            let url: Option<String> = self
                .db
                .prepare_cached(sql)?
                .query_row([source.as_str(), path], |row| row.get(0))
                .optional()?;
            let Some(url) = url else { return Ok(None) };
            let sql = "SELECT outcome, reason FROM temp.learnt WHERE source = ? AND url = ? \
                       ORDER BY id DESC LIMIT 1";
            let outcome = self
                .db
                .prepare_cached(sql)?
                .query_row([source.as_str(), &url], |row| {
                    let kind = OutcomeKind::from_name(&row.get::<_, String>(0)?);
                    let kind = kind.unwrap_or(OutcomeKind::Failed);
                    Ok(Outcome::new(kind, row.get::<_, String>(1)?))
                })
                .optional()?;
            Ok(Some((url, outcome)))
        };
        take().map_err(|error| self.error(error))
    }

    /// A place at which a page was put, and that is `path` but for capitals.
    ///
    /// # Errors
    /// The temporary tables cannot be used.
    pub fn put_sibling(
        &mut self,
        source: &SourceId,
        path: &str,
    ) -> Result<Option<String>, StateError> {
        let query = || {
            // Hardly a pass asks: its pages are not to pay for it.
            self.db.execute_batch(
                "CREATE INDEX IF NOT EXISTS temp.put_folded ON put (source, lower(path))",
            )?;
            let sql = "SELECT path FROM temp.put WHERE source = ?1 AND lower(path) = lower(?2) \
                       AND path <> ?2 ORDER BY path LIMIT 1";
            let mut statement = self.db.prepare_cached(sql)?;
            statement.query_row([source.as_str(), path], |row| row.get(0)).optional()
        };
        query().map_err(|error| self.error(error))
    }

    /// Whether a page left that place.
    ///
    /// # Errors
    /// The temporary tables cannot be read.
    pub fn is_dropped(&self, source: &SourceId, path: &str) -> Result<bool, StateError> {
        let query = || {
            let sql = "SELECT 1 FROM temp.gone WHERE source = ? AND path = ?";
            self.db.prepare_cached(sql)?.exists([source.as_str(), path])
        };
        query().map_err(|error| self.error(error))
    }
}

/// Makes the tables of a connection.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(TABLES)
}

/// Writes what was learnt into the ledger.
pub(super) fn apply_learnt(db: &Connection, run: RunId) -> rusqlite::Result<()> {
    let mut statement =
        db.prepare("SELECT source, url, outcome, reason FROM temp.learnt ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let kind = OutcomeKind::from_name(row.get_ref(2)?.as_str()?);
        let outcome = Outcome::new(kind.unwrap_or(OutcomeKind::Failed), row.get::<_, String>(3)?);
        record(db, run, (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?), &outcome)?;
    }
    Ok(())
}

/// Makes what the pass did with pages true, and forgets it.
pub(super) fn apply(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "DELETE FROM main.page WHERE (source, path) IN (SELECT source, path FROM temp.gone); \
         INSERT INTO main.page (source, path, url, blob, run, sketch) \
         SELECT source, path, url, blob, run, sketch FROM temp.put WHERE true \
         ORDER BY source, path ON CONFLICT (source, path) DO UPDATE SET \
         url = excluded.url, blob = excluded.blob, run = excluded.run, sketch = excluded.sketch;",
    )?;
    db.execute_batch(CLEAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunKind, Timestamp, Tips};
    use crate::state::CommitRecord;

    fn docs() -> SourceId {
        SourceId::new("docs").unwrap()
    }

    fn row(path: &str, blob: &str) -> PageRow {
        PageRow {
            source: docs(),
            path: path.into(),
            url: format!("https://h.example/{path}"),
            blob: blob.into(),
            sketch: Some(vec![1, u64::MAX]),
            run: RunId(1),
        }
    }

    fn learn(state: &mut State, path: &str, reason: &str) {
        let outcome = Outcome::new(OutcomeKind::Changed, reason);
        let url = format!("https://h.example/{path}");
        state.learn(&LedgerEntry { source: docs(), url, outcome }).unwrap();
    }

    fn commit(state: &mut State) {
        let run =
            state.begin_run(RunKind::Read, Timestamp::from_unix(9).unwrap(), &Tips::default());
        let run = run.unwrap();
        state.record_intent(run, (&Tips::default(), None)).unwrap();
        let end = Timestamp::from_unix(10).unwrap();
        state.record_commit(run, end, (&CommitRecord::default(), Vec::new())).unwrap();
    }

    fn opened() -> (tempfile::TempDir, State) {
        let folder = tempfile::tempdir().unwrap();
        let (state, _) = State::open(&folder.path().join("state.sqlite"), "now").unwrap();
        (folder, state)
    }

    #[test]
    fn what_a_pass_did_is_true_from_its_commit_on_and_then_forgotten() {
        let (_folder, mut state) = opened();
        state.restore_pages(&[row("a.md", "01"), row("b.md", "02"), row("c.md", "03")]).unwrap();
        // One page leaves, one leaves its place to another, one is put twice.
        state.drop_page(&docs(), "a.md").unwrap();
        state.put_page(&row("b.md", "04")).unwrap();
        state.drop_page(&docs(), "b.md").unwrap();
        state.put_page(&row("d.md", "05")).unwrap();
        state.put_page(&row("d.md", "06")).unwrap();
        learn(&mut state, "b.md", "");
        assert_eq!(state.page_count(&docs()).unwrap(), 3);

        commit(&mut state);
        let pages = state.pages_of(&docs()).unwrap();
        assert_eq!(pages, [row("b.md", "04"), row("c.md", "03"), row("d.md", "06")]);
        assert_eq!(state.intervals("https://h.example/b.md").unwrap().len(), 1);

        commit(&mut state);
        assert_eq!(state.pages_of(&docs()).unwrap(), pages, "nothing is done twice");
        assert_eq!(state.intervals("https://h.example/b.md").unwrap()[0].last, RunId(1));
    }

    #[test]
    fn what_a_pass_did_that_was_given_up_is_forgotten() {
        let (_folder, mut state) = opened();
        state.put_page(&row("a.md", "01")).unwrap();
        learn(&mut state, "a.md", "added");
        assert_eq!(state.put_sibling(&docs(), "A.md").unwrap().as_deref(), Some("a.md"));
        state.forget_pending().unwrap();
        assert_eq!(state.put_sibling(&docs(), "A.md").unwrap(), None);
        commit(&mut state);
        assert_eq!(state.page_count(&docs()).unwrap(), 0);
        assert_eq!(state.intervals("https://h.example/a.md").unwrap(), []);
    }

    #[test]
    fn a_page_that_is_taken_back_is_not_put() {
        let (_folder, mut state) = opened();
        state.put_page(&row("a.md", "01")).unwrap();
        learn(&mut state, "a.md", "first");
        learn(&mut state, "a.md", "added");
        let (url, last) = state.take_back(&docs(), "a.md").unwrap().unwrap();
        assert_eq!(url, "https://h.example/a.md");
        assert_eq!(last, Some(Outcome::new(OutcomeKind::Changed, "added")));
        assert_eq!(state.take_back(&docs(), "a.md").unwrap(), None);
        commit(&mut state);
        assert_eq!(state.page_count(&docs()).unwrap(), 0);
    }

    #[test]
    fn siblings_differ_in_capitals_only() {
        let (_folder, mut state) = opened();
        state.put_page(&row("Guide.md", "01")).unwrap();
        state.put_page(&row("other.md", "02")).unwrap();
        let sibling = |state: &mut State, path: &str| state.put_sibling(&docs(), path).unwrap();
        assert_eq!(sibling(&mut state, "guide.md").as_deref(), Some("Guide.md"));
        assert_eq!(sibling(&mut state, "Guide.md"), None, "a page is no sibling of itself");
        assert_eq!(sibling(&mut state, "guides.md"), None);
        assert!(!state.is_dropped(&docs(), "Guide.md").unwrap());
        state.drop_page(&docs(), "Guide.md").unwrap();
        assert!(state.is_dropped(&docs(), "Guide.md").unwrap());
    }
}
