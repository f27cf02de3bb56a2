//! A look at each source before it is read: what its hosts allow, what it lists, and whether
//! a page of it stays the same from one reading to the next.
//!
//! Makes at most six requests for a source, redirects and retries left out, through the
//! door: they obey robots.txt and the pace like those of a run, and are counted as made
//! outside of runs. Writes nothing to the archive and makes none.

use std::collections::HashSet;
use std::time::Duration;

use super::door::Door;
use super::{Context, RunError, site};
use crate::archive::{Archive, ArchiveError};
use crate::model::{SourceId, SourceKind};

/// Most requests for a source.
pub(super) const MOST_REQUESTS: u32 = 6;

/// What was found of a source.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The source.
    pub source: SourceId,
    /// What was found.
    pub finding: Finding,
}

/// What was found of a source.
#[derive(Clone, Debug)]
pub enum Finding {
    /// A site was asked.
    Site(Box<SiteProbe>),
    /// Nobody was asked, and why.
    NotAsked(&'static str),
}

/// What was found of a site.
#[derive(Clone, Debug, Default)]
pub struct SiteProbe {
    /// Why something of it could not be read; empty where everything was.
    pub trouble: Vec<String>,
    /// robots.txt of the origins that were asked.
    pub robots: Vec<RobotsProbe>,
    /// Origins of `start` that were not asked, since that would be too many requests.
    pub origins_left: Vec<String>,
    /// Pace that the configuration asks for.
    pub pace: Duration,
    /// Least time from the end of a request to the start of the next, as it is in force.
    pub wait: Duration,
    /// What its sitemap lists, where it has one.
    pub listing: Option<ListingProbe>,
    /// A page of it.
    pub page: Option<PageProbe>,
}

/// robots.txt of an origin.
#[derive(Clone, Debug)]
pub struct RobotsProbe {
    /// The origin.
    pub origin: String,
    /// `read`, `absent` or `unreachable`.
    pub standing: &'static str,
    /// Why it could not be read.
    pub reason: Option<String>,
    /// Whether it is a web page rather than rules.
    pub looks_like_html: bool,
    /// The Crawl-delay that it asks for.
    pub crawl_delay: Option<Duration>,
    /// Rules that forbid parts of `paths`: line number and line.
    pub forbidding: Vec<(usize, String)>,
}

/// What a sitemap lists.
#[derive(Clone, Debug)]
pub struct ListingProbe {
    /// Its address.
    pub sitemap: String,
    /// The index that lists it, and how many sitemaps that lists.
    pub index: Option<(String, u64)>,
    /// Addresses that it lists.
    pub listed: u64,
    /// Those of them that a run would read.
    pub wanted: u64,
    /// Those outside of `hosts` and `paths`.
    pub out_of_scope: u64,
    /// Those that `skip` has, and files that are no pages.
    pub skipped: u64,
    /// Those that robots.txt forbids.
    pub disallowed: u64,
    /// Those on origins whose robots.txt was not read.
    pub undecided: u64,
    /// Those with a lastmod.
    pub stated: u64,
    /// Whether the lastmods say nothing: they are those of the sitemap's making.
    pub generated: bool,
    /// Whether something of it could not be read.
    pub partial: bool,
    /// Pages of all sitemaps; an estimate where there is an index of several.
    pub pages: u64,
    /// How long it takes to read all of them at the pace in force.
    pub full_pass: Duration,
}

/// A page that was read twice.
#[derive(Clone, Debug)]
pub struct PageProbe {
    /// Its address.
    pub url: String,
    /// Its media type as it was sent.
    pub content_type: Option<String>,
    /// The form in which it would be kept.
    pub representation: &'static str,
    /// Its title.
    pub title: String,
    /// Words of its main content.
    pub words: u64,
    /// Links of its main content.
    pub links: u64,
    /// Why the choice of its main content was a guess, if it was one.
    pub guess: Option<&'static str>,
    /// Why its text would not be kept.
    pub refused: Option<String>,
    /// Whether it asks not to be kept.
    pub noarchive: bool,
    /// Whether it asks not to follow its links.
    pub nofollow: bool,
    /// Whether it came with an `ETag` or Last-Modified.
    pub validators: Vec<&'static str>,
    /// What the second reading gave.
    pub again: Again,
}

/// What a second reading of a page gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    /// It was not made, or failed, and why.
    Failed(String),
    /// 304: nothing has changed.
    NotModified,
    /// 200 with the same bytes.
    Same,
    /// 200 with other bytes, which hold the same text.
    OtherBytes,
    /// 200 with another text: the first lines that differ, as in the first and in the second
    /// reading.
    OtherText(Vec<(String, String)>),
}

impl Probe {
    /// Whether everything that was to be read was read.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match &self.finding {
            Finding::Site(site) => site.trouble.is_empty(),
            Finding::NotAsked(_) => true,
        }
    }
}

/// Looks at each source.
///
/// # Errors
/// Somebody asked to stop, the archive or its politeness file cannot be used, or no
/// connection can be made at all.
pub fn probe(context: &Context<'_>) -> Result<Vec<Probe>, RunError> {
    let config = context.config;
    let archive = match Archive::open(&config.archive.path) {
        Err(ArchiveError::Missing(_)) => None,
        other => Some(other?),
    };
    let door = Door::outside(context, archive.as_ref())?;
    let (mut probes, mut origins) = (Vec::new(), HashSet::new());
    for source in &config.sources {
        let finding = match &source.kind {
            SourceKind::Site(site) => {
                context.progress.stage(&source.id, "probing");
                let found = site::probe((context, &door), (source, site), &mut origins)?;
                Finding::Site(Box::new(found))
            }
            SourceKind::Git(_) => Finding::NotAsked("a probe does not contact repositories"),
            SourceKind::Feed(_) => Finding::NotAsked("this version does not read feeds"),
        };
        probes.push(Probe { source: source.id.clone(), finding });
    }
    Ok(probes)
}
