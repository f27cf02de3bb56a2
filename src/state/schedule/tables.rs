//! Tables of the politeness file and their version.

use crate::state::open::Format;

/// All times are milliseconds since 1970 by the clock of the machine, all durations
/// milliseconds.
pub(super) const FORMAT: Format =
    Format { steps: &[CREATE, PASSAGES], synchronous: "NORMAL", page_size: 1024 };

const CREATE: &str = "
CREATE TABLE host (
    host TEXT PRIMARY KEY,
    pace INTEGER NOT NULL,
    backoff INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    next_at INTEGER,
    parked TEXT,                -- why it is left for a later run
    parked_until INTEGER,
    holder TEXT,                -- the process whose request is under way: pid:start
    lease_until INTEGER         -- when that request ends at the latest
) WITHOUT ROWID;
CREATE TABLE crawl_delay (      -- what robots.txt of an origin asks for
    host TEXT NOT NULL,
    origin TEXT NOT NULL,
    delay INTEGER NOT NULL,
    inherited INTEGER NOT NULL, -- read in an earlier run, not yet again in this one
    PRIMARY KEY (host, origin)
) WITHOUT ROWID;
CREATE TABLE robots (           -- as it was read last
    origin TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    read_at INTEGER NOT NULL,
    standing TEXT NOT NULL,     -- read, absent, unreachable
    reason TEXT,                -- why it is unreachable
    text BLOB
) WITHOUT ROWID;
CREATE INDEX robots_host ON robots (host);
CREATE TABLE conduct (
    run INTEGER NOT NULL,       -- 0: the last command outside of runs
    host TEXT NOT NULL,
    kind TEXT NOT NULL,         -- robots, sitemap, feed, page, document, git
    requests INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    connections INTEGER NOT NULL,
    PRIMARY KEY (run, host, kind)
) WITHOUT ROWID;
CREATE TABLE conduct_host (
    run INTEGER NOT NULL,
    host TEXT NOT NULL,
    least_gap INTEGER,          -- from the end of a request to the start of the next
    most_at_once INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    pace INTEGER NOT NULL,      -- in force at the last request, like the next
    crawl_delay INTEGER NOT NULL,
    PRIMARY KEY (run, host)
) WITHOUT ROWID;
CREATE TABLE stop (             -- makes no further request in this run
    kind TEXT NOT NULL,         -- source, host
    name TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
";

/// Requests that count against the limits of policies.
const PASSAGES: &str = "
CREATE TABLE passage (
    gate TEXT NOT NULL,         -- policy, limit, and the host or source that it is for
    host TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    hold_until INTEGER NOT NULL,
    forget_at INTEGER,          -- when it counts no longer
    fresh INTEGER NOT NULL      -- 0: a retry, or a redirect of another
);
CREATE INDEX passage_gate ON passage (gate);
CREATE INDEX passage_under_way ON passage (host) WHERE ended_at IS NULL;
";
