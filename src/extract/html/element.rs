//! What the elements of HTML mean to a reader, as far as Markdown can say it.

/// The role of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    // Running text.
    A,
    Area,
    Br,
    Code,
    Del,
    Em,
    Img,
    /// Elements that stay as tags: `sub`, `sup`, `kbd`, …
    Kept(&'static str),
    Math,
    Picture,
    Strong,
    Wbr,
    /// Any other element within a line: only its content counts.
    Inline,
    // Blocks.
    Aside,
    /// A block of which only the content counts.
    Block,
    Blockquote,
    Body,
    Caption,
    Cell,
    Dd,
    Details,
    Dl,
    Dt,
    Footer,
    Header,
    Heading(u8),
    HeaderCell,
    Hr,
    Li,
    Nav,
    Ol,
    P,
    Pre,
    Row,
    Rows,
    Summary,
    Table,
    HeadRows,
    Ul,
    // What is never content.
    Base,
    Link,
    Meta,
    Title,
    Silent,
}

impl Tag {
    /// The role of an element of HTML.
    pub(super) fn of(name: &str) -> Self {
        Self::inline(name).or_else(|| Self::block(name)).unwrap_or_else(|| Self::silent(name))
    }

    fn inline(name: &str) -> Option<Self> {
        Some(match name {
            "span" | "font" | "label" | "abbr" | "small" | "u" => Self::Inline,
            "a" => Self::A,
            "area" => Self::Area,
            "br" => Self::Br,
            "code" | "tt" | "samp" => Self::Code,
            "del" | "s" | "strike" => Self::Del,
            "em" | "i" | "var" | "cite" | "dfn" => Self::Em,
            "b" | "strong" => Self::Strong,
            "img" | "image" => Self::Img,
            "sub" => Self::Kept("sub"),
            "sup" => Self::Kept("sup"),
            "kbd" => Self::Kept("kbd"),
            "q" => Self::Kept("q"),
            "ins" => Self::Kept("ins"),
            "mark" => Self::Kept("mark"),
            "picture" => Self::Picture,
            "wbr" => Self::Wbr,
            _ => return None,
        })
    }

    fn block(name: &str) -> Option<Self> {
        Some(match name {
            "div" | "section" | "article" | "main" | "html" | "address" | "center" | "fieldset"
            | "figcaption" | "figure" | "form" | "hgroup" | "legend" | "dialog" | "search"
            | "optgroup" | "frameset" | "noframes" => Self::Block,
            "p" => Self::P,
            "li" => Self::Li,
            "ul" | "menu" | "dir" => Self::Ul,
            "ol" => Self::Ol,
            "td" => Self::Cell,
            "th" => Self::HeaderCell,
            "tr" => Self::Row,
            "table" => Self::Table,
            "thead" => Self::HeadRows,
            "tbody" | "tfoot" => Self::Rows,
            "caption" => Self::Caption,
            "dl" => Self::Dl,
            "dt" => Self::Dt,
            "dd" => Self::Dd,
            "pre" | "listing" | "xmp" | "plaintext" => Self::Pre,
            "h1" => Self::Heading(1),
            "h2" => Self::Heading(2),
            "h3" => Self::Heading(3),
            "h4" => Self::Heading(4),
            "h5" => Self::Heading(5),
            "h6" => Self::Heading(6),
            "hr" => Self::Hr,
            "blockquote" => Self::Blockquote,
            "details" => Self::Details,
            "summary" => Self::Summary,
            "aside" => Self::Aside,
            "body" => Self::Body,
            "footer" => Self::Footer,
            "header" => Self::Header,
            "nav" => Self::Nav,
            _ => return None,
        })
    }

    fn silent(name: &str) -> Self {
        match name {
            "base" => Self::Base,
            "link" => Self::Link,
            "meta" => Self::Meta,
            "title" => Self::Title,
            "head" | "script" | "style" | "template" | "noscript" | "button" | "input"
            | "select" | "textarea" | "datalist" | "option" | "iframe" | "noembed" | "embed"
            | "audio" | "canvas" | "svg" | "source" | "track" | "param" | "col" | "colgroup"
            | "rp" | "map" | "progress" | "meter" | "frame" => Self::Silent,
            _ => Self::Inline,
        }
    }

    /// Whether the element stands on lines of its own.
    pub(super) fn is_block(self) -> bool {
        matches!(
            self,
            Self::Aside
                | Self::Block
                | Self::Blockquote
                | Self::Body
                | Self::Caption
                | Self::Cell
                | Self::Dd
                | Self::Details
                | Self::Dl
                | Self::Dt
                | Self::Footer
                | Self::Header
                | Self::Heading(_)
                | Self::HeaderCell
                | Self::Hr
                | Self::Li
                | Self::Nav
                | Self::Ol
                | Self::P
                | Self::Pre
                | Self::Row
                | Self::Rows
                | Self::Summary
                | Self::Table
                | Self::HeadRows
                | Self::Ul
        )
    }

    /// Whether nothing of the element is ever shown as content.
    pub(super) fn is_silent(self) -> bool {
        matches!(self, Self::Base | Self::Link | Self::Meta | Self::Title | Self::Silent)
    }
}
