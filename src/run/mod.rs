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

mod agree;
mod changes;
mod commit;
mod convert;
mod door;
mod git;
mod history;
mod maintain;
mod pass;
mod probe;
mod purge;
mod recover;
mod repair;
mod report;
mod site;
mod upkeep;

use std::collections::HashSet;
use std::time::Duration;

pub use agree::state_faults;
pub use pass::{HostProgress, Progress};
pub use probe::{Again, Finding, ListingProbe, PageProbe, Probe, RobotsProbe, SiteProbe, probe};
pub use purge::{PurgeReport, PurgeRequest, Running, purge};
pub use repair::repair;
pub use report::{Report, SourceReport};
pub use site::conversion_rules;

use crate::archive::{Archive, ArchiveError, LeakGuard};
use crate::clock::Clock;
use crate::config::Config;
use crate::fetch::http::ClientError;
use crate::git::{Git, GitError, Interrupt};
use crate::model::{RunId, RunKind, Source, SourceId, SourceKind, Timestamp, Visibility};
use crate::state::{Condition, State, StateError};
use crate::state::{Crawl, Spool};
use door::Door;
use pass::Pass;
use site::Beginning;

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
    /// Sources of which suspiciously many pages may leave at once.
    pub accept_removals: Vec<String>,
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
    /// Nothing that was named is or was in the archive, and no source would read it.
    #[error(
        "nothing is taken down: no page of the archive is or was `{0}`, and no source of the configuration would read it"
    )]
    NothingToPurge(String),
    /// A source is to be taken out of the public history that may be published.
    #[error(
        "the source `{0}` may be published; set `publish = false` for it before it is made private"
    )]
    StillPublic(String),
    /// Refs that are none of ours may reach what is to be taken down.
    #[error(
        "nothing is taken down: the archive has refs that are none of its own and would keep it ({0}); remove them with `git update-ref -d` first"
    )]
    OtherRefs(String),
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

/// Seconds after its start for which a run can be gone on with.
const CRAWL_LIFE: i64 = 24 * 3600;

/// Seconds by which the clocks of two runs may differ.
const CLOCK_ERROR: i64 = 3600;

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
    for id in &request.accept_removals {
        context.config.source(id).ok_or_else(|| RunError::UnknownSource(id.clone()))?;
    }
    context.git.check_version()?;
    let archive = open_or_init(context.config, &context.git)?;
    let started = context.clock.now();
    let lock = archive.lock(&format!("process {}, since {started}", std::process::id()))?;
    door::forget_stops(context, &archive)?;
    let mark = started.to_string().replace(':', "");
    let (mut state, condition) = State::open(&archive.state_file(), &mark)?;
    if let Condition::SetAside(aside) = &condition {
        let aside = aside.display();
        context.progress.warn(&format!(
            "the state was damaged; it is kept as {aside} and made anew from the archive"
        ));
    }
    recover::recover(&recover::Scene { context, archive: &archive, lock: &lock }, &mut state)?;
    let selected = without_denied(context, &state, selected)?;
    let due = due(&state, selected, request, started)?;
    if due.is_empty() && request.due == DueRule::Due {
        return Ok(None);
    }
    let open = open_crawl(context, (&archive, &mut state), (&due, request), started)?;
    let mut guard = guard(context.config, &state)?;
    if request.effect == Effect::Commit && open.is_none() {
        if maintain::move_stored_pages(context, (&archive, &mut state), &guard, started)? {
            guard = self::guard(context.config, &state)?;
        }
        maintain::convert_again(context, (&archive, &mut state), &due, (&mut guard, started))?;
    }
    let parts = (&archive, &mut state);
    let mut pass = if let Some(open) = &open {
        Pass::resume(context, parts, (open.run, open.started))?
    } else {
        Pass::begin(context, parts, RunKind::Read, (started, request.effect))?
    };
    pass.limit(request.budget);
    let beginning = if open.is_some() { Beginning::Resumed } else { Beginning::Anew };
    let result = read_sources(&mut pass, &due, (&mut guard, &beginning), request);
    let report = end(pass, result, request.effect)?;
    Spool::remove(&archive.spool_file());
    if request.effect == Effect::Commit {
        upkeep::keep_up(context, &archive, &lock);
    }
    Ok(Some(report))
}

/// Commits a pass that came to its end. One that failed is forgotten, unless the next run
/// can go on with it.
fn end(pass: Pass<'_>, result: Result<(), RunError>, effect: Effect) -> Result<Report, RunError> {
    match result {
        Ok(()) => commit::finish(pass, effect),
        Err(error) => {
            pass.leave();
            Err(error)
        }
    }
}

/// The crawl that this run goes on with, which an earlier one left. What one has that this
/// run does not go on with is committed first, under its own date.
fn open_crawl(
    context: &Context<'_>,
    (archive, state): (&Archive, &mut State),
    (due, request): (&[&Source], &Request),
    now: Timestamp,
) -> Result<Option<Crawl>, RunError> {
    let Some(open) = state.open_crawl()? else { return Ok(None) };
    if request.effect == Effect::DryRun {
        return Ok(None);
    }
    if state
        .run(open.run)?
        .is_none_or(|run| run.old != pass::tips(&archive.heads().unwrap_or_default()))
    {
        // It began on top of other commits than those that are there.
        state.drop_crawl()?;
        state.abandon_run(open.run)?;
        return Ok(None);
    }
    if is_fresh(&open, now) && site::goes_on(&open, context.config, due, request.effect) {
        context.progress.warn(&format!("going on with the run of {}", open.started));
        return Ok(Some(open));
    }
    context.progress.warn(&format!(
        "the run of {} did not come to its end; what it has is committed first",
        open.started
    ));
    let sources: Vec<Source> =
        open.sources.iter().filter_map(|id| under_its_name(context.config, id)).collect();
    let ids: Vec<&Source> = sources.iter().collect();
    let mut pass = Pass::resume(context, (archive, state), (open.run, open.started))?;
    pass.limit(Some(Duration::ZERO));
    let mut guard = guard(context.config, pass.state)?;
    let ids_left: Vec<&SourceId> = ids.iter().map(|source| &source.id).collect();
    pass.state.keep_drafts_of(&ids_left)?;
    let beginning = Beginning::Resumed;
    let result = read_sources(&mut pass, &ids, (&mut guard, &beginning), &Request::default());
    end(pass, result, Effect::Commit)?;
    Spool::remove(&archive.spool_file());
    Ok(None)
}

/// Whether a crawl is young enough to be gone on with.
fn is_fresh(open: &Crawl, now: Timestamp) -> bool {
    (-CLOCK_ERROR..CRAWL_LIFE).contains(&(now.unix() - open.started.unix()))
}

/// Whether a run with its sources would go on with a crawl that was left.
#[must_use]
pub fn can_go_on(config: &Config, open: &Crawl, now: Timestamp) -> bool {
    let known = |id: &String| config.source(id).is_some();
    is_fresh(open, now) && open.settings == site::settings(config) && open.sources.iter().all(known)
}

/// The source that has an id, or had it: as it is configured now, under that id.
fn under_its_name(config: &Config, id: &str) -> Option<Source> {
    let id = SourceId::new(id).ok()?;
    let source = config.sources.iter().find(|s| s.id == id || s.was.contains(&id))?;
    Some(Source { id, was: Vec::new(), ..source.clone() })
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

/// The sources of which not all was taken down.
fn without_denied<'a>(
    context: &Context<'_>,
    state: &State,
    sources: Vec<&'a Source>,
) -> Result<Vec<&'a Source>, RunError> {
    let mut left = Vec::new();
    for source in sources {
        match state.denied_since(&source.id, "*")? {
            None => left.push(source),
            Some(since) => context.progress.warn(&format!(
                "{} was taken down on {since} and is never read again; take it out of the \
                 configuration",
                source.id
            )),
        }
    }
    Ok(left)
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

/// Reads the sources: repositories first, private ones before public ones, which are then
/// compared with all that is private; then the sites, side by side.
fn read_sources(
    pass: &mut Pass<'_>,
    due: &[&Source],
    (guard, beginning): (&mut LeakGuard, &Beginning),
    request: &Request,
) -> Result<(), RunError> {
    let run = pass.run.unwrap_or(RunId(0));
    let open = match beginning {
        Beginning::Anew => Door::open,
        Beginning::Resumed => Door::again,
    };
    let door = open(pass.context, pass.archive, run, pass.deadline)?;
    let of = |visibility| due.iter().filter(move |source| source.visibility == visibility);
    for source in of(Visibility::Private).chain(of(Visibility::Public)) {
        match &source.kind {
            SourceKind::Git(git) => git::read_source((pass, &door), (source, git), guard)?,
            SourceKind::Site(_) => {}
            SourceKind::Feed(_) => {
                let mut report = SourceReport::new(source.id.clone());
                let why = "this version reads sources of kind git and site; feeds are left alone";
                report.fail(why.to_owned());
                pass.report(report);
            }
        }
    }
    site::read_sites((pass, &door), due, (guard, beginning), &request.accept_removals)
}
