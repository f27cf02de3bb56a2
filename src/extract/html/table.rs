//! Tables: as Markdown where each cell can be one line, else as they are.
//!
//! A cell that reaches over several rows or columns stands in its first place, and the others
//! are empty: no word is lost, nothing is said twice. Paragraphs of a cell are parted by two
//! line breaks.

use super::dom::{Id, Tree};
use super::element::Tag;
use super::escape::Place;
use super::grid::{Grid, Places, Row, is_shown};
use super::line::{Line, without_breaks};
use super::math;
use super::render::Renderer;
use super::text;
use super::words;

impl Renderer<'_, '_> {
    pub(super) fn table(&mut self, id: Id) {
        let tree = self.tree;
        let grid = Grid::of(tree, id);
        if grid.has_strays {
            self.blocks(id);
            return;
        }
        let is_flat = grid.cells().all(|cell| is_flat(tree, cell));
        let places = grid.placed(tree);
        if is_layout(tree, id, (&grid, places.as_deref(), is_flat)) {
            self.caption(&grid);
            for cell in grid.cells() {
                self.blocks(cell);
            }
        } else if let Some(places) = places.filter(|_| is_flat) {
            self.caption(&grid);
            self.simple_table(&grid, &places);
        } else {
            self.raw_table(&grid);
        }
    }

    fn caption(&mut self, grid: &Grid) {
        if let Some(caption) = grid.caption {
            self.blocks(caption);
        }
    }

    fn simple_table(&mut self, grid: &Grid, places: &[Places]) {
        let tree = self.tree;
        let Some(width) = places.first().map(Vec::len) else { return };
        self.writer.block();
        let headed = grid.rows.first().is_some_and(|row| {
            row.in_head || row.cells.iter().all(|it| tree.is(*it, Tag::HeaderCell))
        });
        let (head, rows) = places.split_at(usize::from(headed));
        let none = vec![None; width];
        self.row(head.first().unwrap_or(&none));
        self.writer.line(&format!("|{}", " --- |".repeat(width)));
        for row in rows {
            self.row(row);
        }
    }

    fn row(&mut self, places: &Places) {
        let mut row = String::from("|");
        for cell in places {
            let text = cell.map(|cell| self.cell(cell)).unwrap_or_default();
            row.push(' ');
            row.push_str(&text);
            row.push_str(if text.is_empty() { "|" } else { " |" });
        }
        self.writer.line(&row);
    }

    fn cell(&mut self, id: Id) -> String {
        let mut texts = Vec::new();
        self.cell_texts(id, &mut texts);
        texts.join("<br><br>")
    }

    /// The paragraphs of a cell.
    fn cell_texts(&mut self, parent: Id, texts: &mut Vec<String>) {
        let tree = self.tree;
        let mut line = Line::default();
        for child in tree.children(parent) {
            if tree.node(child).blocky {
                end_text(&mut line, texts);
                self.cell_texts(child, texts);
            } else {
                self.inline(child, &mut line);
            }
        }
        end_text(&mut line, texts);
    }
}

fn end_text(line: &mut Line, texts: &mut Vec<String>) {
    let pieces = std::mem::take(line).finish();
    let text = text::markdown(without_breaks(&pieces), Place::Cell);
    if !text.chars().all(words::is_invisible) {
        texts.push(text);
    }
}

/// Whether a cell holds running text only, or paragraphs of it.
fn is_flat(tree: &Tree, id: Id) -> bool {
    tree.content_below(id).skip(1).all(|it| match tree.tag(it) {
        // A back-slash before a bar in mathematics cannot be said within a table.
        Some(Tag::Math) => !math::markdown(tree, it).is_some_and(|text| text.contains("\\|")),
        Some(tag) => !tag.is_block() || matches!(tag, Tag::P | Tag::Block),
        None => true,
    })
}

/// Whether a cell holds running text only, or one paragraph of it.
fn is_line(tree: &Tree, id: Id) -> bool {
    line_of(tree, id).is_some()
}

/// The element that holds the running text of a cell, if that is all it holds.
pub(super) fn line_of(tree: &Tree, id: Id) -> Option<Id> {
    let mut at = id;
    loop {
        let mut shown = tree.children(at).filter(|it| is_shown(tree, *it));
        let blocky = tree.children(at).any(|it| tree.node(it).blocky);
        if !blocky {
            return Some(at);
        }
        match (shown.next(), shown.next()) {
            (Some(only), None) if matches!(tree.tag(only), Some(Tag::P | Tag::Block)) => at = only,
            _ => return None,
        }
    }
}

/// Whether a table only places what is in it.
fn is_layout(
    tree: &Tree,
    id: Id,
    (grid, places, is_flat): (&Grid, Option<&[Places]>, bool),
) -> bool {
    if matches!(tree.attribute(id, "role"), Some("presentation" | "none")) {
        return true;
    }
    let code = |it: &str| matches!(it, "highlighttable" | "rouge-table");
    if tree.classes(id).any(code) {
        return true;
    }
    let has_head = grid
        .rows
        .iter()
        .any(|row| row.in_head || row.cells.iter().any(|it| tree.is(*it, Tag::HeaderCell)));
    if has_head {
        return false;
    }
    // One column or one row of blocks is no table.
    let is_column = places.is_some_and(|rows| rows.iter().all(|row| row.len() == 1))
        || grid.rows.iter().all(|row| row.cells.len() == 1);
    let has_blocks = grid.cells().any(|cell| !is_line(tree, cell));
    if (is_column || grid.rows.len() == 1) && has_blocks {
        return true;
    }
    // Nor is one whose rows of cells alternate with blocks over the whole width.
    let is_alone = |row: &Row| match row.cells[..] {
        [only] => tree.has_attribute(only, "colspan") && !self::is_flat(tree, only),
        _ => false,
    };
    if !is_flat && grid.rows.iter().any(is_alone) {
        return true;
    }
    tree.content_below(id)
        .skip(1)
        .any(|it| matches!(tree.tag(it), Some(Tag::Heading(1..=3) | Tag::Table)))
}
