//! The open run over sites: what it still reads, and what it learnt so far.
//!
//! From [`State::begin_crawl`] on everything is written in one transaction, which each
//! checkpoint ends and begins anew: after a kill the state is that of the last checkpoint,
//! and what was received since then stands in the [`Spool`](super::Spool).

use rusqlite::{OptionalExtension, Row, params};

use super::drafts;
use super::{State, StateError};
use crate::model::{RunId, SourceId, Timestamp, UrlId};

/// A run over sites that did not come to its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crawl {
    /// The run.
    pub run: RunId,
    /// Its start.
    pub started: Timestamp,
    /// Fingerprint of its configuration.
    pub settings: i64,
    /// The sources that it reads.
    pub sources: Vec<String>,
}

/// A URL that waits to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The host that is asked for it.
    pub host: &'a str,
    /// Its source.
    pub source: &'a SourceId,
    /// The smallest is read first.
    pub class: u8,
    /// Within its class the smallest is read first.
    pub rank: i64,
    /// Permanent redirects on the way to it.
    pub hops: u8,
}

impl State {
    /// The run that can be gone on with.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn open_crawl(&self) -> Result<Option<Crawl>, StateError> {
        let query = || {
            let sql = "SELECT run.id, run.started, crawl.settings, crawl.sources FROM crawl \
                       JOIN run ON run.id = crawl.run WHERE run.phase = 'open'";
            self.db.query_row(sql, [], crawl).optional()
        };
        query().map_err(|error| self.error(error))
    }

    /// Begins to crawl, durably, for a run; without one, nothing of it will be kept.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn begin_crawl(
        &mut self,
        run: Option<RunId>,
        settings: i64,
        sources: &[&SourceId],
    ) -> Result<(), StateError> {
        let ids: Vec<&str> = sources.iter().map(|id| id.as_str()).collect();
        let begin = |state: &Self| -> rusqlite::Result<()> {
            state.db.execute_batch("BEGIN IMMEDIATE; DELETE FROM queue; DELETE FROM draft;")?;
            let Some(run) = run else { return Ok(()) };
            state.db.execute("DELETE FROM crawl", [])?;
            state.db.execute(
                "INSERT INTO crawl VALUES (?, ?, ?)",
                params![run.0, settings, ids.join(" ")],
            )?;
            state.db.execute_batch("COMMIT; BEGIN IMMEDIATE;")
        };
        begin(self).map_err(|error| self.error(error))
    }

    /// Goes on with a crawl that was left.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn resume_crawl(&mut self) -> Result<(), StateError> {
        let sql = "BEGIN IMMEDIATE; UPDATE queue SET taken = 0 WHERE taken = 1;";
        self.db.execute_batch(sql).map_err(|error| self.error(error))
    }

    /// Brings what was written since the last checkpoint to disk.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn checkpoint_crawl(&mut self) -> Result<(), StateError> {
        self.db.execute_batch("COMMIT; BEGIN IMMEDIATE;").map_err(|error| self.error(error))
    }

    /// Ends the transaction of a crawl; what it learnt becomes true with the commit.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn end_crawl(&mut self) -> Result<(), StateError> {
        if self.db.is_autocommit() {
            return Ok(());
        }
        self.db.execute_batch("COMMIT").map_err(|error| self.error(error))
    }

    /// Forgets what was written since the last checkpoint.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn roll_back_crawl(&mut self) -> Result<(), StateError> {
        if self.db.is_autocommit() {
            return Ok(());
        }
        self.db.execute_batch("ROLLBACK").map_err(|error| self.error(error))
    }

    /// Forgets a crawl with all that it learnt.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn drop_crawl(&mut self) -> Result<(), StateError> {
        self.transaction(|db| {
            db.execute_batch("DELETE FROM queue; DELETE FROM draft; DELETE FROM crawl;")
        })
    }

    /// Puts a URL into the queue, or to another place in it; tells whether it was in none.
    /// One that is being read stays where it is.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn enqueue(&mut self, id: UrlId, place: &Place<'_>) -> Result<bool, StateError> {
        let write = || {
            let mut find = self.db.prepare_cached("SELECT taken FROM queue WHERE url = ?")?;
            let taken: Option<bool> = find.query_row([id.0], |row| row.get(0)).optional()?;
            if taken == Some(true) {
                return Ok(false);
            }
            if taken == Some(false) {
                self.db.prepare_cached("DELETE FROM queue WHERE url = ?")?.execute([id.0])?;
            }
            let sql = "INSERT INTO queue (host, source, class, rank, url, hops) \
                       VALUES (?, ?, ?, ?, ?, ?)";
            let source = place.source.as_str();
            self.db.prepare_cached(sql)?.execute(params![
                place.host,
                source,
                place.class,
                place.rank,
                id.0,
                place.hops
            ])?;
            Ok(taken.is_none())
        };
        write().map_err(|error| self.error(error))
    }

    /// Takes the next URL of a source on a host, with its class and the permanent redirects
    /// on the way to it. It stays in the queue until it is drafted.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn take(
        &mut self,
        host: &str,
        source: &SourceId,
    ) -> Result<Option<(UrlId, u8, u8)>, StateError> {
        let take = || {
            let sql = "SELECT url, class, hops FROM queue WHERE host = ? AND source = ? AND taken = 0 \
                       ORDER BY class, rank, url LIMIT 1";
            let row = self
                .db
                .prepare_cached(sql)?
                .query_row([host, source.as_str()], |row| {
                    Ok((UrlId(row.get(0)?), row.get(1)?, row.get(2)?))
                })
                .optional()?;
            if let Some((id, _, _)) = row {
                self.db
                    .prepare_cached("UPDATE queue SET taken = 1 WHERE url = ?")?
                    .execute([id.0])?;
            }
            Ok(row)
        };
        take().map_err(|error| self.error(error))
    }

    /// Lets a URL that was taken wait again.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn give_back(&mut self, id: UrlId) -> Result<(), StateError> {
        let done = self.db.execute("UPDATE queue SET taken = 0 WHERE url = ?", [id.0]);
        done.map(drop).map_err(|error| self.error(error))
    }

    /// How many URLs of the first class wait for a source.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn waiting_first(&self, source: &SourceId) -> Result<u64, StateError> {
        let sql = "SELECT count(*) FROM queue WHERE source = ? AND class = 0";
        let count = self.db.query_row(sql, [source.as_str()], |row| row.get::<_, i64>(0));
        count.map(i64::cast_unsigned).map_err(|error| self.error(error))
    }

    /// How many URLs wait, by host and source.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn waiting(&self) -> Result<Vec<(String, String, u64)>, StateError> {
        let query = || {
            let sql = "SELECT host, source, count(*) FROM queue GROUP BY host, source";
            let mut statement = self.db.prepare(sql)?;
            statement
                .query_map([], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.cast_unsigned()))
                })?
                .collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Writes the rest of the queue down as left for a later run, each for a reason that
    /// belongs to its host and source; gives how many there were.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn defer_rest(
        &mut self,
        host: &str,
        source: &SourceId,
        reason: &str,
    ) -> Result<u64, StateError> {
        let write = || drafts::defer(&self.db, (host, source.as_str()), reason);
        write().map_err(|error| self.error(error))
    }
}

fn crawl(row: &Row<'_>) -> rusqlite::Result<Crawl> {
    let sources: String = row.get(3)?;
    Ok(Crawl {
        run: RunId(row.get(0)?),
        started: Timestamp::parse(&row.get::<_, String>(1)?).unwrap_or(Timestamp::EPOCH),
        settings: row.get(2)?,
        sources: sources.split_whitespace().map(str::to_owned).collect(),
    })
}
