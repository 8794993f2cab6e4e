//! Curves over a common axis.

use super::axis::Axis;
use super::drawing::{Anchor, Drawing, Marker, Point, Shape};
use super::font;
use super::palette::{self, AXIS, Colour, FAINT_INK, GRID, INK};
use super::thinning::Thinned;

const TICK_SIZE: f64 = 12.0;
const LABEL_SIZE: f64 = 12.5;
const TITLE_SIZE: f64 = 16.0;
/// From one name in the column to the next.
pub(super) const LEGEND_LINE: f64 = 21.0;
/// How wide a column of names may be in a picture of the usual width; a wider one has more room.
pub(super) const LEGEND_ROOM: f64 = 190.0;
/// The usual width.
pub(super) const WIDTH: f64 = 900.0;

/// One curve.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// What the points are the means of: from the lowest to the highest value at each.
    pub(super) band: Vec<(f64, f64)>,
    pub(super) colour: Colour,
    pub(super) dash: Vec<f32>,
    pub(super) markers: bool,
    /// Context: thin, and not named.
    pub(super) muted: bool,
}

impl Curve {
    /// The `index`th curve of a chart.
    pub(super) fn new(name: &str, index: usize, points: Vec<(f64, f64)>) -> Curve {
        Curve {
            name: name.to_string(),
            points,
            band: Vec::new(),
            colour: palette::series(index),
            dash: palette::dash(index),
            markers: false,
            muted: false,
        }
    }

    /// The same of a thinned curve.
    pub(super) fn thinned(name: &str, index: usize, curve: &Thinned) -> Curve {
        let points = curve.buckets().iter().map(|b| (b.step(), b.mean()));
        let mut drawn = Curve::new(name, index, points.collect());
        // The curve should reach to where the run does.
        if let (Some(point), Some(bucket)) = (drawn.points.last_mut(), curve.buckets().last()) {
            point.0 = bucket.last_step();
        }
        if curve.is_thinned() {
            drawn.band = curve.buckets().iter().map(|b| (b.low, b.high)).collect();
        }
        // A line through few points would hide where they are.
        drawn.markers = curve.buckets().len() <= 30;
        drawn
    }
}

/// What a chart shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x_label: String,
    pub(super) y_label: String,
    pub(super) log_x: bool,
    pub(super) log_y: bool,
    /// The horizontal axis starts at 0, whatever the curves do.
    pub(super) from_zero: bool,
    /// The vertical axis shows truth degrees, and ends where they do.
    pub(super) degrees: bool,
    pub(super) curves: Vec<Curve>,
    /// The names of the curves in a column on the right.
    pub(super) legend: bool,
    pub(super) size: (f64, f64),
}

/// The rectangle between the axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// Where a point lies, if the axes can show it.
    pub(super) fn place(&self, x: &Axis, y: &Axis, point: (f64, f64)) -> Option<Point> {
        let (across, up) = (x.share(point.0)?, y.share(point.1)?);
        Some((
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        ))
    }
}

impl Chart {
    /// How much wider than usual a picture must be to have room for all names beside it.
    pub(super) fn wider(&self) -> f64 {
        let named = self.curves.iter().filter(|curve| !curve.muted);
        let widest = named.map(|curve| font::width(&curve.name, LABEL_SIZE, false));
        f64::max(0.0, widest.fold(0.0, f64::max) - LEGEND_ROOM).ceil()
    }

    /// Draws it.
    pub(super) fn draw(&self) -> Drawing {
        let (width, height) = self.size;
        let mut drawing = Drawing::new(width, height);
        let xs = (self.curves.iter())
            .flat_map(|curve| curve.points.iter().map(|p| p.0))
            .chain(self.from_zero.then_some(0.0));
        let ys = (self.curves.iter()).flat_map(|curve| {
            let band = curve.band.iter().flat_map(|(low, high)| [*low, *high]);
            curve.points.iter().map(|p| p.1).chain(band)
        });
        let x = Axis::around(xs, self.log_x, if self.log_x { 0.03 } else { 0.0 });
        let mut y = Axis::around(ys, self.log_y, 0.05);
        if self.degrees {
            (y.from, y.to) = (y.from.max(0.0), y.to.min(1.0));
        }

        let top = if self.title.is_empty() { 14.0 } else { 44.0 };
        let bottom = height - if self.x_label.is_empty() { 30.0 } else { 48.0 };
        let widest = widest_mark(&y, bottom - top);
        let named: Vec<usize> = (0..self.curves.len())
            .filter(|i| self.legend && !self.curves[*i].muted)
            .collect();
        let legend = (named.iter())
            .map(|i| font::width(&self.curves[*i].name, LABEL_SIZE, false))
            .fold(0.0, f64::max)
            .min(LEGEND_ROOM + f64::max(0.0, width - WIDTH));
        let frame = Frame {
            left: widest + 14.0 + if self.y_label.is_empty() { 6.0 } else { 26.0 },
            top,
            right: width
                - if named.is_empty() {
                    20.0
                } else {
                    legend + 58.0
                },
            bottom,
        };
        if !self.title.is_empty() {
            let title = font::fitted(&self.title, TITLE_SIZE, true, width - 30.0);
            drawing.title((14.0, 26.0), &title, TITLE_SIZE, INK);
        }
        axes(&mut drawing, frame, &x, &y, (&self.x_label, &self.y_label));
        self.draw_curves(&mut drawing, frame, &x, &y);
        for (row, i) in named.iter().enumerate() {
            let at = (
                frame.right + 16.0,
                frame.top + 8.0 + LEGEND_LINE * row as f64,
            );
            if at.1 < height - 8.0 {
                legend_entry(&mut drawing, at, &self.curves[*i], legend);
            }
        }
        drawing
    }

    /// Context first, so that it lies below; the others from the last to the first.
    fn draw_curves(&self, drawing: &mut Drawing, frame: Frame, x: &Axis, y: &Axis) {
        let muted = self.curves.iter().filter(|c| c.muted);
        let named = self.curves.iter().filter(|c| !c.muted);
        for curve in muted.chain(named.rev()) {
            let band = curve.points.iter().zip(&curve.band);
            let low = band
                .clone()
                .filter_map(|(p, b)| frame.place(x, y, (p.0, b.0)));
            let high = band.filter_map(|(p, b)| frame.place(x, y, (p.0, b.1)));
            let mut outline: Vec<Point> = low.collect();
            let back: Vec<Point> = high.collect();
            outline.extend(back.into_iter().rev());
            if !outline.is_empty() && !curve.muted {
                drawing.shapes.push(Shape::Area {
                    outline,
                    colour: curve.colour,
                    opacity: 0.18,
                });
            }
            let points: Vec<Point> = (curve.points.iter())
                .filter_map(|point| frame.place(x, y, *point))
                .collect();
            if curve.markers || points.len() == 1 {
                for at in &points {
                    drawing.shapes.push(Shape::Dot {
                        at: *at,
                        radius: if curve.muted { 1.5 } else { 3.4 },
                        marker: Marker::Circle,
                        colour: curve.colour,
                        opacity: 1.0,
                    });
                }
            }
            drawing.shapes.push(Shape::Line {
                points,
                colour: curve.colour,
                width: if curve.muted { 1.0 } else { 1.9 },
                dash: curve.dash.clone(),
            });
        }
    }
}

fn legend_entry(drawing: &mut Drawing, at: Point, curve: &Curve, room: f64) {
    let (x, y) = at;
    drawing.shapes.push(Shape::Line {
        points: vec![(x, y - 4.0), (x + 22.0, y - 4.0)],
        colour: curve.colour,
        width: 2.6,
        dash: curve.dash.clone(),
    });
    let name = font::fitted(&curve.name, LABEL_SIZE, false, room + 1.0);
    drawing.text((x + 27.0, y), &name, LABEL_SIZE, Anchor::Start, INK);
}

/// How many marks a vertical axis has.
fn marks(height: f64) -> usize {
    ((height / 45.0) as usize).max(3)
}

/// How wide the texts beside a vertical axis are.
pub(super) fn widest_mark(y: &Axis, height: f64) -> f64 {
    (y.ticks(marks(height)).iter())
        .map(|(_, text)| font::width(text, TICK_SIZE, false))
        .fold(0.0, f64::max)
}

/// The grid, the marks and the names of both axes.
pub(super) fn axes(
    drawing: &mut Drawing,
    frame: Frame,
    x: &Axis,
    y: &Axis,
    (x_label, y_label): (&str, &str),
) {
    let Frame {
        left,
        top,
        right,
        bottom,
    } = frame;
    for (value, text) in y.ticks(marks(bottom - top)) {
        if let Some((_, at)) = frame.place(x, y, (x.from, value)) {
            drawing.line(vec![(left, at), (right, at)], GRID, 1.0);
            let place = (left - 8.0, at + TICK_SIZE * 0.36);
            drawing.text(place, &text, TICK_SIZE, Anchor::End, FAINT_INK);
        }
    }
    for (value, text) in x.ticks((((right - left) / 85.0) as usize).max(2)) {
        if let Some((at, _)) = frame.place(x, y, (value, y.from)) {
            drawing.line(vec![(at, top), (at, bottom)], GRID, 1.0);
            let place = (at, bottom + 17.0);
            drawing.text(place, &text, TICK_SIZE, Anchor::Middle, FAINT_INK);
        }
    }
    drawing.line(
        vec![(left, top), (left, bottom), (right, bottom)],
        AXIS,
        1.2,
    );
    if !x_label.is_empty() {
        let place = ((left + right) / 2.0, bottom + 38.0);
        drawing.text(place, x_label, LABEL_SIZE, Anchor::Middle, FAINT_INK);
    }
    if !y_label.is_empty() {
        drawing.shapes.push(Shape::Text {
            at: (18.0, (top + bottom) / 2.0),
            text: y_label.to_string(),
            size: LABEL_SIZE,
            anchor: Anchor::Middle,
            colour: FAINT_INK,
            bold: false,
            upward: true,
        });
    }
}
