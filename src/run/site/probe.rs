//! A look at a site: its robots.txt, its first start, and a page of it, twice.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::body::{Body, Frame, Sheet, Text};
use super::plan::{Form, Plan, looks_like_sitemap};
use super::receive::{Job, Named, Received, ask, ask_as};
use crate::discover::Verdict;
use crate::discover::sitemap::Entry;
use crate::extract::soft_error;
use crate::model::{MarkdownChoice, PageUrl, Site, Source, UrlId, UrlKind, Validators, printable};
use crate::politeness::{Access, Standing};
use crate::run::door::{Door, Visit};
use crate::run::probe::{Again, ListingProbe, MOST_REQUESTS, PageProbe, RobotsProbe, SiteProbe};
use crate::run::{Context, RunError};
use crate::state::{SiteUrl, SpooledAnswer};

/// Lines that are shown of a difference.
const SHOWN_LINES: usize = 3;

/// Characters that are shown of a line.
const SHOWN: usize = 160;

/// Permanent redirects that are followed from a page.
const MOST_MOVES: u32 = 2;

/// Looks at a site. `origins` are those whose robots.txt was read for another source.
pub(in crate::run) fn probe(
    (context, door): (&Context<'_>, &Door<'_>),
    (source, site): (&Source, &Site),
    origins: &mut HashSet<String>,
) -> Result<SiteProbe, RunError> {
    let found = SiteProbe { pace: site.pace, ..SiteProbe::default() };
    let plan = match Plan::new((source, site), HashSet::new(), context.config.archive.case) {
        Ok(plan) => plan,
        Err(why) => return Ok(SiteProbe { trouble: vec![why], ..found }),
    };
    let (access, hosts) = (HashMap::new(), BTreeSet::new());
    let left = MOST_REQUESTS;
    let mut prober = Prober { context, door, plan: &plan, origins, left, access, hosts, found };
    prober.look()?;
    prober.look_at_other_origins()?;
    let Prober { mut found, hosts, .. } = prober;
    found.wait = hosts.iter().map(|host| door.host(host).wait).max().unwrap_or_default();
    found.wait = found.wait.max(site.pace);
    if let Some(listing) = &mut found.listing {
        listing.full_pass = found.wait.saturating_mul(times(listing.full_pass.as_secs()));
    }
    Ok(found)
}

fn times(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Who looks at a site.
struct Prober<'p> {
    context: &'p Context<'p>,
    door: &'p Door<'p>,
    plan: &'p Plan<'p>,
    /// Origins whose robots.txt was read in this process.
    origins: &'p mut HashSet<String>,
    /// Requests that may still be made.
    left: u32,
    access: HashMap<String, Arc<Access>>,
    /// Hosts that were asked.
    hosts: BTreeSet<String>,
    found: SiteProbe,
}

/// An answer of 200, and what it is of.
struct Read {
    url: PageUrl,
    answer: SpooledAnswer,
}

impl Prober<'_> {
    fn trouble(&mut self, why: String) {
        self.found.trouble.push(why);
    }

    /// Looks at the first start, and at what it leads to.
    fn look(&mut self) -> Result<(), RunError> {
        let Some(start) = self.plan.starts.first().cloned() else { return Ok(()) };
        let kind = if looks_like_sitemap(&start) { UrlKind::Sitemap } else { UrlKind::Page };
        let Some(read) = self.get(&start, (kind, Named::InStart))? else { return Ok(()) };
        match self.frame(&read.url, kind).read(&read.answer) {
            Body::Nothing(outcome) => self.trouble(format!("{start}: {}", outcome.reason)),
            Body::Text(text) if self.plan.covers(&read.url) => self.page(&read, *text)?,
            Body::Text(text) => self.page_among((&start, "leads to"), &text.links)?,
            Body::Sitemap(sheet) if sheet.is_index => self.index(&start, &sheet)?,
            Body::Sitemap(sheet) => self.sitemap((&start, None), &sheet)?,
        }
        Ok(())
    }

    /// Reads robots.txt of the starts that nothing led to, as far as requests are left.
    fn look_at_other_origins(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        for start in &plan.starts {
            if self.access(start)?.is_none() {
                let origin = start.origin().to_owned();
                if !self.found.origins_left.contains(&origin) {
                    self.found.origins_left.push(origin);
                }
            }
        }
        Ok(())
    }

    fn frame<'f>(&'f self, url: &'f PageUrl, kind: UrlKind) -> Frame<'f> {
        let (bot, run) = (&self.context.config.bot.name, self.context.clock.now());
        Frame { plan: self.plan, url, kind, bot, run }
    }

    /// The rules of an address's origin; `None` where no request is left to read them.
    fn access(&mut self, url: &PageUrl) -> Result<Option<Arc<Access>>, RunError> {
        let origin = url.origin();
        if let Some(known) = self.access.get(origin) {
            return Ok(Some(Arc::clone(known)));
        }
        if !self.origins.contains(origin) {
            let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
            self.left = left;
        }
        let access = self.door.robots(self.plan.source, url)?;
        self.origins.insert(origin.to_owned());
        self.hosts.insert(url.host().to_owned());
        self.access.insert(origin.to_owned(), Arc::clone(&access));
        self.found.robots.push(robots(origin, &access, self.plan.site));
        Ok(Some(access))
    }

    fn job(url: &PageUrl, (kind, named): (UrlKind, Named)) -> Job {
        let (row, url) = (Box::new(SiteUrl::unknown(UrlId(0), url.as_str())), url.clone());
        Job { site: 0, row, url, kind, named, class: 0, hops: 0, validators: None }
    }

    /// Reads an address; `None` where that failed, which is noted.
    fn get(&mut self, url: &PageUrl, what: (UrlKind, Named)) -> Result<Option<Read>, RunError> {
        let mut url = url.clone();
        for _ in 0..=MOST_MOVES {
            if self.access(&url)?.is_none() || self.left == 0 {
                self.trouble(format!("{url}: a probe makes no more than {MOST_REQUESTS} requests"));
                return Ok(None);
            }
            let received = ask(self.door, self.plan, &Self::job(&url, what))?;
            self.left = self.left.saturating_sub(self.cost(&received, what.0));
            let answer = match received {
                Received::Answer(answer) => *answer,
                Received::Other(visit) => {
                    self.trouble(why(&url, &visit));
                    return Ok(None);
                }
            };
            match (answer.status, answer.moved_to.as_deref().map(PageUrl::parse)) {
                (200, _) => return Ok(Some(Read { url, answer })),
                (_, Some(Ok(to))) if self.plan.covers(&to) => url = to,
                (status, Some(Ok(to))) => {
                    let why = "which is no page of the source";
                    self.trouble(format!("{url}: status {status}, to {to}, {why}"));
                    return Ok(None);
                }
                (status, _) => {
                    self.trouble(format!("{url}: status {status}"));
                    return Ok(None);
                }
            }
        }
        self.trouble(format!("{url}: it leads on and on"));
        Ok(None)
    }

    /// How many requests something took: one for each form that was tried.
    fn cost(&self, received: &Received, kind: UrlKind) -> u32 {
        let markdown = &self.plan.site.markdown;
        let variant = matches!(markdown, MarkdownChoice::Suffix(_) | MarkdownChoice::Query(_));
        let first = match received {
            Received::Answer(answer) => Form::from_name(&answer.form) == Form::Variant,
            Received::Other(_) => false,
        };
        if variant && kind == UrlKind::Page && !first { 2 } else { 1 }
    }

    fn index(&mut self, index: &PageUrl, sheet: &Sheet) -> Result<(), RunError> {
        let mut leads = sheet.entries.iter().filter(|entry| self.plan.may_lead(&entry.url));
        let Some(first) = leads.next() else {
            let count = sheet.entries.len();
            self.trouble(format!(
                "{index}: none of its {count} sitemaps is on a host of the source"
            ));
            return Ok(());
        };
        let number = 1 + leads.count() as u64;
        let what = (UrlKind::Sitemap, Named::BySite);
        let Some(read) = self.get(&first.url, what)? else { return Ok(()) };
        match self.frame(&read.url, UrlKind::Sitemap).read(&read.answer) {
            Body::Sitemap(inner) if inner.is_index => {
                let count = inner.entries.len();
                self.trouble(format!(
                    "{}: an index of {count} sitemaps within an index, which a probe does not \
                     read further",
                    first.url
                ));
                Ok(())
            }
            Body::Sitemap(inner) => self.sitemap((&first.url, Some((index, number))), &inner),
            Body::Nothing(outcome) => {
                self.trouble(format!("{}: {}", first.url, outcome.reason));
                Ok(())
            }
            Body::Text(_) => {
                self.trouble(format!("{}: it is a page and no sitemap", first.url));
                Ok(())
            }
        }
    }

    fn sitemap(
        &mut self,
        (url, index): (&PageUrl, Option<(&PageUrl, u64)>),
        sheet: &Sheet,
    ) -> Result<(), RunError> {
        let pages: Vec<PageUrl> = sheet.entries.iter().map(|entry| entry.url.clone()).collect();
        self.page_among((url, "lists"), &pages)?;
        // Last, when robots.txt of the page's origin is known too.
        self.found.listing = Some(self.listing((url, index), sheet));
        Ok(())
    }

    fn listing(
        &self,
        (url, index): (&PageUrl, Option<(&PageUrl, u64)>),
        sheet: &Sheet,
    ) -> ListingProbe {
        let mut listing = ListingProbe {
            sitemap: url.to_string(),
            index: index.map(|(url, number)| (url.to_string(), number)),
            listed: sheet.entries.len() as u64,
            wanted: 0,
            out_of_scope: 0,
            skipped: 0,
            disallowed: 0,
            undecided: 0,
            stated: sheet.entries.iter().filter(|entry| entry.lastmod.is_some()).count() as u64,
            generated: sheet.spread.is_empty_talk(),
            partial: sheet.partial,
            pages: 0,
            full_pass: Duration::ZERO,
        };
        let mut by_host: BTreeMap<&str, u64> = BTreeMap::new();
        for Entry { url, .. } in &sheet.entries {
            match self.plan.scope.verdict(url) {
                Verdict::OutOfHost | Verdict::OutOfPath => listing.out_of_scope += 1,
                Verdict::Skipped(_) | Verdict::Media(_) => listing.skipped += 1,
                Verdict::In => match self.allowed(url) {
                    Some(false) => listing.disallowed += 1,
                    allowed => {
                        listing.undecided += u64::from(allowed.is_none());
                        listing.wanted += 1;
                        *by_host.entry(url.host()).or_default() += 1;
                    }
                },
            }
        }
        let sitemaps = listing.index.as_ref().map_or(1, |(_, number)| *number);
        listing.pages = listing.wanted.saturating_mul(sitemaps);
        // Hosts are read side by side. As many seconds as requests; the pace comes later.
        let most = by_host.into_values().max().unwrap_or_default();
        let requests = most.saturating_mul(sitemaps).saturating_add(sitemaps);
        listing.full_pass = Duration::from_secs(requests);
        listing
    }

    /// Whether robots.txt allows an address; `None` where it was not read.
    fn allowed(&self, url: &PageUrl) -> Option<bool> {
        let access = self.access.get(url.origin())?;
        Some(access.robots.allows(&url.as_str()[url.origin().len()..]).allowed)
    }

    /// Reads one of the pages that something leads to.
    fn page_among(
        &mut self,
        (from, how): (&PageUrl, &str),
        pages: &[PageUrl],
    ) -> Result<(), RunError> {
        let wanted = |allowed| {
            let mut pages = pages.iter();
            pages.find(|url| self.plan.covers(url) && self.allowed(url) == allowed)
        };
        let Some(url) = wanted(Some(true)).or_else(|| wanted(None)) else {
            let count = pages.len();
            self.trouble(format!(
                "none of the {count} addresses that {from} {how} is a page that may be read"
            ));
            return Ok(());
        };
        let Some(read) = self.get(url, (UrlKind::Page, Named::BySite))? else { return Ok(()) };
        match self.frame(&read.url, UrlKind::Page).read(&read.answer) {
            Body::Text(text) => self.page(&read, *text)?,
            Body::Nothing(outcome) => self.trouble(format!("{url}: {}", outcome.reason)),
            Body::Sitemap(_) => self.trouble(format!("{url}: it is a sitemap and no page")),
        }
        Ok(())
    }

    /// Reads a page that was read once again, and tells what both gave.
    fn page(&mut self, read: &Read, text: Text) -> Result<(), RunError> {
        let again = self.again(read, &text)?;
        let Text { extracted, representation, robots, guess, .. } = text;
        let empty = extracted.body.trim().is_empty();
        let refused = if empty {
            Some("no text was found in it".to_owned())
        } else {
            soft_error(&extracted.title, &extracted.body).map(str::to_owned)
        };
        self.found.page = Some(PageProbe {
            url: read.url.to_string(),
            content_type: read.answer.content_type.as_deref().map(shown),
            representation: representation.name(),
            title: shown(&extracted.title),
            words: extracted.body.split_whitespace().count() as u64,
            links: extracted.links.len() as u64,
            guess,
            refused,
            noarchive: robots.noarchive,
            nofollow: robots.nofollow,
            validators: given(&read.answer.validators),
            again,
        });
        Ok(())
    }

    fn again(&mut self, read: &Read, first: &Text) -> Result<Again, RunError> {
        if self.left == 0 {
            let why = format!("a probe makes no more than {MOST_REQUESTS} requests");
            return Ok(Again::Failed(why));
        }
        self.left -= 1;
        let form = Form::from_name(&read.answer.form);
        let mut job = Self::job(&read.url, (UrlKind::Page, Named::BySite));
        let validators = Some(read.answer.validators.clone()).filter(|it| !it.is_empty());
        job.validators = validators.map(|validators| (form, validators));
        let answer = match ask_as(self.door, (self.plan, &job), &[form])? {
            Received::Answer(answer) => answer,
            Received::Other(visit) => return Ok(Again::Failed(why(&read.url, &visit))),
        };
        match answer.status {
            304 => return Ok(Again::NotModified),
            200 if answer.body == read.answer.body => return Ok(Again::Same),
            200 => {}
            status => return Ok(Again::Failed(format!("status {status}"))),
        }
        Ok(match self.frame(&read.url, UrlKind::Page).read(&answer) {
            Body::Text(second) => {
                let lines = differing(&lines(first), &lines(&second));
                if lines.is_empty() { Again::OtherBytes } else { Again::OtherText(lines) }
            }
            Body::Nothing(outcome) => Again::Failed(outcome.reason),
            Body::Sitemap(_) => Again::Failed("it is a sitemap now".to_owned()),
        })
    }
}

/// The validators that something came with.
fn given(validators: &Validators) -> Vec<&'static str> {
    let both = [
        ("ETag", validators.etag.is_some()),
        ("Last-Modified", validators.last_modified.is_some()),
    ];
    both.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}

/// All that is kept of a text, as lines.
fn lines(text: &Text) -> Vec<&str> {
    let extracted = &text.extracted;
    let title = std::iter::once(extracted.title.as_str());
    title.chain(extracted.upstream.lines()).chain(extracted.body.lines()).collect()
}

/// The first lines in which two texts differ, as they stand in each.
fn differing(first: &[&str], second: &[&str]) -> Vec<(String, String)> {
    let long = first.len().max(second.len());
    let at = |lines: &[&str], n: usize| lines.get(n).map(|line| shown(line)).unwrap_or_default();
    let differ = (0..long).filter(|n| first.get(*n) != second.get(*n));
    differ.take(SHOWN_LINES).map(|n| (at(first, n), at(second, n))).collect()
}

/// The beginning of a text of others, as it may be shown.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", printable(&cut))
}

fn robots(origin: &str, access: &Access, site: &Site) -> RobotsProbe {
    let mut forbidding: Vec<(usize, String)> = site
        .paths
        .iter()
        .flat_map(|path| access.robots.forbidding_below(path))
        .map(|(number, line)| (number, shown(line)))
        .collect();
    forbidding.sort_unstable();
    forbidding.dedup();
    RobotsProbe {
        origin: origin.to_owned(),
        standing: match access.standing {
            Standing::Read => "read",
            Standing::Absent => "absent",
            Standing::Unreachable => "unreachable",
        },
        reason: access.robots.unreachable().map(shown),
        looks_like_html: access.robots.looks_like_html(),
        crawl_delay: access.robots.crawl_delay(),
        forbidding,
    }
}

/// Why an address was not answered.
fn why(url: &PageUrl, visit: &Visit) -> String {
    match visit {
        Visit::Disallowed { url: at, ground } if at == url => {
            format!("{url}: forbidden by {ground}")
        }
        Visit::Disallowed { url: at, ground } => {
            format!("{url}: it leads to {at}, which is forbidden by {ground}")
        }
        Visit::Refused { url: at, why } if at == url => format!("{url}: {why}"),
        Visit::Refused { url: at, why } => format!("{url}: it leads to {at}, and {why}"),
        Visit::Later { why, retry } => {
            format!("{url}: {why}, for another {} s", retry.as_secs())
        }
        Visit::Unreachable { why, .. } => {
            format!("{url}: robots.txt could not be read: {}", shown(why))
        }
        Visit::Astray { to, status, why } => {
            format!("{url}: status {status}, to {}, which is not followed: {why}", shown(to))
        }
        Visit::Deferred(why) | Visit::Failed(why) => format!("{url}: {why}"),
        Visit::Answer(_) | Visit::Moved { .. } => format!("{url}: the answer was not kept"),
    }
}

#[cfg(test)]
mod tests {
    use super::{differing, shown};

    #[test]
    fn lines_that_differ_are_shown_side_by_side() {
        assert!(differing(&["a", "b"], &["a", "b"]).is_empty());
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(differing(&["a", "b"], &["a", "c"]), [pair("b", "c")]);
        assert_eq!(differing(&["a"], &["a", "b"]), [pair("", "b")]);
        let long: Vec<&str> = vec!["x"; 9];
        assert_eq!(differing(&long, &["y"; 9]).len(), super::SHOWN_LINES);
    }

    #[test]
    fn text_of_others_is_cut_and_harmless() {
        assert_eq!(shown("a\u{1b}b"), "a\\u{1b}b");
        assert_eq!(shown(&"é".repeat(400)).chars().count(), super::SHOWN + 1);
    }
}
