//! Random numbers with the same bits on every platform.
//!
//! The integers come from PCG64, started from an explicit state so that no seeding convention of a library matters.
//! From there on only `+ - * /`, `sqrt` and comparisons of `f64` are used, which IEEE 754 defines to the last bit and
//! Rust neither reorders nor fuses. `f64::ln`, `exp`, `sin` and `cos` are *not* used: they come from the platform's
//! mathematical library, and libraries differ in the last digit. Hence `ln` below, and the polar form of
//! Box and Muller's method, which needs no sine. (The one exception known is 32-bit x86 without SSE2, which Rust does
//! not count among its main targets.)

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// A source of random numbers; see the module's notes.
#[derive(Debug)]
pub struct Random {
    source: Pcg64,
    /// The polar method makes normals in pairs; this is the second of a pair, if it is still unused.
    spare: Option<f64>,
    drawn: u64,
}

impl Random {
    /// `stream` keeps what is drawn for different purposes independent under one seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut source = Pcg64::new(u128::from(seed), u128::from(stream));
        // PCG's first outputs for neighbouring states resemble each other; a few steps part them.
        for _ in 0..8 {
            source.next_u64();
        }
        Random {
            source,
            spare: None,
            drawn: 0,
        }
    }

    /// The source after this many integers: where a resumed run continues. Normals that were drawn must have been
    /// even in number, or the spare one is lost.
    pub(crate) fn resumed(seed: u64, stream: u64, drawn: u64) -> Self {
        let mut random = Random::new(seed, stream);
        random.source.advance(u128::from(drawn));
        random.drawn = drawn;
        random
    }

    /// How many integers have been drawn.
    pub(crate) fn drawn(&self) -> u64 {
        self.drawn
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.drawn += 1;
        self.source.next_u64()
    }

    /// Uniform in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..bound`. The bias of the multiplication is below 2⁻³² for the bounds used here.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * ln(square) / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// An index drawn in proportion to the weights. The weights must not all be zero.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let total: u32 = weights.clone().sum();
        let mut left = self.below(total as usize) as u32;
        for (index, weight) in weights.enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
        }
        unreachable!("a number below the sum of the weights falls under one of them")
    }

    /// Puts the items in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// The natural logarithm of a positive, normal number.
fn ln(x: f64) -> f64 {
    // x = m · 2^e with m in [√½, √2), so that the series below converges fast.
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 artanh t = 2 (t + t³/3 + t⁵/5 + …) with |t| ≤ 0.172: 12 terms leave an error below 1e-19.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let mut series = 0.0;
    for term in (0..12).rev() {
        series = series * square + 1.0 / f64::from(2 * term + 1);
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_taken_up_where_it_was() {
        let mut random = Random::new(7, 3);
        random.shuffle(&mut [0; 100]);
        let mut again = Random::resumed(7, 3, random.drawn());
        let next = |random: &mut Random| [(); 20].map(|()| random.bits());
        assert_eq!(next(&mut random), next(&mut again));
    }

    #[test]
    fn the_logarithm_agrees_with_the_platforms() {
        for step in 1..4000 {
            let x = f64::from(step) * 0.003;
            assert!((ln(x) - x.ln()).abs() < 1e-14, "ln {x}");
        }
        assert!((ln(1e-12) - 1e-12f64.ln()).abs() < 1e-13);
    }

    #[test]
    fn normals_have_the_moments_of_a_normal() {
        let mut random = Random::new(1, 0);
        let n = 200_000;
        let (mut first, mut second, mut fourth) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let z = random.normal();
            first += z / f64::from(n);
            second += z * z / f64::from(n);
            fourth += z * z * z * z / f64::from(n);
        }
        assert!(first.abs() < 0.01, "mean {first}");
        assert!((second - 1.0).abs() < 0.02, "variance {second}");
        assert!((fourth - 3.0).abs() < 0.1, "fourth moment {fourth}");
    }

    // If these bits ever change, every committed stand-in changes with them.
    #[test]
    fn the_bits_are_pinned() {
        let mut random = Random::new(7, 3);
        let bits = [random.normal().to_bits(), random.uniform().to_bits()];
        assert_eq!(bits, [13828717790662421341, 4604933542992155113]);
    }

    #[test]
    fn neighbouring_seeds_and_streams_differ() {
        let first = |seed, stream| Random::new(seed, stream).uniform();
        assert!((first(0, 0) - first(1, 0)).abs() > 1e-3);
        assert!((first(0, 0) - first(0, 1)).abs() > 1e-3);
    }

    #[test]
    fn weights_are_respected() {
        let mut random = Random::new(0, 0);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            counts[random.weighted([1, 0, 3].into_iter())] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!(
            (counts[2] as f64 / counts[0] as f64 - 3.0).abs() < 0.3,
            "{counts:?}"
        );
    }
}
