//! `pagelog show`

use super::archive::commit_at;
use super::options::ShowArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::Snapshot;
use crate::report::{LookupError, Past, ReportError, find_pages};

pub(crate) fn show(
    session: &Session,
    arguments: &ShowArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let (archive, state) = session.archive_and_state(output)?;
    let past = Past::open(&archive, state.as_ref())?;
    let pages = find_pages((&past, &session.config), &arguments.url, arguments.source.as_deref())?;
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
            let paths: Vec<String> = several.iter().map(|page| page.entry.page_path()).collect();
            let paths = paths.join(", ");
            return Err(ReportError::from(LookupError::Ambiguous { what, paths }).into());
        }
    };
    let mut file = None;
    for (visibility, entry) in page.places(&session.config) {
        let commit = commit_at(&past, visibility, arguments.at.as_deref())?;
        let found = commit.map(|commit| past.file_at((visibility, &entry), commit)).transpose()?;
        file = found.flatten();
        if file.is_some() {
            break;
        }
    }
    let url = page.url.clone();
    let missing = match &arguments.at {
        Some(at) => LookupError::NotThen { url, at: at.clone() },
        None => LookupError::Gone(url),
    };
    let file = file.ok_or_else(|| ReportError::from(missing))?;
    output.bytes(&Snapshot::open(&archive, None)?.read(file)?)?;
    Ok(Ending::Done)
}
