//! Activation functions. All are monotone, and all have derivatives that can be read off their value: both are used.

use logltn_vector::Real;

/// A function of one number, applied to every element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// x for x > 0, eˣ − 1 elsewhere: the paper's choice.
    Elu,
    /// x for x > 0, 0 elsewhere.
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
}

impl Activation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Elu, Self::Relu, Self::Tanh, Self::Sigmoid];

    /// The name as in manifests: `elu`, `relu`, `tanh`, `sigmoid`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elu => "elu",
            Self::Relu => "relu",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
        }
    }

    /// x = f(x)
    pub(crate) fn apply(self, x: &mut [f32]) {
        let kernels = f32::kernels();
        match self {
            Self::Elu => kernels.elu(x),
            Self::Relu => {
                for x in x {
                    // Not `max`, which would turn NaN into 0 and hide it.
                    *x = if *x < 0.0 { 0.0 } else { *x };
                }
            }
            Self::Tanh => kernels.tanh(x),
            Self::Sigmoid => {
                let mut argument = [0.0; 256];
                for x in x.chunks_mut(argument.len()) {
                    let argument = &mut argument[..x.len()];
                    argument.copy_from_slice(x);
                    kernels.sigmoid(argument, x);
                }
            }
        }
    }
}
