//! Curves over common axes.

use std::path::Path;

use logltn::Diagnostic;

use super::axis::Axis;
use super::drawing::{Drawing, Marker, Point, Words};
use super::palette::{self, AXIS, GRID, INK, MUTED};

pub(super) const TICK: Words = Words::faint(12.0, "end");
pub(super) const LABEL: Words = Words::faint(12.5, "middle");
const NAME: Words = Words::new(12.5, INK);
const TITLE: Words = Words::title(16.0);
/// From one name in the column to the next.
const LEGEND_LINE: f64 = 21.0;
/// How wide the column of names may be before the picture is made wider.
const LEGEND_ROOM: f64 = 190.0;
/// The usual width, and the least height.
const SIZE: (f64, f64) = (900.0, 440.0);
/// A line through no more points than this would hide where they are.
const FEW: usize = 30;

/// A named curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Its name, beside the chart.
    pub name: String,
    /// Its points, from left to right. Those that are not finite, or not positive on a logarithmic axis, are left out.
    pub points: Vec<(f64, f64)>,
    /// What the points are the means of: from the lowest to the highest value at each. May be empty.
    pub band: Vec<(f64, f64)>,
    /// Context: thin, grey, and not named.
    pub muted: bool,
}

/// Curves, and how they are shown.
///
/// ```
/// use logltn_report::{Chart, Curve, write_charts};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("times.svg");
/// let points = vec![(1.0, 2.0), (10.0, 20.0), (100.0, 210.0)];
/// let curve = Curve { name: "logltn".into(), points, ..Curve::default() };
/// let chart = Chart { title: "Seconds".into(), curves: vec![curve], log_x: true, log_y: true, ..Chart::default() };
/// write_charts(&[chart], &path)?;
/// assert!(std::fs::read_to_string(&path).unwrap().contains(">logltn</text>"));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Above the chart; may be empty.
    pub title: String,
    /// Below the horizontal axis; may be empty.
    pub x_label: String,
    /// Beside the vertical axis; may be empty.
    pub y_label: String,
    /// A logarithmic horizontal axis.
    pub log_x: bool,
    /// A logarithmic vertical axis.
    pub log_y: bool,
    /// The horizontal axis starts at 0, whatever the curves do.
    pub from_zero: bool,
    /// The vertical axis shows truth degrees, and ends where they do.
    pub degrees: bool,
    /// What it shows.
    pub curves: Vec<Curve>,
}

/// Writes charts to an SVG file, one below the other.
///
/// # Errors
/// If the file cannot be written.
pub fn write_charts(charts: &[Chart], path: &Path) -> Result<(), Diagnostic> {
    let drawings: Vec<Drawing> = charts.iter().map(Chart::draw).collect();
    let width = drawings
        .iter()
        .map(|drawing| drawing.width)
        .fold(SIZE.0, f64::max);
    let height = drawings.iter().map(|drawing| drawing.height).sum();
    let mut page = Drawing::new(width, height);
    let mut top = 0.0;
    for drawing in &drawings {
        page.put((0.0, top), drawing);
        top += drawing.height;
    }
    page.write(path)
}

/// The rectangle between the axes, and these.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Frame {
    /// Where a point lies, if the axes can show it.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> Option<Point> {
        let (across, up) = (self.x.share(x)?, self.y.share(y)?);
        Some((
            self.left + across * (self.right - self.left),
            self.bottom - up * (self.bottom - self.top),
        ))
    }

    /// The grid, the marks and the names of both axes; that of the vertical one `beside` the left edge of the picture.
    pub(super) fn axes(
        &self,
        drawing: &mut Drawing,
        (x_label, y_label): (&str, &str),
        beside: f64,
    ) {
        let &Frame {
            left,
            top,
            right,
            bottom,
            ..
        } = self;
        for (value, text) in self.y.ticks(marks(bottom - top)) {
            if let Some((_, at)) = self.place((self.x.from, value)) {
                drawing.line(&[(left, at), (right, at)], GRID, 1.0, "");
                drawing.text((left - 8.0, at + TICK.size * 0.36), &text, TICK);
            }
        }
        for (value, text) in self.x.ticks((((right - left) / 85.0) as usize).max(2)) {
            if let Some((at, _)) = self.place((value, self.y.from)) {
                drawing.line(&[(at, top), (at, bottom)], GRID, 1.0, "");
                drawing.text((at, bottom + 17.0), &text, TICK.anchored("middle"));
            }
        }
        drawing.line(
            &[(left, top), (left, bottom), (right, bottom)],
            AXIS,
            1.2,
            "",
        );
        drawing.text(((left + right) / 2.0, bottom + 38.0), x_label, LABEL);
        drawing.text((beside, (top + bottom) / 2.0), y_label, LABEL.upward());
    }
}

/// How many marks a vertical axis has.
fn marks(height: f64) -> usize {
    ((height / 45.0) as usize).max(3)
}

/// How wide the texts beside a vertical axis are.
pub(super) fn widest_mark(y: &Axis, height: f64) -> f64 {
    let texts = y.ticks(marks(height));
    texts
        .iter()
        .map(|(_, text)| TICK.width(text))
        .fold(0.0, f64::max)
}

impl Chart {
    /// The curves with their places, those that have a name in the column beside the chart. One that is called what the chart
    /// is needs none.
    fn named(&self) -> Vec<(usize, &Curve)> {
        let wanted = |curve: &Curve| !curve.muted && !curve.name.is_empty();
        let all = self.curves.iter().enumerate();
        let named: Vec<(usize, &Curve)> = all.filter(|(_, curve)| wanted(curve)).collect();
        match named[..] {
            [(_, one)] if one.name == self.title => Vec::new(),
            _ => named,
        }
    }

    /// Draws it, high and wide enough for all names beside it.
    pub(super) fn draw(&self) -> Drawing {
        let named = self.named();
        let legend = named
            .iter()
            .map(|(_, curve)| NAME.width(&curve.name))
            .fold(0.0, f64::max);
        let width = SIZE.0 + f64::max(0.0, legend - LEGEND_ROOM).ceil();
        let height = f64::max(SIZE.1, 70.0 + LEGEND_LINE * named.len() as f64);
        let mut drawing = Drawing::new(width, height);
        let xs = (self.curves.iter())
            .flat_map(|curve| curve.points.iter().map(|p| p.0))
            .chain(self.from_zero.then_some(0.0));
        let ys = self.curves.iter().flat_map(Curve::heights);
        let x = Axis::around(xs, self.log_x, if self.log_x { 0.03 } else { 0.0 });
        let mut y = Axis::around(ys, self.log_y, 0.05);
        if self.degrees {
            (y.from, y.to) = (y.from.max(0.0), y.to.min(1.0));
        }
        let top = if self.title.is_empty() { 14.0 } else { 44.0 };
        let bottom = height - if self.x_label.is_empty() { 30.0 } else { 48.0 };
        let label = if self.y_label.is_empty() { 6.0 } else { 26.0 };
        let names = if named.is_empty() {
            20.0
        } else {
            legend + 58.0
        };
        let frame = Frame {
            left: widest_mark(&y, bottom - top) + 14.0 + label,
            top,
            right: width - names,
            bottom,
            x,
            y,
        };
        let title = TITLE.fitted(&self.title, width - 30.0);
        drawing.text((14.0, 26.0), &title, TITLE);
        frame.axes(&mut drawing, (&self.x_label, &self.y_label), 18.0);
        // Context first, so that it lies below; the others from the last to the first.
        let curves = self.curves.iter().enumerate();
        let (muted, shown): (Vec<_>, Vec<_>) = curves.partition(|(_, curve)| curve.muted);
        for (i, curve) in muted.into_iter().chain(shown.into_iter().rev()) {
            curve.draw(i, &mut drawing, &frame);
        }
        for (row, (i, curve)) in named.into_iter().enumerate() {
            let (x, y) = (frame.right + 16.0, top + 8.0 + LEGEND_LINE * row as f64);
            let line = [(x, y - 4.0), (x + 22.0, y - 4.0)];
            drawing.line(&line, palette::series(i), 2.6, &palette::dash(i));
            drawing.text((x + 27.0, y), &curve.name, NAME);
        }
        drawing
    }
}

impl Curve {
    /// All heights that it reaches.
    pub(super) fn heights(&self) -> impl Iterator<Item = f64> + Clone {
        let band = self.band.iter().flat_map(|(low, high)| [*low, *high]);
        self.points.iter().map(|p| p.1).chain(band)
    }

    /// Draws it as the `index`th of a chart.
    fn draw(&self, index: usize, drawing: &mut Drawing, frame: &Frame) {
        let (colour, dash, width, radius) = match self.muted {
            true => (MUTED, String::new(), 1.0, 1.5),
            false => (palette::series(index), palette::dash(index), 1.9, 3.4),
        };
        let band = self.points.iter().zip(&self.band);
        let low = band.clone().filter_map(|(p, b)| frame.place((p.0, b.0)));
        let high = band.rev().filter_map(|(p, b)| frame.place((p.0, b.1)));
        let outline: Vec<Point> = low.chain(high).collect();
        if !outline.is_empty() && !self.muted {
            drawing.area(&outline, colour, 0.18);
        }
        let points = self.points.iter().filter_map(|point| frame.place(*point));
        let points: Vec<Point> = points.collect();
        drawing.line(&points, colour, width, &dash);
        if points.len() <= FEW {
            drawing.dots(points, radius, Marker::Circle, colour, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(title: &str, names: &[&str]) -> String {
        let curve = |name: &&str| Curve {
            name: name.to_string(),
            points: vec![
                (0.0, 1.0),
                (f64::NAN, 2.0),
                (2.0, f64::INFINITY),
                (3.0, 4.0),
            ],
            band: vec![(0.5, 1.5); 4],
            muted: *name == "context",
        };
        let curves = names.iter().map(curve).collect();
        let title = title.to_string();
        let chart = Chart {
            title,
            curves,
            ..Chart::default()
        };
        chart.draw().svg()
    }

    #[test]
    fn curves_have_their_own_colours_and_names() {
        let svg = chart("two", &["a", "b", "context"]);
        for (i, name) in ["a", "b"].iter().enumerate() {
            assert!(svg.contains(&format!(">{name}</text>")), "{svg}");
            let colour = palette::series(i);
            // The band, the curve, its dots and its name.
            assert_eq!(svg.matches(&format!("{colour}\"")).count(), 4, "{svg}");
        }
        assert!(!svg.contains(">context<") && svg.contains(&MUTED.to_string()));
        assert_eq!(svg.matches("<circle").count(), 3 * 2);
    }

    #[test]
    fn a_chart_makes_room_for_its_names_but_needs_none_twice() {
        assert_eq!(chart("loss", &["loss"]).matches(">loss</text>").count(), 1);
        assert_eq!(
            chart("losses", &["loss"]).matches(">loss</text>").count(),
            1
        );
        let many: Vec<String> = (0..40).map(|i| format!("axiom {i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(chart("many", &many).contains("height=\"910\""));
        assert!(!chart("long", &["a", &"b".repeat(90)]).contains("width=\"900\""));
    }
}
