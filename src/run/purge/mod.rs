//! Taking pages out of all history, and out of all that is kept beside it.
//!
//! Order: packs of the new histories flushed → `pagelog/pruning` and the list of rewritten
//! commits → intent in the state → both refs in one transaction → state: pages, denials, tips →
//! caches and stored answers removed → packs pruned. Killed before the intent, nothing was
//! taken down; killed after it, the next run or takedown does all that is left to do
//! ([`complete`], [`clean_up`]), first thing.

mod select;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::Duration;

use super::commit::move_refs;
use super::pass::tips;
use super::recover::{self, Scene, heads};
use super::{Context, Effect, RunError, door, history, open_crawl};
use crate::archive::{
    Archive, ArchiveError, FORMAT_VERSION, LinksTo, NewCommit, Notes, ObjectId, Pruned, RefMove,
    Rewriting, RunLock, RunMessage, Snapshot, Tombstone, decode_denied,
};
use crate::extract;
use crate::git::GitError;
use crate::model::{RunKind, SourceId, Timestamp, Visibility};
use crate::state::{CommitRecord, Condition, RunRow, Spool, State};
use select::Selected;

/// How long a takedown waits for those who read all packs.
const WAIT: Duration = Duration::from_mins(10);

/// How long the end of a run is awaited that makes no further request.
const LONGEST_RUN: Duration = Duration::from_hours(1);

/// What is asked of a takedown.
#[derive(Clone, Debug, Default)]
pub struct PurgeRequest {
    /// URLs of pages, `*` standing for any text.
    pub urls: Vec<String>,
    /// Paths of pages in the tree, `*` standing for any text.
    pub paths: Vec<String>,
    /// Ids of whole sources.
    pub sources: Vec<String>,
    /// Ids of sources that are private now and were public.
    pub made_private: Vec<String>,
    /// What becomes of links to the pages.
    pub links: LinksTo,
    /// Why, as the public ref is to tell it; empty where it is not to.
    pub why: String,
    /// What becomes of a run that is in progress.
    pub running: Running,
    /// Whether anything is changed.
    pub effect: Effect,
}

/// What becomes of a run that is in progress when a takedown begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Running {
    /// It makes no further request, commits what it has, and is waited for.
    #[default]
    Stop,
    /// It goes on, and nothing is taken down.
    Refuse,
}

/// What a takedown came to.
#[derive(Debug)]
pub struct PurgeReport {
    /// How many pages of which source are in no commit any more.
    pub pages: Vec<(SourceId, usize)>,
    /// Addresses that are never read again: source and URL, `*` for all of it.
    pub denied: Vec<(String, String)>,
    /// Commits for which others stand now.
    pub commits: usize,
    /// Objects that were written for that, and the bytes that they take.
    pub objects: (usize, u64),
    /// Files that were taken out, and the bytes of their content.
    pub files: (usize, u64),
    /// What became of the packs; `None` of a dry run.
    pub pruned: Option<Pruned>,
    /// The new tips; `None` of a dry run.
    pub moves: Option<RefMove>,
}

/// Takes down what is asked for, once.
///
/// # Errors
/// Nothing was taken down, unless the error is of the pruning: the next run does that.
pub fn purge(
    context: &Context<'_>,
    archive: &Archive,
    request: &PurgeRequest,
) -> Result<PurgeReport, RunError> {
    context.git.check_version()?;
    let started = context.clock.now();
    let holder = format!("process {}, taking down, since {started}", std::process::id());
    let _publishing = archive.lock_publishing(&holder)?;
    let lock = take_lock(context, archive, (&holder, request))?;
    let mark = started.to_string().replace(':', "");
    let (mut state, condition) = State::open(&archive.state_file(), &mark)?;
    if let Condition::SetAside(aside) = condition {
        let aside = aside.display();
        context.progress.warn(&format!("the state was damaged; it is kept as {aside}"));
    }
    let scene = Scene { context, archive, lock: &lock };
    recover::recover(&scene, &mut state)?;
    refuse_other_refs(archive)?;
    if request.effect == Effect::Commit {
        // What a run that did not come to its end has would come to the archive later.
        let nothing = (&[][..], &super::Request::default());
        open_crawl(context, (archive, &mut state), nothing, started)?;
        history::catch_up(archive, &mut state, Some(&context.interrupt))?;
    }
    let selected = select::select((context.config, &state), request, started)?;
    let rewriting = rewrite(context, archive, (&selected, request), started)?;
    let mut report = PurgeReport {
        pages: selected.pages_of.iter().map(|(id, n)| (id.clone(), *n)).collect(),
        denied: selected.denied.iter().map(|it| (it.source.clone(), it.url.clone())).collect(),
        commits: rewriting.commits.len(),
        objects: (rewriting.objects, rewriting.bytes),
        files: (rewriting.files, rewriting.file_bytes),
        pruned: None,
        moves: None,
    };
    if request.effect == Effect::DryRun {
        rewriting.discard()?;
        return Ok(report);
    }
    report.moves = Some(carry_out(&scene, &mut state, rewriting, started)?);
    let interrupt = Some(&context.interrupt);
    history::catch_up(archive, &mut state, interrupt)?;
    report.pruned = Some(clean_up(&scene, &state, WAIT)?);
    Ok(report)
}

/// Takes the lock of runs; ends a run that holds it, where that is wanted.
fn take_lock(
    context: &Context<'_>,
    archive: &Archive,
    (holder, request): (&str, &PurgeRequest),
) -> Result<RunLock, RunError> {
    let stops = request.running == Running::Stop && request.effect == Effect::Commit;
    let begun = context.clock.monotonic();
    let mut told = false;
    loop {
        match archive.lock(holder) {
            Err(ArchiveError::Locked { .. })
                if stops && context.clock.monotonic().duration_since(begun) < LONGEST_RUN =>
            {
                if !told {
                    door::stop_all(context, archive)?;
                    let what = "a run is in progress: it makes no further request, and its end is \
                                awaited";
                    context.progress.warn(what);
                    told = true;
                }
                if context.interrupt.is_raised() {
                    return Err(RunError::Interrupted);
                }
            }
            other => return Ok(other?),
        }
    }
}

/// A ref that is none of ours would keep what is taken down.
fn refuse_other_refs(archive: &Archive) -> Result<(), RunError> {
    let others = archive.other_refs()?;
    if others.is_empty() { Ok(()) } else { Err(RunError::OtherRefs(others.join(", "))) }
}

/// Writes both histories anew.
fn rewrite(
    context: &Context<'_>,
    archive: &Archive,
    (selected, request): (&Selected, &PurgeRequest),
    started: Timestamp,
) -> Result<Rewriting, RunError> {
    let message = RunMessage {
        started,
        kind: RunKind::Takedown,
        format: FORMAT_VERSION,
        extractor: extract::VERSION,
        sources: Vec::new(),
        upstreams: Vec::new(),
    };
    let message = message.encode();
    let tombstone = |(source, pages): (&SourceId, &usize)| Tombstone {
        date: started.date(),
        source: source.clone(),
        pages: *pages,
        why: request.why.clone(),
    };
    let notes = Notes {
        commit: NewCommit {
            bot: &context.config.bot,
            started,
            ended: context.clock.now(),
            public_message: &message,
            private_message: &message,
        },
        tombstones: selected.pages_of.iter().map(tombstone).collect(),
        denied: selected.denied.clone(),
    };
    let stopped = || ArchiveError::Git(GitError::Interrupted);
    let go_on = || if context.interrupt.is_raised() { Err(stopped()) } else { Ok(()) };
    let rewritten = archive.rewrite(&selected.takedown, &notes, &go_on);
    rewritten.map_err(|error| match error {
        ArchiveError::Git(GitError::Interrupted) => RunError::Interrupted,
        other => other.into(),
    })
}

/// Makes a takedown true: from the intent on it is carried out, whatever happens.
fn carry_out(
    scene: &Scene<'_>,
    state: &mut State,
    rewriting: Rewriting,
    started: Timestamp,
) -> Result<RefMove, RunError> {
    let archive = scene.archive;
    let public = rewriting.commits.iter().filter(|(on, ..)| *on == Visibility::Public);
    let public: Vec<(ObjectId, ObjectId)> = public.map(|(_, old, new)| (*old, *new)).collect();
    let moves = rewriting.finish()?;
    archive.begin_pruning()?;
    archive.note_rewritten(&public)?;
    let run = state.begin_run(RunKind::Takedown, started, &tips(&moves.old))?;
    let locks_since = archive.ref_locks().is_empty().then(|| scene.context.clock.machine());
    state.record_intent(run, (&tips(&moves.new), locks_since))?;
    move_refs(archive, state, (run, &moves))?;
    let intent = state.run(run)?;
    intent.map_or(Ok(()), |intent| complete(scene, state, &intent))?;
    Ok(moves)
}

/// Brings the state into step with refs that a takedown moved.
pub(super) fn complete(
    scene: &Scene<'_>,
    state: &mut State,
    intent: &RunRow,
) -> Result<(), RunError> {
    let archive = scene.archive;
    let (old, new) = (heads(&intent.old)?, heads(&intent.new)?);
    // It speaks of commits that are no more; it is made anew.
    state.forget_history()?;
    state.forget_pending()?;
    for visibility in Visibility::BOTH {
        let Some(tip) = new.of(visibility) else { continue };
        let place = (visibility, old.of(visibility), tip);
        recover::put_differences((archive, state), place, intent.id)?;
    }
    let denied = Snapshot::open(archive, new.private)?.file("denied.tsv")?.unwrap_or_default();
    let denied: Vec<_> =
        decode_denied(&denied).into_iter().map(|d| (d.source, d.url, d.since)).collect();
    state.restore_denied(&denied)?;
    state.forget_denied()?;
    for visibility in Visibility::BOTH {
        let pairs = rewritten(archive, (old.of(visibility), new.of(visibility)))?;
        state.rename_commits(&pairs)?;
    }
    let record = CommitRecord { tips: intent.new.clone(), ..CommitRecord::default() };
    let ended = scene.context.clock.now();
    Ok(state.record_commit(intent.id, ended, (&record, Vec::new()))?)
}

/// The commits of a ref that others stand for since a takedown: old and new id.
fn rewritten(
    archive: &Archive,
    (old, new): (Option<ObjectId>, Option<ObjectId>),
) -> Result<Vec<(String, String)>, RunError> {
    let mut pairs = Vec::new();
    // The newest one notes the takedown and stands for none.
    for (old, new) in archive.walk(old).zip(archive.walk(new).skip(1)) {
        let (old, new) = (old?.commit, new?.commit);
        if old == new {
            break;
        }
        pairs.push((old.to_string(), new.to_string()));
    }
    Ok(pairs)
}

/// Removes all that still holds what was taken down: caches of repositories, answers that were
/// kept, objects that no ref reaches.
pub(super) fn clean_up(
    scene: &Scene<'_>,
    state: &State,
    wait: Duration,
) -> Result<Pruned, RunError> {
    let archive = scene.archive;
    if !archive.is_pruning_due() {
        return Ok(Pruned::NotDue);
    }
    if state.open_crawl()?.is_none() {
        Spool::remove(&archive.spool_file());
    }
    let denied = Snapshot::open(archive, archive.heads()?.private)?.file("denied.tsv")?;
    let denied = decode_denied(&denied.unwrap_or_default());
    for source in denied.iter().map(|entry| &entry.source).collect::<BTreeSet<_>>() {
        let caches = archive.upstream_folder().join(source);
        match fs::remove_dir_all(&caches) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(ArchiveError::Io { what: "remove", path: caches, error }.into());
            }
            _ => {}
        }
    }
    archive.release_packs()?;
    Ok(archive.prune(scene.lock, &scene.context.git, wait)?)
}

/// The same at the beginning of a run: where somebody reads all packs, a later run does it.
pub(super) fn clean_up_first(scene: &Scene<'_>, state: &State) -> Result<(), RunError> {
    match clean_up(scene, state, Duration::ZERO)? {
        Pruned::NotDue => {}
        Pruned::Busy => scene.context.progress.warn(
            "what was taken down is still in old packs, which are being read; the next run \
             removes it",
        ),
        Pruned::Done { .. } => scene.context.progress.warn("finished the takedown that was killed"),
    }
    Ok(())
}
