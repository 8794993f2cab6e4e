//! Tables of truth degrees, each a shade.

use std::path::Path;

use logltn::{Code, Diagnostic};
use logltn_train::run_directory::write_atomically;

use super::bitmap;
use super::drawing::{Anchor, Drawing, Shape};
use super::font;
use super::palette::{self, BACKGROUND, FAINT_INK, GRID, INK};

/// Truth degrees with names for rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shades {
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
const NAME: f64 = 12.5;
const DIGITS: f64 = 10.0;
const TITLE: f64 = 17.0;
const TABLE_TITLE: f64 = 14.0;

/// Writes tables of shades beside each other, under a common title and above lines that say what is outlined. The truer, the
/// darker; what is neither nearly true nor nearly false has its degree in digits.
///
/// ```
/// use logltn_report::{Shades, shades_png};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("rain.png");
/// let table = Shades {
///     rows: vec!["rain".into()],
///     columns: vec!["today".into(), "tomorrow".into()],
///     truths: vec![1.0, 0.4],
///     ..Shades::default()
/// };
/// shades_png(&[table], "Rain", "", &path)?;
/// assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If a table has not a truth for each row and column, or the file cannot be written.
pub fn shades_png(
    tables: &[Shades],
    title: &str,
    note: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    write_atomically(path, &bitmap::png(&draw(tables, title, note)?)?)
}

impl Shades {
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

    /// How much room the names of its rows and of its columns want.
    fn names(&self) -> (f64, f64) {
        let widest = |names: &[String]| {
            (names.iter().map(|name| font::width(name, NAME, false))).fold(0.0, f64::max)
        };
        (widest(&self.rows) + 8.0, widest(&self.columns) + 8.0)
    }

    fn width(&self) -> f64 {
        let cells = self.names().0 + CELL * self.columns.len() as f64;
        cells.max(font::width(&self.title, TABLE_TITLE, true))
    }
}

fn draw(tables: &[Shades], title: &str, note: &str) -> Result<Drawing, Diagnostic> {
    tables.iter().try_for_each(Shades::check)?;
    let between = 2.0 * MARGIN;
    let widths = tables.iter().map(|table| table.width() + between);
    let notes = note.lines().map(|line| font::width(line, NAME, false));
    let texts = notes.fold(font::width(title, TITLE, true), f64::max);
    let width = (widths.sum::<f64>()).max(texts + between);
    // Tables begin at the same height, below the longest name of a column.
    let above = (tables.iter().map(|table| table.names().1)).fold(0.0, f64::max);
    let rows = tables.iter().map(|table| table.rows.len()).max();
    let top = HEAD + 24.0 + above;
    let bottom = top + CELL * rows.unwrap_or(0) as f64 + MARGIN;
    let below = 20.0 * note.lines().count() as f64;
    let mut drawing = Drawing::new(width, bottom + below);
    drawing.title((MARGIN, 28.0), title, TITLE, INK);
    for (i, line) in note.lines().enumerate() {
        let at = (MARGIN, bottom + 10.0 + 20.0 * i as f64);
        drawing.text(at, line, NAME, Anchor::Start, FAINT_INK);
    }
    let mut left = MARGIN;
    for table in tables {
        drawing.title((left, HEAD + 14.0), &table.title, TABLE_TITLE, INK);
        draw_table(&mut drawing, table, (left + table.names().0, top));
        left += table.width() + between;
    }
    Ok(drawing)
}

fn draw_table(drawing: &mut Drawing, table: &Shades, (left, top): (f64, f64)) {
    for (j, name) in table.columns.iter().enumerate() {
        drawing.shapes.push(Shape::Text {
            at: (left + CELL * (j as f64 + 0.5) + NAME * 0.36, top - 6.0),
            text: name.clone(),
            size: NAME,
            anchor: Anchor::Start,
            colour: INK,
            bold: false,
            upward: true,
        });
    }
    let mut outlines = Vec::new();
    for (i, name) in table.rows.iter().enumerate() {
        let y = top + CELL * i as f64;
        let at = (left - 8.0, y + CELL / 2.0 + NAME * 0.36);
        drawing.text(at, name, NAME, Anchor::End, INK);
        for j in 0..table.columns.len() {
            let (cell, x) = (i * table.columns.len() + j, left + CELL * j as f64);
            let (right, bottom) = (x + CELL - 1.0, y + CELL - 1.0);
            let corners = vec![(x, y), (right, y), (right, bottom), (x, bottom)];
            let truth = table.truths[cell].clamp(0.0, 1.0);
            for (colour, opacity) in [(GRID, 1.0), (palette::series(0), truth)] {
                drawing.shapes.push(Shape::Area {
                    outline: corners.clone(),
                    colour,
                    opacity,
                });
            }
            if (0.05..=0.95).contains(&truth) {
                let ink = if truth > 0.55 { BACKGROUND } else { INK };
                let at = (x + CELL / 2.0 - 0.5, y + CELL / 2.0 + DIGITS * 0.36);
                let digits = format!("{truth:.2}");
                let digits = digits.trim_start_matches('0');
                drawing.text(at, digits, DIGITS, Anchor::Middle, ink);
            }
            if table.outlined.get(cell) == Some(&true) {
                outlines.push([&corners[..], &corners[..1]].concat());
            }
        }
    }
    for corners in outlines {
        drawing.line(corners, palette::series(1), 2.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Shades {
        Shades {
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
        let shades = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Area {
                colour, opacity, ..
            } if *colour == palette::series(0) => Some(*opacity),
            _ => None,
        });
        assert_eq!(shades.collect::<Vec<_>>(), [0.999, 0.3, 0.999, 0.3]);
        let texts: Vec<&str> = (drawing.shapes.iter())
            .filter_map(|shape| match shape {
                Shape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(texts.contains(&long) && texts.contains(&".30") && texts.contains(&"note"));
        assert!(drawing.width > font::width(long, TITLE, true));
        let lines = |shape: &&Shape| matches!(shape, Shape::Line { .. });
        assert_eq!(drawing.shapes.iter().filter(lines).count(), 2);
        assert!(bitmap::png(&drawing).is_ok());
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
