//! `pagelog changes`

use super::archive::commit_at;
use super::options::ChangesArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{ObjectId, PUBLIC_REF};
use crate::model::{Timestamp, Visibility};
use crate::report::{Changes, Past};

pub(crate) fn changes(
    session: &Session,
    arguments: &ChangesArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let (archive, state) = session.archive_and_state(output)?;
    let past = Past::open(&archive, state.as_ref())?;
    let mut all = Vec::new();
    for (visibility, old, new) in ranges(&past, arguments.range.as_deref())? {
        all.push(Changes::between(&past, visibility, (old, new))?);
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

type Range = (Visibility, Option<ObjectId>, ObjectId);

/// The commits to compare, per ref.
fn ranges(past: &Past<'_>, range: Option<&str>) -> Result<Vec<Range>, Failure> {
    let alone = |visibility, commit| -> Result<Range, Failure> {
        Ok((visibility, past.archive.run(commit)?.parent, commit))
    };
    let Some(text) = range else {
        let tips = Visibility::BOTH.into_iter().filter_map(|on| Some((on, past.heads().of(on)?)));
        let ranges = tips.map(|(on, tip)| alone(on, tip)).collect::<Result<Vec<_>, _>>()?;
        if ranges.is_empty() {
            return Err(Failure::Usage(
                "the archive has no run yet; `pagelog run` makes one".to_owned(),
            ));
        }
        return Ok(ranges);
    };
    let Some((old, new)) = text.split_once("..") else {
        if is_date(text) {
            return between_dates(past, (None, text));
        }
        let (visibility, commit) = past.revision(text)?;
        return Ok(vec![alone(visibility, commit)?]);
    };
    if new.starts_with('.') {
        return Err(Failure::Usage(format!(
            "{text}: two commits are compared as A..B; there are no branches to compare"
        )));
    }
    let tip = |text| if str::is_empty(text) { "HEAD" } else { text };
    let (old, new) = (tip(old), tip(new));
    if is_date(old) || is_date(new) {
        return between_dates(past, (Some(old), new));
    }
    let (old_on, old) = past.revision(old)?;
    let (new_on, new) = past.revision(new)?;
    if old_on != new_on {
        return Err(Failure::Usage(format!(
            "{text} compares a public with a private commit; they share no history"
        )));
    }
    Ok(vec![(new_on, Some(old), new)])
}

fn is_date(text: &str) -> bool {
    Timestamp::parse_lenient(text).is_ok()
}

/// The commits of both refs at two dates (or revisions); without the first, the last run at
/// the second date alone.
fn between_dates(past: &Past<'_>, (old, new): (Option<&str>, &str)) -> Result<Vec<Range>, Failure> {
    let mut ranges = Vec::new();
    for visibility in Visibility::BOTH {
        let Some(tip) = commit_at(past, visibility, Some(new))? else { continue };
        let before = match old {
            Some(old) => commit_at(past, visibility, Some(old))?,
            None => past.archive.run(tip)?.parent,
        };
        ranges.push((visibility, before, tip));
    }
    if ranges.is_empty() {
        return Err(Failure::Usage(format!("the archive has no run at {new} or before")));
    }
    Ok(ranges)
}
