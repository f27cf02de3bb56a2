//! Which pages a takedown means, in all of the history.

use std::collections::{BTreeMap, BTreeSet};

use super::PurgeRequest;
use crate::archive::{DeniedEntry, PageEntry, Takedown};
use crate::config::Config;
use crate::discover::{Scope, Verdict};
use crate::model::{
    PageUrl, Source, SourceId, SourceKind, Timestamp, TreePath, Visibility, matches_pattern,
    pattern_start,
};
use crate::run::RunError;
use crate::state::{PageKey, State};

/// What is taken down.
pub(super) struct Selected {
    pub takedown: Takedown,
    /// How many pages of each source are concerned.
    pub pages_of: BTreeMap<SourceId, usize>,
    pub denied: BTreeSet<DeniedEntry>,
}

/// A place at which a page stands or stood, and the URL that it has or had last.
type Found = (PageEntry, String);

/// Finds what is meant. The index of the history must be in step.
pub(super) fn select(
    (config, state): (&Config, &State),
    request: &PurgeRequest,
    now: Timestamp,
) -> Result<Selected, RunError> {
    let mut chosen = Chosen { config, state, now, selected: empty(request) };
    for url in &request.urls {
        chosen.url(url)?;
    }
    for path in &request.paths {
        chosen.path(path)?;
    }
    for id in &request.sources {
        chosen.source(id)?;
    }
    for id in &request.made_private {
        chosen.made_private(id)?;
    }
    Ok(chosen.selected)
}

fn empty(request: &PurgeRequest) -> Selected {
    Selected {
        takedown: Takedown { links: request.links, ..Takedown::default() },
        pages_of: BTreeMap::new(),
        denied: BTreeSet::new(),
    }
}

struct Chosen<'a> {
    config: &'a Config,
    state: &'a State,
    now: Timestamp,
    selected: Selected,
}

impl Chosen<'_> {
    /// A URL, or a pattern of URLs. One that was never read is denied where a source would.
    fn url(&mut self, typed: &str) -> Result<(), RunError> {
        if typed.contains('*') {
            return self.pattern(PageKey::Url, typed);
        }
        let unknown = || RunError::NothingToPurge(typed.to_owned());
        let url = PageUrl::parse(typed).map_err(|_| unknown())?;
        let key = url.as_str();
        let rows = self.state.pages_with_url(key)?;
        let mut found = places(rows.into_iter().map(|row| (row.source, row.path, row.url)));
        let gone = self.state.gone_with_url(key)?;
        found.extend(places(gone.into_iter().map(|it| (it.place.0, it.place.1, it.url))));
        let readers = self.config.sources.iter().filter(|source| reads(source, &url));
        let readers: Vec<SourceId> = readers.map(|source| source.id.clone()).collect();
        if found.is_empty() && readers.is_empty() {
            return Err(unknown());
        }
        for source in &readers {
            self.deny(source, key);
        }
        self.selected.takedown.urls.insert(key.to_owned());
        for page in found {
            self.page(page);
        }
        Ok(())
    }

    fn path(&mut self, typed: &str) -> Result<(), RunError> {
        let full =
            if typed.starts_with("pages/") { typed.to_owned() } else { format!("pages/{typed}") };
        self.pattern(PageKey::Place, &full)
    }

    fn pattern(&mut self, key: PageKey, pattern: &str) -> Result<(), RunError> {
        let found = self.matching(key, pattern)?;
        if found.is_empty() {
            return Err(RunError::NothingToPurge(pattern.to_owned()));
        }
        for page in found {
            self.page(page);
        }
        Ok(())
    }

    /// A whole source, under every name that it has or had.
    fn source(&mut self, id: &str) -> Result<(), RunError> {
        for id in self.names(id)? {
            let found = self.matching(PageKey::Place, &format!("pages/{id}/*"))?;
            let configured = self.config.source(id.as_str()).is_some();
            if found.is_empty() && !configured && self.selected.denied.is_empty() {
                return Err(RunError::UnknownSource(id.to_string()));
            }
            self.deny(&id, "*");
            self.count(&id, &found);
            self.selected.takedown.urls.extend(found.into_iter().map(|(_, url)| url));
            self.selected.takedown.sources.insert(id);
        }
        Ok(())
    }

    /// A source that is private now: its pages leave the public history.
    fn made_private(&mut self, id: &str) -> Result<(), RunError> {
        let source = self.config.source(id);
        let source = source.ok_or_else(|| RunError::UnknownSource(id.to_owned()))?;
        if source.visibility == Visibility::Public {
            return Err(RunError::StillPublic(id.to_owned()));
        }
        for id in self.names(id)? {
            let found = self.matching(PageKey::Place, &format!("pages/{id}/*"))?;
            self.count(&id, &found);
            self.selected.takedown.made_private.insert(id);
        }
        Ok(())
    }

    /// The names that a source has and had.
    fn names(&self, id: &str) -> Result<Vec<SourceId>, RunError> {
        let unknown = |_| RunError::UnknownSource(id.to_owned());
        let mut names = vec![SourceId::new(id).map_err(unknown)?];
        let source = self.config.source(id).into_iter();
        names.extend(source.flat_map(|source| source.was.iter().cloned()));
        Ok(names)
    }

    /// Pages that stand or stood at such a URL or place.
    fn matching(&self, key: PageKey, pattern: &str) -> Result<Vec<Found>, RunError> {
        let (start, wanted) = (pattern_start(pattern), |text: &str| matches_pattern(pattern, text));
        let rows = self.state.pages_from(key, start, &wanted)?;
        let mut found = places(rows.into_iter().map(|row| (row.source, row.path, row.url)));
        let gone = self.state.gone_from(key, start, &wanted)?;
        found.extend(places(gone.into_iter().map(|it| (it.place.0, it.place.1, it.url))));
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn page(&mut self, page: Found) {
        self.deny(&page.0.source, &page.1);
        self.selected.takedown.urls.insert(page.1.clone());
        if !self.selected.takedown.pages.contains(&page.0) {
            self.count(&page.0.source, std::slice::from_ref(&page));
            self.selected.takedown.pages.insert(page.0);
        }
    }

    fn count(&mut self, source: &SourceId, pages: &[Found]) {
        let places: BTreeSet<&PageEntry> = pages.iter().map(|(entry, _)| entry).collect();
        if !places.is_empty() {
            *self.selected.pages_of.entry(source.clone()).or_default() += places.len();
        }
    }

    /// Denies a URL under the name of a source, and under the one that it has now.
    fn deny(&mut self, source: &SourceId, url: &str) {
        let now = self.config.sources.iter().filter(|it| it.was.contains(source)).map(|it| &it.id);
        for source in std::iter::once(source).chain(now) {
            self.selected.denied.insert(DeniedEntry {
                source: source.to_string(),
                url: url.to_owned(),
                since: self.now.date(),
            });
        }
    }
}

fn places(rows: impl Iterator<Item = (SourceId, String, String)>) -> Vec<Found> {
    let place = |(source, path, url): (SourceId, String, String)| {
        Some((PageEntry { source, path: TreePath::parse(&path).ok()? }, url))
    };
    rows.filter_map(place).collect()
}

/// Whether a source would read a URL.
fn reads(source: &Source, url: &PageUrl) -> bool {
    match &source.kind {
        SourceKind::Site(site) => {
            Scope::new(site).is_ok_and(|scope| scope.verdict(url) == Verdict::In)
        }
        SourceKind::Git(git) => {
            let mut repositories = git.repositories.iter();
            repositories.any(|it| it.file_at(&git.mapping, url.as_str()).is_some())
        }
        SourceKind::Feed(_) => false,
    }
}
