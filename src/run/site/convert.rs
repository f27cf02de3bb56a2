//! From an answer to a page with its links, or to the entries of a sitemap; on threads of
//! their own.

use std::io::Cursor;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};

use super::plan::{Plan, fingerprint};
use super::receive::{Job, Received};
use crate::archive::{
    Archive, ArchiveError, EncodedPage, Encoder, Heads, LeakGuard, PageEntry, Sketch, Snapshot,
    Writer, decode_page, sketch,
};
use crate::discover::sitemap::{Entry, Item, Limits, Reading as SitemapReading, read_sitemap};
use crate::extract::html::{HtmlDocument, MetaRobots, extract_html};
use crate::extract::{Document, Extracted, Markup, extract, soft_error};
use crate::fetch::http::Headers;
use crate::model::{
    Link, MediaType, Note, Outcome, OutcomeKind, Page, PageUrl, Representation, Timestamp, UrlKind,
    Visibility, printable,
};
use crate::run::RunError;
use crate::state::SpooledAnswer;

/// Entries of a sitemap that are named where they cannot be used.
const NAMED: usize = 20;

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

/// What a sitemap lists.
pub(super) struct Sheet {
    pub entries: Vec<Entry>,
    /// Whether the entries are sitemaps.
    pub is_index: bool,
    /// Whether something of it could not be read.
    pub partial: bool,
    /// Whether its lastmods say nothing.
    pub generated: bool,
    pub notes: Vec<Note>,
    /// Fingerprint of its bytes.
    pub text: i64,
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
        let nothing = |kind, why: &str| Content::Nothing(Outcome::new(kind, why));
        if answer.body.is_empty() {
            return Ok(nothing(OutcomeKind::Failed, "the answer is empty"));
        }
        let headers = Headers { content_type: answer.content_type.clone(), ..Headers::default() };
        let form = match form_of(&headers, &job.url, (&answer.body, job.kind)) {
            Ok(form) => form,
            Err(outcome) => return Ok(Content::Nothing(outcome)),
        };
        let Some(plan) = self.plans.get(job.site) else {
            return Ok(nothing(OutcomeKind::Failed, "its source is not read"));
        };
        match form {
            BodyForm::Sitemap => Ok(self.sheet(job, &answer.body)),
            BodyForm::Html => self.html(tools, (plan, job), (answer, &headers)),
            BodyForm::Markdown => self.text(tools, (plan, job), (answer, Markup::Markdown)),
            BodyForm::Text => self.text(tools, (plan, job), (answer, Markup::Text)),
        }
    }

    fn sheet(&self, job: &Job, body: &[u8]) -> Content {
        let (mut entries, mut spoilt) = (Vec::new(), Vec::new());
        let reading = SitemapReading { base: &job.url, now: self.run, limits: Limits::default() };
        let report = read_sitemap(Cursor::new(body), reading, |item| match item {
            Item::Entry(entry) => entries.push(entry),
            Item::Spoiled(spoiled) if spoilt.len() < NAMED => {
                let text = printable(&spoiled.text);
                spoilt.push(Note(format!("the entry `{text}` cannot be used: {}", spoiled.fault)));
            }
            Item::Spoiled(_) => {}
        });
        let Some(kind) = report.kind else {
            let why = "it is neither a sitemap nor a page";
            return Content::Nothing(Outcome::new(OutcomeKind::Failed, why));
        };
        let mut notes = report.notes;
        let more = report.spoiled.saturating_sub(spoilt.len() as u64);
        notes.extend(spoilt);
        if more > 0 {
            notes.push(Note(format!("{more} more of its entries cannot be used")));
        }
        Content::Sitemap(Sheet {
            entries,
            is_index: kind == crate::discover::sitemap::Kind::Index,
            partial: report.partial,
            generated: report.generated,
            notes,
            text: fingerprint(&String::from_utf8_lossy(body)),
        })
    }

    fn html(
        &self,
        tools: &mut Tools,
        (plan, job): (&Plan<'_>, &Job),
        (answer, headers): (&SpooledAnswer, &Headers),
    ) -> Result<Content, RunError> {
        let base = PageUrl::parse(&answer.found).unwrap_or_else(|_| job.url.clone());
        let media = headers.media_type();
        let page = extract_html(&HtmlDocument {
            bytes: &answer.body,
            charset: media.as_ref().and_then(MediaType::charset),
            name: name_of(&job.url),
            base: &base,
            selectors: &plan.selectors,
            noise: &plan.noise,
            bot: self.bot,
        });
        let asked = page.robots.and(self.asked_by_header(answer));
        let mut links = page.outside_links;
        links.extend(followed(&page.links));
        let canonical = page.canonical.filter(|own| *own != job.url && plan.covers(own));
        let text = Extracted {
            title: page.title,
            upstream: String::new(),
            body: page.body,
            links: page.links,
            notes: page.notes,
        };
        let read = self.page(tools, (plan, job), (text, Representation::Html))?;
        Ok(Content::Page(Box::new(ReadPage {
            robots: asked,
            links: in_scope(plan, asked, links),
            canonical,
            ..read
        })))
    }

    fn text(
        &self,
        tools: &mut Tools,
        (plan, job): (&Plan<'_>, &Job),
        (answer, markup): (&SpooledAnswer, Markup),
    ) -> Result<Content, RunError> {
        let base = PageUrl::parse(&answer.found).unwrap_or_else(|_| job.url.clone());
        let document = Document {
            bytes: &answer.body,
            markup,
            name: name_of(&job.url),
            base: &base,
            noise: &plan.noise,
        };
        let extracted = match extract(&document) {
            Ok(extracted) => extracted,
            Err(why) => {
                let outcome = Outcome::new(OutcomeKind::Skipped, why.to_string());
                return Ok(Content::Nothing(outcome));
            }
        };
        let asked = self.asked_by_header(answer);
        let links = followed(&extracted.links).collect();
        let representation = match markup {
            Markup::Markdown => Representation::Markdown,
            Markup::Text => Representation::Text,
        };
        let read = self.page(tools, (plan, job), (extracted, representation))?;
        Ok(Content::Page(Box::new(ReadPage {
            robots: asked,
            links: in_scope(plan, asked, links),
            ..read
        })))
    }

    fn asked_by_header(&self, answer: &SpooledAnswer) -> MetaRobots {
        answer.robots.lines().fold(MetaRobots::default(), |asked, value| {
            asked.and(MetaRobots::from_header(value, self.bot))
        })
    }

    /// Encodes a text as a page, unless it stands for none.
    fn page(
        &self,
        tools: &mut Tools,
        (plan, job): (&Plan<'_>, &Job),
        (text, representation): (Extracted, Representation),
    ) -> Result<ReadPage, RunError> {
        let Extracted { title, upstream, body, links, notes } = text;
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
        Ok(ReadPage {
            entry,
            encoded,
            sketch,
            text,
            notes,
            robots: MetaRobots::default(),
            links: Vec::new(),
            canonical: None,
        })
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

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyForm {
    Html,
    Markdown,
    Text,
    Sitemap,
}

/// Decides what a body is: the media type, and what the body begins with where that says
/// nothing or something else.
fn form_of(
    headers: &Headers,
    url: &PageUrl,
    (body, kind): (&[u8], UrlKind),
) -> Result<BodyForm, Outcome> {
    let media = headers.media_type();
    let essence = media.as_ref().map_or("", MediaType::essence);
    let looks = Looks::of(body);
    let skip = |why: String| Err(Outcome::new(OutcomeKind::Skipped, why));
    let lie = |is: &str| {
        let why = format!("it is said to be {essence} and is {is}");
        Err(Outcome::new(OutcomeKind::Failed, why))
    };
    match essence {
        _ if kind == UrlKind::Sitemap && looks != Looks::Html => Ok(BodyForm::Sitemap),
        "text/html" | "application/xhtml+xml" => match looks {
            Looks::Binary => lie("no text"),
            Looks::Sitemap => Ok(BodyForm::Sitemap),
            _ => Ok(BodyForm::Html),
        },
        "text/markdown" | "text/x-markdown" if looks == Looks::Html => lie("HTML"),
        "text/markdown" | "text/x-markdown" => Ok(BodyForm::Markdown),
        "text/plain" if has_markdown_name(url) && looks == Looks::Html => lie("HTML"),
        "text/plain" if has_markdown_name(url) => Ok(BodyForm::Markdown),
        "text/plain" if looks == Looks::Binary => lie("no text"),
        "text/plain" => Ok(BodyForm::Text),
        "text/xml" | "application/xml" | "application/rss+xml" | "application/atom+xml"
            if looks == Looks::Sitemap =>
        {
            Ok(BodyForm::Sitemap)
        }
        "" | "application/octet-stream" | "text/xml" | "application/xml" => match looks {
            Looks::Html => Ok(BodyForm::Html),
            Looks::Sitemap => Ok(BodyForm::Sitemap),
            Looks::Text if essence.is_empty() => Ok(BodyForm::Text),
            _ => skip(format!(
                "{} is no text of a page",
                if essence.is_empty() { "it" } else { essence }
            )),
        },
        other => skip(format!("{other} is no text of a page")),
    }
}

/// What a body begins like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Html,
    Sitemap,
    Binary,
    Text,
}

impl Looks {
    fn of(body: &[u8]) -> Self {
        let start = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
        let start = &start[..start.len().min(1024)];
        let lower = start.to_ascii_lowercase();
        let has = |word: &str| lower.windows(word.len()).any(|part| part == word.as_bytes());
        let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word.as_bytes()));
        if begins(&["<!doctype html", "<html", "<head", "<body"]) {
            Self::Html
        } else if begins(&["<"])
            && (has("<urlset") || has("<sitemapindex") || has("<rss") || has("<feed"))
        {
            Self::Sitemap
        } else if begins(&["<?xml", "<!--"]) && has("<html") {
            Self::Html
        } else if start.contains(&0) && !matches!(start, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
            Self::Binary
        } else {
            Self::Text
        }
    }
}

fn has_markdown_name(url: &PageUrl) -> bool {
    let path = url.path().to_ascii_lowercase();
    [".md", ".markdown", ".md.txt"].iter().any(|end| path.ends_with(end))
}

/// Whether an answer says that it is Markdown.
pub(super) fn is_markdown(headers: &Headers, url: &PageUrl) -> bool {
    let media = headers.media_type();
    match media.as_ref().map(MediaType::essence) {
        Some("text/markdown" | "text/x-markdown") => true,
        Some("text/plain") => has_markdown_name(url),
        _ => false,
    }
}

fn name_of(url: &PageUrl) -> &str {
    let path = url.path().trim_end_matches('/');
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or_else(|| url.host())
}

/// Where links lead that may be followed.
fn followed(links: &[Link]) -> impl Iterator<Item = PageUrl> {
    let open = links.iter().filter(|link| !link.rel.split(' ').any(|rel| rel == "nofollow"));
    open.map(|link| link.to.clone())
}

/// Those of the links that lead to pages of the site, unless none is to be followed.
fn in_scope(plan: &Plan<'_>, asked: MetaRobots, mut links: Vec<PageUrl>) -> Vec<PageUrl> {
    if asked.nofollow {
        return Vec::new();
    }
    links.retain(|link| plan.covers(link));
    links.sort_unstable();
    links.dedup();
    links
}
