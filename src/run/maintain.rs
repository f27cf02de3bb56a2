//! What is done to stored pages before anything is read, each in a commit of its own, so
//! that what we changed never mixes with what the sources changed.
//!
//! * A source that was renamed, or whose visibility changed, moves: its pages are written
//!   where the configuration now wants them (trailer `Kind: configuration`).
//! * Pages of a repository that left the configuration of its source leave with it.
//! * A source whose rules or whose extractor changed is converted again from what is kept
//!   of it (trailer `Kind: extractor` or `Kind: configuration`). What is not kept is read
//!   again by the run itself.

use super::convert::{Job, Rule};
use super::git::{Reading, apply, cache_of, held_back};
use super::pass::Pass;
use super::{Context, Effect, RunError, SourceReport, commit};
use crate::archive::{
    Archive, ArchiveError, Heads, LeakGuard, PageEntry, Replaced, Snapshot, Writer, decode_links,
    decode_moved, moved_path, sketch,
};
use crate::extract;
use crate::fetch::Upstream;
use crate::model::{
    CaseRule, GitSource, Link, Outcome, OutcomeKind, Page, RunKind, Source, SourceId, SourceKind,
    Timestamp, Visibility,
};
use crate::state::{State, UpstreamRow};

/// Where pages of a source stand although they belong elsewhere: on a ref, under a name.
type Misplaced = (Visibility, SourceId);

/// Moves pages of sources that were renamed or changed their ref, and drops those of
/// repositories that were taken out; tells whether there were any.
pub(super) fn move_stored_pages(
    context: &Context<'_>,
    (archive, state): (&Archive, &mut State),
    guard: &LeakGuard,
    started: Timestamp,
) -> Result<bool, RunError> {
    let heads = archive.heads()?;
    let mut moves = Vec::new();
    for source in &context.config.sources {
        let misplaced = misplaced(archive, heads, source)?;
        let dropped = dropped((archive, state), heads, source)?;
        if !misplaced.is_empty() || !dropped.is_empty() {
            moves.push((source, misplaced, dropped));
        }
    }
    if moves.is_empty() {
        return Ok(false);
    }
    let effect = Effect::Commit;
    let mut pass =
        Pass::begin(context, (archive, state), RunKind::Configuration, (started, effect))?;
    for (source, misplaced, dropped) in moves {
        let mut report = SourceReport::new(source.id.clone());
        let moved = move_source(&mut pass, (source, &misplaced), guard, &mut report)
            .and_then(|()| drop_pages(&mut pass, &dropped, &mut report));
        if let Err(error) = moved {
            pass.abandon();
            return Err(error);
        }
        pass.report(report);
    }
    commit::finish(pass, effect).map(|_| true)
}

/// Finds pages of a source on the wrong ref or under an old name.
fn misplaced(archive: &Archive, heads: Heads, source: &Source) -> Result<Vec<Misplaced>, RunError> {
    let mut found = Vec::new();
    for visibility in Visibility::BOTH {
        let Some(tip) = heads.of(visibility) else { continue };
        let snapshot = Snapshot::open(archive, Some(tip))?;
        for id in std::iter::once(&source.id).chain(&source.was) {
            let at_home = visibility == source.visibility && *id == source.id;
            if !at_home && snapshot.has_directory(&format!("pages/{id}"))? {
                found.push((visibility, id.clone()));
            }
        }
    }
    Ok(found)
}

fn move_source(
    pass: &mut Pass<'_>,
    (source, misplaced): (&Source, &[Misplaced]),
    guard: &LeakGuard,
    report: &mut SourceReport,
) -> Result<(), RunError> {
    let mut encoder = Writer::encoder(pass.archive);
    for (visibility, id) in misplaced {
        let old = Snapshot::open(pass.archive, pass.archive.heads()?.of(*visibility))?;
        for (path, _) in old.files(&format!("pages/{id}"))? {
            pass.check_interrupt()?;
            let Some(from) = PageEntry::from_page_path(&path) else { continue };
            let stored = read_stored(&old, &from)?;
            let Some((mut page, links)) = stored else {
                // It cannot be moved, and must not stay: the run reads it again.
                pass.remove(&from, &unreadable(), report)?;
                continue;
            };
            page.source = source.id.clone();
            page.licence.clone_from(&source.licence);
            if !is_read_from(source, &from, pass.archive.case()) {
                pass.remove(&from, &no_repository(), report)?;
                continue;
            }
            pass.state.drop_page(&from.source, from.path.as_str())?;
            let exposed =
                (*visibility, source.visibility) == (Visibility::Private, Visibility::Public);
            if let Some(private) = guard.resembles(&page.body).filter(|_| exposed) {
                pass.writer.remove(&from)?;
                hold_back(pass, (source, page.url.to_string()), private, report)?;
                continue;
            }
            let to = PageEntry { source: source.id.clone(), path: from.path.clone() };
            let encoded = encoder.encode(&to, (&page, &links), source.visibility, guard)?;
            let sketch = (source.visibility == Visibility::Private).then(|| sketch(&page.body));
            let url = page.url.to_string();
            if pass.put((source, &to), encoded, (url, sketch), report)? == Replaced::Nothing {
                // It is new at this place only.
                report.counts.added -= 1;
                report.counts.changed += 1;
            }
        }
        move_redirects(pass, source, (*visibility, id, &old))?;
        leave(pass, source, (*visibility, id))?;
    }
    if source.visibility == Visibility::Private
        && misplaced.iter().any(|(v, _)| *v == Visibility::Public)
    {
        pass.context.progress.warn(&format!(
            "{} is private now: its pages left the public ref, but stay in its history until they are purged",
            source.id
        ));
    }
    Ok(())
}

/// A stored page with its links; `None` where one of them is not of the format.
fn read_stored(from: &Snapshot, entry: &PageEntry) -> Result<Option<(Page, Vec<Link>)>, RunError> {
    let page = match from.page(entry) {
        Err(ArchiveError::Format { .. }) => None,
        other => other?,
    };
    let links = from.file(&entry.links_path())?.and_then(|bytes| decode_links(&bytes));
    Ok(page.zip(links))
}

fn unreadable() -> Outcome {
    Outcome::new(OutcomeKind::Failed, "its stored page is not of the archive format")
}

/// Pages of repositories that left the configuration of a source. Where such a repository
/// has none, it is forgotten at once.
fn dropped(
    (archive, state): (&Archive, &mut State),
    heads: Heads,
    source: &Source,
) -> Result<Vec<PageEntry>, RunError> {
    let gone = unconfigured(state, source)?;
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let snapshot = Snapshot::open(archive, heads.of(source.visibility))?;
    let files = snapshot.files(&format!("pages/{}", source.id))?;
    let entries = files.iter().filter_map(|(path, _)| PageEntry::from_page_path(path));
    let dropped: Vec<PageEntry> =
        entries.filter(|entry| !is_read_from(source, entry, archive.case())).collect();
    if dropped.is_empty() {
        for repository in gone {
            state.forget_upstream(&source.id, &repository)?;
        }
    }
    Ok(dropped)
}

/// Addresses that the state knows of a Git source and the configuration does not.
fn unconfigured(state: &State, source: &Source) -> Result<Vec<String>, RunError> {
    let SourceKind::Git(git) = &source.kind else { return Ok(Vec::new()) };
    let known = state.upstreams(&source.id)?.into_iter().map(|row| row.repository);
    let configured =
        |address: &String| git.repositories.iter().any(|r| r.address() == address.as_str());
    Ok(known.filter(|address| !configured(address)).collect())
}

/// Whether a place belongs to a repository of the source; places of other kinds of source
/// always do.
fn is_read_from(source: &Source, entry: &PageEntry, case: CaseRule) -> bool {
    let SourceKind::Git(git) = &source.kind else { return true };
    git.repositories.iter().any(|repository| {
        let below = entry.path.as_str().strip_prefix(repository.tree_root_for(case));
        below.is_some_and(|rest| rest.starts_with('/'))
    })
}

fn no_repository() -> Outcome {
    Outcome::new(OutcomeKind::Gone, "its repository is no longer one of the source's")
}

/// Removes pages of repositories that are no longer read.
fn drop_pages(
    pass: &mut Pass<'_>,
    dropped: &[PageEntry],
    report: &mut SourceReport,
) -> Result<(), RunError> {
    for entry in dropped {
        pass.check_interrupt()?;
        pass.remove(entry, &no_repository(), report)?;
    }
    let source = pass.context.config.source(report.source.as_str());
    for repository in source.map(|s| unconfigured(pass.state, s)).transpose()?.unwrap_or_default() {
        pass.record.forgotten.push((report.source.clone(), repository));
    }
    Ok(())
}

/// Leaves a page behind that would be public, but resembles a private one. The run looks at
/// it again.
fn hold_back(
    pass: &mut Pass<'_>,
    (source, url): (&Source, String),
    private: &str,
    report: &mut SourceReport,
) -> Result<(), RunError> {
    let outcome = held_back(private);
    report.counts.removed += 1;
    report.counts.failed += 1;
    report.failed.push((url.clone(), outcome.reason.clone()));
    pass.learn(&source.id, url, outcome)
}

/// Brings the list of permanent redirects to the source's name and ref.
fn move_redirects(
    pass: &mut Pass<'_>,
    source: &Source,
    (visibility, id, old): (Visibility, &SourceId, &Snapshot),
) -> Result<(), RunError> {
    let path = moved_path(id);
    let Some(bytes) = old.file(&path)? else { return Ok(()) };
    let own = pass.writer.base(source.visibility).file(&moved_path(&source.id))?;
    let mut moved = decode_moved(&own.unwrap_or_default());
    moved.extend(decode_moved(&bytes));
    if *id != source.id || source.visibility == Visibility::Public {
        // The private ref has the lists of private sources only.
        pass.writer.remove_directory(Visibility::Private, &path)?;
    }
    if *id != source.id {
        pass.writer.remove_directory(Visibility::Public, &path)?;
    }
    tracing::debug!(source = %source.id, ?visibility, "its list of redirects goes along");
    Ok(pass.writer.put_moved(&source.id, source.visibility, &moved)?)
}

/// Removes what a move left behind.
fn leave(
    pass: &mut Pass<'_>,
    source: &Source,
    (visibility, id): (Visibility, &SourceId),
) -> Result<(), RunError> {
    pass.writer.remove_directory(visibility, &format!("pages/{id}"))?;
    if *id != source.id {
        for visibility in Visibility::BOTH {
            pass.writer.remove_directory(visibility, &format!("links/{id}"))?;
        }
        pass.state.rename_source(id, &source.id)?;
    } else if visibility == Visibility::Private {
        pass.writer.remove_directory(visibility, &format!("links/{id}"))?;
    }
    Ok(())
}

/// Converts again what is kept of sources whose rules or extractor changed.
pub(super) fn convert_again(
    context: &Context<'_>,
    (archive, state): (&Archive, &mut State),
    due: &[&Source],
    (guard, started): (&mut LeakGuard, Timestamp),
) -> Result<(), RunError> {
    for kind in [RunKind::Extractor, RunKind::Configuration] {
        let outdated = outdated(state, due, kind)?;
        if outdated.is_empty() {
            continue;
        }
        let effect = Effect::Commit;
        let mut pass = Pass::begin(context, (archive, state), kind, (started, effect))?;
        let mut converted = 0;
        for (source, git, rows) in outdated {
            match convert_source(&mut pass, (source, git), rows, guard) {
                Ok(n) => converted += n,
                Err(error) => {
                    pass.abandon();
                    return Err(error);
                }
            }
        }
        if converted == 0 {
            pass.abandon();
        } else {
            commit::finish(pass, effect)?;
        }
    }
    Ok(())
}

type Outdated<'a> = (&'a Source, &'a GitSource, Vec<UpstreamRow>);

/// The sources with repositories that were converted by other rules.
fn outdated<'a>(
    state: &State,
    due: &[&'a Source],
    kind: RunKind,
) -> Result<Vec<Outdated<'a>>, RunError> {
    let mut found = Vec::new();
    for source in due {
        let SourceKind::Git(git) = &source.kind else { continue };
        let mut rows = Vec::new();
        for repository in &git.repositories {
            let Some(row) = state.upstream(&source.id, repository.address())? else { continue };
            let Ok(reading) = Reading::new((source, git), repository) else { continue };
            let older = row.extractor != extract::VERSION;
            // Settings that are not known are those of a state made anew: the run itself
            // reads everything then.
            let other = !row.settings.is_empty() && row.settings != reading.settings();
            let wanted = if kind == RunKind::Extractor { older } else { other && !older };
            if wanted && !row.commit.is_empty() {
                rows.push(row);
            }
        }
        if !rows.is_empty() {
            found.push((*source, git, rows));
        }
    }
    Ok(found)
}

/// Converts the repositories of one source again; gives how many were kept.
fn convert_source(
    pass: &mut Pass<'_>,
    (source, git): (&Source, &GitSource),
    rows: Vec<UpstreamRow>,
    guard: &mut LeakGuard,
) -> Result<usize, RunError> {
    let mut report = SourceReport::new(source.id.clone());
    let mut converted = 0;
    for row in rows {
        let repository = git.repositories.iter().find(|r| r.address() == row.repository);
        let Some(Ok(reading)) = repository.map(|r| Reading::new((source, git), r)) else {
            continue;
        };
        let cache = cache_of(pass, &source.id, reading.repository);
        let kept = Upstream::open(&cache).ok().filter(|upstream| upstream.has_commit(&row.commit));
        let all = |upstream| reading.changes(upstream, (None, row.commit.as_str())).ok();
        let changes = kept.as_ref().and_then(all);
        let (Some(upstream), Some(changes)) = (kept, changes) else {
            report.fail(format!("{}: not kept, so it is read again", row.repository));
            continue;
        };
        let job = Job { upstream: &upstream, commit: &row.commit, rule: Rule::Again };
        let pages = apply(pass, (&reading, &job), (changes, 0), (guard, &mut report))?;
        let settings = reading.settings();
        pass.upstream(source, UpstreamRow { settings, extractor: extract::VERSION, pages, ..row });
        converted += 1;
    }
    pass.report(report);
    Ok(converted)
}
