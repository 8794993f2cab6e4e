//! The loops, compiled for several kinds of processors, and the choice among them.

use std::fmt;

use super::loops;
use super::real::Real;
#[cfg(target_arch = "x86_64")]
use super::task;

/// Passes the list of kernels to the macro `$then` after its own `$arguments`: written once, used for the struct and
/// for each kind of processor.
macro_rules! with_all_kernels {
    ($then:ident $($arguments:tt)*) => {
        $then! {
            $($arguments)*

            /// x = eˣ, within 2 units in the last place: 1 for 0, 0 for −∞ and where a result would be subnormal,
            /// ∞ where it would be too great.
            fn exp(x: &mut [T]);

            /// x = log x, within 2 units in the last place: 0 for 1, −∞ for 0, NaN for negative numbers.
            fn ln(x: &mut [T]);

            /// The two literals of a sigmoid atom: log S(z) = min(z, 0) − log(1 + e^−|z|) and
            /// log(1 − S(z)) = −max(z, 0) − log(1 + e^−|z|). Finite for every finite z, and as accurate next to 0
            /// (log S(80) = −e⁻⁸⁰) as anywhere.
            fn log_sigmoid(z: &[T], positive: &mut [T], negative: &mut [T]);

            /// out = 1 / (1 + e⁻ᶻ)
            fn sigmoid(z: &[T], out: &mut [T]);

            /// x = x where it is positive, eˣ − 1 elsewhere, within 3 units in the last place.
            fn elu(x: &mut [T]);

            /// x = tanh x, within 4 units in the last place.
            fn tanh(x: &mut [T]);

            /// x = log(1 + e⁻ˣ), for x ≥ 0.
            fn log1p_exp_neg(x: &mut [T]);

            /// x = log(1 + e⁻ˣ) and e = e⁻ˣ, for x ≥ 0.
            fn log1p_exp_neg_with_exp(x: &mut [T], e: &mut [T]);

            /// x = exp(alpha (x − c)), each element with its own c.
            fn exp_scaled_difference(x: &mut [T], alpha: T, c: &[T]);

            /// x = exp(alpha (x − c)), one c for all.
            fn exp_scaled_difference_from(x: &mut [T], alpha: T, c: T);

            /// x = xᵖ, for x ≥ 0 (NaN for others) and a finite p: 0⁰ = 1, and 0 to a negative power is ∞. Exact for
            /// p = 0 and 1, rounded once for p = 2.
            fn pow(x: &mut [T], p: T);

            /// The sum, always added up in the same order: the same bits on every machine.
            fn sum(x: &[T]) -> T;

            /// The greatest element, −∞ if there is none; NaN is skipped.
            fn max(x: &[T]) -> T;

            /// The least element, ∞ if there is none; NaN is skipped.
            fn min(x: &[T]) -> T;
        }
    };
}

macro_rules! define_kernels {
    ($($(#[$doc:meta])* fn $kernel:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// Elementwise mathematics for one kind of processor.
        ///
        /// All slices of a call have the same length, which is arbitrary. [`Real::kernels`] returns the fastest
        /// kernels that this machine can run.
        pub struct Kernels<T> {
            name: &'static str,
            $($kernel: unsafe fn($($type),*) $(-> $result)?,)*
        }

        impl<T: Real> Kernels<T> {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $kernel(&self, $($argument: $type),*) $(-> $result)? {
                    // SAFETY: the functions do nothing unsafe but use instructions of their kind of processor, and
                    // `Kernels` of a kind are only made after checking that the processor has them: the fields are
                    // private, and the constructors below are the only ones.
                    unsafe { (self.$kernel)($($argument),*) }
                }
            )*
        }
    };
}

/// A module with all kernels compiled for processors with these features, and `kernels()`, which returns the
/// struct.
macro_rules! compile_kernels {
    (
        $kind:ident, fused: $fused:expr, features: $features:tt,
        $($(#[$doc:meta])* fn $kernel:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*
    ) => {
        mod $kind {
            use super::{Kernels, Real, loops};

            pub(super) const fn kernels<T: Real>() -> Kernels<T> {
                Kernels { name: stringify!($kind), $($kernel: $kernel::<T>,)* }
            }

            $(
                compile_kernels! {
                    @function $features [$fused]
                    fn $kernel($($argument: $type),*) $(-> $result)?
                }
            )*
        }
    };
    (
        @function [$($features:literal)?] [$fused:expr]
        fn $kernel:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?
    ) => {
        $(#[target_feature(enable = $features)])?
        fn $kernel<T: Real>($($argument: $type),*) $(-> $result)? {
            loops::$kernel::<T, { $fused }>($($argument),*)
        }
    };
}

with_all_kernels!(define_kernels);

// Any machine. Fused multiplication is a basic instruction on 64-bit Arm; elsewhere it might be a call.
with_all_kernels!(compile_kernels portable, fused: cfg!(target_arch = "aarch64"), features: [],);

#[cfg(target_arch = "x86_64")]
with_all_kernels!(compile_kernels avx2, fused: true, features: ["avx2,fma"],);

#[cfg(target_arch = "x86_64")]
with_all_kernels!(
    compile_kernels avx512, fused: true, features: ["avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"],
);

impl<T: Real> Kernels<T> {
    /// The kind of processor: `portable`, `avx2` or `avx512`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Every kind that this machine can run, fastest first, for comparing them.
    pub fn all_available() -> Vec<Self> {
        [Self::avx512(), Self::avx2(), Some(portable::kernels())]
            .into_iter()
            .flatten()
            .collect()
    }

    pub(super) fn fastest() -> Self {
        Self::avx512()
            .or_else(Self::avx2)
            .unwrap_or_else(portable::kernels)
    }

    #[cfg(target_arch = "x86_64")]
    fn avx2() -> Option<Self> {
        task::has_avx2().then(avx2::kernels)
    }

    #[cfg(target_arch = "x86_64")]
    fn avx512() -> Option<Self> {
        task::has_avx512().then(avx512::kernels)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn avx2() -> Option<Self> {
        None
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn avx512() -> Option<Self> {
        None
    }
}

impl<T> fmt::Debug for Kernels<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels").field("name", &self.name).finish()
    }
}
