//! The door: every request of the program passes it.
//!
//! Owns the moment at which a request is made: it waits for the turn of its host, asks
//! robots.txt first, makes the request, tries again what failed, follows redirects, and notes
//! how the host was treated. Several threads may use one door at once. Guarantees that
//!
//! * no request is made to an origin before its robots.txt was read, at every hop of a
//!   redirect, and none that it forbids;
//! * one request at a time goes to a host, whatever its port, and the next begins no sooner
//!   than pace, Crawl-delay, back-off and Retry-After allow, for all processes that share the
//!   politeness file. Starts are rounded down and ends up to whole milliseconds, so that no
//!   gap is shorter than that;
//! * the limits of the source's policy hold, over all hosts, sources and processes that share
//!   them, and what it refuses is not asked for;
//! * whatever waits looks at the interrupt, the end of the run's time and `pagelog stop` at
//!   least each 50 ms;
//! * a request that was given up, or never left the machine, does not count against a host.
//!
//! A host obeys the strictest terms of all configured sources that name it, and of the source
//! that asks.

mod exchange;
mod hosts;
mod robots;
#[cfg(test)]
mod tests;
mod ticks;
mod turn;
mod visit;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) use crate::model::RequestKind;

use super::{Context, RunError};
use crate::archive::Archive;
use crate::fetch::http::{Accept, Response, Transport};
use crate::model::{PageUrl, RunId, Source, Timestamp, Validators};
use crate::politeness::{Access, Reply};
use crate::state::{Condition, Schedule, Stop};
use hosts::Hosts;
use robots::Shelf;
use ticks::Ticks;

/// What is asked for, and for whom.
pub(super) struct Ask<'q> {
    /// The source that asks.
    pub source: &'q Source,
    /// The address.
    pub url: &'q PageUrl,
    /// What for.
    pub kind: RequestKind,
    /// In which form.
    pub accept: Accept,
    /// Validators of what is stored of that very address; sent to no other.
    pub validators: Option<&'q Validators>,
    /// Most bytes of the body.
    pub limit: u64,
    /// Which redirects are followed.
    pub follow: Follow<'q>,
}

/// Whether an address that a redirect leads to may be asked for; if not, why.
pub(super) type MayLead<'q> = &'q (dyn Fn(&PageUrl) -> Result<(), String> + Sync);

/// Which redirects are followed.
#[derive(Clone, Copy)]
pub(super) enum Follow<'q> {
    /// Temporary ones (302, 303, 307) that lead to where the function allows; a permanent one
    /// is the answer.
    Temporary(MayLead<'q>),
    /// All that lead to where the function allows.
    All(MayLead<'q>),
}

/// A response, and where it was found.
#[derive(Debug)]
pub(super) struct Answer {
    /// Any status that is no redirect, 304 included.
    pub response: Response,
    /// The address that answered.
    pub found: PageUrl,
    /// When it had answered.
    pub time: Timestamp,
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Visit {
    /// It was answered.
    Answer(Box<Answer>),
    /// It leads elsewhere for good (301, 308), and such redirects are not followed.
    Moved {
        /// Where to.
        to: PageUrl,
        /// The status.
        status: u16,
        /// When it had answered.
        time: Timestamp,
    },
    /// A redirect that is not followed: to where it may not lead, from https to http, without
    /// a Location, the sixth, or in a circle.
    Astray {
        /// Where to, as it came; not fit to be printed.
        to: String,
        /// The status.
        status: u16,
        /// Why it is not followed.
        why: String,
    },
    /// robots.txt forbids it, at whatever hop.
    Disallowed {
        /// The address that is forbidden.
        url: PageUrl,
        /// What forbids it.
        ground: String,
    },
    /// The policy of the source does not ask for such addresses.
    Refused {
        /// The address, at whatever hop.
        url: PageUrl,
        /// Why not.
        why: String,
    },
    /// robots.txt could not be read.
    Unreachable {
        /// Why.
        why: String,
        /// When it is asked for again in this run; `None` is never.
        retry: Option<Duration>,
    },
    /// Not now: a limit of the policy is used up.
    Later {
        /// Which one.
        why: String,
        /// When there is room again.
        retry: Duration,
    },
    /// Not in this run: the host is left alone, somebody stopped it, or the time is up.
    Deferred(String),
    /// It failed, with all its retries.
    Failed(String),
}

/// How a host stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostView {
    /// Least time from the end of a request to the start of the next.
    pub wait: Duration,
    /// Time until the next request may begin.
    pub next_in: Duration,
    /// Why it is left for a later run, where it is.
    pub parked: Option<String>,
}

/// The door of one process on one archive.
pub(super) struct Door<'a> {
    context: &'a Context<'a>,
    run: RunId,
    deadline: Option<Instant>,
    ticks: Ticks,
    hosts: Hosts,
    desk: Mutex<Desk>,
    /// Requests under way, by host.
    under_way: Mutex<HashMap<String, u32>>,
    shelf: Mutex<Shelf>,
    /// Made when it is first needed: to prepare connections takes time.
    transport: Mutex<Option<Arc<Transport>>>,
    closed: AtomicBool,
}

/// Where turns are given out.
struct Desk {
    schedule: Schedule,
    /// Hosts for which this process has begun its run.
    begun: HashSet<String>,
    /// What was told once: hosts whose Crawl-delay is cut short, exceptions from robots.txt.
    told: HashSet<String>,
}

impl<'a> Door<'a> {
    /// Opens the door; [`RunId`] 0 stands for requests outside of runs.
    ///
    /// # Errors
    /// The politeness file cannot be used.
    pub fn open(
        context: &'a Context<'a>,
        archive: &Archive,
        run: RunId,
        deadline: Option<Instant>,
    ) -> Result<Self, RunError> {
        let door = Self::again(context, archive, run, deadline)?;
        locked(&door.desk).schedule.begin_run(run)?;
        Ok(door)
    }

    /// Opens the door for a run that goes on: its conduct so far counts.
    ///
    /// # Errors
    /// The politeness file cannot be used.
    pub fn again(
        context: &'a Context<'a>,
        archive: &Archive,
        run: RunId,
        deadline: Option<Instant>,
    ) -> Result<Self, RunError> {
        Ok(Self::with(context, open_schedule(context, archive)?, (run, deadline)))
    }

    /// Opens the door for requests outside of runs. Without an archive nothing is remembered
    /// of them.
    ///
    /// # Errors
    /// The politeness file cannot be used.
    pub fn outside(context: &'a Context<'a>, archive: Option<&Archive>) -> Result<Self, RunError> {
        match archive {
            Some(archive) => Self::open(context, archive, RunId(0), None),
            None => Ok(Self::with(context, Schedule::in_memory()?, (RunId(0), None))),
        }
    }

    fn with(
        context: &'a Context<'a>,
        schedule: Schedule,
        (run, deadline): (RunId, Option<Instant>),
    ) -> Self {
        Self {
            context,
            run,
            deadline,
            ticks: Ticks::new(&context.clock),
            hosts: Hosts::of(context.config),
            desk: Mutex::new(Desk { schedule, begun: HashSet::new(), told: HashSet::new() }),
            under_way: Mutex::default(),
            shelf: Mutex::default(),
            transport: Mutex::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Makes a request when its turn has come, and follows it where it leads.
    ///
    /// # Errors
    /// Somebody asked to stop, the politeness file failed, or no connection can be made at
    /// all.
    pub fn get(&self, ask: &Ask<'_>) -> Result<Visit, RunError> {
        self.visit(ask)
    }

    /// Lets `work` update a repository on a host, as one request to it; gives what `work`
    /// gave beside the reply, or why the host is not asked in this run.
    ///
    /// # Errors
    /// Somebody asked to stop, or the politeness file failed.
    pub fn git<T>(
        &self,
        source: &Source,
        host: &str,
        work: impl FnOnce() -> (Reply, T),
    ) -> Result<Result<T, String>, RunError> {
        self.update(source, host, work)
    }

    /// How a host stands.
    pub fn host(&self, host: &str) -> HostView {
        self.view(host)
    }

    /// What robots.txt of an address's origin says; read where that was not done yet. Where
    /// it cannot be asked for in this run, it forbids everything, and says why.
    ///
    /// # Errors
    /// As [`Door::get`].
    pub fn robots(&self, source: &Source, url: &PageUrl) -> Result<Arc<Access>, RunError> {
        self.access(source, url)
    }

    /// The time by the clock of the run.
    pub fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    /// Makes no further request: whoever waits is told that somebody asked to stop.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Whether no further request is to be made.
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst) || self.context.interrupt.is_raised()
    }

    /// Fails where somebody asked to stop.
    fn check_interrupt(&self) -> Result<(), RunError> {
        if self.is_closed() { Err(RunError::Interrupted) } else { Ok(()) }
    }
}

/// Forgets what `pagelog stop` was told about earlier runs; once the run lock is held, so
/// that nothing is forgotten that is meant for this one.
///
/// # Errors
/// The politeness file cannot be used.
pub(super) fn forget_stops(context: &Context<'_>, archive: &Archive) -> Result<(), RunError> {
    Ok(open_schedule(context, archive)?.forget_stops()?)
}

/// Lets a run in progress make no further request to any source.
pub(super) fn stop_all(context: &Context<'_>, archive: &Archive) -> Result<(), RunError> {
    let mut schedule = open_schedule(context, archive)?;
    for source in &context.config.sources {
        schedule.stop(Stop::Source(source.id.as_str()))?;
    }
    Ok(())
}

fn open_schedule(context: &Context<'_>, archive: &Archive) -> Result<Schedule, RunError> {
    let mark = context.clock.now().to_string().replace(':', "");
    let (schedule, condition) = Schedule::open(&archive.politeness_file(), &mark)?;
    if let Condition::SetAside(aside) = &condition {
        context.progress.warn(&format!(
            "the politeness file was damaged; it is kept as {} and begun anew",
            aside.display()
        ));
    }
    Ok(schedule)
}

/// What a mutex holds. A thread that panicked ends the run; whatever it left is still whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
