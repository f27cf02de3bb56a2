//! A reader of HTML as mdBook and rustdoc write it: tags that nest, quoted attributes, a
//! handful of named characters. What it does not know, it refuses.

use url::Url;

use super::{Found, plain};

/// Elements without content.
const VOID: [&str; 12] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"];

/// Elements whose end may be left out, and those that end them.
const OPEN_ENDED: [&str; 8] = ["p", "li", "td", "th", "tr", "dt", "dd", "thead"];

/// Most bytes of an address.
const LONGEST: usize = 2048;

/// One piece of a page.
#[derive(Debug)]
enum Token<'a> {
    Open { name: String, attributes: &'a str, closed: bool },
    Close(String),
    Text(&'a str),
}

/// An element that is open.
struct Element {
    name: String,
    /// Whether it, or one around it, is no content.
    hidden: bool,
}

/// Reads what stands in `<main>`.
pub fn read(page: &str, base: &Url) -> Found {
    let start = page.find("<main").expect("a main part");
    let end = page.rfind("</main>").expect("its end");
    read_part(&page[start..end], base)
}

/// Reads some elements.
pub fn read_part(part: &str, base: &Url) -> Found {
    let mut reader = Reader::new(base);
    for token in tokens(part) {
        match token {
            Token::Open { name, attributes, closed } => reader.open(name, attributes, closed),
            Token::Close(name) => reader.close(&name),
            Token::Text(text) => reader.text(&decoded(text)),
        }
    }
    reader.found
}

struct Reader<'b> {
    base: &'b Url,
    found: Found,
    open: Vec<Element>,
    /// The text of what is being read: code, heading, cell.
    code: Option<String>,
    heading: Option<String>,
    cell: Option<String>,
    row: usize,
    link: Option<(String, String)>,
}

impl<'b> Reader<'b> {
    fn new(base: &'b Url) -> Self {
        Self {
            base,
            found: Found::default(),
            open: Vec::new(),
            code: None,
            heading: None,
            cell: None,
            row: 0,
            link: None,
        }
    }

    fn open(&mut self, name: String, attributes: &str, closed: bool) {
        let class = attribute(attributes, "class").unwrap_or_default();
        let is = |wanted: &str| class.split_whitespace().any(|it| it == wanted);
        // Marks that lead to the heading they stand in, and what only scripts can use.
        let mark = name == "a" && (is("anchor") || is("doc-anchor"));
        let useless = ["button", "script", "style", "nav", "template"].contains(&name.as_str());
        let hidden = self.is_hidden() || mark || useless;
        match name.as_str() {
            "br" => self.text("\n"),
            "img" => self.text(&decoded(&attribute(attributes, "alt").unwrap_or_default())),
            "pre" if !hidden => self.code = Some(String::new()),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !hidden => {
                self.heading = Some(String::new());
            }
            "tr" => self.row = 0,
            "td" | "th" => self.cell = Some(String::new()),
            "a" if !hidden && self.code.is_none() => {
                let target = attribute(attributes, "href");
                self.link = target.map(|target| (decoded(&target), String::new()));
            }
            _ => {}
        }
        if !closed && !VOID.contains(&name.as_str()) {
            self.open.push(Element { name, hidden });
        }
    }

    fn close(&mut self, name: &str) {
        while let Some(element) = self.open.pop() {
            self.end(&element);
            if element.name == name {
                return;
            }
            let may = OPEN_ENDED.contains(&element.name.as_str());
            assert!(may, "</{name}> where <{}> is open", element.name);
        }
    }

    fn end(&mut self, element: &Element) {
        match element.name.as_str() {
            "pre" => {
                let Some(code) = self.code.take() else { return };
                let code = code.strip_prefix('\n').unwrap_or(&code);
                self.found.code.push(code.strip_suffix('\n').unwrap_or(code).to_owned());
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let heading = plain(&self.heading.take().unwrap_or_default());
                if !heading.is_empty() {
                    self.found.headings.push((element.name.as_bytes()[1] - b'0', heading));
                }
            }
            "td" | "th" => {
                let cell = self.cell.take().unwrap_or_default();
                self.row += usize::from(!plain(&cell).is_empty());
            }
            "tr" if self.row > 0 => {
                self.found.rows.push(self.row);
                self.row = 0;
            }
            "a" => {
                let Some((target, text)) = self.link.take() else { return };
                // An anchor without text leads nowhere that could be seen.
                let leads = !plain(&text).is_empty() || !target.starts_with('#');
                if leads && !target.starts_with("javascript:") && !self.is_too_long(&target) {
                    self.found.links.insert(resolved(self.base, &target));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_hidden() {
            return;
        }
        if let Some((_, shown)) = &mut self.link {
            shown.push_str(text);
        }
        for part in [&mut self.code, &mut self.heading, &mut self.cell].into_iter().flatten() {
            part.push_str(text);
        }
    }

    /// Whether a target is no address by the format's rules: examples that can be tried carry
    /// their code in it.
    fn is_too_long(&self, target: &str) -> bool {
        self.base.join(target).is_ok_and(|url| url.as_str().len() > LONGEST)
    }

    fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|element| element.hidden)
    }
}

/// A target as an absolute address, its characters decoded.
pub fn resolved(base: &Url, target: &str) -> String {
    let Ok(url) = base.join(target.trim()) else { return target.to_owned() };
    let text = url.to_string();
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let coded = (*first == b'%').then(|| tail.get(..2)).flatten();
        let coded = coded.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(coded.unwrap_or(*first));
        rest = if coded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap_or(text)
}

fn tokens(page: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").expect("the end of a comment").1;
        } else if let Some(tag) = rest.strip_prefix('<') {
            let end = end_of_tag(tag);
            let inside = &tag[..end];
            rest = &tag[end + 1..];
            let name_of = |text: &str| text.trim().to_ascii_lowercase();
            if let Some(name) = inside.strip_prefix('/') {
                found.push(Token::Close(name_of(name)));
                continue;
            }
            let closed = inside.ends_with('/');
            let inside = inside.trim_end_matches('/');
            let at = inside.find(char::is_whitespace).unwrap_or(inside.len());
            let name = name_of(&inside[..at]);
            if ["script", "style"].contains(&name.as_str()) {
                rest = rest.split_once(&format!("</{name}>")).expect("its end").1;
                continue;
            }
            found.push(Token::Open { name, attributes: &inside[at..], closed });
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            found.push(Token::Text(&rest[..end]));
            rest = &rest[end..];
        }
    }
    found
}

/// Where the `>` is that is in no quotes.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' => return at,
            _ => {}
        }
    }
    panic!("a tag without end");
}

/// The value of an attribute, as it stands there.
fn attribute(text: &str, wanted: &str) -> Option<String> {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
            (value, rest) = match quote {
                Some(quote) => after[1..].split_once(quote).expect("the end of a value"),
                None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            };
        }
        if name == wanted {
            return Some(value.to_owned());
        }
        rest = rest.trim_start();
    }
    None
}

/// Text with its character references resolved.
fn decoded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let Some((name, tail)) = after.split_once(';').filter(|(name, _)| {
            !name.is_empty()
                && name.len() < 10
                && name.chars().all(|c| c.is_alphanumeric() || c == '#')
        }) else {
            out.push('&');
            rest = after;
            continue;
        };
        let number =
            name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            });
        let named = || match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" => '\u{a0}',
            "mdash" => '—',
            "ndash" => '–',
            "rarr" => '→',
            "hellip" => '…',
            "copy" => '©',
            other => panic!("&{other}; is not known here"),
        };
        out.push(number.and_then(char::from_u32).unwrap_or_else(named));
        rest = tail;
    }
    out + rest
}

#[test]
fn a_page_is_read() {
    let base = Url::parse("https://doc.example/a/b.html").expect("an address");
    let page = "<body><main id=x><h2 id=\"a>b\"><a class=\"anchor\" href='#a'>§</a>One &amp; \
                <code>two</code></h2><p>Text<p>more <a href=\"../c.html#d\">there</a> <pre><code>\n \
                a &lt; b\n</code></pre><table><tr><td>1<td>2<tr><td></table></main></body>";
    let found = read(page, &base);
    assert_eq!(found.headings, [(2, "One & two".to_owned())]);
    assert_eq!(found.code, [" a < b"]);
    assert_eq!(
        found.links.iter().map(String::as_str).collect::<Vec<_>>(),
        ["https://doc.example/c.html#d"]
    );
}
