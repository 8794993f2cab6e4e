//! Tables of truth degrees, each a shade.

use std::path::Path;

use logltn::{Code, Diagnostic};

use super::drawing::{Drawing, Words};
use super::palette::{self, BACKGROUND, FAINT_INK, GRID, INK};

/// Truth degrees with names for rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Above the table.
    pub title: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// From 0 to 1, row by row.
    pub truths: Vec<f64>,
    /// Which of them are outlined; may be empty.
    pub outlined: Vec<bool>,
}

const CELL: f64 = 26.0;
const MARGIN: f64 = 16.0;
const HEAD: f64 = 46.0;
const NAME: Words = Words::new(12.5, INK);
const NOTE: Words = Words::new(12.5, FAINT_INK);
const DIGITS: Words = Words::new(10.0, INK).anchored("middle");
const TITLE: Words = Words::title(17.0);
const TABLE_TITLE: Words = Words::title(14.0);

/// Writes tables of shades to an SVG file, beside each other, under a common title and above lines that say what is outlined.
/// The truer, the darker; what is neither nearly true nor nearly false has its degree in digits.
///
/// ```
/// use logltn_report::{HeatMap, write_heat_map};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("rain.svg");
/// let table = HeatMap {
///     rows: vec!["rain".into()],
///     columns: vec!["today".into(), "tomorrow".into()],
///     truths: vec![1.0, 0.4],
///     ..HeatMap::default()
/// };
/// write_heat_map(&[table], "Rain", "", &path)?;
/// assert!(std::fs::read_to_string(&path).unwrap().contains(">.40</text>"));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If a table has not a truth for each row and column, or the file cannot be written.
pub fn write_heat_map(
    tables: &[HeatMap],
    title: &str,
    note: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    draw(tables, title, note)?.write(path)
}

impl HeatMap {
    fn check(&self) -> Result<(), Diagnostic> {
        let cells = self.rows.len() * self.columns.len();
        let outlined = self.outlined.len();
        if self.truths.len() == cells && (outlined == 0 || outlined == cells) {
            return Ok(());
        }
        let what = format!(
            "table `{}` has {} rows and {} columns, but {} truths, and says of {outlined} whether they are outlined",
            self.title,
            self.rows.len(),
            self.columns.len(),
            self.truths.len()
        );
        Err(Diagnostic::error(Code::SizesDisagree, what))
    }

    fn width(&self) -> f64 {
        let cells = room(&self.rows) + CELL * self.columns.len() as f64;
        cells.max(TABLE_TITLE.width(&self.title))
    }

    fn draw(&self, drawing: &mut Drawing, (left, top): (f64, f64)) {
        for (j, name) in self.columns.iter().enumerate() {
            let x = left + CELL * (j as f64 + 0.5) + NAME.size * 0.36;
            drawing.text((x, top - 6.0), name, NAME.upward());
        }
        let corners = |cell: usize| {
            let (i, j) = (cell / self.columns.len(), cell % self.columns.len());
            let (x, y) = (left + CELL * j as f64, top + CELL * i as f64);
            let (right, bottom) = (x + CELL - 1.0, y + CELL - 1.0);
            [(x, y), (right, y), (right, bottom), (x, bottom), (x, y)]
        };
        for (i, name) in self.rows.iter().enumerate() {
            let y = top + CELL * (i as f64 + 0.5) + NAME.size * 0.36;
            drawing.text((left - 8.0, y), name, NAME.anchored("end"));
        }
        for (cell, truth) in self.truths.iter().enumerate() {
            let (corners, truth) = (corners(cell), truth.clamp(0.0, 1.0));
            drawing.area(&corners[..4], GRID, 1.0);
            drawing.area(&corners[..4], palette::series(0), truth);
            if (0.05..=0.95).contains(&truth) {
                let (x, y) = corners[0];
                let at = (x + CELL / 2.0 - 0.5, y + CELL / 2.0 + DIGITS.size * 0.36);
                let colour = if truth > 0.55 { BACKGROUND } else { INK };
                let digits = format!("{truth:.2}");
                let words = Words { colour, ..DIGITS };
                drawing.text(at, digits.trim_start_matches('0'), words);
            }
        }
        for (cell, _) in self.outlined.iter().enumerate().filter(|(_, on)| **on) {
            drawing.line(&corners(cell), palette::series(1), 2.0, "");
        }
    }
}

/// How much room names beside a table want.
fn room(names: &[String]) -> f64 {
    let widths = names.iter().map(|name| NAME.width(name));
    widths.fold(0.0, f64::max) + 8.0
}

fn draw(tables: &[HeatMap], title: &str, note: &str) -> Result<Drawing, Diagnostic> {
    tables.iter().try_for_each(HeatMap::check)?;
    let between = 2.0 * MARGIN;
    let widths = tables.iter().map(|table| table.width() + between);
    let notes = note.lines().map(|line| NOTE.width(line));
    let texts = notes.fold(TITLE.width(title), f64::max);
    let width = (widths.sum::<f64>()).max(texts + between);
    // Tables begin at the same height, below the longest name of a column.
    let above = (tables.iter().map(|table| room(&table.columns))).fold(0.0, f64::max);
    let rows = tables.iter().map(|table| table.rows.len()).max();
    let top = HEAD + 24.0 + above;
    let bottom = top + CELL * rows.unwrap_or(0) as f64 + MARGIN;
    let below = 20.0 * note.lines().count() as f64;
    let mut drawing = Drawing::new(width, bottom + below);
    drawing.text((MARGIN, 28.0), title, TITLE);
    for (i, line) in note.lines().enumerate() {
        drawing.text((MARGIN, bottom + 10.0 + 20.0 * i as f64), line, NOTE);
    }
    let mut left = MARGIN;
    for table in tables {
        drawing.text((left, HEAD + 14.0), &table.title, TABLE_TITLE);
        table.draw(&mut drawing, (left + room(&table.rows), top));
        left += table.width() + between;
    }
    Ok(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> HeatMap {
        HeatMap {
            title: "two".into(),
            rows: vec!["a".into(), "b".into()],
            columns: vec!["x".into()],
            truths: vec![0.999, 0.3],
            outlined: vec![false, true],
        }
    }

    #[test]
    fn every_degree_is_a_shade_and_doubtful_ones_have_digits() {
        let long = "a title that is much longer than the two tables are wide, and is seen whole";
        let drawing = draw(&[table(), table()], long, "one\nnote").unwrap();
        assert!(drawing.width > TITLE.width(long));
        let svg = drawing.svg();
        for shade in ["0.999", "0.300"] {
            let shade = format!("fill=\"{}\" fill-opacity=\"{shade}\"", palette::series(0));
            assert_eq!(svg.matches(&shade).count(), 2, "{shade}");
        }
        for text in [long, ".30", "note"] {
            assert!(svg.contains(&format!(">{text}</text>")), "{text}");
        }
        assert!(!svg.contains(">1.00<"));
        assert_eq!(svg.matches("<polyline").count(), 2);
    }

    #[test]
    fn a_truth_for_each_cell() {
        let mut wrong = table();
        wrong.truths.pop();
        let text = draw(&[wrong], "", "").unwrap_err().to_string();
        assert!(
            text.contains("2 rows and 1 columns, but 1 truths"),
            "{text}"
        );
        assert!(draw(&[], "nothing", "").is_ok());
    }
}
