//! Pieces of running text to one line of Markdown.

use super::emphasis::{self, Style};
use super::escape::{self, Around, Place, Start};
use super::line::{Mark, Piece};

/// Writes pieces as a line; only hard line breaks in a paragraph begin others.
pub(super) fn markdown(pieces: &[Piece], place: Place) -> String {
    let styles = emphasis::styles(pieces);
    let mut out = String::new();
    let mut start = Start::Block;
    let mut in_link = false;
    let last_dollar = pieces.iter().rposition(has_dollar);
    let has_del = pieces.contains(&Piece::Open(Mark::Del));
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        let mut next_start = Start::No;
        match piece {
            Piece::Text(text) => {
                let around = Around {
                    place,
                    before: emphasis::last(pieces, at),
                    after: emphasis::first(pieces, at + 1),
                    start,
                    in_link,
                    dollar_follows: last_dollar.is_some_and(|last| last > at),
                    has_del,
                };
                escape::escape(&mut out, text, around);
            }
            // A back-slash before a bar cannot be said in code within a table.
            Piece::Code(text) if place == Place::Cell && text.contains("\\|") => {
                out.push_str("<code>");
                escape::escape(&mut out, text, inside(place, '>', '<'));
                out.push_str("</code>");
            }
            Piece::Code(text) => escape::code(&mut out, text, place),
            Piece::Open(Mark::Link) => {
                if let Some(url) = autolink(&pieces[at..], place) {
                    out.push('<');
                    out.push_str(url);
                    out.push('>');
                    at += 2;
                } else {
                    in_link = true;
                    out.push('[');
                }
            }
            Piece::Close(Mark::Link, url) => {
                in_link = false;
                out.push_str("](");
                escape::destination(&mut out, url);
                out.push(')');
            }
            Piece::Open(mark) | Piece::Close(mark, _) => {
                let ends = matches!(piece, Piece::Close(..));
                push_mark(&mut out, *mark, (styles[at], ends));
            }
            Piece::Image { alt, source } => image(&mut out, (alt, source), place),
            Piece::Break if place == Place::Paragraph => {
                out.truncate(out.trim_end_matches(' ').len());
                out.push_str("\\\n");
                next_start = Start::Line;
            }
            Piece::Break => out.push_str("<br>"),
            Piece::Raw(text) if place == Place::Cell => out.push_str(&text.replace('|', "\\|")),
            Piece::Raw(text) => out.push_str(text),
        }
        start = next_start;
        at += 1;
    }
    out.truncate(out.trim_end_matches(' ').len());
    out
}

fn push_mark(out: &mut String, mark: Mark, (style, ends): (Option<Style>, bool)) {
    let tag = match (style, mark) {
        (Some(Style::Delimiter(text)), _) => {
            out.push_str(text);
            return;
        }
        (Some(Style::Tag(tag)), _) | (None, Mark::Kept(tag)) => tag,
        (None, _) => return,
    };
    out.push_str(if ends { "</" } else { "<" });
    out.push_str(tag);
    out.push('>');
}

fn image(out: &mut String, (alt, source): (&str, &str), place: Place) {
    out.push_str("![");
    escape::escape(out, alt, inside(place, '[', ']'));
    out.push_str("](");
    escape::destination(out, source);
    out.push(')');
}

/// What is around a text between two signs.
fn inside(place: Place, before: char, after: char) -> Around {
    Around {
        place,
        before,
        after,
        start: Start::No,
        in_link: before == '[',
        dollar_follows: true,
        has_del: true,
    }
}

/// Whether a piece shows a dollar sign, which a reader may take for the end of mathematics.
fn has_dollar(piece: &Piece) -> bool {
    match piece {
        Piece::Text(text) | Piece::Code(text) | Piece::Raw(text) => text.contains('$'),
        Piece::Close(_, address) => address.contains('$'),
        Piece::Image { alt, source } => alt.contains('$') || source.contains('$'),
        Piece::Open(_) | Piece::Break => false,
    }
}

/// The address of a link whose text is just that.
fn autolink(pieces: &[Piece], place: Place) -> Option<&str> {
    let [_, Piece::Text(text), Piece::Close(Mark::Link, url), ..] = pieces else { return None };
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '<' | '>' | '\\');
    let is_address = url.starts_with("http://") || url.starts_with("https://");
    let fits = text == url && is_address && url.chars().all(plain);
    (fits && (place != Place::Cell || !url.contains('|'))).then_some(url)
}
