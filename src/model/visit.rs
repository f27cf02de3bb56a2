//! What is known of a URL of a site: how it is reached, and how it answered last.

use super::{OutcomeKind, Timestamp, Validators};

/// Number of a URL of a source in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlId(pub i64);

/// What a URL of a site is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlKind {
    /// For its text.
    Page,
    /// For the URLs in it.
    Sitemap,
}

impl UrlKind {
    /// The name in the state.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sitemap => "sitemap",
        }
    }

    /// The kind of that name; a page where there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        if name == "sitemap" { Self::Sitemap } else { Self::Page }
    }
}

/// That a URL exists, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What it is read for.
    pub kind: UrlKind,
    /// Fewest link steps from a start.
    pub depth: u32,
    /// The sitemap that lists it.
    pub sitemap: Option<UrlId>,
    /// The lastmod that the sitemap states.
    pub listed: Option<String>,
}

/// A permanent redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where it leads.
    pub to: String,
    /// Its status: 301 or 308.
    pub status: u16,
    /// The first run that saw it.
    pub since: Timestamp,
}

/// How a URL answered last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// What came of it.
    pub outcome: OutcomeKind,
    /// Whether its text is in the archive; of a sitemap, whether its entries are known.
    pub stored: bool,
    /// When it was asked for last.
    pub looked: Timestamp,
    /// When it last answered with a body.
    pub read: Timestamp,
    /// What its sitemap stated then.
    pub lastmod: Option<String>,
    /// Fingerprint of what decides the conversion.
    pub rules: i64,
    /// The form in which it was asked for.
    pub form: String,
    /// What to ask with the next time.
    pub validators: Validators,
    /// Whether its links were followed.
    pub followed: bool,
    /// Fingerprint of its text.
    pub text: i64,
    /// The first of the looks that found it gone.
    pub gone_since: Option<Timestamp>,
    /// Where it leads permanently.
    pub moved: Option<Move>,
}
