//! Reading sites: one loop over all of them, a thread a host, threads that convert.
//!
//! Owns the circle of the crawl: what the queue gives is asked for ([`receive`]), what comes
//! is converted ([`convert`]), judged ([`judge`]) and drafted, and the URLs in it are
//! offered to the queue ([`offer`]). It guarantees that
//!
//! * each URL is asked for once in a run, and has an outcome at its end;
//! * memory does not grow with the pages of a site but for a few bytes for each URL and
//!   the places of those that change;
//! * an answer is in the spool before anything is done with it, and in a checkpoint before
//!   it leaves the spool: after a kill nothing of it is asked for again;
//! * nothing is believed of a page whose text is not in the archive.

mod body;
mod convert;
mod crawl;
mod finish;
mod judge;
mod lanes;
mod offer;
mod plan;
mod probe;
mod receive;
mod settle;
mod trust;

pub(super) use probe::probe;

use std::collections::HashSet;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;

use super::pass::Pass;
use super::{Effect, RunError, SourceReport};
use crate::archive::LeakGuard;
use crate::config::Config;
use crate::extract;
use crate::model::{RunId, Source, SourceKind, fingerprint};
use crate::run::door::Door;
use crate::state::{Crawl as OpenCrawl, Spool};
use convert::Workshop;
use crawl::Crawl;
use plan::Plan;
use receive::Held;

/// Answers that wait for a thread that converts, and events that wait for the loop.
const WAITING: usize = 4;

/// Whether a crawl begins, or goes on where another process left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    Anew,
    Resumed,
}

/// Fingerprint of all that decides what an open run may still be gone on with: the
/// configuration, the rules of conversion, and what it was asked to read.
pub(super) fn settings(config: &Config) -> i64 {
    let Config { bot, sources, network, .. } = config;
    fingerprint(&format!("{} {bot:?} {sources:?} {network:?}", extract::VERSION))
}

/// Fingerprint of what decides the conversion of a source's pages; `None` of a source that
/// is no site.
#[must_use]
pub fn conversion_rules(source: &Source) -> Option<i64> {
    match &source.kind {
        SourceKind::Site(site) => Some(plan::rules(source, site)),
        SourceKind::Git(_) | SourceKind::Feed(_) => None,
    }
}

/// Reads sites, side by side, and reports each.
pub(super) fn read_sites(
    (pass, door): (&mut Pass<'_>, &Door<'_>),
    sites: &[&Source],
    (guard, beginning): (&mut LeakGuard, &Beginning),
    accepted: &[String],
) -> Result<(), RunError> {
    let plans = plans(pass, sites)?;
    if plans.is_empty() {
        return Ok(());
    }
    let crawled = crawl(pass, door, &plans, (guard, beginning))?;
    finish::finish(pass, &plans, crawled, (guard, accepted))
}

/// The rules of the sites. One that cannot be compiled is reported and left alone.
fn plans<'s>(pass: &mut Pass<'_>, sites: &[&'s Source]) -> Result<Vec<Plan<'s>>, RunError> {
    let mut plans = Vec::new();
    for source in sites {
        let SourceKind::Site(site) = &source.kind else { continue };
        let denied: HashSet<String> = pass.state.denied_urls(&source.id)?.into_iter().collect();
        match Plan::new((source, site), denied, pass.archive.case()) {
            Ok(plan) => plans.push(plan),
            Err(why) => {
                let mut report = SourceReport::new(source.id.clone());
                report.fail(why);
                pass.report(report);
            }
        }
    }
    Ok(plans)
}

fn crawl(
    pass: &mut Pass<'_>,
    door: &Door<'_>,
    plans: &[Plan<'_>],
    (guard, beginning): (&LeakGuard, &Beginning),
) -> Result<crawl::Crawled, RunError> {
    let run = pass.run;
    let ids: Vec<_> = plans.iter().map(|plan| &plan.source.id).collect();
    let spool = run.map(|run| Spool::open(&pass.archive.spool_file(), run)).transpose()?;
    match beginning {
        Beginning::Anew => pass.state.begin_crawl(run, settings(pass.context.config), &ids)?,
        Beginning::Resumed => pass.state.resume_crawl()?,
    }
    let held = Held::new(spool);
    let workshop = Workshop {
        plans,
        archive: pass.archive,
        heads: pass.archive.heads()?,
        guard,
        bot: &pass.context.config.bot.name,
        run: pass.started,
    };
    let (tasks, waiting_tasks) = sync_channel(WAITING);
    let (events, waiting_events) = sync_channel(WAITING);
    // Only those who work at them hold it: when they are gone, nobody can hand in more.
    let waiting_tasks = Arc::new(Mutex::new(waiting_tasks));
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            let events = events.clone();
            let (workshop, tasks) = (&workshop, Arc::clone(&waiting_tasks));
            scope.spawn(move || workshop.work(&tasks, &events));
        }
        drop((events, waiting_tasks));
        let start = |host: &str| {
            let (jobs, waiting) = std::sync::mpsc::channel();
            let (tasks, plans, held) = (tasks.clone(), plans, &held);
            tracing::debug!(host, "a thread works for the host");
            scope.spawn(move || receive::work((door, plans, held), &waiting, &tasks));
            jobs
        };
        let mut crawl = Crawl::new(pass, plans, &held, &start);
        let replay = tasks.clone();
        let result = crawl.run(*beginning == Beginning::Resumed, (door, &waiting_events), &replay);
        if result.is_err() {
            door.close();
        }
        let crawled = crawl.into_crawled();
        // The threads end when nobody can give them anything any more.
        drop((replay, tasks));
        drop(waiting_events);
        result.map(|()| crawled)
    })
}

/// Whether an open crawl is one that a run with these sources goes on with.
pub(super) fn goes_on(open: &OpenCrawl, config: &Config, due: &[&Source], effect: Effect) -> bool {
    let sites = due.iter().filter(|source| matches!(source.kind, SourceKind::Site(_)));
    let ids: HashSet<&str> = sites.map(|source| source.id.as_str()).collect();
    let left: HashSet<&str> = open.sources.iter().map(String::as_str).collect();
    effect == Effect::Commit && open.settings == settings(config) && ids == left
}

/// A run number for messages and files; zero for a dry run.
pub(super) fn number(run: Option<RunId>) -> RunId {
    run.unwrap_or(RunId(0))
}
