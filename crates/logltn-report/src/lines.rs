//! Curves as a PNG, for benchmarks and papers.

use std::path::Path;

use logltn::Diagnostic;
use logltn_train::run_directory::write_atomically;

use super::bitmap;
use super::chart::{Chart, Curve};
use super::drawing::Drawing;

/// A named curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name, beside the plot.
    pub name: String,
    /// Its points, from left to right. Those that are not finite, or not positive on a logarithmic axis, are left out.
    pub points: Vec<(f64, f64)>,
}

/// How curves are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinesOptions {
    /// Above the plot; may be empty.
    pub title: String,
    /// Below the horizontal axis; may be empty.
    pub x_label: String,
    /// Beside the vertical axis; may be empty.
    pub y_label: String,
    /// A logarithmic horizontal axis.
    pub log_x: bool,
    /// A logarithmic vertical axis.
    pub log_y: bool,
    /// A dot at every point.
    pub markers: bool,
    /// The vertical axis shows truth degrees, and ends where they do.
    pub degrees: bool,
}

/// Writes a plot of curves.
///
/// ```
/// use logltn_report::{LinesOptions, Series, lines_png};
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("times.png");
/// let series = Series { name: "logltn".into(), points: vec![(1.0, 2.0), (10.0, 20.0), (100.0, 210.0)] };
/// let options = LinesOptions { log_x: true, log_y: true, markers: true, ..LinesOptions::default() };
/// lines_png(&[series], &options, &path)?;
/// assert!(path.exists());
/// # Ok::<(), logltn::Diagnostic>(())
/// ```
///
/// # Errors
/// If the file cannot be written.
pub fn lines_png(series: &[Series], options: &LinesOptions, path: &Path) -> Result<(), Diagnostic> {
    write_atomically(path, &bitmap::png(&chart(series, options).draw())?)
}

/// Writes plots of curves, one below the other.
///
/// # Errors
/// If the file cannot be written.
pub fn line_panels_png(
    panels: &[(Vec<Series>, LinesOptions)],
    path: &Path,
) -> Result<(), Diagnostic> {
    let height = SIZE.1 * panels.len().max(1) as f64;
    let mut page = Drawing::new(SIZE.0, height);
    for (row, (series, options)) in panels.iter().enumerate() {
        let drawing = chart(series, options).draw();
        page.put((0.0, SIZE.1 * row as f64), drawing);
    }
    write_atomically(path, &bitmap::png(&page)?)
}

/// Width and height of a plot.
const SIZE: (f64, f64) = (900.0, 500.0);

fn chart(series: &[Series], options: &LinesOptions) -> Chart {
    let curves = (series.iter().enumerate())
        .map(|(i, series)| Curve {
            markers: options.markers,
            ..Curve::new(&series.name, i, series.points.clone())
        })
        .collect();
    Chart {
        title: options.title.clone(),
        x_label: options.x_label.clone(),
        y_label: options.y_label.clone(),
        log_x: options.log_x,
        log_y: options.log_y,
        from_zero: false,
        degrees: options.degrees,
        curves,
        legend: series.iter().any(|series| !series.name.is_empty()),
        size: SIZE,
    }
}
