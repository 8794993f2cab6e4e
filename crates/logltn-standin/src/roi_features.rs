//! Simulated ROI features: what a pre-trained object detector might say of a box.
//!
//! Every type has a prototype, a vector whose coordinates are of the size of 1. Half of its variance is the type's own
//! and half is shared with the types it is easily confused with: wholes of one kind share a vector, and so do the parts
//! of one whole (a part of several wholes has a mixture of theirs). A box's features are its type's prototype plus
//! noise, whose size decides how hard the task is.

use logltn_learn::random::Random;

use super::ontology::{Kind, ONTOLOGY, TYPES};
use super::pascal_part::SceneBox;

/// The noise of the committed stand-in, for its 64 numbers per box; wider features need more to be as hard.
///
/// A rough choice, not calibrated on training: with it, the nearest of the labelled boxes of `theories/pascal_part`
/// names the type of a test box with a balanced accuracy of 0.50. That was 0.78 with noise 0.5 (not all types are
/// labelled) and 0.15 with noise 2.
pub const DEFAULT_NOISE: f64 = 1.25;

/// Prototypes do not depend on the caller's seed: features made with different seeds, say for training and for
/// testing, must speak of the same types.
const PROTOTYPE_SEED: u64 = 20230;

/// The share of a prototype's variance that confusable types have in common.
const SHARED: f64 = 0.5;

/// Features of the boxes: `width` numbers for each, row-major. `noise` is the standard deviation of the noise in each
/// coordinate; the prototypes' coordinates have about standard deviation 1.
///
/// ```
/// use logltn_standin::{pascal_part_scenes, simulated_features};
///
/// let boxes = pascal_part_scenes(0, 2).boxes;
/// let exact = simulated_features(0, &boxes, 8, 0.0);
/// assert_eq!(exact, simulated_features(1, &boxes, 8, 0.0), "without noise the seed does not matter");
/// assert_ne!(exact, simulated_features(0, &boxes, 8, 1.0));
/// ```
pub fn simulated_features(seed: u64, boxes: &[SceneBox], width: usize, noise: f64) -> Vec<f32> {
    let prototypes = prototypes(width);
    let mut random = Random::new(seed, 3);
    let mut features = Vec::with_capacity(boxes.len() * width);
    for b in boxes {
        let prototype = &prototypes[b.type_id];
        features.extend(
            prototype
                .iter()
                .map(|mean| (mean + noise * random.normal()) as f32),
        );
    }
    features
}

/// One prototype for each of [`TYPES`].
fn prototypes(width: usize) -> Vec<Vec<f64>> {
    let mut random = Random::new(PROTOTYPE_SEED, width as u64);
    let mut normals = || (0..width).map(|_| random.normal()).collect::<Vec<f64>>();
    let of_kind: Vec<Vec<f64>> = (0..3).map(|_| normals()).collect();
    let of_whole: Vec<Vec<f64>> = ONTOLOGY.iter().map(|_| normals()).collect();
    TYPES
        .iter()
        .map(|name| {
            let own = normals();
            let shared: Vec<&Vec<f64>> = match ONTOLOGY.iter().find(|whole| whole.name == *name) {
                Some(whole) => vec![
                    &of_kind[match whole.kind {
                        Kind::Animal => 0,
                        Kind::Vehicle => 1,
                        Kind::Indoor => 2,
                    }],
                ],
                None => (ONTOLOGY.iter().zip(&of_whole))
                    .filter(|(whole, _)| whole.parts.contains(name))
                    .map(|(_, vector)| vector)
                    .collect(),
            };
            if shared.is_empty() {
                return own; // background is like nothing else
            }
            // A sum of k independent vectors has variance k.
            let share = (SHARED / shared.len() as f64).sqrt();
            let rest = (1.0 - SHARED).sqrt();
            (0..width)
                .map(|i| rest * own[i] + share * shared.iter().map(|v| v[i]).sum::<f64>())
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::type_id;
    use crate::pascal_part_scenes;

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y) * (x - y))
            .sum::<f64>()
            .sqrt()
    }

    #[test]
    fn confusable_types_are_nearer_to_each_other() {
        let prototypes = prototypes(1024);
        let between = |a: &str, b: &str| {
            distance(
                &prototypes[type_id(a).unwrap()],
                &prototypes[type_id(b).unwrap()],
            )
        };
        assert!(between("cat", "dog") < 0.85 * between("cat", "car"));
        assert!(between("coach", "locomotive") < 0.85 * between("coach", "beak"));
        assert!(between("bus", "car") < 0.85 * between("bus", "window"));
    }

    #[test]
    fn coordinates_have_unit_size() {
        for (name, prototype) in TYPES.iter().zip(prototypes(1024)) {
            let variance = prototype.iter().map(|x| x * x).sum::<f64>() / 1024.0;
            assert!((0.7..1.3).contains(&variance), "{name}: {variance}");
        }
    }

    #[test]
    fn noise_has_the_size_asked_for() {
        let boxes = pascal_part_scenes(0, 20).boxes;
        let exact = simulated_features(0, &boxes, 64, 0.0);
        let noisy = simulated_features(0, &boxes, 64, 3.0);
        let n = exact.len() as f64;
        let square: f64 = exact
            .iter()
            .zip(&noisy)
            .map(|(a, b)| f64::from(b - a).powi(2))
            .sum();
        assert!(((square / n).sqrt() - 3.0).abs() < 0.1);
    }
}
