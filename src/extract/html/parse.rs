//! Parsing with bounds: on depth, on the nodes that misnested tags multiply into, and on
//! the attributes of one tag. Text always stays.

use std::borrow::Cow;
use std::cell::Cell;

use html5ever::interface::{Tracer, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::dom::{Builder, Id, Tree};
use super::limit::limit_attributes;

/// Most elements that are open at once while parsing: the parser's time per tag grows
/// with them.
const MAX_OPEN: usize = 512;
/// Tags that are dropped without another look once too many are open.
const PAUSE: usize = 32;
/// Deepest nesting of the tree.
const MAX_DEPTH: usize = 200;

/// A parsed document, and what its bounds did to it.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// Why tags were left out, if some were.
    pub(super) notes: Vec<&'static str>,
}

/// Parses a document.
pub(super) fn parse(html: &str) -> Parsed {
    let limited = limit_attributes(html);
    let mut notes = Vec::new();
    if matches!(limited, Cow::Owned(_)) {
        notes.push("HTML with very many attributes in one tag: the last are left out");
    }
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(&limited));
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let guard = Guard {
        builder: TreeBuilder::new(Builder::new(), options),
        room: Cell::new(MAX_OPEN),
        pause: Cell::new(0),
        unclosed: Cell::new(0),
        most_nodes: limited.len() / 2 + 1_000,
        deep: Cell::new(false),
        many: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(guard, TokenizerOpts::default());
    // The tokenizer stops after each script, and for a declared encoding.
    while !matches!(tokenizer.feed(&input), html5ever::TokenizerResult::Done) {}
    tokenizer.end();
    let guard = tokenizer.sink;
    let mut tree = guard.builder.sink.finish();
    if tree.flatten(MAX_DEPTH) || guard.deep.get() {
        notes.push("HTML nested too deeply: the inmost elements are flattened");
    }
    if guard.many.get() {
        notes.push("HTML with tags that multiply: markup after them is left out");
    }
    Parsed { tree, notes }
}

/// Stands before the tree builder and drops the tags that exceed a bound.
struct Guard {
    builder: TreeBuilder<Id, Builder>,
    /// How many elements may be opened before they are counted again.
    room: Cell<usize>,
    /// How many tags are dropped before they are counted again.
    pause: Cell<usize>,
    /// Start tags that were dropped and whose end tags have yet to be.
    unclosed: Cell<usize>,
    most_nodes: usize,
    deep: Cell<bool>,
    many: Cell<bool>,
}

/// Counts what the tree builder has open.
struct Open(Cell<usize>);

impl Tracer for Open {
    type Handle = Id;

    fn trace_handle(&self, _: &Id) {
        self.0.set(self.0.get() + 1);
    }
}

impl Guard {
    fn is_dropped(&self, tag: &Tag) -> bool {
        if self.builder.sink.count.get() > self.most_nodes {
            self.many.set(true);
            return true;
        }
        if tag.kind == TagKind::EndTag {
            let unclosed = self.unclosed.get();
            self.unclosed.set(unclosed.saturating_sub(1));
            return unclosed > 0;
        }
        if self.room.get() == 0 && self.pause.get() == 0 {
            let open = Open(Cell::new(0));
            self.builder.trace_handles(&open);
            self.room.set(MAX_OPEN.saturating_sub(open.0.get()));
        }
        if self.room.get() == 0 {
            self.deep.set(true);
            self.pause.set(self.pause.get().checked_sub(1).unwrap_or(PAUSE));
            if !tag.self_closing && !is_void(&tag.name) {
                self.unclosed.set(self.unclosed.get() + 1);
            }
            return true;
        }
        self.room.set(self.room.get() - 1);
        false
    }
}

/// Whether an element has no end tag.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

impl TokenSink for Guard {
    type Handle = Id;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Id> {
        match &token {
            Token::TagToken(tag) if self.is_dropped(tag) => TokenSinkResult::Continue,
            _ => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
