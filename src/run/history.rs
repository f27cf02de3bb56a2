//! Keeping the index of the history in step with the refs.
//!
//! Whatever is added is read from the trees of the commits themselves, so that a run that
//! ends, one that was killed and a state that is made anew go the same way.

use super::RunError;
use crate::archive::{
    Archive, ArchiveError, Heads, ObjectId, PageDifference, PageDifferences, RefMove, Snapshot,
    Step, decode_page, id_bytes,
};
use crate::git::Interrupt;
use crate::model::{RunId, Timestamp, Visibility};
use crate::state::{Addition, Cause, CommitRecord, PageChange, State, StateError};

/// What came of bringing the index into step.
pub(super) enum CaughtUp {
    /// It is, with so many commits that it lacked.
    With(usize),
    /// It is not, since the archive cannot be read: questions are answered without it.
    Not(String),
}

/// Brings the index of the history into step with the refs. Where what it lists is not the
/// past of the refs any more, it is made anew. Killed, the next call goes on.
pub(super) fn catch_up(
    archive: &Archive,
    state: &mut State,
    interrupt: Option<&Interrupt>,
) -> Result<CaughtUp, RunError> {
    match try_catch_up(archive, state, interrupt) {
        Err(error @ (RunError::Archive(_) | RunError::State(StateError::History(_)))) => {
            Ok(CaughtUp::Not(format!(
                "the index of the history is not in step, so history, show and changes walk all \
                 commits: {error}"
            )))
        }
        other => other.map(CaughtUp::With),
    }
}

fn try_catch_up(
    archive: &Archive,
    state: &mut State,
    interrupt: Option<&Interrupt>,
) -> Result<usize, RunError> {
    let (heads, mut known) = (archive.heads()?, indexed(state)?);
    if known == heads {
        return Ok(0);
    }
    let mut steps = archive.steps(&known, &heads)?;
    if !follow(state, &steps, heads)? {
        state.forget_history()?;
        known = Heads::default();
        steps = archive.steps(&known, &heads)?;
    }
    tracing::info!(commits = steps.len(), "bringing the index of the history into step");
    let stopped = || interrupt.is_some_and(Interrupt::is_raised);
    let additions = steps.iter().map(|step| {
        if stopped() { Err(RunError::Interrupted) } else { Ok(addition(archive, step)?) }
    });
    state.index_commits(additions)?;
    Ok(steps.len())
}

/// Whether steps that lead to the tips follow the last commits that the index lists, on both
/// refs, and began no earlier than these.
fn follow(state: &State, steps: &[Step], heads: Heads) -> Result<bool, RunError> {
    for visibility in Visibility::BOTH {
        let last = state.last_indexed(visibility)?;
        let first = steps.iter().find(|step| step.visibility == visibility);
        let parent = first.map_or(heads.of(visibility), |step| step.parent);
        if parent != last.map(|commit| ObjectId::from(commit.id)) {
            return Ok(false);
        }
        if let (Some(first), Some(last)) = (steps.first(), last)
            && first.started < last.started
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes down that the refs have moved, with all that is true now. The index goes along
/// unless it was out of step with where the refs were: the next run brings it there.
pub(super) fn record(
    archive: &Archive,
    state: &mut State,
    (run, ended, moves): (RunId, Timestamp, &RefMove),
    record: &CommitRecord,
) -> Result<(), RunError> {
    let mut additions = Vec::new();
    let in_step = indexed(state)? == moves.old;
    for visibility in Visibility::BOTH.into_iter().filter(|_| in_step) {
        let (parent, commit) = (moves.old.of(visibility), moves.new.of(visibility));
        if let Some(commit) = commit.filter(|_| commit != parent) {
            let started = archive.run(commit)?.started;
            additions.push(addition(archive, &Step { visibility, commit, parent, started })?);
        }
    }
    Ok(state.record_commit(run, ended, (record, additions))?)
}

/// The last commits that the index lists.
fn indexed(state: &State) -> Result<Heads, RunError> {
    let last = |visibility| -> Result<Option<ObjectId>, RunError> {
        Ok(state.last_indexed(visibility)?.map(|commit| ObjectId::from(commit.id)))
    };
    Ok(Heads { public: last(Visibility::Public)?, private: last(Visibility::Private)? })
}

fn addition<'a>(archive: &'a Archive, step: &Step) -> Result<Addition<'a>, ArchiveError> {
    let Step { visibility, commit, parent, started } = *step;
    let differences = PageDifferences::between(archive, parent, Some(commit))?;
    let files = Snapshot::open(archive, None)?;
    let changes = differences
        .map(move |difference| difference.and_then(|it| change(&files, it)).map_err(Cause::from));
    Ok(Addition { visibility, id: id_bytes(commit), started, changes: Box::new(changes) })
}

fn change(files: &Snapshot, difference: PageDifference) -> Result<PageChange, ArchiveError> {
    let PageDifference { entry, old, new } = difference;
    let url = match old.filter(|_| new.is_none()) {
        // One that is not of the format has no URL, and is not found by one.
        Some(old) => decode_page(&files.read(old)?).ok().map(|page| page.url.to_string()),
        None => None,
    };
    Ok(PageChange {
        source: entry.source,
        path: entry.path.to_string(),
        file: new.map(id_bytes),
        url,
    })
}
