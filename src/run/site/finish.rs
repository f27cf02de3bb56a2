//! The end of a crawl: what is left, what leaves the tree, and the reports.

use super::crawl::Crawled;
use super::plan::Plan;
use crate::archive::{
    LeakGuard, Moved, ObjectId, PageEntry, PageIds, Snapshot, decode_moved, decode_page,
    moved_path, sketch,
};
use crate::model::{Counts, Outcome, OutcomeKind, PageUrl, Timestamp, TreePath, UrlId, Visibility};
use crate::run::git::held_back;
use crate::run::pass::Pass;
use crate::run::{RunError, SourceReport};
use crate::state::{Draft, DraftedPage};

/// Fewest pages that are held back when they would leave at once.
const MANY: usize = 20;

/// Rows that are told of one outcome.
const TOLD: u32 = 1000;

/// Pages that are looked through at once.
const CHUNK: u32 = 1000;

/// Ends the crawl of all sites and reports each.
pub(super) fn finish(
    pass: &mut Pass<'_>,
    plans: &[Plan<'_>],
    crawled: Crawled,
    (guard, accepted): (&mut LeakGuard, &[String]),
) -> Result<(), RunError> {
    let Crawled { sites, left } = crawled;
    let mut reports: Vec<SourceReport> =
        plans.iter().map(|plan| SourceReport::new(plan.source.id.clone())).collect();
    for (report, site) in reports.iter_mut().zip(&sites) {
        report.trouble.extend(site.trouble.iter().cloned());
        report.notes.extend(site.notes.iter().cloned());
    }
    for (host, site, why) in left {
        let why = why.unwrap_or_else(|| "the time of the run was up".to_owned());
        let count = pass.state.defer_rest(&host, &plans[site].source.id, &why)?;
        if count > 0 {
            let pages =
                if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") };
            reports[site].fail(format!("{host}: {pages} left for a later run: {why}"));
        }
    }
    if pass.run.is_some() {
        recheck(pass, plans, guard)?;
    }
    for ((plan, report), site) in plans.iter().zip(&mut reports).zip(&sites) {
        let incomplete = !site.trouble.is_empty();
        remove_pages(pass, (plan, accepted, incomplete), report)?;
        put_moved(pass, plan)?;
        report.counts = counts(pass, plan, site.unchanged)?;
        tell(pass, plan, report)?;
    }
    if pass.run.is_none() {
        pass.state.roll_back_crawl()?;
    }
    for report in reports {
        pass.report(report);
    }
    Ok(())
}

/// Takes the pages that earlier processes brought to disk into the next commit.
pub(super) fn restore_pages(pass: &mut Pass<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let (source, visibility) = (&plan.source.id, plan.source.visibility);
    let mut after = UrlId(0);
    loop {
        let pages = pass.state.drafted_pages(source, after, CHUNK)?;
        let Some(last) = pages.last() else { return Ok(()) };
        after = last.id;
        for page in pages {
            let restored = match page_ids(&page, visibility).zip(entry(plan, &page.path)) {
                Some((ids, entry)) => pass.writer.restore(&entry, &ids, visibility)?,
                None => false,
            };
            if !restored && visibility == Visibility::Private {
                remember_private(pass, &page);
            }
            if !restored {
                // A disk lost it, or its source changed its visibility: it is read again.
                pass.state.forget_draft(page.id)?;
            }
        }
    }
}

/// Remembers a text that is private now, so that no public page holds too much of it.
fn remember_private(pass: &mut Pass<'_>, page: &DraftedPage) {
    let read = || -> Option<String> {
        let id = ObjectId::from_hex(page.files.page.as_bytes()).ok()?;
        let bytes = Snapshot::open(pass.archive, None).ok()?.read(id).ok()?;
        Some(decode_page(&bytes).ok()?.body)
    };
    if let Some(body) = read() {
        pass.turned_private.push((page.url.clone(), sketch(&body)));
    }
}

fn entry(plan: &Plan<'_>, path: &str) -> Option<PageEntry> {
    Some(PageEntry { source: plan.source.id.clone(), path: TreePath::parse(path).ok()? })
}

/// The files of a page, where they are those of a source with that visibility.
fn page_ids(page: &DraftedPage, visibility: Visibility) -> Option<PageIds> {
    let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).ok();
    let public_links = page.files.public_links.as_deref().map(id);
    let fits = public_links.is_some() == (visibility == Visibility::Private);
    let ids = PageIds {
        page: id(&page.files.page)?,
        links: id(&page.files.links)?,
        public_links: public_links.flatten(),
    };
    fits.then_some(ids)
}

/// Takes the pages out of the tree that leave it, unless suspiciously many would.
fn remove_pages(
    pass: &mut Pass<'_>,
    (plan, accepted, incomplete): (&Plan<'_>, &[String], bool),
    report: &mut SourceReport,
) -> Result<(), RunError> {
    let id = &plan.source.id;
    if incomplete {
        // A site that lost its starts may have lost itself for a while.
        let kinds = [OutcomeKind::Gone, OutcomeKind::Moved];
        let why = "; held, since what the source begins with could not be read";
        pass.state.hold_removals(id, &kinds, why)?;
    }
    let leaving = pass.state.leaving_pages(id)?;
    let stored = pass.state.page_count(id)?;
    let many = leaving.len() >= MANY && leaving.len() as u64 * 5 > stored;
    if many && !accepted.iter().any(|accepted| accepted == id.as_str()) {
        let why = "; held, since too many pages would leave at once";
        pass.state.hold_removals(id, &[], why)?;
        report.fail(format!(
            "{} of {stored} pages would leave at once, so none does; if that is right, run with \
             --accept-removals {id}",
            leaving.len()
        ));
        return Ok(());
    }
    for path in leaving {
        if let Some(entry) = entry(plan, &path) {
            pass.writer.remove(&entry)?;
        }
    }
    Ok(())
}

/// Adds the redirects that two runs saw to the list of the source.
fn put_moved(pass: &mut Pass<'_>, plan: &Plan<'_>) -> Result<(), RunError> {
    let source = plan.source;
    let new = pass.state.drafted_moves(&source.id, pass.started)?;
    if new.is_empty() {
        return Ok(());
    }
    let base = pass.writer.base(source.visibility);
    let mut moved = decode_moved(&base.file(&moved_path(&source.id))?.unwrap_or_default());
    for (from, to, status, since) in new {
        let (Ok(from), Ok(to)) = (PageUrl::parse(&from), PageUrl::parse(&to)) else { continue };
        let first_seen = Timestamp::from_unix(since).unwrap_or(pass.started).date();
        let first_seen = match moved.iter().find(|row| row.from == from && row.to == to) {
            Some(known) => known.first_seen.clone(),
            None => first_seen,
        };
        moved.push(Moved { from, to, status, first_seen });
    }
    Ok(pass.writer.put_moved(&source.id, source.visibility, &moved)?)
}

fn counts(pass: &Pass<'_>, plan: &Plan<'_>, unchanged: u64) -> Result<Counts, RunError> {
    let counts = pass.state.drafted_counts(&plan.source.id)?;
    Ok(Counts { not_modified: counts.not_modified + unchanged, ..counts })
}

/// Lists what failed and what was left out.
fn tell(pass: &Pass<'_>, plan: &Plan<'_>, report: &mut SourceReport) -> Result<(), RunError> {
    let id = &plan.source.id;
    report.failed.extend(pass.state.drafted_with(id, OutcomeKind::Failed, TOLD)?);
    for kind in [
        OutcomeKind::Gone,
        OutcomeKind::Moved,
        OutcomeKind::NoArchive,
        OutcomeKind::Disallowed,
        OutcomeKind::Denied,
        OutcomeKind::Skipped,
    ] {
        let rows = pass.state.drafted_with(id, kind, TOLD)?;
        let rows = rows.into_iter().map(|(url, why)| (url, format!("{kind}: {why}")));
        report.skipped.extend(rows);
    }
    Ok(())
}

/// Compares the public pages of this run with the private ones of this run, which were not
/// known when those were converted.
fn recheck(pass: &mut Pass<'_>, plans: &[Plan<'_>], guard: &mut LeakGuard) -> Result<(), RunError> {
    let mut fresh = LeakGuard::new([]);
    let mut any = false;
    for (url, sketch) in &pass.turned_private {
        fresh.add(url, sketch);
        any = true;
    }
    for plan in plans.iter().filter(|plan| plan.source.visibility == Visibility::Private) {
        let mut after = UrlId(0);
        loop {
            let pages = pass.state.drafted_pages(&plan.source.id, after, CHUNK)?;
            let Some(last) = pages.last() else { break };
            after = last.id;
            for page in pages {
                if let Some(sketch) = &page.files.sketch {
                    fresh.add(&page.url, sketch);
                    guard.add(&page.url, sketch);
                    any = true;
                }
            }
        }
    }
    if !any {
        return Ok(());
    }
    pass.writer.checkpoint()?;
    let reader = Snapshot::open(pass.archive, None)?;
    let interrupt = &pass.context.interrupt;
    let too_much = pass.writer.public_pages(|id| {
        let stopped = interrupt.is_raised().then_some(RunError::Interrupted);
        stopped.map_or_else(|| resembles(&reader, &fresh, id), Err)
    })?;
    for (entry, private) in too_much {
        hold_back(pass, &entry, held_back(&private))?;
    }
    Ok(())
}

/// The private page that a public one holds too much of.
fn resembles(
    reader: &Snapshot,
    fresh: &LeakGuard,
    id: ObjectId,
) -> Result<Option<String>, RunError> {
    let page = decode_page(&reader.read(id)?).ok();
    Ok(page.and_then(|page| fresh.resembles(&page.body).map(str::to_owned)))
}

/// Takes a page back that was put in this run.
fn hold_back(pass: &mut Pass<'_>, entry: &PageEntry, outcome: Outcome) -> Result<(), RunError> {
    pass.writer.revert(entry)?;
    let path = entry.path.to_string();
    if let Some(id) = pass.state.drafted_at(&entry.source, &path)? {
        return Ok(pass.state.draft(id, &Draft::only(outcome))?);
    }
    let Some((url, was)) = pass.state.take_back(&entry.source, &path)? else { return Ok(()) };
    if let Some(report) = pass.reports.iter_mut().find(|report| report.source == entry.source) {
        report.counts.failed += 1;
        report.failed.push((url.clone(), outcome.reason.clone()));
        match was.as_ref().map(|was| was.reason.as_str()) {
            Some("added") => report.counts.added = report.counts.added.saturating_sub(1),
            _ => report.counts.changed = report.counts.changed.saturating_sub(1),
        }
    }
    pass.learn(&entry.source, url, outcome)
}
