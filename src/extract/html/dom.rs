//! The tree of a document: one arena of nodes, filled by the parser.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, ns};

use super::element::Tag;

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(NonZeroU32);

impl Id {
    pub(super) fn index(self) -> usize {
        self.0.get() as usize
    }
}

/// What a node is.
pub(super) enum Data {
    /// The document, or the content of a template.
    Root,
    /// An element with its name and attributes.
    Element { tag: Tag, name: QualName, attributes: Vec<Attribute> },
    /// Text.
    Text(StrTendril),
    /// A comment, a processing instruction, or a node that was taken out.
    Nothing,
}

/// A node with its neighbours.
pub(super) struct Node {
    pub(super) data: Data,
    parent: Option<Id>,
    previous: Option<Id>,
    next: Option<Id>,
    first: Option<Id>,
    last: Option<Id>,
    /// Set on what is not content.
    pub(super) skipped: bool,
    /// Whether the node is a block or holds one.
    pub(super) blocky: bool,
}

/// A parsed document.
pub(super) struct Tree {
    /// Number 0 is no node.
    nodes: Vec<Node>,
}

impl Node {
    fn new(data: Data) -> Self {
        Self {
            data,
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
            skipped: false,
            blocky: false,
        }
    }
}

impl Tree {
    pub(super) const ROOT: Id = Id(NonZeroU32::MIN);

    fn new() -> Self {
        Self { nodes: vec![Node::new(Data::Nothing), Node::new(Data::Root)] }
    }

    /// One more than the highest index.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn node_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        self.node(id).parent
    }

    /// All children.
    pub(super) fn all_children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(self.node(id).first, |child| self.node(*child).next)
    }

    /// The children that are content.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.all_children(id).filter(|child| !self.node(*child).skipped)
    }

    /// The nodes below `top` and itself, in document order, each before its children.
    /// Those below a node for which `enter` is false are left out.
    pub(super) fn walk<'a>(
        &'a self,
        top: Id,
        enter: impl Fn(&Self, Id) -> bool + 'a,
    ) -> impl Iterator<Item = Id> + 'a {
        let mut next = Some(top);
        let follow = move |at: Id| {
            let child = if enter(self, at) { self.node(at).first } else { None };
            child.or_else(|| {
                let mut up = at;
                while up != top {
                    if let Some(next) = self.node(up).next {
                        return Some(next);
                    }
                    up = self.node(up).parent?;
                }
                None
            })
        };
        std::iter::from_fn(move || {
            let at = next?;
            next = follow(at);
            Some(at)
        })
    }

    /// Everything below `top` and itself.
    pub(super) fn all_below(&self, top: Id) -> impl Iterator<Item = Id> + '_ {
        self.walk(top, |_, _| true)
    }

    /// What is content below `top`, and itself.
    pub(super) fn content_below(&self, top: Id) -> impl Iterator<Item = Id> + '_ {
        self.walk(top, |tree, id| !tree.node(id).skipped).filter(|id| !self.node(*id).skipped)
    }

    /// The elements in document order.
    pub(super) fn elements(&self) -> impl Iterator<Item = Id> + '_ {
        self.all_below(Self::ROOT).filter(|id| self.tag(*id).is_some())
    }

    pub(super) fn tag(&self, id: Id) -> Option<Tag> {
        match &self.node(id).data {
            Data::Element { tag, .. } => Some(*tag),
            _ => None,
        }
    }

    pub(super) fn is(&self, id: Id, wanted: Tag) -> bool {
        self.tag(id) == Some(wanted)
    }

    /// The name of an element, empty for other nodes.
    pub(super) fn name(&self, id: Id) -> &str {
        match &self.node(id).data {
            Data::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    pub(super) fn text(&self, id: Id) -> Option<&str> {
        match &self.node(id).data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn attribute(&self, id: Id, name: &str) -> Option<&str> {
        let Data::Element { attributes, .. } = &self.node(id).data else { return None };
        attributes.iter().find(|it| &*it.name.local == name).map(|it| &*it.value)
    }

    pub(super) fn has_attribute(&self, id: Id, name: &str) -> bool {
        self.attribute(id, name).is_some()
    }

    pub(super) fn classes(&self, id: Id) -> impl Iterator<Item = &str> {
        self.attribute(id, "class").unwrap_or_default().split_ascii_whitespace()
    }

    pub(super) fn has_class(&self, id: Id, class: &str) -> bool {
        self.classes(id).any(|it| it == class)
    }

    /// The text that is content below a node; blocks and line breaks are a space.
    pub(super) fn plain_text(&self, id: Id) -> String {
        let mut text = String::new();
        for id in self.content_below(id) {
            match &self.node(id).data {
                Data::Text(part) => text.push_str(part),
                Data::Element { tag, .. } if tag.is_block() || *tag == Tag::Br => text.push(' '),
                _ => {}
            }
        }
        text
    }

    fn add(&mut self, data: Data) -> Id {
        let index = u32::try_from(self.nodes.len()).ok().and_then(NonZeroU32::new);
        self.nodes.push(Node::new(data));
        Id(index.unwrap_or(NonZeroU32::MAX))
    }

    fn detach(&mut self, id: Id) {
        let node = self.node_mut(id);
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match (previous, parent) {
            (Some(previous), _) => self.node_mut(previous).next = next,
            (None, Some(parent)) => self.node_mut(parent).first = next,
            (None, None) => {}
        }
        match (next, parent) {
            (Some(next), _) => self.node_mut(next).previous = previous,
            (None, Some(parent)) => self.node_mut(parent).last = previous,
            (None, None) => {}
        }
    }

    fn append(&mut self, parent: Id, child: Id) {
        self.detach(child);
        let last = self.node(parent).last;
        let node = self.node_mut(child);
        node.parent = Some(parent);
        node.previous = last;
        match last {
            Some(last) => self.node_mut(last).next = Some(child),
            None => self.node_mut(parent).first = Some(child),
        }
        self.node_mut(parent).last = Some(child);
    }

    fn insert_before(&mut self, sibling: Id, child: Id) {
        self.detach(child);
        let Some(parent) = self.node(sibling).parent else { return };
        let previous = self.node(sibling).previous;
        let node = self.node_mut(child);
        node.parent = Some(parent);
        node.previous = previous;
        node.next = Some(sibling);
        self.node_mut(sibling).previous = Some(child);
        match previous {
            Some(previous) => self.node_mut(previous).next = Some(child),
            None => self.node_mut(parent).first = Some(child),
        }
    }

    /// Appends text to a text node; false where it is none.
    fn extend_text(&mut self, id: Option<Id>, text: &StrTendril) -> bool {
        match id.map(|id| &mut self.node_mut(id).data) {
            Some(Data::Text(old)) => {
                old.push_tendril(text);
                true
            }
            _ => false,
        }
    }

    /// Puts the children of an element in its place.
    fn dissolve(&mut self, id: Id) {
        while let Some(child) = self.node(id).first {
            self.insert_before(id, child);
        }
        self.detach(id);
        self.node_mut(id).data = Data::Nothing;
    }

    /// Dissolves the elements that are nested deeper than `limit`. Whether there were any.
    pub(super) fn flatten(&mut self, limit: usize) -> bool {
        let mut found = false;
        let mut depth = 0_usize;
        let mut at = Self::ROOT;
        loop {
            let child = self.node(at).first;
            if let Some(child) = child {
                if depth < limit {
                    depth += 1;
                    at = child;
                    continue;
                }
                // What follows now stands where the element stood.
                found = true;
                let follower = child;
                self.dissolve(at);
                at = follower;
                continue;
            }
            loop {
                if at == Self::ROOT {
                    return found;
                }
                if let Some(next) = self.node(at).next {
                    at = next;
                    break;
                }
                depth = depth.saturating_sub(1);
                at = self.node(at).parent.unwrap_or(Self::ROOT);
            }
        }
    }
}

/// Builds a [`Tree`] for the parser.
pub(super) struct Builder {
    tree: RefCell<Tree>,
    /// How many nodes there are.
    pub(super) count: Cell<usize>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self { tree: RefCell::new(Tree::new()), count: Cell::new(0) }
    }

    fn add(&self, data: Data) -> Id {
        self.count.set(self.count.get() + 1);
        self.tree.borrow_mut().add(data)
    }
}

/// The name of an element, for the parser.
#[derive(Debug)]
pub(super) struct Name(QualName);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

fn tag(name: &QualName) -> Tag {
    match (&name.ns, &*name.local) {
        (&ns!(html), local) => Tag::of(local),
        (&ns!(mathml), "math") => Tag::Math,
        (_, "svg") => Tag::Silent,
        _ => Tag::Inline,
    }
}

impl TreeSink for Builder {
    type Handle = Id;
    type Output = Tree;
    type ElemName<'a> = Name;

    fn finish(self) -> Tree {
        self.tree.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        Tree::ROOT
    }

    fn elem_name(&self, target: &Id) -> Name {
        match &self.tree.borrow().node(*target).data {
            Data::Element { name, .. } => Name(name.clone()),
            _ => Name(QualName::new(None, ns!(), LocalName::from(""))),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        self.add(Data::Element { tag: tag(&name), name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Data::Nothing)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Data::Nothing)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        let mut tree = self.tree.borrow_mut();
        match child {
            NodeOrText::AppendNode(node) => tree.append(*parent, node),
            NodeOrText::AppendText(text) => {
                let last = tree.node(*parent).last;
                if !tree.extend_text(last, &text) {
                    self.count.set(self.count.get() + 1);
                    let node = tree.add(Data::Text(text));
                    tree.append(*parent, node);
                }
            }
        }
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        let has_parent = self.tree.borrow().node(*element).parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, new: NodeOrText<Id>) {
        let mut tree = self.tree.borrow_mut();
        match new {
            NodeOrText::AppendNode(node) => tree.insert_before(*sibling, node),
            NodeOrText::AppendText(text) => {
                let previous = tree.node(*sibling).previous;
                if !tree.extend_text(previous, &text) {
                    self.count.set(self.count.get() + 1);
                    let node = tree.add(Data::Text(text));
                    tree.insert_before(*sibling, node);
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, new: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        if let Data::Element { attributes, .. } = &mut tree.node_mut(*target).data {
            for attribute in new {
                let known = attributes.iter().any(|old| old.name == attribute.name);
                // Each further <html> or <body> may bring others: only so many are kept.
                if !known && attributes.len() < 64 {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.tree.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.node(*node).first {
            tree.append(*new_parent, child);
        }
    }
}
