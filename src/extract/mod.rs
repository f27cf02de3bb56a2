//! From the bytes of a document to a page's text, its links and notes.
//!
//! This module owns the rules by which a text is cleaned, its front matter brought into
//! one form, its title chosen and its links found. It guarantees that
//!
//! * it is pure: the same bytes give the same result on every machine, and [`VERSION`]
//!   rises when the rules give another one;
//! * it is total: no document makes it fail, panic or take more than time in proportion to
//!   its length. What cannot be read is left out or kept as it was found, with a note. Only
//!   bytes that are no text have no result, which is an outcome and no error;
//! * the text of the body stays as its authors wrote it, but for line ends, blank lines at
//!   both ends and what the configuration calls noise.
//!
//! It knows no file, no network and no clock.

mod autolink;
mod front_matter;
pub mod html;
mod links;
mod markdown;
mod nesting;
mod noise;
mod soft_error;
mod tags;
mod text;
mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;

pub use noise::Noise;
pub use soft_error::soft_error;
pub use text::NotText;

use crate::model::{Link, Note, Resolve};
use front_matter::{FrontMatter, MAX_TITLE};
use links::Links;

/// Version of the rules below; a change of output raises it.
pub const VERSION: u32 = 2;

/// How a text is marked up, as far as it is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// `CommonMark` with the extensions of GitHub and YAML front matter.
    Markdown,
    /// Anything else: only bare web addresses are understood.
    Text,
}

/// A document as it was read.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// Its bytes in whatever encoding.
    pub bytes: &'a [u8],
    /// How it is marked up.
    pub markup: Markup,
    /// File name, the last resort for a title.
    pub name: &'a str,
    /// What references in it are relative to.
    pub base: &'a dyn Resolve,
    /// What is left out.
    pub noise: &'a Noise,
}

impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("name", &self.name)
            .field("markup", &self.markup)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// What a document holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Title on one line, at most 500 characters.
    pub title: String,
    /// Front matter that is neither title nor noise, as canonical YAML lines each ended by
    /// a newline; one line that begins with `"` where it could not be read; or empty.
    pub upstream: String,
    /// The text: LF, one newline at the end, or empty.
    pub body: String,
    /// The links, sorted, each once.
    pub links: Vec<Link>,
    /// What was unusual.
    pub notes: Vec<Note>,
}

/// Extracts text, title, front matter and links.
///
/// # Errors
/// The bytes are not a text.
pub fn extract(document: &Document<'_>) -> Result<Extracted, NotText> {
    let text = text::decode(document.bytes)?;
    let (block, body) = match document.markup {
        Markup::Markdown => front_matter::split(&text),
        Markup::Text => (None, text.as_str()),
    };
    let FrontMatter { title, upstream, mut notes } =
        block.map(|block| front_matter::read(block, document.noise)).unwrap_or_default();
    let body = text::trim_blank_lines(&document.noise.remove(body.to_owned()));
    let mut links = Links::new(document.base);
    let heading = match document.markup {
        Markup::Markdown => markdown::read(&body, &mut links),
        Markup::Text => {
            markdown::read_text(&body, &mut links);
            None
        }
    };
    let (links, link_notes) = links.finish();
    notes.extend(link_notes);
    let line = |text: &str| Some(text::one_line(text, MAX_TITLE)).filter(|line| !line.is_empty());
    let title = title
        .or_else(|| heading.as_deref().and_then(line))
        .unwrap_or_else(|| text::one_line(document.name, MAX_TITLE));
    Ok(Extracted { title, upstream, body, links, notes })
}
