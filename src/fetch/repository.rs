//! Reading the snapshot of an upstream repository out of its cache.
//!
//! Nothing is checked out and nothing of the upstream is run: files are read as blobs by
//! their ids, symbolic links are never followed, submodules and attributes are inert.

mod files;

use std::path::Path;

use gix::ObjectId;
use gix::diff::tree::recorder::Change;
use gix::objs::tree::EntryMode;
use gix::objs::{Find, FindExt, FindHeader};
use gix::odb::pack::cache::lru::MemoryCappedHashmap;

pub use files::Files;

/// Bytes of delta bases that a reader keeps.
const DELTA_BASES: usize = 16 << 20;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A symbolic link; its blob holds the target.
    SymbolicLink,
    /// A submodule: a commit of another repository.
    Submodule,
}

/// A path that differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamChange {
    /// Path in the repository, bytes as Git has them.
    pub path: Vec<u8>,
    /// What stands there now; `None` where it is gone.
    pub now: Option<(FileKind, ObjectId)>,
}

/// A cache that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the cached repository: {0}")]
pub struct UpstreamError(String);

impl UpstreamError {
    fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Why one blob could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// The cache does not have it.
    #[error("its content cannot be read: the cache does not have it")]
    Missing,
    /// It is larger than what is converted.
    #[error("too large: {0} bytes")]
    TooLarge(u64),
    /// It is damaged.
    #[error("its content cannot be read: {0}")]
    Damaged(String),
}

/// A cached upstream repository.
#[derive(Clone, Debug)]
pub struct Upstream(gix::ThreadSafeRepository);

impl Upstream {
    /// Opens a cache.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn open(cache: &Path) -> Result<Self, UpstreamError> {
        let options = gix::open::Options::isolated().with(gix::sec::Trust::Full);
        let opened = options.open_path_as_is(true).open(cache);
        opened.map(Self).map_err(|error| UpstreamError(error.to_string()))
    }

    /// Whether the cache has a commit with its tree.
    #[must_use]
    pub fn has_commit(&self, commit: &str) -> bool {
        let repository = self.0.to_thread_local();
        tree_of(&repository, commit).is_ok_and(|tree| repository.has_object(tree))
    }

    /// All files, links and submodules of a commit, in the order of their paths.
    ///
    /// # Errors
    /// The commit cannot be read; each step tells of a directory that cannot.
    pub fn files(&self, commit: &str) -> Result<Files, UpstreamError> {
        let repository = self.0.to_thread_local();
        let tree = tree_of(&repository, commit)?;
        Files::of(repository.objects, tree)
    }

    /// The paths that differ between two commits, in order.
    ///
    /// # Errors
    /// A commit or tree cannot be read.
    pub fn changes(&self, old: &str, new: &str) -> Result<Vec<UpstreamChange>, UpstreamError> {
        let repository = self.0.to_thread_local();
        let objects = &repository.objects;
        let (mut old_buffer, mut new_buffer) = (Vec::new(), Vec::new());
        let id = tree_of(&repository, old)?;
        let old_tree = objects.find_tree_iter(&id, &mut old_buffer).map_err(UpstreamError::of)?;
        let id = tree_of(&repository, new)?;
        let new_tree = objects.find_tree_iter(&id, &mut new_buffer).map_err(UpstreamError::of)?;
        let mut recorder = gix::diff::tree::Recorder::default();
        let state = gix::diff::tree::State::default();
        gix::diff::tree(old_tree, new_tree, state, objects, &mut recorder)
            .map_err(UpstreamError::of)?;
        let mut changes: Vec<UpstreamChange> = recorder.records.iter().filter_map(change).collect();
        // Where a file became a directory or the reverse, both are told: the file counts.
        changes.sort_by(|a, b| a.path.cmp(&b.path).then(b.now.is_some().cmp(&a.now.is_some())));
        changes.dedup_by(|later, earlier| later.path == earlier.path);
        Ok(changes)
    }

    /// A reader of blobs for one thread.
    #[must_use]
    pub fn reader(&self) -> BlobReader {
        let mut objects = self.0.to_thread_local().objects;
        // Versions of a document are deltas on one another: without this each is made anew
        // from its oldest base.
        objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(DELTA_BASES)));
        BlobReader(objects)
    }
}

/// Reads blobs of an upstream.
pub struct BlobReader(gix::OdbHandle);

impl BlobReader {
    /// The bytes of a blob of at most `limit` bytes.
    ///
    /// # Errors
    /// It is missing, larger, or damaged.
    pub fn read(&self, id: ObjectId, limit: u64) -> Result<Vec<u8>, ReadFailure> {
        let header = self
            .0
            .try_header(&id)
            .map_err(|error| ReadFailure::Damaged(error.to_string()))?
            .ok_or(ReadFailure::Missing)?;
        if header.size > limit {
            return Err(ReadFailure::TooLarge(header.size));
        }
        let mut buffer = Vec::new();
        let found = self
            .0
            .try_find(&id, &mut buffer)
            .map_err(|error| ReadFailure::Damaged(error.to_string()))?;
        found.ok_or(ReadFailure::Missing)?;
        Ok(buffer)
    }
}

fn change(change: &Change) -> Option<UpstreamChange> {
    match change {
        Change::Addition { entry_mode, oid, path, .. }
        | Change::Modification { entry_mode, oid, path, .. } => {
            let Some(kind) = kind_of(*entry_mode) else {
                return became_directory(change)
                    .then(|| UpstreamChange { path: path.clone().into(), now: None });
            };
            Some(UpstreamChange { path: path.clone().into(), now: Some((kind, *oid)) })
        }
        Change::Deletion { entry_mode, path, .. } => {
            (!entry_mode.is_tree()).then(|| UpstreamChange { path: path.clone().into(), now: None })
        }
    }
}

/// What an entry of a tree is; `None` for a directory.
fn kind_of(mode: EntryMode) -> Option<FileKind> {
    if mode.is_blob() {
        Some(FileKind::File)
    } else if mode.is_link() {
        Some(FileKind::SymbolicLink)
    } else {
        mode.is_commit().then_some(FileKind::Submodule)
    }
}

/// Whether a file, link or submodule gave way to a directory of the same name.
fn became_directory(change: &Change) -> bool {
    matches!(change, Change::Modification { previous_entry_mode, .. } if !previous_entry_mode.is_tree())
}

fn tree_of(repository: &gix::Repository, commit: &str) -> Result<ObjectId, UpstreamError> {
    let find = || -> Result<ObjectId, Box<dyn std::error::Error>> {
        let id = ObjectId::from_hex(commit.as_bytes())?;
        Ok(repository.find_commit(id)?.tree_id()?.detach())
    };
    find().map_err(|error| UpstreamError(format!("commit {commit}: {error}")))
}
