//! What is remembered of the URLs of sites: that they exist, and how they answered last.
//!
//! That a URL exists is written down as soon as it is known. How it answered is believed
//! only with the commit that holds its text (see [`Draft`](super::Draft)).

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{State, StateError};
use crate::model::{
    Known, Move, OutcomeKind, SourceId, Timestamp, UrlId, UrlKind, Validators, Visit,
};

/// A URL of a site with all that is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteUrl {
    /// Its number.
    pub id: UrlId,
    /// The URL.
    pub url: String,
    /// How it is reached; `None` where only other runs' ledger names it.
    pub known: Option<Known>,
    /// How it answered last.
    pub visit: Option<Visit>,
    /// Whether the open run is still going to read it.
    pub queued: bool,
    /// Whether the open run has dealt with it.
    pub drafted: bool,
}

impl SiteUrl {
    /// A URL of which nothing is known.
    #[must_use]
    pub fn unknown(id: UrlId, url: impl Into<String>) -> Self {
        let url = url.into();
        Self { id, url, known: None, visit: None, queued: false, drafted: false }
    }
}

/// The columns of a visit, in the order in which [`visit_at`] reads them.
pub(super) const VISIT: [&str; 15] = [
    "outcome",
    "stored",
    "looked",
    "read",
    "lastmod",
    "rules",
    "form",
    "etag",
    "last_modified",
    "followed",
    "text",
    "gone_since",
    "moved_to",
    "moved_status",
    "moved_since",
];

fn select(filter: &str) -> String {
    let visit = VISIT.map(|column| format!("visit.{column}")).join(", ");
    format!(
        "SELECT url.id, url.url, queue.url IS NOT NULL, draft.url IS NOT NULL, known.kind, \
         known.depth, known.sitemap, known.listed, {visit} FROM url \
         LEFT JOIN known ON known.url = url.id LEFT JOIN visit ON visit.url = url.id \
         LEFT JOIN queue ON queue.url = url.id LEFT JOIN draft ON draft.url = url.id {filter}"
    )
}

fn site_url(row: &Row<'_>) -> rusqlite::Result<SiteUrl> {
    let known = match row.get::<_, Option<String>>(4)? {
        None => None,
        Some(kind) => Some(Known {
            kind: UrlKind::from_name(&kind),
            depth: row.get(5)?,
            sitemap: row.get::<_, Option<i64>>(6)?.map(UrlId),
            listed: row.get(7)?,
        }),
    };
    Ok(SiteUrl {
        id: UrlId(row.get(0)?),
        url: row.get(1)?,
        queued: row.get(2)?,
        drafted: row.get(3)?,
        known,
        visit: visit_at(row, 8)?,
    })
}

/// The visit whose columns begin at `at`.
pub(super) fn visit_at(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Visit>> {
    let Some(outcome) = row.get::<_, Option<String>>(at)? else { return Ok(None) };
    if row.get::<_, Option<bool>>(at + 1)?.is_none() {
        return Ok(None);
    }
    let time = |column: usize| -> rusqlite::Result<Option<Timestamp>> {
        Ok(row.get::<_, Option<i64>>(at + column)?.and_then(Timestamp::from_unix))
    };
    let moved = match (row.get::<_, Option<String>>(at + 12)?, time(14)?) {
        (Some(to), Some(since)) => Some(Move { to, status: row.get(at + 13)?, since }),
        _ => None,
    };
    Ok(Some(Visit {
        outcome: OutcomeKind::from_name(&outcome).unwrap_or(OutcomeKind::Failed),
        stored: row.get(at + 1)?,
        looked: time(2)?.unwrap_or(Timestamp::EPOCH),
        read: time(3)?.unwrap_or(Timestamp::EPOCH),
        lastmod: row.get(at + 4)?,
        rules: row.get(at + 5)?,
        form: row.get(at + 6)?,
        validators: Validators { etag: row.get(at + 7)?, last_modified: row.get(at + 8)? },
        followed: row.get(at + 9)?,
        text: row.get(at + 10)?,
        gone_since: time(11)?,
        moved,
    }))
}

impl State {
    /// What is known of a URL of a site.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn site_url(&self, source: &SourceId, url: &str) -> Result<Option<SiteUrl>, StateError> {
        let query = || {
            static SQL: LazyLock<String> =
                LazyLock::new(|| select("WHERE url.source = ? AND url.url = ?"));
            let mut statement = self.db.prepare_cached(&SQL)?;
            statement.query_row([source.as_str(), url], site_url).optional()
        };
        query().map_err(|error| self.error(error))
    }

    /// The same, by its number.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn site_url_of(&self, id: UrlId) -> Result<Option<SiteUrl>, StateError> {
        let query = || {
            static SQL: LazyLock<String> = LazyLock::new(|| select("WHERE url.id = ?"));
            let mut statement = self.db.prepare_cached(&SQL)?;
            statement.query_row([id.0], site_url).optional()
        };
        query().map_err(|error| self.error(error))
    }

    /// The next URLs that are known of a site, in order of their numbers: those behind
    /// `after`, at most `most`.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn known_urls(
        &self,
        source: &SourceId,
        after: UrlId,
        most: u32,
    ) -> Result<Vec<SiteUrl>, StateError> {
        let query = || {
            // Along the numbers: the index by source and text is in another order.
            let sql = select(
                "WHERE known.url IS NOT NULL AND +url.source = ? AND url.id > ? \
                 ORDER BY url.id LIMIT ?",
            );
            let mut statement = self.db.prepare_cached(&sql)?;
            let rows = statement.query_map(params![source.as_str(), after.0, most], site_url)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// The next URLs that a sitemap lists, as [`State::known_urls`].
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn listed_urls(
        &self,
        sitemap: UrlId,
        after: UrlId,
        most: u32,
    ) -> Result<Vec<SiteUrl>, StateError> {
        let query = || {
            let sql =
                select("WHERE known.sitemap = ? AND known.url > ? ORDER BY known.url LIMIT ?");
            let mut statement = self.db.prepare_cached(&sql)?;
            let rows = statement.query_map(params![sitemap.0, after.0, most], site_url)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Pages of a source that the archive has and of whose URLs nothing is known: place and
    /// URL.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn unknown_pages(&self, source: &SourceId) -> Result<Vec<String>, StateError> {
        let query = || {
            let sql = "SELECT page.url FROM page \
                       LEFT JOIN url ON url.source = page.source AND url.url = page.url \
                       LEFT JOIN known ON known.url = url.id \
                       WHERE page.source = ? AND known.url IS NULL ORDER BY page.url";
            let mut statement = self.db.prepare_cached(sql)?;
            let rows = statement.query_map([source.as_str()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Notes that a URL exists; gives its number.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn note_known(
        &mut self,
        (source, url): (&SourceId, &str),
        known: &Known,
    ) -> Result<UrlId, StateError> {
        let write = || {
            let id = url_id(&self.db, source.as_str(), url)?;
            store_known(&self.db, id, known)?;
            Ok(UrlId(id))
        };
        write().map_err(|error| self.error(error))
    }

    /// Notes how a URL is reached now.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn update_known(&mut self, id: UrlId, known: &Known) -> Result<(), StateError> {
        store_known(&self.db, id.0, known).map_err(|error| self.error(error))
    }

    /// How many pages of a site are known, and how many of these were read at least once.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn site_progress(&self, source: &SourceId) -> Result<(u64, u64), StateError> {
        let query = || {
            let sql = "SELECT count(*), count(CASE WHEN visit.read > 0 THEN 1 END) FROM known \
                       JOIN url ON url.id = known.url LEFT JOIN visit ON visit.url = known.url \
                       WHERE url.source = ? AND known.kind = 'page'";
            self.db.query_row(sql, [source.as_str()], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
            })
        };
        query().map_err(|error| self.error(error))
    }
}

/// The number of a URL of a source, which is made where there is none.
pub(super) fn url_id(db: &Connection, source: &str, url: &str) -> rusqlite::Result<i64> {
    let mut found = db.prepare_cached("SELECT id FROM url WHERE source = ? AND url = ?")?;
    if let Some(id) = found.query_row([source, url], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    db.prepare_cached("INSERT INTO url (source, url) VALUES (?, ?)")?.execute([source, url])?;
    Ok(db.last_insert_rowid())
}

fn store_known(db: &Connection, id: i64, known: &Known) -> rusqlite::Result<()> {
    let sitemap = known.sitemap.map(|id| id.0);
    db.prepare_cached("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?)")?
        .execute(params![id, known.kind.name(), known.depth, sitemap, known.listed])
        .map(drop)
}
