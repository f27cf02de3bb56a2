//! HTML inside of Markdown, as far as links need it: anchors, their text, block boundaries.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// Most separators within one tag. The tokenizer compares each attribute with all before
/// it, so that a tag with a million of them would take hours.
const MAX_SEPARATORS: usize = 512;

/// A part of HTML that matters to links.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// `<a>`; the reference is missing on mere targets.
    Anchor { href: Option<String>, rel: String },
    /// `</a>`.
    AnchorEnd,
    /// Start of an element that stands on lines of its own.
    BlockStart,
    /// End of such an element.
    BlockEnd,
    /// Text, alternative text of an image, or the space of a line break.
    Text(String),
}

/// Takes HTML apart; `None` where a tag has too many attributes to be read.
pub(super) fn pieces(html: &str) -> Option<Vec<Piece>> {
    if has_huge_tag(html) {
        return None;
    }
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    // The sink asks for nothing that would interrupt the tokenizer.
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    Some(tokenizer.sink.pieces.into_inner())
}

fn has_huge_tag(html: &str) -> bool {
    let mut separators = None;
    let mut bytes = html.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, &mut separators) {
            (b'<', None) if bytes.peek().is_some_and(u8::is_ascii_alphabetic) => {
                separators = Some(0);
            }
            (b'<', None) if bytes.peek() == Some(&b'/') => separators = Some(0),
            (b'>', _) => separators = None,
            (b' ' | b'\t' | b'\n' | b'\x0c' | b'/' | b'"' | b'\'', Some(count)) => {
                *count += 1;
                if *count > MAX_SEPARATORS {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[derive(Default)]
struct Sink {
    pieces: RefCell<Vec<Piece>>,
    /// Whether text is that of a script, a style sheet and the like.
    in_raw: Cell<bool>,
}

impl Sink {
    fn push(&self, piece: Piece) {
        self.pieces.borrow_mut().push(piece);
    }

    fn raw(&self, kind: RawKind) -> TokenSinkResult<()> {
        self.in_raw.set(true);
        TokenSinkResult::RawData(kind)
    }

    fn end(&self, tag: &Tag) {
        self.in_raw.set(false);
        match &*tag.name {
            "a" => self.push(Piece::AnchorEnd),
            name if is_block(name) => self.push(Piece::BlockEnd),
            _ => {}
        }
    }

    fn start(&self, tag: &Tag) -> TokenSinkResult<()> {
        match &*tag.name {
            "a" => {
                let rel = attribute(tag, "rel").unwrap_or_default();
                self.push(Piece::Anchor { href: attribute(tag, "href"), rel });
            }
            "img" => self.push(Piece::Text(attribute(tag, "alt").unwrap_or_default())),
            "br" => self.push(Piece::Text(" ".to_owned())),
            "script" => return self.raw(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                return self.raw(RawKind::Rawtext);
            }
            "textarea" | "title" => return self.raw(RawKind::Rcdata),
            name if is_block(name) => self.push(Piece::BlockStart),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return self.start(&tag),
            Token::TagToken(tag) => self.end(&tag),
            Token::CharacterTokens(text) if !self.in_raw.get() => {
                self.push(Piece::Text(text.to_string()));
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name);
    found.map(|attribute| attribute.value.to_string())
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn anchor(href: Option<&str>, rel: &str) -> Piece {
        Piece::Anchor { href: href.map(str::to_owned), rel: rel.to_owned() }
    }

    #[test]
    fn what_matters_is_found() {
        let html = "<P>x&amp;<A HREF='u?a&amp;b' rel=next>y<br><img alt=z></a></p><a name=n>";
        let found = pieces(html).unwrap();
        let expected = [
            Piece::BlockStart,
            text("x"),
            text("&"),
            anchor(Some("u?a&b"), "next"),
            text("y"),
            text(" "),
            text("z"),
            Piece::AnchorEnd,
            Piece::BlockEnd,
            anchor(None, ""),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_and_scripts_hold_no_links() {
        assert_eq!(pieces("<!-- <a href=x> -->").unwrap(), []);
        assert_eq!(pieces("<!-- <a href=x>").unwrap(), []);
        let scripted = pieces("<script>'<a href=x>'</script><a href=y>").unwrap();
        assert_eq!(scripted, [anchor(Some("y"), "")]);
    }

    #[test]
    fn tags_with_very_many_attributes_are_refused() {
        assert_eq!(pieces(&format!("<a {}>", "b ".repeat(600))), None);
        assert!(pieces(&format!("<a>{}", "b ".repeat(600))).is_some());
        assert!(pieces(&format!("<img src={}>", "b".repeat(60_000))).is_some());
    }
}
