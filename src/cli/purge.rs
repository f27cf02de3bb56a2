//! `pagelog purge`

use std::fmt::Write as _;

use serde::Serialize;

use super::options::PurgeArguments;
use super::output::{Output, size};
use super::progress::Teller;
use super::publish::publish_after;
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::{LinksTo, Pruned};
use crate::run::{Context, Effect, PurgeReport, PurgeRequest, Running, purge as purge_once};

pub(crate) fn purge(
    session: &Session,
    arguments: &PurgeArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let request = request(arguments);
    let archive = session.archive()?;
    let teller = Teller::new(output, session.clock);
    let context = Context {
        config: &session.config,
        git: session.git.clone(),
        clock: session.clock,
        interrupt: session.interrupt.clone(),
        progress: &teller,
    };
    let result = purge_once(&context, &archive, &request);
    teller.end();
    let report = result?;
    if arguments.json {
        output.json(&Summary::of(&report))?;
    } else {
        output.data(&text(&report))?;
    }
    if report.pruned == Some(Pruned::Busy) {
        output.error(
            "the pages are in no commit any more, but still in old packs, which somebody reads: \
             the next run removes these",
        );
        return Ok(Ending::Partly);
    }
    let published = report.moves.is_none()
        || session.config.mirrors.is_empty()
        || publish_after(session, ("it was taken down here", arguments.json), output);
    Ok(if published { Ending::Done } else { Ending::Partly })
}

fn request(arguments: &PurgeArguments) -> PurgeRequest {
    PurgeRequest {
        urls: arguments.urls.clone(),
        paths: arguments.path.clone(),
        sources: arguments.source.clone(),
        made_private: Vec::new(),
        links: if arguments.how.links { LinksTo::Remove } else { LinksTo::Keep },
        why: arguments.why.clone().unwrap_or_default(),
        running: if arguments.how.no_stop { Running::Refuse } else { Running::Stop },
        effect: if arguments.dry_run { Effect::DryRun } else { Effect::Commit },
    }
}

fn text(report: &PurgeReport) -> String {
    let dry = report.moves.is_none();
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (source, pages) in &report.pages {
        let what = if dry { "would be taken down" } else { "taken down" };
        let _ = writeln!(out, "{source}: {pages} pages {what}");
    }
    for (source, url) in &report.denied {
        let url = if url == "*" { "nothing of it" } else { url };
        let what =
            if url == "nothing of it" { "is ever read again" } else { "is never read again" };
        let _ = writeln!(out, "{source}: {url} {what}");
    }
    let (files, file_bytes) = report.files;
    let (objects, bytes) = report.objects;
    let _ = writeln!(
        out,
        "{} commits {}: {files} files of {} go, {objects} objects of {} are written",
        report.commits,
        if dry { "would be written anew" } else { "were written anew" },
        size(file_bytes),
        size(bytes)
    );
    if let Some(Pruned::Done { before, after }) = report.pruned {
        let _ = writeln!(out, "packs: {} before, {} now", size(before), size(after));
    }
    if !dry && report.commits > 0 {
        out.push_str(BY_HAND);
    }
    out
}

/// What no program of ours can do.
const BY_HAND: &str = "\
still to be done by hand, where it applies:
  copies made with `pagelog backup`, and clones of the archive: make them anew
  mirrors: let their hosts remove what no branch reaches (`git gc --prune=now`, or their
    support), with forks, pull requests and cached pages
  readers who have a clone: `git fetch` and `git reset --hard origin/main`
";

/// What `purge --json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    pages: Vec<Pages<'a>>,
    denied: Vec<Denied<'a>>,
    commits: usize,
    files: usize,
    file_bytes: u64,
    objects: usize,
    bytes: u64,
    packs_before: Option<u64>,
    packs_after: Option<u64>,
    public: Option<String>,
    private: Option<String>,
}

#[derive(Serialize)]
struct Pages<'a> {
    source: &'a str,
    pages: usize,
}

#[derive(Serialize)]
struct Denied<'a> {
    source: &'a str,
    url: &'a str,
}

impl<'a> Summary<'a> {
    fn of(report: &'a PurgeReport) -> Self {
        let (packs_before, packs_after) = match report.pruned {
            Some(Pruned::Done { before, after }) => (Some(before), Some(after)),
            _ => (None, None),
        };
        let new = report.moves.map(|moves| moves.new);
        let pages = report.pages.iter();
        Self {
            pages: pages.map(|(id, n)| Pages { source: id.as_str(), pages: *n }).collect(),
            denied: report.denied.iter().map(|(source, url)| Denied { source, url }).collect(),
            commits: report.commits,
            files: report.files.0,
            file_bytes: report.files.1,
            objects: report.objects.0,
            bytes: report.objects.1,
            packs_before,
            packs_after,
            public: new.and_then(|new| new.public).map(|id| id.to_string()),
            private: new.and_then(|new| new.private).map(|id| id.to_string()),
        }
    }
}
