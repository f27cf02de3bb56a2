//! Header fields: what is sent, and what is read of what came.

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, DATE, ETAG, FROM, HeaderMap,
    HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LINK, LOCATION,
    RETRY_AFTER, TRANSFER_ENCODING, USER_AGENT,
};

use super::Request;
use super::decode::{self, Coding};
use super::failure::HttpFailure;
use crate::model::{Bot, MediaType, Validators};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// A page, as Markdown where the site has it.
    Page,
    /// A page as HTML.
    Html,
    /// robots.txt.
    Robots,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// A feed.
    Feed,
    /// A document such as a PDF file.
    Document,
}

impl Accept {
    /// The Accept header (RFC 9110, section 12.5.1).
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Self::Page => "text/markdown, text/html;q=0.9",
            Self::Html => "text/html",
            Self::Robots => "text/plain, */*;q=0.1",
            Self::Sitemap => "application/xml, text/xml;q=0.9, text/plain;q=0.8, */*;q=0.1",
            Self::Feed => {
                "application/atom+xml, application/rss+xml, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.1"
            }
            Self::Document => "application/pdf, */*;q=0.1",
        }
    }
}

/// Fields of a response that somebody asks about. Texts are as they came, octets beyond
/// ASCII as characters of ISO 8859-1 unless said otherwise; they are not fit to be printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Content-Type; the last one where there are several.
    pub content_type: Option<String>,
    /// `ETag` and Last-Modified; the first ones.
    pub validators: Validators,
    /// Date; the first one.
    pub date: Option<String>,
    /// Location, read as UTF-8; `None` where there are several that differ.
    pub location: Option<String>,
    /// All values of Retry-After.
    pub retry_after: Vec<String>,
    /// All values of Link.
    pub link: Vec<String>,
    /// All values of X-Robots-Tag.
    pub x_robots_tag: Vec<String>,
}

impl Headers {
    /// The media type, where the response names one.
    #[must_use]
    pub fn media_type(&self) -> Option<MediaType> {
        MediaType::parse(self.content_type.as_deref()?)
    }

    pub(super) fn of(map: &HeaderMap) -> Self {
        let all = |name: &HeaderName| -> Vec<String> {
            map.get_all(name).iter().map(|value| latin1(value.as_bytes())).collect()
        };
        let first = |name| map.get(name).map(|value| latin1(value.as_bytes()));
        Self {
            content_type: all(&CONTENT_TYPE).pop(),
            validators: Validators { etag: first(&ETAG), last_modified: first(&LAST_MODIFIED) },
            date: first(&DATE),
            location: location(map),
            retry_after: all(&RETRY_AFTER),
            link: all(&LINK),
            x_robots_tag: all(&HeaderName::from_static("x-robots-tag")),
        }
    }
}

fn location(map: &HeaderMap) -> Option<String> {
    let mut values = map.get_all(LOCATION).iter();
    let first = values.next()?;
    values
        .all(|other| other == first)
        .then(|| String::from_utf8_lossy(first.as_bytes()).into_owned())
}

/// The codings of the body that are to be undone.
pub(super) fn codings(map: &HeaderMap) -> Result<Vec<Coding>, HttpFailure> {
    // None was asked for (no TE), so that a response may not have one (RFC 9112, section 7.3).
    for value in map.get_all(TRANSFER_ENCODING) {
        if !value.as_bytes().eq_ignore_ascii_case(b"chunked") {
            let why = "it has a transfer coding that was not asked for";
            return Err(HttpFailure::Protocol(why.to_owned()));
        }
    }
    decode::codings(map.get_all(CONTENT_ENCODING).iter().map(HeaderValue::as_bytes))
}

/// What goes with every request; `None` where the bot's words cannot stand in a header.
pub(super) fn of_every_request(bot: &Bot) -> Option<HeaderMap> {
    Some(HeaderMap::from_iter([
        (USER_AGENT, HeaderValue::from_str(&bot.user_agent()).ok()?),
        (FROM, HeaderValue::from_str(bot.from_header()).ok()?),
    ]))
}

/// What goes with one request. Both validators are sent (RFC 9110, section 13.1), octet for
/// octet as they came.
pub(super) fn of_request(request: &Request<'_>) -> HeaderMap {
    let coding = if request.gzip { "gzip" } else { "identity" };
    let mut map = HeaderMap::from_iter([
        (ACCEPT, HeaderValue::from_static(request.accept.header())),
        (ACCEPT_ENCODING, HeaderValue::from_static(coding)),
    ]);
    let Some(validators) = request.validators else { return map };
    for (name, text) in
        [(IF_NONE_MATCH, &validators.etag), (IF_MODIFIED_SINCE, &validators.last_modified)]
    {
        // What never came from a header is no validator.
        if let Some(value) = text.as_deref().and_then(octets) {
            map.insert(name, value);
        }
    }
    map
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Undoes [`latin1`].
fn octets(text: &str) -> Option<HeaderValue> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}
