//! robots.txt of each origin, as it was read last.

use rusqlite::{Row, params};

use super::Schedule;
use crate::politeness::Millis;
use crate::state::StateError;

/// What robots.txt of an origin said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsRow {
    /// The origin.
    pub origin: String,
    /// Its host.
    pub host: String,
    /// When it was asked for.
    pub read_at: Millis,
    /// `read`, `absent` or `unreachable`.
    pub standing: String,
    /// Why it is unreachable.
    pub reason: Option<String>,
    /// The file, where it was read.
    pub text: Option<Vec<u8>>,
}

impl Schedule {
    /// Keeps what an origin said, in place of what it said before.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_robots(&mut self, row: &RobotsRow) -> Result<(), StateError> {
        let insert = "INSERT OR REPLACE INTO robots (origin, host, read_at, standing, reason, text)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.transaction(|db| {
            db.prepare_cached(insert)?
                .execute(params![
                    row.origin,
                    row.host,
                    row.read_at,
                    row.standing,
                    row.reason,
                    row.text
                ])
                .map(drop)
        })
    }

    /// What the origins of a host said, by name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn robots_of(&self, host: &str) -> Result<Vec<RobotsRow>, StateError> {
        let read = || -> rusqlite::Result<Vec<RobotsRow>> {
            let mut statement = self.db.prepare_cached(
                "SELECT origin, host, read_at, standing, reason, text FROM robots
                 WHERE host = ?1 ORDER BY origin",
            )?;
            statement.query_map([host], robots_row)?.collect()
        };
        read().map_err(|error| self.error(error))
    }
}

fn robots_row(row: &Row<'_>) -> rusqlite::Result<RobotsRow> {
    Ok(RobotsRow {
        origin: row.get(0)?,
        host: row.get(1)?,
        read_at: row.get(2)?,
        standing: row.get(3)?,
        reason: row.get(4)?,
        text: row.get(5)?,
    })
}
