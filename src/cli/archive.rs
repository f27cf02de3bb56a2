//! Commits as they are named on the command line.

use super::Failure;
use crate::archive::ObjectId;
use crate::model::{Timestamp, Visibility};
use crate::report::Past;

/// The commit of a ref at a date, a time or a revision; the tip without any. `None` where
/// that ref has no such commit.
pub(crate) fn commit_at(
    past: &Past<'_>,
    visibility: Visibility,
    at: Option<&str>,
) -> Result<Option<ObjectId>, Failure> {
    let Some(text) = at else { return Ok(past.commit_at(visibility, None)?) };
    if let Ok(time) = Timestamp::parse_lenient(text) {
        return Ok(past.commit_at(visibility, Some(time))?);
    }
    let (on, commit) = past.revision(text)?;
    if on == visibility {
        return Ok(Some(commit));
    }
    // A revision of the other ref stands for its date.
    let date = past.archive.run(commit)?.started;
    Ok(past.commit_at(visibility, Some(date))?)
}
