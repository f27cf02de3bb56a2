//! Mathematics: its TeX source where the page has it.

use super::dom::{Id, Tree};

/// A `math` element as Markdown.
pub(super) fn markdown(tree: &Tree, id: Id) -> Option<String> {
    let source = tree
        .all_below(id)
        .find(|it| {
            tree.name(*it) == "annotation"
                && tree.attribute(*it, "encoding").is_some_and(|it| it.contains("tex"))
        })
        .map(|it| tree.plain_text(it))
        .or_else(|| tree.attribute(id, "alttext").map(str::to_owned))
        .unwrap_or_else(|| tree.plain_text(id));
    let words: Vec<&str> = source.split_whitespace().collect();
    let source = words.join(" ");
    if source.is_empty() {
        return None;
    }
    let sign = if tree.attribute(id, "display") == Some("block") { "$$" } else { "$" };
    Some(format!("{sign}{source}{sign}"))
}
