//! What a run needs to know of a site, worked out once.

use std::collections::HashSet;

use crate::archive::PageEntry;
use crate::discover::revisit::Rules;
use crate::discover::{Scope, Verdict};
use crate::extract::html::Selectors;
use crate::extract::{self, Noise};
use crate::fetch::http::Accept;
use crate::model::{CaseRule, MarkdownChoice, PageUrl, Site, Source, TreePath, fingerprint};

/// Most bytes of a page: HTML beyond is not converted.
pub(super) const PAGE_LIMIT: u64 = 16 << 20;

/// Most bytes of a sitemap, unpacked.
pub(super) const SITEMAP_LIMIT: u64 = 50 << 20;

/// A site and its rules, compiled.
pub(super) struct Plan<'a> {
    pub source: &'a Source,
    pub site: &'a Site,
    pub scope: Scope,
    pub selectors: Selectors,
    pub noise: Noise,
    /// What is named in `start`.
    pub starts: Vec<PageUrl>,
    /// Fingerprint of what decides the conversion of a page, and which of its links are
    /// remembered.
    pub rules: i64,
    /// URLs that were taken down; `*` is the whole source.
    pub denied: HashSet<String>,
    pub case: CaseRule,
}

impl<'a> Plan<'a> {
    /// Compiles the rules of a site. Resolved configurations hold nothing broken but
    /// selectors; the error says which.
    pub fn new(
        (source, site): (&'a Source, &'a Site),
        denied: HashSet<String>,
        case: CaseRule,
    ) -> Result<Self, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let mut starts = Vec::new();
        for start in &site.start {
            let url = PageUrl::parse(start).map_err(|why| format!("start {start}: {why}"))?;
            starts.push(url);
        }
        Ok(Self {
            source,
            site,
            scope: Scope::new(site).map_err(|error| told(&error))?,
            selectors: Selectors::new(&site.main, &site.drop).map_err(|error| told(&error))?,
            noise: Noise::new(&source.volatile).map_err(|error| told(&error))?,
            starts,
            rules: rules(source, site),
            denied,
            case,
        })
    }

    /// What decides when its URLs are asked for again.
    pub fn revisit(&self) -> Rules {
        let Site { recheck, depth, .. } = self.site;
        Rules { recheck: *recheck, depth: *depth, conversion: self.rules }
    }

    /// Whether a URL is a page of the site.
    pub fn covers(&self, url: &PageUrl) -> bool {
        self.scope.verdict(url) == Verdict::In
    }

    /// Whether a URL may be asked for in the search for pages: on a host of the site, or on
    /// that of a start.
    pub fn may_lead(&self, url: &PageUrl) -> bool {
        self.scope.has_host(url) || self.starts.iter().any(|start| start.origin() == url.origin())
    }

    /// The place of a page.
    pub fn entry(&self, url: &PageUrl) -> PageEntry {
        PageEntry { source: self.source.id.clone(), path: TreePath::of_url(url, self.case) }
    }

    /// Whether a URL was taken down.
    pub fn is_denied(&self, url: &str) -> bool {
        self.denied.contains(url) || self.denied.contains("*")
    }

    /// The forms in which a page is asked for, one after the other until one is answered.
    pub fn forms(&self) -> &'static [Form] {
        match self.site.markdown {
            MarkdownChoice::Auto | MarkdownChoice::Accept => &[Form::Negotiated],
            MarkdownChoice::Suffix(_) | MarkdownChoice::Query(_) => &[Form::Variant, Form::Html],
            MarkdownChoice::Off => &[Form::Html],
        }
    }

    /// The address at which a page has a form; `None` where it has none.
    pub fn address(&self, url: &PageUrl, form: Form) -> Option<PageUrl> {
        if form != Form::Variant {
            return Some(url.clone());
        }
        let (path, query) = (url.path(), url.query());
        let text = match &self.site.markdown {
            MarkdownChoice::Suffix(suffix) if !path.ends_with('/') => {
                let query = query.map(|query| format!("?{query}")).unwrap_or_default();
                format!("{}{path}{suffix}{query}", url.origin())
            }
            MarkdownChoice::Query(more) => match query {
                Some(query) => format!("{}{path}?{query}&{more}", url.origin()),
                None => format!("{}{path}?{more}", url.origin()),
            },
            _ => return None,
        };
        PageUrl::parse(&text).ok()
    }
}

/// How a page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As Markdown or HTML, whatever the site has.
    Negotiated,
    /// As HTML.
    Html,
    /// As Markdown, at an address of its own.
    Variant,
    /// A sitemap.
    Sitemap,
}

impl Form {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Negotiated, "negotiated"),
        (Self::Html, "html"),
        (Self::Variant, "variant"),
        (Self::Sitemap, "sitemap"),
    ];

    /// The name in the state.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, _)| *it == self).map_or("html", |(_, name)| name)
    }

    /// The form of that name.
    pub fn from_name(name: &str) -> Self {
        Self::ALL.iter().find(|(_, own)| *own == name).map_or(Self::Html, |(it, _)| *it)
    }

    pub fn accept(self) -> Accept {
        match self {
            Self::Negotiated | Self::Variant => Accept::Page,
            Self::Html => Accept::Html,
            Self::Sitemap => Accept::Sitemap,
        }
    }
}

/// Whether an address looks like that of a sitemap; its content decides.
pub(super) fn looks_like_sitemap(url: &PageUrl) -> bool {
    let path = url.path().to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    ends(&[".xml", ".xml.gz", ".txt", ".txt.gz", ".rss", ".atom"]) || name.contains("sitemap")
}

/// Fingerprint of what decides the conversion of a page.
pub(super) fn rules(source: &Source, site: &Site) -> i64 {
    let Source { licence, volatile, profile, .. } = source;
    let Site { hosts, main, drop, markdown, .. } = site;
    let version = extract::VERSION;
    fingerprint(&format!(
        "1 {version} {licence} {volatile:?} {profile:?} {hosts:?} {main:?} {drop:?} {markdown:?}"
    ))
}
