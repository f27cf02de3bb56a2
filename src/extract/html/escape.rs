//! Text that Markdown would take for something else.

use super::super::autolink;
use super::words;

/// Where a line of running text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Paragraph,
    Heading,
    Cell,
}

/// What is around a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) place: Place,
    pub(super) before: char,
    pub(super) after: char,
    /// Whether the text begins a line, and which.
    pub(super) start: Start,
    pub(super) in_link: bool,
    /// Whether a dollar sign follows in another part of the line.
    pub(super) dollar_follows: bool,
    /// Whether anything in the line is struck out.
    pub(super) has_del: bool,
}

/// Whether a text stands at the begin of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Within a line.
    No,
    /// It begins a block.
    Block,
    /// It begins a line after a line break.
    Line,
}

/// Appends `text`, escaped.
pub(super) fn escape(out: &mut String, text: &str, around: Around) {
    let mut writer = Escaper { out, text, around, at: 0, breaks: breaks(text, around).into_iter() };
    writer.line_start();
    writer.run();
}

/// Where bare addresses are to be broken so that they do not become links.
fn breaks(text: &str, around: Around) -> Vec<usize> {
    if around.in_link {
        return Vec::new();
    }
    let mut breaks: Vec<usize> = text
        .match_indices('@')
        .map(|(at, _)| at)
        .filter(|at| is_mail_address(text.as_bytes(), *at))
        .collect();
    if !(text.contains("://") || text.contains("www.")) {
        return breaks;
    }
    breaks.extend(text.match_indices("://").map(|(at, _)| at).filter(|at| ends_scheme(text, *at)));
    for range in autolink::find(text, Some(around.before), "") {
        if text[range.clone()].starts_with("www.") {
            breaks.extend(text[range.clone()].find('.').map(|at| range.start + at));
        }
    }
    breaks.sort_unstable();
    breaks
}

/// Whether a scheme ends here that readers make links of, whatever stands before it.
fn ends_scheme(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let ends = |scheme: &[u8]| {
        let start = before.len().checked_sub(scheme.len());
        start.is_some_and(|start| before[start..].eq_ignore_ascii_case(scheme))
    };
    [&b"http"[..], b"https", b"ftp"].into_iter().any(ends)
}

/// Whether an `@` stands in something that looks like the address of a mailbox.
fn is_mail_address(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    let after = text.get(at + 1);
    before.is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-' | b'_' | b'+'))
        && after.is_some_and(u8::is_ascii_alphanumeric)
}

struct Escaper<'a> {
    out: &'a mut String,
    text: &'a str,
    around: Around,
    at: usize,
    breaks: std::vec::IntoIter<usize>,
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'\\' | b'`' | b'*' | b'_' | b'~' | b'[' | b']' | b'<' | b'&' | b'!' | b'$' | b'|' | b'#'
    )
}

impl Escaper<'_> {
    fn run(&mut self) {
        let brackets = self.around.in_link && (!is_balanced(self.text) || self.text.contains("]("));
        let dollar =
            if self.around.dollar_follows { Some(usize::MAX) } else { self.text.rfind('$') };
        let tail = self.text.trim_end_matches(['#', ' ']).len();
        let mut next_break = self.breaks.next();
        let bytes = self.text.as_bytes();
        let mut copied = self.at;
        while self.at < bytes.len() {
            if next_break.is_some_and(|at| at <= self.at) {
                self.push(copied, '\\');
                copied = self.at;
                next_break = self.breaks.next();
                self.at += 1;
                continue;
            }
            let byte = bytes[self.at];
            if !is_special(byte) {
                self.at += 1;
                continue;
            }
            let length = self.run_length(byte);
            if self.needs(byte, length, (brackets, dollar, tail)) {
                for _ in 0..length {
                    self.push(copied, '\\');
                    copied = self.at;
                    self.at += 1;
                }
            } else {
                self.at += length;
            }
        }
        self.out.push_str(&self.text[copied..]);
    }

    /// Writes what was not yet written, and a sign.
    fn push(&mut self, copied: usize, sign: char) {
        self.out.push_str(&self.text[copied..self.at]);
        self.out.push(sign);
    }

    /// How many signs are escaped together.
    fn run_length(&self, byte: u8) -> usize {
        if !matches!(byte, b'*' | b'_' | b'~' | b'`') {
            return 1;
        }
        self.text.as_bytes()[self.at..].iter().take_while(|it| **it == byte).count()
    }

    fn before(&self) -> char {
        self.text[..self.at].chars().next_back().unwrap_or(self.around.before)
    }

    fn after(&self, length: usize) -> char {
        self.text[self.at + length..].chars().next().unwrap_or(self.around.after)
    }

    fn needs(
        &self,
        byte: u8,
        length: usize,
        (brackets, dollar, tail): (bool, Option<usize>, usize),
    ) -> bool {
        let rest = &self.text[self.at + length..];
        let after = self.after(length);
        match byte {
            b'\\' => rest.is_empty() || after.is_ascii_punctuation(),
            b'`' => true,
            b'*' => !(self.before().is_whitespace() && after.is_whitespace()) || self.is_first(),
            b'_' => {
                let (before, after) = (self.before(), after);
                let inside = before.is_alphanumeric() && after.is_alphanumeric();
                let outside = before.is_whitespace() && after.is_whitespace();
                !(inside || outside) || self.is_first()
            }
            b'~' => {
                let closes = !self.before().is_whitespace() || rest.is_empty();
                length <= 2 && (closes || self.around.has_del) || (length > 2 && self.is_first())
            }
            b'[' => brackets || after == '^' || self.is_first() && begins_definition(rest),
            b']' => brackets || after == '(',
            b'<' => after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?'),
            b'&' => is_entity(rest),
            b'!' => after == '[',
            b'$' => {
                // Readers differ in what ends mathematics; none begins it before a blank, but
                // some before a space that does not break.
                !after.is_ascii_whitespace() && dollar.is_some_and(|last| last > self.at)
            }
            b'|' => self.around.place == Place::Cell,
            // The last signs of a heading would be taken for its end.
            b'#' => {
                let last = self.at >= tail;
                let apart = matches!(self.before(), ' ' | '#');
                self.around.place == Place::Heading && last && apart && self.around.after == ' '
            }
            _ => false,
        }
    }

    /// Whether the line begins here.
    fn is_first(&self) -> bool {
        self.around.start != Start::No && self.at == 0
    }

    /// Escapes what would begin another kind of block.
    fn line_start(&mut self) {
        if self.around.start == Start::No || self.around.place != Place::Paragraph {
            return;
        }
        let bytes = self.text.as_bytes();
        let Some(first) = bytes.first() else { return };
        let ends = |at: usize| match bytes.get(at) {
            Some(byte) => matches!(byte, b' ' | b'\t'),
            None => matches!(self.around.after, ' ' | '\\'),
        };
        let run = bytes.iter().take_while(|it| *it == first).count();
        let special = match first {
            b'#' => run <= 6 && ends(run),
            b'>' => true,
            b'+' => ends(1),
            b'-' if self.around.start == Start::Line => {
                ends(1) || matches!(bytes.get(1), Some(b'-' | b'|' | b':'))
            }
            b'-' => ends(1) || run > 1,
            b'=' | b':' | b'|' => self.around.start == Start::Line,
            _ => false,
        };
        let digits = bytes.iter().take_while(|it| it.is_ascii_digit()).count();
        if special {
            self.out.push('\\');
            self.out.push(char::from(*first));
            self.at = 1;
        } else if (1..=9).contains(&digits)
            && bytes.get(digits).is_some_and(|it| matches!(it, b'.' | b')'))
            && ends(digits + 1)
        {
            self.out.push_str(&self.text[..digits]);
            self.out.push('\\');
            self.out.push_str(&self.text[digits..=digits]);
            self.at = digits + 1;
        }
    }
}

/// Whether what follows a bracket makes a box of a task or the definition of a reference.
fn begins_definition(rest: &str) -> bool {
    matches!(rest.get(..2), Some(" ]" | "x]" | "X]")) || rest.contains("]:")
}

/// Whether brackets in a text pair up.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 0 => return false,
            b']' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// Whether what follows an ampersand makes a reference to a character.
fn is_entity(rest: &str) -> bool {
    let name = rest.strip_prefix('#').unwrap_or(rest);
    let length = name.bytes().take(33).take_while(u8::is_ascii_alphanumeric).count();
    length > 0 && name.as_bytes().get(length) == Some(&b';')
}

/// Inline code: delimiters longer than any run of back-ticks in it.
pub(super) fn code(out: &mut String, text: &str, place: Place) {
    let delimiter = "`".repeat(words::longest_run(text, '`') + 1);
    let ends = |c: char| text.starts_with(c) && text.ends_with(c);
    let pad = text.starts_with('`')
        || text.ends_with('`')
        || (ends(' ') && text.bytes().any(|it| it != b' '));
    let pad = if pad { " " } else { "" };
    out.push_str(&delimiter);
    out.push_str(pad);
    if place == Place::Cell && text.contains('|') {
        out.push_str(&text.replace('|', "\\|"));
    } else {
        out.push_str(text);
    }
    out.push_str(pad);
    out.push_str(&delimiter);
}

/// The destination of a link, between its parentheses.
pub(super) fn destination(out: &mut String, url: &str) {
    let balanced = {
        let mut depth = 0_i64;
        let never_negative = url.bytes().all(|byte| {
            depth += i64::from(byte == b'(') - i64::from(byte == b')');
            depth >= 0
        });
        never_negative && depth == 0
    };
    for (at, c) in url.char_indices() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            ' ' => out.push_str("%20"),
            '`' => out.push_str("%60"),
            '|' => out.push_str("%7C"),
            '\\' => out.push_str("%5C"),
            '(' if !balanced => out.push_str("%28"),
            ')' if !balanced => out.push_str("%29"),
            '&' if is_entity(&url[at + 1..]) => out.push_str("&amp;"),
            c if c.is_ascii_control() => {}
            c => out.push(c),
        }
    }
}
