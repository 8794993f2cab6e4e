//! What breaks the axioms, in the report.

use serde::Serialize;

use super::picture::Picture;

/// The bindings that violate an axiom most.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Violated {
    /// The axiom.
    pub axiom: String,
    /// How true it is, between 0 and 1.
    pub truth: f64,
    /// The log of that where truths are logs; above 0 where the truth is capped.
    pub log: Option<f64>,
    /// How many bindings there are in all.
    pub groundings: u64,
    /// The least true first.
    pub worst: Vec<Culprits>,
}

/// One of them, and what makes it false.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Culprits {
    /// `x = ann, y = bob`.
    pub binding: String,
    /// How true the axiom is of it, between 0 and 1.
    pub truth: f64,
    /// The log of that where truths are logs.
    pub log: Option<f64>,
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
    let pixels = (0..values.len()).map(|place| {
        let (at, c) = (place / channels, place % channels);
        byte(values[if last { place } else { c * height * width + at }])
    });
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(match channels {
        1 => png::ColorType::Grayscale,
        _ => png::ColorType::Rgb,
    });
    let mut writer = encoder.write_header().ok()?;
    let pixels: Vec<u8> = pixels.collect();
    writer.write_image_data(&pixels).ok()?;
    writer.finish().ok()?;
    Some(out)
}
