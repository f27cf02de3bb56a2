//! The files of a snapshot, one after the other.
//!
//! Holds one directory a level open, as it is stored, so that a repository of a million files
//! needs no more memory than its largest directories.

use gix::ObjectId;
use gix::objs::{FindExt, TreeRefIter};

use super::{UpstreamChange, UpstreamError, kind_of};

/// Reads the files of a tree in the order of their paths, byte by byte.
pub struct Files {
    objects: gix::OdbHandle,
    /// Path of the directory that is open last, ended by `/` unless it is the root.
    prefix: Vec<u8>,
    open: Vec<Directory>,
}

/// A directory that is being read.
struct Directory {
    /// The tree as it is stored.
    bytes: Vec<u8>,
    /// Where the next entry begins.
    at: usize,
    /// Length of the path of the directory that holds it.
    above: usize,
}

impl Files {
    pub(super) fn of(objects: gix::OdbHandle, tree: ObjectId) -> Result<Self, UpstreamError> {
        let mut files = Self { objects, prefix: Vec::new(), open: Vec::new() };
        files.enter(tree, 0)?;
        Ok(files)
    }

    fn enter(&mut self, tree: ObjectId, above: usize) -> Result<(), UpstreamError> {
        let mut bytes = Vec::new();
        self.objects.find_tree_iter(&tree, &mut bytes).map_err(UpstreamError::of)?;
        self.open.push(Directory { bytes, at: 0, above });
        Ok(())
    }

    fn step(&mut self) -> Result<Option<UpstreamChange>, UpstreamError> {
        while let Some(directory) = self.open.last_mut() {
            let rest = &directory.bytes[directory.at..];
            let Some(entry) = TreeRefIter::from_bytes(rest, gix::hash::Kind::Sha1).next() else {
                self.prefix.truncate(directory.above);
                self.open.pop();
                continue;
            };
            let entry = entry.map_err(UpstreamError::of)?;
            let (mode, name, id) = (entry.mode, entry.filename, entry.oid.to_owned());
            // What stands before a name ends with the first space; a zero byte and the id
            // come after it.
            let before = rest.iter().position(|byte| *byte == b' ').unwrap_or(0) + 1;
            let length = before + name.len() + 1 + id.as_bytes().len();
            if mode.is_tree() {
                let above = self.prefix.len();
                self.prefix.extend_from_slice(name);
                self.prefix.push(b'/');
                directory.at += length;
                self.enter(id, above)?;
                continue;
            }
            let path = [self.prefix.as_slice(), name.as_ref()].concat();
            directory.at += length;
            if let Some(kind) = kind_of(mode) {
                return Ok(Some(UpstreamChange { path, now: Some((kind, id)) }));
            }
        }
        Ok(None)
    }
}

impl Iterator for Files {
    type Item = Result<UpstreamChange, UpstreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.step().transpose();
        if matches!(next, Some(Err(_))) {
            self.open.clear();
        }
        next
    }
}
