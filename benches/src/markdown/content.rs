//! What of a page is its content: where it stands, and what there is none.

use std::collections::HashSet;
use std::sync::LazyLock;

use ego_tree::{NodeId, NodeRef};
use scraper::{ElementRef, Html, Node, Selector};

/// Where content stands; the first that a page has.
static CONTAINERS: LazyLock<Vec<Selector>> = LazyLock::new(|| {
    let all = [
        "main",
        "[role=main]",
        "article",
        "#main-content",
        "div.body",
        "#mw-content-text",
        "#main",
        "#content",
        ".content",
        "body",
    ];
    all.into_iter().map(selector).collect()
});

/// What is never content.
static NEVER: LazyLock<Selector> = LazyLock::new(|| {
    selector(
        "head, script, style, template, noscript, button, select, textarea, iframe, svg, map, \
         nav, [role=navigation], [role=search], [role=banner], [role=contentinfo], [hidden], \
         .breadcrumb, .breadcrumbs, .navheader, .navfooter, table.navigation, a.headerlink, \
         a.header-anchor, a.permalink, .linenos, .lineno, .copy-button, .feedback, .mw-editsection, \
         input, datalist, audio, canvas, object, embed, progress, meter",
    )
});

/// What is none where a whole page is read.
static MENUS: LazyLock<Selector> =
    LazyLock::new(|| selector("div.related, div.sphinxsidebar, div.sidebar, aside:not([class])"));

fn selector(text: &str) -> Selector {
    Selector::parse(text).expect("a selector")
}

/// The content of a page.
pub struct Content {
    pub root: NodeId,
    /// Elements in it that are none.
    pub dropped: HashSet<NodeId>,
}

/// Finds the content.
pub fn find(page: &Html) -> Content {
    let mut dropped: HashSet<NodeId> = page.select(&NEVER).map(|it| it.id()).collect();
    let all = Selector::parse("[style], a, header, footer").expect("a selector");
    for element in page.select(&all) {
        let style = element.attr("style").unwrap_or_default().replace(' ', "").to_lowercase();
        let gone = style.contains("display:none") || style.contains("visibility:hidden");
        let is_none = match element.value().name() {
            "a" => is_permalink(element),
            "header" => {
                !element.descendent_elements().any(|it| matches!(it.value().name(), "h1" | "h2"))
            }
            "footer" => element
                .parent()
                .and_then(ElementRef::wrap)
                .is_none_or(|it| it.value().name() != "blockquote"),
            _ => false,
        };
        if gone || is_none {
            dropped.insert(element.id());
        }
    }
    let root = CONTAINERS.iter().find_map(|it| {
        let mut found = page.select(it).filter(|it| has_text(**it, &dropped));
        let first = found.next()?;
        // Of several articles none is the content.
        let several = first.value().name() == "article" && found.next().is_some();
        (!several).then_some(first)
    });
    let root = root.map_or(page.tree.root().id(), |it| it.id());
    let whole = ElementRef::wrap(page.tree.get(root).expect("a node"))
        .is_none_or(|it| it.value().name() == "body");
    if whole {
        dropped.extend(page.select(&MENUS).map(|it| it.id()));
    }
    dropped.remove(&root);
    Content { root, dropped }
}

fn has_text(node: NodeRef<'_, Node>, dropped: &HashSet<NodeId>) -> bool {
    node.descendants().any(|it| {
        let shown = |text: &scraper::node::Text| !text.trim().is_empty();
        it.value().as_text().is_some_and(shown)
            && !it.ancestors().any(|above| dropped.contains(&above.id()))
    })
}

/// Whether a link is a mark beside what it stands in.
fn is_permalink(link: ElementRef<'_>) -> bool {
    let to_itself = link.attr("href").is_some_and(|it| it.starts_with('#'));
    let has_image = link.descendent_elements().any(|it| it.value().name() == "img");
    let text: String = link.text().collect();
    to_itself && !has_image && matches!(text.trim(), "" | "¶" | "#" | "§" | "🔗" | "\u{f0c1}")
}
