//! Public pages that hold more than half of a private one, at the tips.
//!
//! No fault by itself: what was public first may stand in both, and a run holds back only
//! what is new. Private pages are taken some at a time, so that memory stays bounded.

use super::Audit;
use super::batches::{Feed, look_at_all};
use crate::archive::listing::{each_page_file, page_sources};
use crate::archive::{ArchiveError, LeakGuard, ObjectId, Snapshot, decode_page, sketch};

/// Private pages that are compared at once; the sketch of each takes some kilobytes.
const AT_ONCE: usize = 20_000;

/// Notes pages of the public tip that resemble private ones.
pub(super) fn check(audit: &Audit<'_>) -> Result<(), ArchiveError> {
    let (Some(public), Some(private)) = (audit.heads.public, audit.heads.private) else {
        return Ok(());
    };
    audit.watch.stage("comparing public pages with private ones");
    let (mut guard, mut known) = (LeakGuard::new([]), 0);
    let snapshot = Snapshot::open(audit.archive, None)?;
    each_page(audit, private, &mut |_, blob| {
        let page = snapshot.read(blob).ok().and_then(|bytes| decode_page(&bytes).ok());
        let Some(page) = page else { return Ok(()) };
        guard.add(page.url.as_str(), &sketch(&page.body));
        known += 1;
        if known == AT_ONCE {
            compare(audit, public, &std::mem::take(&mut guard))?;
            known = 0;
        }
        Ok(())
    })?;
    if known > 0 { compare(audit, public, &guard) } else { Ok(()) }
}

fn compare(audit: &Audit<'_>, public: ObjectId, guard: &LeakGuard) -> Result<(), ArchiveError> {
    let mut listed = Ok(());
    let feed = |feed: &mut Feed<(String, ObjectId)>| {
        listed = each_page(audit, public, &mut |path, blob| {
            feed.put((path, blob));
            Ok(())
        });
    };
    let begin = || Snapshot::open(audit.archive, None);
    look_at_all(audit, feed, begin, |snapshot, (path, blob)| {
        // What cannot be read is a fault already.
        let bytes = snapshot.as_ref().ok().and_then(|snapshot| snapshot.read(blob).ok());
        let page = bytes.and_then(|bytes| decode_page(&bytes).ok());
        if let Some(private) = page.as_ref().and_then(|page| guard.resembles(&page.body)) {
            audit.note(format!(
                "{path} is public and holds more than half of the private page {private}"
            ));
        }
    });
    listed
}

/// Gives full path and id of every page of a tip; a source that cannot be listed is a fault
/// already.
fn each_page(
    audit: &Audit<'_>,
    commit: ObjectId,
    each: &mut dyn FnMut(String, ObjectId) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    for source in page_sources(audit.archive, Some(commit)).unwrap_or_default() {
        let mut found = |path: &str, id| each(format!("pages/{source}/{path}"), id);
        each_page_file::<ArchiveError>(audit.archive, (commit, &source), &mut found).or_else(
            |e| {
                audit.add_unreadable(&format!("pages/{source}"), &e);
                Ok::<(), ArchiveError>(())
            },
        )?;
    }
    Ok(())
}
