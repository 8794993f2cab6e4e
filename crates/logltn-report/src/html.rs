//! The page: everything in one file.

use std::fmt::Write;

use serde_json::json;

use super::axis::minus;
use super::base64::base64;
use super::chart::{Chart, Curve};
use super::drawing::{Drawing, Shape};
use super::palette;
use super::plots::NamedChart;
use super::summary::{AxiomCurve, Report};
use super::svg::{escaped, svg};
use super::thinning::Thinned;

/// How many axioms are shown at once, each with its curve. The others are in a list to be opened.
const SHOWN_AXIOMS: usize = 30;

impl Report {
    /// The page.
    pub fn html(&self) -> String {
        let mut out = String::new();
        let title = escaped(&self.title);
        // Writing to a `String` cannot fail, here and below.
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{title}</title>\n<style>\n{}</style></head>\n<body><main>\n<h1>{title}</h1>\n",
            include_str!("page.css")
        );
        self.write_tiles(&mut out);
        self.write_facts(&mut out);
        self.write_charts(&mut out);
        self.write_metrics(&mut out);
        self.write_axioms(&mut out);
        self.write_violated(&mut out);
        self.write_pictures(&mut out);
        if !self.theory.is_empty() {
            let theory = escaped(&self.theory);
            let _ = writeln!(
                out,
                "<section><details><summary>Theory</summary><pre>{theory}</pre></details></section>"
            );
        }
        let script = include_str!("page.js");
        let _ = writeln!(out, "</main>\n<script>\n{script}</script>\n</body></html>");
        out
    }

    /// Where the run ended, in a few large numbers. Below them is a table of all metrics.
    fn write_tiles(&self, out: &mut String) {
        const MOST_METRICS: usize = 8;
        out.push_str("<div class=\"tiles\">");
        let mut tile = |name: &str, value: String| {
            let name = escaped(name);
            let _ = write!(
                out,
                "<div class=\"tile\"><b>{value}</b><span title=\"{name}\">{name}</span></div>"
            );
        };
        tile("step", self.last_step.to_string());
        let (sat, loss) = self.totals();
        let of = match (&self.whole, self.records) {
            (Some(_), _) => " of the whole theory",
            (None, 0) => "",
            (None, _) => " in the last step",
        };
        tile(&format!("loss{of}"), number(loss));
        let log = match self.logs() {
            true => format!(" (log {})", number(sat)),
            false => String::new(),
        };
        tile(
            &format!("satisfaction{of}{log}"),
            number(sat.map(|sat| self.degree(sat))),
        );
        for (name, curve) in self.metrics.iter().take(MOST_METRICS) {
            tile(name, number(curve.last()));
        }
        out.push_str("</div>\n");
    }

    fn write_facts(&self, out: &mut String) {
        /// What is longer than this gets a line of its own.
        const LONG: usize = 32;
        if self.facts.is_empty() {
            return;
        }
        out.push_str("<section><dl>");
        let long = |value: &str| value.chars().count() > LONG;
        let (wide, narrow): (Vec<_>, Vec<_>) = self.facts.iter().partition(|(_, v)| long(v));
        for (name, value) in narrow.into_iter().chain(wide) {
            let class = if long(value) { " class=\"wide\"" } else { "" };
            let (name, value) = (escaped(name), escaped(value));
            let _ = write!(out, "<div{class}><dt>{name}</dt><dd>{value}</dd></div>");
        }
        out.push_str("</dl></section>\n");
    }

    fn write_charts(&self, out: &mut String) {
        let charts = self.charts();
        if charts.is_empty() {
            out.push_str(
                "<section><p class=\"note\">No step has been recorded yet.</p></section>\n",
            );
            return;
        }
        out.push_str("<div class=\"charts\">\n");
        // Two to a row, but charts of many curves get a row each, and so does a chart that has no other beside it.
        let many_curves = |named: &NamedChart| {
            ["axioms", "log_axioms", "metrics", "large_metrics"].contains(&named.name)
        };
        let mut left_is_taken = false;
        let mut charts = charts.into_iter().peekable();
        while let Some(named) = charts.next() {
            let alone = !left_is_taken && charts.peek().is_none_or(many_curves);
            let wide = many_curves(&named) || alone;
            left_is_taken = !wide && !left_is_taken;
            write_chart(out, named, wide);
        }
        out.push_str("</div>\n");
        if self.loss.is_thinned() {
            let _ = writeln!(
                out,
                "<p class=\"note\">{} records: lines are means of neighbouring steps, bands reach from \
                 the lowest to the highest.</p>",
                self.records
            );
        }
    }

    /// All metrics: where they ended, and where they came from.
    fn write_metrics(&self, out: &mut String) {
        if self.metrics.is_empty() {
            return;
        }
        out.push_str(
            "<section><h2>Metrics</h2><table class=\"axioms\"><thead><tr><th class=\"name\">metric</th>\
             <th>at first</th><th>at the end</th><th>lowest</th><th>highest</th>\
             <th class=\"spark\">over the run</th></tr></thead><tbody>\n",
        );
        for (name, curve) in &self.metrics {
            let buckets = curve.buckets().iter();
            let _ = writeln!(
                out,
                "<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td class=\"spark\">{}</td></tr>",
                escaped(name),
                number(curve.first()),
                number(curve.last()),
                number(buckets.clone().map(|b| b.low).reduce(f64::min)),
                number(buckets.map(|b| b.high).reduce(f64::max)),
                spark(curve)
            );
        }
        out.push_str("</tbody></table></section>\n");
    }

    fn write_axioms(&self, out: &mut String) {
        if self.axioms.is_empty() {
            return;
        }
        let worst = self.worst_axioms();
        let all = worst.len();
        let heading = if all > SHOWN_AXIOMS {
            format!("Axioms: the {SHOWN_AXIOMS} least satisfied of {all}")
        } else {
            "Axioms, the least satisfied first".to_string()
        };
        let _ = write!(out, "<section><h2>{heading}</h2>");
        let what = match &self.whole {
            Some(whole) => format!(
                "Truths of the whole theory with the last weights; changes from those with the first weights, both at {}. \
                 The curves are of the steps, each with its own batch and its own α and p.",
                whole.parameters()
            ),
            None => "Truths in the last step, of its batch; changes from the first step, which had another batch, and \
                     its own α and p."
                .to_string(),
        };
        let _ = write!(out, "<p class=\"note\">{what}</p>");
        self.write_table(out, worst.iter().take(SHOWN_AXIOMS).copied(), true);
        if all > SHOWN_AXIOMS {
            let _ = write!(
                out,
                "<details><summary>All {all} axioms, in the order of the theory</summary>\
                 <div class=\"scroll\" style=\"margin-top:12px\">"
            );
            self.write_table(out, self.axioms.iter(), false);
            out.push_str("</div></details>");
        }
        out.push_str("</section>\n");
    }

    fn write_pictures(&self, out: &mut String) {
        if self.pictures.is_empty() {
            return;
        }
        out.push_str("<section><h2>Pictures</h2>");
        for picture in &self.pictures {
            let title = escaped(&picture.title);
            let _ = write!(
                out,
                "<figure><figcaption>{title}</figcaption>\
                 <img alt=\"{title}\" src=\"data:image/png;base64,{}\"></figure>",
                base64(&picture.png)
            );
        }
        out.push_str("</section>\n");
    }

    /// Truth degrees, and beside them the logs if that is what the semantics computes.
    fn write_table<'a>(
        &self,
        out: &mut String,
        axioms: impl Iterator<Item = &'a AxiomCurve> + Clone,
        sparks: bool,
    ) {
        let logs = self.logs();
        let weights = axioms.clone().any(|axiom| axiom.weight.is_some());
        out.push_str("<table class=\"axioms\"><thead><tr><th class=\"name\">axiom</th>");
        if weights {
            out.push_str("<th>weight</th>");
        }
        out.push_str("<th>truth</th><th>change</th>");
        if logs {
            out.push_str("<th>log truth</th><th>change</th>");
        }
        if sparks {
            out.push_str("<th class=\"spark\">over the run</th>");
        }
        out.push_str("</tr></thead><tbody>\n");
        for axiom in axioms {
            let _ = write!(out, "<tr><td class=\"name\">{}</td>", escaped(&axiom.name));
            if weights {
                let _ = write!(out, "<td>{}</td>", number(axiom.weight));
            }
            let (first, last) = self.ends(axiom);
            let degree = |truth: Option<f64>| truth.map(|truth| self.degree(truth));
            write_change(out, degree(first), degree(last));
            if logs {
                write_change(out, first, last);
            }
            if sparks {
                let _ = write!(out, "<td class=\"spark\">{}</td>", spark(&axiom.truth));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table>");
    }
}

/// The last number, and by how much it differs from the first.
fn write_change(out: &mut String, first: Option<f64>, last: Option<f64>) {
    let change = first.zip(last).map(|(first, last)| last - first);
    let (class, sign) = match change {
        Some(change) if change > 0.0 => (" class=\"better\"", "+"),
        Some(change) if change < 0.0 => (" class=\"worse\"", ""),
        _ => ("", ""),
    };
    let _ = write!(
        out,
        "<td>{}</td><td{class}>{sign}{}</td>",
        number(last),
        number(change)
    );
}

fn write_chart(out: &mut String, named: NamedChart, wide: bool) {
    let NamedChart { name, chart } = named;
    let title = escaped(&chart.title);
    let several = chart.curves.len() > 1;
    let chart = Chart {
        title: String::new(),
        size: if wide {
            (1100.0, 380.0)
        } else {
            (540.0, 280.0)
        },
        ..chart
    };
    let drawn = chart.draw();
    let class = if wide { " class=\"wide\"" } else { "" };
    let _ = write!(out, "<section{class}><h2>{title}</h2>");
    if several {
        out.push_str("<div class=\"legend\">");
        for (i, curve) in chart.curves.iter().enumerate().filter(|(_, c)| !c.muted) {
            let (name, colour) = (escaped(&curve.name), curve.colour.css());
            let dashed = if curve.dashed {
                " class=\"dashed\""
            } else {
                ""
            };
            let _ = write!(
                out,
                "<button data-series=\"{i}\" title=\"{name}\"><i{dashed} style=\"border-color:{colour}\"></i>\
                 <span>{name}</span></button>"
            );
        }
        out.push_str("</div>");
    }
    let attributes = format!("aria-label=\"{title}\" data-chart=\"{name}\"");
    let _ = writeln!(
        out,
        "<div class=\"plot\">{}<script type=\"application/json\">{}</script></div></section>",
        svg(&drawn.drawing, &attributes),
        hover_data(&chart.curves, &drawn)
    );
}

/// What the script needs to tell the values under the mouse.
fn hover_data(curves: &[Curve], drawn: &super::chart::DrawnChart) -> String {
    let series: Vec<_> = (curves.iter().enumerate())
        .filter(|(_, curve)| !curve.muted)
        .map(|(i, curve)| {
            json!({
                "i": i,
                "name": curve.name,
                "colour": curve.colour.css(),
                "x": curve.points.iter().map(|p| p.0).collect::<Vec<_>>(),
                "y": curve.points.iter().map(|p| rounded(p.1)).collect::<Vec<_>>(),
            })
        })
        .collect();
    let frame = drawn.frame;
    json!({
        "frame": [frame.left, frame.top, frame.right, frame.bottom],
        "x": [drawn.x.from, drawn.x.to],
        "series": series,
    })
    .to_string()
    // A name must not end the script.
    .replace('<', "\\u003c")
}

/// Five digits are what the script shows.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// A curve without axes, as high as a line of text.
fn spark(curve: &Thinned) -> String {
    const SIZE: (f64, f64) = (150.0, 26.0);
    const MOST_POINTS: usize = 75;
    let mut drawing = Drawing::new(SIZE.0, SIZE.1);
    let mut coarse = Thinned::new(MOST_POINTS);
    for (i, bucket) in curve.buckets().iter().enumerate() {
        coarse.push(i as u64, bucket.mean());
    }
    let values: Vec<f64> = coarse.buckets().iter().map(|b| b.mean()).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = if high > low { high - low } else { 1.0 };
    let step = (SIZE.0 - 8.0) / (values.len().max(2) - 1) as f64;
    let points: Vec<(f64, f64)> = (values.iter().enumerate())
        .map(|(i, value)| {
            let up = if high > low {
                (value - low) / span
            } else {
                0.5
            };
            (4.0 + step * i as f64, SIZE.1 - 4.0 - up * (SIZE.1 - 8.0))
        })
        .collect();
    if let Some(at) = points.last().copied() {
        drawing.line(points, palette::series(0), 1.5);
        drawing.shapes.push(Shape::Dot {
            at,
            radius: 2.2,
            marker: super::drawing::Marker::Circle,
            colour: palette::series(0),
            opacity: 1.0,
        });
    }
    svg(&drawing, "aria-hidden=\"true\"")
}

/// A number with four significant digits, as a person would write it.
pub(super) fn number(value: Option<f64>) -> String {
    let Some(value) = value.filter(|v| v.is_finite()) else {
        return "–".into();
    };
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        return minus(format!("{value:.3e}"));
    }
    let decimals = (3.0 - magnitude).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    minus(text.to_string())
}
