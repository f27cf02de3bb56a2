//! Finding the pages that a person means by a URL, a pattern or a path.

use std::collections::{BTreeSet, HashMap};

use super::{Past, ReportError};
use crate::archive::{PageEntry, Snapshot, decode_page};
use crate::config::Config;
use crate::discover::{Scope, Selection, Verdict};
use crate::model::{
    CaseRule, PageUrl, Source, SourceId, SourceKind, TreePath, Visibility, matches_pattern,
    pattern_start,
};
use crate::state::{PageKey, PageRow};

/// Why no page was found, or more than one.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// No page has or had that address.
    #[error(
        "no page of the archive has or had the address {0}; `pagelog explain` tells what is known of it"
    )]
    Unknown(String),
    /// No source has that id.
    #[error("there is no source `{0}` in the configuration, and no page of one in the archive")]
    UnknownSource(String),
    /// It was not there then.
    #[error("{url} was not in the archive at {at}; `pagelog history` lists its versions")]
    NotThen {
        /// The page.
        url: String,
        /// The date or revision, as it was given.
        at: String,
    },
    /// It is not there any more.
    #[error(
        "{0} is no longer in the archive; `pagelog history` lists its versions, --at shows one"
    )]
    Gone(String),
    /// Two sources, or two files of one source, hold it.
    #[error("{what} is held by more than one page; name one by its path: {paths}")]
    Ambiguous {
        /// What was asked for.
        what: String,
        /// The paths of the pages.
        paths: String,
    },
}

/// A page that was meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Its URL.
    pub url: String,
    /// Its place.
    pub entry: PageEntry,
    /// The ref it stands on, or stood on last.
    pub visibility: Visibility,
}

impl Found {
    /// Where the page stands or may have stood: on its ref and on the other one, under the
    /// id of its source and under those that the source has or had besides.
    #[must_use]
    pub fn places(&self, config: &Config) -> Vec<(Visibility, PageEntry)> {
        let source = config.source(self.entry.source.as_str());
        let others = source.into_iter().flat_map(|s| std::iter::once(&s.id).chain(&s.was));
        let own = &self.entry.source;
        let mut places = Vec::new();
        for id in std::iter::once(own).chain(others.filter(|id| *id != own)) {
            let entry = PageEntry { source: id.clone(), path: self.entry.path.clone() };
            places.push((self.visibility, entry.clone()));
            places.push((self.visibility.other(), entry));
        }
        places
    }
}

/// What a person means: pages by their URL or by their path in the tree (`pages/…`), exact
/// or as a pattern in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The pages with this URL.
    Url(String),
    /// The page at this place.
    Place(PageEntry),
    /// Pages whose URL or path matches.
    Pattern(PageKey, String),
}

impl Wanted {
    /// Reads what a person typed.
    #[must_use]
    pub fn parse(what: &str) -> Self {
        if what.contains('*') {
            let key = if what.starts_with("pages/") { PageKey::Place } else { PageKey::Url };
            return Self::Pattern(key, what.to_owned());
        }
        PageEntry::from_page_path(what).map_or_else(
            || {
                Self::Url(
                    PageUrl::parse(what).map_or_else(|_| what.to_owned(), |it| it.to_string()),
                )
            },
            Self::Place,
        )
    }

    /// Whether a page is meant.
    pub(super) fn holds(&self, url: &str, entry: &PageEntry) -> bool {
        match self {
            Self::Url(wanted) => wanted == url,
            Self::Place(wanted) => wanted == entry,
            Self::Pattern(PageKey::Url, pattern) => matches_pattern(pattern, url),
            Self::Pattern(PageKey::Place, pattern) => matches_pattern(pattern, &entry.page_path()),
        }
    }
}

/// Finds pages by URL, by path in the tree, or by a pattern of either. Pages that left the
/// tree are found in its history.
///
/// # Errors
/// There is none, or the archive cannot be read.
pub fn find_pages(
    (past, config): (&Past<'_>, &Config),
    what: &str,
    source: Option<&str>,
) -> Result<Vec<Found>, ReportError> {
    let mut found = BTreeSet::new();
    let wanted = Wanted::parse(what);
    if let Wanted::Place(entry) = &wanted {
        found.extend(at_path(past, entry)?);
    }
    if let Some(state) = past.state {
        let rows = match &wanted {
            Wanted::Pattern(key, pattern) => {
                let wanted = |text: &str| matches_pattern(pattern, text);
                state.pages_from(*key, pattern_start(pattern), &wanted)?
            }
            Wanted::Url(url) => state.pages_with_url(url)?,
            Wanted::Place(_) => Vec::new(),
        };
        found.extend(rows.into_iter().filter_map(stands));
    } else {
        found.extend(in_tips(past, &wanted)?);
    }
    let of_source = |page: &Found| source.is_none_or(|id| page.entry.source.as_str() == id);
    found.retain(&of_source);
    // Of a pattern, pages that are gone belong to the answer beside those that are not.
    if found.is_empty() || matches!(wanted, Wanted::Pattern(..)) {
        let gone = past.gone(&wanted)?;
        found.extend(gone.into_iter().filter(of_source));
        forget_former(&mut found, config);
    }
    if found.is_empty() {
        let unknown = source.filter(|id| config.source(id).is_none());
        return Err(match unknown {
            Some(id) => LookupError::UnknownSource(id.to_owned()),
            None => LookupError::Unknown(what.to_owned()),
        }
        .into());
    }
    Ok(found.into_iter().collect())
}

/// Leaves out pages under former ids of a source, where they are found under a later one:
/// their past is part of what is told of these.
fn forget_former(found: &mut BTreeSet<Found>, config: &Config) {
    let now = |page: &Found| {
        let id = &page.entry.source;
        config.source(id.as_str()).map_or(id, |source| &source.id).clone()
    };
    let mut told: HashMap<(SourceId, TreePath), PageEntry> = HashMap::new();
    for page in found.iter() {
        let (now, entry) = (now(page), &page.entry);
        let is_current = now == entry.source;
        let told = told.entry((now, entry.path.clone())).or_insert_with(|| entry.clone());
        if is_current {
            told.clone_from(entry);
        }
    }
    found.retain(|page| told.get(&(now(page), page.entry.path.clone())) == Some(&page.entry));
}

/// A page that the state knows.
fn stands(row: PageRow) -> Option<Found> {
    let entry = PageEntry { source: row.source, path: TreePath::parse(&row.path).ok()? };
    let private = row.sketch.is_some();
    let visibility = if private { Visibility::Private } else { Visibility::Public };
    Some(Found { url: row.url, entry, visibility })
}

/// The page at a path of either tip.
fn at_path(past: &Past<'_>, entry: &PageEntry) -> Result<Option<Found>, ReportError> {
    for visibility in Visibility::BOTH {
        let tip = Snapshot::open(past.archive, past.heads().of(visibility))?;
        if let Some(page) = tip.page(entry)? {
            return Ok(Some(Found { url: page.url.to_string(), entry: entry.clone(), visibility }));
        }
    }
    Ok(None)
}

/// Pages that are meant in both tips, where no state knows them.
fn in_tips(past: &Past<'_>, wanted: &Wanted) -> Result<Vec<Found>, ReportError> {
    let mut found = Vec::new();
    for visibility in Visibility::BOTH {
        let tip = Snapshot::open(past.archive, past.heads().of(visibility))?;
        for (path, id) in tip.files("pages")? {
            let Some(entry) = PageEntry::from_page_path(&path) else { continue };
            let Ok(page) = decode_page(&tip.read(id)?) else { continue };
            let url = page.url.to_string();
            if wanted.holds(&url, &entry) {
                found.push(Found { url, entry, visibility });
            }
        }
    }
    Ok(found)
}

/// The paths that a URL has in the sources whose scope it is in.
#[must_use]
pub fn paths_of(config: &Config, url: &PageUrl, case: CaseRule) -> Vec<(SourceId, TreePath)> {
    let mut paths = Vec::new();
    for source in &config.sources {
        if !covers(source, url) {
            continue;
        }
        let SourceKind::Git(git) = &source.kind else {
            paths.push((source.id.clone(), TreePath::of_url(url, case)));
            continue;
        };
        for repository in &git.repositories {
            let file = repository.file_at(&git.mapping, url.as_str());
            paths.extend(
                file.map(|file| (source.id.clone(), TreePath::of_file(repository, &file, case))),
            );
        }
    }
    paths
}

/// Whether a URL is in the scope of a source, as far as its address tells.
pub(super) fn covers(source: &Source, url: &PageUrl) -> bool {
    match &source.kind {
        SourceKind::Site(site) => {
            Scope::new(site).is_ok_and(|scope| scope.verdict(url) == Verdict::In)
        }
        SourceKind::Git(git) => git
            .repositories
            .iter()
            .any(|repository| repository.file_at(&git.mapping, url.as_str()).is_some()),
        SourceKind::Feed(feed) => feed.feeds.iter().any(|own| own == url.as_str()),
    }
}

/// Why a source leaves out a URL that is one of its addresses: `paths` or `skip`.
pub(super) fn left_out(source: &Source, url: &PageUrl) -> Option<String> {
    let skipped = |verdict: Verdict<'_>| match verdict {
        Verdict::Skipped(rule) => Some(format!("`skip` has {rule}")),
        Verdict::OutOfPath => Some("it is below none of `paths`".to_owned()),
        Verdict::Media(end) => Some(format!("files ending in .{end} are no pages")),
        Verdict::In | Verdict::OutOfHost => None,
    };
    match &source.kind {
        SourceKind::Site(site) => {
            let scope = Scope::new(site).ok()?;
            let verdict = scope.verdict(url);
            skipped(verdict).filter(|_| verdict != Verdict::OutOfPath)
        }
        SourceKind::Git(git) => {
            let selection = Selection::new(git).ok()?;
            let repositories = git.repositories.iter();
            let files = repositories.filter_map(|r| r.file_at(&git.mapping, url.as_str()));
            let mut reasons = files.map(|file| skipped(selection.verdict(&file)));
            // What one repository reads is not left out.
            let first = reasons.next()??;
            reasons.all(|reason| reason.is_some()).then_some(first)
        }
        SourceKind::Feed(_) => None,
    }
}
