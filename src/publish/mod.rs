//! Filling the mirrors with the public ref.
//!
//! Owns the order in which that is done: ask each mirror what it has, plan, look at exactly
//! what would leave, push. Guarantees: nothing is pushed anywhere unless everything that would
//! leave was looked at and found public ([`check`]); what is pushed are commits that were
//! looked at, by their ids, to the public branch and to one tag of ours that is removed again;
//! nothing that a mirror has is overwritten, but commits that a takedown of ours rewrote; a mirror that fails stops no other; no push is
//! larger than a slice; what a mirror has is asked of the mirror and remembered nowhere else.
//!
//! It reads refs and takes the lock of publishing, not that of a run: a run may go on beside
//! it, and what that commits meanwhile is left for the next time.

mod check;
mod plan;
mod push;
mod slices;

pub use plan::{Plan, Refusal, Standing};

use crate::archive::{Archive, ArchiveError, Faults, ObjectId};
use crate::clock::Clock;
use crate::config::Config;
use crate::config::Mirror;
use crate::git::{Git, GitError, Interrupt};
use crate::model::RemoteUrl;
use check::Checked;
use plan::{Has, Replaced};
use push::{Desk, Served};

/// What publishing needs from outside.
pub struct Context<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The Git client.
    pub git: Git,
    /// The clock.
    pub clock: Clock,
    /// Raised when it is to stop.
    pub interrupt: Interrupt,
    /// Who is told how it goes.
    pub progress: &'a dyn Progress,
}

/// Who is told how publishing goes.
pub trait Progress {
    /// What is done now; for one mirror where it is named.
    fn stage(&self, mirror: Option<&str>, what: &str);
}

/// What is asked of publishing.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of mirrors; all where empty.
    pub mirrors: Vec<String>,
    /// Whether anything is pushed.
    pub effect: Effect,
}

/// Whether anything is pushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    /// It is.
    #[default]
    Push,
    /// Mirrors are asked, and what would leave is looked at; nothing is written anywhere.
    DryRun,
}

/// What publishing came to.
#[derive(Debug)]
pub struct Report {
    /// Tip of the public ref when it began.
    pub public: ObjectId,
    /// What would leave and must not: nothing was pushed where there is any.
    pub faults: Faults,
    /// What is no fault, but worth a look.
    pub notes: Vec<String>,
    /// The mirrors, in order of the configuration.
    pub mirrors: Vec<MirrorReport>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// What became of one mirror.
#[derive(Debug)]
pub struct MirrorReport {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub url: RemoteUrl,
    /// What was to be done; `None` where it could not be asked.
    pub plan: Option<Plan>,
    /// Pushes that were made.
    pub pushes: u32,
    /// How it ended.
    pub ended: Ended,
}

/// How publishing to one mirror ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has all already.
    UpToDate,
    /// It has all now.
    Published,
    /// It would be given what it lacks.
    Planned,
    /// Nothing was pushed, since something must not leave, or it was interrupted before.
    Held,
    /// It was left as it was; why, and what to do.
    Refused(String),
    /// It could not be given what it lacks; why.
    Failed(String),
}

impl Report {
    /// How many mirrors lack something that they were to have.
    #[must_use]
    pub fn failed(&self) -> usize {
        let failed = |mirror: &&MirrorReport| {
            matches!(mirror.ended, Ended::Held | Ended::Refused(_) | Ended::Failed(_))
        };
        self.mirrors.iter().filter(failed).count()
    }
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// No mirror is configured.
    #[error("no mirror is configured; name one with [[mirror]], `name` and `url`")]
    NoMirror,
    /// A mirror was asked for that is not configured.
    #[error("there is no mirror `{0}` in the configuration")]
    UnknownMirror(String),
    /// No run has committed yet.
    #[error("there is nothing to publish yet; `pagelog run` makes the first commit")]
    Nothing,
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Somebody asked to stop.
    #[error("interrupted; publish again to go on")]
    Interrupted,
}

impl From<GitError> for PublishError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Interrupted => Self::Interrupted,
            other => Self::Archive(other.into()),
        }
    }
}

/// Publishes once: to each mirror what it lacks of the public ref.
///
/// # Errors
/// Nothing was pushed anywhere.
pub fn publish(
    context: &Context<'_>,
    archive: &Archive,
    request: &Request,
) -> Result<Report, PublishError> {
    let mirrors = select(context.config, &request.mirrors)?;
    context.git.check_version()?;
    let holder = format!("process {}, publishing", std::process::id());
    let locked = (request.effect == Effect::Push).then(|| archive.lock_publishing(&holder));
    let _lock = locked.transpose()?;
    let public = archive.heads()?.public.ok_or(PublishError::Nothing)?;
    let history: Vec<ObjectId> =
        archive.runs(Some(public))?.into_iter().map(|run| run.commit).collect();
    let replaced = Replaced::new(&history, archive.rewritten()?);
    let desk = Desk { context, archive, history: &history, replaced: &replaced };
    let mut report = Report {
        public,
        faults: Faults::default(),
        notes: Vec::new(),
        mirrors: Vec::new(),
        interrupted: false,
    };
    let mut asked = Vec::new();
    for mirror in mirrors {
        let (looked, has) = look(&desk, mirror)?;
        report.mirrors.push(looked);
        asked.push(has);
    }
    let pending = |mirror: &&MirrorReport| mirror.ended == Ended::Planned;
    let known = report.mirrors.iter().filter(pending).filter_map(|m| m.plan.as_ref());
    let Some(earliest) = known.map(|plan| plan.base).max_by_key(|base| age(&history, *base)) else {
        tidy(&desk, (&mut report, &asked), request.effect);
        return Ok(report);
    };
    context.progress.stage(None, "looking at what would leave");
    let found = check::audit(context, archive, (earliest, public))?;
    report.faults = found.faults;
    report.notes = found.notes;
    let checked = found.checked;
    for mirror in report.mirrors.iter_mut().filter(|m| m.ended == Ended::Planned) {
        if let Some(plan) = &mut mirror.plan {
            checked.measure((&context.git, archive), plan)?;
        }
        if !report.faults.is_empty() {
            mirror.ended = Ended::Held;
        }
    }
    if report.faults.is_empty() && request.effect == Effect::Push {
        serve_all(&desk, &checked, (&mut report, &asked));
    }
    tidy(&desk, (&mut report, &asked), request.effect);
    Ok(report)
}

/// How far back a commit is; what is missing altogether is farther than all.
fn age(history: &[ObjectId], commit: Option<ObjectId>) -> usize {
    let place = commit.and_then(|commit| history.iter().position(|known| *known == commit));
    place.unwrap_or(usize::MAX)
}

/// The mirrors that were asked for, in order of the configuration.
fn select<'a>(config: &'a Config, names: &[String]) -> Result<Vec<&'a Mirror>, PublishError> {
    if config.mirrors.is_empty() {
        return Err(PublishError::NoMirror);
    }
    let unknown = names.iter().find(|name| !config.mirrors.iter().any(|m| m.name == **name));
    if let Some(name) = unknown {
        return Err(PublishError::UnknownMirror(name.clone()));
    }
    let wanted = |mirror: &&Mirror| names.is_empty() || names.contains(&mirror.name);
    Ok(config.mirrors.iter().filter(wanted).collect())
}

/// Asks a mirror what it has, and plans.
fn look(desk: &Desk<'_>, mirror: &Mirror) -> Result<(MirrorReport, Has), PublishError> {
    desk.context.progress.stage(Some(&mirror.name), "asking what it has");
    let mut report = MirrorReport {
        name: mirror.name.clone(),
        url: mirror.url.clone(),
        plan: None,
        pushes: 0,
        ended: Ended::Planned,
    };
    let has = match desk.ask_patiently(mirror) {
        Ok(has) => has,
        Err(_) if desk.context.interrupt.is_raised() => return Err(PublishError::Interrupted),
        Err(why) => {
            report.ended = Ended::Failed(why);
            return Ok((report, Has::default()));
        }
    };
    let standing = desk.standing(&has)?;
    report.ended = match &standing {
        Standing::UpToDate => Ended::UpToDate,
        Standing::Refused(why) => Ended::Refused(why.to_string()),
        Standing::First | Standing::Forward | Standing::Rewritten => Ended::Planned,
    };
    let (old, base) = (has.main, desk.base(has.main));
    report.plan = Some(Plan { standing, old, base, commits: 0, objects: 0, bytes: 0 });
    Ok((report, has))
}

fn serve_all(desk: &Desk<'_>, checked: &Checked, (report, asked): (&mut Report, &[Has])) {
    let planned = report.mirrors.iter_mut().zip(asked).filter(|(m, _)| m.ended == Ended::Planned);
    for (mirror, has) in planned {
        let configured = desk.context.config.mirrors.iter().find(|m| m.name == mirror.name);
        let Some(configured) = configured.filter(|_| !report.interrupted) else {
            mirror.ended = Ended::Held;
            continue;
        };
        let Served { pushes, ended } = desk.serve(configured, checked, has);
        mirror.pushes = pushes;
        report.interrupted = desk.context.interrupt.is_raised();
        mirror.ended = match ended {
            Ok(()) => Ended::Published,
            Err(_) if report.interrupted => {
                Ended::Failed("interrupted; publish again to go on".to_owned())
            }
            Err(why) => Ended::Failed(why),
        };
    }
}

/// Removes what an upload that ended between two pushes left on mirrors that have all.
fn tidy(desk: &Desk<'_>, (report, asked): (&mut Report, &[Has]), effect: Effect) {
    let left = report.mirrors.iter_mut().zip(asked);
    for (mirror, has) in left.filter(|(m, has)| m.ended == Ended::UpToDate && has.upload.is_some())
    {
        let configured = desk.context.config.mirrors.iter().find(|m| m.name == mirror.name);
        let Some(configured) = configured.filter(|_| effect == Effect::Push) else { continue };
        if let Err(why) = desk.remove_upload(configured, has) {
            report
                .notes
                .push(format!("{}: an old upload could not be removed: {why}", mirror.name));
        }
    }
}
