//! Points in the plane, coloured by class, in one panel or several.

use std::path::Path;

use logltn::{Code, Diagnostic};

use super::axis::Axis;
use super::chart::{Frame, widest_mark};
use super::drawing::{Drawing, Marker, Words};
use super::palette::{self, INK};

/// One panel of a scatter plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterPanel {
    /// Above the panel.
    pub title: String,
    /// The points. Those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// The class of each point.
    pub class: Vec<usize>,
    /// The names of the classes, below the panel. A class without a name is called by its number.
    pub class_names: Vec<String>,
    /// Beside each point; may be empty.
    pub names: Vec<String>,
    /// Below the horizontal axis; may be empty.
    pub x_label: String,
    /// Beside the vertical axis; may be empty.
    pub y_label: String,
}

impl ScatterPanel {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.points.len() == self.class.len() {
            return Ok(());
        }
        Err(Diagnostic::error(
            Code::SizesDisagree,
            format!(
                "panel `{}`: there are {} points, but classes of {}",
                self.title,
                self.points.len(),
                self.class.len()
            ),
        ))
    }

    /// The classes that occur, with their names.
    fn classes(&self) -> Vec<(usize, String)> {
        let mut classes = self.class.clone();
        classes.sort_unstable();
        classes.dedup();
        classes
            .into_iter()
            .map(|class| match self.class_names.get(class) {
                Some(name) => (class, name.clone()),
                None => (class, class.to_string()),
            })
            .collect()
    }
}

/// Writes scatter plots to an SVG file, `columns` in a row, under a common title: each point in the colour of its class.
///
/// ```
/// use logltn_report::{ScatterPanel, write_scatter};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("points.svg");
/// let panel = ScatterPanel {
///     points: vec![(0.0, 1.0), (2.0, 3.0)],
///     class: vec![0, 1],
///     class_names: vec!["a".into(), "b".into()],
///     ..ScatterPanel::default()
/// };
/// write_scatter(&[panel], 1, "Two points", &path)?;
/// assert!(std::fs::read_to_string(&path).unwrap().contains("<circle"));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If a panel has not one class for each point, or the file cannot be written.
pub fn write_scatter(
    panels: &[ScatterPanel],
    columns: usize,
    title: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    draw(panels, columns, title)?.write(path)
}

const NAME: Words = Words::new(12.5, INK);
const LEGEND_LINE: f64 = 20.0;
const TITLE: Words = Words::title(17.0);
const PANEL_TITLE: Words = Words::title(14.0);

fn draw(panels: &[ScatterPanel], columns: usize, title: &str) -> Result<Drawing, Diagnostic> {
    panels.iter().try_for_each(ScatterPanel::check)?;
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns);
    let width = match columns {
        1 => 720.0,
        _ => f64::max(900.0, 340.0 * columns as f64),
    };
    let panel_width = width / columns as f64;
    let plot_height = match columns {
        1 => 480.0,
        _ => panel_width * 0.78,
    };
    let head = if title.is_empty() { 8.0 } else { 42.0 };
    // All legends get as much room as the longest needs, so that panels align.
    let legends = panels
        .iter()
        .map(|panel| panel.legend(panel_width - 60.0).len());
    let named = panels.iter().any(|panel| !panel.x_label.is_empty());
    let below = if named { 54.0 } else { 34.0 };
    let panel_height = plot_height + below + LEGEND_LINE * legends.max().unwrap_or(0) as f64;
    let mut drawing = Drawing::new(width, head + panel_height * rows as f64);
    drawing.text((16.0, 28.0), &TITLE.fitted(title, width - 30.0), TITLE);
    for (i, panel) in panels.iter().enumerate() {
        let left = panel_width * (i % columns) as f64;
        let top = head + panel_height * (i / columns) as f64;
        panel.draw(&mut drawing, (left, top), (panel_width, plot_height));
    }
    Ok(drawing)
}

impl ScatterPanel {
    fn draw(&self, drawing: &mut Drawing, (left, top): (f64, f64), (width, height): (f64, f64)) {
        let x = Axis::around(self.points.iter().map(|p| p.0), false, 0.04);
        let y = Axis::around(self.points.iter().map(|p| p.1), false, 0.04);
        let title_room = if self.title.is_empty() { 6.0 } else { 30.0 };
        let label_room = if self.y_label.is_empty() { 24.0 } else { 40.0 };
        let frame = Frame {
            left: left + widest_mark(&y, height - title_room) + label_room,
            top: top + title_room,
            right: left + width - 16.0,
            bottom: top + height,
            x,
            y,
        };
        let title = PANEL_TITLE.fitted(&self.title, width - 40.0);
        drawing.text((frame.left, top + 18.0), &title, PANEL_TITLE);
        frame.axes(drawing, (&self.x_label, &self.y_label), left + 20.0);
        let radius = if self.points.len() > 3000 { 2.0 } else { 3.2 };
        for (class, _) in self.classes() {
            let own = self
                .points
                .iter()
                .zip(&self.class)
                .filter(|(_, of)| **of == class);
            let places = own.filter_map(|(point, _)| frame.place(*point));
            dots(drawing, places, radius, class, 0.72);
        }
        for (point, name) in self.points.iter().zip(&self.names) {
            let Some((x, y)) = frame.place(*point) else {
                continue;
            };
            // On the other side if there is no room.
            let (beside, anchor) = match x + NAME.width(name) + 6.0 > frame.right {
                false => (x + 6.0, "start"),
                true => (x - 6.0, "end"),
            };
            drawing.text((beside, y - 4.0), name, NAME.anchored(anchor));
        }
        let below = frame.bottom + if self.x_label.is_empty() { 42.0 } else { 60.0 };
        for (row, line) in self.legend(width - 60.0).into_iter().enumerate() {
            for (offset, class, name) in line {
                let (x, y) = (frame.left + offset, below + LEGEND_LINE * row as f64);
                dots(drawing, [(x + 5.0, y - 4.5)], 5.0, class, 1.0);
                drawing.text((x + 16.0, y), &name, NAME);
            }
        }
    }

    /// The names of the classes in lines that fit into `room`: how far from the left, class, name.
    fn legend(&self, room: f64) -> Vec<Vec<(f64, usize, String)>> {
        const MOST_LINES: usize = 8;
        let mut lines: Vec<Vec<(f64, usize, String)>> = Vec::new();
        let mut used = f64::INFINITY;
        for (class, name) in self.classes() {
            let name = NAME.fitted(&name, room - 40.0);
            let wide = NAME.width(&name) + 34.0;
            if used + wide > room {
                lines.push(Vec::new());
                used = 0.0;
            }
            if let Some(line) = lines.last_mut() {
                line.push((used, class, name));
            }
            used += wide;
        }
        lines.truncate(MOST_LINES);
        lines
    }
}

fn dots(
    drawing: &mut Drawing,
    places: impl IntoIterator<Item = (f64, f64)>,
    radius: f64,
    class: usize,
    opacity: f64,
) {
    let markers = [Marker::Circle, Marker::Square, Marker::Triangle];
    let marker = markers[palette::round(class) % markers.len()];
    drawing.dots(places, radius, marker, palette::series(class), opacity);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_for_each_point() {
        let wrong = ScatterPanel {
            points: vec![(0.0, 0.0)],
            ..ScatterPanel::default()
        };
        let text = draw(&[wrong], 1, "t").unwrap_err().to_string();
        assert!(text.contains("1 points"), "{text}");
    }

    #[test]
    fn every_finite_point_is_drawn_in_the_colour_of_its_class() {
        let panel = ScatterPanel {
            points: vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 5.0), (1.0, 1.0)],
            class: vec![0, 0, 8, 30],
            class_names: vec!["a".into()],
            ..ScatterPanel::default()
        };
        let svg = draw(&[panel.clone(), panel], 2, "").unwrap().svg();
        // In either panel one dot, and one in the legend; none for what is no number.
        assert_eq!(svg.matches("<circle").count(), 4);
        let second = palette::series(1);
        let square = format!("<g fill=\"{second}\" fill-opacity=\"0.72\">\n<path d=\"M");
        assert_eq!(svg.matches(&square).count(), 2);
        for name in ["a", "8", "30"] {
            assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 2, "{name}");
        }
    }

    #[test]
    fn no_panels_and_no_points_are_no_mistake() {
        assert!(draw(&[], 3, "nothing").is_ok());
        assert!(draw(&[ScatterPanel::default()], 0, "empty").is_ok());
    }
}
