//! Rows of arguments, made of columns.

use std::borrow::Cow;

use logltn::ColumnData;

/// The rows that a predicate or a function is asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedRows {
    /// The arguments, row by row: individuals by their indexes, numbers by their places among `numbers`.
    pub arguments: Vec<u32>,
    /// The numbers, in the order of the columns.
    pub numbers: Vec<f64>,
}

impl AskedRows {
    /// Those of some columns, one for each argument; `None` if there are too many numbers to index. Where columns are of different
    /// lengths, rows have what there is.
    pub fn of(columns: &[ColumnData]) -> Option<AskedRows> {
        let mut numbers: Vec<f64> = Vec::new();
        let mut all: Vec<Cow<'_, [u32]>> = Vec::with_capacity(columns.len());
        for column in columns {
            let first = u32::try_from(numbers.len()).ok()?;
            match column {
                ColumnData::Individuals(cells) => {
                    all.push(Cow::Borrowed(cells));
                    continue;
                }
                ColumnData::Int(cells) => numbers.extend(cells.iter().map(|&n| n as f64)),
                ColumnData::Real(cells) => numbers.extend(cells),
            }
            all.push((first..u32::try_from(numbers.len()).ok()?).collect());
        }
        let rows = columns.first().map_or(0, ColumnData::len);
        let row = |row: usize| all.iter().filter_map(move |cells| cells.get(row).copied());
        Some(AskedRows {
            arguments: (0..rows).flat_map(row).collect(),
            numbers,
        })
    }
}
