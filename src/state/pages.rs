//! Where each page stands, and which URL it has.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::history::behind;
use super::{State, StateError};
use crate::model::{RunId, SourceId};

/// A page as the state knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRow {
    /// Its source.
    pub source: SourceId,
    /// Its path below the source's folder.
    pub path: String,
    /// Its URL.
    pub url: String,
    /// Its file (hex id of the blob).
    pub blob: String,
    /// Hashes that tell how much of it another text holds; of private pages only.
    pub sketch: Option<Vec<u64>>,
    /// The run with which this text came; 0 where the state does not know.
    pub run: RunId,
}

/// By what pages are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKey {
    /// Their URL.
    Url,
    /// Their place: the path in the tree, `pages/<source>/<path>`.
    Place,
}

impl PageKey {
    /// What it is of a row of the tables of pages and of places.
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Place => "('pages/' || source || '/' || path)",
        }
    }

    /// What it is of a page.
    pub(super) fn of<'a>(self, (source, path): (&SourceId, &str), url: &'a str) -> Cow<'a, str> {
        match self {
            Self::Url => Cow::Borrowed(url),
            Self::Place => Cow::Owned(format!("pages/{source}/{path}")),
        }
    }
}

impl State {
    /// Adds pages that the archive has; for making the state anew.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn restore_pages(&mut self, pages: &[PageRow]) -> Result<(), StateError> {
        self.transaction(|db| store(db, pages))
    }

    /// Forgets all pages, what they were read from, how they answered and the commits they
    /// belong to; for making all that anew.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn forget_pages(&mut self) -> Result<(), StateError> {
        let sql = "DELETE FROM tip; DELETE FROM page; DELETE FROM upstream; DELETE FROM visit; \
                   DELETE FROM queue; DELETE FROM draft; DELETE FROM crawl; \
                   DELETE FROM stated;";
        self.transaction(|db| db.execute_batch(sql))
    }

    /// Pages with that URL, of all sources.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn pages_with_url(&self, url: &str) -> Result<Vec<PageRow>, StateError> {
        self.page_rows("WHERE url = ? ORDER BY source, path", url)
    }

    /// Pages whose URL or place begins with a text, and is one of those that are wanted.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn pages_from(
        &self,
        key: PageKey,
        start: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<PageRow>, StateError> {
        let query = || {
            let column = key.sql();
            let sql =
                format!("{SELECT} WHERE {column} >= ? AND {column} < ? ORDER BY {column}, source");
            let mut statement = self.db.prepare(&sql)?;
            let mut rows = statement.query([start, &behind(start)])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let Some(page) = page_row(row)? else { continue };
                if wanted(&key.of((&page.source, &page.path), &page.url)) {
                    found.push(page);
                }
            }
            Ok(found)
        };
        query().map_err(|error| self.error(error))
    }

    /// The URL of the page at a place, if that file is there.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn url_of_file(
        &self,
        (source, path): (&SourceId, &str),
        blob: &str,
    ) -> Result<Option<String>, StateError> {
        let query = || {
            let sql = "SELECT url FROM page WHERE source = ? AND path = ? AND blob = ?";
            let mut statement = self.db.prepare_cached(sql)?;
            statement.query_row([source.as_str(), path, blob], |row| row.get(0)).optional()
        };
        query().map_err(|error| self.error(error))
    }

    /// The page at that path of a source.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page_at(&self, source: &SourceId, path: &str) -> Result<Option<PageRow>, StateError> {
        let sql = format!("{SELECT} WHERE source = ? AND path = ?");
        let row = self.db.query_row(&sql, [source.as_str(), path], page_row).optional();
        row.map(Option::flatten).map_err(|error| self.error(error))
    }

    /// All pages of a source.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn pages_of(&self, source: &SourceId) -> Result<Vec<PageRow>, StateError> {
        self.page_rows("WHERE source = ? ORDER BY path", source.as_str())
    }

    /// How many pages each source has.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page_counts(&self) -> Result<Vec<(String, u64)>, StateError> {
        let query = || {
            let sql = "SELECT source, count(*) FROM page GROUP BY source ORDER BY source";
            let mut statement = self.db.prepare(sql)?;
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?
                .collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// How many pages a source has.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn page_count(&self, source: &SourceId) -> Result<u64, StateError> {
        let sql = "SELECT count(*) FROM page WHERE source = ?";
        let count = self.db.query_row(sql, [source.as_str()], |row| row.get::<_, i64>(0));
        count.map(i64::cast_unsigned).map_err(|error| self.error(error))
    }

    /// Source, URL and sketch of every private page.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn sketches(&self) -> Result<Vec<(String, String, Vec<u64>)>, StateError> {
        let query = || {
            let sql = "SELECT source, url, sketch FROM page WHERE sketch IS NOT NULL ORDER BY id";
            let mut statement = self.db.prepare(sql)?;
            let row = |row: &Row<'_>| {
                Ok((row.get(0)?, row.get(1)?, decode_sketch(&row.get::<_, Vec<u8>>(2)?)))
            };
            statement.query_map([], row)?.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Paths of the source that differ from `path` in case only.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn case_siblings(&self, source: &SourceId, path: &str) -> Result<Vec<String>, StateError> {
        let query = || {
            let sql = "SELECT path FROM page WHERE source = ? AND lower(path) = ? AND path <> ? ORDER BY path";
            let mut statement = self.db.prepare_cached(sql)?;
            let folded = path.to_ascii_lowercase();
            let rows = statement.query_map([source.as_str(), &folded, path], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    fn page_rows(&self, filter: &str, value: &str) -> Result<Vec<PageRow>, StateError> {
        let query = || {
            let mut statement = self.db.prepare(&format!("{SELECT} {filter}"))?;
            let rows = statement.query_map([value], page_row)?;
            rows.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }
}

const SELECT: &str = "SELECT source, path, url, blob, sketch, run FROM page";

/// A row; `None` where its source is not a source's name, which no version writes.
fn page_row(row: &Row<'_>) -> rusqlite::Result<Option<PageRow>> {
    let Ok(source) = SourceId::new(&row.get::<_, String>(0)?) else { return Ok(None) };
    Ok(Some(PageRow {
        source,
        path: row.get(1)?,
        url: row.get(2)?,
        blob: row.get(3)?,
        sketch: row.get::<_, Option<Vec<u8>>>(4)?.map(|bytes| decode_sketch(&bytes)),
        run: RunId(row.get(5)?),
    }))
}

/// Adds pages, or replaces those at their places.
fn store(db: &Connection, pages: &[PageRow]) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO page (source, path, url, blob, run, sketch) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (source, path) DO UPDATE SET url = ?3, blob = ?4, run = ?5, sketch = ?6",
    )?;
    for page in pages {
        let sketch = page.sketch.as_deref().map(encode_sketch);
        insert.execute(params![
            page.source.as_str(),
            page.path,
            page.url,
            page.blob,
            page.run.0,
            sketch
        ])?;
    }
    Ok(())
}

pub(super) fn encode_sketch(hashes: &[u64]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

pub(super) fn decode_sketch(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()
}
