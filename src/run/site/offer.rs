//! URLs on their way into the queue.

use std::collections::HashSet;

use super::crawl::{Crawl, Round};
use super::plan::looks_like_sitemap;
use crate::discover::frontier::{Decision, Priority};
use crate::discover::revisit::{Subject, Turn, decision, turn};
use crate::discover::sitemap::Entry;
use crate::discover::trust::is_sample;
use crate::discover::{LastMod, Verdict};
use crate::model::{Known, Outcome, OutcomeKind, PageUrl, UrlId, UrlKind, Visit, fingerprint};
use crate::run::RunError;
use crate::state::{Draft, Place, SiteUrl, TreeChange};

/// Sitemaps of an index beyond which those that were read before wait for their turn among
/// the pages, and are not all read in each run.
pub(super) const MANY_SITEMAPS: usize = 50;

/// Deepest nesting of indexes.
const DEEPEST_INDEX: u32 = 3;

/// Most sitemaps that a run reads of a site.
const MOST_SITEMAPS: u64 = 10_000;

/// URLs that are looked through between two looks at what comes.
const CHUNK: u32 = 1000;

/// Where a URL comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub site: usize,
    pub depth: u32,
    /// Permanent redirects on the way to it.
    pub hops: u8,
}

/// A sitemap that lists URLs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    pub sitemap: UrlId,
    /// How deep it is nested itself.
    pub depth: u32,
    pub is_index: bool,
    /// Whether it lists so many sitemaps that they take turns.
    pub many: bool,
    /// Whether its lastmods say something.
    pub believed: bool,
}

/// Classes of the queue: the smallest is read first.
pub(super) const FIRST: u8 = 0;
const NEW: u8 = 1;
const CHANGED: u8 = 2;
const REVISIT: u8 = 3;

impl Crawl<'_, '_> {
    /// Offers what is named in `start`.
    pub fn offer_starts(&mut self) -> Result<(), RunError> {
        for site in 0..self.plans.len() {
            let plan = &self.plans[site];
            for url in &plan.starts {
                let kind = if looks_like_sitemap(url) { UrlKind::Sitemap } else { UrlKind::Page };
                let row = self.pass.state.site_url(&plan.source.id, url.as_str())?;
                let before = row.as_ref().and_then(|row| row.known.clone());
                let known =
                    before.map_or(Known { kind, depth: 0, sitemap: None, listed: None }, |known| {
                        Known { depth: 0, ..known }
                    });
                let id = self.pass.state.note_known((&plan.source.id, url.as_str()), &known)?;
                let done = row.as_ref().is_some_and(|row| row.drafted || row.queued);
                self.seen.insert(key(site, url), 0);
                if done || self.deny((site, id), url)? {
                    continue;
                }
                self.sites[site].first += 1;
                self.enqueue((site, id), url, (FIRST, 0, 0))?;
            }
        }
        Ok(())
    }

    /// Looks through what is known of sites whose starts are read: a few URLs at a time.
    pub fn look_around(&mut self) -> Result<(), RunError> {
        for site in 0..self.sites.len() {
            let after = match self.sites[site].round {
                Round::Starts if self.sites[site].first == 0 => {
                    self.recall_pages(site)?;
                    UrlId(0)
                }
                Round::At(after) => after,
                Round::Starts | Round::Over => continue,
            };
            let source = self.plans[site].source.id.clone();
            let rows = self.pass.state.known_urls(&source, after, CHUNK)?;
            self.sites[site].round = rows.last().map_or(Round::Over, |row| Round::At(row.id));
            for row in rows {
                self.reconsider(site, &row)?;
            }
        }
        Ok(())
    }

    /// Makes pages known that the archive has and the state lost.
    fn recall_pages(&mut self, site: usize) -> Result<(), RunError> {
        let plan = &self.plans[site];
        let id = &plan.source.id;
        for url in self.pass.state.unknown_pages(id)? {
            let depth = plan.site.depth.saturating_sub(1);
            let known = Known { kind: UrlKind::Page, depth, sitemap: None, listed: None };
            self.pass.state.note_known((id, &url), &known)?;
        }
        Ok(())
    }

    /// Decides about a URL that is known from earlier runs.
    fn reconsider(&mut self, site: usize, row: &SiteUrl) -> Result<(), RunError> {
        let Some(known) = row.known.clone() else { return Ok(()) };
        let Ok(url) = PageUrl::parse(&row.url) else { return Ok(()) };
        let met = self.seen.contains_key(&key(site, &url));
        if met || row.queued || row.drafted {
            return Ok(());
        }
        if known.kind == UrlKind::Sitemap {
            // Only an index that still lists it, or a start, leads to a sitemap.
            return Ok(());
        }
        self.seen.insert(key(site, &url), small(known.depth));
        let plan = &self.plans[site];
        if !plan.covers(&url) {
            return self.exclude(site, row, &url);
        }
        self.take_in((site, row.id), &url, (row, &known, 0))
    }

    /// Drafts that a page leaves because the configuration excludes it now.
    fn exclude(&mut self, site: usize, row: &SiteUrl, url: &PageUrl) -> Result<(), RunError> {
        let plan = &self.plans[site];
        let entry = plan.entry(url);
        let base = self.pass.writer.base(plan.source.visibility);
        if base.blob_at(&entry.page_path())?.is_none() {
            return Ok(());
        }
        let why = match plan.scope.verdict(url) {
            Verdict::Skipped(rule) => format!("`skip` has {rule}"),
            Verdict::Media(end) => format!("files ending in .{end} are no pages"),
            Verdict::OutOfHost => "its host is not in `hosts`".to_owned(),
            Verdict::OutOfPath => "it is below none of `paths`".to_owned(),
            Verdict::In => String::new(),
        };
        let visit = row.visit.clone().map(|visit| Visit { stored: false, ..visit });
        let draft = Draft {
            change: TreeChange::Removed,
            path: Some(entry.path.to_string()),
            visit,
            ..Draft::only(Outcome::new(OutcomeKind::Skipped, why))
        };
        Ok(self.pass.state.draft(row.id, &draft)?)
    }

    /// Offers a URL that a page links to or a redirect leads to, or, with what it states,
    /// one that a sitemap lists.
    pub fn offer(
        &mut self,
        offer: &Offer,
        url: &PageUrl,
        listed: Option<(&Listing, Option<LastMod>)>,
    ) -> Result<(), RunError> {
        let Offer { site, depth, hops } = *offer;
        let plan = &self.plans[site];
        let key = key(site, url);
        let met = self.seen.get(&key).copied();
        if listed.is_none() && met.is_some_and(|met| u32::from(met) <= depth) {
            return Ok(());
        }
        if !plan.covers(url) {
            return Ok(());
        }
        let row = self.pass.state.site_url(&plan.source.id, url.as_str())?;
        let before = row.as_ref().and_then(|row| row.known.clone());
        let known = known_now(before.as_ref(), (UrlKind::Page, depth), listed);
        let id = match &row {
            Some(row) if before.as_ref() == Some(&known) => row.id,
            _ => self.pass.state.note_known((&plan.source.id, url.as_str()), &known)?,
        };
        let nearest = met.map_or(small(depth), |met| met.min(small(depth)));
        self.seen.insert(key, nearest);
        let row = row.unwrap_or_else(|| SiteUrl::unknown(id, url.as_str()));
        if row.drafted || (row.queued && listed.is_none()) || (met.is_some() && listed.is_none()) {
            return Ok(());
        }
        self.take_in((site, id), url, (&row, &known, hops))
    }

    /// Decides about a URL of the site, and puts it into the queue where it is to be read.
    fn take_in(
        &mut self,
        (site, id): (usize, UrlId),
        url: &PageUrl,
        (row, known, hops): (&SiteUrl, &Known, u8),
    ) -> Result<(), RunError> {
        if self.deny((site, id), url)? {
            return Ok(());
        }
        let subject = Subject { url, known, doubt: self.doubt(known)? };
        let plan = &self.plans[site];
        match turn(&plan.revisit(), &subject, row.visit.as_ref(), self.pass.started) {
            Turn::Wait(priority, _) => {
                let (class, rank) = place(priority);
                self.enqueue((site, id), url, (class, rank, hops))
            }
            Turn::Unchanged(_) if row.queued => Ok(()),
            Turn::Unchanged(_) => {
                self.sites[site].unchanged += 1;
                Ok(())
            }
            Turn::Leave(_) => self.follow_moved((site, known.depth), row.visit.as_ref()),
        }
    }

    /// Offers where a redirect leads that is not asked for again.
    fn follow_moved(
        &mut self,
        (site, depth): (usize, u32),
        visit: Option<&Visit>,
    ) -> Result<(), RunError> {
        let Some(moved) = visit.and_then(|visit| visit.moved.as_ref()) else { return Ok(()) };
        let Ok(to) = PageUrl::parse(&moved.to) else { return Ok(()) };
        // No circle: an address is met once.
        self.offer(&Offer { site, depth, hops: 1 }, &to, None)
    }

    /// Drafts a URL that was taken down.
    fn deny(&mut self, (site, id): (usize, UrlId), url: &PageUrl) -> Result<bool, RunError> {
        if !self.plans[site].is_denied(url.as_str()) {
            return Ok(false);
        }
        let outcome = Outcome::new(OutcomeKind::Denied, "taken down");
        self.pass.state.draft(id, &Draft::only(outcome))?;
        Ok(true)
    }

    fn enqueue(
        &mut self,
        (site, id): (usize, UrlId),
        url: &PageUrl,
        (class, rank, hops): (u8, i64, u8),
    ) -> Result<(), RunError> {
        let source = &self.plans[site].source.id;
        let host = url.host();
        let place = Place { host, source, class, rank, hops };
        if self.pass.state.enqueue(id, &place)? {
            self.lanes.add(host, site, 1);
        }
        Ok(())
    }

    /// Offers what a sitemap lists; `whole` where it is known to list all that it lists now.
    pub fn offer_entries(
        &mut self,
        (site, listing): (usize, &Listing),
        entries: &[Entry],
        read_before: bool,
    ) -> Result<(), RunError> {
        let mut listed = HashSet::new();
        for entry in entries {
            let lastmod = entry.lastmod.filter(|_| listing.believed);
            if read_before {
                listed.insert(key(site, &entry.url));
            }
            if listing.is_index {
                self.offer_sitemap(site, listing, (&entry.url, lastmod))?;
            } else {
                let offer = Offer { site, depth: 0, hops: 0 };
                self.offer(&offer, &entry.url, Some((listing, lastmod)))?;
            }
        }
        if read_before { self.delist(site, listing.sitemap, &listed) } else { Ok(()) }
    }

    /// Notes that a sitemap no longer lists what it listed.
    fn delist(
        &mut self,
        site: usize,
        sitemap: UrlId,
        listed: &HashSet<u64>,
    ) -> Result<(), RunError> {
        let mut after = UrlId(0);
        loop {
            let rows = self.pass.state.listed_urls(sitemap, after, CHUNK)?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.id;
            for row in &rows {
                let Ok(url) = PageUrl::parse(&row.url) else { continue };
                if let Some(known) =
                    row.known.clone().filter(|_| !listed.contains(&key(site, &url)))
                {
                    let known = Known { sitemap: None, listed: None, ..known };
                    self.pass.state.update_known(row.id, &known)?;
                }
            }
        }
    }

    /// Offers what a sitemap that did not change lists.
    pub fn offer_listed(&mut self, site: usize, sitemap: &SiteUrl) -> Result<(), RunError> {
        let mut after = UrlId(0);
        loop {
            let rows = self.pass.state.listed_urls(sitemap.id, after, CHUNK)?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.id;
            let many = rows.len() > MANY_SITEMAPS;
            for row in &rows {
                let (Some(known), Ok(url)) = (row.known.clone(), PageUrl::parse(&row.url)) else {
                    continue;
                };
                if known.kind == UrlKind::Sitemap {
                    self.take_in_sitemap((site, row), &url, (&known, many))?;
                    continue;
                }
                let met = self.seen.insert(key(site, &url), 0).is_some();
                if !met && !row.drafted && !row.queued && self.plans[site].covers(&url) {
                    self.take_in((site, row.id), &url, (row, &known, 0))?;
                }
            }
        }
    }

    /// Offers a sitemap that an index lists.
    fn offer_sitemap(
        &mut self,
        site: usize,
        listing: &Listing,
        (url, lastmod): (&PageUrl, Option<LastMod>),
    ) -> Result<(), RunError> {
        let plan = &self.plans[site];
        if listing.depth + 1 > DEEPEST_INDEX || !plan.may_lead(url) {
            return Ok(());
        }
        let row = self.pass.state.site_url(&plan.source.id, url.as_str())?;
        let before = row.as_ref().and_then(|row| row.known.clone());
        let kind = (UrlKind::Sitemap, listing.depth + 1);
        let known = known_now(before.as_ref(), kind, Some((listing, lastmod)));
        let known = Known { kind: UrlKind::Sitemap, ..known };
        let id = self.pass.state.note_known((&plan.source.id, url.as_str()), &known)?;
        let row = row.unwrap_or_else(|| SiteUrl::unknown(id, url.as_str()));
        self.take_in_sitemap((site, &row), url, (&known, listing.many))
    }

    fn take_in_sitemap(
        &mut self,
        (site, row): (usize, &SiteUrl),
        url: &PageUrl,
        (known, many): (&Known, bool),
    ) -> Result<(), RunError> {
        let met = self.seen.insert(key(site, url), 0).is_some();
        if met || row.drafted || row.queued || self.sites[site].sitemaps >= MOST_SITEMAPS {
            return Ok(());
        }
        self.sites[site].sitemaps += 1;
        let read = row.visit.as_ref().filter(|visit| visit.stored);
        let rules = self.plans[site].revisit();
        let subject = Subject { url, known, doubt: self.doubt(known)? };
        let started = self.pass.started;
        let decision = read.map(|visit| decision(&rules, &subject, visit, started));
        let wait = match (decision, read) {
            (Some(Decision::SkipUnchanged | Decision::NotDue), Some(visit))
                if !is_sample(url, visit.looked, started) =>
            {
                return self.offer_listed(site, &SiteUrl { url: url.to_string(), ..row.clone() });
            }
            (Some(Decision::Fetch(Priority::Revisit(_))), Some(visit)) if many => {
                (REVISIT, visit.looked.unix(), 0)
            }
            _ => {
                if self.sites[site].round == Round::Starts {
                    self.sites[site].first += 1;
                }
                (FIRST, 1, 0)
            }
        };
        self.enqueue((site, row.id), url, wait)
    }

    /// Counts what waits in the queue of a crawl that is gone on with.
    pub fn recall(&mut self) -> Result<(), RunError> {
        for (host, source, count) in self.pass.state.waiting()? {
            let site = self.plans.iter().position(|plan| plan.source.id.as_str() == source);
            if let Some(site) = site {
                self.lanes.empty(&host, site);
                self.lanes.add(&host, site, count);
            }
        }
        for site in 0..self.plans.len() {
            let plan = &self.plans[site];
            self.sites[site].first = self.pass.state.waiting_first(&plan.source.id)?;
        }
        Ok(())
    }
}

/// Class and rank of a priority.
fn place(priority: Priority) -> (u8, i64) {
    match priority {
        Priority::New(depth) => (NEW, i64::from(depth)),
        Priority::Changed(looked) => (CHANGED, looked.unix()),
        Priority::Revisit(looked) => (REVISIT, looked.unix()),
    }
}

/// What is known of a URL now that it was met again.
fn known_now(
    before: Option<&Known>,
    (kind, depth): (UrlKind, u32),
    listed: Option<(&Listing, Option<LastMod>)>,
) -> Known {
    let mut known = before.cloned().unwrap_or(Known { kind, depth, sitemap: None, listed: None });
    known.depth = known.depth.min(depth);
    if let Some((listing, lastmod)) = listed {
        known.sitemap = Some(listing.sitemap);
        known.listed = lastmod.map(|lastmod| lastmod.to_string());
    }
    known
}

/// The key under which a run remembers that it met a URL.
fn key(site: usize, url: &PageUrl) -> u64 {
    fingerprint(url.as_str()).cast_unsigned() ^ (site as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn small(depth: u32) -> u8 {
    u8::try_from(depth).unwrap_or(u8::MAX)
}
