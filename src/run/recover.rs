//! What is done first, under the run lock: whatever a killed run left is finished or
//! forgotten, and the state is brought into step with the archive.

use std::collections::HashMap;

use super::commit::move_refs;
use super::history::CaughtUp;
use super::pass::tips;
use super::{Context, RunError, history, purge};
use crate::archive::{
    Archive, ArchiveError, ArchivedRun, Heads, ObjectId, PRIVATE_REF, PUBLIC_REF, PageDifference,
    PageDifferences, PageEntry, RefMove, RunLock, Snapshot, decode_denied, decode_page, sketch,
};
use crate::model::{RunId, RunKind, SourceId, Timestamp, Tips, Visibility};
use crate::state::{CommitRecord, KnownRun, PageRow, RunRow, State, UpstreamRow};

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
    // A state that speaks of no commit is new, or was killed while it was made anew.
    if known == Tips::default() && known != tips(&found) {
        rebuild(archive, state)?;
    } else {
        refuse_moved_ref(PUBLIC_REF, known.public.as_deref(), found.public)?;
        refuse_moved_ref(PRIVATE_REF, known.private.as_deref(), found.private)?;
    }
    purge::clean_up_first(scene, state)?;
    let interrupt = Some(&scene.context.interrupt);
    if let CaughtUp::Not(why) = history::catch_up(archive, state, interrupt)? {
        scene.context.progress.warn(&why);
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
    if intent.kind == RunKind::Takedown.name() {
        return purge::complete(scene, state, intent);
    }
    let mut record = CommitRecord { tips: intent.new.clone(), ..CommitRecord::default() };
    state.forget_pending()?;
    for visibility in Visibility::BOTH {
        let Some(tip) = new.of(visibility) else { continue };
        let place = (visibility, old.of(visibility), tip);
        put_differences((archive, state), place, intent.id)?;
    }
    // What the state knows of upstreams is right up to the commit before.
    let before = old.private;
    let runs = archive
        .walk(new.private)
        .take_while(|run| run.as_ref().map_or(true, |run| Some(run.commit) != before));
    record.upstreams = last_upstreams(runs, state)?;
    let moves = RefMove { old, new };
    history::record(archive, state, (intent.id, context.clock.now(), &moves), &record)?;
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
    let numbers = restore_runs(archive, state, &found)?;
    for visibility in Visibility::BOTH {
        let Some(tip) = found.of(visibility) else { continue };
        restore_pages(archive, state, (visibility, tip), &numbers)?;
    }
    for upstream in last_upstreams(archive.walk(found.private), state)? {
        state.restore_upstream(&upstream)?;
    }
    let denied = Snapshot::open(archive, found.private)?.file("denied.tsv")?.unwrap_or_default();
    let denied: Vec<_> =
        decode_denied(&denied).into_iter().map(|d| (d.source, d.url, d.since)).collect();
    state.restore_denied(&denied)?;
    state.record_tips(&tips(&found))?;
    Ok(())
}

/// Runs or pages that are written at once while the state is made anew.
const CHUNK: usize = 1000;

/// Writes down the runs that the commits tell of; gives their numbers by their start.
fn restore_runs(
    archive: &Archive,
    state: &mut State,
    heads: &Heads,
) -> Result<HashMap<Timestamp, RunId>, RunError> {
    // Commits of one run share start and kind; a ref that was put back by hand lacks some.
    let kind_of = |run: &ArchivedRun| run.message.as_ref().map_or(RunKind::Read, |m| m.kind);
    let mut beside: HashMap<_, Vec<ObjectId>> = HashMap::new();
    for run in archive.walk(heads.private) {
        let run = run?;
        beside.entry((run.started, kind_of(&run))).or_default().push(run.commit);
    }
    let mut runs = Vec::new();
    for run in archive.walk(heads.public) {
        let run = run?;
        runs.push((run.commit, kind_of(&run), run.started, run.ended));
    }
    let mut numbers = HashMap::new();
    while !runs.is_empty() {
        let newest = runs.split_off(runs.len().saturating_sub(CHUNK));
        let known = newest.into_iter().rev().map(|(public, kind, started, ended)| {
            let private = beside.get_mut(&(started, kind)).and_then(Vec::pop);
            let new = tips(&Heads { public: Some(public), private });
            KnownRun { kind, started, ended, new }
        });
        let known: Vec<KnownRun> = known.collect();
        for (run, id) in known.iter().zip(state.restore_runs(&known)?) {
            numbers.entry(run.started).or_insert(id);
        }
    }
    Ok(numbers)
}

/// Writes down the pages of a commit, each with the run that its text came with.
fn restore_pages(
    archive: &Archive,
    state: &mut State,
    (visibility, tip): (Visibility, ObjectId),
    numbers: &HashMap<Timestamp, RunId>,
) -> Result<(), RunError> {
    let files = Snapshot::open(archive, None)?;
    let mut rows = Vec::new();
    for difference in PageDifferences::between(archive, None, Some(tip))? {
        let PageDifference { entry, new, .. } = difference?;
        let Some(blob) = new else { continue };
        let stored = of_the_format(stored_page(&files, (visibility, entry), blob))?;
        rows.extend(stored.map(|(retrieved, row)| PageRow {
            run: numbers.get(&retrieved).copied().unwrap_or(RunId(0)),
            ..row
        }));
        if rows.len() >= CHUNK {
            state.restore_pages(&std::mem::take(&mut rows))?;
        }
    }
    Ok(state.restore_pages(&rows)?)
}

/// Notes the pages that are new, changed or gone between two commits of a ref, as the run
/// itself did.
pub(super) fn put_differences(
    (archive, state): (&Archive, &mut State),
    (visibility, old, new): (Visibility, Option<ObjectId>, ObjectId),
    run: RunId,
) -> Result<(), RunError> {
    let files = Snapshot::open(archive, None)?;
    for difference in PageDifferences::between(archive, old, Some(new))? {
        let PageDifference { entry, new, .. } = difference?;
        match new {
            None => state.drop_page(&entry.source, entry.path.as_str())?,
            Some(blob) => {
                if let Some(page) = of_the_format(page_row(&files, (visibility, entry), blob, run))?
                {
                    state.put_page(&page)?;
                }
            }
        }
    }
    Ok(())
}

/// What the state keeps of a page.
pub(super) fn page_row(
    files: &Snapshot,
    place: (Visibility, PageEntry),
    blob: ObjectId,
    run: RunId,
) -> Result<PageRow, RunError> {
    let (_, row) = stored_page(files, place, blob)?;
    Ok(PageRow { run, ..row })
}

/// The same but for its run, and when the page was retrieved.
fn stored_page(
    files: &Snapshot,
    (visibility, entry): (Visibility, PageEntry),
    blob: ObjectId,
) -> Result<(Timestamp, PageRow), RunError> {
    let page = decode_page(&files.read(blob)?)
        .map_err(|why| ArchiveError::Format { place: entry.page_path(), why: why.to_string() })?;
    let row = PageRow {
        source: entry.source,
        path: entry.path.to_string(),
        url: page.url.to_string(),
        blob: blob.to_string(),
        sketch: (visibility == Visibility::Private).then(|| sketch(&page.body)),
        run: RunId(0),
    };
    Ok((page.retrieved, row))
}

/// What was read; `None` where the page is not of the format.
fn of_the_format<T>(read: Result<T, RunError>) -> Result<Option<T>, RunError> {
    match read {
        // `audit` tells of it; the next run that reads it replaces it.
        Err(RunError::Archive(error @ ArchiveError::Format { .. })) => {
            tracing::warn!(%error, "a stored page is left out of the state");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// The upstream commits that messages name first, of the newest run on. What they were
/// converted with is not known, so the next run converts everything once.
fn last_upstreams(
    runs: impl Iterator<Item = Result<ArchivedRun, ArchiveError>>,
    state: &State,
) -> Result<Vec<UpstreamRow>, RunError> {
    let mut rows: HashMap<(SourceId, String), UpstreamRow> = HashMap::new();
    for run in runs {
        let Some(message) = run?.message else { continue };
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
