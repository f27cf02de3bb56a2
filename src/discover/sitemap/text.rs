//! Sitemaps that are plain text: an address a line.

use std::io::{self, BufRead};

use super::characters::Characters;
use super::draft::Captured;
use super::layers::Stop;
use super::{Fault, Kind, Sink};

/// Reads lines to the end. Lines that are no addresses are faults only after one that is:
/// a text without any is no sitemap.
pub(super) fn read(mut input: Characters<'_>, sink: &mut Sink<'_>) {
    let mut line = Captured::default();
    loop {
        input.mark();
        match piece(&mut input, &mut line) {
            Ok(Piece::Line) => {
                if take(&std::mem::take(&mut line), sink).is_none() {
                    return;
                }
            }
            Ok(Piece::Part) => {}
            Ok(Piece::End) => {
                take(&line, sink);
                return;
            }
            Err(error) => return sink.stop(&Stop::of(&error)),
        }
    }
}

enum Piece {
    Part,
    Line,
    End,
}

/// Takes what is at hand up to the end of the line.
fn piece(input: &mut Characters<'_>, line: &mut Captured) -> io::Result<Piece> {
    let have = input.fill_buf()?;
    if have.is_empty() {
        return Ok(Piece::End);
    }
    let end = have.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let until = end.unwrap_or(have.len());
    line.push(&String::from_utf8_lossy(&have[..until]));
    input.consume(until + usize::from(end.is_some()));
    Ok(if end.is_some() { Piece::Line } else { Piece::Part })
}

/// Gives a line out; `None` where no more are wanted.
fn take(line: &Captured, sink: &mut Sink<'_>) -> Option<()> {
    let text = line.text.trim();
    let begins = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if begins("http://") || begins("https://") {
        sink.report.kind = Some(Kind::Text);
        let url = line.address(None);
        return sink.give(&line.text, url, None);
    }
    if text.is_empty() || sink.report.kind.is_none() {
        return Some(());
    }
    sink.give(text, Err(Fault::NoAddress), None)
}
