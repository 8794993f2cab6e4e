//! The curves of several runs in one picture.

use std::path::{Path, PathBuf};

use logltn::Diagnostics;

use super::lines::{LinesOptions, Series, line_panels_png};
use super::summary::{Report, from_run_directory};
use super::thinning::Thinned;

/// More metrics than this would make the picture too long; its last title says how many are left out.
const MOST_METRICS: usize = 40;

/// Steps and values.
type Points = Vec<(f64, f64)>;

/// Writes the curves of runs, each with a name, below each other: the loss, the satisfaction of the theory, and each
/// metric. Runs may be unfinished; whether there was anything to draw.
///
/// # Errors
/// If a folder holds no run, or the file cannot be written.
pub fn comparison_png(runs: &[(String, PathBuf)], path: &Path) -> Result<bool, Diagnostics> {
    let mut reports = Vec::new();
    for (name, folder) in runs {
        reports.push((name, from_run_directory(folder)?));
    }
    let mut metrics: Vec<&str> = Vec::new();
    for (name, _) in reports.iter().flat_map(|(_, report)| &report.metrics) {
        if !metrics.contains(&name.as_str()) {
            metrics.push(name);
        }
    }
    let series = |of: &dyn Fn(&Report) -> Option<Points>| -> Vec<Series> {
        let runs = reports.iter();
        runs.filter_map(|(name, report)| {
            let points = of(report).filter(|points| !points.is_empty())?;
            let name = name.to_string();
            Some(Series { name, points })
        })
        .collect()
    };
    let options = |title: &str| LinesOptions {
        title: title.to_string(),
        x_label: "step".to_string(),
        ..LinesOptions::default()
    };
    let mut panels = vec![
        (
            series(&|report| Some(points(&report.loss))),
            options("Loss"),
        ),
        (
            series(&|report| {
                let degree = |(step, sat)| (step, report.degree(sat));
                Some(points(&report.sat).into_iter().map(degree).collect())
            }),
            LinesOptions {
                degrees: true,
                ..options("Satisfaction of the theory (0 to 1)")
            },
        ),
    ];
    let more = metrics.len().saturating_sub(MOST_METRICS);
    for (place, metric) in metrics.into_iter().take(MOST_METRICS).enumerate() {
        let of = |report: &Report| {
            let found = report.metrics.iter().find(|(name, _)| name == metric);
            found.map(|(_, curve)| points(curve))
        };
        let title = match more > 0 && place + 1 == MOST_METRICS {
            true => format!("{metric} (and {more} more metrics, not drawn)"),
            false => metric.to_string(),
        };
        let options = LinesOptions {
            markers: true,
            ..options(&title)
        };
        panels.push((series(&of), options));
    }
    panels.retain(|(series, _)| !series.is_empty());
    if panels.is_empty() {
        return Ok(false);
    }
    line_panels_png(&panels, path)?;
    Ok(true)
}

fn points(curve: &Thinned) -> Points {
    let buckets = curve.buckets().iter();
    buckets.map(|b| (b.step(), b.mean())).collect()
}
