//! What a reader finds in HTML: words, headings, code, links, tables.

use std::collections::HashSet;

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::{ElementRef, Html, Node};
use url::Url;

use super::content;

/// What is found, in the order of [`Features`].
pub const NAMES: [&str; 9] =
    ["words", "headings", "code", "links", "rows", "languages", "inline code", "images", "items"];
/// How many of them, from the first on, make a page perfect.
pub const COUNTED: usize = 5;

const WORDS: usize = 0;
const HEADINGS: usize = 1;
const CODE: usize = 2;
const LINKS: usize = 3;
const ROWS: usize = 4;
const LANGUAGES: usize = 5;
const INLINE_CODE: usize = 6;
const IMAGES: usize = 7;
const ITEMS: usize = 8;

/// Sequences of what was found, one a name.
#[derive(Default)]
pub struct Features(pub [Vec<String>; NAMES.len()]);

/// Features of the content of a page.
pub fn of_page(html: &str, base: &Url) -> Features {
    let page = Html::parse_document(html);
    let content = content::find(&page);
    let own = scraper::Selector::parse("base[href]").expect("a selector");
    let own = page.select(&own).next().and_then(|it| base.join(it.attr("href")?).ok());
    let root = page.tree.get(content.root).expect("a node");
    Reader::new((own.as_ref().unwrap_or(base), own.is_none()), &content.dropped).read(root)
}

/// Features of HTML that a reader of Markdown made.
pub fn of_markdown(html: &str, base: &Url) -> Features {
    let page = Html::parse_document(html);
    let selector = scraper::Selector::parse(
        "input, .markdown-alert-title, .footnote-backref, head, .footnote-definition-label",
    );
    let dropped = page.select(&selector.expect("a selector")).map(|it| it.id()).collect();
    Reader::new((base, true), &dropped).read(page.tree.root())
}

struct Reader<'a> {
    base: &'a Url,
    /// Whether a fragment alone leads to the page itself.
    local: bool,
    dropped: &'a HashSet<NodeId>,
    found: Features,
    /// All text.
    text: String,
    heading: Option<String>,
    pre: Option<Pre>,
    code: Option<String>,
    link: Option<(String, String)>,
    cell: Option<String>,
    row: Vec<String>,
    /// The simple table that is open.
    table: Option<NodeId>,
    /// The lists that are open.
    lists: Vec<char>,
}

#[derive(Default)]
struct Pre {
    text: String,
    new_line: bool,
}

impl<'a> Reader<'a> {
    fn new((base, local): (&'a Url, bool), dropped: &'a HashSet<NodeId>) -> Self {
        Self {
            base,
            local,
            dropped,
            found: Features::default(),
            text: String::new(),
            heading: None,
            pre: None,
            code: None,
            link: None,
            cell: None,
            row: Vec::new(),
            table: None,
            lists: Vec::new(),
        }
    }

    fn read(mut self, root: NodeRef<'_, Node>) -> Features {
        let mut skipped = None;
        for edge in root.traverse() {
            match edge {
                Edge::Open(node) if skipped.is_none() => match node.value() {
                    Node::Text(text) => self.push(text),
                    Node::Element(_) => {
                        let element = ElementRef::wrap(node).expect("an element");
                        let is_none = self.dropped.contains(&node.id())
                            || is_mathematics(element)
                            || is_name_of_box(element);
                        if is_none {
                            skipped = Some(node.id());
                        } else {
                            self.open(element);
                        }
                    }
                    _ => {}
                },
                Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
                Edge::Close(node) if skipped.is_none() => {
                    if let Some(element) = ElementRef::wrap(node) {
                        self.close(element);
                    }
                }
                _ => {}
            }
        }
        self.found.0[WORDS] = self.text.split_whitespace().map(str::to_owned).collect();
        self.found
    }

    fn add(&mut self, which: usize, what: String) {
        self.found.0[which].push(what);
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
        let parts = [self.heading.as_mut(), self.code.as_mut(), link, self.cell.as_mut()];
        for part in parts.into_iter().flatten() {
            part.push_str(text);
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

    fn open(&mut self, element: ElementRef<'_>) {
        let name = element.value().name();
        if name == "br" {
            self.push(if self.pre.is_some() { "\n" } else { " " });
        } else if is_block(name) {
            self.boundary();
        }
        match name {
            "a" => {
                self.link = self.address(element).map(|address| (address, String::new()));
            }
            "img" if self.pre.is_none() => {
                let source = element.attr("src").and_then(|it| self.base.join(it.trim()).ok());
                let alt = plain(element.attr("alt").unwrap_or_default());
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
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading = Some(String::new()),
            "ul" => self.lists.push('-'),
            "ol" => self.lists.push('1'),
            "li" => {
                let kind = self.lists.last().copied().unwrap_or('-');
                let item = format!("{kind}{}", self.lists.len());
                self.add(ITEMS, item);
            }
            "table" if self.table.is_none() && is_simple(element, self.dropped) => {
                self.table = Some(element.id());
            }
            "td" | "th" if self.table.is_some() => self.cell = Some(String::new()),
            _ => {}
        }
    }

    fn close(&mut self, element: ElementRef<'_>) {
        let name = element.value().name();
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
                let text = plain(&self.heading.take().unwrap_or_default());
                if !text.is_empty() {
                    self.add(HEADINGS, format!("{name} {text}"));
                }
            }
            "ul" | "ol" => {
                self.lists.pop();
            }
            "table" if self.table == Some(element.id()) => self.table = None,
            "td" | "th" => {
                if let Some(cell) = self.cell.take() {
                    self.row.push(plain(&cell));
                }
            }
            "tr" => {
                let row = std::mem::take(&mut self.row).join(" | ");
                let row = row.trim_end_matches(['|', ' ']).to_owned();
                if self.table.is_some() && !row.is_empty() {
                    self.add(ROWS, row);
                }
            }
            _ => {}
        }
        if is_block(name) {
            self.boundary();
        }
    }

    /// Where a link leads, as far as it is an address; footnotes are told by their words.
    fn address(&self, link: ElementRef<'_>) -> Option<String> {
        let href = link.attr("href")?.trim();
        if href.starts_with('#') && self.local {
            return Some(decoded(href));
        }
        let url = self.base.join(href).ok()?;
        let kept = !matches!(url.scheme(), "javascript" | "data" | "file" | "blob" | "about");
        (kept && url.as_str().len() <= 2048).then(|| decoded(url.as_str()))
    }
}

/// Text with single spaces between its words.
fn plain(text: &str) -> String {
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

fn is_block(name: &str) -> bool {
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
fn is_mathematics(element: ElementRef<'_>) -> bool {
    element.value().name() == "math"
        || element.attr("data-math-style").is_some()
        || element.has_class_named("math-inline")
        || element.has_class_named("math-display")
}

trait HasClass {
    fn has_class_named(&self, name: &str) -> bool;
}

impl HasClass for ElementRef<'_> {
    fn has_class_named(&self, name: &str) -> bool {
        self.value().classes().any(|it| it == name)
    }
}

/// Whether an element says what kind of box it stands in, and nothing else: an alert of
/// Markdown says that by its kind.
fn is_name_of_box(element: ElementRef<'_>) -> bool {
    if !matches!(element.value().name(), "p" | "div" | "span" | "strong" | "b" | "em") {
        return false;
    }
    let names = ["note", "tip", "hint", "important", "attention", "warning", "caution", "danger"];
    let text: String = element.text().take(8).collect();
    let text = text.trim().trim_end_matches(':').to_lowercase();
    names.contains(&text.as_str())
        && element.ancestors().take(4).filter_map(ElementRef::wrap).any(|it| {
            let mut classes = it.value().classes();
            classes.any(|it| {
                let it = it.to_lowercase();
                names.contains(&it.as_str()) || it.contains("admonition") || it.contains("alert")
            })
        })
}

/// Whether no cell of a table holds more than running text, or one paragraph of it.
fn is_simple(table: ElementRef<'_>, dropped: &HashSet<NodeId>) -> bool {
    table.descendent_elements().skip(1).all(|it| {
        let name = it.value().name();
        let spans = |name| it.attr(name).is_some_and(|span| span.trim() != "1");
        let part = matches!(
            name,
            "tr" | "td" | "th" | "tbody" | "thead" | "tfoot" | "caption" | "colgroup" | "col"
        );
        let alone = || {
            matches!(name, "p" | "div")
                && it.parent().is_some_and(|cell| {
                    let shown = |it: &NodeRef<'_, Node>| match it.value() {
                        Node::Text(text) => !text.trim().is_empty(),
                        Node::Element(_) => !dropped.contains(&it.id()),
                        _ => false,
                    };
                    cell.children().filter(shown).count() == 1
                })
        };
        !spans("colspan") && !spans("rowspan") && (part || !is_block(name) || alone())
    })
}

/// The language of a block of code.
fn language(pre: ElementRef<'_>) -> Option<String> {
    let code = pre.child_elements().find(|it| it.value().name() == "code");
    let above = pre.ancestors().filter_map(ElementRef::wrap).take(2);
    code.into_iter().chain([pre]).chain(above).find_map(|it| {
        let mut classes = it.value().classes();
        let named = classes.find_map(|class| {
            ["language-", "lang-", "highlight-"].iter().find_map(|it| class.strip_prefix(it))
        });
        named.filter(|it| !it.is_empty()).map(str::to_owned)
    })
}
