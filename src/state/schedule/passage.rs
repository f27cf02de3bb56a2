//! Requests that passed the limits of policies, as long as they count.

use rusqlite::{Connection, Row, params};

use super::lease::{self, SavedLease};
use super::{Lease, milliseconds};
use crate::politeness::{Gate, Millis, Passage};

/// What becomes of the passages of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtGates {
    /// Nothing.
    AsTheyAre,
    /// It passes each gate now.
    Begun {
        /// Whether it asks for something new.
        fresh: bool,
    },
    /// It has ended: until when nothing passes each gate because of it.
    Ended(Vec<Millis>),
}

/// How long a request of a process that is gone counts at gates that nobody looked at since.
const LOST: Millis = 3_600_000;

/// What passed each of some gates. A request whose process is gone ends now.
pub(super) fn load(
    db: &Connection,
    gates: &[Gate],
    (own, now): (&str, Millis),
) -> rusqlite::Result<Vec<Vec<Passage>>> {
    gates.iter().map(|gate| passages(db, gate, (own, now))).collect()
}

fn passages(
    db: &Connection,
    gate: &Gate,
    (own, now): (&str, Millis),
) -> rusqlite::Result<Vec<Passage>> {
    // What a clock wrote that was set back since counts as of now.
    db.prepare_cached(
        "UPDATE passage SET started_at = min(started_at, ?2), ended_at = min(ended_at, ?2),
             hold_until = hold_until - max(ifnull(ended_at, started_at) - ?2, 0),
             forget_at = forget_at - max(ifnull(ended_at, started_at) - ?2, 0)
         WHERE gate = ?1 AND (started_at > ?2 OR ended_at > ?2)",
    )?
    .execute(params![gate.name, now])?;
    let mut statement = db.prepare_cached(
        "SELECT passage.started_at, passage.ended_at, hold_until, fresh, passage.host,
             host.holder, host.lease_until
         FROM passage LEFT JOIN host ON host.host = passage.host WHERE gate = ?1",
    )?;
    let rows = statement.query_map([&gate.name], |row| {
        let lease: SavedLease = (row.get(5)?, row.get(6)?);
        Ok((passage(row)?, row.get::<_, String>(4)?, lease))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (mut passage, host, saved) = row?;
        if passage.ended_at.is_none() && lease::of(&saved, own, now) != Lease::Held {
            passage.ended_at = Some(now);
            passage.hold_until = gate.hold_until((passage.started_at, now), None);
            end(db, (gate, &host), (now, passage.hold_until))?;
        }
        found.push(passage);
    }
    Ok(found)
}

fn passage(row: &Row<'_>) -> rusqlite::Result<Passage> {
    Ok(Passage {
        started_at: row.get(0)?,
        ended_at: row.get(1)?,
        hold_until: row.get(2)?,
        fresh: row.get(3)?,
    })
}

/// Ends the request that a host has under way.
fn end(
    db: &Connection,
    (gate, host): (&Gate, &str),
    (now, hold_until): (Millis, Millis),
) -> rusqlite::Result<()> {
    let forget_at = now.saturating_add(milliseconds(gate.memory()));
    db.prepare_cached(
        "UPDATE passage SET ended_at = ?3, hold_until = ?4, forget_at = ?5
         WHERE gate = ?1 AND host = ?2 AND ended_at IS NULL",
    )?
    .execute(params![gate.name, host, now, hold_until, forget_at])
    .map(drop)
}

/// Writes what becomes of the request of a host.
pub(super) fn save(
    db: &Connection,
    (gates, host): (&[Gate], &str),
    (now, change): (Millis, &AtGates),
) -> rusqlite::Result<()> {
    match change {
        AtGates::AsTheyAre => Ok(()),
        AtGates::Begun { fresh } => {
            // One request at a time: whatever else the host had under way is over.
            db.prepare_cached(
                "UPDATE passage SET ended_at = ?2, forget_at = ?3
                 WHERE host = ?1 AND ended_at IS NULL",
            )?
            .execute(params![host, now, now.saturating_add(LOST)])?;
            for gate in gates {
                db.prepare_cached("DELETE FROM passage WHERE gate = ?1 AND forget_at <= ?2")?
                    .execute(params![gate.name, now])?;
                db.prepare_cached("INSERT INTO passage VALUES (?1, ?2, ?3, NULL, ?3, NULL, ?4)")?
                    .execute(params![gate.name, host, now, fresh])?;
            }
            Ok(())
        }
        AtGates::Ended(holds) => {
            let mut each = gates.iter().zip(holds);
            each.try_for_each(|(gate, hold)| end(db, (gate, host), (now, *hold)))
        }
    }
}
