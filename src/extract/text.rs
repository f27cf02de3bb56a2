//! Bytes to text: encoding, line ends, blank lines at both ends. Nothing else is changed.

/// Why bytes are not a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// They hold a NUL.
    #[error("binary: it holds NUL bytes")]
    Binary,
    /// They are neither UTF-8 nor UTF-16 with a byte order mark.
    #[error("neither UTF-8 nor UTF-16 with a byte order mark, at byte {offset}")]
    Encoding {
        /// Where the first fault is, in bytes from 0.
        offset: usize,
    },
}

/// Reads UTF-8 (with or without byte order mark) or UTF-16 (with one); all line ends
/// become LF.
///
/// # Errors
/// The bytes are binary or in another encoding.
pub(super) fn decode(bytes: &[u8]) -> Result<String, NotText> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest, 3)?,
        _ => utf8(bytes, 0)?,
    };
    if text.contains('\0') {
        return Err(NotText::Binary);
    }
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
}

/// Drops lines of spaces and tabs at both ends; what remains ends in one newline, or is
/// empty.
pub(super) fn trim_blank_lines(text: &str) -> String {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n');
    let Some(first) = text.find(|c| !blank(c)) else { return String::new() };
    let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let last = text.trim_end_matches(blank).len();
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    format!("{}\n", &text[start..end])
}

/// Puts a text on one line: runs of white space and control characters become one space,
/// none at the ends; at most `limit` characters are kept.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let separates = |c: char| c.is_whitespace() || c.is_control();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(separates).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        line.extend(word.chars().take(limit.saturating_sub(length)));
        length += word.chars().count();
        if length >= limit {
            break;
        }
    }
    line.truncate(line.trim_end().len());
    line
}

fn utf8(bytes: &[u8], skipped: usize) -> Result<String, NotText> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let binary = bytes.contains(&0);
        let offset = skipped + error.valid_up_to();
        if binary { NotText::Binary } else { NotText::Encoding { offset } }
    })
}

/// Decodes what follows a byte order mark of two bytes.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, NotText> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut offset = 2;
    for decoded in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let c = decoded.map_err(|_| NotText::Encoding { offset })?;
        offset += 2 * c.len_utf16();
        text.push(c);
    }
    if odd.is_empty() { Ok(text) } else { Err(NotText::Encoding { offset }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16_bytes(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn encodings() {
        let text = "Grüße 🌍\n";
        assert_eq!(decode(text.as_bytes()).unwrap(), text);
        assert_eq!(decode(format!("\u{feff}{text}").as_bytes()).unwrap(), text);
        assert_eq!(decode(&utf16_bytes(text, u16::to_le_bytes)).unwrap(), text);
        assert_eq!(decode(&utf16_bytes(text, u16::to_be_bytes)).unwrap(), text);
        assert_eq!(decode(b"").unwrap(), "");
    }

    #[test]
    fn not_text() {
        let cases: [(&[u8], NotText); 8] = [
            (b"\x89PNG\r\n\0\0", NotText::Binary),
            (b"plain\0", NotText::Binary),
            (b"caf\xe9 au lait", NotText::Encoding { offset: 3 }),
            (b"\xef\xbb\xbfab\xff", NotText::Encoding { offset: 5 }),
            (b"\xff\xfea\0b", NotText::Encoding { offset: 4 }),
            (b"\xff\xfe\x00\xd8a\0", NotText::Encoding { offset: 2 }),
            (b"\xff\xfe\0\0a\0\0\0", NotText::Binary),
            (b"a\0b\0c\0", NotText::Binary),
        ];
        for (bytes, why) in cases {
            assert_eq!(decode(bytes), Err(why), "{bytes:?}");
        }
    }

    #[test]
    fn line_ends() {
        assert_eq!(decode(b"a\r\nb\rc\nd\r\r\ne").unwrap(), "a\nb\nc\nd\n\ne");
    }

    #[test]
    fn blank_lines_at_the_ends() {
        let cases = [
            ("", ""),
            ("\n \t\n", ""),
            ("a", "a\n"),
            ("a\n\n\n", "a\n"),
            ("\n  \n  a  \n\t\n", "  a  \n"),
            ("a  ", "a  \n"),
            ("a\n\n  b\n", "a\n\n  b\n"),
            ("\u{c}\n", "\u{c}\n"),
        ];
        for (text, trimmed) in cases {
            assert_eq!(trim_blank_lines(text), trimmed, "{text:?}");
        }
    }

    #[test]
    fn one_line_collapses_and_cuts() {
        let cases = [
            (" a\t\n b ", 9, "a b"),
            ("", 9, ""),
            ("abc def", 3, "abc"),
            ("abc def", 4, "abc"),
            ("abc def", 5, "abc d"),
            ("äöü", 2, "äö"),
            ("a\u{1}b\u{2028}c", 9, "a b c"),
        ];
        for (text, limit, line) in cases {
            assert_eq!(one_line(text, limit), line, "{text:?}");
        }
    }
}
