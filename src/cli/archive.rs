//! Commits as they are named on the command line.

use super::Failure;
use crate::archive::{Archive, ObjectId};
use crate::model::{Timestamp, Visibility};

/// The commit of a ref at a date, a time or a revision; the tip without any. `None` where
/// that ref has no such commit.
pub(crate) fn commit_at(
    archive: &Archive,
    visibility: Visibility,
    at: Option<&str>,
) -> Result<Option<ObjectId>, Failure> {
    let Some(text) = at else { return Ok(archive.heads()?.of(visibility)) };
    if let Ok(time) = Timestamp::parse_lenient(text) {
        return Ok(archive.commit_at(visibility, Some(time))?);
    }
    let (on, commit) = archive.revision(text)?;
    if on == visibility {
        return Ok(Some(commit));
    }
    // A revision of the other ref stands for its date.
    let runs = archive.runs(Some(commit))?;
    let date = runs.first().map(|run| run.started);
    Ok(archive.commit_at(visibility, date)?)
}
