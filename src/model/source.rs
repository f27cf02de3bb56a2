//! Sources: what is read, under one licence and one policy.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{PageUrl, Policy, Repository, Timestamp, UrlMapping, host_key, split_port};

/// Permanent name of a source: `[a-z0-9-]`, 1 to 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(String);

/// A text that cannot be the id of a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a source id: use 1 to 64 of a-z, 0-9 and `-`, beginning with a letter or digit"
)]
pub struct InvalidSourceId(String);

impl SourceId {
    /// Checks and takes an id.
    ///
    /// # Errors
    /// Characters other than `a-z`, `0-9` and `-`, a leading `-`, no character, more than 64.
    pub fn new(id: &str) -> Result<Self, InvalidSourceId> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let valid =
            !id.is_empty() && id.len() <= 64 && !id.starts_with('-') && id.bytes().all(allowed);
        if valid { Ok(Self(id.to_owned())) } else { Err(InvalidSourceId(id.to_owned())) }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether text of a source may leave the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Visibility {
    /// Pages stand on the public ref.
    Public,
    /// Pages stand on the private ref; only URLs and links are public.
    Private,
}

impl Visibility {
    /// Both, in the order in which their refs are told of.
    pub const BOTH: [Self; 2] = [Self::Public, Self::Private];

    /// The one that it is not.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Public => Self::Private,
            Self::Private => Self::Public,
        }
    }
}

/// Front-matter keys and text that change without the page changing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volatile {
    /// Keys of upstream front matter that are left out.
    pub keys: Vec<String>,
    /// Regular expressions; what they match in the text of a page is removed.
    pub patterns: Vec<String>,
}

/// What happens to stored pages that robots.txt now forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RobotsRemoved {
    /// They stay as they were and are no longer read.
    #[default]
    Keep,
    /// They leave the tree.
    Drop,
}

/// How a site's own Markdown is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MarkdownChoice {
    /// What the site advertises, else negotiation, else HTML.
    #[default]
    Auto,
    /// Negotiation by the Accept header.
    Accept,
    /// A suffix behind the page's path.
    Suffix(String),
    /// A query behind the page's URL.
    Query(String),
    /// HTML only.
    Off,
}

/// A web site read by links and sitemaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Hosts that may be read, with a port where it is a literal address or not the default.
    pub hosts: Vec<String>,
    /// Prefixes of the URL path that may be read.
    pub paths: Vec<String>,
    /// Regular expressions searched in the whole canonical URL; what matches is not read.
    pub skip: Vec<String>,
    /// Sitemaps and pages to begin with.
    pub start: Vec<String>,
    /// Least time from the end of one request to the start of the next.
    pub pace: Duration,
    /// Link steps from a start.
    pub depth: u32,
    /// Most pages of one run.
    pub max_pages: Option<u64>,
    /// Most document files of one run.
    pub max_files: Option<u64>,
    /// Kinds of documents read besides pages (`pdf`).
    pub documents: Vec<String>,
    /// Whether pages are rendered by a browser first.
    pub render: bool,
    /// Selectors of elements to click before a rendered page is read.
    pub click: Vec<String>,
    /// How Markdown is asked for.
    pub markdown: MarkdownChoice,
    /// CSS selectors of the main content.
    pub main: Vec<String>,
    /// CSS selectors of what is not content.
    pub drop: Vec<String>,
    /// Longest time a page is trusted without being asked for.
    pub recheck: Duration,
    /// What happens to pages that robots.txt now forbids.
    pub robots_removed: RobotsRemoved,
}

/// Git repositories read as sources of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The repositories, at least one.
    pub repositories: Vec<Repository>,
    /// Branch to read; the remote's HEAD where not given.
    pub branch: Option<String>,
    /// Prefixes of paths in the repository; empty means all.
    pub paths: Vec<String>,
    /// Regular expressions searched in the path of a file; what matches is not read.
    pub skip: Vec<String>,
    /// How files become addresses.
    pub mapping: UrlMapping,
    /// Least time from the end of one request to a host to the start of the next.
    pub pace: Duration,
    /// How long upstream commits stay in the local cache; `None` keeps the last only.
    pub keep_upstream: Option<Duration>,
}

/// Feeds read as sources of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// Addresses of the feeds, at least one.
    pub feeds: Vec<String>,
    /// Most entries taken from one reading of a feed.
    pub max_entries: u32,
    /// Texts shorter than this many characters are teasers: the article page is read.
    pub teaser: u32,
    /// Least time from the end of one request to a host to the start of the next.
    pub pace: Duration,
}

/// What is particular to a kind of source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A web site.
    Site(Site),
    /// Git repositories.
    Git(GitSource),
    /// Feeds.
    Feed(Feed),
}

impl SourceKind {
    /// The name in `sources.toml`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Site(_) => "site",
            Self::Git(_) => "git",
            Self::Feed(_) => "feed",
        }
    }
}

/// One entry of `sources.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Permanent name.
    pub id: SourceId,
    /// Names it had before.
    pub was: Vec<SourceId>,
    /// Whose documentation it is; a label for reports.
    pub vendor: Option<String>,
    /// SPDX expression.
    pub licence: String,
    /// Which ref its pages stand on.
    pub visibility: Visibility,
    /// How often it is due; `None` is every run.
    pub every: Option<Duration>,
    /// Rules for the markup of its publishing system.
    pub profile: Option<String>,
    /// What in its pages is noise.
    pub volatile: Volatile,
    /// Rules of conduct.
    pub policy: Arc<Policy>,
    /// Whether requests that the owners' policy recommends are made although their robots.txt
    /// forbids them: those of the kinds of the policy that say so, and no other.
    pub robots_exception: bool,
    /// What is particular to its kind.
    pub kind: SourceKind,
}

impl Source {
    /// Whether it is due by its `every`, having last been read in full at `last`. A last run
    /// in the future tells of a clock that was wrong, and does not put a source off.
    #[must_use]
    pub fn is_due(&self, last: Option<Timestamp>, now: Timestamp) -> bool {
        let (Some(every), Some(last)) = (self.every, last) else { return true };
        !(0..every.as_secs().cast_signed()).contains(&(now.unix() - last.unix()))
    }

    /// The hosts that it names, in the form of [`host_key`]; one may come more than once.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        let of_urls = |urls: &[String]| -> Vec<String> {
            let urls = urls.iter().filter_map(|url| PageUrl::parse(url).ok());
            urls.map(|url| url.host().to_owned()).collect()
        };
        match &self.kind {
            SourceKind::Site(site) => {
                let named = site.hosts.iter().map(|host| host_key(split_port(host).0));
                named.chain(of_urls(&site.start)).collect()
            }
            SourceKind::Git(git) => {
                let endpoints = git.repositories.iter().filter_map(Repository::endpoint);
                endpoints.map(|(host, _)| host_key(host)).collect()
            }
            SourceKind::Feed(feed) => of_urls(&feed.feeds),
        }
    }
}
