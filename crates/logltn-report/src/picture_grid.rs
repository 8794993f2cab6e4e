//! Small pictures in a grid, each with what was read in it.

use std::path::Path;

use logltn::Diagnostic;

use super::drawing::{Drawing, Words};
use super::palette::{self, FAINT_INK, INK};

/// A small picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// Row by row, 255 for ink.
    pub pixels: Vec<u8>,
    /// How many pixels a row has.
    pub width: usize,
    /// Below it.
    pub caption: String,
    /// Whether the caption is wrong, and to be seen.
    pub wrong: bool,
}

/// Two pixels for each of a digit of MNIST, and a gap.
const SIDE: f64 = 62.0;
const CAPTION: f64 = 20.0;
const MARGIN: f64 = 16.0;
const HEAD: f64 = 42.0;
const TITLE: Words = Words::title(15.0);

/// Writes small pictures to an SVG file, `columns` in a row, under a common title.
///
/// # Errors
/// If the file cannot be written.
pub fn write_tiles(
    tiles: &[Tile],
    columns: usize,
    title: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    draw(tiles, columns.max(1), title).write(path)
}

fn draw(tiles: &[Tile], columns: usize, title: &str) -> Drawing {
    let rows = tiles.len().div_ceil(columns);
    let width = 2.0 * MARGIN + (SIDE * columns as f64).max(TITLE.width(title));
    let height = HEAD + MARGIN + (SIDE + CAPTION) * rows as f64;
    let mut drawing = Drawing::new(width, height);
    drawing.text((MARGIN, 26.0), title, TITLE);
    for (i, tile) in tiles.iter().enumerate() {
        let left = MARGIN + SIDE * (i % columns) as f64;
        let top = HEAD + (SIDE + CAPTION) * (i / columns) as f64;
        let size = (SIDE - 6.0) / tile.width.max(1) as f64;
        for (at, &ink) in tile.pixels.iter().enumerate().filter(|(_, ink)| **ink > 0) {
            let x = left + size * (at % tile.width.max(1)) as f64;
            let y = top + size * (at / tile.width.max(1)) as f64;
            let corners = [(x, y), (x + size, y), (x + size, y + size), (x, y + size)];
            drawing.area(&corners, INK, f64::from(ink) / 255.0);
        }
        let colour = match tile.wrong {
            true => palette::series(1),
            false => FAINT_INK,
        };
        let at = (left + SIDE / 2.0 - 3.0, top + SIDE + 9.0);
        drawing.text(
            at,
            &tile.caption,
            Words::new(13.0, colour).anchored("middle"),
        );
    }
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_is_drawn_and_paper_is_not() {
        let tile = Tile {
            pixels: vec![0, 255, 128, 0],
            width: 2,
            caption: "7".into(),
            wrong: true,
        };
        let title = "two tiles under a title that is wider than they are, and is seen whole";
        let drawing = draw(&[tile.clone(), tile], 1, title);
        assert!(drawing.width > TITLE.width(title));
        assert_eq!(drawing.svg().matches("<polygon").count(), 4);
    }
}
