//! Which files, and which pages, differ between two commits.
//!
//! Both trees are gone through side by side, and only where they differ: the cost follows
//! what changed. No more directories are in memory than are open.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::PageEntry;
use super::listing::{self, Listed, list};
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
        let mut files = FileDifferences::between(archive, old, new)?;
        if let Some(top) = files.open.first_mut() {
            top.keep(PAGES);
        }
        Ok(Self(files))
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
        let (old, new) = (tree(old)?, tree(new)?);
        let mut this = Self { repository, open: Vec::new() };
        if old != new {
            this.enter(String::new(), old, new)?;
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

    fn step(&mut self) -> Result<Option<FileDifference>, ArchiveError> {
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
            } else if old != new {
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
    /// Leaves out everything but one directory.
    fn keep(&mut self, name: &str) {
        for nodes in [&mut self.old, &mut self.new] {
            let wanted = |node: &Node| {
                node.kind == Kind::Directory
                    && node.name.strip_suffix(b"/") == Some(name.as_bytes())
            };
            let kept: Vec<Node> = nodes.filter(wanted).collect();
            *nodes = kept.into_iter().peekable();
        }
    }

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
    let listed = list(repository, id)?.into_iter().map(|Listed { mut name, node, id }| {
        let kind = match node {
            listing::Node::Tree => Kind::Directory,
            listing::Node::Blob => Kind::File,
            listing::Node::Other(_) => Kind::Other,
        };
        if kind == Kind::Directory {
            name.push(b'/');
        }
        Node { name, kind, id }
    });
    Ok(listed.collect())
}
