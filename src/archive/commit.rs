//! The commit object of a run.

use gix::objs::WriteTo;

use super::ObjectId;
use super::error::ArchiveError;
use crate::model::{Bot, Timestamp};

/// What a commit says besides its tree.
#[derive(Clone, Copy, Debug)]
pub struct NewCommit<'a> {
    /// Author and committer.
    pub bot: &'a Bot,
    /// Author date: start of the run.
    pub started: Timestamp,
    /// Committer date: end of the run.
    pub ended: Timestamp,
    /// Message on the public ref.
    pub public_message: &'a str,
    /// Message on the private ref.
    pub private_message: &'a str,
}

/// Encodes a commit object.
pub(super) fn encode(
    new: &NewCommit<'_>,
    tree: ObjectId,
    parent: Option<ObjectId>,
    message: &str,
) -> Result<Vec<u8>, ArchiveError> {
    let signature = |time: Timestamp| gix::actor::Signature {
        name: new.bot.name.as_str().into(),
        email: new.bot.contact.as_str().into(),
        time: gix::date::Time { seconds: time.unix(), offset: 0 },
    };
    let commit = gix::objs::Commit {
        tree,
        parents: parent.into_iter().collect(),
        author: signature(new.started),
        committer: signature(new.ended),
        encoding: None,
        message: message.into(),
        extra_headers: Vec::new(),
    };
    let mut bytes = Vec::new();
    commit.write_to(&mut bytes).map_err(ArchiveError::object("cannot write a commit"))?;
    Ok(bytes)
}
