//! Names and shapes of parameters, for files.

use std::ops::Range;

/// Where one weight matrix, kernel or bias lies among the parameters of a network.
///
/// Names and shapes are those of a PyTorch `Sequential` of the same layers, activations counted: `0.weight`, `0.bias`,
/// `2.weight`, … Weights of dense layers are outputs × inputs, of convolutions filters × channels × rows × columns;
/// the last index runs fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The number of the layer, from 0, and `weight` or `bias`.
    pub name: String,
    /// The size of each index.
    pub shape: Vec<usize>,
    /// Where it lies among [`parameters`](crate::Network::parameters), and its gradient among
    /// [`gradients`](crate::Network::gradients).
    pub range: Range<usize>,
}
