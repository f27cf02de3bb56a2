//! The two refs, and moving them together.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gix::lock::acquire::Fail;
use gix::refs::file::transaction::PackedRefs;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::ObjectId;
use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::{PRIVATE_REF, PUBLIC_REF};
use super::pack::flush_directory;
use crate::model::Visibility;

/// How long to wait for another process that holds a lock on the refs.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// How long after an intent was written a lock file may still be that run's own.
const OWN_LOCK_AGE: Duration = Duration::from_mins(1);

/// The commits that the two refs are at; `None` before the first run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Tip of the public ref.
    pub public: Option<ObjectId>,
    /// Tip of the private ref.
    pub private: Option<ObjectId>,
}

impl Heads {
    /// The tip of one ref.
    #[must_use]
    pub fn of(&self, visibility: Visibility) -> Option<ObjectId> {
        match visibility {
            Visibility::Public => self.public,
            Visibility::Private => self.private,
        }
    }
}

/// Moving both refs from their old commits to new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefMove {
    /// Where the refs must be.
    pub old: Heads,
    /// Where they go.
    pub new: Heads,
}

impl Archive {
    /// Reads both refs.
    ///
    /// # Errors
    /// A ref cannot be read or is not a commit id.
    pub fn heads(&self) -> Result<Heads, ArchiveError> {
        let repository = self.repository();
        let read = |name: &str| {
            let found = repository.try_find_reference(name);
            let found = found.map_err(ArchiveError::object(format!("cannot read {name}")))?;
            Ok::<_, ArchiveError>(found.and_then(|r| r.try_id().map(gix::Id::detach)))
        };
        Ok(Heads { public: read(PUBLIC_REF)?, private: read(PRIVATE_REF)? })
    }

    /// Whether the archive has the commits with their trees.
    #[must_use]
    pub fn has_commits(&self, heads: &Heads) -> bool {
        let repository = self.repository();
        let has = |id: ObjectId| {
            super::reader::tree_of(&repository, id).is_ok_and(|tree| repository.has_object(tree))
        };
        heads.public.is_none_or(has) && heads.private.is_none_or(has)
    }

    /// Moves both refs in one transaction, provided that they are where they should be,
    /// and flushes them. Both are kept in `packed-refs`: one rename moves them both.
    ///
    /// # Errors
    /// A ref is elsewhere, another process holds a lock, or the disk failed; then no ref
    /// has moved.
    pub fn move_refs(&self, refs: &RefMove) -> Result<(), ArchiveError> {
        if [PUBLIC_REF, PRIVATE_REF].iter().any(|name| self.path().join(name).exists()) {
            // Somebody wrote a ref as a file of its own. It hides what `packed-refs` says
            // until it is removed, so that the two refs would not move at once.
            self.change_refs(&RefMove { old: refs.old, new: refs.old })?;
        }
        self.change_refs(refs)
    }

    fn change_refs(&self, refs: &RefMove) -> Result<(), ArchiveError> {
        let repository = self.repository();
        let edits = [
            edit(PUBLIC_REF, refs.old.public, refs.new.public)?,
            edit(PRIVATE_REF, refs.old.private, refs.new.private)?,
        ];
        let packed = PackedRefs::DeletionsAndNonSymbolicUpdatesRemoveLooseSourceReference(
            Box::new(repository.objects.clone()),
        );
        let wait = Fail::AfterDurationWithBackoff(LOCK_WAIT);
        let prepared = repository
            .refs
            .transaction()
            .packed_refs(packed)
            .prepare(edits.into_iter().flatten(), wait, wait)
            .map_err(|error| self.explain_refusal(refs, &error))?;
        prepared.commit(None).map_err(ArchiveError::object("cannot move the refs"))?;
        let file = self.path().join("packed-refs");
        let opened = fs::File::open(&file).map_err(ArchiveError::io("open", &file))?;
        opened.sync_all().map_err(ArchiveError::io("flush", &file))?;
        flush_directory(self.path())
    }

    /// Says why a transaction was refused: a ref elsewhere, a lock, or what gix says.
    fn explain_refusal(&self, refs: &RefMove, error: &dyn std::error::Error) -> ArchiveError {
        if let Ok(found) = self.heads() {
            for (name, found, old) in [
                (PUBLIC_REF, found.public, refs.old.public),
                (PRIVATE_REF, found.private, refs.old.private),
            ] {
                if found != old {
                    return moved(name, old, found);
                }
            }
        }
        match self.ref_locks().into_iter().next() {
            Some(path) => ArchiveError::RefLock { path },
            None => ArchiveError::Object {
                what: "cannot move the refs".to_owned(),
                why: error.to_string(),
            },
        }
    }

    /// Removes lock files on the refs that a killed run of ours left: those that came to be
    /// just after `intent`, the time at which that run was about to move the refs. Locks of
    /// any other age belong to somebody else and stay.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove_own_ref_locks(&self, intent: SystemTime) -> Result<(), ArchiveError> {
        for path in self.ref_locks() {
            let made = fs::metadata(&path).and_then(|data| data.modified());
            // File systems keep coarser times than the clock.
            let earliest = intent - Duration::from_secs(2);
            if made.is_ok_and(|made| made >= earliest && made <= intent + OWN_LOCK_AGE) {
                tracing::info!(path = %path.display(), "removing the lock of a run that was killed");
                fs::remove_file(&path).map_err(ArchiveError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Lock files that stand in the way of a move, whoever made them.
    #[must_use]
    pub fn ref_locks(&self) -> Vec<PathBuf> {
        [PUBLIC_REF, PRIVATE_REF, "packed-refs"]
            .iter()
            .map(|name| self.path().join(format!("{name}.lock")))
            .filter(|path: &PathBuf| Path::exists(path))
            .collect()
    }
}

/// The error for a ref that is not where it should be.
pub(super) fn moved(
    name: &str,
    expected: Option<ObjectId>,
    found: Option<ObjectId>,
) -> ArchiveError {
    let shown =
        |id: Option<ObjectId>| id.map_or_else(|| "no commit".to_owned(), |id| id.to_string());
    ArchiveError::RefMoved { name: name.to_owned(), expected: shown(expected), found: shown(found) }
}

/// The edit of one ref; none where there is to be none.
fn edit(
    name: &str,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Option<RefEdit>, ArchiveError> {
    let Some(new) = new else { return Ok(None) };
    let expected = old.map_or(PreviousValue::MustNotExist, |id| {
        PreviousValue::MustExistAndMatch(Target::Object(id))
    });
    let log =
        LogChange { mode: RefLog::AndReference, force_create_reflog: false, message: "".into() };
    let name: FullName = name.try_into().map_err(ArchiveError::object("cannot name a ref"))?;
    let change = Change::Update { log, expected, new: Target::Object(new) };
    Ok(Some(RefEdit { change, name, deref: false }))
}
