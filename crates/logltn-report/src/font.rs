//! The bundled font: how wide texts are, and the outlines of their letters.

use std::sync::OnceLock;

use tiny_skia::PathBuilder;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: &[u8] = include_bytes!("../fonts/Inter-Regular.otf");
static BOLD: &[u8] = include_bytes!("../fonts/Inter-SemiBold.otf");

fn face(bold: bool) -> Option<&'static Face<'static>> {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| [Face::parse(REGULAR, 0).ok(), Face::parse(BOLD, 0).ok()]);
    faces[usize::from(bold)].as_ref()
}

/// The glyph of a letter; a letter that the font does not have gets the font's empty box.
fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// How wide a text is, in pixels.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let Some(face) = face(bold) else { return 0.0 };
    let units: u64 = text
        .chars()
        .map(|letter| u64::from(face.glyph_hor_advance(glyph(face, letter)).unwrap_or(0)))
        .sum();
    units as f64 * size / f64::from(face.units_per_em())
}

/// The text, or as much of it as fits into `room` pixels, with an ellipsis.
pub(super) fn fitted(text: &str, size: f64, bold: bool, room: f64) -> String {
    // A name may be very long; nothing that fits has more letters than this.
    let most = (room / size * 8.0) as usize + 1;
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() == text.len() && width(text, size, bold) <= room {
        return shown;
    }
    while shown.pop().is_some() {
        let cut = format!("{}…", shown.trim_end());
        if width(&cut, size, bold) <= room {
            return cut;
        }
    }
    String::new()
}

/// Adds the outlines of a text whose base line starts at `at`.
pub(super) fn outline(text: &str, at: (f32, f32), size: f32, bold: bool, path: &mut PathBuilder) {
    let Some(face) = face(bold) else { return };
    let scale = size / f32::from(face.units_per_em());
    let mut pen = Pen {
        path,
        x: at.0,
        y: at.1,
        scale,
    };
    for letter in text.chars() {
        let glyph = glyph(face, letter);
        face.outline_glyph(glyph, &mut pen);
        pen.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
}

/// From the font's units, upwards, to pixels, downwards.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen<'_> {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_faces_are_there() {
        assert!(face(false).is_some() && face(true).is_some());
        assert!(width("sat", 12.0, true) > width("sat", 12.0, false));
        assert!(width("Σ λ α − ≤ …", 12.0, false) > 40.0);
        assert_eq!(width("", 12.0, false), 0.0);
    }

    #[test]
    fn long_texts_are_cut_to_fit() {
        assert_eq!(fitted("covered", 12.0, false, 100.0), "covered");
        let cut = fitted(&"whole_to_parts[aeroplane]".repeat(9), 12.0, false, 100.0);
        assert!(cut.ends_with('…') && cut.starts_with("whole_to"));
        assert!(width(&cut, 12.0, false) <= 100.0);
        assert_eq!(fitted("wide", 12.0, false, 1.0), "");
    }
}
