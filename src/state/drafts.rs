//! What the open run learnt of each URL of a site. It becomes true with the run's commit.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::ledger::record_for;
use super::pages::{decode_sketch, encode_sketch};
use super::visits::VISIT;
use super::{State, StateError};
use crate::model::{Counts, Outcome, OutcomeKind, RunId, SourceId, Timestamp, UrlId, Visit};

/// What happens to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeChange {
    /// Nothing.
    None,
    /// A page is new.
    Added,
    /// A page, or its links, are other ones.
    Edited,
    /// A page leaves.
    Removed,
}

impl TreeChange {
    const ALL: [(Self, &'static str); 4] = [
        (Self::None, "none"),
        (Self::Added, "added"),
        (Self::Edited, "edited"),
        (Self::Removed, "removed"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("none", |(_, name)| name)
    }
}

/// The files of a page that was put: ids in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftFiles {
    /// The page.
    pub page: String,
    /// Its links.
    pub links: String,
    /// Its links without text; of private pages only.
    pub public_links: Option<String>,
    /// Hashes of a private page's text.
    pub sketch: Option<Vec<u64>>,
}

/// What the open run learnt of one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The outcome with its reason.
    pub outcome: Outcome,
    /// What happens to the tree.
    pub change: TreeChange,
    /// The page's place below its source's folder, where something happens to it.
    pub path: Option<String>,
    /// Its files, where they are put.
    pub files: Option<DraftFiles>,
    /// What is remembered from the commit on, in place of what was; `None` changes nothing.
    pub visit: Option<Visit>,
}

impl Draft {
    /// A draft of what happened to nothing but the ledger.
    #[must_use]
    pub fn only(outcome: Outcome) -> Self {
        Self { outcome, change: TreeChange::None, path: None, files: None, visit: None }
    }
}

/// A page of the tree that the open run changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftedPage {
    /// The URL.
    pub id: UrlId,
    /// The URL as text.
    pub url: String,
    /// Its place below its source's folder.
    pub path: String,
    /// Its files.
    pub files: DraftFiles,
}

impl State {
    /// Writes down what was learnt of a URL, which leaves the queue.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn draft(&mut self, id: UrlId, draft: &Draft) -> Result<(), StateError> {
        store(&self.db, id, draft).map_err(|error| self.error(error))
    }

    /// Forgets what was learnt of a URL: it is read again.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn forget_draft(&mut self, id: UrlId) -> Result<(), StateError> {
        let done = self.db.execute("DELETE FROM draft WHERE url = ?", [id.0]);
        done.map(drop).map_err(|error| self.error(error))
    }

    /// Forgets what was learnt of the URLs of all other sources than these.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn keep_drafts_of(&mut self, sources: &[&SourceId]) -> Result<(), StateError> {
        let ids: Vec<&str> = sources.iter().map(|id| id.as_str()).collect();
        let ids = format!(" {} ", ids.join(" "));
        let others = "SELECT id FROM url WHERE instr(?, ' ' || source || ' ') = 0";
        let write = || {
            for table in ["draft", "queue"] {
                self.db.execute(&format!("DELETE FROM {table} WHERE url IN ({others})"), [&ids])?;
            }
            Ok(())
        };
        write().map_err(|error| self.error(error))
    }

    /// The URL whose page the open run puts at a place.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn drafted_at(&self, source: &SourceId, path: &str) -> Result<Option<UrlId>, StateError> {
        let sql = "SELECT draft.url FROM draft JOIN url ON url.id = draft.url \
                   WHERE url.source = ? AND path = ?";
        let found = self.db.query_row(sql, [source.as_str(), path], |row| row.get(0)).optional();
        found.map(|id| id.map(UrlId)).map_err(|error| self.error(error))
    }

    /// Pages that the open run put for a source, behind `after`, at most `most`.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn drafted_pages(
        &self,
        source: &SourceId,
        after: UrlId,
        most: u32,
    ) -> Result<Vec<DraftedPage>, StateError> {
        let query = || {
            let sql = "SELECT draft.url, url.url, path, page, links, public_links, sketch \
                       FROM draft JOIN url ON url.id = draft.url WHERE url.source = ? \
                       AND page IS NOT NULL AND draft.url > ? ORDER BY draft.url LIMIT ?";
            let mut statement = self.db.prepare(sql)?;
            let rows =
                statement.query_map(params![source.as_str(), after.0, most], drafted_page)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Places of the pages that leave a source with the open run.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn leaving_pages(&self, source: &SourceId) -> Result<Vec<String>, StateError> {
        self.drafted_texts(
            "SELECT path FROM draft JOIN url ON url.id = draft.url WHERE url.source = ?1 \
             AND change = 'removed' AND path IS NOT NULL ORDER BY path",
            source,
        )
    }

    /// Takes back that pages leave a source with one of these outcomes, or with any where
    /// none is named, for a reason that is added to each.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn hold_removals(
        &mut self,
        source: &SourceId,
        kinds: &[OutcomeKind],
        reason: &str,
    ) -> Result<(), StateError> {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let names = format!(" {} ", names.join(" "));
        let write = || {
            let sql = "UPDATE draft SET change = 'none', reason = reason || ?2, stored = 1 \
                       WHERE change = 'removed' AND url IN (SELECT id FROM url WHERE source = ?1) \
                       AND (?3 OR instr(?4, ' ' || outcome || ' '))";
            self.db.execute(sql, params![source.as_str(), reason, kinds.is_empty(), names])
        };
        write().map(drop).map_err(|error| self.error(error))
    }

    /// What the open run did with the pages of a source so far.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn drafted_counts(&self, source: &SourceId) -> Result<Counts, StateError> {
        let query = || {
            let sql = "SELECT sum(change = 'edited'), sum(change = 'added'), \
                       sum(change = 'removed'), sum(outcome = 'same'), \
                       sum(outcome = 'not-modified'), sum(outcome = 'failed') FROM draft \
                       JOIN url ON url.id = draft.url JOIN known ON known.url = draft.url \
                       WHERE url.source = ? AND known.kind = 'page'";
            self.db.query_row(sql, [source.as_str()], |row| {
                let number = |column| -> rusqlite::Result<u64> {
                    Ok(row.get::<_, Option<i64>>(column)?.unwrap_or(0).cast_unsigned())
                };
                Ok(Counts {
                    changed: number(0)?,
                    added: number(1)?,
                    removed: number(2)?,
                    same: number(3)?,
                    not_modified: number(4)?,
                    failed: number(5)?,
                })
            })
        };
        query().map_err(|error| self.error(error))
    }

    /// URLs of a source with that outcome in the open run, with the reason, at most `most`.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn drafted_with(
        &self,
        source: &SourceId,
        kind: OutcomeKind,
        most: u32,
    ) -> Result<Vec<(String, String)>, StateError> {
        let query = || {
            let sql = "SELECT url.url, reason FROM draft JOIN url ON url.id = draft.url \
                       WHERE url.source = ? AND outcome = ? ORDER BY url.url LIMIT ?";
            let mut statement = self.db.prepare(sql)?;
            let values = params![source.as_str(), kind.name(), most];
            let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Places that the open run gives pages of a source, and that are `path` but for
    /// capitals.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn drafted_siblings(
        &self,
        source: &SourceId,
        path: &str,
    ) -> Result<Vec<String>, StateError> {
        let query = || {
            let sql = "SELECT path FROM draft JOIN url ON url.id = draft.url \
                       WHERE url.source = ?1 AND lower(path) = lower(?2) AND path <> ?2 \
                       AND page IS NOT NULL ORDER BY path";
            let mut statement = self.db.prepare_cached(sql)?;
            let rows = statement.query_map([source.as_str(), path], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Whether a URL of a source is known to have a text, as far as the open run and its
    /// commits tell: fingerprint of the text.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn text_of(&self, source: &SourceId, url: &str) -> Result<Option<i64>, StateError> {
        let query = || {
            let sql = "SELECT coalesce(draft.text, visit.text) FROM url \
                       LEFT JOIN draft ON draft.url = url.id AND draft.stored \
                       LEFT JOIN visit ON visit.url = url.id AND visit.stored \
                       WHERE url.source = ? AND url.url = ?";
            let mut statement = self.db.prepare_cached(sql)?;
            let found = statement.query_row([source.as_str(), url], |row| row.get(0)).optional()?;
            Ok(found.flatten())
        };
        query().map_err(|error| self.error(error))
    }

    /// Permanent redirects that the open run is the second or a later one to see: from, to,
    /// status, and when the first run saw it (seconds since 1970).
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn drafted_moves(
        &self,
        source: &SourceId,
        started: Timestamp,
    ) -> Result<Vec<(String, String, u16, i64)>, StateError> {
        let query = || {
            let sql = "SELECT url.url, moved_to, moved_status, moved_since FROM draft \
                       JOIN url ON url.id = draft.url WHERE url.source = ? \
                       AND draft.outcome = 'moved' AND draft.moved_since < ? \
                       AND draft.stored = 0 ORDER BY url.url";
            let mut statement = self.db.prepare(sql)?;
            let rows = statement.query_map(params![source.as_str(), started.unix()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    fn drafted_texts(&self, sql: &str, source: &SourceId) -> Result<Vec<String>, StateError> {
        let query = || {
            let mut statement = self.db.prepare(sql)?;
            let rows = statement.query_map([source.as_str()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }
}

fn drafted_page(row: &Row<'_>) -> rusqlite::Result<DraftedPage> {
    Ok(DraftedPage {
        id: UrlId(row.get(0)?),
        url: row.get(1)?,
        path: row.get(2)?,
        files: DraftFiles {
            page: row.get(3)?,
            links: row.get(4)?,
            public_links: row.get(5)?,
            sketch: row.get::<_, Option<Vec<u8>>>(6)?.map(|bytes| decode_sketch(&bytes)),
        },
    })
}

fn store(db: &Connection, id: UrlId, draft: &Draft) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM queue WHERE url = ?")?.execute([id.0])?;
    let files = draft.files.as_ref();
    let visit = draft.visit.as_ref();
    let moved = visit.and_then(|visit| visit.moved.as_ref());
    let sql = "INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
               ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    db.prepare_cached(sql)?
        .execute(params![
            id.0,
            draft.outcome.kind.name(),
            draft.outcome.reason,
            draft.change.name(),
            draft.path,
            files.map(|files| &files.page),
            files.map(|files| &files.links),
            files.and_then(|files| files.public_links.as_ref()),
            files.and_then(|files| files.sketch.as_deref()).map(encode_sketch),
            visit.is_some(),
            visit.map(|visit| visit.stored),
            visit.map(|visit| visit.looked.unix()),
            visit.map(|visit| visit.read.unix()),
            visit.and_then(|visit| visit.lastmod.as_ref()),
            visit.map(|visit| visit.rules),
            visit.map(|visit| &visit.form),
            visit.and_then(|visit| visit.validators.etag.as_ref()),
            visit.and_then(|visit| visit.validators.last_modified.as_ref()),
            visit.map(|visit| visit.followed),
            visit.map(|visit| visit.text),
            visit.and_then(|visit| visit.gone_since).map(Timestamp::unix),
            moved.map(|moved| &moved.to),
            moved.map(|moved| moved.status),
            moved.map(|moved| moved.since.unix()),
        ])
        .map(drop)
}

/// Drafts what still waits of a source on a host as left for a later run.
pub(super) fn defer(
    db: &Connection,
    (host, source): (&str, &str),
    reason: &str,
) -> rusqlite::Result<u64> {
    let ids: Vec<i64> = db
        .prepare("SELECT url FROM queue WHERE host = ? AND source = ?")?
        .query_map([host, source], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let draft = Draft::only(Outcome::new(OutcomeKind::Deferred, reason));
    for id in &ids {
        store(db, UrlId(*id), &draft)?;
    }
    Ok(ids.len() as u64)
}

/// Makes the drafts of a run true: pages, visits and ledger are what it learnt.
pub(super) fn apply(db: &Connection, run: RunId) -> rusqlite::Result<()> {
    let open: Option<i64> =
        db.query_row("SELECT run FROM crawl", [], |row| row.get(0)).optional()?;
    if open != Some(run.0) {
        return Ok(());
    }
    db.execute(
        "INSERT INTO page (source, path, url, blob, run, sketch) \
         SELECT url.source, path, url.url, page, ?, sketch FROM draft \
         JOIN url ON url.id = draft.url WHERE page IS NOT NULL \
         ON CONFLICT (source, path) DO UPDATE SET url = excluded.url, blob = excluded.blob, \
         run = excluded.run, sketch = excluded.sketch",
        [run.0],
    )?;
    db.execute(
        "DELETE FROM page WHERE (source, path) IN (SELECT url.source, path FROM draft \
         JOIN url ON url.id = draft.url WHERE change = 'removed')",
        [],
    )?;
    let columns = VISIT.join(", ");
    db.execute(
        &format!(
            "INSERT OR REPLACE INTO visit (url, {columns}) \
             SELECT url, {columns} FROM draft WHERE believed"
        ),
        [],
    )?;
    let mut drafts = db.prepare("SELECT url, outcome, reason FROM draft ORDER BY url")?;
    let mut rows = drafts.query([])?;
    while let Some(row) = rows.next()? {
        let kind = OutcomeKind::from_name(&row.get::<_, String>(1)?).unwrap_or(OutcomeKind::Failed);
        record_for(db, run, row.get(0)?, &Outcome::new(kind, row.get::<_, String>(2)?))?;
    }
    db.execute_batch("DELETE FROM queue; DELETE FROM draft; DELETE FROM crawl;")
}
