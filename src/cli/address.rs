//! `pagelog path` and `pagelog url`: the mapping, both ways.

use super::options::{PathArguments, UrlArguments};
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{Archive, PageEntry, Snapshot};
use crate::model::{CaseRule, PageUrl, RepositoryFile, SourceKind, TreePath, Visibility};
use crate::report::paths_of;

pub(crate) fn path(
    session: &Session,
    arguments: &PathArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let url = PageUrl::parse(&arguments.url)
        .map_err(|refusal| Failure::Usage(format!("{}: {refusal}", arguments.url)))?;
    let case = case(session);
    let mut found = false;
    for (source, path) in paths_of(&session.config, &url, case) {
        if arguments.source.as_deref().is_none_or(|id| id == source.as_str()) {
            found = true;
            output.data(&format!("pages/{source}/{path}\n"))?;
        }
    }
    if !found {
        let whose = arguments.source.as_deref().unwrap_or("any source");
        output.tell(&format!(
            "{url} is not in the scope of {whose}; below pages/<source>/ its path would be"
        ));
        output.data(&format!("{}\n", TreePath::of_url(&url, case)))?;
    }
    Ok(Ending::Done)
}

pub(crate) fn url(
    session: &Session,
    arguments: &UrlArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", arguments.path));
    let entry = PageEntry::from_page_path(&arguments.path)
        .or_else(|| PageEntry::from_links_path(&arguments.path));
    if let Some(entry) = &entry
        && let Some(url) = archived_url(session, entry)?
    {
        output.data(&format!("{url}\n"))?;
        return Ok(Ending::Done);
    }
    if let Some(url) = entry.as_ref().and_then(|entry| file_url(session, entry)) {
        output.data(&format!("{url}\n"))?;
        return Ok(Ending::Done);
    }
    let path = match &entry {
        Some(entry) => entry.path.clone(),
        None => TreePath::parse(&arguments.path).map_err(|error| wrong(error.to_string()))?,
    };
    let url = path.to_url().map_err(|error| wrong(error.to_string()))?;
    output.data(&format!("{url}\n"))?;
    Ok(Ending::Done)
}

/// The address of the file of a repository that has a path, whether or not it is archived.
fn file_url(session: &Session, entry: &PageEntry) -> Option<PageUrl> {
    let source = session.config.source(entry.source.as_str())?;
    let SourceKind::Git(git) = &source.kind else { return None };
    git.repositories.iter().find_map(|repository| {
        let file = entry.path.to_file(repository).ok()?;
        RepositoryFile { repository, mapping: &git.mapping, file: &file }.url().ok()
    })
}

/// What the archive says is at a path.
fn archived_url(session: &Session, entry: &PageEntry) -> Result<Option<PageUrl>, Failure> {
    let Ok(archive) = Archive::open(&session.config.archive.path) else { return Ok(None) };
    let heads = archive.heads()?;
    for visibility in Visibility::BOTH {
        if let Some(page) = Snapshot::open(&archive, heads.of(visibility))?.page(entry)? {
            return Ok(Some(page.url));
        }
    }
    Ok(None)
}

/// The archive's rule for capitals; the configuration's where there is no archive yet.
fn case(session: &Session) -> CaseRule {
    Archive::open(&session.config.archive.path)
        .map_or(session.config.archive.case, |archive| archive.case())
}
