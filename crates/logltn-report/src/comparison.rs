//! The curves of several runs in one picture.

use std::path::{Path, PathBuf};

use logltn::Diagnostics;

use super::chart::{Chart, Curve, write_charts};
use super::summary::{Report, from_run_directory};

/// More metrics than this would make the picture too long; its last title says how many are left out.
const MOST_METRICS: usize = 40;

/// Draws the curves of runs, each with a name, below each other: the loss, the satisfaction of the theory, and each
/// metric. Runs may be unfinished; whether there was anything to draw.
///
/// # Errors
/// If a folder holds no run, or the file cannot be written.
pub fn write_comparison(runs: &[(String, PathBuf)], path: &Path) -> Result<bool, Diagnostics> {
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
    let chart = |title: &str, of: &dyn Fn(&Report, &str) -> Option<Curve>| Chart {
        title: title.to_string(),
        x_label: "step".to_string(),
        curves: (reports.iter())
            .filter_map(|(name, report)| of(report, name))
            .filter(|curve| !curve.points.is_empty())
            .collect(),
        ..Chart::default()
    };
    let mut charts = vec![
        chart("Loss", &|report, name| Some(report.loss.means(name))),
        Chart {
            degrees: true,
            ..chart("Satisfaction of the theory (0 to 1)", &|report, name| {
                let mut curve = report.sat.means(name);
                curve
                    .points
                    .iter_mut()
                    .for_each(|point| point.1 = report.degree(point.1));
                Some(curve)
            })
        },
    ];
    let more = metrics.len().saturating_sub(MOST_METRICS);
    for (place, metric) in metrics.into_iter().take(MOST_METRICS).enumerate() {
        let title = match more > 0 && place + 1 == MOST_METRICS {
            true => format!("{metric} (and {more} more metrics, not drawn)"),
            false => metric.to_string(),
        };
        charts.push(chart(&title, &|report, name| {
            let found = report.metrics.iter().find(|(name, _)| name == metric);
            found.map(|(_, curve)| curve.means(name))
        }));
    }
    charts.retain(|chart| !chart.curves.is_empty());
    if charts.is_empty() {
        return Ok(false);
    }
    write_charts(&charts, path)?;
    Ok(true)
}
