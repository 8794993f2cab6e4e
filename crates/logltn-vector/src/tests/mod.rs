//! Every kind of kernel that this machine can run is held against the truth, and against the others.

mod accuracy;
mod blocks;
mod references;
mod special_values;
mod variants;

use super::{Kernels, Real};

/// What is needed to go through floats by their bits.
trait Bits: Real {
    /// Bits of the mantissa, without the leading one.
    const MANTISSA: i32;
    const LEAST_EXPONENT: i32;

    /// The number with these bits; the upper ones are ignored if there are too many.
    fn with_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Bits for f32 {
    const MANTISSA: i32 = 23;
    const LEAST_EXPONENT: i32 = -126;

    fn with_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Bits for f64 {
    const MANTISSA: i32 = 52;
    const LEAST_EXPONENT: i32 = -1022;

    fn with_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// The distance between neighbours of type `T` at `x`.
fn spacing<T: Bits>(x: f64) -> f64 {
    let exponent = x.abs().log2().floor().max(T::LEAST_EXPONENT.into());
    (exponent - f64::from(T::MANTISSA)).exp2()
}

/// How far `got` is from the `truth`, in units in the last place of the truth. 0 if both are the same infinity or NaN,
/// and if a result below the normal numbers was made 0.
fn error<T: Bits>(got: T, truth: f64) -> f64 {
    let rounded = T::from_f64(truth);
    if got.bits() == rounded.bits() || (got.is_nan() && rounded.is_nan()) {
        return 0.0;
    }
    let least_normal = f64::from(T::LEAST_EXPONENT).exp2();
    if got == T::ZERO && truth.abs() < least_normal {
        return 0.0;
    }
    if !got.is_finite() || !rounded.is_finite() {
        return f64::INFINITY;
    }
    (got.to_f64() - truth).abs() / spacing::<T>(truth)
}

/// The values of a kernel that works in place.
fn applied<T: Real>(x: &[T], kernel: impl FnOnce(&mut [T])) -> Vec<T> {
    let mut y = x.to_vec();
    kernel(&mut y);
    y
}

/// `sigmoid` as a kernel that works in place.
fn sigmoid<T: Real>(kind: &Kernels<T>, x: &mut [T]) {
    let z = x.to_vec();
    kind.sigmoid(&z, x);
}

/// The first result of `log_sigmoid`, in place.
fn positive_literal<T: Real>(kind: &Kernels<T>, x: &mut [T]) {
    let z = x.to_vec();
    kind.log_sigmoid(&z, x, &mut vec![T::ZERO; z.len()]);
}

/// The second result of `log_sigmoid`, in place.
fn negative_literal<T: Real>(kind: &Kernels<T>, x: &mut [T]) {
    let z = x.to_vec();
    kind.log_sigmoid(&z, &mut vec![T::ZERO; z.len()], x);
}

/// All kinds, of which there is always one.
fn all<T: Real>() -> Vec<Kernels<T>> {
    let all = Kernels::all_available();
    assert_eq!(all.last().map(Kernels::name), Some("portable"));
    all
}

#[test]
fn the_fastest_kind_is_chosen() {
    assert_eq!(f32::kernels().name(), all::<f32>()[0].name());
    assert_eq!(f64::kernels().name(), all::<f64>()[0].name());
}
