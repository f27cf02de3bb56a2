//! robots.txt: what a site allows a crawler (RFC 9309).
//!
//! A file is parsed once, for one product token. Everything works on bytes; neither the
//! size of a file nor the shape of its patterns can make it slow, and no input makes it
//! panic. Where the RFC is silent, the reading that forbids more is taken.

mod access;
mod delay;
mod lines;
mod pattern;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod hostile;

use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::time::Duration;

pub use access::{Access, Answer, Standing};
pub use lines::looks_like_html;
use lines::{Key, Record};
use pattern::{Pattern, normal_path};

/// Most bytes of a line that are kept to be shown.
const SHOWN: usize = 200;

/// The rules of one origin for one product token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Robots {
    /// In the order in which they decide: more octets first, Allow before Disallow.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
    forbidden: Option<String>,
    html: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    allow: bool,
    line: usize,
    text: Box<str>,
}

/// Whether a path may be read, and on what ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// Whether it may be read.
    pub allowed: bool,
    /// What decided.
    pub ground: Ground<'a>,
}

/// What a verdict rests on. Shown, it completes the sentence "allowed (or forbidden) by …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground<'a> {
    /// No rule matches.
    NoRule,
    /// It is robots.txt itself, which is always allowed (RFC 9309, section 2.2.2).
    RobotsTxt,
    /// A rule of the file: its line number, from 1, and the line.
    Rule(usize, &'a str),
    /// The file could not be read, for this reason; until then everything is forbidden.
    Unreachable(&'a str),
}

impl Verdict<'_> {
    /// Line number, from 1, and text of the rule that decided, if one did.
    #[must_use]
    pub fn rule(&self) -> Option<(usize, &str)> {
        match self.ground {
            Ground::Rule(line, text) => Some((line, text)),
            _ => None,
        }
    }
}

impl fmt::Display for Ground<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRule => f.write_str("no rule of robots.txt"),
            Self::RobotsTxt => f.write_str("being robots.txt"),
            Self::Rule(line, text) => write!(f, "line {line} of robots.txt: {text}"),
            Self::Unreachable(why) => write!(f, "robots.txt that could not be read: {why}"),
        }
    }
}

impl Robots {
    /// Reads a file for a product token (RFC 9309, section 2.2.1).
    ///
    /// All groups that name the token, in whatever case, count as one; the groups for `*`
    /// count where none does. At most 500 KiB are read.
    #[must_use]
    pub fn parse(bytes: &[u8], product_token: &str) -> Self {
        let text = lines::decode(bytes);
        let mut reader = Reader::new(product_token.as_bytes());
        lines::records(&text).for_each(|record| reader.take(&record));
        Self { html: looks_like_html(bytes), ..reader.finish() }
    }

    /// No rules: everything may be read.
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Nothing may be read but robots.txt itself, for a reason that is shown.
    #[must_use]
    pub fn forbid_all(reason: impl Into<String>) -> Self {
        Self { forbidden: Some(reason.into()), ..Self::default() }
    }

    /// Whether a path with its query may be read; a fragment plays no part.
    ///
    /// ```
    /// use pagelog::politeness::Robots;
    ///
    /// let robots = Robots::parse(b"User-agent: *\nDisallow: /drafts/\n", "ExampleBot");
    /// let verdict = robots.allows("/drafts/a?v=1");
    /// assert!(!verdict.allowed);
    /// assert_eq!(verdict.rule(), Some((2, "Disallow: /drafts/")));
    /// assert!(robots.allows("/guide").allowed);
    /// ```
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> Verdict<'_> {
        let path = path_and_query.split('#').next().unwrap_or_default();
        let path = normal_path(path.as_bytes());
        if path == b"/robots.txt" {
            return Verdict { allowed: true, ground: Ground::RobotsTxt };
        }
        if let Some(why) = &self.forbidden {
            return Verdict { allowed: false, ground: Ground::Unreachable(why) };
        }
        match self.rules.iter().find(|rule| rule.pattern.matches(&path)) {
            Some(rule) => {
                Verdict { allowed: rule.allow, ground: Ground::Rule(rule.line, &rule.text) }
            }
            None => Verdict { allowed: true, ground: Ground::NoRule },
        }
    }

    /// Disallow rules, as line number and line, that may forbid paths that begin with `prefix`,
    /// in the order of the file.
    ///
    /// ```
    /// use pagelog::politeness::Robots;
    ///
    /// let robots = Robots::parse(b"User-agent: *\nDisallow: /en/old/\nDisallow: /fr/\n", "Bot");
    /// assert_eq!(robots.forbidding_below("/en/"), [(2, "Disallow: /en/old/")]);
    /// ```
    #[must_use]
    pub fn forbidding_below(&self, prefix: &str) -> Vec<(usize, &str)> {
        let prefix = normal_path(prefix.as_bytes());
        let rules = self.rules.iter().filter(|rule| !rule.allow);
        let mut found: Vec<(usize, &str)> = rules
            .filter(|rule| rule.pattern.may_match_below(&prefix))
            .map(|rule| (rule.line, &*rule.text))
            .collect();
        found.sort_unstable();
        found
    }

    /// The Crawl-delay that the file asks for, the largest where there are several; not
    /// part of RFC 9309, and not limited here.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Values of the Sitemap records in their order, each once, whatever group they are in
    /// (RFC 9309, section 2.2.4); not checked to be URLs.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Whether the file is a web page rather than rules; worth a word in the report.
    #[must_use]
    pub fn looks_like_html(&self) -> bool {
        self.html
    }

    /// Why everything is forbidden, where the file could not be read.
    #[must_use]
    pub fn unreachable(&self) -> Option<&str> {
        self.forbidden.as_deref()
    }
}

/// The agents that the records at hand are for.
#[derive(Clone, Copy, Default)]
struct Agents {
    own: bool,
    any: bool,
    /// Whether the next User-agent record begins a new list.
    closed: bool,
}

impl Agents {
    fn add(&mut self, agent: Agent) {
        if self.closed {
            *self = Self::default();
        }
        self.own |= agent == Agent::Own;
        self.any |= agent == Agent::Any;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agent {
    Own,
    Any,
    Other,
}

/// What was found for our token and for `*`.
#[derive(Default)]
struct Found {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

/// Reads records one after the other.
struct Reader<'t> {
    token: &'t [u8],
    named: bool,
    /// Whom Allow and Disallow are for: a list that only these two close.
    rules_for: Agents,
    /// Whom Crawl-delay is for. It closes this list of its own, so that the agents named
    /// behind it do not share it, and stays without effect on the other one.
    delay_for: Agents,
    own: Found,
    any: Found,
    sitemaps: Vec<String>,
}

impl<'t> Reader<'t> {
    fn new(token: &'t [u8]) -> Self {
        Self {
            token,
            named: false,
            rules_for: Agents::default(),
            delay_for: Agents::default(),
            own: Found::default(),
            any: Found::default(),
            sitemaps: Vec::new(),
        }
    }

    fn take(&mut self, record: &Record<'_>) {
        match record.key {
            Key::UserAgent => {
                let agent = self.agent(record.value);
                self.named |= agent == Agent::Own;
                self.rules_for.add(agent);
                self.delay_for.add(agent);
            }
            Key::Allow | Key::Disallow => self.rule(record),
            Key::CrawlDelay => self.delay(record.value),
            Key::Sitemap => self.sitemap(record.value),
        }
    }

    /// The value names us where its product token, which is the letters, `-` and `_` at its
    /// beginning (RFC 9309, section 2.2.1), or the whole value is ours.
    fn agent(&self, value: &[u8]) -> Agent {
        let in_token = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_');
        let end = value.iter().position(|b| !in_token(*b)).unwrap_or(value.len());
        let own = |name: &[u8]| !name.is_empty() && name.eq_ignore_ascii_case(self.token);
        if own(&value[..end]) || own(value) {
            return Agent::Own;
        }
        match value {
            [b'*'] => Agent::Any,
            [b'*', next, ..] if lines::is_space(*next) => Agent::Any,
            _ => Agent::Other,
        }
    }

    fn rule(&mut self, record: &Record<'_>) {
        self.rules_for.closed = true;
        self.delay_for.closed = true;
        if !(self.rules_for.own || self.rules_for.any) {
            return;
        }
        let Some(pattern) = Pattern::parse(record.value) else {
            return;
        };
        let allow = record.key == Key::Allow;
        let rule = Rule { pattern, allow, line: record.number, text: shown(record.line) };
        if self.rules_for.own {
            self.own.rules.push(rule.clone());
        }
        if self.rules_for.any {
            self.any.rules.push(rule);
        }
    }

    fn delay(&mut self, value: &[u8]) {
        self.delay_for.closed = true;
        let delay = delay::parse(value);
        if self.delay_for.own {
            self.own.crawl_delay = self.own.crawl_delay.max(delay);
        }
        if self.delay_for.any {
            self.any.crawl_delay = self.any.crawl_delay.max(delay);
        }
    }

    fn sitemap(&mut self, value: &[u8]) {
        if !value.is_empty() {
            self.sitemaps.push(address(value));
        }
    }

    fn finish(self) -> Robots {
        let Found { mut rules, crawl_delay } = if self.named { self.own } else { self.any };
        rules.sort_by(|a, b| {
            let longer = b.pattern.octets().cmp(&a.pattern.octets());
            let allow_first = b.allow.cmp(&a.allow);
            longer.then(allow_first).then_with(|| a.pattern.cmp(&b.pattern))
        });
        rules.dedup_by(|a, b| a.allow == b.allow && a.pattern == b.pattern);
        rules.shrink_to_fit();
        Robots { rules, crawl_delay, sitemaps: unique(self.sitemaps), ..Robots::default() }
    }
}

/// The beginning of a line, as text.
fn shown(line: &[u8]) -> Box<str> {
    String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into()
}

/// An address whose octets may be in any encoding: those that are no UTF-8 are encoded.
fn address(value: &[u8]) -> String {
    let mut out = String::with_capacity(value.len());
    for chunk in value.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The values without repetitions, in the order in which they first came.
fn unique(values: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    values.into_iter().filter(|value| seen.insert(value.clone())).collect()
}
