//! What came of a job: its draft, and the URLs that it leads to.

use std::time::Duration;

use super::body::Sheet;
use super::convert::{Content, Event, ReadPage};
use super::crawl::{Crawl, Round};
use super::judge::{Facts, PutPage};
use super::offer::{Listing, Offer};
use super::receive::{Job, Named, Received};
use crate::archive::{PageEntry, Replaced};
use crate::discover::frontier::depth_below;
use crate::extract::html::MetaRobots;
use crate::model::{Known, Note, Outcome, OutcomeKind, PageUrl, Timestamp, UrlKind};
use crate::run::RunError;
use crate::run::door::Visit;
use crate::state::{Draft, SiteUrl, SpooledAnswer};

/// Most permanent redirects that are followed one after the other.
const MOST_HOPS: u8 = 5;

/// Most notes of a source that are told.
const MOST_NOTES: usize = 1000;

/// A job that came back, with what is known of its URL.
struct Case<'e> {
    job: &'e Job,
    row: &'e SiteUrl,
    known: Known,
    /// Its place, where the tree has a page.
    stored: Option<PageEntry>,
}

impl Crawl<'_, '_> {
    /// Deals with what came of a job.
    pub fn settle(&mut self, event: Event) -> Result<(), RunError> {
        let Event { job, received, content } = event;
        self.lanes.take_back(job.url.host());
        let received = match received {
            Ok(received) => received,
            // It stays in the queue.
            Err(RunError::Interrupted) => return Ok(()),
            Err(error) => return Err(error),
        };
        let case = self.case(&job)?;
        match received {
            Received::Answer(answer) => {
                self.answered(&case, *answer, content)?;
                self.held.settle();
            }
            Received::Other(visit) => self.not_answered(&case, visit)?,
        }
        self.started(&case);
        Ok(())
    }

    fn case<'e>(&self, job: &'e Job) -> Result<Case<'e>, RunError> {
        let row = &*job.row;
        let known = row.known.clone().unwrap_or(Known {
            kind: job.kind,
            depth: 0,
            sitemap: None,
            listed: None,
        });
        let plan = &self.plans[job.site];
        let entry = plan.entry(&job.url);
        let base = self.pass.writer.base(plan.source.visibility);
        let stored = base.blob_at(&entry.page_path())?.map(|_| entry);
        Ok(Case { job, row, known, stored })
    }

    /// Notes that a start is dealt with.
    fn started(&mut self, case: &Case<'_>) {
        let site = &mut self.sites[case.job.site];
        if site.round == Round::Starts && case.job.class == super::offer::FIRST {
            site.first = site.first.saturating_sub(1);
        }
    }

    fn draft(&mut self, case: &Case<'_>, draft: &Draft) -> Result<(), RunError> {
        self.count_answer(case.job.site, draft.outcome.kind);
        let outcome = &draft.outcome;
        tracing::debug!(url = %case.job.url, outcome = %outcome.kind, "settled");
        if outcome.kind == OutcomeKind::Failed && is_start(case.job) {
            let trouble = format!("{}: {}", case.job.url, outcome.reason);
            self.sites[case.job.site].trouble.push(trouble);
        }
        Ok(self.pass.state.draft(case.row.id, draft)?)
    }

    fn answered(
        &mut self,
        case: &Case<'_>,
        answer: SpooledAnswer,
        content: Option<Content>,
    ) -> Result<(), RunError> {
        let form = super::plan::Form::from_name(&answer.form).name();
        let run = self.pass.started;
        let bot = &self.pass.context.config.bot.name;
        let plan = &self.plans[case.job.site];
        let facts = Facts {
            run,
            time: answer.time,
            visit: case.row.visit.as_ref(),
            listed: case.known.listed.as_deref(),
            stored: case.stored.as_ref(),
            rules: plan.rules,
            form,
        };
        let draft = match (answer.status, content) {
            (200, Some(Content::Page(_)))
                if case.job.kind == UrlKind::Sitemap && !may_be_page(case.job) =>
            {
                facts.failed("a web page answered where a sitemap was expected".to_owned())
            }
            (200, Some(Content::Page(page))) => {
                if case.known.kind == UrlKind::Sitemap {
                    let known = Known { kind: UrlKind::Page, ..case.known.clone() };
                    self.pass.state.update_known(case.row.id, &known)?;
                }
                return self.read(case, (facts, answer), *page);
            }
            (200, Some(Content::Sitemap(sheet))) => {
                return self.listed(case, (&facts, answer), sheet);
            }
            (200, Some(Content::Nothing(outcome))) => match outcome.kind {
                OutcomeKind::Skipped if !is_start(case.job) => facts.skipped(outcome.reason),
                _ => facts.failed(outcome.reason),
            },
            (304, _) if case.job.validators.is_some() && asks_not_to_be_kept(&answer, bot) => {
                facts.noarchive()
            }
            (304, _) if case.job.validators.is_some() => {
                let draft = facts.not_modified(answer.validators);
                self.learn_of_sitemap((&case.known, case.row.visit.as_ref()), false)?;
                if case.job.kind == UrlKind::Sitemap {
                    self.offer_listed(case.job.site, case.row)?;
                }
                draft
            }
            (404 | 410, _) if !is_start(case.job) => {
                let gone_after = self.pass.context.config.run.gone_after;
                facts.gone(answer.status, gone_after)
            }
            (301 | 302 | 303 | 307 | 308, _) => self.redirected(case, &facts, &answer)?,
            (304, _) => facts.failed("status 304, although nothing was asked with".to_owned()),
            (status, _) => facts.failed(format!("status {status}")),
        };
        self.draft(case, &draft)
    }

    /// Drafts a redirect, and offers where it leads.
    fn redirected(
        &mut self,
        case: &Case<'_>,
        facts: &Facts<'_>,
        answer: &SpooledAnswer,
    ) -> Result<Draft, RunError> {
        let status = answer.status;
        let Some(Ok(to)) = answer.moved_to.as_deref().map(PageUrl::parse) else {
            return Ok(facts.failed(format!("status {status} without a usable Location")));
        };
        let depth = case.known.depth;
        if matches!(status, 301 | 308) {
            self.offer_target(case, (&to, depth), answer.hops)?;
            return Ok(facts.moved(&to, status));
        }
        // A step further each time: a chain that never ends, ends.
        let further = depth.saturating_add(1);
        if further <= self.plans[case.job.site].site.depth.saturating_add(MOST_HOPS.into()) {
            self.offer_target(case, (&to, further), answer.hops)?;
        }
        Ok(facts.elsewhere(&to, status))
    }

    /// Offers where a redirect leads.
    fn offer_target(
        &mut self,
        case: &Case<'_>,
        (to, depth): (&PageUrl, u32),
        hops: u8,
    ) -> Result<(), RunError> {
        let plan = &self.plans[case.job.site];
        if case.job.named == Named::InStart && !plan.covers(to) {
            let why = format!("{}: it leads to {to}, which is no page of the source", case.job.url);
            self.sites[case.job.site].trouble.push(why);
        }
        if hops >= MOST_HOPS {
            return Ok(());
        }
        self.offer(&Offer { site: case.job.site, depth, hops: hops + 1 }, to, None)
    }

    fn read(
        &mut self,
        case: &Case<'_>,
        (facts, answer): (Facts<'_>, SpooledAnswer),
        page: ReadPage,
    ) -> Result<(), RunError> {
        let job = case.job;
        let plan = &self.plans[job.site];
        let limit = plan.site.depth;
        let below = depth_below(case.known.depth, limit);
        if let Some(depth) = below {
            let offer = Offer { site: job.site, depth, hops: 0 };
            for link in &page.links {
                self.offer(&offer, link, None)?;
            }
        }
        let beside = Offer { site: job.site, depth: case.known.depth, hops: 0 };
        if let Some(canonical) = &page.canonical {
            self.offer(&beside, canonical, None)?;
        }
        self.note(job, page.notes);
        if !plan.covers(&job.url) {
            // A start that is no page: its links are all that it is read for.
            let outcome = Outcome::new(
                OutcomeKind::Skipped,
                "a start outside of `paths`: read for its links",
            );
            return self.draft(case, &Draft::only(outcome));
        }
        if page.robots.noarchive {
            return self.draft(case, &facts.noarchive());
        }
        if let Some(own) = self.twin(case, (&page.canonical, page.text))? {
            let why = format!("its text is that of its canonical address {own}");
            return self.draft(case, &facts.skipped(why));
        }
        let encoded = match page.encoded {
            Ok(encoded) => encoded,
            Err(outcome) => return self.draft(case, &facts.failed(outcome.reason)),
        };
        let visit = case.row.visit.as_ref().filter(|visit| visit.rules == plan.rules);
        let changed = visit.is_some_and(|visit| visit.text != page.text);
        self.learn_of_sitemap((&case.known, visit), changed)?;
        let ids = encoded.ids();
        let replaced = self.pass.writer.put(&page.entry, encoded)?;
        self.put += u64::from(replaced != Replaced::Same);
        if replaced == Replaced::Nothing {
            let note = self.pass.case_note(&page.entry)?;
            self.note(job, note.into_iter().collect());
        }
        let put = PutPage {
            entry: page.entry,
            ids,
            sketch: page.sketch,
            validators: answer.validators,
            followed: below.is_some(),
            text: page.text,
        };
        let draft = facts.read(replaced, put);
        self.draft(case, &draft)
    }

    /// The canonical address of a page that is new, where that is known to have the same
    /// text: then it is no page of its own.
    fn twin(
        &self,
        case: &Case<'_>,
        (canonical, text): (&Option<PageUrl>, i64),
    ) -> Result<Option<PageUrl>, RunError> {
        let Some(canonical) = canonical.as_ref().filter(|_| case.stored.is_none()) else {
            return Ok(None);
        };
        let source = &self.plans[case.job.site].source.id;
        let known = self.pass.state.text_of(source, canonical.as_str())?;
        Ok(known.filter(|known| *known == text).map(|_| canonical.clone()))
    }

    fn note(&mut self, job: &Job, notes: Vec<Note>) {
        let kept = &mut self.sites[job.site].notes;
        let room = MOST_NOTES.saturating_sub(kept.len());
        kept.extend(notes.into_iter().take(room).map(|note| (job.url.to_string(), note)));
    }

    /// Takes up what a sitemap lists.
    fn listed(
        &mut self,
        case: &Case<'_>,
        (facts, answer): (&Facts<'_>, SpooledAnswer),
        sheet: Sheet,
    ) -> Result<(), RunError> {
        let job = case.job;
        let known = Known { kind: UrlKind::Sitemap, ..case.known.clone() };
        self.pass.state.update_known(case.row.id, &known)?;
        self.note(job, sheet.notes);
        if sheet.partial {
            let trouble = format!("{}: it was not read to its end", job.url);
            self.sites[job.site].trouble.push(trouble);
        }
        let read_before = case.row.visit.as_ref().is_some_and(|visit| visit.stored);
        let listing = Listing {
            sitemap: case.row.id,
            depth: case.known.depth,
            is_index: sheet.is_index,
            many: sheet.entries.len() > super::offer::MANY_SITEMAPS,
            believed: !sheet.spread.is_empty_talk(),
        };
        self.note_spread(case.row.id, sheet.spread)?;
        self.offer_entries((job.site, &listing), &sheet.entries, read_before && !sheet.partial)?;
        let same = case.row.visit.as_ref().is_some_and(|visit| visit.text == sheet.text);
        let replaced = if same { Replaced::Same } else { Replaced::Other };
        self.learn_of_sitemap((&case.known, case.row.visit.as_ref()), !same)?;
        let mut draft = facts.listed(replaced, (answer.validators, sheet.text));
        if sheet.partial
            && let Some(visit) = &mut draft.visit
        {
            // What is missing of it must come the next time.
            visit.stored = false;
        }
        self.draft(case, &draft)
    }

    /// Asks for a URL later in this run, where that is in time; else leaves what waits of its
    /// site for its host for a later run.
    fn postpone(&mut self, job: &Job, retry: Option<Duration>, why: &str) -> Result<(), RunError> {
        let host = job.url.host().to_owned();
        match retry.filter(|retry| *retry < self.pass.time_left()) {
            Some(retry) => {
                let until = self.pass.context.clock.monotonic() + retry;
                self.lanes.pause(&host, job.site, until);
                self.pass.state.give_back(job.row.id)?;
                self.lanes.add(&host, job.site, 1);
            }
            None => self.lanes.close(&host, job.site, why),
        }
        Ok(())
    }

    fn not_answered(&mut self, case: &Case<'_>, visit: Visit) -> Result<(), RunError> {
        let job = case.job;
        let plan = &self.plans[job.site];
        let (source, host) = (plan.source, job.url.host().to_owned());
        let time: Timestamp = self.pass.context.clock.now();
        let facts = Facts {
            run: self.pass.started,
            time,
            visit: case.row.visit.as_ref(),
            listed: case.known.listed.as_deref(),
            stored: case.stored.as_ref(),
            rules: plan.rules,
            form: "",
        };
        let draft = match visit {
            Visit::Disallowed { url, ground } => {
                let at = if url == job.url { String::new() } else { format!("{url}: ") };
                let why = format!("{at}forbidden by {ground}");
                if is_start(job) {
                    self.sites[job.site].trouble.push(format!("{}: {why}", job.url));
                }
                facts.disallowed(&why, plan.site.robots_removed)
            }
            Visit::Refused { url, why } => {
                let at = if url == job.url { String::new() } else { format!("{url}: ") };
                let why = format!("{at}{why}");
                if is_start(job) {
                    self.sites[job.site].trouble.push(format!("{}: {why}", job.url));
                }
                facts.skipped(why)
            }
            Visit::Unreachable { why, retry } => {
                let why = format!("robots.txt of {} could not be read: {why}", job.url.origin());
                // Where nothing has answered yet, hope is for the next run.
                let answers = self.sites[job.site].answers > 0;
                return self.postpone(job, retry.filter(|_| answers), &why);
            }
            Visit::Later { why, retry } => return self.postpone(job, Some(retry), &why),
            Visit::Deferred(why) => {
                self.lanes.close(&host, job.site, &why);
                return Ok(());
            }
            Visit::Astray { to, status, why } => {
                let to: String = to.chars().take(200).flat_map(char::escape_default).collect();
                facts.failed(format!("status {status}, to {to}, which is not followed: {why}"))
            }
            Visit::Failed(why) => facts.failed(why),
            Visit::Answer(_) | Visit::Moved { .. } => {
                facts.failed("the answer was not kept".to_owned())
            }
        };
        tracing::debug!(source = %source.id, url = %job.url, "no answer");
        self.draft(case, &draft)
    }
}

/// Whether the header fields of an answer say that its text is not to be kept.
fn asks_not_to_be_kept(answer: &SpooledAnswer, bot: &str) -> bool {
    answer.robots.lines().any(|value| MetaRobots::from_header(value, bot).noarchive)
}

/// Whether a web page may stand where a sitemap was expected: at a start that is not named
/// like a file of XML.
fn may_be_page(job: &Job) -> bool {
    let path = job.url.path().to_ascii_lowercase();
    job.named == Named::InStart && ![".xml", ".xml.gz"].iter().any(|end| path.ends_with(end))
}

/// Whether everything else depends on a job.
fn is_start(job: &Job) -> bool {
    job.named == Named::InStart || job.kind == UrlKind::Sitemap
}
