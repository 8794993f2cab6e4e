//! Small fast neural networks on the CPU.

mod activation;
mod block;
mod buffer;
mod compile;
mod convolution;
mod dense;
mod initialise;
mod loops;
mod network;
mod optimiser;
mod planes;
mod processor;
mod product;
mod spec;
mod tensor;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub use initialise::Initialiser;
pub use network::Network;
pub use optimiser::{
    Adam, AdamSettings, OptimiserState, Sgd, SgdSettings, clip_gradient_norm, gradient_norm,
};
pub use spec::{LayerError, LayerSpec, NetworkSpec, Shape, SpecError, lenet, mlp};
pub use tensor::Tensor;
