//! A page as a tree of plain nodes: none of the converter's code reads it.

use std::rc::{Rc, Weak};

use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, Node, NodeData, RcDom};

/// A parsed page.
pub struct Page(pub RcDom);

/// A node of a page.
#[derive(Clone)]
pub struct Element(pub Handle);

impl Page {
    pub fn parse(html: &str) -> Self {
        Self(html5ever::parse_document(RcDom::default(), html5ever::ParseOpts::default()).one(html))
    }

    /// The document itself.
    pub fn root(&self) -> Element {
        Element(Rc::clone(&self.0.document))
    }
}

impl Element {
    /// What tells nodes apart.
    pub fn key(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// The name of an element, empty for other nodes.
    pub fn name(&self) -> &str {
        match &self.0.data {
            NodeData::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    pub fn is_element(&self) -> bool {
        matches!(self.0.data, NodeData::Element { .. })
    }

    /// The text of a text node.
    pub fn own_text(&self) -> Option<String> {
        match &self.0.data {
            NodeData::Text { contents } => Some(contents.borrow().to_string()),
            _ => None,
        }
    }

    pub fn attr(&self, name: &str) -> Option<String> {
        let NodeData::Element { attrs, .. } = &self.0.data else { return None };
        let attrs = attrs.borrow();
        attrs.iter().find(|it| &*it.name.local == name).map(|it| it.value.to_string())
    }

    pub fn has_attr(&self, name: &str) -> bool {
        self.attr(name).is_some()
    }

    pub fn classes(&self) -> Vec<String> {
        let class = self.attr("class").unwrap_or_default();
        class.split_ascii_whitespace().map(str::to_owned).collect()
    }

    pub fn has_class(&self, class: &str) -> bool {
        self.attr("class").is_some_and(|it| it.split_ascii_whitespace().any(|it| it == class))
    }

    pub fn is_id(&self, id: &str) -> bool {
        self.attr("id").is_some_and(|it| it == id)
    }

    pub fn is_role(&self, role: &str) -> bool {
        self.attr("role").is_some_and(|it| it == role)
    }

    pub fn children(&self) -> Vec<Self> {
        self.0.children.borrow().iter().map(|it| Self(Rc::clone(it))).collect()
    }

    /// The children that are elements.
    pub fn elements(&self) -> Vec<Self> {
        self.children().into_iter().filter(Self::is_element).collect()
    }

    /// All elements below, each before its own.
    pub fn below(&self) -> Vec<Self> {
        let mut found = Vec::new();
        let mut open: Vec<Self> = self.elements().into_iter().rev().collect();
        while let Some(element) = open.pop() {
            open.extend(element.elements().into_iter().rev());
            found.push(element);
        }
        found
    }

    pub fn parent(&self) -> Option<Self> {
        let parent: Option<Weak<Node>> = self.0.parent.take();
        let found = parent.as_ref().and_then(Weak::upgrade).map(Self);
        self.0.parent.set(parent);
        found
    }

    /// The elements around it, the nearest first.
    pub fn above(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// The element before it.
    pub fn before(&self) -> Option<Self> {
        let parent = self.parent()?;
        let elements = parent.elements();
        let at = elements.iter().position(|it| it.key() == self.key())?;
        at.checked_sub(1).map(|before| elements[before].clone())
    }

    /// The text below; of a long one, its beginning.
    pub fn short_text(&self) -> String {
        let mut text = String::new();
        let mut open = vec![self.clone()];
        while let Some(node) = open.pop().filter(|_| text.len() < 64) {
            text.push_str(&node.own_text().unwrap_or_default());
            open.extend(node.children().into_iter().rev());
        }
        text
    }
}
