//! Writing trees and files anew, each once however many commits have it.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use gix::objs::FindExt as _;
use gix::objs::tree::{EntryKind, EntryMode};

use super::fate::{Edit, Fate, Fates, ROOT, Rule};
use crate::archive::ObjectId;
use crate::archive::directory::Archive;
use crate::archive::error::ArchiveError;
use crate::archive::pack::{Deflater, Kind, PackWriter, object_id};
use crate::archive::stored_tree::{StoredTree, TreeChanges};

/// Most objects of a pack, before another one is begun.
const PACK_OBJECTS: usize = 200_000;

/// Writes what is new, and counts what is written and what goes.
pub(super) struct Press {
    pub objects: gix::OdbHandle,
    deflater: Deflater,
    pack: PackWriter,
    finished: Vec<PathBuf>,
    /// Objects that were written.
    pub written: usize,
    /// Bytes that they take.
    pub bytes: u64,
    /// Files that were taken out.
    pub gone: HashSet<ObjectId>,
    /// Directories of which all files were taken out.
    emptied: HashSet<ObjectId>,
}

impl Press {
    pub fn new(archive: &Archive) -> Result<Self, ArchiveError> {
        let mut objects = archive.repository().objects;
        // Nobody else adds any while the run lock is held.
        objects.refresh_never();
        Ok(Self {
            objects,
            deflater: Deflater::new(),
            pack: PackWriter::new(&archive.pack_folder())?,
            finished: Vec::new(),
            written: 0,
            bytes: 0,
            gone: HashSet::new(),
            emptied: HashSet::new(),
        })
    }

    /// Writes an object, unless the archive has it.
    pub fn write(&mut self, kind: Kind, bytes: &[u8]) -> Result<ObjectId, ArchiveError> {
        let id = object_id(kind, bytes)?;
        if self.pack.contains(&id) || gix::objs::Exists::exists(&self.objects, &id) {
            return Ok(id);
        }
        let packed = self.deflater.pack(kind, id, bytes);
        self.pack.append(&packed)?;
        self.written += 1;
        self.bytes += packed.size() as u64;
        if self.pack.len() >= PACK_OBJECTS {
            let next = PackWriter::beside(&self.pack)?;
            self.finished.extend(std::mem::replace(&mut self.pack, next).finish()?);
        }
        Ok(id)
    }

    /// Brings all that was written to disk.
    pub fn finish(self) -> Result<(), ArchiveError> {
        self.pack.finish().map(drop)
    }

    /// Removes what was written already.
    pub fn discard(self) -> Result<(), ArchiveError> {
        crate::archive::pack::remove_packs(&self.finished.iter().map(PathBuf::as_path))
    }

    /// The bytes of a file or commit.
    pub fn read(&self, id: ObjectId) -> Result<Vec<u8>, ArchiveError> {
        let mut bytes = Vec::new();
        let found = gix::objs::Find::try_find(&self.objects, &id, &mut bytes);
        let missing = || ArchiveError::Object {
            what: format!("cannot read the object {id}"),
            why: "it is missing".to_owned(),
        };
        match found {
            Ok(Some(_)) => Ok(bytes),
            Ok(None) => Err(missing()),
            Err(error) => Err(ArchiveError::Object {
                what: format!("cannot read the object {id}"),
                why: error.to_string(),
            }),
        }
    }

    /// Bytes of content of what was taken out.
    pub fn gone_bytes(&self) -> u64 {
        let size = |id: &ObjectId| {
            let header = gix::objs::FindHeader::try_header(&self.objects, id);
            header.ok().flatten().map_or(0, |header| header.size)
        };
        self.gone.iter().map(size).sum()
    }

    /// Counts the files of an entry that goes.
    fn leave(&mut self, mode: EntryMode, id: ObjectId) -> Result<(), ArchiveError> {
        if !mode.is_tree() {
            self.gone.insert(id);
        } else if self.emptied.insert(id) {
            let tree = StoredTree::read(&self.objects, Some(id))?;
            for entry in tree.entries() {
                self.leave(entry.mode, entry.id)?;
            }
        }
        Ok(())
    }
}

/// The trees of one ref, written anew.
pub(super) struct Rewriter<'a> {
    pub fates: Fates<'a>,
    pub press: &'a mut Press,
    /// What became of an entry under a rule; `None` where it went.
    known: HashMap<(Rule, ObjectId), Option<ObjectId>>,
}

impl<'a> Rewriter<'a> {
    pub fn new(fates: Fates<'a>, press: &'a mut Press) -> Self {
        Self { fates, press, known: HashMap::new() }
    }

    /// The root of a commit as it is to be, with further changes to it.
    pub fn root(&mut self, id: ObjectId, more: TreeChanges) -> Result<ObjectId, ArchiveError> {
        let tree = StoredTree::read(&self.press.objects, Some(id))?;
        let mut changes = self.changes(ROOT, &tree)?;
        changes.extend(more);
        self.press.write(Kind::Tree, &tree.changed(&changes))
    }

    /// What becomes of an entry under a rule; `None` where it goes.
    fn entry(
        &mut self,
        rule: Rule,
        (mode, id): (EntryMode, ObjectId),
    ) -> Result<Option<ObjectId>, ArchiveError> {
        if let Some(known) = self.known.get(&(rule, id)) {
            return Ok(*known);
        }
        let became = match self.fates.fate(rule) {
            Fate::Remove => {
                self.press.leave(mode, id)?;
                None
            }
            Fate::Edit(edit) if !mode.is_tree() => self.file(*edit, id)?,
            Fate::Edit(_) | Fate::Among { .. } if mode.is_tree() => self.directory(rule, id)?,
            Fate::Edit(_) | Fate::Among { .. } => Some(id),
        };
        self.known.insert((rule, id), became);
        Ok(became)
    }

    fn file(&mut self, edit: Edit, id: ObjectId) -> Result<Option<ObjectId>, ArchiveError> {
        let bytes = self.press.read(id)?;
        let edited = self.fates.edited(edit, &bytes);
        if edited.as_ref() == Some(&bytes) {
            return Ok(Some(id));
        }
        self.press.gone.insert(id);
        edited.map(|bytes| self.press.write(Kind::Blob, &bytes)).transpose()
    }

    fn directory(&mut self, rule: Rule, id: ObjectId) -> Result<Option<ObjectId>, ArchiveError> {
        let tree = StoredTree::read(&self.press.objects, Some(id))?;
        let changes = self.changes(rule, &tree)?;
        if changes.is_empty() {
            return Ok(Some(id));
        }
        let bytes = tree.changed(&changes);
        if bytes.is_empty() {
            return Ok(None);
        }
        self.press.write(Kind::Tree, &bytes).map(Some)
    }

    /// The entries of a directory that become something else.
    fn changes(&mut self, rule: Rule, tree: &StoredTree) -> Result<TreeChanges, ArchiveError> {
        let mut concerned = Vec::new();
        match self.fates.fate(rule) {
            Fate::Remove => {}
            Fate::Edit(_) => {
                concerned.extend(tree.entries().map(|it| (rule, it.name.to_vec(), it.mode, it.id)));
            }
            Fate::Among { named, others: Some(others) } => {
                concerned.extend(tree.entries().map(|it| {
                    let rule = named.get(it.name).unwrap_or(others);
                    (*rule, it.name.to_vec(), it.mode, it.id)
                }));
            }
            Fate::Among { named, others: None } => {
                for (name, rule) in named {
                    let folder = tree.tree(name).map(|id| (EntryKind::Tree.into(), id));
                    let file = tree.file(name).map(|id| (EntryKind::Blob.into(), id));
                    let found = folder.into_iter().chain(file);
                    concerned.extend(found.map(|(mode, id)| (*rule, name.clone(), mode, id)));
                }
            }
        }
        let mut changes = TreeChanges::new();
        for (rule, name, mode, id) in concerned {
            let became = self.entry(rule, (mode, id))?;
            if became != Some(id) {
                changes.insert(name, became.map(|id| (mode, id)));
            }
        }
        Ok(changes)
    }
}

/// A commit with its tree and its parent exchanged, and lines of its message left out; all
/// else stays as it is, byte for byte.
pub(super) fn recommit(
    commit: &[u8],
    (tree, parent): (ObjectId, Option<ObjectId>),
    keeps: impl Fn(&[u8]) -> bool,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(commit.len());
    let mut header = true;
    for line in commit.split_inclusive(|byte| *byte == b'\n') {
        if header && line.starts_with(b"tree ") {
            out.extend_from_slice(format!("tree {tree}\n").as_bytes());
            out.extend(parent.iter().flat_map(|id| format!("parent {id}\n").into_bytes()));
        } else if header && line.starts_with(b"parent ") {
        } else if header || keeps(line) {
            header &= line != b"\n";
            out.extend_from_slice(line);
        }
    }
    out
}

/// The tree of a commit.
pub(super) fn tree_of(press: &Press, commit: ObjectId) -> Result<ObjectId, ArchiveError> {
    let mut bytes = Vec::new();
    let failed = || ArchiveError::object(format!("cannot read the commit {commit}"));
    let mut parts = press.objects.find_commit_iter(&commit, &mut bytes).map_err(failed())?;
    parts.tree_id().map_err(failed())
}
