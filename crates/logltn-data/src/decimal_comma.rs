//! Numbers as spreadsheets write them where the comma is the decimal mark: `1.234,5`. They occur in files whose cells are
//! separated by something else.

use logltn_diagnostics::{Code, Diagnostic};

use super::missing::is_missing_number;
use super::problems::{Problems, shown};
use super::records::Records;

/// How a cell writes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// `12`.
    Integer,
    /// `1,5`, `1.234,5`.
    Comma,
    /// `1,234`: with a decimal comma, or with thousands apart.
    CommaOrThousands,
    /// `1.5`.
    Point,
    /// `1.234`: with a decimal point, or with thousands apart.
    PointOrThousands,
    /// `1.234.567`.
    Thousands,
}

/// `None` for a cell that is no number.
fn written(cell: &str) -> Option<Written> {
    let unsigned = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if exponent.is_some_and(|e| !digits(e.strip_prefix(['+', '-']).unwrap_or(e))) {
        return None;
    }
    let (whole, fraction) = match number.split_once(',') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let mut parts = whole.split('.');
    let first = parts.next().unwrap_or_default();
    let others: Vec<&str> = parts.collect();
    let leads = digits(first) && first.len() <= 3 && !first.starts_with('0');
    let apart = leads && others.iter().all(|part| part.len() == 3 && digits(part));
    match (fraction, others.as_slice()) {
        (None, []) => digits(first).then_some(Written::Integer),
        (None, [_]) if apart && exponent.is_none() => Some(Written::PointOrThousands),
        (None, [after]) => (digits(&format!("{first}{after}"))).then_some(Written::Point),
        (None, _) => apart.then_some(Written::Thousands),
        (Some(after), []) => {
            let three = leads && after.len() == 3 && exponent.is_none();
            digits(&format!("{first}{after}")).then_some(match three {
                true => Written::CommaOrThousands,
                false => Written::Comma,
            })
        }
        (Some(after), _) => (apart && digits(after)).then_some(Written::Comma),
    }
}

/// A column of numbers: the first record with each way to write one.
#[derive(Default)]
struct Column([Option<usize>; 6]);

impl Column {
    fn first(&self, way: Written) -> Option<usize> {
        self.0[way as usize]
    }

    /// `None` if fewer than four of five cells are numbers: then its commas mean something else.
    fn of(records: &Records, column: usize) -> Option<Column> {
        let (mut found, mut known, mut numbers) = (Column::default(), 0, 0);
        for record in 1..records.len() {
            if records.width(record) != records.width(0) {
                continue;
            }
            let cell = records.cell(record, column);
            if is_missing_number(cell) {
                continue;
            }
            known += 1;
            if let Some(way) = written(cell) {
                numbers += 1;
                found.0[way as usize].get_or_insert(record);
            }
        }
        (known > 0 && numbers * 5 >= known * 4).then_some(found)
    }
}

/// Writes numbers with decimal commas as the other readers expect them, in the columns that have some. Numbers that could be
/// either of two are problems. Says whether there are such columns.
pub(super) fn replace(
    records: &mut Records,
    separator: u8,
    name: &str,
    problems: &mut Problems,
) -> bool {
    use Written::{Comma, CommaOrThousands, Point, PointOrThousands};
    let columns: Vec<Option<Column>> = (0..records.width(0))
        .map(|column| Column::of(records, column))
        .collect();
    let decimal = |column: &Column| {
        let either = column.first(CommaOrThousands);
        // Who separates cells with semicolons does so for the sake of decimal commas.
        column.first(Comma).or(either.filter(|_| separator == b';'))
    };
    let any_decimal = (columns.iter().flatten()).any(|column| decimal(column).is_some());
    let mut refuse = |what: &str, (record, column): (usize, usize)| {
        problems.push(|| {
            let line = records.line(record);
            let (cell, title) = (records.cell(record, column), records.cell(0, column));
            let place = format!("{name}, row {} (line {line})", record - 1);
            let what = format!("{place}, column {}: {} {what}", shown(title), shown(cell));
            Diagnostic::error(Code::MalformedNumber, what)
                .help("write numbers without separators between thousands, and separate cells with commas if they have decimal points")
        });
    };
    let mut changed = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let Some(column) = column else { continue };
        match (decimal(column), column.first(Point)) {
            (Some(_), Some(point)) => refuse(
                "has a decimal point, but other cells have decimal commas",
                (point, at),
            ),
            (Some(_), None) => changed.push(at),
            (None, point) => {
                if let Some(either) = column.first(CommaOrThousands) {
                    refuse("may be a number below 1000 or above", (either, at));
                }
                let locale = separator == b';' || any_decimal;
                if let (None, Some(either), true) = (point, column.first(PointOrThousands), locale)
                {
                    refuse("may be a number below 1000 or above", (either, at));
                }
            }
        }
    }
    for column in &changed {
        records.rewrite(*column, |cell| {
            written(cell).map(|_| cell.replace('.', "").replace(',', "."))
        });
    }
    !changed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::CsvFile;

    #[test]
    fn numbers_are_written_in_many_ways() {
        use Written::*;
        for (cell, way) in [
            ("12", Some(Integer)),
            ("-0,5", Some(Comma)),
            ("1,5e-3", Some(Comma)),
            ("0,125", Some(Comma)),
            ("1234,567", Some(Comma)),
            ("1.234,5", Some(Comma)),
            ("1,234", Some(CommaOrThousands)),
            (",5", Some(Comma)),
            ("0.125", Some(Point)),
            ("1.25", Some(Point)),
            (".5", Some(Point)),
            ("1.234", Some(PointOrThousands)),
            ("1.234.567", Some(Thousands)),
            ("31.5.2024", None),
            ("1.23,5", None),
            ("1,2,3", None),
            ("1,234.5", None),
            ("e5", None),
            ("1e", None),
            (",", None),
            ("a,b", None),
            ("", None),
        ] {
            assert_eq!(written(cell), way, "{cell}");
        }
    }

    fn column(text: &str) -> Result<Vec<f64>, String> {
        let file = CsvFile::parse(text.as_bytes(), "t.csv").map_err(|e| e.to_string())?;
        file.reals(0).map_err(|e| e.to_string())
    }

    #[test]
    fn decimal_commas_are_read() {
        assert_eq!(
            column("a;b\n1,5;x\n-2;y\n1.234,25;z\n1.000;z\n"),
            Ok(vec![1.5, -2.0, 1234.25, 1000.0])
        );
        assert_eq!(column("a\tb\n1,5\tx\n1,234\ty\n"), Ok(vec![1.5, 1.234]));
        // In other files a point is a decimal point.
        assert_eq!(column("a;b\n1.234;x\n1.5;y\n"), Ok(vec![1.234, 1.5]));
        assert_eq!(column("a\tb\n1.234\tx\n"), Ok(vec![1.234]));
        // Texts keep their commas.
        let file = CsvFile::parse(b"a;b\n1,5;x\nu,v;y\n", "t.csv").expect("it is read");
        assert_eq!([file.cell(0, 0), file.cell(1, 0)], ["1,5", "u,v"]);
        // Other cells are what they were, those behind a number that became shorter too.
        let file = CsvFile::parse(
            "a;b\n1.234,5;ä;\n;;\n\"2,5\";\"c;d\";\n"
                .replace(";\n", "\n")
                .as_bytes(),
            "t.csv",
        );
        let file = file.expect("it is read");
        assert_eq!([file.cell(0, 0), file.cell(0, 1)], ["1234.5", "ä"]);
        assert_eq!([file.cell(2, 0), file.cell(2, 1)], ["2.5", "c;d"]);
    }

    #[test]
    fn what_could_be_two_numbers_is_refused() {
        for (text, what) in [
            ("a;b\n1,5;1.234\n", "column `b`: `1.234` may be"),
            ("a;b\n1.234;x\n900;x\n", "column `a`: `1.234` may be"),
            ("a|b\n1,5|1.234\n", "column `b`: `1.234` may be"),
            ("a;b\n1,5;x\n0.5;x\n", "has a decimal point"),
            ("a\tb\n1,234\tx\n", "column `a`: `1,234` may be"),
        ] {
            let said = column(text).expect_err("two numbers");
            assert!(said.contains(what), "{said}");
        }
    }
}
