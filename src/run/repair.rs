//! Making anew what can be made anew, for `audit --repair`.
//!
//! Changes no commit and no ref; tells each thing that it did. Whatever is not told is left
//! as it is, and the audit that follows names it.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::agree::{self, Mismatch};
use super::history::CaughtUp;
use super::recover::{accept_refs, page_row};
use super::{RunError, history};
use crate::archive::{Archive, RunLock, Snapshot};
use crate::git::Git;
use crate::model::{RunId, Timestamp, Tips};
use crate::state::{Condition, Spool, State, set_file_aside};

/// Pages that are brought into step one by one; where more are not, the state is made anew.
const SINGLY: usize = 10_000;

/// Repairs an archive under its lock; `tell` hears of each thing that was done.
///
/// # Errors
/// Another run holds the lock, something cannot be read or written, or the public ref holds
/// private commits.
pub fn repair(
    (archive, git): (&Archive, &Git),
    now: Timestamp,
    tell: &mut dyn FnMut(&str),
) -> Result<(), RunError> {
    let lock = archive.lock(&format!("process {}, repairing", std::process::id()))?;
    let told = Cell::new(false);
    let mut tell = |text: &str| {
        told.set(true);
        tell(text);
    };
    remove_left_overs(archive, &lock, &mut tell)?;
    put_guards_back(archive, git, &mut tell)?;
    let mark = now.to_string().replace(':', "");
    set_damaged_aside(archive, &mark, &mut tell)?;
    let existed = archive.state_file().exists();
    let (mut state, condition) = State::open(&archive.state_file(), &mark)?;
    if let Condition::SetAside(aside) = condition {
        tell(&format!("the state was damaged; it is kept as {}", aside.display()));
    }
    remove_own_locks(archive, &state, &mut tell)?;
    let fresh = !existed && archive.heads()? == crate::archive::Heads::default();
    let moved = !agree::speaks_of_tips(archive, &state)? && state.tips()? != Tips::default();
    if !fresh && (!agree::speaks_of_tips(archive, &state)? || state.unfinished_intent()?.is_some())
    {
        let pages = accept_refs(archive, &mut state)?;
        tell(&format!("made the state anew: {pages} pages"));
        if moved {
            archive.accept_commits(git)?;
            tell("accepted the refs, and the commits that they reach, as they are");
        }
    } else {
        bring_into_step(archive, &mut state, &mut tell)?;
    }
    match history::catch_up(archive, &mut state, None)? {
        CaughtUp::With(0) => {}
        CaughtUp::With(commits) => {
            tell(&format!("brought the index of the history into step: {commits} commits"));
        }
        CaughtUp::Not(why) => tell(&why),
    }
    if state.open_crawl()?.is_none() {
        if archive.spool_file().exists() {
            Spool::remove(&archive.spool_file());
            tell(&format!("removed {}", archive.spool_file().display()));
        }
        archive.fold_packs()?;
    }
    if !told.get() {
        tell("nothing to repair");
    }
    Ok(())
}

type Tell<'a> = &'a mut dyn FnMut(&str);

fn remove_left_overs(archive: &Archive, lock: &RunLock, tell: Tell<'_>) -> Result<(), RunError> {
    let left = archive.left_overs();
    archive.remove_temporary_packs(lock)?;
    archive.remove_upkeep_left_overs(lock)?;
    for path in left {
        tell(&format!("removed {}", path.display()));
    }
    Ok(())
}

fn put_guards_back(archive: &Archive, git: &Git, tell: Tell<'_>) -> Result<(), RunError> {
    let before = archive.restore_guards(git)?;
    let after: BTreeSet<_> = archive.guard_faults(git)?.into_iter().collect();
    for fault in before.iter().filter(|fault| !after.contains(fault)) {
        tell(&format!("put right {}: {}", fault.place, fault.what));
    }
    Ok(())
}

fn set_damaged_aside(archive: &Archive, mark: &str, tell: Tell<'_>) -> Result<(), RunError> {
    for (path, _) in agree::damaged_files(archive)? {
        if path == archive.spool_file() {
            Spool::remove(&path);
            tell(&format!("removed {}, which was damaged", path.display()));
            continue;
        }
        let what = if path == archive.state_file() { "the state" } else { "the politeness file" };
        let aside = set_file_aside(&path, mark)?;
        tell(&format!("{what} was damaged; it is kept as {}", aside.display()));
    }
    Ok(())
}

/// Removes locks on the refs that a killed run of ours left.
fn remove_own_locks(archive: &Archive, state: &State, tell: Tell<'_>) -> Result<(), RunError> {
    let Some(at) = state.unfinished_intent()?.and_then(|run| run.intent_at) else { return Ok(()) };
    let before = archive.ref_locks();
    archive.remove_own_ref_locks(at)?;
    let after = archive.ref_locks();
    for path in before.iter().filter(|path| !after.contains(path)) {
        tell(&format!("removed {}", path.display()));
    }
    Ok(())
}

/// Makes the rows of single pages what the archive has.
fn bring_into_step(archive: &Archive, state: &mut State, tell: Tell<'_>) -> Result<(), RunError> {
    let mut found: Vec<Mismatch> = Vec::new();
    let mut more = false;
    agree::mismatches(archive, state, &mut |mismatch| {
        more |= found.len() == SINGLY;
        if !more {
            found.push(mismatch);
        }
        Ok(())
    })?;
    if found.is_empty() {
        return Ok(());
    }
    if more {
        let pages = accept_refs(archive, state)?;
        tell(&format!("made the state anew: {pages} pages"));
        return Ok(());
    }
    let places: Vec<_> =
        found.iter().map(|mismatch| (mismatch.source.clone(), mismatch.path.clone())).collect();
    let snapshot = Snapshot::open(archive, None)?;
    let mut rows = Vec::new();
    for mismatch in &found {
        let (Some((visibility, blob)), Some(entry)) = (mismatch.found, agree::entry_of(mismatch))
        else {
            continue;
        };
        rows.extend(page_row(&snapshot, (visibility, entry), blob, RunId(0)).ok());
    }
    state.forget_pages_at(&places)?;
    state.restore_pages(&rows)?;
    tell(&format!(
        "brought {} pages of the state into step with the archive; the next run reads them anew",
        places.len()
    ));
    Ok(())
}
