//! Sitemaps, indexes and feeds in XML.
//!
//! Tags are followed leniently: an entry ends where its end tag is, where the next one
//! begins or where the file ends, and only in the first case it is given out. Nesting is
//! counted, never followed by recursion. No entity is expanded but the five of XML itself.

use std::borrow::Cow;
use std::ops::ControlFlow;

use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::characters::Characters;
use super::draft::{Captured, Draft, Field};
use super::layers::Stop;
use super::{Fault, Kind, Sink};
use crate::discover::LastMod;
use crate::model::PageUrl;

/// How deep an entry may stand.
const DEEPEST: u64 = 64;
/// How many open tags the XML reader remembers before it is made to forget them.
const REMEMBERED: u32 = 1024;
/// The namespace of the protocol, in all its versions.
const NAMESPACE: &str = "www.sitemaps.org/schemas/sitemap/";
/// Elements that a program's complaints in HTML put in front of a sitemap.
const JUNK: [&str; 8] = ["b", "br", "p", "i", "font", "pre", "span", "div"];

/// Reads XML to its end.
pub(super) fn read(input: Characters<'_>, sink: &mut Sink<'_>) {
    let mut walker = Walker::new(sink);
    let mut reader = reader_of(input);
    let (mut buffer, mut open) = (Vec::new(), 0_u32);
    loop {
        buffer.clear();
        reader.get_mut().mark();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => return walker.end(),
            Ok(event) => event,
            Err(Error::Io(error)) => return walker.sink.stop(&Stop::of(&error)),
            Err(_) => {
                // The reader goes no further after a fault; what it has not taken is whole.
                walker.broken();
                reader = reader_of(reader.into_inner());
                open = 0;
                continue;
            }
        };
        match &event {
            Event::Start(_) => open += 1,
            Event::End(_) => open = open.saturating_sub(1),
            _ => {}
        }
        if walker.event(&event).is_break() {
            return;
        }
        if open > REMEMBERED {
            reader = reader_of(reader.into_inner());
            open = 0;
        }
    }
}

fn reader_of(input: Characters<'_>) -> Reader<Characters<'_>> {
    let mut reader = Reader::from_reader(input);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

/// The root element.
#[derive(Default)]
struct Root {
    /// Its name as it stands in the tag.
    name: String,
    /// Prefixes of elements that count, with the colon; the empty one is none.
    prefixes: Vec<String>,
    /// What a feed's links are relative to.
    base: Option<PageUrl>,
    closed: bool,
}

struct Walker<'s, 'r> {
    sink: &'s mut Sink<'r>,
    root: Root,
    draft: Option<Draft>,
    /// Open elements outside of an entry.
    depth: u64,
    /// Whether the file declares entities.
    declares: bool,
}

impl<'s, 'r> Walker<'s, 'r> {
    fn new(sink: &'s mut Sink<'r>) -> Self {
        Self { sink, root: Root::default(), draft: None, depth: 0, declares: false }
    }

    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::Empty(tag) => {
                self.start(tag)?;
                self.close(tag.name().as_ref())
            }
            Event::End(tag) => self.close(tag.name().as_ref()),
            Event::Text(text) => self.text(text),
            Event::CData(text) => self.text(text),
            Event::GeneralRef(reference) => self.reference(reference),
            Event::DocType(text) => {
                self.declares |= text.contains("<!ENTITY");
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> ControlFlow<()> {
        let Some(kind) = self.sink.report.kind else { return self.begin(tag) };
        let name = self.own_name(tag);
        if name.eq_ignore_ascii_case(entry_of(kind)) {
            self.spoil_draft(Fault::NotClosed)?;
            if self.depth <= DEEPEST {
                let base = self.base_at(tag);
                self.draft = Some(Draft { base, ..Draft::default() });
                return ControlFlow::Continue(());
            }
            self.sink.note("entries that stand too deep were not read");
        }
        if let Some(draft) = &mut self.draft {
            let direct = draft.inner == 0;
            draft.inner += 1;
            if let Some(captured) = draft.captured() {
                captured.spoil(Fault::Broken);
            } else if direct {
                self.field(kind, tag);
            }
        } else {
            self.depth += 1;
            let other = [Kind::Index, Kind::UrlSet].into_iter().find(|other| *other != kind);
            if kind.is_sitemap() && other.is_some_and(|other| name == entry_of(other)) {
                self.sink.note("entries of another kind than the file's were not read");
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks at the first element: it says what the file is.
    fn begin(&mut self, tag: &BytesStart<'_>) -> ControlFlow<()> {
        let name = tag.name();
        let name: &str = name.as_ref();
        let (prefix, local) = name.rsplit_once(':').unwrap_or(("", name));
        let local = local.to_ascii_lowercase();
        let kind = match local.as_str() {
            "urlset" => Kind::UrlSet,
            "sitemapindex" => Kind::Index,
            "rss" | "rdf" => Kind::Rss,
            "feed" => Kind::Atom,
            junk if JUNK.contains(&junk) => return ControlFlow::Continue(()),
            _ => return ControlFlow::Break(()),
        };
        let mut prefixes = vec![if prefix.is_empty() || kind == Kind::Rss {
            String::new()
        } else {
            format!("{prefix}:")
        }];
        for attribute in tag.attributes().with_checks(false).flatten() {
            let key: &str = attribute.key.as_ref();
            if let Some(rest) = key.strip_prefix("xmlns").filter(|_| kind.is_sitemap())
                && attribute.value.contains(NAMESPACE)
            {
                let own = rest.strip_prefix(':').map_or_else(String::new, |own| format!("{own}:"));
                prefixes.push(own);
            }
        }
        self.root = Root { name: name.to_owned(), prefixes, base: None, closed: false };
        self.sink.report.kind = Some(kind);
        self.root.base = self.base_at(tag).or_else(|| Some(self.sink.reading.base.clone()));
        self.depth = 1;
        ControlFlow::Continue(())
    }

    /// The local name of an element of the file's own vocabulary, else an empty text.
    fn own_name<'t>(&self, tag: &'t BytesStart<'_>) -> &'t str {
        let full = tag.name();
        let foreign = tag.attributes_raw().contains("xmlns")
            && tag.attributes().with_checks(false).flatten().any(|attribute| {
                let key: &str = attribute.key.as_ref();
                let redefined = key == "xmlns" && !full.as_ref().contains(':');
                redefined && !attribute.value.contains("schemas/sitemap/")
            });
        if foreign && self.sink.report.kind.is_some_and(Kind::is_sitemap) {
            return "";
        }
        self.local(full.into_inner())
    }

    /// What follows one of the prefixes that count.
    fn local<'t>(&self, name: &'t str) -> &'t str {
        let colon = name.rfind(':').map_or(0, |at| at + 1);
        let (prefix, local) = name.split_at(colon);
        if self.root.prefixes.iter().any(|own| own == prefix) { local } else { "" }
    }

    /// Opens a field of the entry, if the element is one that was not seen in it before.
    fn field(&mut self, kind: Kind, tag: &BytesStart<'_>) {
        let name = tag.name();
        let local = self.own_name(tag).to_ascii_lowercase();
        let field = match (kind, local.as_str()) {
            (Kind::UrlSet | Kind::Index, "loc") | (Kind::Rss | Kind::Atom, "link") => {
                Field::Address
            }
            (Kind::Rss, "guid") if attribute(tag, "isPermaLink").as_deref() != Some("false") => {
                Field::Identity
            }
            (Kind::Atom, "id") => Field::Identity,
            (Kind::UrlSet | Kind::Index, "lastmod")
            | (Kind::Rss, "pubdate")
            | (Kind::Atom, "updated" | "modified") => Field::LastMod,
            _ if kind == Kind::Rss && name.as_ref() == "dc:date" => Field::LastMod,
            _ => return,
        };
        let base = self.base_at(tag);
        let Some(draft) = &mut self.draft else { return };
        if draft.slot(field).is_some() {
            return;
        }
        if kind == Kind::Atom && field == Field::Address {
            let alternate = attribute(tag, "rel").is_none_or(|rel| rel == "alternate");
            if let Some(href) = attribute(tag, "href").filter(|_| alternate) {
                draft.slot(field).insert(Captured::default()).push(&href);
                draft.base = base.or_else(|| draft.base.take());
            }
            return;
        }
        *draft.slot(field) = Some(Captured::default());
        draft.open = Some((field, name.as_ref().to_owned()));
    }

    fn close(&mut self, name: &str) -> ControlFlow<()> {
        let Some(kind) = self.sink.report.kind else { return ControlFlow::Continue(()) };
        if self.local(name).eq_ignore_ascii_case(entry_of(kind)) && self.draft.is_some() {
            return self.finish();
        }
        if name.eq_ignore_ascii_case(&self.root.name) {
            self.root.closed = true;
            return self.spoil_draft(Fault::NotClosed);
        }
        match &mut self.draft {
            Some(draft) => {
                draft.inner = draft.inner.saturating_sub(1);
                if draft.inner == 0 {
                    draft.close(name);
                }
            }
            None => self.depth = self.depth.saturating_sub(1),
        }
        ControlFlow::Continue(())
    }

    fn text(&mut self, text: &str) -> ControlFlow<()> {
        if let Some(captured) = self.draft.as_mut().and_then(Draft::captured) {
            captured.push(text);
        }
        ControlFlow::Continue(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>) -> ControlFlow<()> {
        let Some(captured) = self.draft.as_mut().and_then(Draft::captured) else {
            return ControlFlow::Continue(());
        };
        let name: &str = reference;
        if let Some(text) = resolve_predefined_entity(name) {
            captured.push(text);
            return ControlFlow::Continue(());
        }
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            captured.push(character.encode_utf8(&mut [0; 4]));
            return ControlFlow::Continue(());
        }
        captured.push(&format!("&{name};"));
        // `?a=1&b=2;c=3` holds no reference, only an `&` that was not escaped.
        let is_name = |c: char| c.is_alphanumeric() || "#_-.:".contains(c);
        if name.chars().all(is_name) {
            captured.spoil(Fault::UnknownEntity);
            if self.declares {
                self.sink.report.partial = true;
                self.sink.note("entities that the file declares were not expanded");
            }
        }
        ControlFlow::Continue(())
    }

    /// Notes a fault of the markup itself.
    fn broken(&mut self) {
        if let Some(draft) = &mut self.draft {
            draft.fault.get_or_insert(Fault::Broken);
        }
    }

    fn spoil_draft(&mut self, fault: Fault) -> ControlFlow<()> {
        if let Some(draft) = &mut self.draft {
            draft.fault.get_or_insert(fault);
            return self.finish();
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self) -> ControlFlow<()> {
        let Some(mut draft) = self.draft.take() else { return ControlFlow::Continue(()) };
        let sitemap = self.sink.report.kind.is_some_and(Kind::is_sitemap);
        draft.close("");
        let lastmod = draft.lastmod.take().filter(|captured| captured.fault.is_none());
        let lastmod = lastmod.and_then(|captured| LastMod::parse(&captured.text));
        // The protocol asks for absolute addresses; those of feeds may be relative.
        let (text, url) = draft.finish(self.root.base.as_ref().filter(|_| !sitemap));
        match self.sink.give(&text, url, lastmod) {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        }
    }

    fn end(&mut self) {
        if self.sink.report.kind.is_some() && !self.root.closed {
            self.sink.report.partial = true;
            self.sink.note("the file ends early");
        }
        let _ = self.spoil_draft(Fault::NotClosed);
    }

    /// What relative addresses below a tag of a feed are relative to, where it says so.
    fn base_at(&self, tag: &BytesStart<'_>) -> Option<PageUrl> {
        let feed = !self.sink.report.kind.is_some_and(Kind::is_sitemap);
        if !(feed && tag.attributes_raw().contains("xml:base")) {
            return None;
        }
        let outer = self.draft.as_ref().and_then(|draft| draft.base.as_ref());
        let outer = outer.or(self.root.base.as_ref()).unwrap_or(self.sink.reading.base);
        outer.join(attribute(tag, "xml:base")?.trim()).ok()
    }
}

/// The element that is an entry in a file of that kind.
fn entry_of(kind: Kind) -> &'static str {
    match kind {
        Kind::UrlSet | Kind::Text => "url",
        Kind::Index => "sitemap",
        Kind::Rss => "item",
        Kind::Atom => "entry",
    }
}

/// The value of an attribute, as it stands where it cannot be resolved.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let found = attributes.with_checks(false).flatten().find(|found| found.key.as_ref() == name)?;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| found.value.to_string(), Cow::into_owned))
}
