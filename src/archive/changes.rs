//! What changed between two commits, page by page.

use std::collections::{HashMap, HashSet};

use super::ObjectId;
use super::differences::PageDifference;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::PageEntry;
use super::pack::{Kind, object_id};
use super::page::decode_page;
use super::reader::Snapshot;
use crate::model::SourceId;

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its text changed.
    Edited,
    /// Its text is now found at another address.
    Moved,
    /// It left the tree.
    Removed,
}

impl ChangeKind {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Edited => "edited",
            Self::Moved => "moved",
            Self::Removed => "removed",
        }
    }
}

/// One page that differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// Its place; of a moved page, the new one.
    pub entry: PageEntry,
    /// The place it came from, of a moved page.
    pub from: Option<PageEntry>,
    /// Its URL; of a removed page, the one it had.
    pub url: String,
    /// Size of the file before, in bytes; 0 where there was none.
    pub old_size: usize,
    /// Size of the file after, in bytes; 0 where there is none.
    pub new_size: usize,
}

/// What makes two pages the same document: the source, and the id of a text.
type Text = (SourceId, ObjectId);

/// A version of a page, read.
struct Side {
    url: String,
    /// `None` where there is no text, which makes nothing the same document.
    text: Option<Text>,
}

/// Reads a version; a page that is not of the format counts as its bytes.
fn side(snapshot: &Snapshot, entry: &PageEntry, blob: ObjectId) -> Result<Side, ArchiveError> {
    let bytes = snapshot.read(blob)?;
    let (url, upstream, body) = if let Ok(page) = decode_page(&bytes) {
        (page.url.to_string(), page.upstream, page.body)
    } else {
        (entry.page_path(), String::new(), String::from_utf8_lossy(&bytes).into_owned())
    };
    let id = object_id(Kind::Blob, format!("{upstream}\0{body}").as_bytes())?;
    let text = (!body.is_empty()).then(|| (entry.source.clone(), id));
    Ok(Side { url, text })
}

/// What the differences between two commits of one ref mean, sorted by place. A page that
/// vanished and one that appeared are one moved page where both have the same text, which is
/// not empty, in one source, or the same URL in two: a source was renamed.
///
/// Files are read only where a page of their source may have moved, and where `known_url`
/// does not tell the URL of a file.
///
/// # Errors
/// A blob cannot be read.
pub fn changes_of(
    archive: &Archive,
    mut differences: Vec<PageDifference>,
    known_url: &dyn Fn(&PageEntry, ObjectId) -> Option<String>,
) -> Result<Vec<Change>, ArchiveError> {
    differences.sort_by_cached_key(|difference| difference.entry.page_path());
    let snapshot = Snapshot::open(archive, None)?;
    let sources_of = |kind| -> HashSet<SourceId> {
        let of_kind = differences.iter().filter(|it| kind_of(it) == kind);
        of_kind.map(|it| it.entry.source.clone()).collect()
    };
    let (gained, lost) = (sources_of(ChangeKind::Added), sources_of(ChangeKind::Removed));
    let (mut changes, mut removed) = (Vec::new(), HashMap::<_, Vec<Change>>::new());
    let mut added = Vec::new();
    for difference in differences {
        let kind = kind_of(&difference);
        let PageDifference { entry, old, new } = difference;
        let Some(shown) = new.or(old) else { continue };
        let may_be_moved = kind != ChangeKind::Edited
            && gained.contains(&entry.source)
            && lost.contains(&entry.source);
        let known = if may_be_moved { None } else { known_url(&entry, shown) };
        let Side { url, text } = match known {
            Some(url) => Side { url, text: None },
            None => side(&snapshot, &entry, shown)?,
        };
        let size = |id: Option<ObjectId>| id.map_or(Ok(0), |id| snapshot.size(id));
        let (old_size, new_size) = (size(old)?, size(new)?);
        let change = Change { kind, entry, from: None, url, old_size, new_size };
        match (kind, text) {
            (ChangeKind::Added, Some(text)) => added.push((text, change)),
            (ChangeKind::Removed, Some(text)) => removed.entry(text).or_default().push(change),
            _ => changes.push(change),
        }
    }
    for (text, mut change) in added {
        if let Some(origin) = removed.get_mut(&text).and_then(Vec::pop) {
            change.kind = ChangeKind::Moved;
            change.old_size = origin.old_size;
            change.from = Some(origin.entry);
        }
        changes.push(change);
    }
    changes.extend(removed.into_values().flatten());
    let mut changes = join_renamed(changes);
    changes.sort_by(|a, b| a.entry.cmp(&b.entry));
    Ok(changes)
}

/// Makes one moved page of two of different sources of which one vanished and one appeared
/// with the same URL.
fn join_renamed(changes: Vec<Change>) -> Vec<Change> {
    let (lost, mut kept): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|change| change.kind == ChangeKind::Removed);
    let mut lost_at: HashMap<String, Vec<Change>> = HashMap::new();
    for change in lost {
        lost_at.entry(change.url.clone()).or_default().push(change);
    }
    for change in kept.iter_mut().filter(|change| change.kind == ChangeKind::Added) {
        let Some(candidates) = lost_at.get_mut(&change.url) else { continue };
        let elsewhere = candidates.iter().position(|it| it.entry.source != change.entry.source);
        if let Some(at) = elsewhere {
            let origin = candidates.swap_remove(at);
            change.kind = ChangeKind::Moved;
            change.old_size = origin.old_size;
            change.from = Some(origin.entry);
        }
    }
    kept.extend(lost_at.into_values().flatten());
    kept
}

fn kind_of(difference: &PageDifference) -> ChangeKind {
    match (difference.old, difference.new) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        _ => ChangeKind::Edited,
    }
}
