//! The turn of a host: waiting for it, taking it, giving it back.

use std::thread;
use std::time::Duration;

use super::exchange::Errand;
use super::hosts::{LONGEST_REQUEST, LONGEST_UPDATE};
use super::{Door, HostView, RequestKind, RunError, locked};
use crate::model::{PolicyName, Source, Timestamp, host_key};
use crate::politeness::{
    Ended, Gate, Host, HostState, Millis, Next, Parked, Reply, Terms, Turn, Way,
};
use crate::state::{AtGates, Change, Counted, Hold, HostRow, Lease, Tally};

/// How often whatever waits looks whether it is to go on.
const LOOK: Duration = Duration::from_millis(50);

/// How soon a host that is being asked by somebody else is looked at again, at first.
const FIRST_LOOK: Duration = Duration::from_millis(1);

/// How long a thread waits for a gate: others may ask the host for longer.
const LONGEST_HOLD: Duration = Duration::from_secs(30);

pub(super) const TIME_IS_UP: &str = "the time of this run is up";

const STOPPED: &str = "stopped by `pagelog stop`";

/// Who wants the turn of which host.
pub(super) struct Claim<'q> {
    pub source: &'q Source,
    /// In the form of [`host_key`].
    pub host: &'q str,
    pub kind: RequestKind,
    pub terms: Terms,
    /// The limits of the source's policy that hold for it.
    pub gates: Vec<Gate>,
    /// Whether it asks for something new: it is no retry, and no redirect of another.
    pub fresh: bool,
}

/// That a request is not made.
#[derive(Debug)]
pub(super) struct Put {
    pub why: String,
    /// When it may be made in this run; `None` is never.
    pub retry: Option<Duration>,
}

impl Put {
    /// Off to a later run.
    pub fn off(why: &str) -> Self {
        Self { why: why.to_owned(), retry: None }
    }
}

/// A turn that was taken, and has to be given back.
pub(super) struct Taken {
    started: Millis,
    gap: Option<Millis>,
    at_once: u32,
}

/// How a request ended.
pub(super) struct Done {
    /// Its answer; `None` where it was given up, or never left the machine.
    pub reply: Option<Reply>,
    pub retry_after: Option<Duration>,
    /// How many retries of the same request it was.
    pub retries: u32,
    /// Whether it would fail in the same way if it were made again.
    pub outlook: Outlook,
    pub bytes: u64,
    pub connections: u32,
}

/// Whether a request that failed is worth another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlook {
    Open,
    Hopeless,
}

/// What came of looking for the turn.
enum Look {
    Now(Taken),
    At(Millis),
    Busy,
    Put(Put),
}

impl Door<'_> {
    /// Waits for the turn of a host and takes it; in words why it is not to be had in this
    /// run.
    pub(super) fn await_turn(&self, claim: &Claim<'_>) -> Result<Result<Taken, Put>, RunError> {
        let mut pause = FIRST_LOOK;
        loop {
            self.check_interrupt()?;
            if self.is_late() {
                return Ok(Err(Put::off(TIME_IS_UP)));
            }
            match self.look(claim)? {
                Look::Now(taken) => return Ok(Ok(taken)),
                Look::Put(put) => return Ok(Err(put)),
                Look::Busy => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LOOK);
                }
                Look::At(time) => {
                    if let Some(why) = self.sleep_until(time, claim)? {
                        return Ok(Err(Put::off(why)));
                    }
                }
            }
        }
    }

    /// What a request to a host needs.
    pub(super) fn claim<'q>(&self, errand: &Errand<'q>, (host, url): (&'q str, &str)) -> Claim<'q> {
        let Errand { source, kind, fresh } = *errand;
        let policy = &source.policy;
        let limits = policy.limits_of(policy.kind(kind, url));
        let gates =
            limits.map(|limit| Gate::new(&policy.name, limit, (host, &source.id))).collect();
        Claim { source, host, kind, terms: self.hosts.terms(host, source), gates, fresh }
    }

    /// Whether the time of the run is up.
    pub(super) fn is_late(&self) -> bool {
        self.time_left() == Some(Duration::ZERO)
    }

    /// What is left of the time of the run.
    fn time_left(&self) -> Option<Duration> {
        let now = self.context.clock.monotonic();
        self.deadline.map(|end| end.saturating_duration_since(now))
    }

    /// Sleeps until then; or says why that would be in vain.
    fn sleep_until(
        &self,
        time: Millis,
        claim: &Claim<'_>,
    ) -> Result<Option<&'static str>, RunError> {
        loop {
            let left = self.ticks.until(time);
            if self.time_left().is_some_and(|time_left| left >= time_left) {
                return Ok(Some(TIME_IS_UP));
            }
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(left.min(LOOK));
            self.check_interrupt()?;
            if left > LOOK
                && locked(&self.desk).schedule.is_stopped((claim.host, &claim.source.id))?
            {
                return Ok(Some(STOPPED));
            }
        }
    }

    /// Takes the turn of the host, if it is there and every gate is open.
    fn look(&self, claim: &Claim<'_>) -> Result<Look, RunError> {
        let mut desk = locked(&self.desk);
        let first = !desk.begun.contains(claim.host);
        let now = self.ticks.start();
        let who = (claim.host, &claim.source.id, claim.gates.as_slice());
        let (look, begun) = desk.schedule.with_host(who, now, |row| {
            let (change, look) = decide(claim, row, (now, first));
            let begun = change.is_some();
            (change, (look, begun))
        })?;
        if begun {
            desk.begun.insert(claim.host.to_owned());
        }
        drop(desk);
        Ok(match look {
            Look::Now(taken) => {
                let mut under_way = locked(&self.under_way);
                let at_once = under_way.entry(claim.host.to_owned()).or_default();
                *at_once += 1;
                Look::Now(Taken { at_once: *at_once, ..taken })
            }
            other => other,
        })
    }

    /// Gives a turn back, and says what becomes of the request.
    pub(super) fn end_turn(
        &self,
        claim: &Claim<'_>,
        taken: &Taken,
        done: &Done,
    ) -> Result<Next, RunError> {
        if let Some(at_once) = locked(&self.under_way).get_mut(claim.host) {
            *at_once -= 1;
        }
        let now = self.ticks.end();
        let span = (taken.started, now);
        let holds = claim.gates.iter().map(|gate| gate.hold_until(span, done.reply)).collect();
        let who = (claim.host, &claim.source.id, claim.gates.as_slice());
        let mut desk = locked(&self.desk);
        let ended = desk.schedule.with_host(who, now, |row| {
            let mut host = Host::new(claim.terms.clone(), row.state);
            let next = done.reply.map(|reply| host.end(now, &done.ended(reply)));
            if next.is_none() {
                host.abandon(now);
            }
            let state = host.state().clone();
            let counted = self.count(claim, taken, (done, now, &state));
            let (hold, gates) = (Hold::Ended, AtGates::Ended(holds));
            (Some(Change { state, hold, gates, counted }), next.unwrap_or(Next::Done))
        });
        Ok(ended?)
    }

    /// What is counted of a request; nothing of one that never left the machine.
    fn count(
        &self,
        claim: &Claim<'_>,
        taken: &Taken,
        (done, ended, state): (&Done, Millis, &HostState),
    ) -> Option<Counted> {
        let never_left = done.reply.is_none() && done.outlook == Outlook::Hopeless;
        let failed = done.reply.is_some_and(Reply::is_retryable);
        (!never_left || done.connections > 0).then(|| Counted {
            run: self.run,
            kind: claim.kind,
            tally: Tally {
                requests: 1,
                retries: u64::from(done.retries > 0),
                failures: u64::from(failed),
                bytes: done.bytes,
                connections: done.connections.into(),
            },
            span: (taken.started, ended),
            gap: taken.gap,
            at_once: taken.at_once,
            pace: claim.terms.pace,
            crawl_delay: crawl_delay(&claim.terms, state),
        })
    }

    /// One update of a repository, as one request.
    pub(super) fn update<T>(
        &self,
        source: &Source,
        host: &str,
        work: impl FnOnce() -> (Reply, T),
    ) -> Result<Result<T, String>, RunError> {
        let host = host_key(host);
        let errand = Errand { source, kind: RequestKind::Git, fresh: true };
        let claim = self.claim(&errand, (&host, &format!("https://{host}/")));
        let taken = match self.await_turn(&claim)? {
            Ok(taken) => taken,
            Err(put) => return Ok(Err(put.why)),
        };
        let (reply, result) = work();
        let reply = Some(reply).filter(|_| !self.context.interrupt.is_raised());
        let done = Done {
            reply,
            retry_after: None,
            retries: 0,
            // A fetch is not tried again within a run.
            outlook: if reply.is_some() { Outlook::Hopeless } else { Outlook::Open },
            bytes: 0,
            connections: 0,
        };
        self.end_turn(&claim, &taken, &done)?;
        Ok(Ok(result))
    }

    /// How a host stands, for whoever decides what to ask next.
    pub(super) fn view(&self, host: &str) -> HostView {
        let key = host_key(host);
        let now = self.ticks.start();
        let desk = locked(&self.desk);
        let row = match desk.schedule.host(&key, now) {
            Ok(row) => row,
            Err(error) => {
                tracing::warn!(host, %error, "how the host stands cannot be told");
                return HostView::default();
            }
        };
        let policies = &self.context.config.policies;
        let standard = policies.iter().find(|it| it.name.as_str() == PolicyName::STANDARD);
        let standard = || standard.map(|policy| Terms::new(Duration::ZERO, policy));
        let Some(terms) = self.hosts.named(&key).cloned().or_else(standard) else {
            return HostView::default();
        };
        let mut schedule = Host::new(terms, row.state);
        if !desk.begun.contains(&key) {
            schedule.begin_run(now);
        }
        let parked = schedule.parked().map(|parked| left(&key, parked));
        HostView {
            wait: schedule.wait(),
            next_in: self.ticks.until(schedule.next_at()),
            parked: if row.stopped { Some(STOPPED.to_owned()) } else { parked },
        }
    }
}

impl Done {
    fn ended(&self, reply: Reply) -> Ended {
        let retries = match self.outlook {
            Outlook::Open => self.retries,
            Outlook::Hopeless => u32::MAX,
        };
        Ended { reply, retry_after: self.retry_after, retries }
    }
}

/// Decides about one look at a host; `first` where this process has not begun its run there.
fn decide(claim: &Claim<'_>, row: HostRow, (now, first): (Millis, bool)) -> (Option<Change>, Look) {
    if row.stopped {
        return (None, Look::Put(Put::off(STOPPED)));
    }
    if row.lease == Lease::Held {
        return (None, Look::Busy);
    }
    if let Some(look) = hold_back(claim, &row, now) {
        return (None, look);
    }
    let mut host = Host::new(claim.terms.clone(), row.state);
    host.abandon(now);
    if first {
        host.begin_run(now);
    }
    let gap = |host: &Host| host.state().ended_at.map(|end| now.saturating_sub(end));
    let (hold, look) = match host.begin(now) {
        Turn::Now => {
            let longest = match claim.kind {
                RequestKind::Git => LONGEST_UPDATE,
                _ => LONGEST_REQUEST,
            };
            let taken = Taken { started: now, gap: gap(&host), at_once: 0 };
            (Hold::Until(after(now, longest)), Look::Now(taken))
        }
        Turn::Wait(wait) => (Hold::Ended, Look::At(after(now, wait))),
        Turn::Busy => (Hold::Ended, Look::Busy),
        Turn::Parked => {
            let why = host.parked().map(|parked| left(claim.host, parked));
            (Hold::Ended, Look::Put(Put::off(&why.unwrap_or_default())))
        }
    };
    let changed = first || row.lease == Lease::Left || matches!(look, Look::Now(_));
    let gates = match look {
        Look::Now(_) => AtGates::Begun { fresh: claim.fresh },
        _ => AtGates::AsTheyAre,
    };
    let state = host.state().clone();
    let change = changed.then_some(Change { state, hold, gates, counted: None });
    (change, look)
}

/// What the gates say, where one of them is not open.
fn hold_back(claim: &Claim<'_>, row: &HostRow, now: Millis) -> Option<Look> {
    let ways = claim.gates.iter().zip(&row.passages).map(|(gate, passages)| {
        let way = gate.way(passages, claim.fresh, now);
        match way {
            Way::Open => None,
            Way::Busy => Some(Look::Busy),
            Way::Wait(wait) if wait <= LONGEST_HOLD => Some(Look::At(after(now, wait))),
            Way::Wait(wait) | Way::Full(wait) => {
                let why = format!("the limit {} is reached", gate.name);
                Some(Look::Put(Put { why, retry: Some(wait) }))
            }
        }
    });
    ways.flatten().next()
}

/// Why a host is left for a later run.
pub(super) fn left(host: &str, parked: &Parked) -> String {
    let until = parked.until.and_then(|until| Timestamp::from_unix(until.div_euclid(1000)));
    let until = until.map(|until| format!(", not before {until}")).unwrap_or_default();
    format!("{host} is left for a later run{until}: {}", parked.reason)
}

/// The Crawl-delay in force.
fn crawl_delay(terms: &Terms, state: &HostState) -> Duration {
    let asked = state.crawl_delays.values().map(|asked| asked.delay).max().unwrap_or_default();
    terms.crawl_delay_ceiling.map_or(asked, |ceiling| asked.min(ceiling))
}

fn after(time: Millis, wait: Duration) -> Millis {
    let wait = wait.as_nanos().div_ceil(1_000_000);
    time.saturating_add(Millis::try_from(wait).unwrap_or(Millis::MAX))
}
