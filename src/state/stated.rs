//! What sitemaps state of changes, and how often they were right.

use rusqlite::{OptionalExtension, params};

use super::{State, StateError};
use crate::model::{Record, Spread, Stated, UrlId};

impl State {
    /// What is remembered of the times that a sitemap states; nothing where it was never
    /// read.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn stated(&self, sitemap: UrlId) -> Result<Option<Stated>, StateError> {
        let query = || {
            let sql = "SELECT spread, kept, missed, hits, alarms FROM stated WHERE sitemap = ?";
            let mut statement = self.db.prepare_cached(sql)?;
            let found = statement.query_row([sitemap.0], |row| {
                Ok(Stated {
                    spread: Spread::from_name(&row.get::<_, String>(0)?),
                    record: Record {
                        kept: row.get(1)?,
                        missed: row.get(2)?,
                        hits: row.get(3)?,
                        alarms: row.get(4)?,
                    },
                })
            });
            found.optional()
        };
        query().map_err(|error| self.error(error))
    }

    /// Remembers it.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn note_stated(&mut self, sitemap: UrlId, stated: &Stated) -> Result<(), StateError> {
        let write = || {
            let Record { kept, missed, hits, alarms } = stated.record;
            let sql = "INSERT OR REPLACE INTO stated VALUES (?, ?, ?, ?, ?, ?)";
            let row = params![sitemap.0, stated.spread.name(), kept, missed, hits, alarms];
            self.db.prepare_cached(sql)?.execute(row)
        };
        write().map(drop).map_err(|error| self.error(error))
    }
}
