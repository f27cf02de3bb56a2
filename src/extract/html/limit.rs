//! A bound on the attributes of one tag: the tokenizer compares each with all before it,
//! so that a tag with a million of them would take hours.

use std::borrow::Cow;

/// Most attributes of one tag.
const MAX_ATTRIBUTES: usize = 256;

/// Elements whose content is no markup.
const RAW: [&str; 8] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

/// Cuts the attributes of tags that have too many.
pub(super) fn limit_attributes(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let mut kept = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'<') {
        at += found;
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            at = html[at..].find("-->").map_or(bytes.len(), |end| at + end);
            continue;
        }
        let name = at + if rest.starts_with(b"</") { 2 } else { 1 };
        if !bytes.get(name).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
            continue;
        }
        let mut tag = TagReader { bytes, at: name };
        let (name_end, cut) = tag.read();
        if let Some(cut) = cut {
            kept.push_str(&html[copied..cut]);
            copied = tag.at;
        }
        let is_start = name == at + 1;
        at = tag.at;
        let raw = |it: &&&str| it.as_bytes().eq_ignore_ascii_case(&bytes[name..name_end]);
        if let Some(raw) = RAW.iter().find(raw).filter(|_| is_start) {
            at = raw_end(bytes, at, raw.as_bytes());
        }
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    kept.push_str(&html[copied..]);
    Cow::Owned(kept)
}

/// Where the end tag of an element without markup begins.
fn raw_end(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'<') {
        at += found;
        let end = bytes.get(at + 2..at + 2 + name.len());
        if bytes.get(at + 1) == Some(&b'/') && end.is_some_and(|it| it.eq_ignore_ascii_case(name)) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

struct TagReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl TagReader<'_> {
    /// Goes to the `>` of a tag. Gives the end of its name, and where its attributes
    /// become too many.
    fn read(&mut self) -> (usize, Option<usize>) {
        self.skip(|byte| !is_space(byte) && !matches!(byte, b'/' | b'>'));
        let name_end = self.at;
        let mut count = 0_usize;
        let mut cut = None;
        loop {
            self.skip(|byte| is_space(byte) || byte == b'/');
            match self.bytes.get(self.at) {
                None | Some(b'>') => return (name_end, cut),
                Some(_) => {}
            }
            if count == MAX_ATTRIBUTES {
                cut = Some(self.at);
            }
            count += 1;
            self.attribute();
        }
    }

    fn attribute(&mut self) {
        // A name may begin with `=`.
        self.at += 1;
        self.skip(|byte| !is_space(byte) && !matches!(byte, b'/' | b'>' | b'='));
        self.skip(is_space);
        if self.bytes.get(self.at) != Some(&b'=') {
            return;
        }
        self.at += 1;
        self.skip(is_space);
        match self.bytes.get(self.at) {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                self.skip(|byte| byte != *quote);
                self.at = (self.at + 1).min(self.bytes.len());
            }
            _ => self.skip(|byte| !is_space(byte) && byte != b'>'),
        }
    }

    fn skip(&mut self, while_it: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| !while_it(*byte)).unwrap_or(rest.len());
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_attributes_stay() {
        let many = |n: usize| format!("<p {}>x", "a='>' ".repeat(n));
        assert_eq!(limit_attributes(&many(256)), many(256));
        assert_eq!(limit_attributes(&many(300)), many(256));
        let two = format!("{}{}</p>", many(300), many(500));
        assert_eq!(limit_attributes(&two), format!("{}{}</p>", many(256), many(256)));
    }

    #[test]
    fn what_is_no_tag_stays() {
        let words = "w ".repeat(900);
        for text in [
            format!("a < b {words}>"),
            format!("<script>if (a<b) {words}</script><p>"),
            format!("<!-- <p {words}> -->"),
            format!("<TITLE><p {words}></title>"),
        ] {
            assert_eq!(limit_attributes(&text), text);
        }
    }

    #[test]
    fn nothing_has_to_be_closed() {
        for text in ["<", "<a", "<a ", "<a b", "<a b=", "<a b='", "</", "</a", "<!--", "<script>"] {
            assert_eq!(limit_attributes(text), text);
        }
    }
}
