//! One pass over sources that ends in one commit on each ref.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::time::{Duration, Instant};

use super::{Context, Effect, RunError, SourceReport};
use crate::archive::{Archive, EncodedPage, Heads, PageEntry, Replaced, Sketch, Writer};
use crate::model::{
    CaseRule, Note, Outcome, OutcomeKind, RunId, RunKind, Source, SourceId, Timestamp, Tips,
    UpstreamHead, Visibility,
};
use crate::state::{CommitRecord, LedgerEntry, PageRow, State, UpstreamRow};

/// Who is told how a run goes. Stages are told by the thread that runs it, warnings by any.
pub trait Progress: Sync {
    /// A stage of a source begins: fetching, converting.
    fn stage(&self, source: &SourceId, what: &str);
    /// So many of so many documents of the stage are done.
    fn advance(&self, done: usize, total: usize);
    /// How the hosts stand that sites are read from.
    fn hosts(&self, hosts: &[HostProgress]);
    /// Something that a person should know at once.
    fn warn(&self, message: &str);
}

/// How the reading from one host goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProgress {
    /// The host.
    pub host: String,
    /// Addresses that were dealt with.
    pub done: u64,
    /// Addresses that wait, as far as they are known.
    pub waiting: u64,
    /// Least time from the end of a request to the start of the next.
    pub pace: Duration,
    /// Why it is left for a later run, where it is.
    pub left_alone: Option<String>,
}

/// Everything that a pass gathers until it commits.
pub(super) struct Pass<'a> {
    pub context: &'a Context<'a>,
    pub archive: &'a Archive,
    pub state: &'a mut State,
    pub writer: Writer,
    pub kind: RunKind,
    pub started: Timestamp,
    pub run: Option<RunId>,
    pub record: CommitRecord,
    pub reports: Vec<SourceReport>,
    pub heads: Vec<(Visibility, UpstreamHead)>,
    /// Texts that were read while their source was public, and that is private now.
    pub turned_private: Vec<(String, Sketch)>,
    pub caches: Vec<(std::path::PathBuf, String)>,
    /// Hashes of the paths of new pages in lower case, with their source.
    new_paths: HashSet<u64>,
    pub deadline: Option<Instant>,
}

impl<'a> Pass<'a> {
    /// Begins a pass on top of the refs as they are.
    pub fn begin(
        context: &'a Context<'a>,
        (archive, state): (&'a Archive, &'a mut State),
        kind: RunKind,
        (started, effect): (Timestamp, Effect),
    ) -> Result<Self, RunError> {
        let heads = archive.heads()?;
        state.forget_pending()?;
        let run = match effect {
            Effect::Commit => Some(state.begin_run(kind, started, &tips(&heads))?),
            Effect::DryRun => None,
        };
        Ok(Self {
            context,
            archive,
            writer: Writer::new(archive, heads)?,
            state,
            kind,
            started,
            run,
            record: CommitRecord::default(),
            reports: Vec::new(),
            heads: Vec::new(),
            turned_private: Vec::new(),
            caches: Vec::new(),
            new_paths: HashSet::new(),
            deadline: None,
        })
    }

    /// Goes on with a pass that another process began.
    pub fn resume(
        context: &'a Context<'a>,
        (archive, state): (&'a Archive, &'a mut State),
        (run, started): (RunId, Timestamp),
    ) -> Result<Self, RunError> {
        let kind = RunKind::Read;
        let pass = Self::begin(context, (archive, state), kind, (started, Effect::DryRun))?;
        Ok(Self { run: Some(run), ..pass })
    }

    /// Sets the longest time of the pass; the configuration's where `None`.
    pub fn limit(&mut self, budget: Option<Duration>) {
        let budget = budget.unwrap_or(self.context.config.run.budget);
        self.deadline = self.context.clock.monotonic().checked_add(budget);
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|end| self.context.clock.monotonic() >= end)
    }

    /// How long the pass may still take.
    pub fn time_left(&self) -> Duration {
        let now = self.context.clock.monotonic();
        self.deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(now))
    }

    /// Leaves the pass without a commit: it is forgotten, unless the next run can go on with
    /// it. Should the state fail as well, the next run forgets it.
    pub fn leave(self) {
        if let Err(error) = self.state.roll_back_crawl() {
            tracing::warn!(%error, "the crawl was not put back to its last checkpoint");
        }
        match self.state.open_crawl() {
            Ok(Some(open)) if self.run == Some(open.run) => {}
            _ => self.abandon(),
        }
    }

    /// Forgets the pass. Should the state fail as well, the next run forgets it.
    pub fn abandon(self) {
        if let Some(run) = self.run
            && let Err(error) = self.state.abandon_run(run)
        {
            tracing::warn!(%error, "the run could not be marked as abandoned");
        }
        if let Err(error) = self.writer.discard() {
            tracing::warn!(%error, "packs of the run could not be removed");
        }
    }

    /// Fails where somebody asked to stop.
    pub fn check_interrupt(&self) -> Result<(), RunError> {
        if self.context.interrupt.is_raised() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// Puts a page and counts what that did.
    pub fn put(
        &mut self,
        (source, entry): (&Source, &PageEntry),
        encoded: EncodedPage,
        (url, sketch): (String, Option<Vec<u64>>),
        report: &mut SourceReport,
    ) -> Result<Replaced, RunError> {
        let blob = encoded.page_id().to_string();
        let replaced = self.writer.put(entry, encoded)?;
        let kind = match replaced {
            Replaced::Same => OutcomeKind::Same,
            Replaced::Nothing | Replaced::Other => OutcomeKind::Changed,
        };
        match replaced {
            Replaced::Same => report.counts.same += 1,
            Replaced::Other => report.counts.changed += 1,
            Replaced::Nothing => report.counts.added += 1,
        }
        if kind == OutcomeKind::Changed {
            self.state.put_page(&PageRow {
                source: source.id.clone(),
                path: entry.path.to_string(),
                url: url.clone(),
                blob,
                sketch,
                run: self.run.unwrap_or(RunId(0)),
            })?;
        }
        let reason = if replaced == Replaced::Nothing { "added" } else { "" };
        if replaced == Replaced::Nothing {
            report.notes.extend(self.case_note(entry)?.map(|note| (url.clone(), note)));
        }
        self.learn(&source.id, url, Outcome::new(kind, reason))?;
        Ok(replaced)
    }

    /// Warns of a new page whose path differs from another's in capitals only.
    pub fn case_note(&mut self, entry: &PageEntry) -> Result<Option<Note>, RunError> {
        if self.archive.case() == CaseRule::Portable {
            return Ok(None);
        }
        let path = entry.path.to_string();
        let folded = path.to_ascii_lowercase();
        let met = !self.new_paths.insert(hash_of(&(&entry.source, &folded)));
        let in_this_pass = if met { self.new_sibling(entry, &path)? } else { None };
        let stored = self.state.case_siblings(&entry.source, &path)?;
        let mut other = in_this_pass;
        for path in stored {
            if other.is_none() && !self.state.is_dropped(&entry.source, &path)? {
                other = Some(path);
            }
        }
        Ok(other.map(|other| {
            Note(format!(
                "its path differs in capitals only from {other}: a file system that ignores \
                 case holds one of them"
            ))
        }))
    }

    /// A new page of this pass whose path is `path` but for capitals.
    fn new_sibling(&mut self, entry: &PageEntry, path: &str) -> Result<Option<String>, RunError> {
        if let Some(put) = self.state.put_sibling(&entry.source, path)? {
            return Ok(Some(put));
        }
        Ok(self.state.drafted_siblings(&entry.source, path)?.into_iter().next())
    }

    /// Removes a page, if there is one, and counts it.
    pub fn remove(
        &mut self,
        entry: &PageEntry,
        outcome: &Outcome,
        report: &mut SourceReport,
    ) -> Result<bool, RunError> {
        if !self.writer.remove(entry)? {
            return Ok(false);
        }
        report.counts.removed += 1;
        let path = entry.path.to_string();
        if let Some(row) = self.state.page_at(&entry.source, &path)? {
            self.learn(&entry.source, row.url, outcome.clone())?;
        }
        self.state.drop_page(&entry.source, &path)?;
        Ok(true)
    }

    /// Adds to what the run learnt.
    pub fn learn(
        &mut self,
        source: &SourceId,
        url: String,
        outcome: Outcome,
    ) -> Result<(), RunError> {
        Ok(self.state.learn(&LedgerEntry { source: source.clone(), url, outcome })?)
    }

    /// Notes which upstream commit is archived with this pass.
    pub fn upstream(&mut self, source: &Source, row: UpstreamRow) {
        let head = UpstreamHead {
            source: row.source.clone(),
            repository: row.repository.clone(),
            commit: row.commit.clone(),
        };
        self.heads.push((source.visibility, head));
        self.record.upstreams.push(row);
    }

    /// Ends a source.
    pub fn report(&mut self, report: SourceReport) {
        if self.kind == RunKind::Read {
            self.record.sources.push((report.source.clone(), self.started, report.is_complete()));
        }
        self.reports.push(report);
    }
}

/// A number that stands for a value within this process.
pub(super) fn hash_of(value: &impl std::hash::Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// Refs as the state keeps them.
pub(super) fn tips(heads: &Heads) -> Tips {
    Tips {
        public: heads.public.map(|id| id.to_string()),
        private: heads.private.map(|id| id.to_string()),
    }
}
