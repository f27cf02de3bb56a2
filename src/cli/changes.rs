//! `pagelog changes`

use super::archive::commit_at;
use super::options::ChangesArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{Archive, ObjectId, PRIVATE_REF, PUBLIC_REF};
use crate::model::{Timestamp, Visibility};
use crate::report::Changes;

pub(crate) fn changes(
    session: &Session,
    arguments: &ChangesArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let archive = session.archive()?;
    let mut all = Vec::new();
    for (name, old, new) in ranges(&archive, arguments.range.as_deref())? {
        all.push(Changes::between(&archive, name, (old, new))?);
    }
    if arguments.json {
        output.json(&all)?;
    } else {
        // A ref without changes is told of only where it is the only one.
        let quiet = |changes: &&Changes| {
            all.len() == 1 || changes.name == PUBLIC_REF || !changes.pages.is_empty()
        };
        let text: String = all.iter().filter(quiet).map(Changes::to_text).collect();
        output.data(&text)?;
    }
    Ok(Ending::Done)
}

type Range = (&'static str, Option<ObjectId>, ObjectId);

/// The commits to compare, per ref.
fn ranges(archive: &Archive, range: Option<&str>) -> Result<Vec<Range>, Failure> {
    let parent = |commit| -> Result<Option<ObjectId>, Failure> {
        Ok(archive.runs(Some(commit))?.first().and_then(|run| run.parent))
    };
    let Some(text) = range else {
        let heads = archive.heads()?;
        let mut ranges = Vec::new();
        for visibility in [Visibility::Public, Visibility::Private] {
            if let Some(tip) = heads.of(visibility) {
                ranges.push((ref_name(visibility), parent(tip)?, tip));
            }
        }
        if ranges.is_empty() {
            return Err(Failure::Usage(
                "the archive has no run yet; `pagelog run` makes one".to_owned(),
            ));
        }
        return Ok(ranges);
    };
    let Some((old, new)) = text.split_once("..") else {
        if is_date(text) {
            return between_dates(archive, (None, text));
        }
        let (visibility, commit) = archive.revision(text)?;
        return Ok(vec![(ref_name(visibility), parent(commit)?, commit)]);
    };
    if new.starts_with('.') {
        return Err(Failure::Usage(format!(
            "{text}: two commits are compared as A..B; there are no branches to compare"
        )));
    }
    let tip = |text| if str::is_empty(text) { "HEAD" } else { text };
    let (old, new) = (tip(old), tip(new));
    if is_date(old) || is_date(new) {
        return between_dates(archive, (Some(old), new));
    }
    let (old_on, old) = archive.revision(old)?;
    let (new_on, new) = archive.revision(new)?;
    if old_on != new_on {
        return Err(Failure::Usage(format!(
            "{text} compares a public with a private commit; they share no history"
        )));
    }
    Ok(vec![(ref_name(new_on), Some(old), new)])
}

fn is_date(text: &str) -> bool {
    Timestamp::parse_lenient(text).is_ok()
}

/// The commits of both refs at two dates (or revisions); without the first, the last run at
/// the second date alone.
fn between_dates(
    archive: &Archive,
    (old, new): (Option<&str>, &str),
) -> Result<Vec<Range>, Failure> {
    let mut ranges = Vec::new();
    for visibility in [Visibility::Public, Visibility::Private] {
        let Some(tip) = commit_at(archive, visibility, Some(new))? else { continue };
        let before = match old {
            Some(old) => commit_at(archive, visibility, Some(old))?,
            None => archive.runs(Some(tip))?.first().and_then(|run| run.parent),
        };
        ranges.push((ref_name(visibility), before, tip));
    }
    if ranges.is_empty() {
        return Err(Failure::Usage(format!("the archive has no run at {new} or before")));
    }
    Ok(ranges)
}

fn ref_name(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Public => PUBLIC_REF,
        Visibility::Private => PRIVATE_REF,
    }
}
