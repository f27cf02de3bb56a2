//! The dated commits of a ref, and the versions of one page.

use super::directory::Archive;
use super::error::ArchiveError;
use super::layout::{PRIVATE_REF, PUBLIC_REF, PageEntry};
use super::message::RunMessage;
use super::reader::Snapshot;
use super::refs::Heads;
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
    /// How many commits of its ref are newer.
    pub behind: usize,
    /// Start of that run.
    pub started: Timestamp,
    /// The page's file; `None` where it left the tree.
    pub blob: Option<ObjectId>,
    /// The page's file before.
    pub before: Option<ObjectId>,
}

/// A commit of one of the refs, in the order of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The ref it is on.
    pub visibility: Visibility,
    /// Its id.
    pub commit: ObjectId,
    /// The commit before it.
    pub parent: Option<ObjectId>,
    /// Start of the run.
    pub started: Timestamp,
}

/// The commits from one back to the first, newest first.
pub struct Walk {
    repository: gix::Repository,
    next: Option<ObjectId>,
}

impl Iterator for Walk {
    type Item = Result<ArchivedRun, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        let run = read_run(&self.repository, self.next?);
        self.next = run.as_ref().ok().and_then(|run| run.parent);
        Some(run)
    }
}

fn read_run(repository: &gix::Repository, id: ObjectId) -> Result<ArchivedRun, ArchiveError> {
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
    Ok(ArchivedRun {
        commit: id,
        parent: decoded.parents().next(),
        started: time(author)?,
        ended: time(committer)?,
        message: Message::decode(&String::from_utf8_lossy(decoded.message)),
    })
}

impl Archive {
    /// A commit.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn run(&self, commit: ObjectId) -> Result<ArchivedRun, ArchiveError> {
        read_run(&self.repository(), commit)
    }

    /// The commits from `tip` back to the first, newest first, read one by one.
    #[must_use]
    pub fn walk(&self, tip: Option<ObjectId>) -> Walk {
        Walk { repository: self.repository(), next: tip }
    }

    /// All commits from `tip` back to the first, newest first.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub fn runs(&self, tip: Option<ObjectId>) -> Result<Vec<ArchivedRun>, ArchiveError> {
        self.walk(tip).collect()
    }

    /// The commits of both refs behind those in `known`, oldest first: those of a ref in
    /// their order, and of one run the public one first. From the first commit on where what
    /// is known is on the ref no more.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub fn steps(&self, known: &Heads, heads: &Heads) -> Result<Vec<Step>, ArchiveError> {
        let behind = |visibility| -> Result<Vec<Step>, ArchiveError> {
            let mut steps = Vec::new();
            for run in self.walk(heads.of(visibility)) {
                let ArchivedRun { commit, parent, started, .. } = run?;
                if Some(commit) == known.of(visibility) {
                    break;
                }
                steps.push(Step { visibility, commit, parent, started });
            }
            Ok(steps)
        };
        let (mut public, mut private) = (behind(Visibility::Public)?, behind(Visibility::Private)?);
        let mut steps = Vec::with_capacity(public.len() + private.len());
        loop {
            let of = |steps: &[Step]| steps.last().map(|step| step.started);
            let (next, beside) = match (of(&public), of(&private)) {
                (None, None) => return Ok(steps),
                (Some(a), Some(b)) => (a <= b, b <= a),
                (a, b) => (a.is_some(), b.is_some()),
            };
            steps.extend(public.pop_if(|_| next));
            steps.extend(private.pop_if(|_| beside));
        }
    }

    /// The commit that a Git revision names.
    ///
    /// # Errors
    /// It names no commit.
    pub fn find_commit(&self, text: &str) -> Result<ObjectId, ArchiveError> {
        let repository = self.repository();
        let wrong = |why| ArchiveError::Revision { text: text.to_owned(), why };
        let named = text.replace("private", PRIVATE_REF).replace("public", PUBLIC_REF);
        let named = if text.contains("refs/") { text.to_owned() } else { named };
        let like_a_date = text.split_once('-').is_some_and(|(year, _)| {
            year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit())
        });
        let why = if like_a_date {
            "there is no such date; one is written as 2026-11-30 or 2026-11-30T02:00:00Z"
        } else {
            "it names nothing here"
        };
        let id = repository.rev_parse_single(named.as_str()).map_err(|_| wrong(why))?;
        let commit = id.object().ok().and_then(|object| object.peel_to_commit().ok());
        Ok(commit.ok_or_else(|| wrong("it is no commit"))?.id)
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
    let mut versions: Vec<Version> = Vec::new();
    // Filled from the newest on: what a run made is known once the one before it was seen.
    let mut newer: Option<Version> = None;
    for (behind, run) in archive.walk(archive.heads()?.of(visibility)).enumerate() {
        let ArchivedRun { commit, started, .. } = run?;
        let blob = Snapshot::open(archive, Some(commit))?.blob_at(&path)?;
        let newest = newer.replace(Version { commit, behind, started, blob, before: None });
        let changed = newest.filter(|newest| newest.blob != blob);
        versions.extend(changed.map(|newest| Version { before: blob, ..newest }));
    }
    versions.extend(newer.filter(|first| first.blob.is_some()));
    Ok(versions)
}
