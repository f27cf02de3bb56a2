//! One run: the only place where the stages meet.
//!
//! Owns the loop over the due sources, the order in which things become durable, and what
//! is done first after a run was killed. A run takes the lock, brings state and archive
//! into step, moves stored pages where the configuration wants them, and then reads; each
//! of these ends in one commit on both refs, or in none.
//!
//! Order of durability: pack and index flushed → intent in the state → both refs in one
//! transaction, flushed → state. Killed at any point, the next run finishes or forgets
//! what was begun, and never leaves one ref moved without the other.

mod commit;
mod convert;
#[allow(dead_code, reason = "what only the reading of sites asks for")]
mod door;
mod git;
mod maintain;
mod pass;
mod recover;
mod report;

use std::collections::HashSet;
use std::time::Duration;

pub use pass::Progress;
pub use recover::{accept_refs, state_faults};
pub use report::{Report, SourceReport};

use crate::archive::{Archive, ArchiveError, LeakGuard};
use crate::clock::Clock;
use crate::config::Config;
use crate::fetch::http::ClientError;
use crate::git::{Git, GitError, Interrupt};
use crate::model::{RunId, RunKind, Source, SourceId, SourceKind, Timestamp, Visibility};
use crate::state::{Condition, State, StateError};
use door::Door;
use pass::Pass;

/// What a run needs from outside.
pub struct Context<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The Git client.
    pub git: Git,
    /// The clock.
    pub clock: Clock,
    /// Raised when the run is to stop.
    pub interrupt: Interrupt,
    /// Who is told how it goes.
    pub progress: &'a dyn Progress,
}

/// What is asked of a run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Ids of the sources to read; all where empty.
    pub sources: Vec<String>,
    /// Only those that are due by their `every`.
    pub due: DueRule,
    /// Longest time, instead of the configuration's.
    pub budget: Option<Duration>,
    /// Whether anything is written.
    pub effect: Effect,
}

/// Which of the asked sources are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DueRule {
    /// All of them.
    #[default]
    All,
    /// Those whose `every` has passed since they were last read in full.
    Due,
}

/// Whether a run writes to the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// It commits.
    #[default]
    Commit,
    /// It reads and tells what would change.
    DryRun,
}

/// Why a run ended without a commit.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A source was asked for that is not configured.
    #[error("there is no source `{0}` in the configuration")]
    UnknownSource(String),
    /// The archive was made with another rule for capitals.
    #[error(
        "`portable_case` of the configuration differs from the archive's; it is fixed when an archive is made, so put the old value back or begin a new archive"
    )]
    CaseRule,
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The state failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// Nothing can be asked over HTTP.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Somebody asked to stop.
    #[error("interrupted; nothing was committed, and what was fetched is kept for the next run")]
    Interrupted,
}

impl From<GitError> for RunError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Interrupted => Self::Interrupted,
            other => Self::Archive(other.into()),
        }
    }
}

/// Opens the archive of a configuration; makes it where there is none.
///
/// # Errors
/// It cannot be opened or made, or was made with another rule for capitals.
pub fn open_or_init(config: &Config, git: &Git) -> Result<Archive, RunError> {
    let archive = match Archive::open(&config.archive.path) {
        Err(ArchiveError::Missing(path)) => Archive::init(&path, config.archive.case, git)?,
        other => other?,
    };
    if archive.case() == config.archive.case { Ok(archive) } else { Err(RunError::CaseRule) }
}

/// Runs once. `None` where only due sources were asked for and none is due.
///
/// # Errors
/// Nothing was committed.
pub fn run(context: &Context<'_>, request: &Request) -> Result<Option<Report>, RunError> {
    let selected = select(context.config, &request.sources)?;
    context.git.check_version()?;
    let archive = open_or_init(context.config, &context.git)?;
    let started = context.clock.now();
    let lock = archive.lock(&format!("process {}, since {started}", std::process::id()))?;
    let mark = started.to_string().replace(':', "");
    let (mut state, condition) = State::open(&archive.state_file(), &mark)?;
    if let Condition::SetAside(aside) = &condition {
        let aside = aside.display();
        context.progress.warn(&format!(
            "the state was damaged; it is kept as {aside} and made anew from the archive"
        ));
    }
    recover::recover(&recover::Scene { context, archive: &archive, lock: &lock }, &mut state)?;
    let due = due(&state, selected, request, started)?;
    if due.is_empty() && request.due == DueRule::Due {
        return Ok(None);
    }
    let mut guard = guard(context.config, &state)?;
    if request.effect == Effect::Commit {
        if maintain::move_stored_pages(context, (&archive, &mut state), &guard, started)? {
            guard = self::guard(context.config, &state)?;
        }
        maintain::convert_again(context, (&archive, &mut state), &due, (&mut guard, started))?;
    }
    let mut pass =
        Pass::begin(context, (&archive, &mut state), RunKind::Read, (started, request.effect))?;
    let result = read_sources(&mut pass, &due, &mut guard, request);
    match result {
        Ok(()) => commit::finish(pass, request.effect).map(Some),
        Err(error) => {
            pass.abandon();
            Err(error)
        }
    }
}

/// The sources that were asked for, in order of the configuration.
fn select<'a>(config: &'a Config, ids: &[String]) -> Result<Vec<&'a Source>, RunError> {
    let mut selected = Vec::new();
    for id in ids {
        let source = config.source(id).ok_or_else(|| RunError::UnknownSource(id.clone()))?;
        selected.push(&source.id);
    }
    let wanted = |source: &&Source| ids.is_empty() || selected.contains(&&source.id);
    Ok(config.sources.iter().filter(wanted).collect())
}

/// Those of the selected sources that are due.
fn due<'a>(
    state: &State,
    selected: Vec<&'a Source>,
    request: &Request,
    now: Timestamp,
) -> Result<Vec<&'a Source>, RunError> {
    let mut due = Vec::new();
    for source in selected {
        let last = state.source_status(&source.id)?.map(|(last, _)| last);
        if request.due == DueRule::All || source.is_due(last, now) {
            due.push(source);
        }
    }
    Ok(due)
}

/// Everything that must not become public, as far as it is known before the run. Pages of
/// sources that are public now are no part of it, wherever they still stand.
fn guard(config: &Config, state: &State) -> Result<LeakGuard, RunError> {
    let of = |visibility| config.sources.iter().filter(move |s| s.visibility == visibility);
    let mut guard = LeakGuard::new(of(Visibility::Private).map(|source| source.id.clone()));
    let public: HashSet<&str> = of(Visibility::Public)
        .flat_map(|source| std::iter::once(&source.id).chain(&source.was))
        .map(SourceId::as_str)
        .collect();
    if public.is_empty() {
        return Ok(guard);
    }
    for (source, url, sketch) in state.sketches()? {
        if !public.contains(source.as_str()) {
            guard.add(&url, &sketch);
        }
    }
    Ok(guard)
}

/// Reads the sources, private ones first: what is public is then compared with all that
/// is private.
fn read_sources(
    pass: &mut Pass<'_>,
    due: &[&Source],
    guard: &mut LeakGuard,
    request: &Request,
) -> Result<(), RunError> {
    pass.limit(request.budget);
    let run = pass.run.unwrap_or(RunId(0));
    let door = Door::open(pass.context, pass.archive, run, pass.deadline)?;
    if request.effect == Effect::DryRun {
        door.forget_stops()?;
    }
    let of = |visibility| due.iter().filter(move |source| source.visibility == visibility);
    for source in of(Visibility::Private).chain(of(Visibility::Public)) {
        match &source.kind {
            SourceKind::Git(git) => git::read_source((pass, &door), (source, git), guard)?,
            other => {
                let mut report = SourceReport::new(source.id.clone());
                let kind = other.name();
                report.fail(format!(
                    "this version reads sources of kind git; kind {kind} is left alone"
                ));
                pass.report(report);
            }
        }
    }
    Ok(())
}
