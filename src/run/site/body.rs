//! What the body of an answer holds: the text of a page with its links, or the entries of a
//! sitemap. Nothing of an archive is known here.

use std::io::Cursor;

use super::plan::Plan;
use crate::discover::sitemap::{Entry, Item, Kind, Limits, Reading, read_sitemap};
use crate::extract::html::{HtmlDocument, MetaRobots, extract_html};
use crate::extract::{Document, Extracted, Markup, extract};
use crate::fetch::http::Headers;
use crate::model::{
    Link, MediaType, Note, Outcome, OutcomeKind, PageUrl, Representation, Spread, Timestamp,
    UrlKind, fingerprint, printable,
};
use crate::state::SpooledAnswer;

/// Entries of a sitemap that are named where they cannot be used.
const NAMED: usize = 20;

/// What a body is read for.
#[derive(Clone, Copy)]
pub(super) struct Frame<'f> {
    pub plan: &'f Plan<'f>,
    /// The address that was asked for.
    pub url: &'f PageUrl,
    pub kind: UrlKind,
    /// Product token of the bot.
    pub bot: &'f str,
    /// The start of the run.
    pub run: Timestamp,
}

/// What a body holds.
pub(super) enum Body {
    Text(Box<Text>),
    Sitemap(Sheet),
    /// Nothing that can be used: skipped or failed.
    Nothing(Outcome),
}

/// The text of a page.
pub(super) struct Text {
    pub extracted: Extracted,
    pub representation: Representation,
    /// What the page and its header fields ask of robots.
    pub robots: MetaRobots,
    /// Where its links lead, as far as they are pages of the site.
    pub links: Vec<PageUrl>,
    /// The address that it calls its own, where that is another page of the site.
    pub canonical: Option<PageUrl>,
    /// Why the choice of its content was a guess, if it was one.
    pub guess: Option<&'static str>,
}

/// What a sitemap lists.
pub(super) struct Sheet {
    pub entries: Vec<Entry>,
    /// Whether the entries are sitemaps.
    pub is_index: bool,
    /// Whether something of it could not be read.
    pub partial: bool,
    /// What its lastmods have in common.
    pub spread: Spread,
    pub notes: Vec<Note>,
    /// Fingerprint of its bytes.
    pub text: i64,
}

impl Frame<'_> {
    /// Reads the body of an answer of 200.
    pub fn read(&self, answer: &SpooledAnswer) -> Body {
        let nothing = |kind, why: &str| Body::Nothing(Outcome::new(kind, why));
        if answer.body.is_empty() {
            return nothing(OutcomeKind::Failed, "the answer is empty");
        }
        let headers = Headers { content_type: answer.content_type.clone(), ..Headers::default() };
        match form_of(&headers, self.url, (&answer.body, self.kind)) {
            Err(outcome) => Body::Nothing(outcome),
            Ok(BodyForm::Sitemap) => self.sheet(&answer.body),
            Ok(BodyForm::Html) => self.html(answer, &headers),
            Ok(BodyForm::Markdown) => self.text(answer, Markup::Markdown),
            Ok(BodyForm::Text) => self.text(answer, Markup::Text),
        }
    }

    fn sheet(&self, body: &[u8]) -> Body {
        let (mut entries, mut spoilt) = (Vec::new(), Vec::new());
        let reading = Reading { base: self.url, now: self.run, limits: Limits::default() };
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
            return Body::Nothing(Outcome::new(OutcomeKind::Failed, why));
        };
        let mut notes = report.notes;
        let more = report.spoiled.saturating_sub(spoilt.len() as u64);
        notes.extend(spoilt);
        if more > 0 {
            notes.push(Note(format!("{more} more of its entries cannot be used")));
        }
        Body::Sitemap(Sheet {
            entries,
            is_index: kind == Kind::Index,
            partial: report.partial,
            spread: report.spread,
            notes,
            text: fingerprint(&String::from_utf8_lossy(body)),
        })
    }

    fn html(&self, answer: &SpooledAnswer, headers: &Headers) -> Body {
        let base = PageUrl::parse(&answer.found).unwrap_or_else(|_| self.url.clone());
        let media = headers.media_type();
        let page = extract_html(&HtmlDocument {
            bytes: &answer.body,
            charset: media.as_ref().and_then(MediaType::charset),
            name: name_of(self.url),
            base: &base,
            selectors: &self.plan.selectors,
            noise: &self.plan.noise,
            bot: self.bot,
        });
        if let Some(what) = page.garbled {
            return Body::Nothing(Outcome::new(OutcomeKind::Failed, format!("{what}: not kept")));
        }
        let robots = page.robots.and(self.asked_by_header(answer));
        let mut links = page.outside_links;
        links.extend(followed(&page.links));
        let canonical = page.canonical.filter(|own| own != self.url && self.plan.covers(own));
        let extracted = Extracted {
            title: page.title,
            upstream: String::new(),
            body: page.body,
            links: page.links,
            notes: page.notes,
        };
        Body::Text(Box::new(Text {
            extracted,
            representation: Representation::Html,
            robots,
            links: in_scope(self.plan, robots, links),
            canonical,
            guess: page.guess,
        }))
    }

    fn text(&self, answer: &SpooledAnswer, markup: Markup) -> Body {
        let base = PageUrl::parse(&answer.found).unwrap_or_else(|_| self.url.clone());
        let document = Document {
            bytes: &answer.body,
            markup,
            name: name_of(self.url),
            base: &base,
            noise: &self.plan.noise,
        };
        let extracted = match extract(&document) {
            Ok(extracted) => extracted,
            Err(why) => {
                let outcome = Outcome::new(OutcomeKind::Skipped, why.to_string());
                return Body::Nothing(outcome);
            }
        };
        let robots = self.asked_by_header(answer);
        let links = followed(&extracted.links).collect();
        Body::Text(Box::new(Text {
            extracted,
            representation: match markup {
                Markup::Markdown => Representation::Markdown,
                Markup::Text => Representation::Text,
            },
            robots,
            links: in_scope(self.plan, robots, links),
            canonical: None,
            guess: None,
        }))
    }

    fn asked_by_header(&self, answer: &SpooledAnswer) -> MetaRobots {
        answer.robots.lines().fold(MetaRobots::default(), |asked, value| {
            asked.and(MetaRobots::from_header(value, self.bot))
        })
    }
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
