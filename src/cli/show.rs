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
    let page = match pages.as_slice() {
        [page] => page,
        several if arguments.url.contains('*') => {
            let text = format!(
                "{} pages have an address like {}; show prints one",
                several.len(),
                arguments.url
            );
            return Err(Failure::Usage(text));
        }
        several => {
            let what = arguments.url.clone();
            let sources: Vec<String> =
                several.iter().map(|page| page.entry.source.to_string()).collect();
            let sources = sources.join(", ");
            return Err(ReportError::from(LookupError::Ambiguous { what, sources }).into());
        }
    };
    let mut bytes = None;
    // A source that changed its visibility has older versions on the other ref.
    for visibility in [page.visibility, page.visibility.other()] {
        let commit = commit_at(&archive, visibility, arguments.at.as_deref())?;
        bytes = Snapshot::open(&archive, commit)?.file(&page.entry.page_path())?;
        if bytes.is_some() {
            break;
        }
    }
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
