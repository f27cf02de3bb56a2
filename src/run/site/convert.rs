//! From an answer to a page with its links, or to the entries of a sitemap; on threads of
//! their own.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

use super::body::{Body, Frame, Sheet, Text};
use super::plan::Plan;
use super::receive::{Job, Received};
use crate::archive::{
    Archive, ArchiveError, EncodedPage, Encoder, Heads, LeakGuard, PageEntry, Sketch, Snapshot,
    Writer, decode_page, sketch,
};
use crate::extract::html::MetaRobots;
use crate::extract::{Extracted, soft_error};
use crate::model::{
    Link, Note, Outcome, OutcomeKind, Page, PageUrl, Timestamp, Visibility, fingerprint,
};
use crate::run::RunError;
use crate::state::SpooledAnswer;

/// What came of a job, on its way to the threads that convert.
pub(super) struct Task {
    pub job: Job,
    pub received: Result<Received, RunError>,
}

/// The same on its way to the loop.
pub(super) struct Event {
    pub job: Job,
    pub received: Result<Received, RunError>,
    /// What is in the body; `None` where there is no text.
    pub content: Option<Content>,
}

/// What a body holds.
pub(super) enum Content {
    Page(Box<ReadPage>),
    Sitemap(Sheet),
    /// Nothing that can be used: skipped or failed.
    Nothing(Outcome),
}

/// A page that was read.
pub(super) struct ReadPage {
    pub entry: PageEntry,
    /// The page, ready to be put; or why it is not.
    pub encoded: Result<EncodedPage, Outcome>,
    pub sketch: Option<Sketch>,
    /// Fingerprint of its text.
    pub text: i64,
    pub notes: Vec<Note>,
    pub robots: MetaRobots,
    /// Where its links lead, as far as they are pages of the site.
    pub links: Vec<PageUrl>,
    /// The address that it calls its own, where that is another page of the site.
    pub canonical: Option<PageUrl>,
}

/// What the threads share.
pub(super) struct Workshop<'a> {
    pub plans: &'a [Plan<'a>],
    pub archive: &'a Archive,
    pub heads: Heads,
    pub guard: &'a LeakGuard,
    pub bot: &'a str,
    pub run: Timestamp,
}

/// What a thread works with.
struct Tools {
    encoder: Encoder,
    public: Snapshot,
    private: Snapshot,
}

impl Workshop<'_> {
    /// Works until no more comes.
    pub fn work(&self, tasks: &Mutex<Receiver<Task>>, events: &SyncSender<Event>) {
        let mut tools = None;
        loop {
            let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(Task { job, received }) = next else { return };
            let event = self.event(&mut tools, job, received);
            // Nobody takes it where the loop has failed.
            if events.send(event).is_err() {
                return;
            }
        }
    }

    fn event(
        &self,
        tools: &mut Option<Tools>,
        job: Job,
        received: Result<Received, RunError>,
    ) -> Event {
        let Ok(Received::Answer(answer)) = &received else {
            return Event { job, received, content: None };
        };
        if answer.status != 200 {
            return Event { job, received, content: None };
        }
        let opened = match tools {
            Some(tools) => Ok(tools),
            None => self.tools().map(|new| tools.insert(new)),
        };
        match opened.and_then(|tools| self.read(tools, &job, answer)) {
            Ok(content) => Event { job, received, content: Some(content) },
            Err(error) => Event { job, received: Err(error), content: None },
        }
    }

    fn tools(&self) -> Result<Tools, RunError> {
        Ok(Tools {
            encoder: Writer::encoder(self.archive),
            public: Snapshot::open(self.archive, self.heads.public)?,
            private: Snapshot::open(self.archive, self.heads.private)?,
        })
    }

    fn read(
        &self,
        tools: &mut Tools,
        job: &Job,
        answer: &SpooledAnswer,
    ) -> Result<Content, RunError> {
        let Some(plan) = self.plans.get(job.site) else {
            let outcome = Outcome::new(OutcomeKind::Failed, "its source is not read");
            return Ok(Content::Nothing(outcome));
        };
        let frame = Frame { plan, url: &job.url, kind: job.kind, bot: self.bot, run: self.run };
        Ok(match frame.read(answer) {
            Body::Text(text) => Content::Page(Box::new(self.page(tools, (plan, job), *text)?)),
            Body::Sitemap(sheet) => Content::Sitemap(sheet),
            Body::Nothing(outcome) => Content::Nothing(outcome),
        })
    }

    /// Encodes a text as a page, unless it stands for none.
    fn page(
        &self,
        tools: &mut Tools,
        (plan, job): (&Plan<'_>, &Job),
        text: Text,
    ) -> Result<ReadPage, RunError> {
        let Text { extracted, representation, robots, links: leads, canonical, guess: _ } = text;
        let Extracted { title, upstream, body, links, notes } = extracted;
        let source = plan.source;
        let page = Page {
            url: job.url.clone(),
            title,
            source: source.id.clone(),
            licence: source.licence.clone(),
            retrieved: self.run,
            representation,
            git: None,
            upstream,
            body,
        };
        let entry = plan.entry(&job.url);
        let text = fingerprint(&format!("{}\n{}\n{}", page.title, page.upstream, page.body));
        let sketch = (source.visibility == Visibility::Private).then(|| sketch(&page.body));
        let encoded = self.encode(tools, (plan, &entry), (page, &links))?;
        Ok(ReadPage { entry, encoded, sketch, text, notes, robots, links: leads, canonical })
    }

    fn encode(
        &self,
        tools: &mut Tools,
        (plan, entry): (&Plan<'_>, &PageEntry),
        (page, links): (Page, &[Link]),
    ) -> Result<Result<EncodedPage, Outcome>, RunError> {
        let failed = |why: &str| Ok(Err(Outcome::new(OutcomeKind::Failed, why)));
        if page.body.trim().is_empty() {
            return failed("no text was found in it");
        }
        if let Some(why) = soft_error(&page.title, &page.body) {
            return failed(why);
        }
        let visibility = plan.source.visibility;
        if visibility == Visibility::Public
            && let Some(private) = self.guard.resembles(&page.body)
        {
            return Ok(Err(crate::run::git::held_back(private)));
        }
        let base = match visibility {
            Visibility::Public => &tools.public,
            Visibility::Private => &tools.private,
        };
        let old = base.blob_at(&entry.page_path())?;
        let page = first_reading(&tools.encoder, old, page)?;
        match tools.encoder.encode(entry, (&page, links), visibility, self.guard) {
            Err(error @ ArchiveError::Format { .. }) => failed(&error.to_string()),
            other => Ok(Ok(other?)),
        }
    }
}

/// The page with the time at which its text was first read, where the archive has that text
/// already.
fn first_reading(
    encoder: &Encoder,
    old: Option<crate::archive::ObjectId>,
    page: Page,
) -> Result<Page, RunError> {
    let Some(old) = old else { return Ok(page) };
    // A page that cannot be read, which `audit` tells of, is replaced like any other.
    let Ok(older) = decode_page(&encoder.read(old)?) else { return Ok(page) };
    Ok(if page.same_text(&older) { page.first_read_as(&older) } else { page })
}
