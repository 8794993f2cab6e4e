//! Small pictures in a grid, each with what was read in it.

use std::path::Path;

use logltn::Diagnostic;
use logltn_train::run_directory::write_atomically;

use super::bitmap;
use super::drawing::{Anchor, Drawing, Shape};
use super::font;
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

const SIDE: f64 = 56.0;
const CAPTION: f64 = 20.0;
const MARGIN: f64 = 16.0;
const HEAD: f64 = 42.0;
const TITLE: f64 = 15.0;

/// Writes small pictures, `columns` in a row, under a common title.
///
/// # Errors
/// If the file cannot be written.
pub fn tiles_png(
    tiles: &[Tile],
    columns: usize,
    title: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    write_atomically(path, &bitmap::png(&draw(tiles, columns.max(1), title))?)
}

fn draw(tiles: &[Tile], columns: usize, title: &str) -> Drawing {
    let rows = tiles.len().div_ceil(columns);
    let wide = (SIDE * columns as f64).max(font::width(title, TITLE, true));
    let width = 2.0 * MARGIN + wide;
    let height = HEAD + MARGIN + (SIDE + CAPTION) * rows as f64;
    let mut drawing = Drawing::new(width, height);
    drawing.title((MARGIN, 26.0), title, TITLE, INK);
    for (i, tile) in tiles.iter().enumerate() {
        let left = MARGIN + SIDE * (i % columns) as f64;
        let top = HEAD + (SIDE + CAPTION) * (i / columns) as f64;
        let size = (SIDE - 6.0) / tile.width.max(1) as f64;
        for (at, &ink) in tile.pixels.iter().enumerate().filter(|(_, ink)| **ink > 0) {
            let x = left + size * (at % tile.width.max(1)) as f64;
            let y = top + size * (at / tile.width.max(1)) as f64;
            drawing.shapes.push(Shape::Area {
                outline: vec![(x, y), (x + size, y), (x + size, y + size), (x, y + size)],
                colour: INK,
                opacity: f64::from(ink) / 255.0,
            });
        }
        let colour = if tile.wrong {
            palette::series(1)
        } else {
            FAINT_INK
        };
        let at = (left + SIDE / 2.0 - 3.0, top + SIDE + 9.0);
        drawing.text(at, &tile.caption, 13.0, Anchor::Middle, colour);
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
        assert!(drawing.width > font::width(title, TITLE, true));
        let inked = |shape: &&Shape| matches!(shape, Shape::Area { .. });
        assert_eq!(drawing.shapes.iter().filter(inked).count(), 4);
        assert!(bitmap::png(&drawing).is_ok());
    }
}
