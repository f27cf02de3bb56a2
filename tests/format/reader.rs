//! A reader of pages, links files and messages, written from the description of the format.

use std::collections::BTreeMap;

/// The front matter of a page in order, and what stands below it.
#[derive(Debug)]
pub struct Page {
    /// Keys and values; those below `upstream:` are left out.
    pub keys: Vec<(String, String)>,
    /// Lines below `upstream:`, without their indentation.
    pub upstream: Vec<String>,
    pub body: String,
}

impl Page {
    pub fn value(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// Keys that every page has, in their order.
const KEYS: [&str; 6] = ["url", "title", "source", "licence", "retrieved", "representation"];

/// Keys that pages of Git repositories have besides, in their order.
const GIT_KEYS: [&str; 3] = ["repository", "file", "commit"];

/// Reads a page; the error says what is not as the format says.
pub fn page(text: &str) -> Result<Page, String> {
    if text.contains('\r') || text.starts_with('\u{feff}') || text.contains('\0') {
        return Err("line ends other than LF, a byte order mark or a NUL".into());
    }
    if !text.ends_with('\n') || text.ends_with("\n\n") {
        return Err("not exactly one newline at the end".into());
    }
    let rest = text.strip_prefix("---\n").ok_or("no front matter")?;
    let (front, body) = rest.split_once("\n---\n").ok_or("front matter without end")?;
    let (mut keys, mut upstream, mut below) = (Vec::new(), Vec::new(), false);
    for line in front.lines() {
        if below {
            upstream.push(line.strip_prefix("  ").ok_or("upstream is not indented")?.to_owned());
        } else if line == "upstream:" {
            below = true;
        } else {
            let (key, value) = line.split_once(": ").ok_or(format!("no `key: value`: {line}"))?;
            keys.push((key.to_owned(), scalar(value)?));
        }
    }
    let names: Vec<&str> =
        keys.iter().map(|(key, _)| key.as_str()).filter(|key| *key != "upstream").collect();
    let git: Vec<&str> = KEYS.iter().chain(&GIT_KEYS).copied().collect();
    if names != git {
        return Err(format!("keys {names:?}"));
    }
    let body = match body {
        "" => String::new(),
        text => text.strip_prefix('\n').ok_or("no empty line below the front matter")?.to_owned(),
    };
    Ok(Page { keys, upstream, body })
}

/// A YAML scalar: plain where letters, digits and a few marks make it safe, else quoted.
fn scalar(text: &str) -> Result<String, String> {
    if let Some(inner) = text.strip_prefix('"') {
        let inner = inner.strip_suffix('"').ok_or(format!("an open quote: {text}"))?;
        return unquote(inner).ok_or(format!("a broken escape: {text}"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || " ._/:+-".contains(c);
    let safe = !text.is_empty()
        && text.chars().all(plain)
        && !text.contains(": ")
        && !text.ends_with(':')
        && text.trim() == text;
    if safe { Ok(text.to_owned()) } else { Err(format!("not safe without quotes: {text}")) }
}

fn unquote(inner: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            if c == '"' || c.is_control() {
                return None;
            }
            out.push(c);
            continue;
        }
        let escape = chars.next()?;
        let mut hex = |digits: usize| {
            let text: String = chars.by_ref().take(digits).collect();
            u32::from_str_radix(&text, 16).ok().and_then(char::from_u32)
        };
        out.push(match escape {
            'n' => '\n',
            't' => '\t',
            'x' => hex(2)?,
            'u' => hex(4)?,
            '"' | '\\' => escape,
            _ => return None,
        });
    }
    Some(out)
}

/// A line of a links file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub to: String,
    pub text: String,
    pub rel: String,
}

/// Reads a links file.
pub fn links(text: &str) -> Result<Vec<Link>, String> {
    let rows = text.strip_prefix("to\ttext\trel\n").ok_or("no header line")?;
    if !rows.is_empty() && !rows.ends_with('\n') {
        return Err("no newline at the end".into());
    }
    let lines: Vec<&str> = rows.split_terminator('\n').collect();
    if !lines.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()) {
        return Err("not a set in order of its bytes".into());
    }
    lines.into_iter().map(link).collect()
}

fn link(line: &str) -> Result<Link, String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [to, text, rel] = cells.as_slice() else { return Err(format!("not three cells: {line}")) };
    if !(to.starts_with("https://") || to.starts_with("http://"))
        || to.contains(['#', ' '])
        || !to.is_ascii()
    {
        return Err(format!("not a canonical address: {to}"));
    }
    if text.contains(char::is_control) || text.trim() != *text {
        return Err(format!("not on one line: {text:?}"));
    }
    let tokens: Vec<&str> = rel.split(' ').collect();
    if !rel.is_empty() && (!tokens.is_sorted() || tokens.contains(&"")) {
        return Err(format!("rel is no sorted list: {rel}"));
    }
    Ok(Link { to: (*to).to_owned(), text: (*text).to_owned(), rel: (*rel).to_owned() })
}

/// The trailers of a commit's message, in order.
pub fn trailers(message: &str) -> Vec<(String, String)> {
    let last = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let pairs = last.lines().filter_map(|line| line.split_once(": "));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Source and counts of a `Source` trailer.
pub fn source_line(value: &str) -> Option<(String, BTreeMap<String, String>)> {
    let mut words = value.split(' ');
    let source = words.next()?.to_owned();
    let counts = words.map(|word| word.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())));
    Some((source, counts.collect::<Option<_>>()?))
}

#[test]
fn broken_files_are_noticed() {
    let good = "---\nurl: https://a.example/b\ntitle: \"A: \\\"b\\\"\"\nsource: s\nlicence: CC0-1.0\n\
                retrieved: 2026-11-30T02:00:00Z\nrepresentation: git\nrepository: r\nfile: f\n\
                commit: c\nupstream:\n  a: b\n---\n\nText\n";
    let read = page(good).unwrap();
    assert_eq!(read.value("title"), Some("A: \"b\""));
    assert_eq!((read.upstream, read.body), (vec!["a: b".to_owned()], "Text\n".to_owned()));
    for (from, to) in [
        ("Text\n", "Text"),
        ("Text\n", "Text\n\n"),
        ("\n\nText", "\nText"),
        ("title: \"", "title: "),
        ("source: s\n", ""),
        ("Text", "Te\rxt"),
        ("  a: b", "a: b: c"),
    ] {
        assert!(page(&good.replace(from, to)).is_err(), "{to:?}");
    }
    for broken in ["", "to\ttext\trel\nb\t\t\n", "to\ttext\trel\nhttps://a/\t\n"] {
        assert!(links(broken).is_err(), "{broken:?}");
    }
    let unsorted = "to\ttext\trel\nhttps://b.example/\t\t\nhttps://a.example/\t\t\n";
    assert!(links(unsorted).is_err());
}
