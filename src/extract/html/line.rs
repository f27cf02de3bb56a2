//! Running text in pieces: white space collapsed as HTML does, and moved out of what it
//! would spoil; marks that hold nothing are gone.

use super::words;

/// What may stand around a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Em,
    Strong,
    Del,
    /// A tag that stays.
    Kept(&'static str),
    Link,
}

/// A part of running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Code(String),
    Open(Mark),
    /// The end of a mark; of a link with its destination.
    Close(Mark, String),
    Image {
        alt: String,
        source: String,
    },
    Break,
    /// Markdown as it is: mathematics, references to footnotes, boxes of tasks.
    Raw(String),
}

/// Collects pieces.
#[derive(Default)]
pub(super) struct Line {
    pieces: Vec<Piece>,
    open: Vec<Mark>,
    space: bool,
    in_code: bool,
}

impl Line {
    pub(super) fn finish(self) -> Vec<Piece> {
        self.pieces
    }

    pub(super) fn is_open(&self, mark: Mark) -> bool {
        self.open.contains(&mark)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn in_code(&self) -> bool {
        self.in_code
    }

    /// How many pieces there are.
    pub(super) fn length(&self) -> usize {
        self.pieces.len()
    }

    /// The pieces from one on.
    pub(super) fn since(&self, start: usize) -> &[Piece] {
        &self.pieces[start.min(self.pieces.len())..]
    }

    /// Adds a link that shows nothing.
    pub(super) fn empty_link(&mut self, address: &str) {
        self.flush_space();
        self.pieces.push(Piece::Open(Mark::Link));
        self.pieces.push(Piece::Close(Mark::Link, address.to_owned()));
    }

    /// Adds text, as code where that is begun.
    pub(super) fn text(&mut self, text: &str) {
        for (n, word) in text.split(words::is_space).enumerate() {
            self.space |= n > 0;
            if word.is_empty() {
                continue;
            }
            if self.in_code {
                self.code_word(word);
            } else {
                self.flush_space();
                match self.pieces.last_mut() {
                    Some(Piece::Text(last)) => last.push_str(word),
                    _ => self.pieces.push(Piece::Text(word.to_owned())),
                }
            }
        }
    }

    fn code_word(&mut self, word: &str) {
        let space = self.space;
        if let Some(Piece::Code(last)) = self.pieces.last_mut() {
            if space {
                last.push(' ');
            }
            self.space = false;
            last.push_str(word);
        } else {
            self.flush_space();
            self.pieces.push(Piece::Code(word.to_owned()));
        }
    }

    /// Whether text becomes code from here on; what it was before.
    pub(super) fn set_code(&mut self, on: bool) -> bool {
        // A space between two pieces of code belongs to neither.
        if self.in_code != on && self.space {
            self.flush_space();
        }
        std::mem::replace(&mut self.in_code, on)
    }

    /// A place where words are parted.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    /// Writes a space that is due, before the marks that were just opened.
    fn flush_space(&mut self) {
        if !std::mem::take(&mut self.space) {
            return;
        }
        let at = self.before_opened();
        match at.checked_sub(1).map(|before| &mut self.pieces[before]) {
            None | Some(Piece::Break) => {}
            Some(Piece::Text(text)) => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
            Some(_) => self.pieces.insert(at, Piece::Text(" ".to_owned())),
        }
    }

    /// Where the marks begin that hold nothing yet.
    fn before_opened(&self) -> usize {
        let opened = self.pieces.iter().rev().take_while(|it| matches!(it, Piece::Open(_)));
        self.pieces.len() - opened.count()
    }

    pub(super) fn line_break(&mut self) {
        self.space = false;
        let at = self.before_opened();
        if at > 0 {
            self.pieces.insert(at, Piece::Break);
        }
    }

    /// Adds a piece that is no text.
    pub(super) fn piece(&mut self, piece: Piece) {
        self.flush_space();
        self.pieces.push(piece);
    }

    pub(super) fn open(&mut self, mark: Mark) {
        self.open.push(mark);
        self.pieces.push(Piece::Open(mark));
    }

    /// Ends a mark; whether it holds anything.
    pub(super) fn close(&mut self, mark: Mark, destination: String) -> bool {
        self.open.pop();
        let mut breaks = 0;
        while matches!(self.pieces.last(), Some(Piece::Break)) {
            self.pieces.pop();
            breaks += 1;
        }
        let holds = self.pieces.last() != Some(&Piece::Open(mark));
        if holds {
            self.pieces.push(Piece::Close(mark, destination));
        } else {
            self.pieces.pop();
        }
        for _ in 0..breaks {
            self.line_break();
        }
        holds
    }
}

/// The plain text of pieces, as a reader sees it.
pub(super) fn plain_text(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) | Piece::Code(part) => text.push_str(part),
            Piece::Image { alt, .. } => text.push_str(alt),
            Piece::Break => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Splits where two line breaks follow each other outside of all marks, and drops those at
/// the ends.
pub(super) fn paragraphs(pieces: &[Piece]) -> Vec<&[Piece]> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Open(_) => depth += 1,
            Piece::Close(..) => depth = depth.saturating_sub(1),
            Piece::Break if depth == 0 && pieces.get(at + 1) == Some(&Piece::Break) => {
                parts.push(&pieces[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&pieces[start..]);
    parts.into_iter().map(without_breaks).filter(|part| !part.is_empty()).collect()
}

/// The pieces without line breaks at the ends.
pub(super) fn without_breaks(pieces: &[Piece]) -> &[Piece] {
    let start = pieces.iter().position(|it| *it != Piece::Break).unwrap_or(pieces.len());
    let end = pieces.iter().rposition(|it| *it != Piece::Break).map_or(start, |at| at + 1);
    &pieces[start..end]
}
