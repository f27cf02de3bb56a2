//! Which pages differ between two commits.
//!
//! Both trees are gone through side by side, and only where they differ: the cost follows
//! what changed. No more directories are in memory than are open.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::vec::IntoIter;

use gix::objs::FindExt;

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::PageEntry;
use super::reader::tree_of;

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
pub struct PageDifferences {
    repository: gix::Repository,
    open: Vec<Directories>,
}

/// A directory of both trees, as far as it was not gone through yet.
struct Directories {
    /// Its path, with a `/` at the end.
    path: String,
    old: Peekable<IntoIter<Node>>,
    new: Peekable<IntoIter<Node>>,
}

/// A file or a directory.
#[derive(Clone, Debug)]
struct Node {
    /// The name, with a `/` at the end of a directory's: so they are sorted.
    name: Vec<u8>,
    kind: Kind,
    id: ObjectId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Directory,
    File,
    /// What no version of the format has: links, commits of other repositories.
    Other,
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
            let Some(commit) = commit else { return Ok(None) };
            let root = nodes(&repository, Some(tree_of(&repository, commit)?))?;
            let found = root.into_iter().find(|node| {
                node.kind == Kind::Directory
                    && node.name.strip_suffix(b"/") == Some(PAGES.as_bytes())
            });
            Ok(found.map(|node| node.id))
        };
        let (old, new) = (pages(old)?, pages(new)?);
        let mut this = Self { repository, open: Vec::new() };
        if old != new {
            this.enter(format!("{PAGES}/"), old, new)?;
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
        let old = nodes(&self.repository, old)?.into_iter().peekable();
        let new = nodes(&self.repository, new)?.into_iter().peekable();
        self.open.push(Directories { path, old, new });
        Ok(())
    }

    fn step(&mut self) -> Result<Option<PageDifference>, ArchiveError> {
        while let Some(top) = self.open.last_mut() {
            let Some((old, new)) = top.take() else {
                self.open.pop();
                continue;
            };
            if old.as_ref().map(|node| node.id) == new.as_ref().map(|node| node.id) {
                continue;
            }
            let Some(node) = new.as_ref().or(old.as_ref()) else { continue };
            let path = format!("{}{}", top.path, String::from_utf8_lossy(&node.name));
            let kind = if node.kind == Kind::Directory { node.kind } else { Kind::File };
            let id = |node: Option<Node>| node.filter(|node| node.kind == kind).map(|node| node.id);
            let (old, new) = (id(old), id(new));
            if kind == Kind::Directory {
                self.enter(path, old, new)?;
            } else if let Some(entry) = PageEntry::from_page_path(&path).filter(|_| old != new) {
                return Ok(Some(PageDifference { entry, old, new }));
            }
        }
        Ok(None)
    }
}

impl Iterator for PageDifferences {
    type Item = Result<PageDifference, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.open.clear();
        }
        step.transpose()
    }
}

impl Directories {
    /// The next name, as it stands in each of the trees.
    fn take(&mut self) -> Option<(Option<Node>, Option<Node>)> {
        let order = match (self.old.peek(), self.new.peek()) {
            (None, None) => return None,
            (Some(old), Some(new)) => old.name.cmp(&new.name),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
        };
        let old = self.old.next_if(|_| order.is_le());
        let new = self.new.next_if(|_| order.is_ge());
        Some((old, new))
    }
}

/// What stands in a tree, in its order.
fn nodes(repository: &gix::Repository, id: Option<ObjectId>) -> Result<Vec<Node>, ArchiveError> {
    let Some(id) = id else { return Ok(Vec::new()) };
    let failed = || format!("cannot read the tree {id}");
    let mut buffer = Vec::new();
    let tree = repository.objects.find_tree_iter(&id, &mut buffer);
    let tree = tree.map_err(ArchiveError::object(failed()))?;
    let mut found = Vec::new();
    for entry in tree {
        let entry = entry.map_err(ArchiveError::object(failed()))?;
        let mut name = entry.filename.to_vec();
        let kind = if entry.mode.is_tree() {
            name.push(b'/');
            Kind::Directory
        } else if entry.mode.is_blob() {
            Kind::File
        } else {
            Kind::Other
        };
        found.push(Node { name, kind, id: entry.oid.to_owned() });
    }
    Ok(found)
}
