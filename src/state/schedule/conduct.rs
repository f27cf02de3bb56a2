//! What was counted of the requests of each run.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Schedule, duration, milliseconds};
use crate::model::{RequestKind, RunId};
use crate::politeness::Millis;
use crate::state::StateError;

/// Requests of one kind to one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them, retries included.
    pub requests: u64,
    /// Those that repeated one that had failed.
    pub retries: u64,
    /// Those without an answer that could be used: 408, 425, 429, 5xx, or none at all.
    pub failures: u64,
    /// Bytes of bodies, as they were sent.
    pub bytes: u64,
    /// Connections that were begun; of Git, which does not tell, none are counted.
    pub connections: u64,
}

/// One request that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The run; 0 outside of runs.
    pub run: RunId,
    /// What it was made for.
    pub kind: RequestKind,
    /// What it adds.
    pub tally: Tally,
    /// Its start and its end.
    pub span: (Millis, Millis),
    /// Time from the end of the one before it to its start, where there was one.
    pub gap: Option<Millis>,
    /// Requests that were under way on the host at once, itself included.
    pub at_once: u32,
    /// Pace in force.
    pub pace: Duration,
    /// Crawl-delay in force.
    pub crawl_delay: Duration,
}

/// How a host was treated in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConduct {
    /// The host.
    pub host: String,
    /// What was asked for, by kind.
    pub kinds: Vec<(RequestKind, Tally)>,
    /// Least time from the end of a request to the start of the next.
    pub least_gap: Option<Millis>,
    /// Most requests at once.
    pub most_at_once: u32,
    /// Start of the first request and end of the last.
    pub span: (Millis, Millis),
    /// Pace in force at the last request.
    pub pace: Duration,
    /// Crawl-delay in force at the last request.
    pub crawl_delay: Duration,
}

/// Adds a request to its run.
pub(super) fn count(db: &Connection, host: &str, counted: &Counted) -> rusqlite::Result<()> {
    let Counted { run, kind, tally, span, gap, at_once, pace, crawl_delay } = counted;
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    db.prepare_cached(
        "INSERT INTO conduct VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
             retries = retries + excluded.retries, failures = failures + excluded.failures,
             bytes = bytes + excluded.bytes, connections = connections + excluded.connections",
    )?
    .execute(params![
        run.0,
        host,
        kind.name(),
        number(tally.requests),
        number(tally.retries),
        number(tally.failures),
        number(tally.bytes),
        number(tally.connections),
    ])?;
    db.prepare_cached(
        "INSERT INTO conduct_host VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT DO UPDATE SET
             least_gap = min(ifnull(least_gap, excluded.least_gap),
                             ifnull(excluded.least_gap, least_gap)),
             most_at_once = max(most_at_once, excluded.most_at_once),
             last_at = max(last_at, excluded.last_at),
             pace = excluded.pace, crawl_delay = excluded.crawl_delay",
    )?
    .execute(params![
        run.0,
        host,
        gap,
        at_once,
        span.0,
        span.1,
        milliseconds(*pace),
        milliseconds(*crawl_delay),
    ])?;
    Ok(())
}

/// Forgets what was counted under a number, and for a run also under later ones.
pub(super) fn forget(db: &Connection, run: RunId) -> rusqlite::Result<()> {
    let which = if run > RunId(0) { "run >= ?1" } else { "run = ?1" };
    for table in ["conduct", "conduct_host"] {
        db.execute(&format!("DELETE FROM {table} WHERE {which}"), [run.0])?;
    }
    Ok(())
}

impl Schedule {
    /// The last run that made a request; 0 where only commands outside of runs did, `None`
    /// where nobody did.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn last_run(&self) -> Result<Option<RunId>, StateError> {
        let found = self.db.query_row("SELECT max(run) FROM conduct", [], |row| row.get(0));
        let found: Option<Option<i64>> = found.optional().map_err(|error| self.error(error))?;
        Ok(found.flatten().map(RunId))
    }

    /// How the hosts of a run were treated, by name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn conduct(&self, run: RunId) -> Result<Vec<HostConduct>, StateError> {
        self.hosts_of(run).map_err(|error| self.error(error))
    }

    fn hosts_of(&self, run: RunId) -> rusqlite::Result<Vec<HostConduct>> {
        let mut hosts = self.db.prepare_cached(
            "SELECT host, least_gap, most_at_once, first_at, last_at, pace, crawl_delay
             FROM conduct_host WHERE run = ?1 ORDER BY host",
        )?;
        let mut found = Vec::new();
        for host in hosts.query_map([run.0], host_conduct)? {
            let host = host?;
            let mut kinds = self.db.prepare_cached(
                "SELECT kind, requests, retries, failures, bytes, connections
                 FROM conduct WHERE run = ?1 AND host = ?2",
            )?;
            let kinds = kinds.query_map(params![run.0, host.host], tally)?;
            let mut kinds = kinds.collect::<rusqlite::Result<Vec<_>>>()?;
            kinds.sort_by_key(|(kind, _)| *kind);
            found.push(HostConduct { kinds, ..host });
        }
        Ok(found)
    }
}

fn host_conduct(row: &Row<'_>) -> rusqlite::Result<HostConduct> {
    Ok(HostConduct {
        host: row.get(0)?,
        kinds: Vec::new(),
        least_gap: row.get(1)?,
        most_at_once: row.get(2)?,
        span: (row.get(3)?, row.get(4)?),
        pace: duration(row.get(5)?),
        crawl_delay: duration(row.get(6)?),
    })
}

fn tally(row: &Row<'_>) -> rusqlite::Result<(RequestKind, Tally)> {
    let name: String = row.get(0)?;
    let number = |at| row.get(at).map(|n: i64| u64::try_from(n).unwrap_or(0));
    let tally = Tally {
        requests: number(1)?,
        retries: number(2)?,
        failures: number(3)?,
        bytes: number(4)?,
        connections: number(5)?,
    };
    Ok((RequestKind::from_name(&name).unwrap_or(RequestKind::Page), tally))
}
