//! What there is to see of a trained example.

use std::path::PathBuf;

/// Tables and pictures of what was learnt.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// In the order to be shown.
    pub tables: Vec<Table>,
    /// Files of pictures.
    pub pictures: Vec<PathBuf>,
}

/// A table with a title.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Above it.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// Its cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new<const N: usize>(title: impl Into<String>, header: [&str; N]) -> Table {
        Table {
            title: title.into(),
            header: header.map(str::to_string).to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }
}

/// A truth degree in three digits.
pub(crate) fn degree(truth: f64) -> String {
    format!("{truth:.3}")
}
