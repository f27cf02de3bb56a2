//! The one way strings are written as YAML scalars, and how they are read back.
//!
//! A string is plain where letters, digits, space and `._/:+-` make it a safe YAML string,
//! and double-quoted otherwise. "Safe" holds for readers of YAML 1.1 and 1.2 alike: what
//! either would take for a number, a date, a truth value or null is quoted.

use std::fmt::Write as _;

/// Words that some version of YAML reads as a truth value or as null.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// Writes `text` as a scalar that every YAML reader takes for that very string.
#[must_use]
pub fn scalar(text: &str) -> String {
    if is_plain_safe(text) && is_plain_string(text) { text.to_owned() } else { quoted(text) }
}

/// Writes `text` as a double-quoted scalar on one line, whatever it holds.
///
/// Control characters, line separators and the byte order mark are escaped; other Unicode
/// stays as it is.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    text.chars().for_each(|c| push_escaped(&mut out, c));
    out.push('"');
    out
}

/// Reads back what [`scalar`] or [`quoted`] wrote; `None` for any other text, however
/// valid it is as YAML.
#[must_use]
pub fn parse_scalar(text: &str) -> Option<String> {
    let Some(inner) = text.strip_prefix('"') else {
        return (is_plain_safe(text) && is_plain_string(text)).then(|| text.to_owned());
    };
    let value = unescape(inner.strip_suffix('"')?)?;
    (quoted(&value) == text).then_some(value)
}

/// Whether `text` may stand as a plain scalar, of whatever type a reader gives it: only
/// `[A-Za-z0-9 ._/:+-]`, and nothing that YAML takes for structure.
#[must_use]
pub fn is_plain_safe(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b" ._/:+-".contains(&b);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| text.starts_with(prefix));
    !text.is_empty()
        && text.bytes().all(allowed)
        && !starts(&[" ", ":", "- ", "---", "..."])
        && !text.ends_with([' ', ':'])
        && text != "-"
        && !text.contains(": ")
}

/// Whether readers of YAML 1.1 and of 1.2 both take the plain scalar `text` for a string.
#[must_use]
pub fn is_plain_string(text: &str) -> bool {
    let word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    !(word || matches!(text, "" | "~" | "=" | "<<") || numeric(text))
}

/// Whether the plain scalar `text` means null.
#[must_use]
pub fn is_plain_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Integers of all bases, floats, base 60, dates and times, and a little more: a string
/// quoted without need does no harm, a version number read as a float does.
fn numeric(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = digits.to_ascii_lowercase();
    if matches!(lower.as_str(), ".inf" | ".nan") {
        return true;
    }
    let based = ["0x", "0o", "0b"].iter().find_map(|prefix| lower.strip_prefix(prefix));
    if based.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_')) {
        return true;
    }
    let in_number = |b: u8| b.is_ascii_digit() || b"_.:+-e".contains(&b);
    let begins = lower.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (begins && lower.bytes().all(in_number)) || dated(text)
}

/// Whether `text` begins as a date does: four digits, `-`, a digit.
fn dated(text: &str) -> bool {
    let head = text.as_bytes().get(..6);
    head.is_some_and(|head| {
        head[..4].iter().all(u8::is_ascii_digit) && head[4] == b'-' && head[5].is_ascii_digit()
    })
}

fn push_escaped(out: &mut String, c: char) {
    let code = u32::from(c);
    // Writing to a `String` cannot fail.
    let _ = match c {
        '"' | '\\' => write!(out, "\\{c}"),
        '\n' => out.write_str("\\n"),
        '\t' => out.write_str("\\t"),
        '\0'..='\x1f' | '\x7f'..='\u{9f}' => write!(out, "\\x{code:02X}"),
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
            write!(out, "\\u{code:04X}")
        }
        _ => out.write_char(c),
    };
}

fn unescape(inner: &str) -> Option<String> {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next()?;
        rest = &rest[at + 1 + escape.len_utf8()..];
        let digits = match escape {
            'x' => 2,
            'u' => 4,
            _ => 0,
        };
        out.push(match escape {
            '"' | '\\' => escape,
            'n' => '\n',
            't' => '\t',
            'x' | 'u' => u32::from_str_radix(rest.get(..digits)?, 16).ok()?.try_into().ok()?,
            _ => return None,
        });
        rest = &rest[digits..];
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strings_are_plain_where_that_is_safe() {
        let plain = [
            "azure-learn",
            "CC-BY-4.0",
            "https://learn.example/a/b",
            "10/22/2025",
            "5 ways",
            "1.2.x",
            "-flag",
            "a:b",
            "a -b",
            "v1.30",
            "eggs",
        ];
        for text in plain {
            assert_eq!(scalar(text), text);
        }
    }

    #[test]
    fn other_strings_are_quoted() {
        let quoted = [
            ("", r#""""#),
            ("Why?", r#""Why?""#),
            ("a: b", r#""a: b""#),
            ("a:", r#""a:""#),
            (":a", r#"":a""#),
            (" a", r#"" a""#),
            ("a ", r#""a ""#),
            ("-", r#""-""#),
            ("- a", r#""- a""#),
            ("--- a", r#""--- a""#),
            ("...", r#""...""#),
            ("a\tb\nc\r", r#""a\tb\nc\x0D""#),
            ("\"\\", r#""\"\\""#),
            ("\u{85}\u{feff}\u{2028}\u{7f}", r#""\x85\uFEFF\u2028\x7F""#),
            ("Größe", "\"Größe\""),
        ];
        for (text, written) in quoted {
            assert_eq!(scalar(text), written);
            assert_eq!(parse_scalar(written).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_would_be_read_as_another_type_is_quoted() {
        let typed = [
            "yes",
            "No",
            "ON",
            "off",
            "y",
            "N",
            "true",
            "False",
            "null",
            "NULL",
            "1",
            "-1",
            "+1",
            "1_000",
            "1.5",
            ".5",
            "1.",
            "1e3",
            "1.5E-3",
            "0x1F",
            "0o17",
            "017",
            "0b11",
            ".inf",
            "-.INF",
            ".NaN",
            "1:20",
            "190:20:30",
            "2026-11-30",
            "2026-1-3 2:03:04",
            "2026-11-30T02:14:07Z",
            "1.2.3",
        ];
        for text in typed {
            assert_eq!(scalar(text), format!("\"{text}\""));
            assert_eq!(parse_scalar(text), None, "{text}");
        }
    }

    #[test]
    fn reading_takes_only_what_is_written() {
        for text in
            [r#""a"b""#, "\"", r#""\q""#, r#""\x4""#, r#""\uD800""#, "'a'", "a: b", r#""\x0d""#]
        {
            assert_eq!(parse_scalar(text), None, "{text}");
        }
        assert_eq!(parse_scalar("\"plain\"").as_deref(), Some("plain"));
    }

    proptest! {
        #[test]
        fn any_string_survives(text in "\\PC*|[ -~]{0,20}|[a-z0-9 .:+-]{0,8}|(?s).{0,20}") {
            let written = scalar(&text);
            prop_assert!(!written.contains('\n'));
            prop_assert_eq!(parse_scalar(&written), Some(text));
        }
    }
}
