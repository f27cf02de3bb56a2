//! `pagelog history`

use std::fmt::Write as _;

use serde::Serialize;

use super::options::HistoryArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::report::{Past, VersionLine, find_pages, find_versions};

/// What `history --json` prints, one a page.
#[derive(Serialize)]
struct PageHistory {
    url: String,
    path: String,
    versions: Vec<VersionLine>,
}

pub(crate) fn history(
    session: &Session,
    arguments: &HistoryArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let (archive, state) = session.archive_and_state(output)?;
    let past = Past::open(&archive, state.as_ref())?;
    let pages = find_pages((&past, &session.config), &arguments.url, arguments.source.as_deref())?;
    let mut all = Vec::new();
    for page in pages {
        let versions = find_versions(&past, &session.config, &page)?;
        all.push(PageHistory { path: page.entry.page_path(), url: page.url, versions });
    }
    if arguments.json {
        output.json(&all)?;
        return Ok(Ending::Done);
    }
    for page in &all {
        output.data(&format!("{}\n  {}\n", page.url, page.path))?;
        for version in &page.versions {
            let mut line = String::new();
            let _ = writeln!(
                line,
                "  {}  {:<7}  {}",
                version.date,
                version.kind,
                &version.commit[..12]
            );
            output.data(&line)?;
            if arguments.diff {
                output.diff(&difference(session, &archive, version)?)?;
            }
        }
    }
    Ok(Ending::Done)
}

fn difference(
    session: &Session,
    archive: &crate::archive::Archive,
    version: &VersionLine,
) -> Result<String, Failure> {
    let blobs = [version.before.as_deref(), version.blob.as_deref()];
    Ok(session.git.diff_blobs(archive.path(), blobs)?)
}
