//! Which commit of each upstream repository is archived, and what was taken down.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{State, StateError};
use crate::model::SourceId;

/// An upstream repository as the state knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamRow {
    /// The source.
    pub source: SourceId,
    /// Its address as it may be shown.
    pub repository: String,
    /// The commit (hex) that is archived; empty before the first.
    pub commit: String,
    /// Fingerprint of the settings it was converted with; empty where unknown.
    pub settings: String,
    /// Version of the extractor it was converted with.
    pub extractor: u32,
    /// How many pages it has.
    pub pages: u64,
    /// Why it could not be read the last time.
    pub trouble: Option<String>,
}

impl State {
    /// One upstream.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn upstream(
        &self,
        source: &SourceId,
        repository: &str,
    ) -> Result<Option<UpstreamRow>, StateError> {
        let sql = format!("{SELECT} WHERE source = ? AND repository = ?");
        let row = self.db.query_row(&sql, [source.as_str(), repository], upstream_row).optional();
        row.map(Option::flatten).map_err(|error| self.error(error))
    }

    /// All upstreams of a source.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn upstreams(&self, source: &SourceId) -> Result<Vec<UpstreamRow>, StateError> {
        let query = || {
            let mut statement =
                self.db.prepare(&format!("{SELECT} WHERE source = ? ORDER BY repository"))?;
            let rows = statement.query_map([source.as_str()], upstream_row)?;
            rows.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Writes an upstream; for making the state anew.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn restore_upstream(&mut self, row: &UpstreamRow) -> Result<(), StateError> {
        self.transaction(|db| store(db, row))
    }

    /// Forgets an upstream that is no longer read.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn forget_upstream(
        &mut self,
        source: &SourceId,
        repository: &str,
    ) -> Result<(), StateError> {
        self.transaction(|db| forget(db, source, repository))
    }

    /// Gives what is known under a source's old name to its new one.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn rename_source(&mut self, old: &SourceId, new: &SourceId) -> Result<(), StateError> {
        self.transaction(|db| {
            db.execute_batch("DELETE FROM queue; DELETE FROM draft; DELETE FROM crawl;")?;
            merge_urls(db, old, new)?;
            for (table, column) in
                [("upstream", "source"), ("url", "source"), ("denied", "source"), ("source", "id")]
            {
                let sql = format!("UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?");
                db.execute(&sql, [new.as_str(), old.as_str()])?;
            }
            Ok(())
        })
    }

    /// Replaces what was taken down: source, URL (`*` for all of it) and date.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn restore_denied(
        &mut self,
        denied: &[(String, String, String)],
    ) -> Result<(), StateError> {
        self.transaction(|db| {
            db.execute("DELETE FROM denied", [])?;
            for (source, url, since) in denied {
                db.execute("INSERT OR REPLACE INTO denied VALUES (?, ?, ?)", [source, url, since])?;
            }
            Ok(())
        })
    }

    /// Forgets how what was taken down answered, and what a run was to read of it.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn forget_denied(&mut self) -> Result<(), StateError> {
        const DENIED: &str = "SELECT url.id FROM url JOIN denied ON denied.source = url.source \
                              AND denied.url IN (url.url, '*')";
        self.transaction(|db| {
            for (table, column) in [("visit", "url"), ("queue", "url"), ("draft", "url")] {
                db.execute(&format!("DELETE FROM {table} WHERE {column} IN ({DENIED})"), [])?;
            }
            let pages = "DELETE FROM page WHERE EXISTS (SELECT 1 FROM denied WHERE \
                         denied.source = page.source AND denied.url IN (page.url, '*'))";
            db.execute(pages, []).map(drop)
        })
    }

    /// URLs of a source that were taken down; `*` is the whole source.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn denied_urls(&self, source: &SourceId) -> Result<Vec<String>, StateError> {
        let query = || {
            let mut statement = self.db.prepare("SELECT url FROM denied WHERE source = ?")?;
            let rows = statement.query_map([source.as_str()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// When a URL of a source was taken down; `None` where it was not.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn denied_since(&self, source: &SourceId, url: &str) -> Result<Option<String>, StateError> {
        let sql = "SELECT since FROM denied WHERE source = ? AND url IN (?, '*')";
        let mut statement = self.db.prepare_cached(sql).map_err(|error| self.error(error))?;
        let found = statement.query_row([source.as_str(), url], |row| row.get(0)).optional();
        found.map_err(|error| self.error(error))
    }
}

const SELECT: &str =
    "SELECT source, repository, commit_id, settings, extractor, pages, trouble FROM upstream";

fn upstream_row(row: &Row<'_>) -> rusqlite::Result<Option<UpstreamRow>> {
    let Ok(source) = SourceId::new(&row.get::<_, String>(0)?) else { return Ok(None) };
    Ok(Some(UpstreamRow {
        source,
        repository: row.get(1)?,
        commit: row.get(2)?,
        settings: row.get(3)?,
        extractor: row.get(4)?,
        pages: row.get::<_, i64>(5)?.cast_unsigned(),
        trouble: row.get(6)?,
    }))
}

/// Gives what the ledger knows of URLs under a source's old name to the same URLs under its
/// new name, where both are there, so that the rest can be renamed.
fn merge_urls(db: &Connection, old: &SourceId, new: &SourceId) -> rusqlite::Result<()> {
    const TWINS: &str = "SELECT old.id AS old_id, new.id AS new_id FROM url AS old \
                         JOIN url AS new ON old.url = new.url AND new.source = ?1 \
                         WHERE old.source = ?2";
    let names = [new.as_str(), old.as_str()];
    let steps = [
        format!(
            "UPDATE OR IGNORE ledger SET url = (SELECT new_id FROM ({TWINS}) WHERE old_id = url) \
             WHERE url IN (SELECT old_id FROM ({TWINS}))"
        ),
        format!("DELETE FROM ledger WHERE url IN (SELECT old_id FROM ({TWINS}))"),
        format!("DELETE FROM known WHERE url IN (SELECT old_id FROM ({TWINS}))"),
        format!("DELETE FROM visit WHERE url IN (SELECT old_id FROM ({TWINS}))"),
        format!("DELETE FROM url WHERE id IN (SELECT old_id FROM ({TWINS}))"),
    ];
    for sql in steps {
        db.execute(&sql, names)?;
    }
    Ok(())
}

/// Writes an upstream.
pub(super) fn store(db: &Connection, row: &UpstreamRow) -> rusqlite::Result<()> {
    db.execute(
        "INSERT OR REPLACE INTO upstream VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![
            row.source.as_str(),
            row.repository,
            row.commit,
            row.settings,
            row.extractor,
            row.pages.cast_signed(),
            row.trouble
        ],
    )
    .map(drop)
}

/// Removes an upstream.
pub(super) fn forget(db: &Connection, source: &SourceId, repository: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM upstream WHERE source = ? AND repository = ?";
    db.execute(sql, [source.as_str(), repository]).map(drop)
}
