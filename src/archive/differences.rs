//! Which files, and which pages, differ between two commits.
//!
//! Both trees are gone through side by side, and only where they differ: the cost follows
//! what changed. No more directories are in memory than are open.

use std::cmp::Ordering;

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::PageEntry;
use super::reader::tree_of;
use super::stored_tree::{StoredTree, TreeEntry};

/// The directory of a commit in which pages stand.
const PAGES: &str = "pages";

/// A page's file that differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDifference {
    /// The page's place.
    pub entry: PageEntry,
    /// Its file before; `None` where there was none.
    pub old: Option<ObjectId>,
    /// Its file after; `None` where there is none.
    pub new: Option<ObjectId>,
}

/// The pages that differ between two commits, in the order of the trees.
pub struct PageDifferences(FileDifferences);

/// A file that differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileDifference {
    /// Its full path.
    pub path: String,
    /// The file before; `None` where there was none.
    pub old: Option<ObjectId>,
    /// The file after; `None` where there is none.
    pub new: Option<ObjectId>,
}

/// The files that differ between two commits, in the order of the trees.
pub(super) struct FileDifferences {
    repository: gix::Repository,
    open: Vec<Directories>,
}

/// A directory of both trees, and how far it was gone through.
struct Directories {
    /// Its path, with a `/` at the end.
    path: String,
    old: (StoredTree, usize),
    new: (StoredTree, usize),
}

impl PageDifferences {
    /// Compares two commits; `None` is the archive before the first.
    ///
    /// # Errors
    /// A commit or its tree cannot be read.
    pub fn between(
        archive: &Archive,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Self, ArchiveError> {
        let repository = archive.repository();
        let pages = |commit: Option<ObjectId>| -> Result<Option<ObjectId>, ArchiveError> {
            let root = commit.map(|commit| tree_of(&repository, commit)).transpose()?;
            Ok(StoredTree::read(&repository.objects, root)?.tree(PAGES.as_bytes()))
        };
        let (old, new) = (pages(old)?, pages(new)?);
        FileDifferences::below(repository, format!("{PAGES}/"), (old, new)).map(Self)
    }
}

impl Iterator for PageDifferences {
    type Item = Result<PageDifference, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(|file| match file {
            Ok(FileDifference { path, old, new }) => {
                let entry = PageEntry::from_page_path(&path)?;
                Some(Ok(PageDifference { entry, old, new }))
            }
            Err(error) => Some(Err(error)),
        })
    }
}

impl FileDifferences {
    /// Compares two commits; `None` is the archive before the first.
    pub fn between(
        archive: &Archive,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Self, ArchiveError> {
        let repository = archive.repository();
        let tree = |commit: Option<ObjectId>| {
            commit.map(|commit| tree_of(&repository, commit)).transpose()
        };
        let trees = (tree(old)?, tree(new)?);
        Self::below(repository, String::new(), trees)
    }

    /// Compares two trees that stand at a path.
    fn below(
        repository: gix::Repository,
        path: String,
        (old, new): (Option<ObjectId>, Option<ObjectId>),
    ) -> Result<Self, ArchiveError> {
        let mut this = Self { repository, open: Vec::new() };
        if old != new {
            this.enter(path, old, new)?;
        }
        Ok(this)
    }

    /// Opens a directory of one tree or of both.
    fn enter(
        &mut self,
        path: String,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<(), ArchiveError> {
        let old = (StoredTree::read(&self.repository.objects, old)?, 0);
        let new = (StoredTree::read(&self.repository.objects, new)?, 0);
        self.open.push(Directories { path, old, new });
        Ok(())
    }

    fn step(&mut self) -> Result<Option<FileDifference>, ArchiveError> {
        while let Some(top) = self.open.last_mut() {
            let Some((old, new)) = top.take() else {
                self.open.pop();
                continue;
            };
            let old = old.and_then(|at| top.old.0.at(at));
            let new = new.and_then(|at| top.new.0.at(at));
            if old.map(|entry| entry.id) == new.map(|entry| entry.id) {
                continue;
            }
            let Some(entry) = new.or(old) else { continue };
            let path = format!("{}{}", top.path, String::from_utf8_lossy(entry.name));
            if entry.mode.is_tree() {
                let (old, new) = (old.map(|it| it.id), new.map(|it| it.id));
                self.enter(format!("{path}/"), old, new)?;
                continue;
            }
            // Links and commits of other repositories are in no version of the format.
            let file =
                |it: Option<TreeEntry<'_>>| it.filter(|it| it.mode.is_blob()).map(|it| it.id);
            let (old, new) = (file(old), file(new));
            if old != new {
                return Ok(Some(FileDifference { path, old, new }));
            }
        }
        Ok(None)
    }
}

impl Iterator for FileDifferences {
    type Item = Result<FileDifference, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.open.clear();
        }
        step.transpose()
    }
}

impl Directories {
    /// The numbers of the next name's entries in the trees that have it.
    fn take(&mut self) -> Option<(Option<usize>, Option<usize>)> {
        let (at_old, at_new) = (self.old.1, self.new.1);
        let order = match (self.old.0.at(at_old), self.new.0.at(at_new)) {
            (None, None) => return None,
            (Some(old), Some(new)) => old.order(&new),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
        };
        self.old.1 += usize::from(order.is_le());
        self.new.1 += usize::from(order.is_ge());
        Some((order.is_le().then_some(at_old), order.is_ge().then_some(at_new)))
    }
}
