//! The judge: whether the requests of one run were polite, told as a list of findings.
//!
//! Times are those that a host sees. What it sees of a client that keeps its pace is never
//! less than that pace: the end of an answer is noted before its last byte leaves, and a
//! request begins here after it began there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::hosts::Exchange;

/// How far clocks of two threads may be apart.
const TOLERANCE: Duration = Duration::from_millis(1);

/// Where back-off begins at the least.
const BACKOFF: Duration = Duration::from_secs(1);

/// Most retries of one URL.
const RETRIES: usize = 2;

/// What must go with every request, in words of the test's own bot.
const SENT: [(&str, &str); 3] = [
    ("user-agent", "TestBot/1.0 (+https://example.org/bot; bot@example.org)"),
    ("from", "bot@example.org"),
    ("accept-encoding", "gzip"),
];

/// What must not go with any.
const NEVER: [&str; 6] =
    ["cookie", "referer", "accept-language", "authorization", "range", "origin"];

/// What the requests of one run are held against.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    pace: Duration,
    scope: Vec<String>,
    again: BTreeSet<String>,
    lenient: BTreeSet<String>,
}

impl Judge {
    /// One for hosts with that pace, a Crawl-delay included.
    pub fn new(pace: Duration) -> Self {
        Self { pace, ..Self::default() }
    }

    /// Requests may go to URLs that begin so, and to robots.txt of their origins only. Where
    /// nothing is said they may go anywhere.
    pub fn within<S: AsRef<str>>(mut self, prefixes: &[S]) -> Self {
        self.scope.extend(prefixes.iter().map(|prefix| prefix.as_ref().to_owned()));
        self
    }

    /// This URL may be asked for more than once.
    pub fn again(mut self, url: &str) -> Self {
        self.again.insert(url.to_owned());
        self
    }

    /// This host is not held against back-off.
    pub fn without_backoff(mut self, host: &str) -> Self {
        self.lenient.insert(host.to_owned());
        self
    }

    /// Everything that is wrong with the requests of one process, in their order.
    pub fn findings(&self, exchanges: &[Exchange]) -> Vec<String> {
        let mut findings = Vec::new();
        let mut hosts: BTreeMap<&str, Vec<&Exchange>> = BTreeMap::new();
        for exchange in exchanges {
            findings.extend(headers(exchange));
            findings.extend(self.place(exchange));
            hosts.entry(exchange.host()).or_default().push(exchange);
        }
        for (host, mut exchanges) in hosts {
            exchanges.sort_by_key(|exchange| exchange.at);
            findings.extend(self.gaps(host, &exchanges));
            findings.extend(robots_first(&exchanges));
            findings.extend(self.repeats(&exchanges));
        }
        findings
    }

    /// Fails with the list of findings.
    #[track_caller]
    pub fn assert(&self, exchanges: &[Exchange], what: &str) {
        let findings = self.findings(exchanges);
        let urls: Vec<String> = exchanges.iter().map(Exchange::url).collect();
        assert!(
            findings.is_empty(),
            "{what}: {} findings\n- {}\nrequests:\n  {}",
            findings.len(),
            findings.join("\n- "),
            urls.join("\n  ")
        );
    }

    fn place(&self, exchange: &Exchange) -> Option<String> {
        let url = exchange.url();
        let of_scope = |prefix: &String| {
            url.starts_with(prefix.as_str())
                || (exchange.is_robots() && prefix.starts_with(&format!("{}/", exchange.origin())))
        };
        let outside = !self.scope.is_empty() && !self.scope.iter().any(of_scope);
        outside.then(|| format!("{url}: out of scope"))
    }

    /// Pace, back-off, and one at a time.
    fn gaps(&self, host: &str, exchanges: &[&Exchange]) -> Vec<String> {
        let mut findings = Vec::new();
        for pair in exchanges.windows(2) {
            let (one, two) = (pair[0], pair[1]);
            // Nobody knows when a client that went away ended its request.
            let Some(end) = one.end else { continue };
            let what = format!("{host}: {} after {}", two.target, one.target);
            let Some(gap) = two.began().checked_duration_since(end) else {
                findings.push(format!("{what}: two requests at once"));
                continue;
            };
            let mut least = self.pace;
            if !self.lenient.contains(host) && must_back_off(one) {
                least = least.max(BACKOFF);
            }
            let asked = one.retry_after.as_deref().and_then(|text| text.parse().ok());
            if let Some(seconds) = asked {
                least = least.max(Duration::from_secs(seconds));
            }
            if gap + TOLERANCE < least {
                findings.push(format!("{what}: {gap:?} apart, {least:?} at the least"));
            }
        }
        findings
    }

    /// Each URL once, but for retries.
    fn repeats(&self, exchanges: &[&Exchange]) -> Vec<String> {
        let mut findings = Vec::new();
        let mut seen: BTreeMap<String, Vec<&Exchange>> = BTreeMap::new();
        for exchange in exchanges {
            let before = seen.entry(exchange.url()).or_default();
            let excepted = self.again.contains(&exchange.url());
            if before.last().is_some_and(|last| !may_be_retried(last)) && !excepted {
                findings.push(format!("{}: asked for again", exchange.url()));
            }
            before.push(exchange);
            if before.len() == RETRIES + 2 && !excepted {
                findings.push(format!("{}: more than {RETRIES} retries", exchange.url()));
            }
        }
        findings
    }
}

/// An answer, or none, that slows a host down.
fn must_back_off(exchange: &Exchange) -> bool {
    exchange.status.is_none_or(|status| status == 429 || status >= 500)
}

fn may_be_retried(exchange: &Exchange) -> bool {
    let later = |status: u16| [408, 425, 429].contains(&status) || status >= 500;
    !exchange.whole || exchange.status.is_none_or(later)
}

fn headers(exchange: &Exchange) -> Vec<String> {
    let url = exchange.url();
    let mut findings = Vec::new();
    if exchange.method != "GET" {
        findings.push(format!("{url}: asked with {}", exchange.method));
    }
    for (name, value) in SENT {
        if exchange.header(name) != Some(value) {
            findings.push(format!("{url}: {name} is {:?}", exchange.header(name)));
        }
    }
    if exchange.header("accept").is_none_or(|accept| accept.is_empty() || accept == "*/*") {
        findings.push(format!("{url}: accept is {:?}", exchange.header("accept")));
    }
    let host = exchange.header("host").unwrap_or_default();
    if host.is_empty() || host.ends_with(if exchange.secure { ":443" } else { ":80" }) {
        findings.push(format!("{url}: host is {host:?}"));
    }
    for name in NEVER.iter().filter(|name| exchange.header(name).is_some()) {
        findings.push(format!("{url}: {name} was sent"));
    }
    let mut names: Vec<&str> = exchange.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    for name in names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]) {
        findings.push(format!("{url}: {name} was sent twice"));
    }
    findings
}

/// The first request to each origin is for its robots.txt, and that is answered before
/// the next.
fn robots_first(exchanges: &[&Exchange]) -> Vec<String> {
    let mut origins = BTreeSet::new();
    let mut findings = Vec::new();
    for exchange in exchanges {
        if origins.insert(exchange.origin()) && !exchange.is_robots() {
            findings.push(format!("{}: before robots.txt of its origin", exchange.url()));
        }
    }
    findings
}

/// URLs whose requests were conditional, in order, each once.
pub fn conditional(exchanges: &[Exchange]) -> Vec<String> {
    let with_validators = |exchange: &&Exchange| {
        exchange.header("if-none-match").is_some() || exchange.header("if-modified-since").is_some()
    };
    let urls: BTreeSet<String> =
        exchanges.iter().filter(with_validators).map(Exchange::url).collect();
    urls.into_iter().collect()
}
