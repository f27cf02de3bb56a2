//! What a page says about itself: its canonical address, and what robots may do with it.

use super::dom::{Id, Tree};
use super::element::Tag;
use crate::model::{PageUrl, Resolve};

/// What the owner of a page asks robots for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaRobots {
    /// Not to be found in searches.
    pub noindex: bool,
    /// Its links are not to be followed.
    pub nofollow: bool,
    /// Not to be kept.
    pub noarchive: bool,
}

impl MetaRobots {
    /// What both ask for together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }

    /// Reads the value of an `X-Robots-Tag` header for a bot of that name: directives
    /// separated by commas, which belong to the bot named with a colon before them, or to
    /// all.
    ///
    /// ```
    /// use pagelog::extract::html::MetaRobots;
    ///
    /// let asked = MetaRobots::from_header("otherbot: noindex, nofollow", "pagelog");
    /// assert_eq!(asked, MetaRobots::default());
    /// assert!(MetaRobots::from_header("noindex, Pagelog: noarchive", "pagelog").noarchive);
    /// ```
    #[must_use]
    pub fn from_header(value: &str, bot: &str) -> Self {
        let mut asked = Self::default();
        let mut ours = true;
        for part in value.split(',') {
            let mut directive = part.trim();
            if let Some((name, rest)) = directive.split_once(':')
                && !is_valued(name.trim())
            {
                ours = name.trim().eq_ignore_ascii_case(bot);
                directive = rest.trim();
            }
            if ours {
                asked.add(directive);
            }
        }
        asked
    }

    fn add(&mut self, directive: &str) {
        let is = |name: &str| directive.eq_ignore_ascii_case(name);
        self.noindex |= is("noindex") || is("none");
        self.nofollow |= is("nofollow") || is("none");
        // `none` is short for the first two; whoever writes it asks for as little as possible.
        self.noarchive |= is("noarchive") || is("none");
    }

    fn add_all(&mut self, directives: &str) {
        for directive in directives.split(|c: char| c == ',' || c.is_whitespace()) {
            self.add(directive);
        }
    }
}

/// Whether a directive takes a value after a colon, so that it is no name of a bot.
fn is_valued(name: &str) -> bool {
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it))
}

/// What stands in the head of a page.
#[derive(Default)]
pub(super) struct Head {
    pub(super) title: Option<String>,
    pub(super) base: Option<String>,
    pub(super) canonical: Option<String>,
    pub(super) markdown: Option<String>,
    pub(super) robots: MetaRobots,
    /// Other documents of the site: the next, the previous, the one this leads to.
    pub(super) leads_to: Vec<String>,
}

impl Head {
    /// Reads all elements that say something about the page, wherever they stand.
    pub(super) fn read(tree: &Tree, bot: &str) -> Self {
        let mut head = Self::default();
        for id in tree.elements() {
            match tree.tag(id) {
                Some(Tag::Title) if head.title.is_none() => head.title = Some(title(tree, id)),
                Some(Tag::Base) if head.base.is_none() => {
                    head.base = tree.attribute(id, "href").map(str::to_owned);
                }
                Some(Tag::Link) => head.link(tree, id),
                Some(Tag::Meta) => head.meta(tree, id, bot),
                Some(Tag::Silent) if matches!(tree.name(id), "iframe" | "frame") => {
                    head.leads_to.extend(tree.attribute(id, "src").map(str::to_owned));
                }
                _ => {}
            }
        }
        head
    }

    fn link(&mut self, tree: &Tree, id: Id) {
        let Some(href) = tree.attribute(id, "href") else { return };
        let rel = tree.attribute(id, "rel").unwrap_or_default();
        let is = |name: &str| rel.split_ascii_whitespace().any(|it| it.eq_ignore_ascii_case(name));
        if is("canonical") && self.canonical.is_none() {
            self.canonical = Some(href.to_owned());
        }
        let kind = tree.attribute(id, "type").unwrap_or_default();
        if is("alternate") && kind.eq_ignore_ascii_case("text/markdown") && self.markdown.is_none()
        {
            self.markdown = Some(href.to_owned());
        }
        if is("next") || is("prev") {
            self.leads_to.push(href.to_owned());
        }
    }

    fn meta(&mut self, tree: &Tree, id: Id, bot: &str) {
        let Some(content) = tree.attribute(id, "content") else { return };
        if let Some(name) = tree.attribute(id, "name").map(str::trim) {
            if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(bot) {
                self.robots.add_all(content);
            } else if name == "markdown_url" && self.markdown.is_none() {
                self.markdown = Some(content.to_owned());
            }
        }
        let equiv = tree.attribute(id, "http-equiv").unwrap_or_default();
        if equiv.eq_ignore_ascii_case("refresh") {
            self.leads_to.extend(refresh(content));
        }
    }
}

/// The address of a `refresh`: `10; URL=next.html`.
fn refresh(content: &str) -> Option<String> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim();
    let address = match rest.get(..3) {
        Some(url) if url.eq_ignore_ascii_case("url") => rest[3..].trim_start().strip_prefix('=')?,
        _ => rest,
    };
    let address = address.trim().trim_matches(['"', '\'']);
    (!address.is_empty()).then(|| address.to_owned())
}

fn title(tree: &Tree, id: Id) -> String {
    tree.all_children(id).filter_map(|child| tree.text(child)).collect()
}

/// The canonical address that a page names.
pub(super) fn resolved(href: Option<&str>, base: &dyn Resolve) -> Option<PageUrl> {
    href.map(str::trim).filter(|href| !href.is_empty()).and_then(|href| base.resolve(href).ok())
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn read(html: &str) -> Head {
        Head::read(&parse(html).tree, "pagelog")
    }

    const NONE: MetaRobots = MetaRobots { noindex: false, nofollow: false, noarchive: false };

    #[test]
    fn robots() {
        let noindex = MetaRobots { noindex: true, ..NONE };
        let nofollow = MetaRobots { nofollow: true, ..NONE };
        let cases = [
            ("<meta name=robots content='NOINDEX'>", noindex),
            ("<meta name=ROBOTS content='index, nofollow'>", nofollow),
            (
                "<meta name=robots content=none>",
                MetaRobots { noarchive: true, ..noindex.and(nofollow) },
            ),
            ("<meta name=otherbot content=noindex>", NONE),
            (
                "<meta name=PageLog content=noindex><meta name=robots content=nofollow>",
                noindex.and(nofollow),
            ),
            ("<p>x<meta name=robots content=noindex>", noindex),
            ("<meta name=robots content='max-snippet:-1'>", NONE),
        ];
        for (html, expected) in cases {
            assert_eq!(read(html).robots, expected, "{html}");
        }
    }

    #[test]
    fn headers() {
        let noarchive = MetaRobots { noarchive: true, ..NONE };
        let noindex = MetaRobots { noindex: true, ..NONE };
        let cases = [
            ("noarchive", noarchive),
            ("", NONE),
            ("pagelog: noarchive", noarchive),
            ("other: noarchive", NONE),
            ("other: noindex, noarchive", NONE),
            ("noindex, other: noarchive", noindex),
            ("other: noindex, PAGELOG: noarchive", noarchive),
            ("unavailable_after: 25 Jun 2030 15:00:00 GMT, noarchive", noarchive),
            ("other: max-snippet: 5, noarchive", NONE),
        ];
        for (value, expected) in cases {
            assert_eq!(MetaRobots::from_header(value, "pagelog"), expected, "{value}");
        }
    }

    #[test]
    fn what_a_head_says() {
        let head = read(
            "<title> A &amp;\n b </title><base href=/x/><base href=/y/>\
             <link rel='x Canonical' href=c><link rel=canonical href=d>\
             <link rel=next href=n><link rel=alternate type=text/markdown href=m.md>\
             <meta http-equiv=Refresh content=\"10;URL='w.html'\">",
        );
        assert_eq!(head.title.as_deref(), Some(" A &\n b "));
        assert_eq!(head.base.as_deref(), Some("/x/"));
        assert_eq!(head.canonical.as_deref(), Some("c"));
        assert_eq!(head.markdown.as_deref(), Some("m.md"));
        assert_eq!(head.leads_to, ["n", "w.html"]);
    }
}
