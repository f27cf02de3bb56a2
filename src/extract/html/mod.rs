//! From the bytes of a page of the web to Markdown, its links and notes.
//!
//! It guarantees what [`extract`](super) guarantees: the same bytes give the same result,
//! any bytes give one, in time proportional to their length and memory bounded by it.
//!
//! A page goes through these steps: its encoding is found ([`charset`]), it is parsed with
//! bounds on depth and number ([`limit`], [`parse`], [`dom`]), its content is chosen
//! ([`main_content`]), and that is written as Markdown: blocks by [`render`] and the modules
//! named after what they write, running text by [`inline`] (to pieces, [`line`](mod@line))
//! and [`text`] (to Markdown).

mod admonition;
mod charset;
mod code;
mod dom;
mod element;
mod emphasis;
mod escape;
mod footnotes;
mod grid;
mod inline;
mod limit;
mod line;
mod list;
mod main_content;
mod math;
mod meta;
mod parse;
mod raw;
mod references;
mod render;
mod selector;
mod table;
mod tabs;
mod text;
mod words;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

pub use main_content::Selectors;
pub use meta::MetaRobots;
pub use selector::InvalidSelector;

use super::Noise;
use super::front_matter::MAX_TITLE;
use super::text::{one_line, trim_blank_lines};
use crate::model::{Link, Note, PageUrl, Resolve};
use dom::{Id, Tree};
use element::Tag;
use meta::Head;
use references::References;
use render::Renderer;

/// A page of the web as it was read.
#[derive(Clone, Copy)]
pub struct HtmlDocument<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The encoding that the HTTP header named.
    pub charset: Option<&'a str>,
    /// The last resort for a title.
    pub name: &'a str,
    /// What references in it are relative to.
    pub base: &'a dyn Resolve,
    /// What of it is content.
    pub selectors: &'a Selectors,
    /// What is left out of its text.
    pub noise: &'a Noise,
    /// Product token of the bot, for what the page asks of it alone.
    pub bot: &'a str,
}

impl fmt::Debug for HtmlDocument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HtmlDocument")
            .field("name", &self.name)
            .field("charset", &self.charset)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// What a page of the web holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractedHtml {
    /// Title on one line, at most 500 characters.
    pub title: String,
    /// The content as Markdown: LF, one newline at the end, or empty.
    pub body: String,
    /// The links of the content, sorted, each once.
    pub links: Vec<Link>,
    /// What was unusual.
    pub notes: Vec<Note>,
    /// The address that the page calls its own.
    pub canonical: Option<PageUrl>,
    /// Where the page says that its Markdown is.
    pub markdown: Option<PageUrl>,
    /// Why the choice of the content was a guess, if it was one; it stands in the notes too.
    pub guess: Option<&'static str>,
    /// What the page asks of robots.
    pub robots: MetaRobots,
    /// Where links lead that are not part of the content, sorted, each once, without those
    /// that are not to be followed.
    pub outside_links: Vec<PageUrl>,
    /// The name of the encoding it was in.
    pub charset: &'static str,
    /// What could not be decoded, where that is too much for the text to be kept.
    pub garbled: Option<String>,
}

/// Extracts title, content and links of a page.
#[must_use]
pub fn extract_html(document: &HtmlDocument<'_>) -> ExtractedHtml {
    let decoded = charset::decode(document.bytes, document.charset);
    let parsed = parse::parse(&decoded.text);
    let mut tree = parsed.tree;
    let head = Head::read(&tree, document.bot);
    let content = main_content::choose(&mut tree, document.selectors);
    render::mark_blocks(&mut tree, &content.roots);
    let own_base = meta::resolved(head.base.as_deref(), document.base);
    let references = References::new(document.base, own_base.as_ref());
    let mut renderer = Renderer::new(&tree, references);
    for root in &content.roots {
        renderer.root(*root);
        renderer.areas(*root);
    }
    let Renderer { references, writer, seen, .. } = renderer;
    let outside_links = outside(&tree, &seen, (&references, &head));
    let title = title(&tree, &content.roots, &head);
    let base = own_base.as_ref().map_or(document.base, |base| base as &dyn Resolve);
    let canonical = meta::resolved(head.canonical.as_deref(), base);
    let markdown = meta::resolved(head.markdown.as_deref(), base);
    let (links, mut notes) = references.finish();
    let own = parsed.notes.into_iter().chain(content.note).map(|it| Note(it.to_owned()));
    notes.splice(0..0, own.chain(decoded.notes));
    let name = one_line(document.name, MAX_TITLE);
    ExtractedHtml {
        title: title.unwrap_or(name),
        body: trim_blank_lines(&document.noise.remove(writer.finish())),
        links,
        notes,
        canonical,
        markdown,
        guess: content.note,
        robots: head.robots,
        outside_links,
        charset: decoded.encoding.name(),
        garbled: decoded.garbled,
    }
}

/// The first heading of the content that is of the first level, else the title of the page,
/// else any heading.
fn title(tree: &Tree, roots: &[Id], head: &Head) -> Option<String> {
    let line = |text: &str| Some(one_line(text, MAX_TITLE)).filter(|line| !line.is_empty());
    let headings = || {
        let nodes = roots.iter().flat_map(|root| tree.content_below(*root));
        nodes.filter(|id| matches!(tree.tag(*id), Some(Tag::Heading(_))))
    };
    let first = headings()
        .filter(|id| tree.is(*id, Tag::Heading(1)))
        .find_map(|id| line(&tree.plain_text(id)));
    first
        .or_else(|| head.title.as_deref().and_then(line))
        .or_else(|| headings().find_map(|id| line(&tree.plain_text(id))))
}

/// Where the links lead that were not met in the content, and what the head leads to.
fn outside(
    tree: &Tree,
    seen: &[bool],
    (references, head): (&References<'_>, &Head),
) -> Vec<PageUrl> {
    let is_open = |tree: &Tree, id: Id| !matches!(tree.name(id), "template" | "noscript");
    let links = tree
        .walk(Tree::ROOT, is_open)
        .filter(|id| matches!(tree.tag(*id), Some(Tag::A | Tag::Area)) && !seen[id.index()])
        .filter(|id| {
            let rel = tree.attribute(*id, "rel").unwrap_or_default();
            !rel.split_ascii_whitespace().any(|it| it.eq_ignore_ascii_case("nofollow"))
        })
        .filter_map(|id| tree.attribute(id, "href"));
    let all = links.chain(head.leads_to.iter().map(String::as_str));
    let set: BTreeSet<PageUrl> = all.filter_map(|href| references.outside(href)).collect();
    set.into_iter().collect()
}
