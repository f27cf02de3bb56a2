//! What a reader finds in HTML: words, headings, code, links, tables.
//!
//! What is left out, and why:
//!
//! * marks of footnotes, as links: Markdown has a notation of its own for them (`[^1]`), which
//!   leads to a place that the reader of Markdown names;
//! * links within blocks of code: a fence holds text only;
//! * links to addresses with a user's name, to programs, data and files of a machine: the
//!   converter keeps their text alone, since an archive must not hold passwords, and none of
//!   the others lead anywhere;
//! * mathematics: its TeX source stands in Markdown, which is not the text of the page;
//! * the name of a box ("Note") where that is all its title says: an alert of Markdown says it
//!   by its kind.
//!
//! What Markdown says in another form is counted in that: a term with its meanings is an item of
//! a list, a cell over several columns or rows stands in the first of them.

use std::collections::HashSet;

use url::Url;

use super::content;
use super::rows::Table;
use super::tree::{Element, Page};

/// What is found, in the order of [`Features`].
pub const NAMES: [&str; 9] =
    ["words", "headings", "code", "links", "rows", "languages", "inline code", "images", "items"];
/// How many of them, from the first on, make a page perfect.
pub const COUNTED: usize = 5;

const WORDS: usize = 0;
const HEADINGS: usize = 1;
const CODE: usize = 2;
const LINKS: usize = 3;
pub const ROWS: usize = 4;
const LANGUAGES: usize = 5;
const INLINE_CODE: usize = 6;
const IMAGES: usize = 7;
const ITEMS: usize = 8;

/// Sequences of what was found, one a name.
#[derive(Default)]
pub struct Features {
    pub found: [Vec<String>; NAMES.len()],
    /// The rows of all tables, also of those that Markdown has no form for.
    pub all_rows: Vec<String>,
}

/// Features of the content of a page.
pub fn of_page(html: &str, base: &Url) -> Features {
    let page = Page::parse(html);
    let content = content::find(&page);
    let own = own_base(&page, base);
    let base = (own.as_ref().unwrap_or(base), own.is_none());
    Reader::new(base, &content.dropped).read(&content.root)
}

/// Features of HTML that a reader of Markdown made.
pub fn of_markdown(html: &str, base: &Url) -> Features {
    let page = Page::parse(html);
    let classes = ["markdown-alert-title", "footnote-backref", "footnote-definition-label"];
    let is_dropped = |it: &Element| {
        matches!(it.name(), "input" | "head") || classes.iter().any(|class| it.has_class(class))
    };
    let all = page.root().below();
    let dropped = all.iter().filter(|it| is_dropped(it)).map(Element::key).collect();
    Reader::new((base, true), &dropped).read(&page.root())
}

/// The base that a page names itself.
pub fn own_base(page: &Page, base: &Url) -> Option<Url> {
    let all = page.root().below();
    let href = all.iter().filter(|it| it.name() == "base").find_map(|it| it.attr("href"))?;
    base.join(&href).ok()
}

struct Reader<'a> {
    base: &'a Url,
    /// Whether a fragment alone leads to the page itself.
    local: bool,
    dropped: &'a HashSet<usize>,
    found: Features,
    /// All text.
    text: String,
    /// The text of the heading that is open, and the names of those around it.
    heading: Option<String>,
    headings: Vec<String>,
    /// How many blocks are open that ended a heading around them.
    apart: usize,
    pre: Option<Pre>,
    code: Option<String>,
    link: Option<(String, String)>,
    /// The tables that are open.
    tables: Vec<Table>,
    /// The lists that are open.
    lists: Vec<char>,
}

#[derive(Default)]
struct Pre {
    text: String,
    new_line: bool,
}

impl<'a> Reader<'a> {
    fn new((base, local): (&'a Url, bool), dropped: &'a HashSet<usize>) -> Self {
        Self {
            base,
            local,
            dropped,
            found: Features::default(),
            text: String::new(),
            heading: None,
            headings: Vec::new(),
            apart: 0,
            pre: None,
            code: None,
            link: None,
            tables: Vec::new(),
            lists: Vec::new(),
        }
    }

    fn read(mut self, root: &Element) -> Features {
        self.node(root);
        // A character without width shows nothing, unless it stands in a word.
        let shows = |word: &&str| {
            word.chars().any(|it| !matches!(it, '\u{200b}'..='\u{200d}' | '\u{feff}'))
        };
        self.found.found[WORDS] =
            self.text.split_whitespace().filter(shows).map(str::to_owned).collect();
        self.found
    }

    fn node(&mut self, node: &Element) {
        if let Some(text) = node.own_text() {
            self.push(&text);
            return;
        }
        let is_none = self.dropped.contains(&node.key());
        if is_none || is_mathematics(node) || is_name_of_box(node) {
            return;
        }
        self.open(node);
        for child in node.children() {
            self.node(&child);
        }
        self.close(node);
    }

    fn add(&mut self, which: usize, what: String) {
        self.found.found[which].push(what);
    }

    fn push(&mut self, text: &str) {
        if let Some(pre) = &mut self.pre {
            let due = std::mem::take(&mut pre.new_line);
            if due && !pre.text.is_empty() && !pre.text.ends_with('\n') && !text.starts_with('\n') {
                pre.text.push('\n');
            }
            pre.text.push_str(text);
        }
        self.text.push_str(text);
        let link = self.link.as_mut().map(|(_, text)| text);
        for part in [self.heading.as_mut(), self.code.as_mut(), link].into_iter().flatten() {
            part.push_str(text);
        }
        for table in &mut self.tables {
            table.push(text);
        }
    }

    /// The begin or end of a block: words are parted, and links.
    fn boundary(&mut self) {
        let pre = self.pre.take();
        self.push(" ");
        self.pre = pre.map(|pre| Pre { new_line: true, ..pre });
        self.end_link();
    }

    fn end_link(&mut self) {
        let Some((address, text)) = &mut self.link else { return };
        let text = plain(&std::mem::take(text));
        let mark = text.trim_matches(['[', ']']);
        let is_footnote = address.starts_with('#')
            && (mark.len() == 1 || mark.len() <= 4 && mark.bytes().all(|it| it.is_ascii_digit()));
        if !text.is_empty() && !is_footnote && self.pre.is_none() {
            let link = format!("{address} {text}");
            self.add(LINKS, link);
        }
    }

    fn open(&mut self, element: &Element) {
        let name = element.name();
        if name == "br" {
            self.push(if self.pre.is_some() { "\n" } else { " " });
        } else if is_block(name) {
            self.boundary();
        }
        if matches!(name, "table" | "pre" | "ul" | "ol" | "dl" | "blockquote" | "details") {
            self.part_heading(has_rows(element));
        }
        match name {
            "a" => {
                self.link = self.address(element).map(|address| (address, String::new()));
            }
            "img" if self.pre.is_none() => {
                let source = element.attr("src").and_then(|it| self.base.join(it.trim()).ok());
                let alt = plain(&element.attr("alt").unwrap_or_default());
                if let Some(source) = source {
                    self.add(IMAGES, format!("{} {alt}", decoded(source.as_str())));
                }
            }
            "pre" if self.pre.is_none() => {
                self.pre = Some(Pre::default());
                if let Some(language) = language(element) {
                    self.add(LANGUAGES, language);
                }
            }
            "code" | "tt" | "samp" if self.pre.is_none() && self.code.is_none() => {
                self.code = Some(String::new());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_heading();
                self.headings.push(name.to_owned());
                self.heading = Some(String::new());
            }
            "ul" | "dl" => self.lists.push('-'),
            "ol" => self.lists.push('1'),
            "li" | "dt" | "dd" if name == "li" || begins_group(element) => {
                let kind = self.lists.last().copied().unwrap_or('-');
                let item = format!("{kind}{}", self.lists.len());
                self.add(ITEMS, item);
            }
            "table" => self.tables.push(Table::new(is_simple(element, self.dropped))),
            "thead" | "tbody" | "tfoot" => self.in_table(Table::begin_group),
            "tr" => self.in_table(Table::begin_row),
            "td" | "th" => {
                let span = |name| element.attr(name).and_then(|it| it.trim().parse().ok());
                let (columns, rows) = (span("colspan"), span("rowspan"));
                self.in_table(|it| it.begin_cell(columns.unwrap_or(1), rows.unwrap_or(1)));
            }
            _ => {}
        }
    }

    fn in_table(&mut self, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.tables.last_mut() {
            change(table);
        }
    }

    /// Ends a heading: what it said is one.
    fn end_heading(&mut self) {
        let text = plain(&self.heading.take().unwrap_or_default());
        if let Some(name) = self.headings.last().filter(|_| !text.is_empty()) {
            let heading = format!("{name} {text}");
            self.add(HEADINGS, heading);
        }
    }

    /// A block in a heading that has said something is no part of it, and ends it; what follows
    /// the block is another. Nor is a table of several rows, ever.
    fn part_heading(&mut self, has_rows: bool) {
        if self.heading.as_ref().is_some_and(|it| has_rows || !it.trim().is_empty()) {
            self.end_heading();
            self.apart += 1;
        } else if self.apart > 0 {
            self.apart += 1;
        }
    }

    fn close(&mut self, element: &Element) {
        let name = element.name();
        match name {
            "a" => {
                self.end_link();
                self.link = None;
            }
            "pre" => {
                let Some(pre) = self.pre.take() else { return };
                let text = pre.text.replace("\r\n", "\n");
                self.add(CODE, text.strip_suffix('\n').unwrap_or(&text).to_owned());
            }
            "code" | "tt" | "samp" if self.pre.is_none() => {
                let code = plain(&self.code.take().unwrap_or_default());
                if !code.is_empty() {
                    self.add(INLINE_CODE, code);
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_heading();
                self.headings.pop();
                self.heading = (!self.headings.is_empty()).then(String::new);
            }
            "ul" | "ol" | "dl" => {
                self.lists.pop();
            }
            "table" => {
                if let Some(table) = self.tables.pop() {
                    let is_simple = table.is_simple;
                    let rows = table.rows();
                    self.found.all_rows.extend_from_slice(&rows);
                    if is_simple {
                        self.found.found[ROWS].extend(rows);
                    }
                }
            }
            "td" | "th" => self.in_table(Table::end_cell),
            _ => {}
        }
        if matches!(name, "table" | "pre" | "ul" | "ol" | "dl" | "blockquote" | "details")
            && self.apart > 0
        {
            self.apart -= 1;
            if self.apart == 0 {
                self.heading = Some(String::new());
            }
        }
        if is_block(name) {
            self.boundary();
        }
    }

    /// Where a link leads, as far as it is an address; footnotes are told by their words.
    fn address(&self, link: &Element) -> Option<String> {
        let href = link.attr("href")?;
        let href = href.trim();
        if href.starts_with('#') && self.local {
            return Some(decoded(href));
        }
        let mut url = self.base.join(href).ok()?;
        // The dot at the end of a name is no part of a canonical address.
        if let Some(host) = url.host_str().and_then(|it| it.strip_suffix('.')).map(str::to_owned) {
            url.set_host(Some(&host)).ok()?;
        }
        let kept = !matches!(url.scheme(), "javascript" | "data" | "file" | "blob" | "about")
            && url.username().is_empty()
            && url.password().is_none();
        (kept && url.as_str().len() <= 2048).then(|| decoded(url.as_str()))
    }
}

/// Text with single spaces between its words.
pub fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An address without percent-encoding, which readers of Markdown add as they like.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let [first, tail @ ..] = rest {
        let coded = (*first == b'%').then(|| tail.get(..2)).flatten();
        let coded = coded.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(coded.unwrap_or(*first));
        rest = if coded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// Mathematics, which has its own notation in Markdown.
fn is_mathematics(element: &Element) -> bool {
    element.name() == "math"
        || element.has_attr("data-math-style")
        || element.has_class("math-inline")
        || element.has_class("math-display")
}

/// Whether an element says what kind of box it stands in, and nothing else: an alert of
/// Markdown says that by its kind.
fn is_name_of_box(element: &Element) -> bool {
    if !matches!(element.name(), "p" | "div" | "span" | "strong" | "b" | "em") {
        return false;
    }
    let names = ["note", "tip", "hint", "important", "attention", "warning", "caution", "danger"];
    let text = element.short_text();
    let text = text.trim().trim_end_matches(':').to_lowercase();
    names.contains(&text.as_str())
        && element.above().take(4).any(|it| {
            it.classes().iter().any(|it| {
                let it = it.to_lowercase();
                names.contains(&it.as_str()) || it.contains("admonition") || it.contains("alert")
            })
        })
}

fn has_rows(element: &Element) -> bool {
    let below = if element.name() == "table" { element.below() } else { Vec::new() };
    below.iter().filter(|it| it.name() == "tr").count() > 1
}

/// Whether an element is the first of the terms or meanings that stand together.
fn begins_group(element: &Element) -> bool {
    let before = element.before();
    match (element.name(), before.as_ref().map(Element::name)) {
        ("dt", Some("dt")) => false,
        ("dt", _) => true,
        (_, before) => before.is_none(),
    }
}

/// Whether the cells of a table hold running text only, or paragraphs of it. A table of one row
/// or one column with paragraphs in it is a frame around text.
fn is_simple(table: &Element, dropped: &HashSet<usize>) -> bool {
    if table.is_role("presentation") || table.is_role("none") {
        return false;
    }
    let mut below = Vec::new();
    shown_below(table, dropped, &mut below);
    let only_text = below.iter().all(|it| {
        let part = matches!(
            it.name(),
            "tr" | "td" | "th" | "tbody" | "thead" | "tfoot" | "caption" | "colgroup" | "col"
        );
        part || !is_block(it.name()) || matches!(it.name(), "p" | "div")
    });
    let is_headed = below.iter().any(|it| matches!(it.name(), "th" | "thead"));
    let has_paragraphs = below.iter().any(|it| matches!(it.name(), "p" | "div"));
    let cells = below.iter().filter(|it| it.name() == "tr").map(|row| {
        let cells = row.elements();
        cells.iter().filter(|it| it.name() == "td").count()
    });
    let cells: Vec<usize> = cells.collect();
    let is_frame = cells.len() == 1 || cells.iter().all(|it| *it == 1);
    only_text && (is_headed || !has_paragraphs || !is_frame)
}

fn shown_below(element: &Element, dropped: &HashSet<usize>, found: &mut Vec<Element>) {
    for it in element.elements() {
        if !dropped.contains(&it.key()) {
            found.push(it.clone());
            shown_below(&it, dropped, found);
        }
    }
}

/// The language of a block of code.
fn language(pre: &Element) -> Option<String> {
    let code = pre.elements().into_iter().find(|it| it.name() == "code");
    let places = code.into_iter().chain([pre.clone()]).chain(pre.above().take(2));
    places.into_iter().find_map(|it| {
        let classes = it.classes();
        let named = classes.iter().find_map(|class| {
            ["language-", "lang-", "highlight-"].iter().find_map(|it| class.strip_prefix(it))
        });
        named.filter(|it| !it.is_empty()).map(str::to_owned)
    })
}
