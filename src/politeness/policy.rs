//! Named sets of rules of conduct, with their numbers.

use std::time::Duration;

use crate::model::PolicyName;

/// The numbers of a policy. [`Policy::of`] gives those of a name; nothing else makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: PolicyName,
    /// Oldest robots.txt that is still obeyed without being read again; it is also read at
    /// the start of each run.
    pub robots_max_age: Duration,
    /// When a robots.txt that could not be read is asked for again; `None` is the next run:
    /// the origin is out of this one.
    pub robots_retry: Option<Duration>,
    /// Most of a Crawl-delay that is waited for; `None` waits for all of it. That a host
    /// asked for more is said in the log.
    pub crawl_delay_ceiling: Option<Duration>,
    /// Retries of one request that failed.
    pub retries: u32,
    /// Where back-off begins, unless pace or Crawl-delay is longer.
    pub backoff_least: Duration,
    /// Longest back-off.
    pub backoff_max: Duration,
    /// Longest wait that a host may ask for in a run: asked for more, the host is left for
    /// a later one.
    pub give_up_after: Duration,
    /// Requests in a row, each failed with all its retries, after which a host is left for
    /// a later run.
    pub failures_before_parking: u32,
    /// Least pace to each host, whatever the sources say.
    pub least_pace: Duration,
    /// Limits over all hosts of the sources with this policy.
    pub overall: Limits,
    /// Limits of kinds of requests beside it, each under the name that the log uses.
    pub kinds: &'static [(&'static str, Limits)],
}

/// Limits that several hosts share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Most requests at once; `None` is no limit of its own.
    pub at_once: Option<u32>,
    /// Most requests begun within any second.
    pub per_second: Option<u32>,
    /// Least time from the end of a request to the start of the next, on whatever host.
    pub min_gap: Duration,
    /// Pause after a request that took longer than a time: (that time, the pause).
    pub slow: Option<(Duration, Duration)>,
    /// Most bits received in a second, on average since the start of a request.
    pub bits_per_second: Option<u64>,
}

impl Limits {
    /// No limits beside those of each host.
    pub const NONE: Self = Self {
        at_once: None,
        per_second: None,
        min_gap: Duration::ZERO,
        slow: None,
        bits_per_second: None,
    };
}

/// One request at a time to a host, and RFC 9309.
const STANDARD: Policy = Policy {
    name: PolicyName::Standard,
    robots_max_age: Duration::from_hours(1),
    robots_retry: Some(Duration::from_mins(5)),
    crawl_delay_ceiling: None,
    retries: 2,
    backoff_least: Duration::from_secs(1),
    backoff_max: Duration::from_mins(10),
    give_up_after: Duration::from_mins(10),
    failures_before_parking: 3,
    least_pace: Duration::ZERO,
    overall: Limits::NONE,
    kinds: &[],
};

/// A news reader's conduct: one connection at all, and rules that are never old.
const COURTEOUS_FEEDS: Policy = Policy {
    name: PolicyName::CourteousFeeds,
    robots_max_age: Duration::from_mins(15),
    crawl_delay_ceiling: Some(Duration::from_secs(10)),
    overall: Limits { at_once: Some(1), min_gap: Duration::from_millis(1500), ..Limits::NONE },
    ..STANDARD
};

/// A manuals collector's rules: a site whose robots.txt cannot be read is out of the run.
const BOUNDED: Policy = Policy {
    name: PolicyName::Bounded,
    robots_retry: None,
    crawl_delay_ceiling: Some(Duration::from_secs(10)),
    ..STANDARD
};

/// What Wikimedia's robot policy asks for, kept below each of its numbers.
const WIKIMEDIA: Policy = Policy {
    name: PolicyName::Wikimedia,
    overall: Limits { at_once: Some(9), per_second: Some(19), ..Limits::NONE },
    kinds: &[
        ("rest", Limits { at_once: Some(4), per_second: Some(9), ..Limits::NONE }),
        (
            "action",
            Limits {
                at_once: Some(1),
                per_second: Some(4),
                slow: Some((Duration::from_secs(1), Duration::from_secs(5))),
                ..Limits::NONE
            },
        ),
        ("media", Limits { at_once: Some(2), bits_per_second: Some(25_000_000), ..Limits::NONE }),
    ],
    ..STANDARD
};

impl Policy {
    /// The policy of a name.
    ///
    /// All of them hold the rules that have no number: robots.txt before any other request
    /// to an origin, at every hop of a redirect, so that one into a part that is forbidden
    /// is not followed; one request at a time to a host.
    #[must_use]
    pub fn of(name: PolicyName) -> Self {
        match name {
            PolicyName::Standard => STANDARD,
            PolicyName::CourteousFeeds => COURTEOUS_FEEDS,
            PolicyName::Bounded => BOUNDED,
            PolicyName::Wikimedia => WIKIMEDIA,
        }
    }

    /// Limits of a kind of requests; none of its own where the policy does not name it.
    #[must_use]
    pub fn limits(&self, kind: &str) -> Limits {
        let found = self.kinds.iter().find(|(name, _)| *name == kind);
        found.map_or(Limits::NONE, |(_, limits)| *limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_never_laxer_than_the_standard_one_but_for_crawl_delay() {
        let standard = Policy::of(PolicyName::Standard);
        for name in [PolicyName::CourteousFeeds, PolicyName::Bounded, PolicyName::Wikimedia] {
            let policy = Policy::of(name);
            assert_eq!(policy.name, name);
            assert!(policy.robots_max_age <= standard.robots_max_age);
            assert!(policy.retries <= standard.retries);
            assert!(policy.least_pace >= standard.least_pace);
            assert!(policy.failures_before_parking <= standard.failures_before_parking);
        }
    }

    #[test]
    fn numbers_of_the_named_policies() {
        let feeds = Policy::of(PolicyName::CourteousFeeds);
        assert_eq!(feeds.overall.at_once, Some(1));
        assert_eq!(feeds.overall.min_gap, Duration::from_millis(1500));
        assert_eq!(feeds.robots_max_age, Duration::from_mins(15));
        assert_eq!(feeds.crawl_delay_ceiling, Some(Duration::from_secs(10)));
        let bounded = Policy::of(PolicyName::Bounded);
        assert_eq!((bounded.robots_retry, bounded.overall), (None, Limits::NONE));
        let wikimedia = Policy::of(PolicyName::Wikimedia);
        assert_eq!(wikimedia.limits("rest").at_once, Some(4));
        assert_eq!(wikimedia.limits("action").per_second, Some(4));
        assert_eq!(wikimedia.limits("media").bits_per_second, Some(25_000_000));
        assert_eq!(wikimedia.limits("page"), Limits::NONE);
    }
}
