//! Asking for what the loop hands out, one thread a host.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::body::is_markdown;
use super::convert::Task;
use super::plan::{Form, PAGE_LIMIT, Plan, SITEMAP_LIMIT};
use crate::fetch::http::Headers;
use crate::model::{PageUrl, RequestKind, Timestamp, UrlKind, Validators};
use crate::run::RunError;
use crate::run::door::{Ask, Door, Follow, Visit};
use crate::state::{SiteUrl, Spool, SpooledAnswer};

/// Something to be asked for.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// Which of the sites it belongs to.
    pub site: usize,
    /// What was known of the URL when it was handed out.
    pub row: Box<SiteUrl>,
    pub url: PageUrl,
    pub kind: UrlKind,
    /// Named by the operator: it may lead elsewhere.
    pub named: Named,
    /// The class in which it waited.
    pub class: u8,
    /// Permanent redirects on the way to it.
    pub hops: u8,
    /// What to ask with, and in which form that was given.
    pub validators: Option<(Form, Validators)>,
}

/// Who named an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The operator, in `start`.
    InStart,
    /// The site.
    BySite,
}

/// What came of a job.
#[derive(Debug)]
pub(super) enum Received {
    /// An answer, or a permanent redirect, which is spooled.
    Answer(Box<SpooledAnswer>),
    /// Anything else.
    Other(Visit),
}

/// The spool of the run, and how many of its answers are not settled yet.
pub(super) struct Held {
    spool: Mutex<Option<Spool>>,
    unsettled: AtomicUsize,
}

impl Held {
    /// Without a spool (in a dry run) nothing is kept.
    pub fn new(spool: Option<Spool>) -> Self {
        Self { spool: Mutex::new(spool), unsettled: AtomicUsize::new(0) }
    }

    /// Keeps whoever receives from adding more, while the value lives.
    pub fn hold(&self) -> MutexGuard<'_, Option<Spool>> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn bytes(&self) -> u64 {
        self.hold().as_ref().map_or(0, Spool::bytes)
    }

    fn add(&self, answer: &SpooledAnswer) -> Result<(), RunError> {
        let mut spool = self.hold();
        self.unsettled.fetch_add(1, Ordering::SeqCst);
        if let Some(spool) = spool.as_mut() {
            spool.add(answer)?;
        }
        Ok(())
    }

    /// Counts an answer that is in the spool already.
    pub fn again(&self) {
        self.unsettled.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that an answer is drafted.
    pub fn settle(&self) {
        self.unsettled.fetch_sub(1, Ordering::SeqCst);
    }

    pub fn is_settled(&self) -> bool {
        self.unsettled.load(Ordering::SeqCst) == 0
    }
}

/// Works for one host until no more comes.
pub(super) fn work(
    (door, plans, held): (&Door<'_>, &[Plan<'_>], &Held),
    jobs: &Receiver<Job>,
    tasks: &SyncSender<Task>,
) {
    let mut failed = false;
    while let Ok(job) = jobs.recv() {
        let Some(plan) = plans.get(job.site) else { continue };
        let received = if failed {
            // It could not be kept either.
            Err(RunError::Interrupted)
        } else {
            receive((door, plan, held), &job)
        };
        failed |= received.is_err();
        // Nobody takes it where the loop has failed.
        if tasks.send(Task { job, received }).is_err() {
            return;
        }
    }
}

/// Asks for a job, and puts the answer into the spool.
fn receive(
    (door, plan, held): (&Door<'_>, &Plan<'_>, &Held),
    job: &Job,
) -> Result<Received, RunError> {
    let received = ask(door, plan, job)?;
    if let Received::Answer(answer) = &received {
        held.add(answer)?;
    }
    Ok(received)
}

/// Asks for a job, in the forms that it may have.
pub(super) fn ask(door: &Door<'_>, plan: &Plan<'_>, job: &Job) -> Result<Received, RunError> {
    let forms = match job.kind {
        UrlKind::Sitemap => &[Form::Sitemap],
        UrlKind::Page => plan.forms(),
    };
    ask_as(door, (plan, job), forms)
}

/// Asks for a job in these forms, one after the other until one is answered.
pub(super) fn ask_as(
    door: &Door<'_>,
    (plan, job): (&Plan<'_>, &Job),
    forms: &[Form],
) -> Result<Received, RunError> {
    let mut last = None;
    for (at, form) in forms.iter().enumerate() {
        let Some(address) = plan.address(&job.url, *form) else { continue };
        let visit = ask_in(door, (plan, job), (*form, &address))?;
        let more = at + 1 < forms.len();
        match visit {
            Visit::Answer(answer) => {
                let headers = &answer.response.headers;
                let status = answer.response.status;
                let fits = status == 304 || (status == 200 && is_markdown(headers, &address));
                if more && *form == Form::Variant && !fits {
                    continue;
                }
                let found = if *form == Form::Variant { job.url.clone() } else { answer.found };
                let response = answer.response;
                let spooled = spooled((plan, job, *form), (&found, answer.time), &response.headers);
                return Ok(Received::Answer(Box::new(SpooledAnswer {
                    status: response.status,
                    body: response.body,
                    ..spooled
                })));
            }
            Visit::Moved { .. } | Visit::Astray { .. } if more => {}
            Visit::Moved { to, status, time } => {
                return Ok(led((plan, job, *form), &to, (status, time)));
            }
            Visit::Astray { to, status, why } => match target(job, &to) {
                Some(target) => return Ok(led((plan, job, *form), &target, (status, door.now()))),
                None => last = Some(Visit::Astray { to, status, why }),
            },
            other => last = Some(other),
        }
        if last.is_some() {
            break;
        }
    }
    let none = || Visit::Failed("it has none of the forms that the source is asked for".to_owned());
    Ok(Received::Other(last.unwrap_or_else(none)))
}

fn ask_in(
    door: &Door<'_>,
    (plan, job): (&Plan<'_>, &Job),
    (form, address): (Form, &PageUrl),
) -> Result<Visit, RunError> {
    let (kind, limit) = match job.kind {
        UrlKind::Sitemap => (RequestKind::Sitemap, SITEMAP_LIMIT),
        UrlKind::Page => (RequestKind::Page, PAGE_LIMIT),
    };
    // Where a page leads is another resource, which is asked for under its own address.
    let nowhere = |to: &PageUrl| Err(format!("{to} is another page"));
    let near = |to: &PageUrl| {
        let allowed = plan.may_lead(to);
        if allowed { Ok(()) } else { Err(format!("{to} is on none of the source's hosts")) }
    };
    let is_start =
        job.kind == UrlKind::Sitemap || job.named == Named::InStart && !plan.covers(&job.url);
    let follow = if is_start { Follow::All(&near) } else { Follow::Temporary(&nowhere) };
    let validators = job.validators.as_ref().filter(|(own, _)| *own == form);
    door.get(&Ask {
        source: plan.source,
        url: address,
        kind,
        accept: form.accept(),
        validators: validators.map(|(_, validators)| validators),
        limit,
        follow,
    })
}

/// Where a redirect leads, if a page may lead there: not from https to http.
fn target(job: &Job, to: &str) -> Option<PageUrl> {
    let target = job.url.join(to).ok()?;
    let downgrade = job.url.scheme() == "https" && target.scheme() == "http";
    (!downgrade && job.kind == UrlKind::Page).then_some(target)
}

/// An answer that leads elsewhere.
fn led(asked: (&Plan<'_>, &Job, Form), to: &PageUrl, (status, time): (u16, Timestamp)) -> Received {
    let spooled = spooled(asked, (&asked.1.url, time), &Headers::default());
    let moved_to = Some(to.to_string());
    Received::Answer(Box::new(SpooledAnswer { status, moved_to, ..spooled }))
}

/// An answer without what is particular to it.
fn spooled(
    (plan, job, form): (&Plan<'_>, &Job, Form),
    (found, time): (&PageUrl, Timestamp),
    headers: &Headers,
) -> SpooledAnswer {
    SpooledAnswer {
        source: plan.source.id.to_string(),
        url: job.url.to_string(),
        found: found.to_string(),
        form: form.name().to_owned(),
        hops: job.hops,
        time,
        status: 0,
        content_type: headers.content_type.clone(),
        validators: headers.validators.clone(),
        moved_to: None,
        robots: headers.x_robots_tag.join("\n"),
        link: headers.link.join("\n"),
        body: Vec::new(),
    }
}
