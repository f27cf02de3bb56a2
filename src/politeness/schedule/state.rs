//! What must outlive a process about a host.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::Millis;

/// The state of a host: plain values, loaded and saved by others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostState {
    /// Pace in force at the last request; told to people, not used for the next one, which
    /// goes by the configuration of its run and by `next_at`.
    pub pace: Duration,
    /// What each origin of the host asks for.
    pub crawl_delays: BTreeMap<String, CrawlDelay>,
    /// Back-off in force; zero where the host answers.
    pub backoff: Duration,
    /// Requests in a row that failed with all their retries.
    pub failures: u32,
    /// Start of the request that is under way.
    pub started_at: Option<Millis>,
    /// End of the last request.
    pub ended_at: Option<Millis>,
    /// Earliest start of the next request by what was in force at the end of the last.
    pub next_at: Option<Millis>,
    /// Set where the host is left for a later run.
    pub parked: Option<Parked>,
}

/// The Crawl-delay of one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrawlDelay {
    /// What its robots.txt asks for, before any ceiling.
    pub delay: Duration,
    /// Whether that was read in an earlier run, and not yet again in this one.
    pub inherited: bool,
}

/// A host that is left for a later run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parked {
    /// Why.
    pub reason: Reason,
    /// Not before this time, where the host said so.
    pub until: Option<Millis>,
}

/// Why a host is left for a later run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its Retry-After is longer than a run waits.
    RetryAfter,
    /// Its Crawl-delay is longer than a run waits.
    CrawlDelay,
    /// Too many requests in a row failed.
    Failures,
}

impl Reason {
    const ALL: [(Self, &'static str); 3] = [
        (Self::RetryAfter, "retry-after"),
        (Self::CrawlDelay, "crawl-delay"),
        (Self::Failures, "failures"),
    ];

    /// The name under which it is saved.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(reason, _)| *reason == self).map_or("failures", |(_, name)| name)
    }

    /// The reason of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == name).map(|(reason, _)| *reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RetryAfter => "the host asks to be left alone for longer than a run waits",
            Self::CrawlDelay => "robots.txt asks for a longer Crawl-delay than a run waits",
            Self::Failures => "too many requests in a row failed with all their retries",
        })
    }
}

impl HostState {
    /// The largest Crawl-delay of its origins; zero where there is none.
    pub(super) fn crawl_delay(&self) -> Duration {
        self.crawl_delays.values().map(|asked| asked.delay).max().unwrap_or_default()
    }

    /// Keeps what the last run read until this one reads it again, and forgets what the last
    /// run did not read: an origin that nobody asks any more must not slow the host for ever.
    pub(super) fn inherit_crawl_delays(&mut self) {
        self.crawl_delays.retain(|_, asked| !asked.inherited);
        self.crawl_delays.values_mut().for_each(|asked| asked.inherited = true);
    }

    /// Brings the times of a clock that was set back since to the one of today: what was
    /// left to wait then is left to wait now, and no more.
    pub(super) fn settle(&mut self, now: Millis) {
        let Some(ahead) = self.ended_at.map(|end| end.saturating_sub(now)).filter(|by| *by > 0)
        else {
            return;
        };
        let back = |time: Millis| time.saturating_sub(ahead);
        self.ended_at = self.ended_at.map(back);
        self.next_at = self.next_at.map(back);
        if let Some(parked) = &mut self.parked {
            parked.until = parked.until.map(back);
        }
    }
}
