//! The charts of a run.

use logltn::Diagnostics;

use super::bitmap;
use super::chart::{Chart, Curve, LEGEND_LINE, WIDTH};
use super::palette::MUTED;
use super::summary::{CAPPED, Report, degree};
use super::thinning::{Bucket, Thinned};

/// How many axioms have a colour and a name in the chart of axioms.
const NAMED_AXIOMS: usize = 10;
/// How many more are shown behind them.
const MUTED_AXIOMS: usize = 50;

/// Truth degrees that never reach this are not worth a chart: their logs are.
const VISIBLE: f64 = 1e-3;

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
            let named = chart.curves.iter().filter(|c| !c.muted).count();
            // High and wide enough for all names beside it.
            chart.legend = named > 1;
            let wider = if chart.legend { chart.wider() } else { 0.0 };
            let height = f64::max(440.0, 70.0 + LEGEND_LINE * named as f64);
            chart.size = (WIDTH + wider, height);
            chart.x_label = "step".into();
            plots.push((name, bitmap::png(&chart.draw())?));
        }
        Ok(plots)
    }

    /// The charts that have something to show. Truths are degrees between 0 and 1; of logs there is a chart as well, or
    /// instead where all degrees are too small to be seen.
    pub(super) fn charts(&self) -> Vec<NamedChart> {
        let logs = self.logs();
        // Some operators add up to logs above 0, which are not degrees.
        let is_capped = |curve: &Thinned| logs && curve.buckets().iter().any(|b| b.high > CAPPED);
        let highest = |curve: &Thinned| {
            let values = curve.buckets().iter().map(|b| self.degree(b.high));
            values.fold(0.0, f64::max)
        };
        let mut charts = vec![single("loss", "Loss", &self.loss)];
        if logs && highest(&self.sat) < VISIBLE {
            let title = "Satisfaction of the theory (log)";
            charts.push(single("sat", title, &self.sat));
        } else {
            let title = match is_capped(&self.sat) {
                true => "Satisfaction of the theory (0 to 1, logs above 0 capped)",
                false => "Satisfaction of the theory (0 to 1)",
            };
            let mut sat = Curve::thinned(title, 0, &self.sat);
            if logs {
                as_degrees(&mut sat);
            }
            let mut named = of_one_curve("sat", title, sat);
            named.chart.degrees = true;
            charts.push(named);
            if is_capped(&self.sat) {
                charts.push(single(
                    "log_sat",
                    "Satisfaction of the theory (log)",
                    &self.sat,
                ));
            }
        }
        if !logs || self.axioms.iter().any(|a| highest(&a.truth) >= VISIBLE) {
            let what = match self.axioms.iter().any(|a| is_capped(&a.truth)) {
                true => "Truth (logs above 0 capped)",
                false => "Truth",
            };
            charts.push(self.axiom_chart("axioms", what, logs));
        }
        if logs {
            charts.push(self.axiom_chart("log_axioms", "Log truth", false));
        }
        // An error of 987 would make a flat line of every accuracy.
        let (large, small): (Vec<_>, Vec<_>) = (self.metrics.iter()).partition(|(_, curve)| {
            let beyond = |bucket: &Bucket| bucket.low < -1.0 || bucket.high > 1.0;
            curve.buckets().iter().any(beyond)
        });
        charts.push(metric_chart("metrics", "Metrics", &small));
        charts.push(metric_chart(
            "large_metrics",
            if small.is_empty() {
                "Metrics"
            } else {
                "Metrics that go beyond 1"
            },
            &large,
        ));
        charts.push(single(
            "gradient_norm",
            "Norm of the gradient",
            &self.gradient_norm,
        ));
        charts.push(single("step_time", "Time per step (s)", &self.step_time));
        charts.retain(|named| named.chart.curves.iter().any(|c| !c.points.is_empty()));
        charts
    }

    /// The axioms' truths as they are in the records, or as degrees if those are logs.
    fn axiom_chart(&self, name: &'static str, what: &str, degrees_of_logs: bool) -> NamedChart {
        let worst = self.worst_axioms();
        let curves: Vec<Curve> = (worst.iter().take(NAMED_AXIOMS + MUTED_AXIOMS).enumerate())
            .map(|(i, axiom)| {
                let mut curve = Curve::thinned(&axiom.name, i, &axiom.truth);
                if degrees_of_logs {
                    as_degrees(&mut curve);
                }
                // Bands of many curves would hide each other.
                if worst.len() > 4 {
                    curve.band.clear();
                }
                if i >= NAMED_AXIOMS {
                    curve.muted = true;
                    curve.dash.clear();
                    curve.colour = MUTED;
                }
                curve
            })
            .collect();
        let title = match worst.len() {
            0..=NAMED_AXIOMS => format!("{what} of the axioms"),
            all if all <= NAMED_AXIOMS + MUTED_AXIOMS => {
                format!("{what} of the axioms: the {NAMED_AXIOMS} least satisfied, the others grey")
            }
            all => format!(
                "{what} of the {} least satisfied of {all} axioms",
                NAMED_AXIOMS + MUTED_AXIOMS
            ),
        };
        NamedChart {
            name,
            chart: Chart {
                title,
                curves,
                from_zero: true,
                degrees: degrees_of_logs || !self.logs(),
                ..Chart::default()
            },
        }
    }
}

/// Logs become the truth degrees that they are the logs of.
fn as_degrees(curve: &mut Curve) {
    for (_, truth) in &mut curve.points {
        *truth = degree(*truth);
    }
    for (low, high) in &mut curve.band {
        (*low, *high) = (degree(*low), degree(*high));
    }
}

fn metric_chart(name: &'static str, title: &str, metrics: &[&(String, Thinned)]) -> NamedChart {
    let curves: Vec<Curve> = (metrics.iter().enumerate())
        .map(|(i, (name, curve))| Curve::thinned(name, i, curve))
        .collect();
    // A single curve has no legend that names it.
    let title = match metrics {
        [(name, _)] => name.as_str(),
        _ => title,
    };
    NamedChart {
        name,
        chart: Chart {
            title: title.into(),
            log_y: needs_log_axis(&curves),
            curves,
            from_zero: true,
            ..Chart::default()
        },
    }
}

fn single(name: &'static str, title: &str, curve: &Thinned) -> NamedChart {
    of_one_curve(name, title, Curve::thinned(title, 0, curve))
}

fn of_one_curve(name: &'static str, title: &str, curve: Curve) -> NamedChart {
    let curves = vec![curve];
    NamedChart {
        name,
        chart: Chart {
            title: title.into(),
            log_y: needs_log_axis(&curves),
            curves,
            from_zero: true,
            ..Chart::default()
        },
    }
}

/// Whether a linear axis would show nothing but the largest values.
fn needs_log_axis(curves: &[Curve]) -> bool {
    let values = curves.iter().flat_map(|curve| {
        let band = curve.band.iter().flat_map(|(low, high)| [*low, *high]);
        curve.points.iter().map(|p| p.1).chain(band)
    });
    let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high), v| {
        (f64::min(low, v), f64::max(high, v))
    });
    low > 0.0 && high / low > 50.0
}
