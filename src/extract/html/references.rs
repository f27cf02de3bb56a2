//! Where the references of a page lead.

use std::fmt::Write as _;

use super::super::links::Links;
use crate::model::{Link, Note, PageUrl, Resolve};

/// Schemes of which nothing is kept: they are programs or data, not addresses.
const NOT_KEPT: [&str; 6] = ["javascript", "data", "vbscript", "blob", "about", "file"];

/// Resolves references and keeps those of the content.
pub(super) struct References<'a> {
    base: &'a dyn Resolve,
    links: Links<'a>,
    /// Whether fragments alone lead to a place in the same page.
    local_fragments: bool,
}

/// Where a reference leads.
pub(super) struct Target {
    /// What stands in the Markdown.
    pub(super) address: String,
    /// What can be archived.
    pub(super) page: Option<PageUrl>,
}

impl<'a> References<'a> {
    /// References relative to `base`; `other` where the page names one itself.
    pub(super) fn new(base: &'a dyn Resolve, other: Option<&'a PageUrl>) -> Self {
        let local_fragments = other.is_none();
        let base = other.map_or(base, |other| other as &dyn Resolve);
        Self { base, links: Links::new(base), local_fragments }
    }

    /// Where a link leads; `None` where its text alone is kept.
    pub(super) fn link(&mut self, href: &str) -> Option<Target> {
        let href = href.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_control());
        if href.is_empty() && self.local_fragments {
            // The page itself (RFC 3986, section 4.4).
            let page = self.base.resolve("").ok()?;
            return Some(Target { address: page.to_string(), page: None });
        }
        if href.starts_with('#') && self.local_fragments {
            let address = if href.len() == 1 { "#".to_owned() } else { fragment(href) };
            return Some(Target { address, page: None });
        }
        if let Some(scheme) = scheme(href)
            && !scheme.eq_ignore_ascii_case("http")
            && !scheme.eq_ignore_ascii_case("https")
        {
            return kept_as_is(scheme, href);
        }
        // A fragment alone is relative to the base that the page names.
        let page = match href.strip_prefix('#') {
            Some(_) => self.base.resolve("").ok()?,
            None if href.is_empty() => self.base.resolve("").ok()?,
            None => self.links.resolve(href)?,
        };
        let part = href.find('#').map_or(String::new(), |at| fragment(&href[at..]));
        let address = format!("{page}{part}");
        Some(Target { address, page: Some(page) })
    }

    /// The absolute address of an image.
    pub(super) fn image(&self, source: &str) -> Option<String> {
        let source = source.trim();
        if source.is_empty() || source.starts_with('#') {
            return None;
        }
        self.base.resolve(source).ok().map(|url| url.as_str().to_owned())
    }

    /// Keeps a link of the content.
    pub(super) fn record(&mut self, to: PageUrl, text: &str, rel: &str) {
        self.links.record(to, text, rel);
    }

    /// Where something leads that is no link of the content.
    pub(super) fn outside(&self, href: &str) -> Option<PageUrl> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        self.base.resolve(href).ok()
    }

    pub(super) fn note(&mut self, text: &str) {
        self.links.note(text);
    }

    pub(super) fn finish(self) -> (Vec<Link>, Vec<Note>) {
        self.links.finish()
    }
}

/// The scheme of an address (RFC 3986, section 3.1).
fn scheme(href: &str) -> Option<&str> {
    let (scheme, _) = href.split_once(':')?;
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let begins = scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    (begins && scheme.bytes().all(allowed)).then_some(scheme)
}

/// Other addresses stay as they are; one that may hold a password does not.
fn kept_as_is(scheme: &str, href: &str) -> Option<Target> {
    let dropped = NOT_KEPT.iter().any(|it| scheme.eq_ignore_ascii_case(it));
    let secret = href.contains("://") && href.contains('@');
    let fits = href.len() <= 2_048 && !dropped && !secret;
    fits.then(|| Target { address: href.split_whitespace().collect(), page: None })
}

/// A fragment, at most of the length of an address.
fn fragment(text: &str) -> String {
    if text.len() <= 1 || text.len() > 2_048 {
        return String::new();
    }
    let mut fragment = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_whitespace() || c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(fragment, "%{byte:02X}");
                }
            }
            c => fragment.push(c),
        }
    }
    fragment
}
