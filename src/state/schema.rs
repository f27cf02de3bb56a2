//! Tables and their version.

/// What makes a state of each version from one of the version before it; the first makes it
/// from nothing.
pub(super) const STEPS: [&str; 4] = [FIRST, SITES, HISTORY, STATED];

/// Runs, pages, the ledger, repositories: version 1.
const FIRST: &str = "
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

/// What is remembered of the URLs of sites: version 2.
const SITES: &str = "
CREATE TABLE known (            -- that a URL of a site exists, and how it is reached
    url INTEGER PRIMARY KEY REFERENCES url (id),
    kind TEXT NOT NULL,         -- page, sitemap
    depth INTEGER NOT NULL,     -- fewest link steps from a start
    sitemap INTEGER,            -- URL of the sitemap that lists it
    listed TEXT                 -- lastmod that it states
);
CREATE INDEX known_sitemap ON known (sitemap) WHERE sitemap IS NOT NULL;
CREATE TABLE visit (            -- the last answer of a URL, as far as it is committed
    url INTEGER PRIMARY KEY REFERENCES url (id),
    outcome TEXT NOT NULL,
    stored INTEGER NOT NULL,    -- whether its text is in the archive
    looked INTEGER NOT NULL,    -- when it was asked for last; seconds since 1970
    read INTEGER NOT NULL,      -- when it last answered with a body
    lastmod TEXT,               -- what its sitemap stated then
    rules INTEGER NOT NULL,     -- fingerprint of what decides the conversion
    form TEXT NOT NULL,         -- the form in which it was asked for
    etag TEXT, last_modified TEXT,
    followed INTEGER NOT NULL,  -- whether its links were followed
    text INTEGER NOT NULL,      -- fingerprint of its text
    gone_since INTEGER,         -- first of the looks that found it gone
    moved_to TEXT, moved_status INTEGER, moved_since INTEGER
);
CREATE TABLE crawl (            -- the open run over sites, which can be gone on with
    run INTEGER PRIMARY KEY,
    settings INTEGER NOT NULL,  -- fingerprint of its configuration
    sources TEXT NOT NULL       -- ids, separated by spaces
);
CREATE TABLE queue (            -- what the open run still reads, in order
    host TEXT NOT NULL,
    source TEXT NOT NULL,
    class INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    url INTEGER NOT NULL,
    hops INTEGER NOT NULL,      -- permanent redirects on the way to it
    taken INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (host, source, class, rank, url)
) WITHOUT ROWID;
CREATE UNIQUE INDEX queue_url ON queue (url);
CREATE TABLE draft (            -- what the open run learnt; true from its commit on
    url INTEGER PRIMARY KEY REFERENCES url (id),
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    change TEXT NOT NULL,       -- to the tree: none, added, edited, removed
    path TEXT,                  -- of the page, where one is put or leaves
    page BLOB, links BLOB, public_links BLOB, -- ids of its files
    sketch BLOB,
    believed INTEGER NOT NULL,  -- whether what follows replaces the visit
    stored INTEGER, looked INTEGER, read INTEGER, lastmod TEXT, rules INTEGER, form TEXT,
    etag TEXT, last_modified TEXT, followed INTEGER, text INTEGER,
    gone_since INTEGER, moved_to TEXT, moved_status INTEGER, moved_since INTEGER
);
";

/// Which commits changed the file of each page: version 3.
const HISTORY: &str = "
CREATE TABLE ref_commit (       -- the commits of a ref that the index speaks of, from the first on
    ref INTEGER NOT NULL,       -- 0 public, 1 private
    number INTEGER NOT NULL,    -- from 0
    id BLOB NOT NULL,
    started INTEGER NOT NULL,   -- start of its run; seconds since 1970
    PRIMARY KEY (ref, number)
) WITHOUT ROWID;
CREATE INDEX ref_commit_id ON ref_commit (id);
CREATE TABLE place (            -- where a page stands or stood
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    path TEXT NOT NULL,         -- below pages/<source>/
    url TEXT,                   -- of a page that is on no ref any more: the one it had last
    gone INTEGER,               -- of such a page: the ref it stood on last
    UNIQUE (source, path)
);
CREATE INDEX place_url ON place (url) WHERE url IS NOT NULL;
CREATE TABLE version (          -- from that commit on a page has that file
    place INTEGER NOT NULL REFERENCES place (id),
    ref INTEGER NOT NULL,
    number INTEGER NOT NULL,
    file BLOB,                  -- id of the blob; NULL where the page left
    PRIMARY KEY (place, ref, number)
) WITHOUT ROWID;
CREATE INDEX version_commit ON version (ref, number);
CREATE INDEX run_public ON run (public_new) WHERE public_new IS NOT NULL;
";

/// What sitemaps state of changes: version 4.
const STATED: &str = "
CREATE TABLE stated (           -- of a sitemap: what its lastmods have in common, and whether they were right
    sitemap INTEGER PRIMARY KEY REFERENCES url (id),
    spread TEXT NOT NULL,       -- silent, varied, equal, now, impossible
    kept INTEGER NOT NULL,      -- entries that it called unchanged, and that were
    missed INTEGER NOT NULL,    -- and that were not
    hits INTEGER NOT NULL,      -- entries that it called changed, and that were
    alarms INTEGER NOT NULL     -- and that were not
);
";
