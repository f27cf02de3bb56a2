//! After the last commit of a run: the archive's upkeep, within its budget.
//!
//! The run is done by then: whatever upkeep meets, its end stays the same.

use super::Context;
use crate::archive::{Archive, ArchiveError, RunLock, Upkeep, UpkeepMeans};
use crate::git::GitError;

/// Does what is due; tells of what could not be done.
pub(super) fn keep_up(context: &Context<'_>, archive: &Archive, lock: &RunLock) {
    let longest = context.config.run.upkeep;
    if longest.is_zero() || context.interrupt.is_raised() {
        return;
    }
    let begun = context.clock.monotonic();
    let spent = || context.clock.monotonic().saturating_duration_since(begun);
    let left = || longest.saturating_sub(spent());
    let means = UpkeepMeans { git: &context.git, longest, left: &left };
    let done = archive.keep_up(lock, &means);
    let seconds = spent().as_secs_f64();
    match done {
        Ok(Upkeep::NotDue) => tracing::debug!(seconds, "upkeep: nothing is due"),
        Ok(Upkeep::Busy) => tracing::info!("upkeep: the packs are being read; a later run does it"),
        Ok(Upkeep::Done { packs, before, after }) => {
            tracing::info!(packs, before, after, seconds, "upkeep: packs became one");
        }
        Err(ArchiveError::Git(GitError::Interrupted)) => {
            tracing::info!(seconds, "upkeep: interrupted; a later run goes on");
        }
        Err(ArchiveError::Git(error @ GitError::TimedOut { .. })) => {
            tracing::info!(seconds, %error, "upkeep: its time is up; a later run does less at once");
        }
        Err(error) => context.progress.warn(&format!(
            "the run is committed, but the archive's upkeep failed, and the next run tries it \
             again: {error}"
        )),
    }
}
