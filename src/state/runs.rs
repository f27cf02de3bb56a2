//! Runs and their phases: open → intent → committed, or abandoned.

use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::drafts;
use super::history::{self, Addition};
use super::upstreams::{UpstreamRow, forget, store};
use super::{State, StateError, pending};
use crate::model::{RunId, RunKind, SourceId, Timestamp, Tips};

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It reads; nothing of it is in the archive.
    Open,
    /// Its objects are on disk and its refs are about to move.
    Intent,
    /// Its refs have moved.
    Committed,
    /// It ended without a commit.
    Abandoned,
}

impl Phase {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Open, "open"),
        (Self::Intent, "intent"),
        (Self::Committed, "committed"),
        (Self::Abandoned, "abandoned"),
    ];

    /// The name in the state.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("open", |(_, name)| name)
    }

    fn from_name(name: &str) -> Self {
        Self::ALL.iter().find(|(_, n)| *n == name).map_or(Self::Open, |(it, _)| *it)
    }
}

/// A run as the state knows it.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Its number.
    pub id: RunId,
    /// `read`, `extractor` or `configuration`.
    pub kind: String,
    /// Its start.
    pub started: String,
    /// Its end.
    pub ended: Option<String>,
    /// How far it came.
    pub phase: Phase,
    /// Where the refs were.
    pub old: Tips,
    /// Where they go, from the intent on.
    pub new: Tips,
    /// From when on lock files on the refs are the run's own, by the machine's clock;
    /// `None` where none is.
    pub intent_at: Option<SystemTime>,
}

/// A run that the archive tells of.
#[derive(Clone, Debug)]
pub struct KnownRun {
    /// What made its commits.
    pub kind: RunKind,
    /// Its start.
    pub started: Timestamp,
    /// Its end.
    pub ended: Timestamp,
    /// Its commits.
    pub new: Tips,
}

/// What becomes true with a commit, beside what the pass did with pages ([`State::put_page`],
/// [`State::drop_page`]) and the drafts.
#[derive(Debug, Default)]
pub struct CommitRecord {
    /// Where the refs are now.
    pub tips: Tips,
    /// Upstream commits that are archived now.
    pub upstreams: Vec<UpstreamRow>,
    /// Upstreams that are no longer read: source and address.
    pub forgotten: Vec<(SourceId, String)>,
    /// Sources that were read, and whether in full.
    pub sources: Vec<(SourceId, Timestamp, bool)>,
}

impl State {
    /// Begins a run.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn begin_run(
        &mut self,
        kind: RunKind,
        started: Timestamp,
        old: &Tips,
    ) -> Result<RunId, StateError> {
        self.transaction(|db| {
            db.execute(
                "INSERT INTO run (kind, started, phase, public_old, private_old) VALUES (?, ?, 'open', ?, ?)",
                params![kind.name(), started.to_string(), old.public, old.private],
            )?;
            Ok(RunId(db.last_insert_rowid()))
        })
    }

    /// Writes down, durably, that the refs are about to move, with what the pass learnt. Lock
    /// files on the refs that come to be from `locks_since` on are the run's own.
    ///
    /// # Errors
    /// The state cannot be written: then the refs must not move.
    pub fn record_intent(
        &mut self,
        run: RunId,
        (new, locks_since): (&Tips, Option<SystemTime>),
    ) -> Result<(), StateError> {
        let at = locks_since.map(milliseconds);
        self.transaction(|db| {
            pending::apply_learnt(db, run)?;
            db.execute(
                "UPDATE run SET phase = 'intent', public_new = ?, private_new = ?, intent_at = ? WHERE id = ?",
                params![new.public, new.private, at, run.0],
            )?;
            Ok(())
        })
    }

    /// Writes down anew from when on lock files on the refs are the run's own; `None` where
    /// none is.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn record_ref_locks(
        &mut self,
        run: RunId,
        since: Option<SystemTime>,
    ) -> Result<(), StateError> {
        let at = since.map(milliseconds);
        self.transaction(|db| {
            db.execute("UPDATE run SET intent_at = ? WHERE id = ?", params![at, run.0]).map(drop)
        })
    }

    /// Writes down that the refs have moved, with all that is true now, the index of the
    /// history included.
    ///
    /// # Errors
    /// The state cannot be written; the next run makes it up from the archive.
    pub fn record_commit(
        &mut self,
        run: RunId,
        ended: Timestamp,
        (done, history): (&CommitRecord, Vec<Addition<'_>>),
    ) -> Result<(), StateError> {
        self.transaction(|db| {
            for addition in history {
                history::append(db, addition)?;
            }
            pending::apply(db)?;
            drafts::apply(db, run)?;
            for upstream in &done.upstreams {
                store(db, upstream)?;
            }
            for (source, repository) in &done.forgotten {
                forget(db, source, repository)?;
            }
            for (source, started, complete) in &done.sources {
                db.execute(
                    "INSERT INTO source VALUES (?1, CASE WHEN ?3 THEN ?2 ELSE '' END, ?3) \
                     ON CONFLICT (id) DO UPDATE SET \
                     complete = ?3, last_started = CASE WHEN ?3 THEN ?2 ELSE last_started END",
                    params![source.as_str(), started.to_string(), complete],
                )?;
            }
            set_tips(db, &done.tips)?;
            db.execute(
                "UPDATE run SET phase = 'committed', ended = ? WHERE id = ?",
                params![ended.to_string(), run.0],
            )?;
            Ok(())
        })
    }

    /// Writes down that a run ended without a commit.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn abandon_run(&mut self, run: RunId) -> Result<(), StateError> {
        self.transaction(|db| {
            db.execute("UPDATE run SET phase = 'abandoned' WHERE id = ?", [run.0]).map(drop)
        })
    }

    /// Marks runs that a kill left open as abandoned, but for one that can be gone on with:
    /// what they read was not committed.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn abandon_open_runs(&mut self) -> Result<(), StateError> {
        self.transaction(|db| {
            let sql = "UPDATE run SET phase = 'abandoned' WHERE phase = 'open' \
                       AND id NOT IN (SELECT run FROM crawl)";
            db.execute(sql, []).map(drop)
        })
    }

    /// Sets the tips that the state speaks of.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn record_tips(&mut self, tips: &Tips) -> Result<(), StateError> {
        self.transaction(|db| set_tips(db, tips))
    }

    /// The run whose refs may or may not have moved when it was killed.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn unfinished_intent(&self) -> Result<Option<RunRow>, StateError> {
        let sql = format!("{SELECT} WHERE phase = 'intent' ORDER BY id DESC LIMIT 1");
        let row = self.db.query_row(&sql, [], run_row).optional();
        row.map_err(|error| self.error(error))
    }

    /// A run.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn run(&self, id: RunId) -> Result<Option<RunRow>, StateError> {
        let row = self.db.query_row(&format!("{SELECT} WHERE id = ?"), [id.0], run_row);
        row.optional().map_err(|error| self.error(error))
    }

    /// The newest runs, newest first.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn recent_runs(&self, most: u32) -> Result<Vec<RunRow>, StateError> {
        let query = || {
            let mut statement = self.db.prepare(&format!("{SELECT} ORDER BY id DESC LIMIT ?"))?;
            statement.query_map([most], run_row)?.collect::<rusqlite::Result<_>>()
        };
        query().map_err(|error| self.error(error))
    }

    /// Adds runs that the archive tells of, unless they are known, and gives their numbers;
    /// for making the state anew.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn restore_runs(&mut self, runs: &[KnownRun]) -> Result<Vec<RunId>, StateError> {
        self.transaction(|db| runs.iter().map(|run| restore_run(db, run)).collect())
    }

    /// Names commits of runs by the ids that they have since a takedown: old and new id.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn rename_commits(&mut self, pairs: &[(String, String)]) -> Result<(), StateError> {
        self.transaction(|db| {
            db.execute_batch(
                "CREATE TEMP TABLE renamed (old TEXT PRIMARY KEY, new TEXT NOT NULL)",
            )?;
            let mut insert = db.prepare("INSERT OR REPLACE INTO temp.renamed VALUES (?, ?)")?;
            for (old, new) in pairs {
                insert.execute([old, new])?;
            }
            drop(insert);
            for column in ["public_old", "public_new", "private_old", "private_new"] {
                let sql = format!(
                    "UPDATE run SET {column} = (SELECT new FROM temp.renamed WHERE old = {column}) \
                     WHERE phase <> 'intent' AND {column} IN (SELECT old FROM temp.renamed)"
                );
                db.execute(&sql, [])?;
            }
            db.execute_batch("DROP TABLE temp.renamed")
        })
    }

    /// The commits that the state speaks of.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn tips(&self) -> Result<Tips, StateError> {
        let of = |name: &str| {
            let sql = "SELECT commit_id FROM tip WHERE ref = ?";
            self.db.query_row(sql, [name], |row| row.get(0)).optional()
        };
        let read = || Ok(Tips { public: of("public")?, private: of("private")? });
        read().map_err(|error| self.error(error))
    }

    /// When a source was last read in full, and whether its last run was complete.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn source_status(
        &self,
        source: &SourceId,
    ) -> Result<Option<(Timestamp, bool)>, StateError> {
        let sql = "SELECT last_started, complete FROM source WHERE id = ?";
        let row = self.db.query_row(sql, [source.as_str()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
        });
        let row = row.optional().map_err(|error| self.error(error))?;
        Ok(row.and_then(|(started, complete)| Some((Timestamp::parse(&started).ok()?, complete))))
    }
}

const SELECT: &str = "SELECT id, kind, started, ended, phase, public_old, private_old, \
                      public_new, private_new, intent_at FROM run";

fn restore_run(db: &Connection, run: &KnownRun) -> rusqlite::Result<RunId> {
    let sql = "SELECT id FROM run WHERE public_new = ? AND phase = 'committed'";
    let known =
        db.prepare_cached(sql)?.query_row([&run.new.public], |row| row.get(0)).optional()?;
    if let Some(known) = known {
        return Ok(RunId(known));
    }
    let sql = "INSERT INTO run (kind, started, ended, phase, public_new, private_new) \
               VALUES (?, ?, ?, 'committed', ?, ?)";
    let (started, ended) = (run.started.to_string(), run.ended.to_string());
    let values = params![run.kind.name(), started, ended, run.new.public, run.new.private];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(RunId(db.last_insert_rowid()))
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    let intent: Option<i64> = row.get(9)?;
    Ok(RunRow {
        id: RunId(row.get(0)?),
        kind: row.get(1)?,
        started: row.get(2)?,
        ended: row.get(3)?,
        phase: Phase::from_name(&row.get::<_, String>(4)?),
        old: Tips { public: row.get(5)?, private: row.get(6)? },
        new: Tips { public: row.get(7)?, private: row.get(8)? },
        intent_at: intent
            .map(|ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms.cast_unsigned())),
    })
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn set_tips(db: &Connection, tips: &Tips) -> rusqlite::Result<()> {
    for (name, commit) in [("public", &tips.public), ("private", &tips.private)] {
        match commit {
            Some(commit) => {
                db.execute("INSERT OR REPLACE INTO tip VALUES (?, ?)", [name, commit])?
            }
            None => db.execute("DELETE FROM tip WHERE ref = ?", [name])?,
        };
    }
    Ok(())
}
