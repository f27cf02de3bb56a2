//! The end of a pass: everything becomes durable, in order.

use std::path::PathBuf;

use super::pass::{Pass, tips};
use super::{Context, Effect, Report, RunError, SourceReport, history};
use crate::archive::{
    Archive, ArchiveFile, FORMAT_VERSION, NewCommit, RefMove, RunMessage, SourceLine,
};
use crate::extract;
use crate::model::{RunId, RunKind, UpstreamHead, Visibility};
use crate::state::State;

/// Commits a pass, or gives only its report.
pub(super) fn finish(mut pass: Pass<'_>, effect: Effect) -> Result<Report, RunError> {
    let config = pass.context.config;
    pass.reports.sort_by_key(|report| config.sources.iter().position(|s| s.id == report.source));
    pass.heads.sort();
    let ended = pass.context.clock.now();
    let mut report = Report {
        run: pass.run,
        started: pass.started,
        ended,
        commits: None,
        sources: std::mem::take(&mut pass.reports),
    };
    let Some(run) = pass.run.filter(|_| effect == Effect::Commit) else {
        pass.writer.discard()?;
        return Ok(report);
    };

    for visibility in Visibility::BOTH {
        let files = ArchiveFile::all(&config.bot, &config.sources, visibility, pass.archive.case());
        pass.writer.put_root(visibility, &files)?;
    }
    let message = |visibility| message(&pass, &report, visibility).encode();
    let (public, private) = (message(Visibility::Public), message(Visibility::Private));
    let new = NewCommit {
        bot: &config.bot,
        started: pass.started,
        ended,
        public_message: &public,
        private_message: &private,
    };
    if let Err(error) = pass.check_interrupt() {
        pass.leave();
        return Err(error);
    }
    tracing::info!(kind = ?pass.kind, "committing");
    let Pass { context, archive, state, writer, kind, mut record, caches, .. } = pass;
    let committed = || -> Result<_, RunError> {
        let moves = writer.finish(&new)?;
        let locks_since = archive.ref_locks().is_empty().then(|| context.clock.machine());
        state.record_intent(run, (&tips(&moves.new), locks_since))?;
        state.end_crawl()?;
        tracing::info!("objects and intent are on disk");
        move_refs(archive, state, (run, &moves))?;
        record.tips = tips(&moves.new);
        match history::record(archive, state, (run, ended, &moves), &record) {
            // Nothing follows in this run that would build on it.
            Err(error) if kind == RunKind::Read => context.progress.warn(&format!(
                "committed, but that could not be noted, so the next run does it: {error}"
            )),
            other => other?,
        }
        Ok(moves)
    };
    let moves = committed();
    if moves.is_err()
        && let Err(error) = state.roll_back_crawl()
    {
        tracing::warn!(%error, "the crawl was not put back to its last checkpoint");
    }
    let moves = moves?;
    tidy(context, archive, &caches);
    let hex =
        |id: Option<crate::archive::ObjectId>| id.map(|id| id.to_string()).unwrap_or_default();
    report.commits = Some((hex(moves.new.public), hex(moves.new.private)));
    Ok(report)
}

/// What is better done after a commit, and does no harm where it fails.
fn tidy(context: &Context<'_>, archive: &Archive, caches: &[(PathBuf, String)]) {
    if let Err(error) = archive.fold_packs() {
        tracing::warn!(%error, "the packs of the run were not folded");
    }
    for (cache, commit) in caches {
        if let Err(error) = context.git.keep_archived(cache, commit) {
            tracing::warn!(%error, "the cache could not be told what is archived");
        }
    }
}

/// What the commit of one ref says.
fn message(pass: &Pass<'_>, report: &Report, visibility: Visibility) -> RunMessage {
    let line = |report: &SourceReport| SourceLine {
        source: report.source.clone(),
        counts: report.counts,
        complete: report.is_complete(),
    };
    RunMessage {
        started: pass.started,
        kind: pass.kind,
        format: FORMAT_VERSION,
        extractor: extract::VERSION,
        sources: report.sources.iter().map(line).collect(),
        upstreams: heads_for(visibility, &pass.heads),
    }
}

/// Moves the refs of a run whose intent is on disk.
pub(super) fn move_refs(
    archive: &Archive,
    state: &mut State,
    (run, moves): (RunId, &RefMove),
) -> Result<(), RunError> {
    let moved = archive.move_refs(moves);
    if moved.is_err()
        && let Err(error) = state.record_ref_locks(run, None)
    {
        // Our own locks are gone, but the next run will not know whose the others are.
        tracing::warn!(%error, "it could not be noted that lock files are somebody else's");
    }
    Ok(moved?)
}

/// The upstream commits that a ref's message names: those of its own sources, and on the
/// private ref those of all.
fn heads_for(visibility: Visibility, heads: &[(Visibility, UpstreamHead)]) -> Vec<UpstreamHead> {
    let shown =
        heads.iter().filter(|(of, _)| visibility == Visibility::Private || *of == visibility);
    shown.map(|(_, head)| head.clone()).collect()
}
