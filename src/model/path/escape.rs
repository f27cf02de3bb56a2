//! Names of the tree: how they are escaped, guarded and shortened, and how that is undone.
//!
//! Behind a `!` stands: `2` to `7` and one more digit, a byte in hexadecimal; `a` to `z`, a
//! capital; `-`, the query; `0`, an empty segment; `.`, the ending of a file that is not
//! Markdown; `9`, the hash of a long name; `8`, the directory of hashed paths. `%` and two
//! digits is a triplet of the URL, or a byte of a file name outside of printable ASCII. No
//! two uses overlap, which is why escaping can be undone.

use sha2::{Digest, Sha256};

use super::{CaseRule, is_safe_component};
use crate::model::url::triplet;

/// Longest name in bytes.
pub(super) const MAX_NAME: usize = 200;
/// Bytes of a long name that stay readable.
const READABLE: usize = 120;
/// Digits of a hash: 160 bits of SHA-256.
const HASH_DIGITS: usize = 32;
/// Directory that holds the pages whose whole path is too long.
pub(super) const HASHED_PATHS: &str = "!8";
/// Stands between a name and the query.
pub(super) const QUERY: &str = "!-";
/// Stands for an empty segment.
pub(super) const EMPTY: &str = "!0";

/// What a text is, or is to become: a part of a canonical URL or of a file's name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// `%` begins a triplet.
    Url,
    /// Bytes as Git has them.
    File,
}

/// Appends a segment, a query or a name in escaped form, without any guard.
pub(super) fn push(out: &mut String, text: &[u8], kind: Text, case: CaseRule) {
    let mut at = 0;
    while at < text.len() {
        let start = at;
        while at < text.len() && is_plain(text[at], case) {
            at += 1;
        }
        out.push_str(str::from_utf8(&text[start..at]).unwrap_or_default());
        let Some(&byte) = text.get(at) else { break };
        at += 1;
        match byte {
            b'A'..=b'Z' => {
                out.push('!');
                out.push(char::from(byte.to_ascii_lowercase()));
            }
            b'%' if kind == Text::Url => {
                push_hex(out, '%', triplet(text, at).unwrap_or(b'%'));
                at += 2;
            }
            b' '..=0x7f => push_hex(out, '!', byte),
            _ => push_hex(out, '%', byte),
        }
    }
}

/// Whether the byte, all of them ASCII, stands for itself.
fn is_plain(byte: u8, case: CaseRule) -> bool {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'+' | b'=' | b',' | b'@' => true,
        b'A'..=b'Z' => case == CaseRule::Keep,
        _ => false,
    }
}

/// Appends the name of a host. A `+` in it is escaped, since one separates the port.
pub(super) fn push_host(out: &mut String, host: &str) {
    for (number, part) in host.split('+').enumerate() {
        if number > 0 {
            out.push_str("!2b");
        }
        push(out, part.as_bytes(), Text::Url, CaseRule::Keep);
    }
}

/// Completes the directory name that begins at `start`.
pub(super) fn end_directory(out: &mut String, start: usize) {
    if out.len() == start {
        out.push_str(EMPTY);
        return;
    }
    guard_dots(out, start);
    guard_reserved(out, start);
    if let Some(dot) = page_ending(&out.as_bytes()[start..]) {
        out.replace_range(start + dot..=start + dot, "!2e");
    }
    shorten(out, start, "");
}

/// Completes the page name whose stem begins at `start`.
pub(super) fn end_page(out: &mut String, start: usize, ending: &str) {
    guard_dots(out, start);
    out.push_str(ending);
    guard_reserved(out, start);
    shorten(out, start, ".md");
}

fn push_hex(out: &mut String, mark: char, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(mark);
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Escapes a dot at either end: hidden files, `.git`, and what Windows cuts off.
fn guard_dots(out: &mut String, start: usize) {
    if out.as_bytes().get(start) == Some(&b'.') {
        out.replace_range(start..=start, "!2e");
    }
    if out.len() > start && out.ends_with('.') {
        out.pop();
        out.push_str("!2e");
    }
}

/// Escapes the first letter of a name that Windows keeps for a device.
fn guard_reserved(out: &mut String, start: usize) {
    let name = &out.as_bytes()[start..];
    if is_reserved(name) {
        let mut escaped = String::new();
        push_hex(&mut escaped, '!', name[0]);
        out.replace_range(start..=start, &escaped);
    }
}

/// Whether Windows keeps the name, with any extension, for a device.
pub(super) fn is_reserved(name: &[u8]) -> bool {
    let stem = match name.iter().position(|&byte| byte == b'.') {
        Some(dot) => &name[..dot],
        None => name,
    };
    let is = |device: &str| stem.eq_ignore_ascii_case(device.as_bytes());
    match stem.len() {
        3 => is("con") || is("prn") || is("aux") || is("nul"),
        4 => {
            let kind = &stem[..3];
            stem[3].is_ascii_digit()
                && (kind.eq_ignore_ascii_case(b"com") || kind.eq_ignore_ascii_case(b"lpt"))
        }
        8 => is("conin!24"),
        9 => is("conout!24"),
        _ => false,
    }
}

/// Where `.md` or `.tsv` (in any case) begins at the end of a name. A directory never ends
/// so: a page, or the links of one, could need the name.
fn page_ending(name: &[u8]) -> Option<usize> {
    let dot = match name.last()? {
        b'd' | b'D' => name.len().checked_sub(3)?,
        b'v' | b'V' => name.len().checked_sub(4)?,
        _ => return None,
    };
    let ending = &name[dot..];
    (ending.eq_ignore_ascii_case(b".md") || ending.eq_ignore_ascii_case(b".tsv")).then_some(dot)
}

/// Makes a name that is too long of its beginning and the hash of all of it.
fn shorten(out: &mut String, start: usize, ending: &str) {
    if out.len() - start <= MAX_NAME {
        return;
    }
    let name = &out[start..];
    let hash = hash(name);
    let mut end = 0;
    loop {
        let next = end + token_len(name.as_bytes(), end);
        if next > READABLE {
            break;
        }
        end = next;
    }
    out.truncate(start + end);
    out.push_str("!9");
    out.push_str(&hash);
    out.push_str(ending);
}

/// Length of what stands at `at`: an escape or one character.
fn token_len(name: &[u8], at: usize) -> usize {
    match name[at] {
        b'%' => 3,
        b'!' if matches!(name.get(at + 1), Some(b'2'..=b'7')) => 3,
        b'!' => 2,
        _ => 1,
    }
}

/// 160 bits of SHA-256 in base 32 (RFC 4648, section 6) in lower case.
pub(super) fn hash(text: &str) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digest = Sha256::digest(text.as_bytes());
    let mut out = String::with_capacity(HASH_DIGITS);
    let (mut bits, mut count) = (0_usize, 0);
    for &byte in &digest[..HASH_DIGITS * 5 / 8] {
        bits = (bits & 31) << 8 | usize::from(byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            out.push(char::from(ALPHABET[bits >> count & 31]));
        }
    }
    out
}

/// Undoes [`push`]. What it makes of a name that `push` cannot have written is of no
/// account: callers escape it again and compare.
pub(super) fn decode(name: &str, kind: Text) -> Option<Vec<u8>> {
    let bytes = name.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'%' if kind == Text::Url => {
                out.push(b'%');
                out.push(bytes.get(at + 1)?.to_ascii_uppercase());
                out.push(bytes.get(at + 2)?.to_ascii_uppercase());
            }
            b'%' => out.push(triplet(bytes, at + 1)?),
            b'!' => match *bytes.get(at + 1)? {
                b'2'..=b'7' => out.push(triplet(bytes, at + 1)?),
                letter @ b'a'..=b'z' => out.push(letter.to_ascii_uppercase()),
                _ => return None,
            },
            _ => out.push(byte),
        }
        at += token_len(bytes, at);
    }
    Some(out)
}

/// Whether a hash takes the place of a name or of the whole path; then it says no address.
pub(super) fn is_hashed(path: &str) -> bool {
    path.contains("!9") || path.contains(HASHED_PATHS)
}

/// Whether escaping can have made the directory name.
pub(super) fn is_directory(name: &str) -> bool {
    is_safe_component(name.as_bytes())
        && page_ending(name.as_bytes()).is_none()
        && (name == EMPTY || is_escaped(name))
}

/// Whether escaping can have made the page name.
pub(super) fn is_page(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".md") else { return false };
    if stem.is_empty() || stem.ends_with('.') || !is_safe_component(name.as_bytes()) {
        return false;
    }
    if let Some(file) = stem.strip_suffix('!') {
        return !file.is_empty() && !file.ends_with('.') && (file == EMPTY || is_escaped(file));
    }
    match stem.split_once(QUERY) {
        Some((path, query)) => !path.is_empty() && is_escaped(path) && is_escaped(query),
        None => is_escaped(stem),
    }
}

/// Whether the name is that of a page in the directory of hashed paths.
pub(super) fn is_hash_page(name: &str) -> bool {
    name.strip_suffix(".md").is_some_and(is_hash)
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'))
}

/// Whether every `!` and `%` begins an escape; a hash may stand at the end.
fn is_escaped(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| matches!(bytes.get(at), Some(b'0'..=b'9' | b'a'..=b'f'));
    let mut at = 0;
    while at < bytes.len() {
        let valid = match bytes[at] {
            b'%' => digit(at + 1) && digit(at + 2),
            b'!' => match bytes.get(at + 1) {
                Some(b'2'..=b'7') => digit(at + 2),
                Some(b'a'..=b'z') => true,
                Some(b'9') => return is_hash(&text[at + 2..]),
                _ => false,
            },
            _ => true,
        };
        if !valid {
            return false;
        }
        at += token_len(bytes, at);
    }
    true
}
