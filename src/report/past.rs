//! The past of an archive: its commits, and which of them changed which page.
//!
//! Questions are answered from the index of the history where there is a state whose index
//! is in step with the refs, and by walking the commits where there is none. Both ways give
//! the same answers.

use std::collections::HashSet;

use super::ReportError;
use super::lookup::{Found, Wanted};
use crate::archive::{
    Archive, ArchiveError, Change, Heads, ObjectId, PageDifference, PageDifferences, PageEntry,
    Snapshot, Version, changes_of, decode_page, id_bytes, versions,
};
use crate::model::{Timestamp, TreePath, Visibility, matches_pattern, pattern_start};
use crate::state::{GonePage, IndexedCommit, PagePlace, State};

/// The commits of an archive and the versions of its pages.
pub struct Past<'a> {
    /// The archive.
    pub archive: &'a Archive,
    /// What is known of the pages of the newest commits.
    pub state: Option<&'a State>,
    heads: Heads,
    index: Option<Index<'a>>,
}

/// An index that is in step.
struct Index<'a> {
    state: &'a State,
    /// Numbers of the last commits; -1 where there is none. What a run adds meanwhile does
    /// not count.
    public: i64,
    private: i64,
}

impl Index<'_> {
    fn last(&self, on: Visibility) -> (Visibility, i64) {
        match on {
            Visibility::Public => (on, self.public),
            Visibility::Private => (on, self.private),
        }
    }

    /// The number of a commit of a ref; `None` where it is none of its.
    fn number(&self, on: Visibility, commit: ObjectId) -> Result<Option<i64>, ReportError> {
        let found = self.state.indexed(&id_bytes(commit))?;
        Ok(found.filter(|(of, _)| *of == on).map(|(_, commit)| commit.number))
    }

    /// The numbers of two commits of a ref; -1 is the archive before the first.
    fn numbers(
        &self,
        on: Visibility,
        (old, new): (Option<ObjectId>, ObjectId),
    ) -> Result<Option<(i64, i64)>, ReportError> {
        let old = old.map_or(Ok(Some(-1)), |old| self.number(on, old))?;
        Ok(old.zip(self.number(on, new)?))
    }
}

impl<'a> Past<'a> {
    /// The past of an archive as it is now.
    ///
    /// # Errors
    /// The refs or the state cannot be read.
    pub fn open(archive: &'a Archive, state: Option<&'a State>) -> Result<Self, ReportError> {
        let heads = archive.heads()?;
        let index = state.map(|state| in_step(state, heads)).transpose()?.flatten();
        Ok(Self { archive, state, heads, index })
    }

    /// Whether answers come from the index.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        self.index.is_some()
    }

    /// The tips of the refs.
    #[must_use]
    pub fn heads(&self) -> Heads {
        self.heads
    }

    /// How many commits a ref has.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn count(&self, on: Visibility) -> Result<usize, ReportError> {
        if let Some(index) = &self.index {
            return Ok(usize::try_from(index.last(on).1 + 1).unwrap_or(0));
        }
        let runs = self.archive.walk(self.heads.of(on));
        Ok(runs.collect::<Result<Vec<_>, _>>()?.len())
    }

    /// The newest commit of a ref whose run began at `at` or before; the tip without `at`.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn commit_at(
        &self,
        on: Visibility,
        at: Option<Timestamp>,
    ) -> Result<Option<ObjectId>, ReportError> {
        let tip = self.heads.of(on);
        let Some(at) = at else { return Ok(tip) };
        if let Some(index) = &self.index {
            let found = index.state.indexed_at(index.last(on), at)?;
            return Ok(found.map(|commit| ObjectId::from(commit.id)));
        }
        for run in self.archive.walk(tip) {
            let run = run?;
            if run.started <= at {
                return Ok(Some(run.commit));
            }
        }
        Ok(None)
    }

    /// The commit that a Git revision names, and the ref it is on.
    ///
    /// # Errors
    /// The revision names no commit, or one that is on neither ref.
    pub fn revision(&self, text: &str) -> Result<(Visibility, ObjectId), ReportError> {
        let commit = self.archive.find_commit(text)?;
        for on in Visibility::BOTH {
            let has = match &self.index {
                Some(index) => index.number(on, commit)?.is_some(),
                None => self.walk_to(on, commit)?,
            };
            if has {
                return Ok((on, commit));
            }
        }
        let why = "it is on neither ref of the archive";
        Err(ArchiveError::Revision { text: text.to_owned(), why }.into())
    }

    fn walk_to(&self, on: Visibility, commit: ObjectId) -> Result<bool, ReportError> {
        for run in self.archive.walk(self.heads.of(on)) {
            if run?.commit == commit {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The versions of a page on one ref, newest first.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn versions(&self, on: Visibility, entry: &PageEntry) -> Result<Vec<Version>, ReportError> {
        let Some(index) = &self.index else { return Ok(versions(self.archive, on, entry)?) };
        let place = (&entry.source, entry.path.as_str());
        let mut before = None;
        let rows = index.state.page_versions(index.last(on), place)?;
        let (_, last) = index.last(on);
        let versions = rows.into_iter().map(|(IndexedCommit { number, id, started }, file)| {
            let (commit, blob) = (ObjectId::from(id), file.map(ObjectId::from));
            let behind = usize::try_from(last - number).unwrap_or(0);
            let before = std::mem::replace(&mut before, blob);
            Version { commit, behind, started, blob, before }
        });
        let mut versions: Vec<Version> = versions.collect();
        versions.reverse();
        Ok(versions)
    }

    /// The file of a page in a commit of a ref.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn file_at(
        &self,
        (on, entry): (Visibility, &PageEntry),
        commit: ObjectId,
    ) -> Result<Option<ObjectId>, ReportError> {
        if let Some(index) = &self.index
            && let Some(number) = index.number(on, commit)?
        {
            let place = (&entry.source, entry.path.as_str());
            return Ok(index.state.file_at((on, number), place)?.map(ObjectId::from));
        }
        Ok(Snapshot::open(self.archive, Some(commit))?.blob_at(&entry.page_path())?)
    }

    /// What changed between two commits of a ref, sorted by place.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn changes(
        &self,
        on: Visibility,
        commits: (Option<ObjectId>, ObjectId),
    ) -> Result<Vec<Change>, ReportError> {
        let known = |entry: &PageEntry, blob: ObjectId| {
            let place = (&entry.source, entry.path.as_str());
            // Where the state cannot tell, the file is read.
            self.index.as_ref()?.state.url_of_file(place, &blob.to_string()).ok().flatten()
        };
        Ok(changes_of(self.archive, self.differences(on, commits)?, &known)?)
    }

    /// The pages that differ between two commits of a ref.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn differences(
        &self,
        on: Visibility,
        (old, new): (Option<ObjectId>, ObjectId),
    ) -> Result<Vec<PageDifference>, ReportError> {
        let numbers = match &self.index {
            Some(index) => index.numbers(on, (old, new))?.map(|numbers| (index, numbers)),
            None => None,
        };
        let Some((index, (old_at, new_at))) = numbers else {
            let walked = PageDifferences::between(self.archive, old, Some(new))?;
            return Ok(walked.collect::<Result<_, _>>()?);
        };
        let range = (old_at.min(new_at), old_at.max(new_at));
        let mut differences = Vec::new();
        for changed in index.state.changed_places(on, range)? {
            let Some(entry) = entry(changed.place) else { continue };
            let (old, new) = if old_at <= new_at {
                (changed.old, changed.new)
            } else {
                (changed.new, changed.old)
            };
            let (old, new) = (old.map(ObjectId::from), new.map(ObjectId::from));
            differences.push(PageDifference { entry, old, new });
        }
        Ok(differences)
    }

    /// Pages that are on no ref any more, by the URL that they had last or by the path at
    /// which they stood.
    ///
    /// # Errors
    /// Archive or state cannot be read.
    pub fn gone(&self, wanted: &Wanted) -> Result<Vec<Found>, ReportError> {
        let Some(index) = &self.index else { return self.walk_gone(wanted) };
        let rows = match wanted {
            Wanted::Place(entry) => index.state.gone_at(&entry.source, entry.path.as_str())?,
            Wanted::Url(url) => index.state.gone_with_url(url)?,
            Wanted::Pattern(key, pattern) => {
                let wanted = |text: &str| matches_pattern(pattern, text);
                index.state.gone_from(*key, pattern_start(pattern), &wanted)?
            }
        };
        let found = rows.into_iter().filter_map(|GonePage { place, url, visibility }| {
            Some(Found { url, entry: entry(place)?, visibility })
        });
        Ok(found.collect())
    }

    /// Goes from the newest commit back: what is last told of a place counts.
    fn walk_gone(&self, wanted: &Wanted) -> Result<Vec<Found>, ReportError> {
        let files = Snapshot::open(self.archive, None)?;
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        for step in self.archive.steps(&Heads::default(), &self.heads)?.into_iter().rev() {
            let (on, commit) = (step.visibility, Some(step.commit));
            let elsewhere = Snapshot::open(self.archive, self.heads.of(on.other()))?;
            for difference in PageDifferences::between(self.archive, step.parent, commit)? {
                let PageDifference { entry, old, new } = difference?;
                if !seen.insert(entry.clone()) || new.is_some() {
                    continue;
                }
                let Some(old) = old else { continue };
                if elsewhere.blob_at(&entry.page_path())?.is_some() {
                    continue;
                }
                let Ok(page) = decode_page(&files.read(old)?) else { continue };
                let url = page.url.to_string();
                if wanted.holds(&url, &entry) {
                    found.push(Found { url, entry, visibility: on });
                }
            }
        }
        Ok(found)
    }
}

/// The index of a state, where it is in step.
fn in_step(state: &State, heads: Heads) -> Result<Option<Index<'_>>, ReportError> {
    if !state.has_history()? {
        return Ok(None);
    }
    let (public, private) =
        (state.last_indexed(Visibility::Public)?, state.last_indexed(Visibility::Private)?);
    let tip = |last: Option<IndexedCommit>| last.map(|commit| ObjectId::from(commit.id));
    if tip(public) != heads.public || tip(private) != heads.private {
        return Ok(None);
    }
    let number = |last: Option<IndexedCommit>| last.map_or(-1, |commit| commit.number);
    Ok(Some(Index { state, public: number(public), private: number(private) }))
}

fn entry((source, path): PagePlace) -> Option<PageEntry> {
    Some(PageEntry { source, path: TreePath::parse(&path).ok()? })
}
