//! What was learnt about each URL, as intervals of runs with the same outcome.

use rusqlite::{Connection, params};

use super::visits::url_id;
use super::{State, StateError};
use crate::model::{Outcome, OutcomeKind, RunId, SourceId};

/// What a run learnt about one URL of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The source.
    pub source: SourceId,
    /// The URL.
    pub url: String,
    /// The outcome and its reason.
    pub outcome: Outcome,
}

/// Consecutive recordings of one outcome. It stands until the next interval begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The source.
    pub source: String,
    /// The first run with it.
    pub first: RunId,
    /// The last run in which it was recorded.
    pub last: RunId,
    /// The outcome and its reason.
    pub outcome: Outcome,
}

impl State {
    /// The intervals of a URL in all sources, oldest first.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn intervals(&self, url: &str) -> Result<Vec<Interval>, StateError> {
        let query = || {
            let sql = "SELECT source, first_run, last_run, outcome, reason FROM ledger \
                       JOIN url ON url.id = ledger.url WHERE url.url = ? ORDER BY source, first_run";
            let mut statement = self.db.prepare(sql)?;
            let rows = statement.query_map([url], |row| {
                let kind = OutcomeKind::from_name(&row.get::<_, String>(3)?)
                    .unwrap_or(OutcomeKind::Failed);
                Ok(Interval {
                    source: row.get(0)?,
                    first: RunId(row.get(1)?),
                    last: RunId(row.get(2)?),
                    outcome: Outcome::new(kind, row.get::<_, String>(4)?),
                })
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// URLs of a source whose newest outcome is of that kind, with the reason, in order.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn urls_with(
        &self,
        source: &SourceId,
        kind: OutcomeKind,
    ) -> Result<Vec<(String, String)>, StateError> {
        let query = || {
            let sql = "SELECT url.url, reason FROM ledger JOIN url ON url.id = ledger.url \
                       WHERE source = ?1 AND outcome = ?2 AND first_run = \
                       (SELECT max(first_run) FROM ledger AS newer WHERE newer.url = ledger.url) \
                       ORDER BY url.url";
            let mut statement = self.db.prepare(sql)?;
            let rows = statement
                .query_map([source.as_str(), kind.name()], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }
}

/// Records one outcome: the newest interval grows where it is the same outcome.
pub(super) fn record(
    db: &Connection,
    run: RunId,
    (source, url): (&str, &str),
    outcome: &Outcome,
) -> rusqlite::Result<()> {
    let id = url_id(db, source, url)?;
    record_for(db, run, id, outcome)
}

/// Records one outcome of the URL with that number.
pub(super) fn record_for(
    db: &Connection,
    run: RunId,
    id: i64,
    outcome: &Outcome,
) -> rusqlite::Result<()> {
    let (kind, reason) = (outcome.kind.name(), &outcome.reason);
    let grown = db
        .prepare_cached(
            "UPDATE ledger SET last_run = ?2 WHERE url = ?1 AND outcome = ?3 AND reason = ?4 AND \
             first_run = (SELECT max(first_run) FROM ledger WHERE url = ?1)",
        )?
        .execute(params![id, run.0, kind, reason])?;
    if grown == 0 {
        db.prepare_cached("INSERT OR REPLACE INTO ledger VALUES (?1, ?2, ?2, ?3, ?4)")?
            .execute(params![id, run.0, kind, reason])?;
    }
    Ok(())
}
