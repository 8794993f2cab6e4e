//! The first weights.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// How weights are drawn; biases begin with 0. The fan-in of a weight is the number of inputs that its output sums
/// over, the fan-out the number of outputs that its input goes to (both count the pixels of a kernel).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Initialiser {
    /// Uniform, of variance 2 / (fan-in + fan-out): the default of Keras, and so of the paper.
    #[default]
    GlorotUniform,
    /// Uniform, of variance 2 / fan-in: made for ReLU.
    HeUniform,
    /// Normal, of variance 2 / fan-in: made for ReLU.
    HeNormal,
}

impl Initialiser {
    /// Fills in one layer's weights.
    pub(crate) fn fill(self, weights: &mut [f32], inputs: usize, outputs: usize, rng: &mut Pcg64) {
        match self {
            Self::GlorotUniform => uniform(weights, 6.0 / (inputs + outputs) as f64, rng),
            Self::HeUniform => uniform(weights, 6.0 / inputs as f64, rng),
            Self::HeNormal => normal(weights, 2.0 / inputs as f64, rng),
        }
    }
}

/// From −√`square` to √`square`; the variance is a third of `square`.
fn uniform(weights: &mut [f32], square: f64, rng: &mut Pcg64) {
    let limit = square.sqrt();
    for weight in weights {
        *weight = (limit * (2.0 * unit(rng) - 1.0)) as f32;
    }
}

/// Box and Muller's way: two uniform numbers become one normal one.
fn normal(weights: &mut [f32], variance: f64, rng: &mut Pcg64) {
    for weight in weights {
        // 1 − u is never 0, nor is its logarithm infinite.
        let radius = (-2.0 * (1.0 - unit(rng)).ln() * variance).sqrt();
        let angle = std::f64::consts::TAU * unit(rng);
        *weight = (radius * angle.cos()) as f32;
    }
}

/// From 0 to 1, without 1: 53 random bits. Our own, because the bits of `rand`'s distributions change with versions.
fn unit(rng: &mut Pcg64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(initialiser: Initialiser, variance: f64, limit: f64) {
        let mut weights = vec![0.0; 100_000];
        initialiser.fill(&mut weights, 30, 70, &mut Pcg64::new(1, 2));
        let moment =
            |p: i32| weights.iter().map(|&w| f64::from(w).powi(p)).sum::<f64>() / 100_000.0;
        assert!(moment(1).abs() < 0.01 * variance.sqrt(), "{}", moment(1));
        assert!((moment(2) / variance - 1.0).abs() < 0.02, "{}", moment(2));
        let greatest = weights.iter().fold(0.0, |a: f32, b| a.max(b.abs()));
        assert!(f64::from(greatest) <= limit && f64::from(greatest) > 0.9 * limit.min(1.0));
    }

    #[test]
    fn variances() {
        check(Initialiser::GlorotUniform, 0.02, 0.06f64.sqrt());
        check(Initialiser::HeUniform, 2.0 / 30.0, 0.2f64.sqrt());
        check(Initialiser::HeNormal, 2.0 / 30.0, 2.0);
    }

    #[test]
    fn bits_are_stable() {
        let mut weights = [0.0; 2];
        Initialiser::GlorotUniform.fill(&mut weights, 1, 2, &mut Pcg64::new(1, 2));
        let mut again = [0.0; 2];
        Initialiser::GlorotUniform.fill(&mut again, 1, 2, &mut Pcg64::new(1, 2));
        assert_eq!(weights, again);
        assert_ne!(weights[0], weights[1]);
    }
}
