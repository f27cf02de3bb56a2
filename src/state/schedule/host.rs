//! Rows of hosts.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::lease::{self, SavedLease};
use super::{HostRow, duration, milliseconds};
use crate::politeness::{CrawlDelay, HostState, Millis, Parked, Reason};

type CrawlDelays = BTreeMap<String, CrawlDelay>;

/// What a host's row held, where that is needed to write it.
pub(super) struct Before {
    pub lease: SavedLease,
    pub crawl_delays: CrawlDelays,
}

/// Reads a host.
pub(super) fn load(
    db: &Connection,
    (host, source): (&str, &str),
    (own, now): (&str, Millis),
) -> rusqlite::Result<(HostRow, Before)> {
    let mut statement = db.prepare_cached(
        "SELECT pace, backoff, failures, started_at, ended_at, next_at, parked, parked_until,
             holder, lease_until FROM host WHERE host = ?1",
    )?;
    let found = statement
        .query_row([host], |row| Ok((state(row)?, (row.get(8)?, row.get(9)?))))
        .optional()?;
    let (mut state, saved): (_, SavedLease) = found.unwrap_or_default();
    state.crawl_delays = crawl_delays(db, host)?;
    let lease = lease::of(&saved, own, now);
    let before = Before { lease: saved, crawl_delays: state.crawl_delays.clone() };
    let stopped = is_stopped(db, (host, source))?;
    Ok((HostRow { state, lease, stopped, passages: Vec::new() }, before))
}

fn state(row: &Row<'_>) -> rusqlite::Result<HostState> {
    let parked: Option<String> = row.get(6)?;
    // A name of a later version still means that the host is left alone.
    let reason = parked.map(|name| Reason::from_name(&name).unwrap_or(Reason::Failures));
    let until = row.get(7)?;
    Ok(HostState {
        pace: duration(row.get(0)?),
        crawl_delays: CrawlDelays::new(),
        backoff: duration(row.get(1)?),
        failures: row.get(2)?,
        started_at: row.get(3)?,
        ended_at: row.get(4)?,
        next_at: row.get(5)?,
        parked: reason.map(|reason| Parked { reason, until }),
    })
}

fn crawl_delays(db: &Connection, host: &str) -> rusqlite::Result<CrawlDelays> {
    let mut statement =
        db.prepare_cached("SELECT origin, delay, inherited FROM crawl_delay WHERE host = ?1")?;
    let rows = statement.query_map([host], |row| {
        Ok((row.get(0)?, CrawlDelay { delay: duration(row.get(1)?), inherited: row.get(2)? }))
    })?;
    rows.collect()
}

/// Hosts that are left for a later run, by name, and why.
pub(super) fn parked(db: &Connection) -> rusqlite::Result<Vec<(String, Parked)>> {
    let sql = "SELECT host, parked, parked_until FROM host WHERE parked IS NOT NULL ORDER BY host";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let reason = Reason::from_name(&row.get::<_, String>(1)?).unwrap_or(Reason::Failures);
        Ok((row.get(0)?, Parked { reason, until: row.get(2)? }))
    })?;
    rows.collect()
}

/// Whether somebody stopped the host, or the source.
pub(super) fn is_stopped(db: &Connection, (host, source): (&str, &str)) -> rusqlite::Result<bool> {
    let mut statement = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM stop
             WHERE (kind = 'host' AND name = ?1) OR (kind = 'source' AND name = ?2))",
    )?;
    statement.query_row([host, source], |row| row.get(0))
}

/// Writes a host; `before` is what its origins asked for when it was read.
pub(super) fn save(
    db: &Connection,
    host: &str,
    (state, before): (&HostState, &CrawlDelays),
    (holder, until): &SavedLease,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO host (host, pace, backoff, failures, started_at, ended_at,
             next_at, parked, parked_until, holder, lease_until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        host,
        milliseconds(state.pace),
        milliseconds(state.backoff),
        state.failures,
        state.started_at,
        state.ended_at,
        state.next_at,
        state.parked.map(|parked| parked.reason.name()),
        state.parked.and_then(|parked| parked.until),
        holder,
        until,
    ])?;
    if state.crawl_delays == *before {
        return Ok(());
    }
    db.execute("DELETE FROM crawl_delay WHERE host = ?1", [host])?;
    for (origin, asked) in &state.crawl_delays {
        db.prepare_cached("INSERT INTO crawl_delay VALUES (?1, ?2, ?3, ?4)")?.execute(params![
            host,
            origin,
            milliseconds(asked.delay),
            asked.inherited
        ])?;
    }
    Ok(())
}
