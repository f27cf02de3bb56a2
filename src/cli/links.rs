//! `pagelog links`

use std::collections::BTreeSet;

use serde::Serialize;

use super::archive::commit_at;
use super::options::LinksArguments;
use super::output::Output;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{Archive, ArchiveError, PageEntry, Snapshot, decode_links};
use crate::model::Visibility;
use crate::report::Past;
use crate::run::RunError;

/// A line of `links --json`.
#[derive(Serialize)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    text: &'a str,
    rel: &'a str,
}

pub(crate) fn links(
    session: &Session,
    arguments: &LinksArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let (archive, state) = session.archive_and_state(output)?;
    let past = Past::open(&archive, state.as_ref())?;
    if let Some(id) = &arguments.source {
        refuse_unknown(session, &archive, id)?;
    }
    if !arguments.json {
        output.data("from\tto\ttext\trel\n")?;
    }
    let mut seen = BTreeSet::new();
    // The private ref has the full links of private sources, the public one only URLs.
    for visibility in [Visibility::Private, Visibility::Public] {
        let commit = commit_at(&past, visibility, arguments.at.as_deref())?;
        let snapshot = Snapshot::open(&archive, commit)?;
        let folder = arguments
            .source
            .as_ref()
            .map_or_else(|| "links".to_owned(), |id| format!("links/{id}"));
        for (path, blob) in snapshot.files(&folder)? {
            let Some(entry) = PageEntry::from_links_path(&path) else { continue };
            if !seen.insert(entry.clone()) {
                continue;
            }
            let page = match snapshot.page(&entry) {
                Err(error @ ArchiveError::Format { .. }) => {
                    output.warn(&error.to_string());
                    continue;
                }
                other => other?,
            };
            let Some(page) = page else { continue };
            let Some(links) = decode_links(&snapshot.read(blob)?) else {
                output.warn(&format!("{path} is not a links file"));
                continue;
            };
            let from = page.url.to_string();
            let mut text = String::new();
            for link in &links {
                let edge =
                    Edge { from: &from, to: link.to.as_str(), text: &link.text, rel: &link.rel };
                if arguments.json {
                    text.push_str(&serde_json::to_string(&edge).unwrap_or_default());
                } else {
                    text.push_str(&[edge.from, edge.to, edge.text, edge.rel].join("\t"));
                }
                text.push('\n');
            }
            output.data(&text)?;
        }
    }
    Ok(Ending::Done)
}

/// Fails where a source is neither configured nor in the archive.
fn refuse_unknown(session: &Session, archive: &Archive, id: &str) -> Result<(), Failure> {
    if session.config.source(id).is_some() {
        return Ok(());
    }
    let heads = archive.heads()?;
    for visibility in Visibility::BOTH {
        let snapshot = Snapshot::open(archive, heads.of(visibility))?;
        if snapshot.has_directory(&format!("links/{id}"))? {
            return Ok(());
        }
    }
    Err(RunError::UnknownSource(id.to_owned()).into())
}
