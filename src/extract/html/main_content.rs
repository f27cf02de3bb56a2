//! Choosing what of a page is its content.

use std::sync::OnceLock;

use super::dom::{Id, Tree};
use super::element::Tag;
use super::selector::{InvalidSelector, SelectorList};
use super::words;

/// Containers of the main content, tried in order; the first that holds text is taken.
const CONTAINERS: [&str; 17] = [
    "article.devsite-article",
    "#main-col-body",
    "main",
    "[role=main]",
    "article",
    "#main-content",
    "div.body",
    ".devsite-article-body",
    "#mw-content-text",
    ".markdown-body",
    ".rst-content",
    "#main",
    "#content",
    ".content-body",
    ".main-content",
    ".document",
    ".content",
];

/// What is never content, besides what the elements themselves say.
const NOISE: &str = "[role=navigation], [role=search], [role=banner], [role=contentinfo], \
    .breadcrumb, .breadcrumbs, .navheader, .navfooter, table.navigation, .prev-next, \
    a.headerlink, a.header-anchor, a.hash-link, a.anchor-link, a.permalink, span.permalink, \
    a.heading-anchor, \
    .theme-edit-this-page, .edit-this-page, .edit-page-link, .feedback, .toc-mobile, \
    devsite-feedback, devsite-thumb-rating, devsite-actions, devsite-llm-tools, \
    devsite-feature-tooltip, devsite-toc, devsite-hats-survey, devsite-banner, \
    devsite-key-takeaways-panel, devsite-recommendations, devsite-content-footer, \
    .devsite-article-meta, .devsite-floating-action-buttons, .nocontent, \
    awsdocs-language-banner, awsdocs-page-header, awsdocs-filter-selector, \
    awsdocs-thumb-feedback, awsdocs-copyright, awsdocs-page-utilities, #js_error_message, \
    #main-col-footer, #quick-feedback-yes, #quick-feedback-no, .code-btn-container, \
    #ms--content-header, #article-header, [unauthorized-private-section], #article-metadata, \
    #user-feedback, [data-id=ai-summary], #center-doc-outline, #ms--inline-notifications, \
    #assertive-live-region, #polite-live-region, #site-user-feedback-footer, \
    #ms--additional-resources-mobile, #article-metadata-footer, #action-panel, \
    .linenos, .lineno, .gutter, .rouge-gutter, .line-numbers-rows, .copybtn, .copy-button, \
    .mw-editsection";

/// Elements that a configuration names as the content, and as no content.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    main: SelectorList,
    drop: SelectorList,
}

impl Selectors {
    /// Reads the selectors of the main content and those of what is left out.
    ///
    /// # Errors
    /// One of them is not of the kind that is understood.
    pub fn new(main: &[String], drop: &[String]) -> Result<Self, InvalidSelector> {
        Ok(Self {
            main: SelectorList::new(main.iter().map(String::as_str))?,
            drop: SelectorList::new(drop.iter().map(String::as_str))?,
        })
    }
}

/// The content of a page.
pub(super) struct Content {
    /// The elements that hold it, none within another, in document order.
    pub(super) roots: Vec<Id>,
    /// Why this was a guess, if it was one.
    pub(super) note: Option<&'static str>,
}

/// Chooses the content, and marks in the tree what below it is none.
pub(super) fn choose(tree: &mut Tree, selectors: &Selectors) -> Content {
    drop_hidden(tree, selectors);
    if let Some(roots) = configured(tree, selectors) {
        return Content { roots, note: None };
    }
    let missed = (selectors.main.each().next().is_some())
        .then_some("no element is the configured main content: chosen by its usual names");
    if let Some(root) = well_known(tree) {
        drop_within(tree, root, Place::Main);
        return Content { roots: vec![root], note: missed };
    }
    let body = tree.elements().find(|id| tree.is(*id, Tag::Body)).unwrap_or(Tree::ROOT);
    drop_within(tree, body, Place::Body);
    let note = "no element of the main content was found: the body without navigation";
    Content { roots: vec![body], note: Some(note) }
}

fn configured(tree: &mut Tree, selectors: &Selectors) -> Option<Vec<Id>> {
    for matches in selectors.main.each() {
        let mut inside = vec![false; tree.len()];
        let mut roots = Vec::new();
        for id in tree.content_below(Tree::ROOT).filter(|id| tree.tag(*id).is_some()) {
            let within = tree.parent(id).is_some_and(|parent| inside[parent.index()]);
            let found = !within && matches(tree, id);
            inside[id.index()] = within || found;
            if found {
                roots.push(id);
            }
        }
        if roots.iter().any(|root| has_text(tree, *root)) {
            for root in &roots {
                drop_within(tree, *root, Place::Main);
            }
            return Some(roots);
        }
    }
    None
}

fn well_known(tree: &Tree) -> Option<Id> {
    static LIST: OnceLock<SelectorList> = OnceLock::new();
    let list = LIST.get_or_init(|| SelectorList::new(CONTAINERS).unwrap_or_default());
    let mut first = [None; CONTAINERS.len()];
    let mut articles = 0;
    for id in tree.content_below(Tree::ROOT).filter(|id| tree.tag(*id).is_some()) {
        // A mere anchor may have the name of a container, too.
        let is_block = tree.tag(id).is_some_and(Tag::is_block) || tree.name(id).contains('-');
        for n in list.matching(tree, id).filter(|_| is_block) {
            if first[n].is_none() && has_text(tree, id) {
                first[n] = Some(id);
            }
        }
        articles += usize::from(tree.name(id) == "article" && first[4] != Some(id));
    }
    if articles > 0 {
        // Several articles are a list of teasers or posts: none of them is the content.
        first[4] = None;
    }
    first.into_iter().flatten().next()
}

fn has_text(tree: &Tree, id: Id) -> bool {
    tree.content_below(id).any(|id| tree.text(id).is_some_and(|text| !words::is_blank(text)))
}

/// Where noise is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In an element that is known to be the content.
    Main,
    /// In a whole page.
    Body,
}

/// Marks what is nowhere content: scripts, hidden elements, known noise.
fn drop_hidden(tree: &mut Tree, selectors: &Selectors) {
    static NOISE_LIST: OnceLock<SelectorList> = OnceLock::new();
    let noise = NOISE_LIST.get_or_init(|| SelectorList::new([NOISE]).unwrap_or_default());
    let dropped: Vec<Id> = tree
        .elements()
        .filter(|id| {
            is_silent(tree, *id)
                || is_hidden(tree, *id)
                || noise.matches(tree, *id)
                || selectors.drop.matches(tree, *id)
        })
        .collect();
    for id in dropped {
        tree.node_mut(id).skipped = true;
    }
}

fn is_silent(tree: &Tree, id: Id) -> bool {
    match tree.tag(id) {
        Some(Tag::Silent) => match tree.name(id) {
            // A box in a list of tasks is content.
            "input" => tree.attribute(id, "type").is_none_or(|it| it != "checkbox"),
            // The label of a tab is.
            "button" => tree.attribute(id, "role") != Some("tab"),
            _ => true,
        },
        Some(tag) => tag.is_silent(),
        None => false,
    }
}

fn is_hidden(tree: &Tree, id: Id) -> bool {
    if tree.attribute(id, "role") == Some("tabpanel") || tree.has_class(id, "tab-pane") {
        return false;
    }
    if tree.attribute(id, "hidden").is_some_and(|it| it != "until-found") {
        return true;
    }
    if tree.attribute(id, "style").is_some_and(hides) {
        return true;
    }
    tree.attribute(id, "aria-hidden") == Some("true")
        && (tree.has_class(id, "katex-html") || is_icon(tree, id))
}

/// Whether a style hides its element.
fn hides(style: &str) -> bool {
    style.split(';').any(|it| {
        it.split_once(':').is_some_and(|(name, value)| {
            let name = name.trim();
            let value = value.trim();
            (name.eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none"))
                || (name.eq_ignore_ascii_case("visibility") && value.eq_ignore_ascii_case("hidden"))
        })
    })
}

/// Whether an element shows at most a few signs and no word.
fn is_icon(tree: &Tree, id: Id) -> bool {
    tree.content_below(id)
        .take(8)
        .all(|id| tree.text(id).is_none_or(|text| !text.contains(char::is_alphanumeric)))
}

/// Marks navigation and the like below an element.
fn drop_within(tree: &mut Tree, root: Id, place: Place) {
    let dropped: Vec<Id> = tree
        .content_below(root)
        .filter(|id| *id != root && is_apparatus(tree, *id, place))
        .collect();
    for id in dropped {
        tree.node_mut(id).skipped = true;
    }
}

fn is_apparatus(tree: &Tree, id: Id, place: Place) -> bool {
    match tree.tag(id) {
        Some(Tag::Nav) => true,
        Some(Tag::Header) => !holds_title(tree, id),
        Some(Tag::Footer) => !tree.parent(id).is_some_and(|it| tree.is(it, Tag::Blockquote)),
        Some(Tag::Aside) => place == Place::Body && tree.classes(id).next().is_none(),
        Some(Tag::A) => is_permalink(tree, id),
        Some(Tag::Block) if place == Place::Body => {
            tree.classes(id).any(|it| matches!(it, "related" | "sphinxsidebar" | "sidebar"))
        }
        _ => false,
    }
}

/// Whether a header holds a heading of the content, and is not the masthead of a site.
fn holds_title(tree: &Tree, id: Id) -> bool {
    tree.content_below(id).any(|it| matches!(tree.tag(it), Some(Tag::Heading(1 | 2))))
}

/// Whether a link is the mark beside a heading that leads to itself.
fn is_permalink(tree: &Tree, id: Id) -> bool {
    if !tree.attribute(id, "href").is_some_and(|href| href.starts_with('#')) {
        return false;
    }
    let mut all = String::new();
    for id in tree.content_below(id) {
        if tree.is(id, Tag::Img) {
            return false;
        }
        all.push_str(tree.text(id).unwrap_or_default());
        if all.len() > 16 {
            return false;
        }
    }
    matches!(all.trim_matches(words::is_invisible), "" | "¶" | "#" | "§" | "🔗" | "⚓" | "\u{f0c1}")
}
