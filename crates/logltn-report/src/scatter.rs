//! Points in the plane, coloured by class, in one panel or several.

use std::path::Path;

use logltn::{Code, Diagnostic};
use logltn_train::run_directory::write_atomically;

use super::axis::Axis;
use super::bitmap;
use super::chart::{Frame, axes, widest_mark};
use super::drawing::{Anchor, Drawing, Marker, Shape};
use super::font;
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

/// Writes a scatter plot: each of `points` in the colour of its class.
///
/// ```
/// use logltn_report::scatter_png;
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("points.png");
/// scatter_png(&[(0.0, 1.0), (2.0, 3.0)], &[0, 1], &["a".into(), "b".into()], "Two points", &path)?;
/// assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If there is not one class for each point, or the file cannot be written.
pub fn scatter_png(
    points: &[(f64, f64)],
    class: &[usize],
    class_names: &[String],
    title: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    let panel = ScatterPanel {
        points: points.to_vec(),
        class: class.to_vec(),
        class_names: class_names.to_vec(),
        ..ScatterPanel::default()
    };
    panels_png(&[panel], 1, title, path)
}

/// Writes several scatter plots beside each other, `columns` in a row, under a common title.
///
/// # Errors
/// If a panel has not one class for each point, or the file cannot be written.
pub fn panels_png(
    panels: &[ScatterPanel],
    columns: usize,
    title: &str,
    path: &Path,
) -> Result<(), Diagnostic> {
    write_atomically(path, &bitmap::png(&draw(panels, columns, title)?)?)
}

const LEGEND_SIZE: f64 = 12.5;
const LEGEND_LINE: f64 = 20.0;
const TITLE_SIZE: f64 = 17.0;
const PANEL_TITLE_SIZE: f64 = 14.0;

fn draw(panels: &[ScatterPanel], columns: usize, title: &str) -> Result<Drawing, Diagnostic> {
    panels.iter().try_for_each(ScatterPanel::check)?;
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns);
    let width = if columns == 1 {
        720.0
    } else {
        900.0f64.max(340.0 * columns as f64)
    };
    let panel_width = width / columns as f64;
    let plot_height = if columns == 1 {
        480.0
    } else {
        panel_width * 0.78
    };
    let head = if title.is_empty() { 8.0 } else { 42.0 };
    // All legends get as much room as the longest needs, so that panels align.
    let legend_lines = (panels.iter())
        .map(|panel| legend(panel, panel_width - 60.0).len())
        .max()
        .unwrap_or(0);
    let named = panels.iter().any(|panel| !panel.x_label.is_empty());
    let below = if named { 54.0 } else { 34.0 };
    let panel_height = plot_height + below + LEGEND_LINE * legend_lines as f64;
    let mut drawing = Drawing::new(width, head + panel_height * rows as f64);
    let title = font::fitted(title, TITLE_SIZE, true, width - 30.0);
    drawing.title((16.0, 28.0), &title, TITLE_SIZE, INK);
    for (i, panel) in panels.iter().enumerate() {
        let left = panel_width * (i % columns) as f64;
        let top = head + panel_height * (i / columns) as f64;
        draw_panel(&mut drawing, panel, (left, top), (panel_width, plot_height));
    }
    Ok(drawing)
}

fn draw_panel(
    drawing: &mut Drawing,
    panel: &ScatterPanel,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
) {
    let x = Axis::around(panel.points.iter().map(|p| p.0), false, 0.04);
    let y = Axis::around(panel.points.iter().map(|p| p.1), false, 0.04);
    let title_room = if panel.title.is_empty() { 6.0 } else { 30.0 };
    let widest = widest_mark(&y, height - title_room);
    let labels = !panel.y_label.is_empty();
    let frame = Frame {
        left: left + widest + if labels { 40.0 } else { 24.0 },
        top: top + title_room,
        right: left + width - 16.0,
        bottom: top + height,
    };
    let name = font::fitted(&panel.title, PANEL_TITLE_SIZE, true, width - 40.0);
    drawing.title((frame.left, top + 18.0), &name, PANEL_TITLE_SIZE, INK);
    axes(drawing, frame, &x, &y, (&panel.x_label, ""));
    if labels {
        drawing.shapes.push(Shape::Text {
            at: (left + 20.0, (frame.top + frame.bottom) / 2.0),
            text: panel.y_label.clone(),
            size: LEGEND_SIZE,
            anchor: Anchor::Middle,
            colour: palette::FAINT_INK,
            bold: false,
            upward: true,
        });
    }
    let radius = if panel.points.len() > 3000 { 2.0 } else { 3.2 };
    for (i, (point, class)) in panel.points.iter().zip(&panel.class).enumerate() {
        if let Some(at) = frame.place(&x, &y, *point) {
            drawing.shapes.push(dot(at, radius, *class, 0.72));
            if let Some(name) = panel.names.get(i) {
                // On the other side if there is no room.
                let wide = font::width(name, LEGEND_SIZE, false) + 6.0;
                let (beside, anchor) = match at.0 + wide > frame.right {
                    false => (at.0 + 6.0, Anchor::Start),
                    true => (at.0 - 6.0, Anchor::End),
                };
                drawing.text((beside, at.1 - 4.0), name, LEGEND_SIZE, anchor, INK);
            }
        }
    }
    let below = frame.bottom + if panel.x_label.is_empty() { 42.0 } else { 60.0 };
    let lines = legend(panel, width - 60.0);
    for (row, line) in lines.into_iter().enumerate() {
        for (offset, class, name) in line {
            let at = (frame.left + offset, below + LEGEND_LINE * row as f64);
            drawing
                .shapes
                .push(dot((at.0 + 5.0, at.1 - 4.5), 5.0, class, 1.0));
            drawing.text((at.0 + 16.0, at.1), &name, LEGEND_SIZE, Anchor::Start, INK);
        }
    }
}

fn dot(at: (f64, f64), radius: f64, class: usize, opacity: f64) -> Shape {
    Shape::Dot {
        at,
        radius,
        marker: Marker::of_round(palette::round(class)),
        colour: palette::series(class),
        opacity,
    }
}

/// The names of the classes in lines that fit into `room`: how far from the left, class, name.
fn legend(panel: &ScatterPanel, room: f64) -> Vec<Vec<(f64, usize, String)>> {
    const MOST_LINES: usize = 8;
    let mut lines: Vec<Vec<(f64, usize, String)>> = Vec::new();
    let mut used = f64::INFINITY;
    for (class, name) in panel.classes() {
        let name = font::fitted(&name, LEGEND_SIZE, false, room - 40.0);
        let wide = font::width(&name, LEGEND_SIZE, false) + 34.0;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_for_each_point() {
        let wrong = scatter_png(&[(0.0, 0.0)], &[], &[], "t", Path::new("unused.png"));
        let text = wrong.unwrap_err().to_string();
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
        let drawing = draw(&[panel.clone(), panel], 2, "").unwrap();
        let dots: Vec<_> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Dot {
                    colour,
                    opacity,
                    marker,
                    ..
                } if *opacity < 1.0 => Some((*colour, *marker)),
                _ => None,
            })
            .collect();
        assert_eq!(dots.len(), 6);
        assert_eq!(dots[1], (palette::series(1), Marker::Square));
        let texts: Vec<&str> = drawing
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(texts.contains(&"a") && texts.contains(&"8") && texts.contains(&"30"));
    }

    #[test]
    fn no_panels_and_no_points_are_no_mistake() {
        assert!(draw(&[], 3, "nothing").is_ok());
        let drawing = draw(&[ScatterPanel::default()], 0, "empty").unwrap();
        assert!(bitmap::png(&drawing).is_ok());
    }
}
