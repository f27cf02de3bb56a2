//! Which delimiters say emphasis, where Markdown would bind them (`CommonMark`, 6.2).

use super::line::{Mark, Piece};
use super::words;

/// How a mark is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Delimiter(&'static str),
    Tag(&'static str),
}

impl Style {
    fn sign(self) -> Option<u8> {
        match self {
            Self::Delimiter(text) => text.as_bytes().first().copied(),
            Self::Tag(_) => None,
        }
    }
}

/// The styles of the marks of a line, by the index of their piece; `None` for what is no
/// emphasis.
pub(super) fn styles(pieces: &[Piece]) -> Vec<Option<Style>> {
    let mut styles = vec![None; pieces.len()];
    if !pieces.iter().any(|it| matches!(it, Piece::Open(_))) {
        return styles;
    }
    let ends = ends(pieces);
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Open(mark) = piece else { continue };
        let Some((end, (choices, tag))) = ends[at].zip(spellings(*mark)) else { continue };
        let pair = Pair { pieces, styles: &styles, start: at, end };
        let choice = choices.iter().copied().map(Style::Delimiter).find(|it| pair.binds(*it));
        let style = choice.unwrap_or(Style::Tag(tag));
        styles[at] = Some(style);
        styles[end] = Some(style);
    }
    styles
}

fn spellings(mark: Mark) -> Option<(&'static [&'static str], &'static str)> {
    match mark {
        Mark::Em => Some((&["*", "_"], "em")),
        Mark::Strong => Some((&["**", "__"], "strong")),
        Mark::Del => Some((&["~~"], "del")),
        Mark::Kept(_) | Mark::Link => None,
    }
}

/// For each start of a mark the index of its end.
fn ends(pieces: &[Piece]) -> Vec<Option<usize>> {
    let mut ends = vec![None; pieces.len()];
    let mut open = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Open(_) => open.push(at),
            Piece::Close(..) => {
                if let Some(start) = open.pop() {
                    ends[start] = Some(at);
                }
            }
            _ => {}
        }
    }
    ends
}

struct Pair<'a> {
    pieces: &'a [Piece],
    styles: &'a [Option<Style>],
    start: usize,
    end: usize,
}

/// What a character beside a delimiter is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Space,
    Sign,
    Other,
}

impl Pair<'_> {
    fn binds(&self, style: Style) -> bool {
        let sign = style.sign();
        let beside =
            [self.start.checked_sub(1), self.start.checked_add(1), self.end.checked_sub(1)];
        let beside = beside.into_iter().flatten().chain([self.end + 1]);
        let same = |at: usize| {
            let other = self.styles.get(at).copied().flatten();
            other.is_some_and(|it| it.sign() == sign)
        };
        if beside.into_iter().any(same) {
            return false;
        }
        // Characters that not all readers take for punctuation have to be right as both.
        [Side::Sign, Side::Other].into_iter().all(|doubtful| {
            let side = |c: char| match c {
                c if c.is_whitespace() => Side::Space,
                c if c.is_ascii_punctuation() => Side::Sign,
                c if words::is_punctuation(c) => doubtful,
                _ => Side::Other,
            };
            let opening =
                (side(last(self.pieces, self.start)), side(first(self.pieces, self.start + 1)));
            let closing =
                (side(last(self.pieces, self.end)), side(first(self.pieces, self.end + 1)));
            if sign == Some(b'_') {
                let opens = is_left(opening) && (!is_right(opening) || opening.0 == Side::Sign);
                let closes = is_right(closing) && (!is_left(closing) || closing.1 == Side::Sign);
                opens && closes
            } else {
                is_left(opening) && is_right(closing)
            }
        })
    }
}

fn is_left((before, after): (Side, Side)) -> bool {
    after != Side::Space && (after == Side::Other || before != Side::Other)
}

fn is_right((before, after): (Side, Side)) -> bool {
    is_left((after, before))
}

/// The last character before a piece.
pub(super) fn last(pieces: &[Piece], at: usize) -> char {
    match at.checked_sub(1).map(|before| &pieces[before]) {
        None | Some(Piece::Break) => ' ',
        Some(Piece::Text(text) | Piece::Raw(text)) => text.chars().next_back().unwrap_or(' '),
        Some(Piece::Code(_)) => '`',
        Some(Piece::Open(Mark::Kept(_)) | Piece::Close(Mark::Kept(_), _)) => '>',
        Some(Piece::Open(Mark::Link)) => '[',
        Some(Piece::Close(Mark::Link, _) | Piece::Image { .. }) => ')',
        Some(Piece::Open(_) | Piece::Close(..)) => '*',
    }
}

/// The first character of a piece and what follows it.
pub(super) fn first(pieces: &[Piece], at: usize) -> char {
    match pieces.get(at) {
        None => ' ',
        Some(Piece::Text(text) | Piece::Raw(text)) => text.chars().next().unwrap_or(' '),
        Some(Piece::Code(_)) => '`',
        Some(Piece::Open(Mark::Kept(_)) | Piece::Close(Mark::Kept(_), _)) => '<',
        Some(Piece::Open(Mark::Link)) => '[',
        Some(Piece::Close(Mark::Link, _)) => ']',
        Some(Piece::Image { .. }) => '!',
        Some(Piece::Break) => '\\',
        Some(Piece::Open(_) | Piece::Close(..)) => '*',
    }
}
