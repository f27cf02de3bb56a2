//! Bytes of a page to text: which encoding they are in, and how well that went.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use crate::model::Note;

/// How many bytes are searched for a declaration (HTML Standard, 13.2.3.2).
const PRESCAN: usize = 1024;
/// How many bytes are looked at to guess.
const GUESS: usize = 64 << 10;
/// One character in so many that cannot be decoded is noted.
const NOTED: usize = 1_000;
/// One in so many makes the text none.
const GARBLED: usize = 20;

/// A decoded page.
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) encoding: &'static Encoding,
    pub(super) notes: Vec<Note>,
    /// Why the text is none that could be kept, if too much of it could not be decoded.
    pub(super) garbled: Option<String>,
}

/// Decodes a page. In this order decide: a byte order mark, what HTTP said, a `meta` element
/// near the beginning, being valid UTF-8, and a guess, of which a note tells.
pub(super) fn decode<'a>(bytes: &'a [u8], http: Option<&str>) -> Decoded<'a> {
    let mut notes = Vec::new();
    let (encoding, marked) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, length),
        None => match named(bytes, http) {
            Some(encoding) => (encoding, 0),
            None if std::str::from_utf8(bytes).is_ok() => (UTF_8, 0),
            None => {
                let guess = guess(bytes);
                let text = format!(
                    "no encoding is named and it is not UTF-8: read as {}, a guess",
                    guess.name()
                );
                notes.push(Note(text));
                (guess, 0)
            }
        },
    };
    let (text, faulty) = encoding.decode_without_bom_handling(&bytes[marked..]);
    let mut garbled = None;
    if faulty {
        let replaced = text.chars().filter(|c| *c == '\u{fffd}').count();
        let all = text.chars().count();
        let what = format!("{replaced} of {all} characters are not {}", encoding.name());
        if replaced.saturating_mul(GARBLED) > all {
            garbled = Some(what.clone());
        }
        if replaced.saturating_mul(NOTED) > all {
            notes.push(Note(what));
        }
    }
    Decoded { text, encoding, notes, garbled }
}

/// The encoding that HTTP or the page names.
fn named(bytes: &[u8], http: Option<&str>) -> Option<&'static Encoding> {
    let label = |label: &str| Encoding::for_label(label.as_bytes());
    if let Some(encoding) = http.and_then(label) {
        return Some(encoding);
    }
    let head = &bytes[..bytes.len().min(PRESCAN)];
    let encoding = declared(head).as_deref().and_then(label)?;
    // Who could read the declaration does not read UTF-16.
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new();
    let part = &bytes[..bytes.len().min(GUESS)];
    if !detector.feed(part, part.len() == bytes.len()) {
        return WINDOWS_1252;
    }
    let guess = detector.guess(None, false);
    if guess == UTF_8 { WINDOWS_1252 } else { guess }
}

/// The encoding that a `meta` element declares.
fn declared(head: &[u8]) -> Option<String> {
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(head);
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(&text));
    let tokenizer = Tokenizer::new(Metas::default(), TokenizerOpts::default());
    // The sink asks for nothing that would interrupt the tokenizer.
    let _ = tokenizer.feed(&input);
    tokenizer.sink.found.into_inner()
}

#[derive(Default)]
struct Metas {
    found: RefCell<Option<String>>,
    done: Cell<bool>,
}

impl TokenSink for Metas {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => match &*tag.name {
                "meta" if !self.done.get() => {
                    let charset = charset_of(&tag);
                    self.done.set(charset.is_some());
                    *self.found.borrow_mut() = charset;
                    TokenSinkResult::Continue
                }
                "script" => TokenSinkResult::RawData(RawKind::ScriptData),
                "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                    TokenSinkResult::RawData(RawKind::Rawtext)
                }
                "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
                _ => TokenSinkResult::Continue,
            },
            _ => TokenSinkResult::Continue,
        }
    }
}

fn charset_of(tag: &Tag) -> Option<String> {
    let attribute = |name: &str| {
        tag.attrs.iter().find(|it| &*it.name.local == name).map(|it| it.value.to_string())
    };
    if let Some(charset) = attribute("charset") {
        return Some(charset);
    }
    let equiv = attribute("http-equiv")?;
    if !equiv.eq_ignore_ascii_case("content-type") {
        return None;
    }
    let content = attribute("content")?.to_ascii_lowercase();
    let (_, rest) = content.split_once("charset")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, ';' | '"' | '\''));
    Some(value[..end.unwrap_or(value.len())].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(bytes: &[u8], http: Option<&str>) -> &'static str {
        decode(bytes, http).encoding.name()
    }

    #[test]
    fn what_decides() {
        let cases: [(&[u8], Option<&str>, &str); 13] = [
            (b"\xef\xbb\xbfx", Some("latin1"), "UTF-8"),
            (b"\xff\xfex\0", Some("utf-8"), "UTF-16LE"),
            (b"<meta charset=utf-8>", Some("ISO-8859-2"), "ISO-8859-2"),
            (b"<meta charset='shift_jis'>", Some("nonsense"), "Shift_JIS"),
            (b"<META Http-Equiv=content-type content='text/html; CHARSET=gbk'>", None, "GBK"),
            (b"<meta content='text/html; charset=gbk'>", None, "UTF-8"),
            (b"<meta charset=utf-16>", None, "UTF-8"),
            (b"<!-- <meta charset=gbk> -->", None, "UTF-8"),
            (b"<script>'<meta charset=gbk>'</script>", None, "UTF-8"),
            (b"<title><meta charset=gbk></title>", None, "UTF-8"),
            (b"plain", None, "UTF-8"),
            (b"caf\xe9", None, "windows-1252"),
            ("größe".as_bytes(), None, "UTF-8"),
        ];
        for (bytes, http, expected) in cases {
            assert_eq!(name(bytes, http), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn late_declarations_do_not_count() {
        let late = [b" ".repeat(1024), b"<meta charset=gbk>".to_vec()].concat();
        assert_eq!(name(&late, None), "UTF-8");
    }

    #[test]
    fn other_languages_are_guessed() {
        let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Это описание настроек сервера");
        assert_eq!(name(&russian, None), "windows-1251");
        let notes = decode(&russian, None).notes;
        assert_eq!(
            notes[0].0,
            "no encoding is named and it is not UTF-8: read as windows-1251, a guess"
        );
        assert!(decode(&russian, Some("windows-1251")).notes.is_empty());
        assert!(decode("größe".as_bytes(), None).notes.is_empty());
    }

    #[test]
    fn many_replacements_are_noted() {
        let decoded = decode(b"abc\xff\xfe", Some("utf-8"));
        assert_eq!(decoded.text, "abc\u{fffd}\u{fffd}");
        assert_eq!(decoded.notes[0].0, "2 of 5 characters are not UTF-8");
        assert_eq!(decoded.garbled.as_deref(), Some("2 of 5 characters are not UTF-8"));
        let some = [b"a".repeat(500), b"\xff".to_vec()].concat();
        let decoded = decode(&some, Some("utf-8"));
        assert_eq!((decoded.notes.len(), decoded.garbled), (1, None));
        let mostly = [b"a".repeat(5_000), b"\xff".to_vec()].concat();
        assert!(decode(&mostly, Some("utf-8")).notes.is_empty());
    }
}
