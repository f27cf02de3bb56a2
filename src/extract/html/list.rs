//! Lists and definitions.

use super::dom::{Id, Tree};
use super::element::Tag;
use super::line::{Line, Mark};
use super::render::Renderer;
use super::words;
use super::writer::{Gap, ListKind};

/// An item: the nodes that are in it.
type Item = Vec<Id>;

/// The largest number that an item may have.
const MAX_NUMBER: u64 = 999_999_999;

impl Renderer<'_, '_> {
    pub(super) fn bullets(&mut self, id: Id) {
        self.list(id, None);
    }

    pub(super) fn numbers(&mut self, id: Id) {
        self.list(id, Some(start(self.tree, id)));
    }

    fn list(&mut self, id: Id, start: Option<u64>) {
        let tree = self.tree;
        let items = items(tree, id);
        if items.iter().flatten().any(|it| self.footnotes.definition(*it).is_some()) {
            self.notes(&items);
            return;
        }
        let has_item = items.iter().flatten().any(|it| tree.is(*it, Tag::Li));
        if !has_item || !self.enter() {
            self.blocks(id);
            return;
        }
        let gap =
            if items.iter().all(|item| is_compact(tree, item)) { Gap::Tight } else { Gap::Blank };
        self.writer.list(if start.is_some() { ListKind::Numbers } else { ListKind::Bullets });
        let last = u64::try_from(items.len()).unwrap_or(MAX_NUMBER);
        let mut number = start.map(|it| if it > MAX_NUMBER.saturating_sub(last) { 1 } else { it });
        for (n, item) in items.iter().enumerate() {
            if n > 0 && gap == Gap::Blank {
                self.writer.gap();
            }
            let mark = number.map_or("- ".to_owned(), |number| format!("{number}. "));
            number = number.map(|number| number + 1);
            self.writer.open_item(mark, gap);
            self.parts(item);
            self.writer.close();
        }
        self.leave();
    }

    /// Writes what an item or a meaning is made of: each element that is one on lines of its
    /// own, and so what stands beside them.
    fn parts(&mut self, parts: &[Id]) {
        let tree = self.tree;
        let is_part = |id: &Id| matches!(tree.tag(*id), Some(Tag::Li | Tag::Dd));
        for beside in parts.chunk_by(|one, other| !is_part(one) && !is_part(other)) {
            self.nodes(beside.iter().flat_map(|it| contents(tree, *it)));
        }
    }

    /// A list of footnotes.
    fn notes(&mut self, items: &[Item]) {
        for id in items.iter().flatten() {
            match self.footnotes.definition(*id) {
                Some(label) => self.footnote(*id, &label),
                None => self.nodes(contents(self.tree, *id).into_iter()),
            }
        }
    }

    /// Terms and what they mean, as items that begin with the terms.
    pub(super) fn definitions(&mut self, id: Id) {
        let tree = self.tree;
        let groups = groups(tree, id);
        if groups.is_empty() || !self.enter() {
            self.blocks(id);
            return;
        }
        self.writer.list(ListKind::Bullets);
        for (n, (terms, meanings)) in groups.iter().enumerate() {
            if n > 0 {
                self.writer.gap();
            }
            self.writer.open_item("- ".to_owned(), Gap::Blank);
            self.terms(terms);
            self.parts(meanings);
            self.writer.close();
        }
        self.leave();
    }

    fn terms(&mut self, terms: &[Id]) {
        let tree = self.tree;
        let mut line = Line::default();
        for term in terms {
            if tree.children(*term).any(|it| tree.node(it).blocky) {
                self.write_line(std::mem::take(&mut line));
                self.blocks(*term);
                continue;
            }
            line.line_break();
            line.open(Mark::Strong);
            self.inline_children(*term, &mut line);
            line.close(Mark::Strong, String::new());
        }
        self.write_line(line);
    }
}

/// The nodes that an item shows: those of an element that is the item itself, or a node
/// that stands among items.
fn contents(tree: &Tree, id: Id) -> Vec<Id> {
    match tree.tag(id) {
        Some(Tag::Li | Tag::Dd) => tree.children(id).collect(),
        _ => vec![id],
    }
}

fn start(tree: &Tree, id: Id) -> u64 {
    let first = tree.children(id).find(|it| tree.is(*it, Tag::Li));
    let value = first.and_then(|it| tree.attribute(it, "value"));
    let start = value.or_else(|| tree.attribute(id, "start")).unwrap_or("1");
    start.trim().parse().ok().filter(|it| *it <= MAX_NUMBER).unwrap_or(1)
}

/// The items of a list. What stands between them belongs to the one before.
fn items(tree: &Tree, id: Id) -> Vec<Item> {
    let mut items = Vec::new();
    gather(tree, id, &mut items);
    items
}

fn gather(tree: &Tree, parent: Id, items: &mut Vec<Item>) {
    for child in tree.children(parent) {
        if tree.is(child, Tag::Li) {
            items.push(vec![child]);
        } else if tree.text(child).is_some_and(words::is_blank) {
            // White space between items.
        } else if wraps_items(tree, child) {
            gather(tree, child, items);
        } else if tree.tag(child).is_some() || tree.text(child).is_some() {
            match items.last_mut() {
                Some(item) => item.push(child),
                None => items.push(vec![child]),
            }
        }
    }
}

/// Whether an element that is no list stands around items.
fn wraps_items(tree: &Tree, id: Id) -> bool {
    let wraps = !matches!(tree.tag(id), None | Some(Tag::Ul | Tag::Ol | Tag::Table));
    wraps && tree.children(id).any(|it| tree.is(it, Tag::Li))
}

/// Whether an item is one paragraph, perhaps with lists below it.
fn is_compact(tree: &Tree, item: &[Id]) -> bool {
    let mut has_text = false;
    let mut list = None;
    for id in item.iter().flat_map(|it| contents(tree, *it)) {
        let tag = tree.tag(id);
        match tag {
            None if tree.text(id).is_none_or(words::is_blank) => {}
            Some(Tag::Ul | Tag::Ol) => {
                if !may_follow_text(tree, id) || list == tag {
                    return false;
                }
                list = tag;
            }
            _ if list.is_some() => return false,
            Some(Tag::P | Tag::Block) if !has_text => {
                if tree.children(id).any(|it| tree.node(it).blocky) {
                    return false;
                }
                has_text = true;
            }
            Some(Tag::P | Tag::Block) => return false,
            _ if tree.node(id).blocky => return false,
            _ => has_text = true,
        }
    }
    true
}

/// Whether a list is understood right below a line of text: its first item has text, and
/// its number is 1.
fn may_follow_text(tree: &Tree, id: Id) -> bool {
    let first = tree.children(id).find(|it| tree.text(*it).is_none_or(|it| !words::is_blank(it)));
    let Some(first) = first.filter(|it| tree.is(*it, Tag::Li)) else { return false };
    let first_shown =
        tree.children(first).find(|it| tree.text(*it).is_none_or(|text| !words::is_blank(text)));
    let begins_with_text = first_shown.is_some_and(|it| {
        !tree.node(it).blocky
            && tree.content_below(it).any(|it| tree.text(it).is_some_and(|it| !words::is_blank(it)))
            || tree.is(it, Tag::P)
    });
    begins_with_text && (tree.is(id, Tag::Ul) || start(tree, id) == 1)
}

type Group = (Vec<Id>, Vec<Id>);

/// Terms that stand together, with what follows them.
fn groups(tree: &Tree, id: Id) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut add = |child: Id| {
        let is_term = tree.is(child, Tag::Dt);
        match groups.last_mut() {
            Some((terms, meanings)) if is_term && meanings.is_empty() => terms.push(child),
            _ if is_term => groups.push((vec![child], Vec::new())),
            Some((_, meanings)) => meanings.push(child),
            None => groups.push((Vec::new(), vec![child])),
        }
    };
    for child in tree.children(id) {
        let wraps = tree.is(child, Tag::Block)
            && tree.children(child).any(|it| matches!(tree.tag(it), Some(Tag::Dt | Tag::Dd)));
        if wraps {
            tree.children(child).filter(|it| !is_blank(tree, *it)).for_each(&mut add);
        } else if !is_blank(tree, child) {
            add(child);
        }
    }
    groups
}

fn is_blank(tree: &Tree, id: Id) -> bool {
    tree.tag(id).is_none() && tree.text(id).is_none_or(words::is_blank)
}
