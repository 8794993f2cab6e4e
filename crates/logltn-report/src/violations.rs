//! What breaks the axioms, in the report.

use std::fmt::Write;

use tiny_skia::Pixmap;

use super::base64::base64;
use super::html::number;
use super::summary::{Picture, Report};
use super::svg::escaped;

/// The bindings that violate an axiom most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Violated {
    /// The axiom.
    pub axiom: String,
    /// How many bindings there are in all.
    pub groundings: u64,
    /// The least true first.
    pub worst: Vec<Culprits>,
}

/// One of them, and what makes it false.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Culprits {
    /// `x = ann, y = bob`.
    pub binding: String,
    /// How true the axiom is of it, between 0 and 1.
    pub truth: f64,
    /// Of its individuals, if these are pictures.
    pub pictures: Vec<Picture>,
    /// Each with its truth, between 0 and 1, and its blame.
    pub literals: Vec<(String, f64, f64)>,
    /// What is the truest binding of each `exists`, in words.
    pub witnesses: Vec<String>,
}

/// A picture of features as a PNG: `[height, width]` of greys, or of colours with 3 channels first or last. `None` if they
/// have another shape. Numbers beyond 0..1 are scaled to it.
pub fn features_png(shape: &[usize], values: &[f32]) -> Option<Vec<u8>> {
    let (height, width, channels, last) = match *shape {
        [h, w] | [1, h, w] => (h, w, 1, false),
        [3, h, w] => (h, w, 3, false),
        [h, w, 3] => (h, w, 3, true),
        [h, w, 1] => (h, w, 1, true),
        _ => return None,
    };
    if values.len() != height * width * channels || height < 4 || width < 4 {
        return None;
    }
    let least = values.iter().copied().fold(0.0_f32, f32::min);
    let most = values.iter().copied().fold(1.0_f32, f32::max);
    let byte = |x: f32| ((x - least) / (most - least) * 255.0).round() as u8;
    let mut pixmap = Pixmap::new(width as u32, height as u32)?;
    for (at, pixel) in pixmap.data_mut().chunks_exact_mut(4).enumerate() {
        for (c, out) in pixel[..3].iter_mut().enumerate() {
            let c = c.min(channels - 1);
            let place = if last {
                at * channels + c
            } else {
                c * height * width + at
            };
            *out = byte(values[place]);
        }
        pixel[3] = 255;
    }
    pixmap.encode_png().ok()
}

impl Report {
    /// Adds a section on what breaks the axioms.
    pub fn set_violated(&mut self, violated: Vec<Violated>) {
        self.violated = violated;
    }

    pub(super) fn write_violated(&self, out: &mut String) {
        if self.violated.iter().all(|axiom| axiom.worst.is_empty()) {
            return;
        }
        out.push_str("<section><h2>What breaks the axioms</h2>\n");
        for axiom in self.violated.iter().filter(|a| !a.worst.is_empty()) {
            let least = number(axiom.worst.first().map(|w| w.truth));
            let _ = writeln!(
                out,
                "<details><summary>{}: down to {least}</summary>\
                 <p class=\"note\">The least true of {} groundings, and the literals to blame.</p>\
                 <table class=\"axioms\"><thead><tr><th class=\"name\">binding</th><th>truth</th>\
                 <th class=\"name\">literals</th><th>truth</th><th>blame</th></tr></thead><tbody>",
                escaped(&axiom.axiom),
                axiom.groundings
            );
            for culprits in &axiom.worst {
                write_culprits(out, culprits);
            }
            out.push_str("</tbody></table></details>\n");
        }
        out.push_str("</section>\n");
    }
}

fn write_culprits(out: &mut String, culprits: &Culprits) {
    let rows = culprits.literals.len().max(1);
    let _ = write!(
        out,
        "<tr><td class=\"name\" rowspan=\"{rows}\">{}",
        escaped(&culprits.binding)
    );
    for picture in &culprits.pictures {
        let title = escaped(&picture.title);
        let _ = write!(
            out,
            "<figure class=\"seen\"><img alt=\"{title}\" src=\"data:image/png;base64,{}\">\
             <figcaption>{title}</figcaption></figure>",
            base64(&picture.png)
        );
    }
    for witness in &culprits.witnesses {
        let _ = write!(out, "<p class=\"note\">{}</p>", escaped(witness));
    }
    let truth = number(Some(culprits.truth));
    let _ = write!(out, "</td><td rowspan=\"{rows}\">{truth}</td>");
    if culprits.literals.is_empty() {
        out.push_str("<td></td><td></td><td></td></tr>\n");
    }
    for (i, (literal, truth, blame)) in culprits.literals.iter().enumerate() {
        let start = if i == 0 { "" } else { "<tr>" };
        let (truth, blame) = (number(Some(*truth)), number(Some(*blame)));
        let literal = escaped(literal);
        let _ = writeln!(
            out,
            "{start}<td class=\"name\">{literal}</td><td>{truth}</td><td>{blame}</td></tr>"
        );
    }
}
