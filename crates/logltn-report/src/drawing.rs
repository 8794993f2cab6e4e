//! A picture, as the text of an SVG.

use std::fmt::Write as _;
use std::path::Path;

use logltn::Diagnostic;
use logltn_train::run_directory::write_atomically;

use super::palette::{Colour, FAINT_INK, INK};

/// A place in pixels from the top left corner.
pub(super) type Point = (f64, f64);

/// The form of a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
}

/// How a text looks, and which part of it is at its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) size: f64,
    pub(super) colour: Colour,
    pub(super) bold: bool,
    /// `start`, `middle` or `end`.
    pub(super) anchor: &'static str,
    /// Read from bottom to top.
    pub(super) upward: bool,
}

impl Words {
    /// From its place to the right.
    pub(super) const fn new(size: f64, colour: Colour) -> Words {
        Words {
            size,
            colour,
            bold: false,
            anchor: "start",
            upward: false,
        }
    }

    pub(super) const fn title(size: f64) -> Words {
        Words {
            bold: true,
            ..Words::new(size, INK)
        }
    }

    /// Beside an axis.
    pub(super) const fn faint(size: f64, anchor: &'static str) -> Words {
        Words {
            anchor,
            ..Words::new(size, FAINT_INK)
        }
    }

    pub(super) const fn anchored(self, anchor: &'static str) -> Words {
        Words { anchor, ..self }
    }

    pub(super) const fn upward(self) -> Words {
        Words {
            upward: true,
            ..self
        }
    }

    /// About how many pixels wide a text is: which font shows it is up to the reader.
    pub(super) fn width(self, text: &str) -> f64 {
        let of = |letter| match letter {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.3,
            'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 0.4,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
            'A'..='Z' => 0.7,
            // From here on letters are as wide as high.
            '\u{2e80}'.. => 1.0,
            _ => 0.6,
        };
        let bold = if self.bold { 1.05 } else { 1.0 };
        text.chars().map(of).sum::<f64>() * self.size * bold
    }

    /// The text, or as much of it as fits into `room` pixels, with an ellipsis.
    pub(super) fn fitted(self, text: &str, room: f64) -> String {
        if self.width(text) <= room {
            return text.to_string();
        }
        // Nothing that fits has more letters than this.
        let mut shown: String = text
            .chars()
            .take((room / self.size * 4.0) as usize)
            .collect();
        while shown.pop().is_some() {
            let cut = format!("{}…", shown.trim_end());
            if self.width(&cut) <= room {
                return cut;
            }
        }
        String::new()
    }
}

/// A picture.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    shapes: String,
}

/// A number to a tenth of a pixel.
fn tenth(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

fn path(points: &[Point]) -> String {
    let places = points
        .iter()
        .map(|(x, y)| format!("{} {}", tenth(*x), tenth(*y)));
    places.collect::<Vec<_>>().join(" ")
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Drawing {
        Drawing {
            width,
            height,
            shapes: String::new(),
        }
    }

    // Writing to a string cannot fail.
    fn add(&mut self, shape: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.shapes, "{shape}");
    }

    /// A line; `dash` has the lengths of its parts and gaps, in turn.
    pub(super) fn line(&mut self, points: &[Point], colour: Colour, width: f64, dash: &str) {
        let dashed = match dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        self.add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashed} \
             stroke-linecap=\"round\" stroke-linejoin=\"round\"/>",
            path(points)
        ));
    }

    pub(super) fn area(&mut self, outline: &[Point], colour: Colour, opacity: f64) {
        self.add(format_args!(
            "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"{opacity:.3}\"/>",
            path(outline)
        ));
    }

    /// Dots of one kind.
    pub(super) fn dots(
        &mut self,
        places: impl IntoIterator<Item = Point>,
        radius: f64,
        marker: Marker,
        colour: Colour,
        opacity: f64,
    ) {
        self.add(format_args!(
            "<g fill=\"{colour}\" fill-opacity=\"{opacity}\">"
        ));
        for (x, y) in places {
            let (x, y) = (tenth(x), tenth(y));
            // As much ink as the circle has.
            match marker {
                Marker::Circle => self.add(format_args!(
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
                )),
                Marker::Square => {
                    let side = tenth(radius * 1.78);
                    let (left, top) = (tenth(x - side / 2.0), tenth(y - side / 2.0));
                    self.add(format_args!(
                        "<path d=\"M{left} {top}h{side}v{side}h-{side}z\"/>"
                    ));
                }
                Marker::Triangle => {
                    let r = radius * 1.4;
                    let (top, half, down) = (tenth(y - r), tenth(r * 0.87), tenth(r * 1.5));
                    let wide = 2.0 * half;
                    self.add(format_args!(
                        "<path d=\"M{x} {top}l{half} {down}h-{wide}z\"/>"
                    ));
                }
            }
        }
        self.add(format_args!("</g>"));
    }

    pub(super) fn text(&mut self, (x, y): Point, text: &str, words: Words) {
        if text.is_empty() {
            return;
        }
        let Words {
            size,
            colour,
            anchor,
            ..
        } = words;
        let weight = if words.bold {
            " font-weight=\"600\""
        } else {
            ""
        };
        let (x, y) = (tenth(x), tenth(y));
        let place = match words.upward {
            true => format!("transform=\"translate({x} {y}) rotate(-90)\""),
            false => format!("x=\"{x}\" y=\"{y}\""),
        };
        self.add(format_args!(
            "<text {place} font-size=\"{size}\" fill=\"{colour}\" text-anchor=\"{anchor}\"{weight}>{}</text>",
            escaped(text)
        ));
    }

    /// Puts another picture into this one, with its top left corner at a place.
    pub(super) fn put(&mut self, (right, down): Point, other: &Drawing) {
        self.add(format_args!(
            "<g transform=\"translate({right} {down})\">\n{}</g>",
            other.shapes
        ));
    }

    /// The whole of it.
    pub(super) fn svg(&self) -> String {
        let (width, height) = (self.width.ceil(), self.height.ceil());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"Inter, system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            self.shapes
        )
    }

    /// Writes it to a file.
    pub(super) fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        write_atomically(path, self.svg().as_bytes())
    }
}

/// Text for XML, which has no place for control characters.
fn escaped(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_in_a_picture_is_moved() {
        let mut inner = Drawing::new(10.0, 10.0);
        inner.line(&[(0.0, 0.04), (1.0, 2.26)], INK, 1.0, "");
        inner.text((3.0, 4.0), "a <b> & \u{1}c", Words::title(9.0));
        let mut page = Drawing::new(10.0, 30.2);
        page.put((5.0, 20.0), &inner);
        let svg = page.svg();
        for part in [
            "height=\"31\"",
            "<g transform=\"translate(5 20)\">\n<polyline points=\"0 0 1 2.3\"",
            ">a &lt;b&gt; &amp; c</text>",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
    }

    #[test]
    fn long_texts_are_cut_to_fit() {
        let words = Words::new(12.0, INK);
        assert_eq!(words.fitted("covered", 100.0), "covered");
        let cut = words.fitted(&"whole_to_parts[aeroplane]".repeat(9), 100.0);
        assert!(cut.ends_with('…') && cut.starts_with("whole_to"), "{cut}");
        assert!(words.width(&cut) <= 100.0);
        assert_eq!(words.fitted("wide", 1.0), "");
    }
}
