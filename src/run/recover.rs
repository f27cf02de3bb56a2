//! What is done first, under the run lock: whatever a killed run left is finished or
//! forgotten, and the state is brought into step with the archive.

use std::collections::HashMap;

use super::commit::move_refs;
use super::pass::tips;
use super::{Context, RunError};
use crate::archive::{
    Archive, ArchiveError, ArchivedRun, Heads, ObjectId, PRIVATE_REF, PUBLIC_REF, PageEntry,
    RefMove, RunLock, Snapshot, decode_denied, decode_page, pages_changed, sketch,
};
use crate::model::{RunId, RunKind, SourceId, Tips, Visibility};
use crate::state::{CommitRecord, PageRow, RunRow, State, UpstreamRow};

/// The archive of a run, under its lock.
pub(super) struct Scene<'a> {
    pub context: &'a Context<'a>,
    pub archive: &'a Archive,
    pub lock: &'a RunLock,
}

/// Brings everything into step.
pub(super) fn recover(scene: &Scene<'_>, state: &mut State) -> Result<(), RunError> {
    let archive = scene.archive;
    archive.remove_temporary_packs(scene.lock)?;
    if let Err(error) = archive.remove_upkeep_left_overs(scene.lock) {
        // A call of Git that outlived its run may still be writing there.
        tracing::warn!(%error, "what an upkeep left could not be removed");
    }
    if let Some(intent) = state.unfinished_intent()? {
        finish_intent(scene, state, &intent)?;
    }
    state.abandon_open_runs()?;
    // The objects of a run that can be gone on with are in no commit yet.
    if state.open_crawl()?.is_none() {
        archive.fold_packs()?;
    }
    for put_back in archive.restore_guards(&scene.context.git)? {
        scene.context.progress.warn(&format!("{}: {}", put_back.place, put_back.what));
    }
    let (known, found) = (state.tips()?, archive.heads()?);
    if known == tips(&found) {
        return Ok(());
    }
    // A state that speaks of no commit is new, or was killed while it was made anew.
    if known == Tips::default() {
        return rebuild(archive, state);
    }
    for (name, known, found) in
        [(PUBLIC_REF, &known.public, found.public), (PRIVATE_REF, &known.private, found.private)]
    {
        refuse_moved_ref(name, known.as_deref(), found)?;
    }
    Ok(())
}

/// Accepts the refs as they are, whatever moved them: forgets unfinished intents and makes
/// the state anew. Gives how many pages it now knows.
///
/// # Errors
/// The archive cannot be read or the state cannot be written.
pub fn accept_refs(archive: &Archive, state: &mut State) -> Result<usize, RunError> {
    if let Some(fault) = archive.history_faults()?.into_iter().next() {
        // A run on top of it would make it the archive's own.
        return Err(ArchiveError::Format { place: fault.place, why: fault.what }.into());
    }
    while let Some(intent) = state.unfinished_intent()? {
        state.abandon_run(intent.id)?;
    }
    rebuild(archive, state)?;
    let counts = state.page_counts()?;
    Ok(counts.iter().map(|(_, n)| usize::try_from(*n).unwrap_or(usize::MAX)).sum())
}

/// Rolls a run forward whose refs may or may not have moved.
fn finish_intent(scene: &Scene<'_>, state: &mut State, intent: &RunRow) -> Result<(), RunError> {
    let (archive, context) = (scene.archive, scene.context);
    if let Some(at) = intent.intent_at {
        archive.remove_own_ref_locks(at)?;
    }
    let (old, new) = (heads(&intent.old)?, heads(&intent.new)?);
    let found = archive.heads()?;
    let reached = |found, old, new| found == old || found == new;
    let both = reached(found.public, old.public, new.public)
        && reached(found.private, old.private, new.private);
    if !both {
        refuse_moved_ref(PUBLIC_REF, intent.old.public.as_deref(), found.public)?;
        refuse_moved_ref(PRIVATE_REF, intent.old.private.as_deref(), found.private)?;
    }
    if !archive.has_commits(&new) {
        // The disk lost what was said to be on it: the run never was.
        state.abandon_run(intent.id)?;
        return Ok(());
    }
    if found != new {
        let locks_since = archive.ref_locks().is_empty().then(|| context.clock.machine());
        state.record_ref_locks(intent.id, locks_since)?;
        move_refs(archive, state, (intent.id, &RefMove { old: found, new }))?;
    }
    let mut record = CommitRecord { tips: intent.new.clone(), ..CommitRecord::default() };
    for visibility in [Visibility::Public, Visibility::Private] {
        let Some(tip) = new.of(visibility) else { continue };
        let (pages, removed) =
            differences(archive, (visibility, old.of(visibility), tip), intent.id)?;
        record.pages.extend(pages);
        record.removed.extend(removed);
    }
    record
        .removed
        .retain(|gone| !record.pages.iter().any(|p| p.source == gone.0 && p.path == gone.1));
    let upstreams = last_upstreams(archive, state)?;
    record.upstreams = upstreams;
    state.record_commit(intent.id, context.clock.now(), &record)?;
    tracing::info!(run = %intent.id, "finished the run that was killed while it committed");
    Ok(())
}

/// Fails where a ref is not where the state says.
fn refuse_moved_ref(
    name: &str,
    known: Option<&str>,
    found: Option<ObjectId>,
) -> Result<(), RunError> {
    let shown = |id: Option<&str>| id.unwrap_or("no commit").to_owned();
    let found = found.map(|id| id.to_string());
    if known == found.as_deref() {
        return Ok(());
    }
    let moved = ArchiveError::RefMoved {
        name: name.to_owned(),
        expected: shown(known),
        found: shown(found.as_deref()),
    };
    Err(moved.into())
}

pub(super) fn heads(tips: &Tips) -> Result<Heads, RunError> {
    let id = |hex: &Option<String>| {
        let parsed = hex.as_ref().map(|hex| ObjectId::from_hex(hex.as_bytes())).transpose();
        parsed.map_err(|error| ArchiveError::Format {
            place: "the state".to_owned(),
            why: error.to_string(),
        })
    };
    Ok(Heads { public: id(&tips.public)?, private: id(&tips.private)? })
}

/// Makes the state anew from the archive. The tips come last: killed before, it is begun
/// again.
fn rebuild(archive: &Archive, state: &mut State) -> Result<(), RunError> {
    let found = archive.heads()?;
    state.forget_pages()?;
    let mut numbers = HashMap::new();
    let public = archive.runs(found.public)?;
    let private = archive.runs(found.private)?;
    // Commits of one run share start and kind; a ref that was put back by hand lacks some.
    let kind_of = |run: &ArchivedRun| run.message.as_ref().map_or(RunKind::Read, |m| m.kind);
    let mut beside: HashMap<_, Vec<&ArchivedRun>> = HashMap::new();
    for run in &private {
        beside.entry((run.started, kind_of(run))).or_default().push(run);
    }
    for run in public.iter().rev() {
        let kind = kind_of(run);
        let beside = beside.get_mut(&(run.started, kind)).and_then(Vec::pop);
        let beside = beside.map(|run| run.commit.to_string());
        let new = Tips { public: Some(run.commit.to_string()), private: beside };
        let id = state.restore_run(kind, (run.started, run.ended), &new)?;
        numbers.entry(run.started).or_insert(id);
    }
    for visibility in [Visibility::Public, Visibility::Private] {
        let Some(tip) = found.of(visibility) else { continue };
        let (mut pages, _) = differences(archive, (visibility, None, tip), RunId(0))?;
        let retrieved = Snapshot::open(archive, Some(tip))?;
        for row in &mut pages {
            let id = ObjectId::from_hex(row.blob.as_bytes()).ok();
            let page = id
                .and_then(|id| retrieved.read(id).ok())
                .and_then(|bytes| decode_page(&bytes).ok());
            row.run =
                page.and_then(|page| numbers.get(&page.retrieved).copied()).unwrap_or(RunId(0));
        }
        state.restore_pages(&pages)?;
    }
    for upstream in last_upstreams(archive, state)? {
        state.restore_upstream(&upstream)?;
    }
    let denied = Snapshot::open(archive, found.private)?.file("denied.tsv")?.unwrap_or_default();
    let denied: Vec<_> =
        decode_denied(&denied).into_iter().map(|d| (d.source, d.url, d.since)).collect();
    state.restore_denied(&denied)?;
    state.record_tips(&tips(&found))?;
    Ok(())
}

type Differences = (Vec<PageRow>, Vec<(SourceId, String)>);

/// Pages that are new, changed or gone between two commits of a ref.
fn differences(
    archive: &Archive,
    (visibility, old, new): (Visibility, Option<ObjectId>, ObjectId),
    run: RunId,
) -> Result<Differences, RunError> {
    let snapshot = Snapshot::open(archive, Some(new))?;
    let (mut pages, mut removed) = (Vec::new(), Vec::new());
    for (entry, blob) in pages_changed(archive, old, new)? {
        match blob {
            None => removed.push((entry.source, entry.path.to_string())),
            Some(blob) => match page_row(&snapshot, (visibility, entry), blob, run) {
                // `audit` tells of it; the next run that reads it replaces it.
                Err(RunError::Archive(error @ ArchiveError::Format { .. })) => {
                    tracing::warn!(%error, "a stored page is left out of the state");
                }
                row => pages.push(row?),
            },
        }
    }
    Ok((pages, removed))
}

/// What the state keeps of a page.
pub(super) fn page_row(
    snapshot: &Snapshot,
    (visibility, entry): (Visibility, PageEntry),
    blob: ObjectId,
    run: RunId,
) -> Result<PageRow, RunError> {
    let page = decode_page(&snapshot.read(blob)?)
        .map_err(|why| ArchiveError::Format { place: entry.page_path(), why: why.to_string() })?;
    Ok(PageRow {
        source: entry.source,
        path: entry.path.to_string(),
        url: page.url.to_string(),
        blob: blob.to_string(),
        sketch: (visibility == Visibility::Private).then(|| sketch(&page.body)),
        run,
    })
}

/// The upstream commits that the archive's messages name last. What they were converted
/// with is not known, so the next run converts everything once.
fn last_upstreams(archive: &Archive, state: &State) -> Result<Vec<UpstreamRow>, RunError> {
    let runs: Vec<ArchivedRun> = archive.runs(archive.heads()?.private)?;
    let mut rows: HashMap<(SourceId, String), UpstreamRow> = HashMap::new();
    for run in runs {
        let Some(message) = run.message else { continue };
        for head in message.upstreams {
            let key = (head.source.clone(), head.repository.clone());
            if rows.contains_key(&key) {
                continue;
            }
            let known = state.upstream(&head.source, &head.repository)?;
            let same = known.filter(|row| row.commit == head.commit);
            rows.insert(
                key,
                same.unwrap_or(UpstreamRow {
                    source: head.source,
                    repository: head.repository,
                    commit: head.commit,
                    settings: String::new(),
                    extractor: message.extractor,
                    pages: 0,
                    trouble: None,
                }),
            );
        }
    }
    let mut rows: Vec<UpstreamRow> = rows.into_values().collect();
    rows.sort_by(|a, b| (&a.source, &a.repository).cmp(&(&b.source, &b.repository)));
    Ok(rows)
}
