//! Making the tree of a new commit from the tree of the last one and the changes to it.
//!
//! One mechanism for the first commit (no base) and for every later one: changes come in
//! the order of the tree, and only the directories on the way to a change are read and
//! written, each once; no more of them are in memory than are open. An empty directory
//! vanishes, and every name that enters a tree is checked here.

use std::collections::BTreeMap;

use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{FindExt, WriteTo};

use super::ObjectId;
use super::edits::{Edit, Provenance, Sorted};
use super::error::ArchiveError;
use super::layout::{DIRECTORIES, ROOT_FILES};
use super::pack::{Deflater, Kind, PackWriter, object_id};
use crate::model::{Visibility, is_safe_component};

/// Reads objects of the archive and writes new trees into a pack.
pub(super) struct TreeBuilder<'a> {
    pub objects: &'a gix::OdbHandle,
    pub pack: &'a mut PackWriter,
    pub deflater: &'a mut Deflater,
}

#[derive(Clone, Copy)]
struct Entry {
    mode: EntryMode,
    id: ObjectId,
}

type Entries = BTreeMap<Vec<u8>, Entry>;

/// A directory whose changes are not all known yet.
struct Open {
    /// Its name in the directory that is open above it.
    name: Vec<u8>,
    entries: Entries,
}

impl TreeBuilder<'_> {
    /// Applies the changes to a tree of that ref, none before the first commit, and gives
    /// the id of the new root tree, which may be that of the empty tree.
    pub fn apply(
        &mut self,
        (base, visibility): (Option<ObjectId>, Visibility),
        mut changes: Sorted<'_>,
    ) -> Result<ObjectId, ArchiveError> {
        let mut open = vec![Open { name: Vec::new(), entries: self.read(base)? }];
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
            let Some(Open { entries, .. }) = open.last_mut() else { continue };
            if let Edit::Put(id, from) = edit {
                if visibility == Visibility::Public && from == Provenance::PrivateCapture {
                    let why = "a file of a private source among the public ones".to_owned();
                    return Err(ArchiveError::Format { place: path, why });
                }
                let entry = Entry { mode: EntryKind::Blob.into(), id };
                entries.insert(name.as_bytes().to_vec(), entry);
                put = Some(path);
            } else {
                entries.remove(name.as_bytes());
            }
        }
        self.close_to(1, &mut open)?;
        let root = open.pop().map(|root| root.entries).unwrap_or_default();
        self.write(&root)
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
            let above = open.last_mut().and_then(|above| match above.entries.get(&name) {
                Some(entry) if entry.mode.is_tree() => above.entries.remove(&name),
                _ => None,
            });
            open.push(Open { entries: self.read(above.map(|entry| entry.id))?, name });
        }
        Ok(())
    }

    /// Closes directories until so many are open: they are written, and enter the one above.
    fn close_to(&mut self, depth: usize, open: &mut Vec<Open>) -> Result<(), ArchiveError> {
        while open.len() > depth
            && let Some(Open { name, entries }) = open.pop()
        {
            if !entries.is_empty()
                && let Some(above) = open.last_mut()
            {
                let entry = Entry { mode: EntryKind::Tree.into(), id: self.write(&entries)? };
                above.entries.insert(name, entry);
            }
        }
        Ok(())
    }

    fn read(&self, id: Option<ObjectId>) -> Result<Entries, ArchiveError> {
        let Some(id) = id else { return Ok(Entries::new()) };
        let mut buffer = Vec::new();
        let tree = self.objects.find_tree(&id, &mut buffer);
        let tree = tree.map_err(ArchiveError::object(format!("cannot read the tree {id}")))?;
        let entries = tree.entries.iter().map(|entry| {
            (entry.filename.to_vec(), Entry { mode: entry.mode, id: entry.oid.to_owned() })
        });
        Ok(entries.collect())
    }

    fn write(&mut self, entries: &Entries) -> Result<ObjectId, ArchiveError> {
        let mut tree = gix::objs::Tree {
            entries: entries
                .iter()
                .map(|(name, entry)| gix::objs::tree::Entry {
                    mode: entry.mode,
                    filename: name.as_slice().into(),
                    oid: entry.id,
                })
                .collect(),
        };
        tree.entries.sort();
        let mut bytes = Vec::new();
        tree.write_to(&mut bytes).map_err(ArchiveError::object("cannot write a tree"))?;
        let id = object_id(Kind::Tree, &bytes)?;
        if !self.pack.contains(&id) && !gix::objs::Exists::exists(self.objects, &id) {
            let packed = self.deflater.pack(Kind::Tree, id, &bytes);
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
