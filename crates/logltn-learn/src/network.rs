//! Networks behind predicates and functions, before there are any weights.

use logltn_nn::{Activation, LayerSpec};

use crate::spanned::Place;

/// A network without its output layer, which the predicate or function adds.
///
/// ```
/// use logltn_learn::Network;
/// use logltn_nn::Activation;
/// let network = Network::mlp(&[512, 256], Activation::Elu)
///     .inputs(["stop(type(x))", "stop(type(y))", "containment(x.position, y.position)"]);
/// assert_eq!(network.layers.len(), 4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The hidden layers.
    pub layers: Vec<LayerSpec>,
    /// What it reads, one after the other; `None` is all features of all arguments.
    pub inputs: Option<Vec<Input>>,
    /// Whether the weights of the output layer start at 0, so that all classes are equally likely at first. `None`: for a softmax whose
    /// classes only guards tell apart ([`Theory::classes_are_only_guarded`](logltn::Theory::classes_are_only_guarded)).
    pub undecided: Option<bool>,
    /// Where it is described.
    pub place: Place,
}

/// One input of a network: `x`, `x.position`, `type(x)`, `stop(…)`, `containment(x.position, y.position)`.
#[derive(Clone, Debug)]
pub struct Input {
    /// What [`InputExpr`](crate::InputExpr) reads.
    pub text: String,
    /// Where it is written.
    pub place: Place,
}

impl Network {
    /// These hidden layers.
    pub fn layers(layers: impl Into<Vec<LayerSpec>>) -> Network {
        Network {
            layers: layers.into(),
            ..Network::default()
        }
    }

    /// Dense layers of these widths, each followed by the activation. No widths: a linear model.
    pub fn mlp(widths: &[usize], activation: Activation) -> Network {
        let layer = |&width: &usize| [LayerSpec::Dense(width), LayerSpec::Activation(activation)];
        Network::layers(widths.iter().flat_map(layer).collect::<Vec<_>>())
    }

    /// The paper's convolutional network for pictures of digits.
    pub fn lenet() -> Network {
        let mut layers = logltn_nn::lenet(1).layers;
        layers.pop(); // its output layer
        Network::layers(layers)
    }

    /// Reads these instead of all features of all arguments. Arguments go by the names given with
    /// [`Behind::args`](crate::Behind::args).
    pub fn inputs<I: Into<String>>(self, inputs: impl IntoIterator<Item = I>) -> Network {
        let input = |text: I| Input {
            text: text.into(),
            place: Place::default(),
        };
        Network {
            inputs: Some(inputs.into_iter().map(input).collect()),
            ..self
        }
    }

    /// At first, all classes are equally likely.
    pub fn undecided(self) -> Network {
        Network {
            undecided: Some(true),
            ..self
        }
    }
}
