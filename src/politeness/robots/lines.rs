//! From the bytes of a robots.txt to its records, with their line numbers.

use std::borrow::Cow;
use std::mem;

use memchr::{memchr, memchr2};

/// Most bytes of a file that are read (RFC 9309, section 2.5, asks for at least 500 KiB).
pub(super) const LIMIT: usize = 500 * 1024;

/// The bytes of the file as UTF-8 or something like it, without byte order mark, at most
/// [`LIMIT`] of them and no line that the limit would cut.
///
/// The file must be UTF-8 (RFC 9309, section 2.2). A mark before it that lost bytes on the
/// way is dropped too; UTF-16 is decoded, since its owner's rules would be lost otherwise.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, [u8]> {
    match utf16_order(bytes) {
        Some(unit) => {
            let raw = &bytes[..bytes.len().min(2 * LIMIT + 4)];
            let units = raw.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
            let chars = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
            let text: String = chars.skip_while(|c| *c == '\u{feff}').collect();
            Cow::Owned(capped(text.as_bytes()).to_vec())
        }
        None => Cow::Borrowed(capped(without_mark(bytes))),
    }
}

type Unit = fn([u8; 2]) -> u16;

/// How pairs of bytes become UTF-16 units, where the file is UTF-16: told by its mark, or
/// by the zeros between its first letters.
fn utf16_order(bytes: &[u8]) -> Option<Unit> {
    match *bytes {
        [0xff, 0xfe, ..] | [1..=255, 0, 1..=255, 0, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, 1..=255, 0, 1..=255, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    let common = bytes.iter().zip([0xef, 0xbb, 0xbf]).take_while(|(a, b)| **a == *b).count();
    &bytes[common..]
}

fn capped(bytes: &[u8]) -> &[u8] {
    let Some(next) = bytes.get(LIMIT) else {
        return bytes;
    };
    let head = &bytes[..LIMIT];
    if matches!(next, b'\r' | b'\n') {
        return head;
    }
    let end = memchr::memrchr2(b'\r', b'\n', head).map_or(0, |at| at + 1);
    &head[..end]
}

/// Whether a body is a web page rather than rules: its first text is a tag of one.
#[must_use]
pub fn looks_like_html(bytes: &[u8]) -> bool {
    let head = bytes.get(..1024).unwrap_or(bytes);
    let text = decode(head);
    let text = text.trim_ascii_start();
    let starts = |name: &[u8]| {
        let found = text.get(..name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name))
    };
    let contains =
        |name: &[u8]| text.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name));
    let first: [&[u8]; 6] = [b"<!doctype", b"<html", b"<head", b"<body", b"<title", b"<script"];
    // A comment or an XML declaration may stand before the page.
    first.into_iter().any(starts)
        || (text.starts_with(b"<") && (contains(b"<!doctype html") || contains(b"<html")))
}

/// What a record of the file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// One record: line number from 1, the line as it stands, key and value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub number: usize,
    pub line: &'a [u8],
    pub key: Key,
    pub value: &'a [u8],
}

/// The records of a decoded file; unknown ones are left out, so that they cannot interfere
/// with the others (RFC 9309, section 2.2.4).
pub(super) fn records(text: &[u8]) -> impl Iterator<Item = Record<'_>> {
    Lines { rest: text }.enumerate().filter_map(|(index, line)| record(index + 1, line))
}

/// Lines end at LF, CR or CRLF, and at nothing else.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = mem::take(&mut self.rest);
        let Some(end) = memchr2(b'\r', b'\n', rest) else {
            return Some(rest);
        };
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        self.rest = &rest[end + length..];
        Some(&rest[..end])
    }
}

fn record(number: usize, line: &[u8]) -> Option<Record<'_>> {
    let line = trim(&line[..memchr(0, line).unwrap_or(line.len())]);
    let text = trim(&line[..memchr(b'#', line).unwrap_or(line.len())]);
    let (key, value) = with_colon(text).or_else(|| without_colon(text))?;
    Some(Record { number, line, key, value })
}

fn with_colon(text: &[u8]) -> Option<(Key, &[u8])> {
    let colon = memchr(b':', text)?;
    Some((key(trim(&text[..colon]))?, trim(&text[colon + 1..])))
}

/// `disallow /x`, a frequent slip, is taken for what it means: a key, one value, no more.
fn without_colon(text: &[u8]) -> Option<(Key, &[u8])> {
    let space = text.iter().position(|b| is_space(*b))?;
    let value = trim(&text[space..]);
    let single = !value.iter().any(|b| is_space(*b));
    Some((key(&text[..space])?, value)).filter(|_| single)
}

fn key(name: &[u8]) -> Option<Key> {
    const NAMES: [(&[u8], Key); 7] = [
        (b"user-agent", Key::UserAgent),
        (b"useragent", Key::UserAgent),
        (b"allow", Key::Allow),
        (b"disallow", Key::Disallow),
        (b"crawl-delay", Key::CrawlDelay),
        (b"sitemap", Key::Sitemap),
        (b"site-map", Key::Sitemap),
    ];
    const MISSPELT: [&[u8]; 5] = [b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"];
    let same = |other: &[u8]| name.eq_ignore_ascii_case(other);
    let known = NAMES.iter().find(|(text, _)| same(text)).map(|(_, key)| *key);
    known.or_else(|| MISSPELT.iter().any(|text| same(text)).then_some(Key::Disallow))
}

/// White space of the grammar is space and tab (RFC 9309, section 2.2).
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Takes space and tab off both ends.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|b| !is_space(*b)).unwrap_or(text.len());
    let end = text.iter().rposition(|b| !is_space(*b)).map_or(start, |at| at + 1);
    &text[start..end]
}
