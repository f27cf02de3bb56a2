//! Policies: named sets of rules of conduct.

use std::fmt;
use std::time::Duration;

use regex::Regex;

use super::RequestKind;

/// Name of a policy: `[a-z0-9-]`, 1 to 64 bytes, as the id of a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyName(String);

impl PolicyName {
    /// Name of the policy of sources that name none.
    pub const STANDARD: &'static str = "standard";

    /// Checks and takes a name; `None` where it is none.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        super::SourceId::new(name).ok().map(|_| Self(name.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A regular expression that is searched in whole canonical URLs.
#[derive(Clone, Debug)]
pub struct UrlPattern(Regex);

impl UrlPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// It is no regular expression.
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        Regex::new(text).map(Self)
    }

    /// Whether a URL has it.
    #[must_use]
    pub fn is_in(&self, url: &str) -> bool {
        self.0.is_match(url)
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for UrlPattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for UrlPattern {}

/// A set of rules of conduct. What no policy can change is not in it: robots.txt before any
/// other request to an origin, at every hop of a redirect, and one request at a time to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: PolicyName,
    /// What it is, in a sentence.
    pub about: String,
    /// Oldest robots.txt that is still obeyed without being asked for again; it is also asked
    /// for at the start of each run.
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
    /// Most pages of one run of a source that does not say itself.
    pub max_pages: Option<u64>,
    /// What the owners offer in place of many requests.
    pub bulk: Option<Bulk>,
    /// Kinds of requests: one belongs to the first that fits, or to none.
    pub kinds: Vec<PolicyKind>,
    /// Limits beside those of each host.
    pub limits: Vec<Limit>,
}

/// What is offered in place of many requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// Pages of a source above which it is pointed to.
    pub above: u64,
    /// What it is and where.
    pub advice: String,
}

/// A kind of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyKind {
    /// Its name in messages, and in the limits that hold for it.
    pub name: String,
    /// What its requests are made for; empty is anything.
    pub purposes: Vec<RequestKind>,
    /// Patterns of its URLs, of which one is enough; empty is any URL.
    pub urls: Vec<UrlPattern>,
    /// Why such requests are not made, where they are not.
    pub refused: Option<String>,
    /// Whether the answer may be compressed (`Accept-Encoding: gzip`).
    pub gzip: bool,
    /// Whether the owners' policy recommends such requests although their robots.txt may
    /// forbid them: a source may then ask for an exception.
    pub robots_exception: bool,
}

impl PolicyKind {
    /// Whether a request is of this kind. robots.txt is never refused: without it nothing
    /// else may be asked for.
    #[must_use]
    pub fn fits(&self, purpose: RequestKind, url: &str) -> bool {
        (self.purposes.is_empty() || self.purposes.contains(&purpose))
            && (self.urls.is_empty() || self.urls.iter().any(|pattern| pattern.is_in(url)))
            && (self.refused.is_none() || purpose != RequestKind::Robots)
    }
}

/// Whose requests a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitScope {
    /// Those of all sources with the policy, on whatever host.
    All,
    /// Those to each host.
    Host,
    /// Those of each source.
    Source,
}

/// Limits that requests share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name within the policy.
    pub name: String,
    /// Names of the kinds that it holds for; empty is every request.
    pub kinds: Vec<String>,
    /// Whose requests are counted.
    pub scope: LimitScope,
    /// Most requests at once.
    pub at_once: Option<u32>,
    /// Least time from the end of a request to the start of the next.
    pub gap: Duration,
    /// Most requests begun within any second.
    pub per_second: Option<u32>,
    /// Most bits received in a second, all of its requests together.
    pub bits_per_second: Option<u64>,
    /// Most things asked for within any window: retries and redirects of one are not counted
    /// again.
    pub quota: Option<Quota>,
    /// Pause after an answer of 5xx.
    pub after_error: Duration,
    /// Pause after a request that took longer than a time.
    pub slow: Option<Slow>,
}

/// A number of things within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Most of them.
    pub most: u32,
    /// The length of the window.
    pub window: Duration,
}

/// A pause after a slow answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// A request that took longer than this was slow.
    pub longest: Duration,
    /// How long nothing is asked for then.
    pub pause: Duration,
}

impl Policy {
    /// The kind of a request; `None` where none fits.
    #[must_use]
    pub fn kind(&self, purpose: RequestKind, url: &str) -> Option<&PolicyKind> {
        self.kinds.iter().find(|kind| kind.fits(purpose, url))
    }

    /// The limits that hold for requests of a kind.
    pub fn limits_of(&self, kind: Option<&PolicyKind>) -> impl Iterator<Item = &Limit> {
        let holds = move |limit: &&Limit| {
            limit.kinds.is_empty() || kind.is_some_and(|kind| limit.kinds.contains(&kind.name))
        };
        self.limits.iter().filter(holds)
    }

    /// Whether a source may ask for an exception from robots.txt.
    #[must_use]
    pub fn has_robots_exception(&self) -> bool {
        self.kinds.iter().any(|kind| kind.robots_exception)
    }
}
