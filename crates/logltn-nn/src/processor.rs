//! The loops of this crate, compiled for several kinds of processors, and the choice among them.
//!
//! The same order of additions everywhere: kinds that fuse multiplication and addition give the same bits.

use std::sync::OnceLock;

use crate::activation::Activation;
use crate::buffer::LANES;
use crate::convolution::{ConvolutionTask, WeightGradientTask};
use crate::kind::Kind;
use crate::loops::{self, AdamStep};
use crate::product::ProductTask;

/// A kind of processor that this machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// Any machine.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(Checked),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Checked),
}

/// Made only after asking the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg(target_arch = "x86_64")]
pub(crate) struct Checked(());

impl Processor {
    /// The fastest kind that this machine is.
    pub fn fastest() -> Self {
        static FASTEST: OnceLock<Processor> = OnceLock::new();
        *FASTEST.get_or_init(|| Self::all_available()[0])
    }

    /// Every kind that this machine is, the fastest first.
    pub fn all_available() -> Vec<Self> {
        let mut all = vec![];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                all.push(Self::Avx512(Checked(())));
            }
            if avx2 {
                all.push(Self::Avx2(Checked(())));
            }
        }
        all.push(Self::Portable);
        all
    }
}

/// Compiles each loop once for every kind, and makes it a method that chooses.
macro_rules! compile_loops {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Processor {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $name(self, $($argument: $type),*) {
                    match self {
                        Self::Portable => portable::$name($($argument),*),
                        // SAFETY: a `Checked` is only made after asking the processor for these instructions.
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx2(Checked(())) => unsafe { avx2::$name($($argument),*) },
                        // SAFETY: as above.
                        #[cfg(target_arch = "x86_64")]
                        Self::Avx512(Checked(())) => unsafe { avx512::$name($($argument),*) },
                    }
                }
            )*
        }

        mod portable {
            use super::*;
            pub struct Any;
            impl Kind for Any {
                const FUSED: bool = cfg!(target_arch = "aarch64");
                const WIDE: bool = false;
            }
            $(pub fn $name($($argument: $type),*) { loops::$name::<Any>($($argument),*) })*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx2 {
            use super::*;
            pub struct Avx2;
            impl Kind for Avx2 {
                const FUSED: bool = true;
                const WIDE: bool = false;
            }
            $(
                #[target_feature(enable = "avx2,fma")]
                pub fn $name($($argument: $type),*) { loops::$name::<Avx2>($($argument),*) }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        mod avx512 {
            use super::*;
            pub struct Avx512;
            impl Kind for Avx512 {
                const FUSED: bool = true;
                const WIDE: bool = true;
            }
            $(
                #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
                pub fn $name($($argument: $type),*) { loops::$name::<Avx512>($($argument),*) }
            )*
        }
    };
}

compile_loops! {
    /// A product of matrices, see [`ProductTask`].
    fn product(task: &mut ProductTask);
    /// A convolution of 16 images, see [`ConvolutionTask`].
    fn convolve(task: &mut ConvolutionTask);
    /// The gradient of a convolution's weights, see [`WeightGradientTask`].
    fn convolution_weight_gradient(task: &mut WeightGradientTask);
    /// One step of Adam on a piece of the parameters.
    fn adam(step: &AdamStep, parameters: &mut [f32], gradients: &[f32], first: &mut [f32], second: &mut [f32]);
    /// Adds the squares of all x to one of the sums.
    fn add_squares(x: &[f32], sums: &mut [f64; LANES]);
    /// a += b
    fn add(a: &mut [f32], b: &[f32]);
    /// The greatest of each k × k tile of planes of vectors, and its place in the tile; the shape is height, width
    /// and k.
    fn pool(input: &[f32], shape: (usize, usize, usize), output: &mut [f32], winners: &mut [u32]);
    /// The gradient of [`Self::pool`]: each winner gets its own, the others 0. The rows of `by_input` have `margin`
    /// zeros more on both sides.
    fn unpool(by_output: &[f32], winners: &[u32], shape: (usize, usize, usize), margin: usize, by_input: &mut [f32]);
    /// d = d · f′(x), where y = f(x)
    fn times_derivative(d: &mut [f32], y: &[f32], activation: Activation);
}
