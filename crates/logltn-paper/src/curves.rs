//! How a metric went during training: the mean over runs, a line for each configuration.

use std::path::Path;

use logltn::Diagnostics;
use logltn_report::{Chart, Curve, write_charts};

use super::record::{Job, Portion, RunRecord};
use super::{Configuration, Metric};

/// A line for each of the configurations that has runs on so much data.
pub(super) fn curves(
    records: &[(Job, RunRecord)],
    configurations: &[Configuration],
    portion: Portion,
    metric: Metric,
) -> Vec<Curve> {
    let line = |&configuration: &Configuration| {
        let own: Vec<&[(f64, f64)]> = (records.iter())
            .filter(|(job, _)| job.configuration == configuration && job.portion == portion)
            .filter_map(|(_, record)| record.curves.get(metric.name).map(Vec::as_slice))
            .collect();
        (!own.is_empty()).then(|| Curve {
            name: configuration.name.to_string(),
            points: mean(&own),
            ..Curve::default()
        })
    };
    configurations.iter().filter_map(line).collect()
}

/// Draws one chart into the folder, and answers its title and its file.
pub(super) fn draw_chart(
    folder: &Path,
    file: &str,
    title: String,
    [x_label, y_label]: [&str; 2],
    curves: Vec<Curve>,
) -> Result<(String, String), Diagnostics> {
    let chart = Chart {
        title: title.clone(),
        x_label: x_label.into(),
        y_label: y_label.into(),
        curves,
        ..Chart::default()
    };
    write_charts(&[chart], &folder.join(file))?;
    Ok((title, file.to_string()))
}

/// The mean of several runs' curves, which have points at the same places.
fn mean(curves: &[&[(f64, f64)]]) -> Vec<(f64, f64)> {
    let length = curves.iter().map(|c| c.len()).min().unwrap_or(0);
    let mean = |i: usize| {
        let sum: f64 = curves.iter().map(|c| c[i].1).sum();
        (curves[0][i].0, sum / curves.len() as f64)
    };
    (0..length).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::mean;

    #[test]
    fn a_run_that_was_cut_short_shortens_the_mean() {
        let (a, b) = ([(1.0, 2.0), (2.0, 4.0)], [(1.0, 4.0)]);
        assert_eq!(mean(&[&a, &b]), [(1.0, 3.0)]);
        assert_eq!(mean(&[&a]), a);
    }
}
