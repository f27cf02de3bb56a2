//! `pagelog show`

use super::archive::commit_at;
use super::options::ShowArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::Snapshot;
use crate::report::{LookupError, ReportError, find_pages};

pub(crate) fn show(
    session: &Session,
    arguments: &ShowArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let (archive, state) = session.archive_and_state()?;
    let pages =
        find_pages((&archive, state.as_ref()), &arguments.url, arguments.source.as_deref())?;
    let [page] = pages.as_slice() else {
        let what = arguments.url.clone();
        let sources: Vec<String> = pages.iter().map(|page| page.entry.source.to_string()).collect();
        return Err(ReportError::from(LookupError::Ambiguous {
            what,
            sources: sources.join(", "),
        })
        .into());
    };
    let commit = commit_at(&archive, page.visibility, arguments.at.as_deref())?;
    let bytes = Snapshot::open(&archive, commit)?.file(&page.entry.page_path())?;
    match (bytes, &arguments.at) {
        (Some(bytes), _) => output.bytes(&bytes)?,
        (None, Some(at)) => {
            let text = format!(
                "{} was not in the archive at {at}; `pagelog history` lists its versions",
                page.url
            );
            return Err(Failure::Usage(text));
        }
        (None, None) => {
            let text = format!(
                "{} is no longer in the archive; `pagelog history` lists its versions, --at shows one",
                page.url
            );
            return Err(Failure::Usage(text));
        }
    }
    Ok(Ending::Done)
}
