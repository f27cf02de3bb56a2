//! The cells of a table, and which columns they stand in.

use super::dom::{Id, Tree};
use super::element::Tag;
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
    pub(super) in_head: bool,
    /// The number of its row group: what spans rows ends with that.
    group: usize,
}

/// A cell and its first column, or nothing where a cell of another row or column reaches.
pub(super) type Places = Vec<Option<Id>>;

impl Grid {
    pub(super) fn of(tree: &Tree, id: Id) -> Self {
        let mut grid = Self { caption: None, rows: Vec::new(), has_strays: false };
        for (group, child) in tree.children(id).enumerate() {
            match tree.tag(child) {
                Some(Tag::Caption) if grid.caption.is_none() => grid.caption = Some(child),
                Some(Tag::Row) => grid.push(tree, child, (false, usize::MAX)),
                Some(tag @ (Tag::HeadRows | Tag::Rows)) => {
                    for row in tree.children(child) {
                        if tree.is(row, Tag::Row) {
                            grid.push(tree, row, (tag == Tag::HeadRows, group));
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

    fn push(&mut self, tree: &Tree, row: Id, (in_head, group): (bool, usize)) {
        let is_cell = |it: &Id| matches!(tree.tag(*it), Some(Tag::Cell | Tag::HeaderCell));
        let (cells, others): (Vec<Id>, Vec<Id>) = tree.children(row).partition(is_cell);
        self.has_strays |= others.into_iter().any(|it| is_shown(tree, it));
        self.rows.push(Row { cells, in_head, group });
    }

    /// All cells in the order of the page.
    pub(super) fn cells(&self) -> impl Iterator<Item = Id> {
        self.rows.iter().flat_map(|row| row.cells.iter().copied())
    }

    /// The cells by rows and columns, each in its first; columns that no cell begins in are
    /// left out (HTML Standard, 4.9.12.1). Nothing where that would be much larger than the
    /// table itself.
    pub(super) fn placed(&self, tree: &Tree) -> Option<Vec<Places>> {
        let count = self.cells().count();
        let mut budget = count.saturating_mul(16) + 1_000;
        // In which column a cell begins, row by row, and until which row a column is taken.
        let mut begins: Vec<Vec<(usize, Id)>> = Vec::with_capacity(self.rows.len());
        let mut taken: Vec<usize> = Vec::new();
        for (n, row) in self.rows.iter().enumerate() {
            let group = self.rows[n..].partition_point(|it| it.group == row.group);
            let mut column = 0;
            let mut here = Vec::with_capacity(row.cells.len());
            for cell in &row.cells {
                while taken.get(column).is_some_and(|until| *until > n) {
                    column += 1;
                    budget = budget.checked_sub(1)?;
                }
                let (columns, rows) = (span(tree, *cell, "colspan"), span(tree, *cell, "rowspan"));
                let rows = if rows == 0 { group } else { rows.min(group) };
                here.push((column, *cell));
                for _ in 0..columns.max(1) {
                    budget = budget.checked_sub(1)?;
                    if taken.len() <= column {
                        taken.resize(column + 1, 0);
                    }
                    taken[column] = n + rows;
                    column += 1;
                }
            }
            begins.push(here);
        }
        let mut used = vec![false; taken.len()];
        for (column, _) in begins.iter().flatten() {
            used[*column] = true;
        }
        let numbers: Vec<usize> = used
            .iter()
            .scan(0, |next, used| Some(std::mem::replace(next, *next + usize::from(*used))))
            .collect();
        let width = used.iter().filter(|it| **it).count();
        let fits = self.rows.len().saturating_mul(width) <= count.saturating_mul(4) + 100;
        fits.then(|| {
            let row = |here: &Vec<(usize, Id)>| {
                let mut places = vec![None; width];
                for (column, cell) in here {
                    places[numbers[*column]] = Some(*cell);
                }
                places
            };
            begins.iter().map(row).collect()
        })
    }
}

/// Over how many columns or rows a cell reaches; 0 for all rows that follow.
fn span(tree: &Tree, cell: Id, name: &str) -> usize {
    let written = tree.attribute(cell, name).and_then(|it| it.trim().parse().ok());
    written.unwrap_or(1).min(1_000)
}

/// Whether a node shows anything, as far as its own kind says.
pub(super) fn is_shown(tree: &Tree, id: Id) -> bool {
    tree.tag(id).is_some() || tree.text(id).is_some_and(|text| !words::is_blank(text))
}
