//! The links of a page, as another reader than the converter's finds them.

use std::collections::{BTreeSet, HashSet};

use pagelog::model::PageUrl;
use url::Url;

use super::content;
use super::features::{own_base, plain};
use super::tree::{Element, Page};

/// Longest address that is kept.
const LONGEST: usize = 2_048;

/// Addresses and texts of the links of the content: those of `a` and `area`, resolved, without
/// fragments, in their canonical form. What leads to a place in the page is none.
pub fn of_page(html: &str, base: &Url) -> BTreeSet<(String, String)> {
    let page = Page::parse(html);
    let content = content::find(&page);
    let own = own_base(&page, base);
    let mut reader = Links {
        base: own.as_ref().unwrap_or(base),
        is_local: own.is_none(),
        dropped: &content.dropped,
        found: BTreeSet::new(),
    };
    reader.node(&content.root);
    reader.found
}

struct Links<'a> {
    base: &'a Url,
    is_local: bool,
    dropped: &'a HashSet<usize>,
    found: BTreeSet<(String, String)>,
}

impl Links<'_> {
    fn node(&mut self, node: &Element) {
        // Areas stand in a map, which shows nothing itself.
        if self.dropped.contains(&node.key()) && node.name() != "map" {
            return;
        }
        if matches!(node.name(), "a" | "area")
            && let Some(to) = node.attr("href").and_then(|href| self.target(&href))
        {
            let mut text = node.attr("alt").filter(|_| node.name() == "area").unwrap_or_default();
            self.text(node, &mut text);
            self.found.insert((to, plain(&text).chars().take(500).collect()));
        }
        for child in node.children() {
            self.node(&child);
        }
    }

    fn target(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if self.is_local && (href.is_empty() || href.starts_with('#')) {
            return None;
        }
        let mut url = self.base.join(href).ok()?;
        url.set_fragment(None);
        let is_kept = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none();
        let url = PageUrl::parse(url.as_str()).ok().filter(|_| is_kept)?;
        (url.as_str().len() <= LONGEST).then(|| url.to_string())
    }

    fn text(&self, node: &Element, text: &mut String) {
        for child in node.children() {
            if self.dropped.contains(&child.key()) {
                continue;
            }
            text.push_str(&child.own_text().unwrap_or_default());
            let parts = super::features::is_block(child.name()) || child.name() == "br";
            if parts {
                text.push(' ');
            }
            if child.name() == "img" {
                text.push_str(&child.attr("alt").unwrap_or_default());
            }
            self.text(&child, text);
            if parts {
                text.push(' ');
            }
        }
    }
}
