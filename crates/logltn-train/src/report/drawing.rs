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
        dashed: bool,
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
    /// What follows belongs to the series of this number, until the next such shape.
    Series(Option<usize>),
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
            dashed: false,
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
}
