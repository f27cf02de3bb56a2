//! What of a page is its content: where it stands, and what there is none.

use std::collections::HashSet;

use super::tree::{Element, Page};

type Rule = fn(&Element) -> bool;

/// Where content stands; the first that a page has.
const CONTAINERS: [Rule; 11] = [
    |it| it.name() == "main",
    |it| it.is_role("main"),
    |it| it.name() == "article",
    |it| it.is_id("main-content"),
    |it| it.name() == "div" && it.has_class("body"),
    |it| it.is_id("mw-content-text"),
    |it| it.is_id("main"),
    |it| it.is_id("content"),
    |it| it.name() == "div" && it.has_class("document"),
    |it| it.has_class("content"),
    |it| it.name() == "body",
];

/// Elements that show nothing, or what a reader works with.
const SILENT: [&str; 22] = [
    "audio", "button", "canvas", "datalist", "embed", "head", "iframe", "input", "map", "meter",
    "nav", "noscript", "object", "option", "progress", "script", "select", "style", "svg",
    "template", "textarea", "title",
];

/// Classes of what is around content.
const AROUND: [&str; 10] = [
    "breadcrumb",
    "breadcrumbs",
    "copy-button",
    "feedback",
    "lineno",
    "linenos",
    "mw-editsection",
    "navfooter",
    "navheader",
    "permalink",
];

/// The content of a page.
pub struct Content {
    pub root: Element,
    /// The keys of elements in it that are none.
    pub dropped: HashSet<usize>,
}

/// Finds the content.
pub fn find(page: &Page) -> Content {
    let all = page.root().below();
    let mut dropped: HashSet<usize> =
        all.iter().filter(|it| is_none(it)).map(Element::key).collect();
    let root = CONTAINERS.iter().find_map(|rule| {
        let mut found = all.iter().filter(|it| rule(it) && has_text(it, &dropped));
        let first = found.next()?;
        // Of several articles none is the content.
        let several = first.name() == "article" && found.next().is_some();
        (!several).then(|| first.clone())
    });
    let root = root.unwrap_or_else(|| page.root());
    // What is a menu where a whole page is read.
    if matches!(root.name(), "" | "body") {
        let menu = |it: &&Element| match it.name() {
            "div" => ["related", "sphinxsidebar", "sidebar"].iter().any(|menu| it.has_class(menu)),
            "aside" => !it.has_attr("class"),
            _ => false,
        };
        dropped.extend(all.iter().filter(menu).map(Element::key));
    }
    dropped.remove(&root.key());
    Content { root, dropped }
}

fn is_none(it: &Element) -> bool {
    SILENT.contains(&it.name())
        || AROUND.iter().any(|class| it.has_class(class))
        || ["navigation", "search", "banner", "contentinfo"].iter().any(|role| it.is_role(role))
        || it.has_attr("hidden")
        || it.attr("style").is_some_and(|style| hides(&style))
        || match it.name() {
            "a" => is_permalink(it),
            "header" => !it.below().iter().any(|it| matches!(it.name(), "h1" | "h2")),
            "footer" => it.parent().is_none_or(|it| it.name() != "blockquote"),
            "table" => it.has_class("navigation"),
            _ => false,
        }
}

fn hides(style: &str) -> bool {
    let style = style.to_lowercase();
    style.split(';').filter_map(|it| it.split_once(':')).any(|(name, value)| {
        matches!((name.trim(), value.trim()), ("display", "none") | ("visibility", "hidden"))
    })
}

fn has_text(node: &Element, dropped: &HashSet<usize>) -> bool {
    if dropped.contains(&node.key()) {
        return false;
    }
    node.own_text().is_some_and(|text| !text.trim().is_empty())
        || node.children().iter().any(|it| has_text(it, dropped))
}

/// Whether a link is a mark beside what it stands in.
fn is_permalink(link: &Element) -> bool {
    let to_itself = link.attr("href").is_some_and(|it| it.starts_with('#'));
    let has_image = link.below().iter().any(|it| it.name() == "img");
    let is_mark = matches!(link.short_text().trim(), "" | "¶" | "#" | "§" | "🔗" | "\u{f0c1}");
    let is_named = ["headerlink", "header-anchor"].iter().any(|class| link.has_class(class));
    is_named || to_itself && !has_image && is_mark
}
