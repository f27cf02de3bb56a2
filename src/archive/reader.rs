//! Reading one commit of the archive: paths to blobs, blobs to bytes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::directory::Archive;
use super::error::ArchiveError;
use super::page::decode_page;
use super::stored_tree::{StoredTree, TreeEntry};
use super::{ObjectId, PageEntry};
use crate::model::Page;

/// One commit, or the empty archive before the first; for the thread that made it.
pub struct Snapshot {
    repository: gix::Repository,
    root: Option<ObjectId>,
    directories: RefCell<Directories>,
}

/// Entries of directories that are kept: as many again may be left from before.
const KEPT: usize = 1 << 15;

/// Directories that were asked for lately; what was not asked for is forgotten.
#[derive(Default)]
struct Directories {
    recent: HashMap<String, Rc<StoredTree>>,
    before: HashMap<String, Rc<StoredTree>>,
    entries: usize,
}

impl Directories {
    fn get(&mut self, path: &str) -> Option<Rc<StoredTree>> {
        if let Some(known) = self.recent.get(path) {
            return Some(Rc::clone(known));
        }
        let (path, known) = self.before.remove_entry(path)?;
        self.keep(path, Rc::clone(&known));
        Some(known)
    }

    fn keep(&mut self, path: String, directory: Rc<StoredTree>) {
        if self.entries >= KEPT {
            self.before = std::mem::take(&mut self.recent);
            self.entries = 0;
        }
        // An empty one takes room, too.
        self.entries += directory.len() + 1;
        self.recent.insert(path, directory);
    }
}

impl Snapshot {
    /// Opens a commit; `None` is an archive without commits.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub fn open(archive: &Archive, commit: Option<ObjectId>) -> Result<Self, ArchiveError> {
        let repository = archive.repository();
        let root = commit.map(|id| tree_of(&repository, id)).transpose()?;
        Ok(Self { repository, root, directories: RefCell::default() })
    }

    /// The id of its tree.
    #[must_use]
    pub fn tree(&self) -> Option<ObjectId> {
        self.root
    }

    /// The blob at a full path.
    ///
    /// # Errors
    /// A tree on the way cannot be read.
    pub fn blob_at(&self, path: &str) -> Result<Option<ObjectId>, ArchiveError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok(self.directory(folder)?.file(name.as_bytes()))
    }

    /// Whether a directory stands at a full path.
    ///
    /// # Errors
    /// A tree on the way cannot be read.
    pub fn has_directory(&self, path: &str) -> Result<bool, ArchiveError> {
        Ok(self.directory(path)?.len() > 0)
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// It is not there or no blob.
    pub fn read(&self, id: ObjectId) -> Result<Vec<u8>, ArchiveError> {
        let object = self.repository.find_object(id);
        let object = object.map_err(ArchiveError::object(format!("cannot read the blob {id}")))?;
        Ok(object.detach().data)
    }

    /// How many bytes a file has; it is not read for that.
    ///
    /// # Errors
    /// It is not there.
    pub fn size(&self, id: ObjectId) -> Result<usize, ArchiveError> {
        let header = self.repository.find_header(id);
        let header = header.map_err(ArchiveError::object(format!("cannot read the blob {id}")))?;
        Ok(usize::try_from(header.size()).unwrap_or(usize::MAX))
    }

    /// The bytes of the file at a full path.
    ///
    /// # Errors
    /// A tree or the blob cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        self.blob_at(path)?.map(|id| self.read(id)).transpose()
    }

    /// The page at a place.
    ///
    /// # Errors
    /// It cannot be read or is not of the format.
    pub fn page(&self, entry: &PageEntry) -> Result<Option<Page>, ArchiveError> {
        let path = entry.page_path();
        let Some(bytes) = self.file(&path)? else { return Ok(None) };
        let page = decode_page(&bytes);
        page.map(Some).map_err(|why| ArchiveError::Format { place: path, why: why.to_string() })
    }

    /// All files below a directory (`""` for the root) with full paths, in tree order.
    ///
    /// # Errors
    /// A tree cannot be read.
    pub fn files(&self, folder: &str) -> Result<Vec<(String, ObjectId)>, ArchiveError> {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let directory = self.read_directory(&folder)?;
            for TreeEntry { name, mode, id } in directory.entries() {
                let path = format!("{prefix}{}", String::from_utf8_lossy(name));
                if mode.is_tree() {
                    open.push(path);
                } else {
                    found.push((path, id));
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The entries of a directory, kept for the next question about it.
    fn directory(&self, path: &str) -> Result<Rc<StoredTree>, ArchiveError> {
        if let Some(known) = self.directories.borrow_mut().get(path) {
            return Ok(known);
        }
        let directory = Rc::new(self.read_directory(path)?);
        self.directories.borrow_mut().keep(path.to_owned(), Rc::clone(&directory));
        Ok(directory)
    }

    fn read_directory(&self, path: &str) -> Result<StoredTree, ArchiveError> {
        let id = match path.rsplit_once('/') {
            _ if path.is_empty() => self.root,
            None => self.subtree("", path)?,
            Some((parent, name)) => self.subtree(parent, name)?,
        };
        StoredTree::read(&self.repository.objects, id)
    }

    fn subtree(&self, parent: &str, name: &str) -> Result<Option<ObjectId>, ArchiveError> {
        Ok(self.directory(parent)?.tree(name.as_bytes()))
    }
}

/// The tree of a commit.
pub(super) fn tree_of(
    repository: &gix::Repository,
    commit: ObjectId,
) -> Result<ObjectId, ArchiveError> {
    let failed = || format!("cannot read the commit {commit}");
    let object = repository.find_commit(commit).map_err(ArchiveError::object(failed()))?;
    Ok(object.tree_id().map_err(ArchiveError::object(failed()))?.detach())
}
