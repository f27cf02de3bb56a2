//! Links and headings of Markdown: `CommonMark` with the extensions of GitHub.

use std::ops::Range;

use pulldown_cmark::{
    Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset,
};

use super::tags::{self, Piece};
use super::{autolink, links::Links, nesting};

/// Longest text that is parsed, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// How much of an anchor's text is collected, in bytes.
const MAX_ANCHOR: usize = 16 * 1024;

/// Collects the links of `body`; the text of its first heading of level 1, else of its
/// first heading. Text that only an attack would hold is searched for bare addresses only,
/// with a note.
pub(super) fn read(body: &str, links: &mut Links<'_>) -> Option<String> {
    let too_much = if body.len() > MAX_BYTES {
        Some("longer than 16 MiB")
    } else if nesting::is_too_deep(body) {
        Some("nested too deeply")
    } else {
        None
    };
    if let Some(reason) = too_much {
        links.note(&format!("searched for bare addresses only: {reason}"));
        read_text(body, links);
        return None;
    }
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut walker = Walker::new(body, links);
    let events = Parser::new_ext(body, options).into_offset_iter();
    for (event, range) in TextMergeWithOffset::new(events) {
        walker.event(event, range);
    }
    walker.close();
    walker.headings.level1.or(walker.headings.other)
}

/// Collects the bare addresses of a text without markup that we know.
pub(super) fn read_text(text: &str, links: &mut Links<'_>) {
    for range in autolink::find(text, None, "\"`[]{}|\\^") {
        add_bare(&text[range], links);
    }
}

fn add_bare(address: &str, links: &mut Links<'_>) {
    if address.starts_with("www.") {
        links.add(&format!("http://{address}"), address, "");
    } else {
        links.add(address, address, "");
    }
}

/// A link whose text is being collected.
struct Anchor {
    href: String,
    rel: String,
    text: String,
    /// Blocks that were opened inside of it and are still open.
    inner: usize,
}

#[derive(Default)]
struct Headings {
    level1: Option<String>,
    other: Option<String>,
    open: Option<String>,
}

impl Headings {
    fn start(&mut self, level: HeadingLevel) {
        let wanted = match level {
            HeadingLevel::H1 => self.level1.is_none(),
            _ => self.level1.is_none() && self.other.is_none(),
        };
        self.open = wanted.then(String::new);
    }

    fn end(&mut self, level: HeadingLevel) {
        let text = self.open.take().filter(|text| !text.trim().is_empty());
        match level {
            HeadingLevel::H1 => self.level1 = self.level1.take().or(text),
            _ => self.other = self.other.take().or(text),
        }
    }
}

struct Walker<'l, 'a> {
    source: &'l str,
    links: &'l mut Links<'a>,
    anchor: Option<Anchor>,
    headings: Headings,
    /// The HTML block that is being read.
    html: Option<String>,
    /// Images that are open: what is in them is alternative text.
    images: usize,
    in_code: bool,
    /// What stands before the next text, as far as bare addresses care.
    before: Option<char>,
    /// Up to where the source belongs to a bare address that was found.
    taken: usize,
}

impl<'l, 'a> Walker<'l, 'a> {
    fn new(source: &'l str, links: &'l mut Links<'a>) -> Self {
        Self {
            source,
            links,
            anchor: None,
            headings: Headings::default(),
            html: None,
            images: 0,
            in_code: false,
            before: None,
            taken: 0,
        }
    }

    fn event(&mut self, event: Event<'_>, at: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, at),
            Event::Code(text) => {
                self.words(&text);
                self.before = Some('`');
            }
            Event::Html(html) => {
                if let Some(block) = &mut self.html {
                    block.push_str(&html);
                }
            }
            Event::InlineHtml(html) => {
                if self.images == 0 && !html.starts_with("<!") && !html.starts_with("<?") {
                    self.html(&html);
                }
                self.before = Some('>');
            }
            Event::FootnoteReference(_) => self.before = Some(']'),
            Event::SoftBreak | Event::HardBreak => {
                self.words(" ");
                self.before = None;
            }
            Event::Rule
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => self.before = None,
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Link { .. } if self.images > 0 => {}
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.open(format!("mailto:{dest_url}"), String::new());
            }
            Tag::Link { dest_url, .. } => self.open(dest_url.into_string(), String::new()),
            Tag::Image { .. } => self.images += 1,
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough => self.before = Some('*'),
            Tag::HtmlBlock => self.html = Some(String::new()),
            Tag::Heading { level, .. } => {
                self.block_start();
                self.headings.start(level);
            }
            tag => {
                self.in_code |= matches!(tag, Tag::CodeBlock(_));
                self.block_start();
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link if self.images > 0 => {}
            TagEnd::Link => {
                self.close();
                self.before = Some(')');
            }
            TagEnd::Image => {
                self.images = self.images.saturating_sub(1);
                self.before = Some(')');
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.before = Some('*'),
            TagEnd::HtmlBlock => {
                if let Some(block) = self.html.take() {
                    self.html(&block);
                }
                self.before = None;
            }
            TagEnd::Heading(level) => {
                self.headings.end(level);
                self.block_end();
            }
            tag => {
                self.in_code &= tag != TagEnd::CodeBlock;
                self.block_end();
            }
        }
    }

    /// Running text: bare addresses in it are links, unless it is in a link, an image or
    /// code.
    fn text(&mut self, text: &str, at: Range<usize>) {
        let open = self.anchor.is_none() && self.images == 0 && !self.in_code;
        if open && at.start >= self.taken {
            for range in autolink::find(text, self.before, "") {
                match self.reaching_on(text, (&range, &at)) {
                    Some(address) => add_bare(address, self.links),
                    None => add_bare(&text[range], self.links),
                }
            }
        }
        self.words(text);
        self.before = text.chars().next_back();
    }

    /// A bare address at the end of a text that goes on behind it: what looks like emphasis
    /// within an address is a part of it.
    fn reaching_on(
        &mut self,
        text: &str,
        (found, at): (&Range<usize>, &Range<usize>),
    ) -> Option<&'l str> {
        let next = self.source[at.end..].chars().next()?;
        let is_source = self.source.get(at.clone()) == Some(text);
        let reaches = autolink::reaches_end(&text[found.start..]);
        if !is_source || !reaches || !matches!(next, '_' | '*' | '~') {
            return None;
        }
        let start = at.start + found.start;
        let line = self.source[start..].lines().next()?;
        let whole = autolink::find(line, None, "").into_iter().next().filter(|it| it.start == 0)?;
        self.taken = start + whole.end;
        Some(&line[whole])
    }

    /// Text for whatever is open.
    fn words(&mut self, text: &str) {
        let anchor = self.anchor.as_mut().map(|anchor| &mut anchor.text);
        for collected in [anchor, self.headings.open.as_mut()].into_iter().flatten() {
            let room = MAX_ANCHOR.saturating_sub(collected.len());
            collected.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    fn html(&mut self, html: &str) {
        let Some(pieces) = tags::pieces(html) else {
            self.links.note("HTML left out: a tag with very many attributes");
            return;
        };
        for piece in pieces {
            match piece {
                Piece::Anchor { href, rel } => {
                    self.close();
                    if let Some(href) = href {
                        self.open(href, rel);
                    }
                }
                Piece::AnchorEnd => self.close(),
                Piece::BlockStart => self.block_start(),
                Piece::BlockEnd => self.block_end(),
                Piece::Text(text) => self.words(&text),
            }
        }
    }

    /// Opens a link; one that is open ends there, as links do not nest.
    fn open(&mut self, href: String, rel: String) {
        self.close();
        self.anchor = Some(Anchor { href, rel, text: String::new(), inner: 0 });
    }

    fn close(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            self.links.add(&anchor.href, &anchor.text, &anchor.rel);
        }
    }

    fn block_start(&mut self) {
        self.words(" ");
        self.before = None;
        if let Some(anchor) = &mut self.anchor {
            anchor.inner += 1;
        }
    }

    /// Ends a block, and with it a link that was opened in it.
    fn block_end(&mut self) {
        self.words(" ");
        self.before = None;
        match &mut self.anchor {
            Some(anchor) if anchor.inner > 0 => anchor.inner -= 1,
            _ => self.close(),
        }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
