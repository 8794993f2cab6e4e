//! The charts of a run.

use super::chart::{Chart, Curve};
use super::summary::{CAPPED, Report, degree};
use super::thinning::{Bucket, Thinned};

/// How many axioms have a colour and a name in the chart of axioms.
const NAMED_AXIOMS: usize = 10;
/// How many more are shown behind them.
const MUTED_AXIOMS: usize = 50;

/// Truth degrees that never reach this are not worth a chart: their logs are.
const VISIBLE: f64 = 1e-3;

impl Report {
    /// The plots as SVG: the name of the file, without its ending, and its text. A plot without any points is left out.
    pub fn plots(&self) -> Vec<(&'static str, String)> {
        let charts = self.charts().into_iter();
        charts
            .map(|(name, chart)| (name, chart.draw().svg()))
            .collect()
    }

    /// The charts that have something to show. Truths are degrees between 0 and 1; of logs there is a chart as well, or
    /// instead where all degrees are too small to be seen.
    fn charts(&self) -> Vec<(&'static str, Chart)> {
        let logs = self.logs();
        // Some operators add up to logs above 0, which are not degrees.
        let is_capped = |curve: &Thinned| logs && curve.buckets().iter().any(|b| b.high > CAPPED);
        let highest = |curve: &Thinned| {
            let values = curve.buckets().iter().map(|b| self.degree(b.high));
            values.fold(0.0, f64::max)
        };
        let any_capped = self.axioms.iter().any(|a| is_capped(&a.truth));
        let any_visible = self.axioms.iter().any(|a| highest(&a.truth) >= VISIBLE);
        // An error of 987 would make a flat line of every accuracy.
        let (large, small): (Vec<_>, Vec<_>) = (self.metrics.iter()).partition(|(_, curve)| {
            let beyond = |bucket: &Bucket| bucket.low < -1.0 || bucket.high > 1.0;
            curve.buckets().iter().any(beyond)
        });
        let log_sat = single("Satisfaction of the theory (log)", &self.sat);
        let mut charts = vec![("loss", single("Loss", &self.loss))];
        if logs && highest(&self.sat) < VISIBLE {
            charts.push(("sat", log_sat));
        } else {
            let title = match is_capped(&self.sat) {
                true => "Satisfaction of the theory (0 to 1, logs above 0 capped)",
                false => "Satisfaction of the theory (0 to 1)",
            };
            let mut sat = self.sat.curve(title);
            if logs {
                as_degrees(&mut sat);
            }
            let degrees = Chart {
                degrees: true,
                ..of_curves(title, vec![sat])
            };
            charts.push(("sat", degrees));
            if is_capped(&self.sat) {
                charts.push(("log_sat", log_sat));
            }
        }
        if !logs || any_visible {
            let what = match any_capped {
                true => "Truth (logs above 0 capped)",
                false => "Truth",
            };
            charts.push(("axioms", self.axiom_chart(what, logs)));
        }
        if logs {
            charts.push(("log_axioms", self.axiom_chart("Log truth", false)));
        }
        let beyond = match small.is_empty() {
            true => "Metrics",
            false => "Metrics that go beyond 1",
        };
        charts.extend([
            ("metrics", metric_chart("Metrics", &small)),
            ("large_metrics", metric_chart(beyond, &large)),
            (
                "gradient_norm",
                single("Norm of the gradient", &self.gradient_norm),
            ),
            ("step_time", single("Time per step (s)", &self.step_time)),
        ]);
        charts.retain(|(_, chart)| chart.curves.iter().any(|c| !c.points.is_empty()));
        charts
    }

    /// The axioms' truths as they are in the records, or as degrees if those are logs.
    fn axiom_chart(&self, what: &str, degrees_of_logs: bool) -> Chart {
        let worst = self.worst_axioms();
        let curves: Vec<Curve> = (worst.iter().take(NAMED_AXIOMS + MUTED_AXIOMS).enumerate())
            .map(|(i, axiom)| {
                let mut curve = axiom.truth.curve(&axiom.name);
                if degrees_of_logs {
                    as_degrees(&mut curve);
                }
                // Bands of many curves would hide each other.
                if worst.len() > 4 {
                    curve.band.clear();
                }
                curve.muted = i >= NAMED_AXIOMS;
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
        Chart {
            degrees: degrees_of_logs || !self.logs(),
            log_y: false,
            ..of_curves(&title, curves)
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

fn metric_chart(title: &str, metrics: &[&(String, Thinned)]) -> Chart {
    let curves = metrics
        .iter()
        .map(|(name, curve)| curve.curve(name))
        .collect();
    // A single curve has no legend that names it.
    let title = match metrics {
        [(name, _)] => name.as_str(),
        _ => title,
    };
    of_curves(title, curves)
}

fn single(title: &str, curve: &Thinned) -> Chart {
    of_curves(title, vec![curve.curve(title)])
}

fn of_curves(title: &str, curves: Vec<Curve>) -> Chart {
    Chart {
        title: title.into(),
        x_label: "step".into(),
        log_y: needs_log_axis(&curves),
        curves,
        from_zero: true,
        ..Chart::default()
    }
}

/// Whether a linear axis would show nothing but the largest values.
fn needs_log_axis(curves: &[Curve]) -> bool {
    let values = curves.iter().flat_map(Curve::heights);
    let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high), v| {
        (f64::min(low, v), f64::max(high, v))
    });
    low > 0.0 && high / low > 50.0
}
