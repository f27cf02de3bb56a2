//! Making the tree of a new commit from the tree of the last one and a list of changes.
//!
//! One mechanism for the first commit (no base) and for every later one: only the
//! directories on the way to a change are read and written, an empty directory vanishes,
//! and every name that enters a tree is checked here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{FindExt, WriteTo};

use super::ObjectId;
use super::error::ArchiveError;
use super::layout::{DIRECTORIES, ROOT_FILES};
use super::pack::{Deflater, Kind, PackWriter, object_id};
use crate::model::is_safe_component;

/// What happens to a path: a file is put there, or what is there goes, a directory with
/// everything in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Put(ObjectId),
    Remove,
}

/// Changes by full path. Removing a directory happens before files are put into it.
pub(super) type Edits = BTreeMap<String, Edit>;

/// Reads objects of the archive and writes new trees into a pack.
pub(super) struct TreeBuilder<'a> {
    pub objects: &'a gix::OdbHandle,
    pub pack: &'a mut PackWriter,
    pub deflater: &'a mut Deflater,
}

struct Entry {
    mode: EntryMode,
    id: ObjectId,
}

impl TreeBuilder<'_> {
    /// Applies the changes to `base` and gives the id of the new root tree, which may be
    /// that of the empty tree.
    pub fn apply(
        &mut self,
        base: Option<ObjectId>,
        edits: &Edits,
    ) -> Result<ObjectId, ArchiveError> {
        let mut sorted: Vec<(&str, Edit)> =
            edits.iter().map(|(path, edit)| (path.as_str(), *edit)).collect();
        sorted.sort_by(|a, b| by_component(a.0, b.0));
        for (path, edit) in &sorted {
            if matches!(edit, Edit::Put(_)) && !is_allowed(path) {
                return Err(ArchiveError::Path((*path).to_owned()));
            }
        }
        let root = self.directory(base, &sorted, 0)?;
        root.map_or_else(|| self.write(&BTreeMap::new()), Ok)
    }

    /// Applies changes whose paths share their first `skip` bytes; `None` when nothing is left.
    fn directory(
        &mut self,
        base: Option<ObjectId>,
        edits: &[(&str, Edit)],
        skip: usize,
    ) -> Result<Option<ObjectId>, ArchiveError> {
        let mut entries = base.map_or_else(|| Ok(BTreeMap::new()), |id| self.read(id))?;
        for group in edits.chunk_by(|a, b| component(a.0, skip) == component(b.0, skip)) {
            let name = component(group[0].0, skip);
            let below = skip + name.len() + 1;
            let (own, inner) = group.split_at(usize::from(group[0].0.len() < below));
            let key = name.as_bytes();
            match own.first() {
                Some((path, Edit::Put(_))) if !inner.is_empty() => {
                    return Err(ArchiveError::Path((*path).to_owned()));
                }
                Some((_, Edit::Put(id))) => {
                    entries.insert(key.to_vec(), Entry { mode: EntryKind::Blob.into(), id: *id });
                }
                Some((_, Edit::Remove)) => {
                    entries.remove(key);
                }
                None => {}
            }
            if !inner.is_empty() {
                let subtree = entries.remove(key).filter(|e| e.mode.is_tree()).map(|e| e.id);
                if let Some(id) = self.directory(subtree, inner, below)? {
                    entries.insert(key.to_vec(), Entry { mode: EntryKind::Tree.into(), id });
                }
            }
        }
        if entries.is_empty() { Ok(None) } else { self.write(&entries).map(Some) }
    }

    fn read(&self, id: ObjectId) -> Result<BTreeMap<Vec<u8>, Entry>, ArchiveError> {
        let mut buffer = Vec::new();
        let tree = self.objects.find_tree(&id, &mut buffer);
        let tree = tree.map_err(ArchiveError::object(format!("cannot read the tree {id}")))?;
        let entries = tree.entries.iter().map(|entry| {
            (entry.filename.to_vec(), Entry { mode: entry.mode, id: entry.oid.to_owned() })
        });
        Ok(entries.collect())
    }

    fn write(&mut self, entries: &BTreeMap<Vec<u8>, Entry>) -> Result<ObjectId, ArchiveError> {
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

/// The path's component that begins at byte `skip`.
fn component(path: &str, skip: usize) -> &str {
    path[skip..].split('/').next().unwrap_or_default()
}

/// Order in which a name comes directly before everything that is inside it.
fn by_component(a: &str, b: &str) -> Ordering {
    a.split('/').cmp(b.split('/'))
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
