//! Small fast neural networks on the CPU.
//!
//! Dense layers, convolutions, pooling and dropout, with gradients and Adam, in `f32`: what predicates of the size of a paper's experiments need, and no more. There is no graph, no tensor type and no automatic differentiation; forward, a network maps one slice of numbers to another; backward, it maps the gradient of the second to the gradient
//! of the first. In return a step allocates nothing, is faster than PyTorch's (`docs/performance.md`), and **has the
//! same bits on any number of threads**.
//!
//! # A network
//! A [`NetworkSpec`] says what a network is made of, a [`Network`] has the numbers. The seed decides all of them.
//!
//! ```
//! use logltn_nn::{Activation, LayerSpec, Network, NetworkSpec, Shape};
//!
//! let spec = NetworkSpec {
//!     input: Shape::Flat(2),
//!     layers: vec![
//!         LayerSpec::Dense(8),
//!         LayerSpec::Activation(Activation::Tanh),
//!         LayerSpec::Dense(1),
//!     ],
//! };
//! let mut network = Network::new(&spec, 42)?;
//! assert_eq!(network.parameters().len(), 2 * 8 + 8 + 8 + 1);
//! # Ok::<(), logltn_nn::SpecError>(())
//! ```
//!
//! [`mlp`] and [`lenet`] make the usual ones. Impossible networks are errors that explain themselves:
//!
//! ```
//! use logltn_nn::{LayerSpec, Network, NetworkSpec, Shape};
//!
//! let input = Shape::Image { channels: 1, height: 28, width: 28 };
//! let layers = vec![LayerSpec::Conv { filters: 6, kernel: 5 }, LayerSpec::Dense(10)];
//! let error = Network::new(&NetworkSpec { input, layers }, 42).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "layer 2 of the network, `dense 10`, gets a 6×24×24 image but works on flat input: put `flatten` before it"
//! );
//! ```
//!
//! # A step
//! A batch is rows, one after another. [`Network::forward`] gives the outputs. The loss is up to the caller; its gradient by the outputs goes to [`Network::backward`], which *adds* the
//! gradients by the parameters to [`Network::gradients`]. An optimizer moves the parameters.
//!
//! Here a network learns the exclusive or:
//!
//! ```
//! use logltn_nn::{Activation, AdamSettings, Network, Optimizer, mlp};
//!
//! let input = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
//! let labels = [0.0, 1.0, 1.0, 0.0];
//! let mut network = Network::new(&mlp(2, &[8], 1, Activation::Tanh), 42)?;
//! let mut adam = Optimizer::adam(AdamSettings::default(), network.parameters().len());
//! for _ in 0..500 {
//!     let output = network.forward(&input, 4);
//!     // The loss is the sum of (output − label)².
//!     let by_output: Vec<f32> = output.iter().zip(labels).map(|(o, l)| 2.0 * (o - l)).collect();
//!     network.zero_gradients();
//!     network.backward(&by_output, None);
//!     let (parameters, gradients) = network.parameters_and_gradients();
//!     adam.step(0.02, parameters, gradients);
//! }
//! let learnt = network.forward_only(&input, 4);
//! assert!(learnt.iter().zip(labels).all(|(o, l)| (o - l).abs() < 0.1), "{learnt:?}");
//! # Ok::<(), logltn_nn::SpecError>(())
//! ```
//!
//! The learning rate is an argument of each step, so that a schedule is a function of the step and lives elsewhere.
//!
//! # Networks behind one another
//! The last argument of [`Network::backward`] takes the gradient by the input. With it a network can stand on top of
//! another, or several on one trunk: the gradients that they give for the trunk's output are added, and go on into
//! [`Network::backward`] of the trunk.
//!
//! ```
//! use logltn_nn::{Activation, Network, mlp};
//!
//! let mut trunk = Network::new(&mlp(3, &[8], 4, Activation::Elu), 1)?;
//! let mut head = Network::new(&mlp(4, &[], 2, Activation::Elu), 2)?;
//! let features = trunk.forward(&[0.1, 0.2, 0.3], 1);
//! head.forward(features, 1);
//! let mut by_features = [0.0; 4];
//! head.backward(&[1.0, 0.0], Some(&mut by_features));
//! trunk.backward(&by_features, None);
//! // The first logit is a sum of features, with the first row of weights.
//! assert_eq!(by_features, head.parameters()[..4]);
//! # Ok::<(), logltn_nn::SpecError>(())
//! ```
//!
//! # Parameters and files
//! Parameters are one flat slice, and so are gradients and what an optimizer remembers ([`OptimizerState`]).
//! [`Network::tensors`] tells them apart, with names and shapes as a PyTorch `Sequential` of the same layers has them:
//!
//! ```
//! use logltn_nn::{Network, lenet};
//!
//! let network = Network::new(&lenet(10), 42)?;
//! let kernel = &network.tensors()[2];
//! assert_eq!((kernel.name.as_str(), kernel.shape.as_slice()), ("3.weight", &[16, 6, 5, 5][..]));
//! let weights = &network.parameters()[kernel.range.clone()];
//! assert_eq!(weights.len(), 16 * 6 * 5 * 5);
//! # Ok::<(), logltn_nn::SpecError>(())
//! ```
//!
//! # What makes it fast, and the same everywhere
//! - A batch is cut into blocks of rows: 16 images, or at most 64 flat rows, all blocks alike and even in number, so
//!   that two threads have the same to do. A block goes through all layers while it is in cache; threads take different
//!   blocks. Where blocks begin depends on the batch alone.
//! - What nobody asks for is not computed: the gradient by the input ([`Network::backward`]), anything for the way back
//!   of rows that get no gradient ([`Network::forward_keeping`]), zeros to add to ([`Network::backward_anew`]).
//! - Gradients of weights are sums over rows. Either each group of blocks has its own sum, and these are added in
//!   order; or, for large layers, a piece of the weights is summed over all rows by one thread. Which of them, again,
//!   depends on sizes alone. So no sum depends on the number of threads, nor on who was first.
//! - Images are stored as vectors of the same pixel of 16 images, see `convolution.rs`; products of matrices are tiles
//!   in registers, see `product.rs`; both are compiled for several kinds of processors, and the best is chosen when
//!   the program runs. All kinds that fuse multiplication and addition (x86 of the last ten years, Arm) add in the
//!   same order.
//! - Pooling goes before the activation where it may: the result is the same, and there is a quarter to activate.

mod activation;
mod block;
mod buffer;
mod compile;
mod convolution;
mod dense;
mod dropout;
mod extent;
mod initialise;
mod kind;
mod loops;
mod matrix;
mod network;
mod optimizer;
mod packed;
mod planes;
mod processor;
mod product;
mod run;
mod spec;
mod tensor;
#[cfg(test)]
mod tests;

pub use activation::Activation;
pub use buffer::Floats;
pub use matrix::{dots, weighted_sums};
pub use network::Network;
pub use optimizer::{AdamSettings, Optimizer, OptimizerState, sum_of_squares};
pub use spec::{LayerError, LayerSpec, NetworkSpec, Shape, SpecError, lenet, mlp};
pub use tensor::Tensor;
