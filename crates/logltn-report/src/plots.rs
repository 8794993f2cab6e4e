//! The charts of a run.

use logltn::Diagnostics;

use super::bitmap;
use super::chart::{Chart, Curve};
use super::palette::MUTED;
use super::summary::Report;
use super::thinning::Thinned;

/// How many axioms have a colour and a name in the chart of axioms.
const NAMED_AXIOMS: usize = 10;
/// How many more are shown behind them.
const MUTED_AXIOMS: usize = 50;

/// A chart with the name of its file.
pub(super) struct NamedChart {
    pub(super) name: &'static str,
    pub(super) chart: Chart,
}

impl Report {
    /// The plots as PNG: the name of the file, without its ending, and its bytes. A plot without any points is left out.
    pub fn plots(&self) -> Result<Vec<(&'static str, Vec<u8>)>, Diagnostics> {
        let mut plots = Vec::new();
        for NamedChart { name, mut chart } in self.charts() {
            chart.size = (900.0, 440.0);
            chart.x_label = "step".into();
            chart.legend = chart.curves.iter().filter(|c| !c.muted).count() > 1;
            plots.push((name, bitmap::png(&chart.draw().drawing)?));
        }
        Ok(plots)
    }

    /// The charts that have something to show.
    pub(super) fn charts(&self) -> Vec<NamedChart> {
        let mut charts = vec![
            single("loss", "Loss", &self.loss),
            single("sat", "Satisfaction of the theory", &self.sat),
            self.axiom_chart(),
            self.metric_chart(),
            single("gradient_norm", "Norm of the gradient", &self.gradient_norm),
            single("step_time", "Time per step (s)", &self.step_time),
        ];
        charts.retain(|named| named.chart.curves.iter().any(|c| !c.points.is_empty()));
        charts
    }

    fn metric_chart(&self) -> NamedChart {
        let curves = (self.metrics.iter().enumerate())
            .map(|(i, (name, curve))| Curve::thinned(name, i, curve))
            .collect();
        NamedChart {
            name: "metrics",
            chart: Chart {
                title: "Metrics".into(),
                curves,
                from_zero: true,
                ..Chart::default()
            },
        }
    }

    fn axiom_chart(&self) -> NamedChart {
        let worst = self.worst_axioms();
        let curves: Vec<Curve> = (worst.iter().take(NAMED_AXIOMS + MUTED_AXIOMS).enumerate())
            .map(|(i, axiom)| {
                let mut curve = Curve::thinned(&axiom.name, i, &axiom.truth);
                // Bands of many curves would hide each other.
                if worst.len() > 4 {
                    curve.band.clear();
                }
                if i >= NAMED_AXIOMS {
                    curve.muted = true;
                    curve.dashed = false;
                    curve.colour = MUTED;
                }
                curve
            })
            .collect();
        let title = match worst.len() {
            0..=NAMED_AXIOMS => "Truth of the axioms".to_string(),
            all if all <= NAMED_AXIOMS + MUTED_AXIOMS => {
                format!("Truth of the axioms: the {NAMED_AXIOMS} least satisfied, the others grey")
            }
            all => format!(
                "Truth of the {} least satisfied of {all} axioms",
                NAMED_AXIOMS + MUTED_AXIOMS
            ),
        };
        NamedChart {
            name: "axioms",
            chart: Chart {
                title,
                curves,
                from_zero: true,
                ..Chart::default()
            },
        }
    }
}

/// A chart of one curve, with a logarithmic axis where a linear one would show nothing but the largest values.
fn single(name: &'static str, title: &str, curve: &Thinned) -> NamedChart {
    let low = curve
        .buckets()
        .iter()
        .map(|b| b.low)
        .fold(f64::INFINITY, f64::min);
    let high = curve.buckets().iter().map(|b| b.high).fold(0.0, f64::max);
    let log = low > 0.0 && high / low > 50.0;
    NamedChart {
        name,
        chart: Chart {
            title: title.into(),
            curves: vec![Curve::thinned(title, 0, curve)],
            log_y: log,
            from_zero: true,
            ..Chart::default()
        },
    }
}
