//! Tables and their version.

/// Version of the tables (`PRAGMA user_version`).
pub(super) const VERSION: i64 = 1;

/// Makes all tables of [`VERSION`].
pub(super) const CREATE: &str = "
CREATE TABLE tip (              -- the commits that the other tables speak of
    ref TEXT PRIMARY KEY,       -- public, private
    commit_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,         -- read, extractor, configuration
    started TEXT NOT NULL,      -- RFC 3339
    ended TEXT,
    phase TEXT NOT NULL,        -- open, intent, committed, abandoned
    public_old TEXT, public_new TEXT, private_old TEXT, private_new TEXT,
    intent_at INTEGER           -- lock files are its own from then on; machine's clock, milliseconds since 1970
);
CREATE TABLE source (
    id TEXT PRIMARY KEY,
    last_started TEXT NOT NULL, -- start of the last run that read it in full
    complete INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    path TEXT NOT NULL,         -- below pages/<source>/
    url TEXT NOT NULL,
    blob TEXT NOT NULL,
    run INTEGER NOT NULL,       -- the run with which this text came; 0 where unknown
    sketch BLOB,                -- of private pages
    UNIQUE (source, path)
);
CREATE INDEX page_url ON page (url);
CREATE INDEX page_folded ON page (source, lower(path));
CREATE TABLE url (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    url TEXT NOT NULL,
    UNIQUE (source, url)
);
CREATE TABLE ledger (           -- an outcome stands until another one is recorded
    url INTEGER NOT NULL REFERENCES url (id),
    first_run INTEGER NOT NULL,
    last_run INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (url, first_run)
) WITHOUT ROWID;
CREATE TABLE upstream (
    source TEXT NOT NULL,
    repository TEXT NOT NULL,   -- address as it may be shown
    commit_id TEXT NOT NULL,    -- archived last
    settings TEXT NOT NULL,     -- fingerprint of what decides the conversion
    extractor INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    trouble TEXT,               -- why it could not be read the last time
    PRIMARY KEY (source, repository)
) WITHOUT ROWID;
CREATE TABLE denied (
    source TEXT NOT NULL,
    url TEXT NOT NULL,          -- * is the whole source
    since TEXT NOT NULL,
    PRIMARY KEY (source, url)
) WITHOUT ROWID;
";
