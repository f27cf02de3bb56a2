//! Lines of Markdown within lists and quotations.

/// The kind of a list, as far as two lists beside each other would become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Bullets,
    Numbers,
}

/// What stands between two blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Gap {
    /// A blank line.
    #[default]
    Blank,
    /// Nothing.
    Tight,
}

/// Puts blocks below each other, each line behind the marks of what it stands in.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    frames: Vec<Frame>,
    /// The frame of the document itself.
    document: State,
}

struct Frame {
    /// The mark of the first line, until that is written.
    first: Option<String>,
    /// What stands before the other lines.
    rest: &'static str,
    state: State,
}

#[derive(Clone, Copy, Default)]
struct State {
    has_content: bool,
    /// Whether a blank line is due before the next line.
    is_due: bool,
    /// What parts blocks from each other.
    gap: Gap,
    /// The kind of list that was written last, and of the one that is begun.
    list: Option<ListKind>,
    next_list: Option<ListKind>,
}

/// Spaces for the deepest indentation of an item.
const SPACES: &str = "            ";

impl Writer {
    pub(super) fn finish(self) -> String {
        self.out
    }

    fn state(&mut self) -> &mut State {
        self.frames.last_mut().map_or(&mut self.document, |frame| &mut frame.state)
    }

    /// Begins a block: a blank line parts it from the one before, if both hold anything.
    pub(super) fn block(&mut self) {
        let state = self.state();
        state.is_due = state.has_content && state.gap == Gap::Blank;
        state.next_list = None;
    }

    /// Begins a list; a comment parts it from a list of the same kind just before.
    pub(super) fn list(&mut self, kind: ListKind) {
        self.block();
        if self.state().list == Some(kind) {
            self.line("<!-- -->");
            self.block();
        }
        self.state().next_list = Some(kind);
    }

    /// Asks for a blank line, whatever parts blocks here.
    pub(super) fn gap(&mut self) {
        let state = self.state();
        state.is_due = state.has_content;
    }

    /// Writes an empty line.
    pub(super) fn blank(&mut self) {
        self.line("");
    }

    /// Writes a line.
    pub(super) fn line(&mut self, text: &str) {
        self.settle();
        for frame in &mut self.frames {
            match frame.first.take() {
                Some(first) => self.out.push_str(&first),
                None => self.out.push_str(frame.rest),
            }
        }
        self.end_line(text);
    }

    fn end_line(&mut self, text: &str) {
        if text.is_empty() {
            self.out.truncate(self.out.trim_end_matches(' ').len());
        } else {
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    /// Writes the blank lines that are due.
    fn settle(&mut self) {
        for level in 0..=self.frames.len() {
            let state = match level.checked_sub(1) {
                None => &mut self.document,
                Some(frame) => &mut self.frames[frame].state,
            };
            state.has_content = true;
            state.list = state.next_list;
            if std::mem::take(&mut state.is_due) {
                for frame in &self.frames[..level] {
                    self.out.push_str(frame.rest);
                }
                self.end_line("");
            }
        }
    }

    /// Writes lines.
    pub(super) fn lines(&mut self, text: &str) {
        for line in text.split('\n') {
            self.line(line);
        }
    }

    /// Begins a quotation.
    pub(super) fn open_quote(&mut self) {
        self.open(None, "> ", Gap::Blank);
    }

    /// Begins an item of a list.
    pub(super) fn open_item(&mut self, mark: String, gap: Gap) {
        let rest = &SPACES[..mark.len().min(SPACES.len())];
        self.open(Some(mark), rest, gap);
    }

    /// Begins a footnote.
    pub(super) fn open_note(&mut self, mark: String) {
        self.open(Some(mark), "    ", Gap::Blank);
    }

    /// Lets the next block follow without a blank line.
    pub(super) fn tighten(&mut self) {
        self.state().has_content = false;
    }

    fn open(&mut self, first: Option<String>, rest: &'static str, gap: Gap) {
        self.frames.push(Frame { first, rest, state: State { gap, ..State::default() } });
    }

    /// Ends an item or a quotation.
    pub(super) fn close(&mut self) {
        if self.frames.last().is_some_and(|frame| frame.first.is_some()) {
            self.blank();
        }
        self.frames.pop();
    }
}
