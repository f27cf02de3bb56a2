//! Whether state and archive say the same, for `audit`.
//!
//! The state is compared with the commits that it names, at one moment: a run that commits
//! meanwhile makes no fault.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::RunError;
use super::pass::tips;
use super::recover::heads;
use crate::archive::{
    Archive, Fault, FaultKind, Heads, ObjectId, PRIVATE_REF, PUBLIC_REF, PageEntry, Snapshot,
    decode_page, each_page_file, page_sources, ref_fault,
};
use crate::model::{SourceId, TreePath, Visibility};
use crate::state::{State, file_faults};

/// Rows that are read at once.
const ROWS: u32 = 1024;

/// A page on which state and archive do not agree.
pub(super) struct Mismatch {
    pub source: SourceId,
    /// Its path below the source's folder.
    pub path: String,
    /// The blob that the state knows.
    known: Option<String>,
    /// The blob that the archive has, and the ref it is on.
    pub found: Option<(Visibility, ObjectId)>,
}

/// Gives every fault of the state: its files, its commits, its pages.
///
/// # Errors
/// The state or the archive cannot be read.
pub fn state_faults(archive: &Archive, add: &mut dyn FnMut(Fault)) -> Result<(), RunError> {
    let place = archive.state_file().display().to_string();
    let damaged = damaged_files(archive)?;
    for (path, what) in &damaged {
        add(Fault::new(FaultKind::State, path.display().to_string(), what));
    }
    if damaged.iter().any(|(path, _)| *path == archive.state_file()) {
        return Ok(());
    }
    let found = archive.heads()?;
    let state = match State::open_to_read(&archive.state_file()) {
        Ok(Some(state)) => state,
        Ok(None) if found == Heads::default() => return Ok(()),
        Ok(None) => {
            let what = "missing; the next run, or --repair, makes it anew from the archive";
            add(Fault::new(FaultKind::State, place, what));
            return Ok(());
        }
        Err(error) => {
            let what = format!("{error}; the next run, or --repair, makes it anew");
            add(Fault::new(FaultKind::State, place, what));
            return Ok(());
        }
    };
    if archive.locked_by()?.is_none() {
        ref_faults(archive, &state, &found)?.into_iter().for_each(&mut *add);
        if archive.spool_file().exists() && state.open_crawl()?.is_none() {
            let what = "answers of a run that is over; nothing reads them";
            let path = archive.spool_file().display().to_string();
            add(Fault::new(FaultKind::LeftOver, path, what));
        }
    }
    state.frozen(|state| {
        mismatches(archive, state, &mut |mismatch| {
            let place = format!("pages/{}/{}", mismatch.source, mismatch.path);
            add(Fault::new(FaultKind::State, place, mismatch.what()));
            Ok(())
        })
    })
}

/// Files of the state that SQLite finds damaged, and how.
pub(super) fn damaged_files(archive: &Archive) -> Result<Vec<(PathBuf, String)>, RunError> {
    let files = [
        (archive.state_file(), "the next run, or --repair, makes it anew from the archive"),
        (
            archive.politeness_file(),
            "the next run, or --repair, makes it anew: what hosts had asked for is forgotten",
        ),
        (archive.spool_file(), "the next run asks again for what came since the last checkpoint"),
    ];
    let mut damaged = Vec::new();
    for (path, remedy) in files {
        if let Some(first) = file_faults(&path)?.first() {
            let what = format!("damaged: {}; {remedy}", first.replace('\n', " "));
            damaged.push((path, what));
        }
    }
    Ok(damaged)
}

/// Faults between the refs and the commits that the state names.
fn ref_faults(archive: &Archive, state: &State, found: &Heads) -> Result<Vec<Fault>, RunError> {
    let known = heads(&state.tips()?)?;
    if known == Heads::default() && *found != known {
        let place = archive.state_file().display().to_string();
        let what = "the state knows of no run; the next run makes it anew from the archive";
        return Ok(vec![Fault::new(FaultKind::State, place, what)]);
    }
    let public = ref_fault(PUBLIC_REF, known.public, found.public);
    let private = ref_fault(PRIVATE_REF, known.private, found.private);
    Ok(public.into_iter().chain(private).collect())
}

/// Whether the state speaks of the commits that the refs are at.
pub(super) fn speaks_of_tips(archive: &Archive, state: &State) -> Result<bool, RunError> {
    Ok(state.tips()? == tips(&archive.heads()?))
}

impl Mismatch {
    fn what(&self) -> String {
        match (&self.known, &self.found) {
            (Some(known), Some((_, found))) => {
                format!("the state knows it as the blob {known}, and the archive has {found}")
            }
            (Some(_), None) => "the state knows it, and the archive does not have it".to_owned(),
            (None, _) => "the archive has it, and the state does not know it".to_owned(),
        }
    }
}

type Give<'a> = &'a mut dyn FnMut(Mismatch) -> Result<(), RunError>;

/// Gives every page on which the state and the commits that it names do not agree.
pub(super) fn mismatches(archive: &Archive, state: &State, give: Give<'_>) -> Result<(), RunError> {
    let tips = heads(&state.tips()?)?;
    if !archive.has_commits(&tips) {
        return Ok(());
    }
    let snapshot = Snapshot::open(archive, None)?;
    let mut sources: BTreeSet<SourceId> = BTreeSet::new();
    for tip in [tips.public, tips.private] {
        sources.extend(page_sources(archive, tip)?);
    }
    let counts = state.page_counts()?;
    sources.extend(counts.iter().filter_map(|(id, _)| SourceId::new(id).ok()));
    for source in sources {
        let mut rows = Rows::new(state, &source);
        let mut give = |mismatch: Mismatch| -> Result<(), RunError> {
            if mismatch.known.is_none() && is_no_page(&snapshot, &mismatch) {
                return Ok(());
            }
            give(mismatch)
        };
        for visibility in Visibility::BOTH {
            let Some(commit) = tips.of(visibility) else { continue };
            if !page_sources(archive, Some(commit))?.contains(&source) {
                continue;
            }
            compare(archive, (visibility, commit), &mut rows, &mut give)?;
            break;
        }
        rows.skip_to(None, &mut give)?;
    }
    Ok(())
}

/// Goes over the pages of a source in a tree, in step with its rows.
fn compare(
    archive: &Archive,
    (visibility, commit): (Visibility, ObjectId),
    rows: &mut Rows<'_>,
    give: Give<'_>,
) -> Result<(), RunError> {
    let source = rows.source.clone();
    each_page_file(archive, (commit, &source), &mut |path, blob| {
        let known = rows.skip_to(Some(path), give)?;
        if known.as_deref() == Some(blob.to_string().as_str()) {
            return Ok(());
        }
        let found = Some((visibility, blob));
        give(Mismatch { source: source.clone(), path: path.to_owned(), known, found })
    })
}

/// Whether what the archive has there is no page of the format: a fault of its own, and no
/// row is made of it.
fn is_no_page(snapshot: &Snapshot, mismatch: &Mismatch) -> bool {
    let Some((_, blob)) = mismatch.found else { return false };
    let readable = snapshot.read(blob).is_ok_and(|bytes| decode_page(&bytes).is_ok());
    !readable || TreePath::parse(&mismatch.path).is_err()
}

/// The place of a mismatch in the tree.
pub(super) fn entry_of(mismatch: &Mismatch) -> Option<PageEntry> {
    let path = TreePath::parse(&mismatch.path).ok()?;
    Some(PageEntry { source: mismatch.source.clone(), path })
}

/// The rows of a source, in order of their paths.
struct Rows<'a> {
    state: &'a State,
    source: SourceId,
    ahead: std::vec::IntoIter<(String, String)>,
    next: Option<(String, String)>,
    after: String,
    begun: bool,
}

impl<'a> Rows<'a> {
    fn new(state: &'a State, source: &SourceId) -> Self {
        let (source, after) = (source.clone(), String::new());
        Self { state, source, ahead: Vec::new().into_iter(), next: None, after, begun: false }
    }

    fn advance(&mut self) -> Result<(), RunError> {
        self.begun = true;
        self.next = self.ahead.next();
        if self.next.is_none() {
            let rows = self.state.page_files(&self.source, (&self.after, ROWS))?;
            self.ahead = rows.into_iter();
            self.next = self.ahead.next();
        }
        if let Some((path, _)) = &self.next {
            self.after.clone_from(path);
        }
        Ok(())
    }

    /// Takes the row of a path; those before it, or all where there is no path, are of no page.
    fn skip_to(&mut self, path: Option<&str>, give: Give<'_>) -> Result<Option<String>, RunError> {
        if !self.begun {
            self.advance()?;
        }
        while let Some((row, blob)) = self.next.take() {
            if path.is_some_and(|path| row.as_str() > path) {
                self.next = Some((row, blob));
                return Ok(None);
            }
            let is_it = path == Some(row.as_str());
            self.advance()?;
            if is_it {
                return Ok(Some(blob));
            }
            let source = self.source.clone();
            give(Mismatch { source, path: row, known: Some(blob), found: None })?;
        }
        Ok(None)
    }
}
