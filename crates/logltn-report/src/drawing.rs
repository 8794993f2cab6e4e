//! A picture as a list of shapes, which becomes SVG or PNG: both show the same.

use super::palette::Colour;

/// A place in pixels from the top left corner.
pub(super) type Point = (f64, f64);

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The form of a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
}

impl Marker {
    /// The marker of the `round`th use of a colour.
    pub(super) fn of_round(round: usize) -> Marker {
        [Marker::Circle, Marker::Square, Marker::Triangle][round % 3]
    }
}

/// One thing to draw.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Line {
        points: Vec<Point>,
        colour: Colour,
        width: f64,
        dash: Vec<f32>,
    },
    Area {
        outline: Vec<Point>,
        colour: Colour,
        opacity: f64,
    },
    Dot {
        at: Point,
        radius: f64,
        marker: Marker,
        colour: Colour,
        opacity: f64,
    },
    Text {
        at: Point,
        text: String,
        size: f64,
        anchor: Anchor,
        colour: Colour,
        bold: bool,
        /// Read from bottom to top.
        upward: bool,
    },
}

/// A picture.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Drawing {
        Drawing {
            width,
            height,
            shapes: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, points: Vec<Point>, colour: Colour, width: f64) {
        self.shapes.push(Shape::Line {
            points,
            colour,
            width,
            dash: Vec::new(),
        });
    }

    pub(super) fn text(
        &mut self,
        at: Point,
        text: &str,
        size: f64,
        anchor: Anchor,
        colour: Colour,
    ) {
        self.shapes.push(Shape::Text {
            at,
            text: text.to_string(),
            size,
            anchor,
            colour,
            bold: false,
            upward: false,
        });
    }

    pub(super) fn title(&mut self, at: Point, text: &str, size: f64, colour: Colour) {
        self.shapes.push(Shape::Text {
            at,
            text: text.to_string(),
            size,
            anchor: Anchor::Start,
            colour,
            bold: true,
            upward: false,
        });
    }

    /// Puts another picture into this one, with its top left corner at a place.
    pub(super) fn put(&mut self, (right, down): Point, other: Drawing) {
        let moved = |(x, y): Point| (x + right, y + down);
        self.shapes
            .extend(other.shapes.into_iter().map(|mut shape| {
                match &mut shape {
                    Shape::Line { points, .. }
                    | Shape::Area {
                        outline: points, ..
                    } => {
                        points.iter_mut().for_each(|point| *point = moved(*point));
                    }
                    Shape::Dot { at, .. } | Shape::Text { at, .. } => *at = moved(*at),
                }
                shape
            }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::INK;
    use super::*;

    #[test]
    fn a_picture_in_a_picture_is_moved() {
        let mut inner = Drawing::new(10.0, 10.0);
        inner.line(vec![(0.0, 0.0), (1.0, 2.0)], INK, 1.0);
        inner.text((3.0, 4.0), "a", 9.0, Anchor::Start, INK);
        let mut page = Drawing::new(10.0, 30.0);
        page.put((5.0, 20.0), inner);
        let [Shape::Line { points, .. }, Shape::Text { at, .. }] = &page.shapes[..] else {
            panic!("{page:?}");
        };
        assert_eq!(points[..], [(5.0, 20.0), (6.0, 22.0)]);
        assert_eq!(*at, (8.0, 24.0));
    }
}
