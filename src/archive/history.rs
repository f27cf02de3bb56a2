//! The dated commits of a ref, and the versions of one page.

use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::{PRIVATE_REF, PUBLIC_REF, PageEntry};
use super::message::RunMessage;
use super::reader::Snapshot;
use super::{ObjectId, RunMessage as Message};
use crate::model::{Timestamp, Visibility};

/// A commit of the archive.
#[derive(Clone, Debug)]
pub struct ArchivedRun {
    /// Its id.
    pub commit: ObjectId,
    /// The commit before it.
    pub parent: Option<ObjectId>,
    /// Start of the run (author date).
    pub started: Timestamp,
    /// End of the run (committer date).
    pub ended: Timestamp,
    /// What its message says; `None` where it is not a run's.
    pub message: Option<RunMessage>,
}

/// A version of a page: it said this from that commit on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The commit with which it came.
    pub commit: ObjectId,
    /// Start of that run.
    pub started: Timestamp,
    /// The page's file; `None` where it left the tree.
    pub blob: Option<ObjectId>,
    /// The page's file before.
    pub before: Option<ObjectId>,
}

impl Archive {
    /// The commits from `tip` back to the first, newest first.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub fn runs(&self, tip: Option<ObjectId>) -> Result<Vec<ArchivedRun>, ArchiveError> {
        let repository = self.repository();
        let (mut runs, mut next) = (Vec::new(), tip);
        while let Some(id) = next {
            let failed = || ArchiveError::object(format!("cannot read the commit {id}"));
            let commit = repository.find_commit(id).map_err(failed())?;
            let decoded = commit.decode().map_err(failed())?;
            let time = |seconds| {
                Timestamp::from_unix(seconds).ok_or_else(|| ArchiveError::Format {
                    place: id.to_string(),
                    why: "its date is out of range".to_owned(),
                })
            };
            let author = decoded.author().map_err(failed())?.seconds();
            let committer = decoded.committer().map_err(failed())?.seconds();
            next = decoded.parents().next();
            runs.push(ArchivedRun {
                commit: id,
                parent: next,
                started: time(author)?,
                ended: time(committer)?,
                message: Message::decode(&String::from_utf8_lossy(decoded.message)),
            });
        }
        Ok(runs)
    }

    /// The newest commit of a ref whose run began at `at` or before; the tip without `at`.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub fn commit_at(
        &self,
        visibility: Visibility,
        at: Option<Timestamp>,
    ) -> Result<Option<ObjectId>, ArchiveError> {
        let tip = self.heads()?.of(visibility);
        let Some(at) = at else { return Ok(tip) };
        let runs = self.runs(tip)?;
        Ok(runs.into_iter().find(|run| run.started <= at).map(|run| run.commit))
    }

    /// The commit that a Git revision names, and the ref it is on.
    ///
    /// # Errors
    /// The revision names no commit, or one that is on neither ref.
    pub fn revision(&self, text: &str) -> Result<(Visibility, ObjectId), ArchiveError> {
        let repository = self.repository();
        let wrong = |why| ArchiveError::Revision { text: text.to_owned(), why };
        let named = text.replace("private", PRIVATE_REF).replace("public", PUBLIC_REF);
        let named = if text.contains("refs/") { text.to_owned() } else { named };
        let id = repository
            .rev_parse_single(named.as_str())
            .map_err(|_| wrong("it names nothing here"))?;
        let commit = id.object().ok().and_then(|object| object.peel_to_commit().ok());
        let commit = commit.ok_or_else(|| wrong("it is no commit"))?.id;
        let heads = self.heads()?;
        for visibility in [Visibility::Public, Visibility::Private] {
            if self.runs(heads.of(visibility))?.iter().any(|run| run.commit == commit) {
                return Ok((visibility, commit));
            }
        }
        Err(wrong("it is on neither ref of the archive"))
    }
}

/// The versions of a page on one ref, newest first.
///
/// # Errors
/// A commit or tree cannot be read.
pub fn versions(
    archive: &Archive,
    visibility: Visibility,
    entry: &PageEntry,
) -> Result<Vec<Version>, ArchiveError> {
    let path = entry.page_path();
    let runs = archive.runs(archive.heads()?.of(visibility))?;
    let (mut versions, mut before) = (Vec::new(), None);
    for run in runs.iter().rev() {
        let blob = Snapshot::open(archive, Some(run.commit))?.blob_at(&path)?;
        if blob != before {
            versions.push(Version { commit: run.commit, started: run.started, blob, before });
            before = blob;
        }
    }
    versions.reverse();
    Ok(versions)
}
