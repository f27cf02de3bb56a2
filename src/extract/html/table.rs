//! Tables: as Markdown where each cell is one line, else as they are.

use super::dom::{Id, Tree};
use super::element::Tag;
use super::escape::Place;
use super::line::Line;
use super::render::Renderer;
use super::text;
use super::words;

/// The rows of a table with their cells.
pub(super) struct Grid {
    pub(super) caption: Option<Id>,
    pub(super) rows: Vec<Row>,
    /// Whether anything is shown that stands in no cell.
    pub(super) has_strays: bool,
}

/// A row with its cells.
pub(super) struct Row {
    pub(super) cells: Vec<Id>,
    in_head: bool,
}

impl Renderer<'_, '_> {
    pub(super) fn table(&mut self, id: Id) {
        let tree = self.tree;
        let grid = Grid::of(tree, id);
        if grid.has_strays {
            self.blocks(id);
        } else if is_layout(tree, id, &grid) {
            self.caption(&grid);
            for cell in grid.rows.iter().flat_map(|row| &row.cells) {
                self.blocks(*cell);
            }
        } else if grid.is_simple(tree) {
            self.caption(&grid);
            self.simple_table(&grid);
        } else {
            self.raw_table(&grid);
        }
    }

    fn caption(&mut self, grid: &Grid) {
        if let Some(caption) = grid.caption {
            self.blocks(caption);
        }
    }

    fn simple_table(&mut self, grid: &Grid) {
        let tree = self.tree;
        let width = grid.width();
        if width == 0 {
            return;
        }
        self.writer.block();
        let mut rows = grid.rows.iter();
        let headed = grid.rows.first().is_some_and(|row| {
            row.in_head || row.cells.iter().all(|it| tree.is(*it, Tag::HeaderCell))
        });
        let head = if headed { rows.next().map_or(&[][..], |row| &row.cells) } else { &[] };
        self.row(head, width);
        self.writer.line(&format!("|{}", " --- |".repeat(width)));
        for row in rows {
            self.row(&row.cells, width);
        }
    }

    fn row(&mut self, cells: &[Id], width: usize) {
        let mut row = String::from("|");
        for n in 0..width {
            let text = cells.get(n).map(|cell| self.cell(*cell)).unwrap_or_default();
            row.push(' ');
            row.push_str(&text);
            row.push_str(if text.is_empty() { "|" } else { " |" });
        }
        self.writer.line(&row);
    }

    fn cell(&mut self, id: Id) -> String {
        let mut line = Line::default();
        self.inline_children(id, &mut line);
        let pieces = line.finish();
        text::markdown(super::line::without_breaks(&pieces), Place::Cell)
    }
}

impl Grid {
    pub(super) fn of(tree: &Tree, id: Id) -> Self {
        let mut grid = Self { caption: None, rows: Vec::new(), has_strays: false };
        for child in tree.children(id) {
            match tree.tag(child) {
                Some(Tag::Caption) if grid.caption.is_none() => grid.caption = Some(child),
                Some(Tag::Row) => grid.push(tree, child, Tag::Rows),
                Some(tag @ (Tag::HeadRows | Tag::Rows)) => {
                    for row in tree.children(child) {
                        if tree.is(row, Tag::Row) {
                            grid.push(tree, row, tag);
                        } else {
                            grid.has_strays |= is_shown(tree, row);
                        }
                    }
                }
                _ => grid.has_strays |= is_shown(tree, child),
            }
        }
        grid.rows.retain(|row| !row.cells.is_empty());
        grid
    }

    fn push(&mut self, tree: &Tree, row: Id, part: Tag) {
        let is_cell = |it: &Id| matches!(tree.tag(*it), Some(Tag::Cell | Tag::HeaderCell));
        let (cells, others): (Vec<Id>, Vec<Id>) = tree.children(row).partition(is_cell);
        self.has_strays |= others.into_iter().any(|it| is_shown(tree, it));
        self.rows.push(Row { cells, in_head: part == Tag::HeadRows });
    }

    fn width(&self) -> usize {
        self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0)
    }

    /// Whether each cell is one line and stands in one row and one column.
    fn is_simple(&self, tree: &Tree) -> bool {
        let cells: usize = self.rows.iter().map(|row| row.cells.len()).sum();
        let filled = self.rows.len().saturating_mul(self.width());
        filled <= cells.saturating_mul(4) + 100
            && self.rows.iter().flat_map(|row| &row.cells).all(|cell| {
                let spans = |name| tree.attribute(*cell, name).is_some_and(|it| it.trim() != "1");
                !spans("rowspan") && !spans("colspan") && is_line(tree, *cell)
            })
    }
}

fn is_shown(tree: &Tree, id: Id) -> bool {
    tree.tag(id).is_some() || tree.text(id).is_some_and(|text| !words::is_blank(text))
}

/// Whether a cell holds running text only, or one paragraph of it.
fn is_line(tree: &Tree, id: Id) -> bool {
    // A back-slash before a bar in code cannot be said within a table.
    line_of(tree, id).is_some_and(|at| {
        !tree.content_below(at).any(|it| tree.text(it).is_some_and(|text| text.contains("\\|")))
    })
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
fn is_layout(tree: &Tree, id: Id, grid: &Grid) -> bool {
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
    let is_column = grid.rows.iter().all(|row| row.cells.len() == 1);
    let mut cells = grid.rows.iter().flat_map(|row| &row.cells);
    let has_blocks = cells.any(|cell| !is_line(tree, *cell));
    (is_column || grid.rows.len() == 1) && has_blocks
        || tree
            .content_below(id)
            .skip(1)
            .any(|it| matches!(tree.tag(it), Some(Tag::Heading(1..=3) | Tag::Table)))
}
