//! The rows of a table as texts: the cells in their columns, with `|` between them.

/// A table that is open.
pub struct Table {
    /// Whether Markdown has a form for it.
    pub is_simple: bool,
    /// Cells by row, each with its column.
    rows: Vec<Vec<(usize, String)>>,
    /// The row until which each column is taken by a cell above.
    taken: Vec<usize>,
    in_cell: bool,
}

impl Table {
    pub fn new(is_simple: bool) -> Self {
        Self { is_simple, rows: Vec::new(), taken: Vec::new(), in_cell: false }
    }

    /// No cell reaches from one group of rows into the next.
    pub fn begin_group(&mut self) {
        self.taken.clear();
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub fn begin_cell(&mut self, columns: usize, rows: usize) {
        if self.rows.is_empty() {
            self.begin_row();
        }
        let row = self.rows.len();
        let first = match self.rows[row - 1].last() {
            // Behind the cell before and what that takes.
            Some((before, _)) => before + 1,
            None => 0,
        };
        let mut column = first;
        while self.taken.get(column).is_some_and(|until| *until >= row) {
            column += 1;
        }
        let until = if rows == 0 { usize::MAX } else { row + rows.min(70_000) - 1 };
        let end = column + columns.clamp(1, 1_000);
        if self.taken.len() < end {
            self.taken.resize(end, 0);
        }
        self.taken[column..end].fill(until);
        self.rows[row - 1].push((column, String::new()));
        self.in_cell = true;
    }

    pub fn push(&mut self, text: &str) {
        let last = self.rows.last_mut().and_then(|row| row.last_mut());
        if let Some((_, cell)) = last.filter(|_| self.in_cell) {
            cell.push_str(text);
        }
    }

    pub fn end_cell(&mut self) {
        self.in_cell = false;
    }

    /// The rows that say anything; a column that no cell begins in is none.
    pub fn rows(self) -> Vec<String> {
        let mut used: Vec<usize> = self.rows.iter().flatten().map(|(column, _)| *column).collect();
        used.sort_unstable();
        used.dedup();
        let row = |cells: &Vec<(usize, String)>| {
            let mut texts = vec![String::new(); used.len()];
            for (column, text) in cells {
                let at = used.binary_search(column).expect("a column of a cell");
                texts[at] = text.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            texts.join(" | ").trim_end_matches(['|', ' ']).to_owned()
        };
        let rows = self.rows.iter().map(row);
        rows.filter(|it| !it.trim_matches(['|', ' ']).is_empty()).collect()
    }
}
