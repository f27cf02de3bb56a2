//! `pagelog run`

use std::fmt::Write as _;

use serde::Serialize;

use super::options::RunArguments;
use super::output::Output;
use super::progress::Teller;
use super::publish::publish_after_run;
use super::session::Session;
use super::{Ending, Failure};
use crate::run::{Context, DueRule, Effect, Report, Request, SourceReport, run as run_once};

/// Lines of one kind that are printed; the rest is counted.
const SHOWN: usize = 10;

pub(crate) fn run(
    session: &Session,
    arguments: &RunArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let teller = Teller::new(output, session.clock);
    let context = Context {
        config: &session.config,
        git: session.git.clone(),
        clock: session.clock,
        interrupt: session.interrupt.clone(),
        progress: &teller,
    };
    let request = Request {
        sources: arguments.sources.clone(),
        due: if arguments.due { DueRule::Due } else { DueRule::All },
        budget: arguments.budget,
        accept_removals: arguments.accept_removals.clone(),
        effect: if arguments.dry_run { Effect::DryRun } else { Effect::Commit },
    };
    let result = run_once(&context, &request);
    teller.end();
    let Some(report) = result? else {
        output.tell("nothing is due");
        return Ok(Ending::Done);
    };
    let printed = if arguments.json {
        output.json(&Summary::of(&report))
    } else {
        output.data(&text(&report))
    };
    let told = match printed {
        Err(Failure::Closed) | Ok(()) => true,
        Err(failure) => {
            output.warn(&format!("the run was done, but {failure}"));
            false
        }
    };
    for source in &report.sources {
        for trouble in &source.trouble {
            output.warn(&format!("{}: {trouble}", source.source));
        }
    }
    let published = publish_after_run(session, arguments, output);
    Ok(if told && published && report.is_complete() { Ending::Done } else { Ending::Partly })
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    for source in &report.sources {
        let c = &source.counts;
        let _ = writeln!(
            out,
            "{}: {} changed, {} added, {} removed, {} same, {} not modified, {} failed",
            source.source, c.changed, c.added, c.removed, c.same, c.not_modified, c.failed
        );
        list(&mut out, "failed", &source.failed);
        list(&mut out, "skipped", &source.skipped);
        let notes: Vec<_> =
            source.notes.iter().map(|(url, note)| (url.clone(), note.0.clone())).collect();
        list(&mut out, "note", &notes);
    }
    if report.sources.is_empty() {
        out.push_str("no source is configured: nothing was read\n");
    }
    match (&report.commits, report.run) {
        (Some((public, private)), Some(run)) => {
            let _ = writeln!(out, "run {run} committed {public} (public), {private} (private)");
        }
        _ => out.push_str("dry run: nothing was committed\n"),
    }
    out
}

fn list(out: &mut String, what: &str, rows: &[(String, String)]) {
    for (url, why) in rows.iter().take(SHOWN) {
        let _ = writeln!(out, "  {what}: {url}: {why}");
    }
    if rows.len() > SHOWN {
        let _ = writeln!(
            out,
            "  {what}: and {} more; `pagelog explain URL` tells of each",
            rows.len() - SHOWN
        );
    }
}

/// What `run --json` prints.
#[derive(Serialize)]
struct Summary {
    run: Option<i64>,
    started: String,
    ended: String,
    public: Option<String>,
    private: Option<String>,
    complete: bool,
    sources: Vec<SourceSummary>,
}

#[derive(Serialize)]
struct SourceSummary {
    source: String,
    complete: bool,
    changed: u64,
    added: u64,
    removed: u64,
    same: u64,
    not_modified: u64,
    failed: u64,
    trouble: Vec<String>,
    skipped_urls: Vec<(String, String)>,
    failed_urls: Vec<(String, String)>,
    notes: Vec<(String, String)>,
}

impl Summary {
    fn of(report: &Report) -> Self {
        let (public, private) = report.commits.clone().unzip();
        Self {
            run: report.run.map(|run| run.0),
            started: report.started.to_string(),
            ended: report.ended.to_string(),
            public,
            private,
            complete: report.is_complete(),
            sources: report.sources.iter().map(SourceSummary::of).collect(),
        }
    }
}

impl SourceSummary {
    fn of(source: &SourceReport) -> Self {
        let c = source.counts;
        Self {
            source: source.source.to_string(),
            complete: source.is_complete(),
            changed: c.changed,
            added: c.added,
            removed: c.removed,
            same: c.same,
            not_modified: c.not_modified,
            failed: c.failed,
            trouble: source.trouble.clone(),
            skipped_urls: source.skipped.clone(),
            failed_urls: source.failed.clone(),
            notes: source.notes.iter().map(|(url, note)| (url.clone(), note.0.clone())).collect(),
        }
    }
}
