//! The first weights.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// Fills in one layer's weights: uniform, of variance 2 / (fan-in + fan-out), after Glorot: the default of Keras, and so of the
/// paper. The fan-in of a weight is the number of inputs that its output sums over, the fan-out the number of outputs that
/// its input goes to (both count the pixels of a kernel).
pub(crate) fn initialise(weights: &mut [f32], inputs: usize, outputs: usize, rng: &mut Pcg64) {
    let limit = (6.0 / (inputs + outputs) as f64).sqrt();
    for weight in weights {
        *weight = (limit * (2.0 * unit(rng) - 1.0)) as f32;
    }
}

/// From 0 to 1, without 1: 53 random bits. Our own, because the bits of `rand`'s distributions change with versions.
fn unit(rng: &mut Pcg64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variance_and_limit() {
        let mut weights = vec![0.0; 100_000];
        initialise(&mut weights, 30, 70, &mut Pcg64::new(1, 2));
        let moment =
            |p: i32| weights.iter().map(|&w| f64::from(w).powi(p)).sum::<f64>() / 100_000.0;
        let (variance, limit) = (0.02_f64, 0.06_f64.sqrt());
        assert!(moment(1).abs() < 0.01 * variance.sqrt(), "{}", moment(1));
        assert!((moment(2) / variance - 1.0).abs() < 0.02, "{}", moment(2));
        let greatest = weights.iter().fold(0.0, |a: f32, b| a.max(b.abs()));
        assert!(f64::from(greatest) <= limit && f64::from(greatest) > 0.9 * limit);
    }
}
