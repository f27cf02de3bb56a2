//! What a host's sources and their policies ask of its schedule.

use std::time::Duration;

use crate::model::Policy;

/// The numbers that the schedule of one host goes by; those of several sources on it are
/// joined by [`Terms::strictest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Least time from the end of a request to the start of the next.
    pub pace: Duration,
    /// Most of a Crawl-delay that is waited for; `None` waits for all of it.
    pub crawl_delay_ceiling: Option<Duration>,
    /// Where back-off begins, unless pace or Crawl-delay is longer.
    pub backoff_least: Duration,
    /// Longest back-off.
    pub backoff_max: Duration,
    /// Longest wait that the host may ask for in a run.
    pub give_up_after: Duration,
    /// Retries of one request that failed.
    pub retries: u32,
    /// Requests in a row, each failed with all its retries, that end the run on the host.
    pub failures_before_parking: u32,
}

impl Terms {
    /// The terms of a source with that pace and policy.
    #[must_use]
    pub fn new(pace: Duration, policy: &Policy) -> Self {
        Self {
            pace: pace.max(policy.least_pace),
            crawl_delay_ceiling: policy.crawl_delay_ceiling,
            backoff_least: policy.backoff_least,
            backoff_max: policy.backoff_max,
            give_up_after: policy.give_up_after,
            retries: policy.retries,
            failures_before_parking: policy.failures_before_parking,
        }
    }

    /// The stricter of two in each point.
    #[must_use]
    pub fn strictest(&self, other: &Self) -> Self {
        let ceilings = self.crawl_delay_ceiling.zip(other.crawl_delay_ceiling);
        Self {
            pace: self.pace.max(other.pace),
            crawl_delay_ceiling: ceilings.map(|(one, two)| one.max(two)),
            backoff_least: self.backoff_least.max(other.backoff_least),
            backoff_max: self.backoff_max.max(other.backoff_max),
            give_up_after: self.give_up_after.min(other.give_up_after),
            retries: self.retries.min(other.retries),
            failures_before_parking: self
                .failures_before_parking
                .min(other.failures_before_parking),
        }
    }

    /// What is waited of a Crawl-delay that was asked for.
    pub(super) fn heeded(&self, asked: Duration) -> Duration {
        self.crawl_delay_ceiling.map_or(asked, |ceiling| asked.min(ceiling))
    }
}
