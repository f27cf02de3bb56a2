//! Paths and patterns in one normal form, and whether a pattern matches a path.

use memchr::{memchr, memmem};

/// Which of the two is brought into the normal form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// A path of a URL: `*` and `$` in it are plain text.
    Path,
    /// A pattern of a rule: `*` is a wildcard.
    Pattern,
}

/// Brings path and query of a URL into the form that patterns are compared with.
///
/// Octets that a URL may not hold as they are get encoded, triplets are written in
/// capitals, those of unreserved characters are decoded, and a `%` that begins no triplet
/// becomes `%25` (RFC 9309, section 2.2.2; RFC 3986, section 6.2.2). `'` and square brackets
/// are encoded too, since some URLs have them encoded and some not. `*` and `$` become `%2A` and
/// `%24`, as which patterns write them where they mean the character (section 2.2.3).
pub(super) fn normal_path(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + 16);
    if path.first() != Some(&b'/') {
        out.push(b'/');
    }
    normalise(path, Side::Path, &mut out);
    out
}

fn normalise(text: &[u8], side: Side, out: &mut Vec<u8>) {
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        match byte {
            b'%' => {
                at += triplet(text, at, side, out);
                continue;
            }
            b'*' if side == Side::Pattern => out.push(b'*'),
            _ if stands(byte) => out.push(byte),
            _ => push_triplet(byte, out),
        }
        at += 1;
    }
}

/// Writes what the `%` at `at` begins; how many bytes were read.
fn triplet(text: &[u8], at: usize, side: Side, out: &mut Vec<u8>) -> usize {
    let digit = |at: usize| text.get(at).copied().filter(u8::is_ascii_hexdigit);
    let wildcard = |at: usize| side == Side::Pattern && text.get(at) == Some(&b'*');
    match (digit(at + 1), digit(at + 2)) {
        (Some(high), Some(low)) => {
            let value = hex(high) << 4 | hex(low);
            if is_unreserved(value) {
                out.push(value);
            } else {
                push_triplet(value, out);
            }
            3
        }
        // A wildcard that stands for the rest of a triplet: `/*%*` is any encoded octet.
        (Some(high), None) if wildcard(at + 2) => {
            out.extend([b'%', high.to_ascii_uppercase()]);
            2
        }
        (None, _) if wildcard(at + 1) => {
            out.push(b'%');
            1
        }
        _ => {
            push_triplet(b'%', out);
            1
        }
    }
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10),
    }
}

fn push_triplet(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Octets that stand for themselves: unreserved and most reserved characters.
fn stands(byte: u8) -> bool {
    is_unreserved(byte) || b"/?:@!&()+,;=".contains(&byte)
}

/// The pattern of one rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    /// Normal form; a `*` is a wildcard, never two in a row, none at the end.
    text: Box<[u8]>,
    /// Whether the path must end where the pattern does (`$`).
    anchored: bool,
    /// Octets of the normal form as it was written: what decides between rules.
    octets: usize,
}

impl Pattern {
    /// The pattern of a value; `None` for the empty one, which is no rule, and for what
    /// cannot match any path.
    ///
    /// The grammar asks for a `/` at the beginning; a `*` there is obeyed as well.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        if !matches!(value.first(), Some(b'/' | b'*')) {
            return None;
        }
        let (body, anchored) = value.strip_suffix(b"$").map_or((value, false), |v| (v, true));
        let mut text = Vec::with_capacity(body.len() + 8);
        normalise(body, Side::Pattern, &mut text);
        let octets = text.len() + usize::from(anchored);
        text.dedup_by(|a, b| *a == b'*' && *b == b'*');
        // What follows a last wildcard is anything, with or without an anchor.
        let open = text.last() == Some(&b'*');
        if open {
            text.pop();
        }
        Some(Self { text: text.into(), anchored: anchored && !open, octets })
    }

    /// Octets of the pattern: of two rules that match, that with more of them decides
    /// (RFC 9309, section 2.2.2).
    pub(super) fn octets(&self) -> usize {
        self.octets
    }

    /// Whether a path that begins with `prefix`, in normal form, may match: what stands before
    /// the first wildcard agrees with it as far as both go.
    pub(super) fn may_match_below(&self, prefix: &[u8]) -> bool {
        let end = memchr(b'*', &self.text).unwrap_or(self.text.len());
        let plain = &self.text[..end];
        let whole = self.anchored && end == self.text.len();
        plain.starts_with(prefix) || (!whole && prefix.starts_with(plain))
    }

    /// Whether the pattern matches a path in normal form. Takes time in proportion to both
    /// together: each part between wildcards is looked for where the one before ended, and
    /// the first place that fits is as good as any later one.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let Some(star) = memchr(b'*', &self.text) else {
            return if self.anchored { path == &*self.text } else { path.starts_with(&self.text) };
        };
        let Some(mut rest) = path.strip_prefix(&self.text[..star]) else {
            return false;
        };
        let mut parts = &self.text[star + 1..];
        while let Some(star) = memchr(b'*', parts) {
            let part = &parts[..star];
            let Some(found) = memmem::find(rest, part) else {
                return false;
            };
            rest = &rest[found + part.len()..];
            parts = &parts[star + 1..];
        }
        if self.anchored { rest.ends_with(parts) } else { memmem::find(rest, parts).is_some() }
    }
}
