//! Files to be.

use std::fmt::{Display, Write};

/// A file of an example's data.
pub struct File {
    /// Beside the manifest.
    pub name: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl File {
    /// A CSV of a header and rows.
    pub(crate) fn csv<R, C>(
        name: &'static str,
        header: &str,
        rows: impl IntoIterator<Item = R>,
    ) -> File
    where
        R: IntoIterator<Item = C>,
        C: Display,
    {
        let mut text = format!("{header}\n");
        for row in rows {
            for (i, cell) in row.into_iter().enumerate() {
                let comma = if i > 0 { "," } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(text, "{comma}{cell}");
            }
            text.push('\n');
        }
        File {
            name,
            bytes: text.into_bytes(),
        }
    }

    /// The same, of numbers with six digits after the point.
    pub(crate) fn numbers(name: &'static str, header: &str, rows: &[Vec<f64>]) -> File {
        let cells = |row: &Vec<f64>| row.iter().map(|x| format!("{x:.6}")).collect::<Vec<_>>();
        File::csv(name, header, rows.iter().map(cells))
    }
}
