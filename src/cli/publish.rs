//! `pagelog publish`, and publishing at the end of a run.

use std::fmt::Write as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::options::{PublishArguments, RunArguments};
use super::output::{Output, size};
use super::session::Session;
use super::{Ending, Failure};
use crate::archive::Fault;
use crate::publish::{
    Context, Effect, Ended, MirrorReport, Progress, PublishError, Report, Request,
    publish as publish_once,
};

/// How often the line is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

pub(crate) fn publish(
    session: &Session,
    arguments: &PublishArguments,
    output: &Output,
) -> Result<Ending, Failure> {
    let effect = if arguments.dry_run { Effect::DryRun } else { Effect::Push };
    let request = Request { mirrors: arguments.mirror.clone(), effect };
    let report = call(session, &request, output)?;
    if arguments.json {
        output.json(&Summary::of(&report))?;
    } else {
        output.data(&text(&report))?;
    }
    warn(&report, output);
    if report.interrupted {
        return Err(PublishError::Interrupted.into());
    }
    Ok(match report.failed() {
        0 => Ending::Done,
        all if all == report.mirrors.len() => Ending::Faults,
        _ => Ending::Partly,
    })
}

/// Publishes after a run where the configuration wants it; gives whether all mirrors have
/// all. Where the run prints JSON, standard output is the run's alone.
pub(crate) fn publish_after_run(
    session: &Session,
    arguments: &RunArguments,
    output: &Output,
) -> bool {
    if arguments.dry_run || !session.config.publish.after_run {
        return true;
    }
    publish_after(session, ("the run was done", arguments.json), output)
}

/// Publishes after something else was `done`; gives whether all mirrors have all. Where that
/// printed JSON, standard output is its alone.
pub(crate) fn publish_after(
    session: &Session,
    (done, json): (&str, bool),
    output: &Output,
) -> bool {
    let report = match call(session, &Request::default(), output) {
        Ok(report) => report,
        Err(failure) => {
            output.error(&format!("{done}, but nothing was published: {failure}"));
            return false;
        }
    };
    if json {
        output.tell(text(&report).trim_end());
    } else if let Err(failure) = output.data(&text(&report)) {
        output.warn(&format!("the mirrors were served, but {failure}"));
    }
    warn(&report, output);
    report.failed() == 0
}

fn call(session: &Session, request: &Request, output: &Output) -> Result<Report, Failure> {
    let teller = Teller::new(output);
    let context = Context {
        config: &session.config,
        git: session.git.clone(),
        clock: session.clock,
        interrupt: session.interrupt.clone(),
        progress: &teller,
    };
    let archive = session.archive()?;
    let _packs = session.hold_packs(&archive, output)?;
    let result = publish_once(&context, &archive, request);
    teller.end();
    Ok(result?)
}

/// Tells what went wrong, beside the results.
fn warn(report: &Report, output: &Output) {
    for note in &report.notes {
        output.warn(note);
    }
    if !report.faults.is_empty() {
        let count = report.faults.count();
        output.error(&format!("{count} things must not leave: nothing was pushed anywhere"));
    }
    for mirror in &report.mirrors {
        if let Ended::Refused(why) | Ended::Failed(why) = &mirror.ended {
            output.error(&format!("{}: {why}", mirror.name));
        }
    }
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    for (kind, named, more) in report.faults.by_kind() {
        for fault in named {
            let _ = writeln!(out, "{}: {}", fault.place, fault.what);
        }
        if more > 0 {
            let _ = writeln!(out, "and {more} more of this kind ({})", kind.name());
        }
    }
    for mirror in &report.mirrors {
        let _ = writeln!(out, "{} ({}): {}", mirror.name, mirror.url, result(mirror));
    }
    out
}

/// How a mirror stands, in words.
fn result(mirror: &MirrorReport) -> String {
    let lacking = mirror.plan.as_ref().map_or_else(String::new, |plan| {
        format!(
            "{} commits, {} objects, {} ({})",
            plan.commits,
            plan.objects,
            size(plan.bytes),
            plan.standing.name()
        )
    });
    match &mirror.ended {
        Ended::UpToDate => "up to date".to_owned(),
        Ended::Published if mirror.pushes == 1 => format!("published {lacking}"),
        Ended::Published => format!("published {lacking} in {} pushes", mirror.pushes),
        Ended::Planned => format!("would be given {lacking}"),
        Ended::Held => format!("nothing was pushed; it lacks {lacking}"),
        Ended::Refused(_) => "left as it is".to_owned(),
        Ended::Failed(_) if mirror.pushes > 0 => {
            format!("failed after {} pushes; they are kept there", mirror.pushes)
        }
        Ended::Failed(_) => "failed".to_owned(),
    }
}

/// What `publish --json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    public: String,
    /// The first ones of each kind.
    faults: Vec<FaultLine<'a>>,
    fault_count: usize,
    notes: &'a [String],
    mirrors: Vec<MirrorLine<'a>>,
}

#[derive(Serialize)]
struct FaultLine<'a> {
    kind: &'static str,
    place: &'a str,
    what: &'a str,
}

#[derive(Serialize)]
struct MirrorLine<'a> {
    mirror: &'a str,
    url: String,
    result: &'static str,
    standing: Option<&'static str>,
    old: Option<String>,
    commits: usize,
    objects: usize,
    bytes: u64,
    pushes: u32,
    error: Option<&'a str>,
}

impl<'a> Summary<'a> {
    fn of(report: &'a Report) -> Self {
        let line = |f: &'a Fault| FaultLine { kind: f.kind.name(), place: &f.place, what: &f.what };
        Self {
            public: report.public.to_string(),
            faults: report.faults.by_kind().flat_map(|(_, named, _)| named.map(line)).collect(),
            fault_count: report.faults.count(),
            notes: &report.notes,
            mirrors: report.mirrors.iter().map(MirrorLine::of).collect(),
        }
    }
}

impl<'a> MirrorLine<'a> {
    fn of(mirror: &'a MirrorReport) -> Self {
        let (result, error) = match &mirror.ended {
            Ended::UpToDate => ("up-to-date", None),
            Ended::Published => ("published", None),
            Ended::Planned => ("planned", None),
            Ended::Held => ("held", None),
            Ended::Refused(why) => ("refused", Some(why.as_str())),
            Ended::Failed(why) => ("failed", Some(why.as_str())),
        };
        let plan = mirror.plan.as_ref();
        Self {
            mirror: &mirror.name,
            url: mirror.url.to_string(),
            result,
            standing: plan.map(|plan| plan.standing.name()),
            old: plan.and_then(|plan| plan.old).map(|id| id.to_string()),
            commits: plan.map_or(0, |plan| plan.commits),
            objects: plan.map_or(0, |plan| plan.objects),
            bytes: plan.map_or(0, |plan| plan.bytes),
            pushes: mirror.pushes,
            error,
        }
    }
}

/// Progress: a line that changes on a terminal, plain lines with `-v` elsewhere.
struct Teller {
    line: Option<ProgressBar>,
}

impl Teller {
    fn new(output: &Output) -> Self {
        let line = output.draws_progress().then(|| {
            let line = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            line.enable_steady_tick(TICK);
            line
        });
        Self { line }
    }

    fn end(&self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

impl Progress for Teller {
    fn stage(&self, mirror: Option<&str>, what: &str) {
        let text = mirror.map_or_else(|| what.to_owned(), |mirror| format!("{mirror}: {what}"));
        if let Some(line) = &self.line {
            line.set_message(text);
        } else {
            tracing::info!("{text}");
        }
    }
}
