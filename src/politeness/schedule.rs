//! When the next request to a host may begin.
//!
//! One request at a time to a host. The wait from the end of one to the start of the next is
//! the longest of pace, Crawl-delay, back-off and Retry-After, whatever the requests are:
//! robots.txt, sitemap, page, redirect hop, retry. [`Host`] is asked before each
//! request ([`Host::begin`]) and told after it ([`Host::end`]).

mod state;
mod terms;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use state::{CrawlDelay, HostState, Parked, Reason};
pub use terms::Terms;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z by the clock of the machine,
/// read once when a process begins and run on from there by its monotonic clock. Never the
/// time that the option `--clock` sets: waits stay real.
pub type Millis = i64;

/// Milliseconds of a second.
pub(super) const MILLIS_PER_SECOND: Millis = 1000;

/// Longest time for which a host may ask not to be read at all; then it is asked once more.
const LONGEST_REST: Duration = Duration::from_hours(30 * 24);

/// A time in milliseconds, rounded up: no wait gets shorter.
pub(super) fn millis(time: Duration) -> Millis {
    Millis::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(Millis::MAX)
}

pub(super) fn duration(time: Millis) -> Duration {
    Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

/// Whether a request may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Now.
    Now,
    /// After that time, if nothing happens until then.
    Wait(Duration),
    /// After the request that is under way.
    Busy,
    /// Not in this run: [`Host::parked`] says why.
    Parked,
}

impl Turn {
    /// The turn of a request that may begin at `at`.
    pub(super) fn at(at: Millis, now: Millis) -> Self {
        if at <= now { Self::Now } else { Self::Wait(duration(at.saturating_sub(now))) }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// With this status.
    Status(u16),
    /// Without a whole response: time-out, reset, no connection, no address, a body cut off.
    NoAnswer,
}

impl Reply {
    /// Whether the request is made again, and the host given more time: 408, 425, 429, 5xx
    /// and no answer at all. Other 4xx would be answered the same again.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::NoAnswer | Self::Status(408 | 425 | 429 | 500..=599))
    }
}

/// What is told about a request that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its answer.
    pub reply: Reply,
    /// What its Retry-After asks for, on whatever status.
    pub retry_after: Option<Duration>,
    /// How many retries of the same request it was: 0 for the first attempt.
    pub retries: u32,
}

/// What becomes of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It has its answer.
    Done,
    /// It is made again when its host has its turn.
    Retry,
    /// It failed, with all its retries.
    Failed,
    /// It failed, and its host is left for a later run.
    Deferred,
}

/// The schedule of one host: the terms of the sources that share it, and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    terms: Terms,
    state: HostState,
}

impl Host {
    /// A host with the terms of a run, in the state that was saved, or in that of a host
    /// that was never asked ([`HostState::default`]).
    #[must_use]
    pub fn new(terms: Terms, state: HostState) -> Self {
        let mut host = Self { terms, state };
        host.state.pace = host.terms.pace;
        host
    }

    /// What is to be saved; after [`Host::begin`], so that a request is not forgotten when
    /// the process dies, and after [`Host::end`].
    #[must_use]
    pub fn state(&self) -> &HostState {
        &self.state
    }

    /// Begins a run: a host that was left for a later run is asked again, unless it said
    /// until when and that time is not over, or would have to be waited for too long still.
    pub fn begin_run(&mut self, now: Millis) {
        self.state.settle(now);
        self.state.failures = 0;
        let was = self.state.parked.take();
        let next_at = self.next_at();
        self.state.inherit_crawl_delays();
        // A pace that is longer still is the operator's own wish.
        let longest = self.terms.give_up_after.max(self.terms.pace);
        if next_at.saturating_sub(now) > millis(longest) {
            let reason = was.map_or(Reason::CrawlDelay, |parked| parked.reason);
            self.state.parked = Some(Parked { reason, until: Some(next_at) });
        } else if was.is_some_and(|parked| parked.until.is_some_and(|until| until > now)) {
            self.state.parked = was;
        }
    }

    /// Counts a request that an earlier process left without an end as ended now. To be
    /// called by whoever took over the host from a process that is gone.
    pub fn abandon(&mut self, now: Millis) {
        if self.state.started_at.take().is_some() {
            self.state.settle(now);
            self.rest(now, Duration::ZERO);
        }
    }

    /// Takes over the Crawl-delay of an origin of this host, as its robots.txt has it now.
    ///
    /// The largest of all origins holds. One that is longer than a host may ask for in a
    /// run parks it, unless the policy has a ceiling.
    pub fn set_crawl_delay(&mut self, origin: &str, delay: Option<Duration>) {
        match delay {
            Some(delay) => {
                let asked = CrawlDelay { delay, inherited: false };
                self.state.crawl_delays.insert(origin.to_owned(), asked)
            }
            None => self.state.crawl_delays.remove(origin),
        };
        if matches!(&self.state.parked, Some(parked) if parked.reason == Reason::CrawlDelay) {
            self.state.parked = None;
        }
        self.park_for_crawl_delay();
    }

    fn park_for_crawl_delay(&mut self) {
        if self.state.parked.is_none() && self.crawl_delay() > self.terms.give_up_after {
            self.state.parked = Some(Parked { reason: Reason::CrawlDelay, until: None });
        }
    }

    /// The Crawl-delay in force.
    fn crawl_delay(&self) -> Duration {
        self.terms.heeded(self.state.crawl_delay()).min(LONGEST_REST)
    }

    /// The Crawl-delay that was asked for and the one that is waited for, where the policy
    /// makes the second shorter; to be said in the log.
    #[must_use]
    pub fn shortened(&self) -> Option<(Duration, Duration)> {
        let asked = self.state.crawl_delay();
        let waited = self.crawl_delay().max(self.terms.pace);
        (waited < asked).then_some((asked, waited))
    }

    /// Least time from the end of a request to the start of the next: the longest of pace,
    /// Crawl-delay and back-off.
    #[must_use]
    pub fn wait(&self) -> Duration {
        self.terms.pace.max(self.crawl_delay()).max(self.state.backoff)
    }

    /// When the next request may begin; a time in the past means at once.
    #[must_use]
    pub fn next_at(&self) -> Millis {
        let paced = self.state.ended_at.map(|end| end.saturating_add(millis(self.wait())));
        paced.unwrap_or(Millis::MIN).max(self.state.next_at.unwrap_or(Millis::MIN))
    }

    /// Why the host is left for a later run, if it is.
    #[must_use]
    pub fn parked(&self) -> Option<&Parked> {
        self.state.parked.as_ref()
    }

    /// Takes the host's turn: [`Turn::Now`] means that the request begins now and that
    /// [`Host::end`] will be called.
    pub fn begin(&mut self, now: Millis) -> Turn {
        let turn = self.turn(now);
        if turn == Turn::Now {
            self.state.started_at = Some(now);
        }
        turn
    }

    /// Whether a request may begin now.
    pub fn turn(&mut self, now: Millis) -> Turn {
        self.state.settle(now);
        if self.state.parked.is_some() {
            Turn::Parked
        } else if self.state.started_at.is_some() {
            Turn::Busy
        } else {
            Turn::at(self.next_at(), now)
        }
    }

    /// Notes how the request under way ended, and says what becomes of it.
    pub fn end(&mut self, now: Millis, ended: &Ended) -> Next {
        self.state.settle(now);
        self.state.started_at = None;
        let failed = ended.reply.is_retryable();
        let exhausted = ended.retries >= self.terms.retries;
        self.back_off(ended.reply);
        self.rest(now, ended.retry_after.unwrap_or_default());
        if !failed {
            self.state.failures = 0;
            return Next::Done;
        }
        if exhausted {
            self.state.failures = self.state.failures.saturating_add(1);
            if self.state.failures >= self.terms.failures_before_parking {
                let parked = Parked { reason: Reason::Failures, until: None };
                self.state.parked.get_or_insert(parked);
            }
            return Next::Failed;
        }
        if self.state.parked.is_some() { Next::Deferred } else { Next::Retry }
    }

    /// Doubles the back-off after a failure and halves it after a success.
    fn back_off(&mut self, reply: Reply) {
        let start = self.terms.pace.max(self.crawl_delay()).max(self.terms.backoff_least);
        let backoff = self.state.backoff;
        self.state.backoff = if reply.is_retryable() {
            backoff.saturating_mul(2).max(start).min(self.terms.backoff_max)
        } else {
            let half = backoff / 2;
            if half < start { Duration::ZERO } else { half }
        };
    }

    /// Leaves the host alone from `now` on: for the wait in force, and for as long as it
    /// asked for, which parks it when that is longer than a run waits.
    fn rest(&mut self, now: Millis, asked: Duration) {
        if asked > self.terms.give_up_after {
            let until = now.saturating_add(millis(asked.min(LONGEST_REST)));
            self.state.parked = Some(Parked { reason: Reason::RetryAfter, until: Some(until) });
        }
        let wait = self.wait().max(asked.min(LONGEST_REST));
        self.state.ended_at = Some(now);
        let next_at = now.saturating_add(millis(wait));
        self.state.next_at = Some(self.state.next_at.map_or(next_at, |at| at.max(next_at)));
    }
}
