//! Making the tree of a new commit from the tree of the last one and the changes to it.
//!
//! One mechanism for the first commit (no base) and for every later one: changes come in
//! the order of the tree, and only the directories on the way to a change are read and
//! written, each once; no more of them are in memory than are open. An empty directory
//! vanishes, and every name that enters a tree is checked here.

use gix::objs::tree::EntryKind;

use super::ObjectId;
use super::edits::{Edit, Provenance, Sorted};
use super::error::ArchiveError;
use super::layout::{DIRECTORIES, ROOT_FILES};
use super::pack::{Deflater, Kind, PackWriter, object_id};
use super::stored_tree::{StoredTree, TreeChanges};
use crate::model::{Visibility, is_safe_component};

/// Reads objects of the archive and writes new trees into a pack.
pub(super) struct TreeBuilder<'a> {
    pub objects: &'a gix::OdbHandle,
    pub pack: &'a mut PackWriter,
    pub deflater: &'a mut Deflater,
}

/// A directory whose changes are not all known yet.
struct Open {
    /// Its name in the directory that is open above it.
    name: Vec<u8>,
    base: StoredTree,
    changes: TreeChanges,
}

impl Open {
    /// Takes the directory of that name out, to be put back when it is closed.
    fn take_tree(&mut self, name: &[u8]) -> Option<ObjectId> {
        if self.changes.contains_key(name) {
            // It was removed, or is a file now.
            return None;
        }
        let found = self.base.tree(name)?;
        self.changes.insert(name.to_vec(), None);
        Some(found)
    }
}

impl TreeBuilder<'_> {
    /// Applies the changes to a tree of that ref, none before the first commit, and gives
    /// the id of the new root tree, which may be that of the empty tree.
    pub fn apply(
        &mut self,
        (base, visibility): (Option<ObjectId>, Visibility),
        mut changes: Sorted<'_>,
    ) -> Result<ObjectId, ArchiveError> {
        let mut open = vec![self.open(Vec::new(), base)?];
        let mut put: Option<String> = None;
        while let Some((path, edit)) = changes.next()? {
            let inside =
                |file: &String| path.strip_prefix(file).is_some_and(|r| r.starts_with('/'));
            let is_put = matches!(edit, Edit::Put(..));
            if put.as_ref().is_some_and(inside) || (is_put && !is_allowed(&path)) {
                return Err(ArchiveError::Path(path));
            }
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            self.change_to(folder, &mut open)?;
            let Some(Open { changes, .. }) = open.last_mut() else { continue };
            if let Edit::Put(id, from) = edit {
                if visibility == Visibility::Public && from == Provenance::PrivateCapture {
                    let why = "a file of a private source among the public ones".to_owned();
                    return Err(ArchiveError::Format { place: path, why });
                }
                changes.insert(name.as_bytes().to_vec(), Some((EntryKind::Blob.into(), id)));
                put = Some(path);
            } else {
                changes.insert(name.as_bytes().to_vec(), None);
            }
        }
        self.close_to(1, &mut open)?;
        let root = open.pop().map(|root| root.base.changed(&root.changes)).unwrap_or_default();
        self.write(&root)
    }

    fn open(&self, name: Vec<u8>, id: Option<ObjectId>) -> Result<Open, ArchiveError> {
        let base = StoredTree::read(self.objects, id)?;
        Ok(Open { name, base, changes: TreeChanges::new() })
    }

    /// Opens a directory; those that are not on the way to it are closed.
    fn change_to(&mut self, folder: &str, open: &mut Vec<Open>) -> Result<(), ArchiveError> {
        let names = folder.split('/').filter(|name| !name.is_empty());
        let shared =
            names.clone().zip(&open[1..]).take_while(|(name, dir)| name.as_bytes() == dir.name);
        let depth = 1 + shared.count();
        self.close_to(depth, open)?;
        for name in names.skip(depth - 1) {
            let name = name.as_bytes().to_vec();
            let above = open.last_mut().and_then(|above| above.take_tree(&name));
            open.push(self.open(name, above)?);
        }
        Ok(())
    }

    /// Closes directories until so many are open: they are written, and enter the one above.
    fn close_to(&mut self, depth: usize, open: &mut Vec<Open>) -> Result<(), ArchiveError> {
        while open.len() > depth
            && let Some(Open { name, base, changes }) = open.pop()
        {
            let bytes = base.changed(&changes);
            if !bytes.is_empty()
                && let Some(above) = open.last_mut()
            {
                let entry = (EntryKind::Tree.into(), self.write(&bytes)?);
                above.changes.insert(name, Some(entry));
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<ObjectId, ArchiveError> {
        let id = object_id(Kind::Tree, bytes)?;
        if !self.pack.contains(&id) && !gix::objs::Exists::exists(self.objects, &id) {
            let packed = self.deflater.pack(Kind::Tree, id, bytes);
            self.pack.append(&packed)?;
        }
        Ok(id)
    }
}

/// Whether a file may stand at `path`: a known file at the root, or safe names below a
/// known directory.
fn is_allowed(path: &str) -> bool {
    match path.split_once('/') {
        None => ROOT_FILES.contains(&path),
        Some((top, rest)) => {
            DIRECTORIES.contains(&top)
                && rest.split('/').all(|name| is_safe_component(name.as_bytes()))
        }
    }
}
