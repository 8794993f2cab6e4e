//! What a network is made of, before there are any numbers.

use std::error::Error;
use std::fmt;

use crate::activation::Activation;

/// The shape of what goes into a layer or comes out of it, for one row of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// This many numbers.
    Flat(usize),
    /// An image, stored channel by channel, row by row.
    Image {
        /// The number of channels.
        channels: usize,
        /// The number of rows of pixels.
        height: usize,
        /// The number of columns of pixels.
        width: usize,
    },
}

impl Shape {
    /// The number of numbers; the greatest `usize` if there are more.
    pub fn len(self) -> usize {
        match self {
            Self::Flat(length) => length,
            Self::Image {
                channels,
                height,
                width,
            } => channels.saturating_mul(height).saturating_mul(width),
        }
    }

    /// Whether there are not numbers at all, which no network accepts.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat(1) => write!(f, "1 number"),
            Self::Flat(length) => write!(f, "{length} numbers"),
            Self::Image {
                channels,
                height,
                width,
            } => write!(f, "a {channels}×{height}×{width} image"),
        }
    }
}

/// One layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LayerSpec {
    /// This many outputs, each a weighted sum of all inputs plus a bias.
    Dense(usize),
    /// A convolution with square kernels, stride 1, no padding: the image shrinks by `kernel` − 1.
    Conv {
        /// The number of channels of the output.
        filters: usize,
        /// The number of rows and of columns of a kernel.
        kernel: usize,
    },
    /// The greatest of each tile of this many rows and columns. What is left over at the right and at the bottom
    /// is dropped.
    Pool(usize),
    /// An image becomes numbers: channel by channel, row by row.
    Flatten,
    /// A function of each number.
    Activation(Activation),
    /// In [`forward`](crate::Network::forward) this share of the numbers, each time others, becomes 0, and what is
    /// left grows so that the mean stays; in [`forward_only`](crate::Network::forward_only) nothing happens. From 0 up
    /// to 1, in steps of 2⁻¹⁶.
    Dropout(f32),
    /// Each number times `scale`, plus `shift`: from numbers around 0 to those of a target in its own units. Nothing of it
    /// is learnt.
    Affine {
        /// What each number is multiplied by.
        scale: f32,
        /// What is added then.
        shift: f32,
    },
}

impl LayerSpec {
    /// The shape of the output, or why there is none.
    pub fn output(self, input: Shape) -> Result<Shape, LayerError> {
        match (self, input) {
            (Self::Dense(0), _) | (Self::Conv { filters: 0, .. }, _) => Err(LayerError::NoOutputs),
            (Self::Conv { kernel: 0, .. } | Self::Pool(0), _) => Err(LayerError::NoSize),
            (Self::Dense(outputs), Shape::Flat(_)) => Ok(Shape::Flat(outputs)),
            (Self::Dense(_), Shape::Image { .. }) => Err(LayerError::NeedsNumbers(input)),
            (Self::Conv { .. } | Self::Pool(_), Shape::Flat(_)) => {
                Err(LayerError::NeedsImage(input))
            }
            (
                Self::Conv { kernel: size, .. } | Self::Pool(size),
                Shape::Image { height, width, .. },
            ) if size > height.min(width) => Err(LayerError::TooLarge { size, input }),
            (Self::Conv { filters, kernel }, Shape::Image { height, width, .. }) => {
                Ok(Shape::Image {
                    channels: filters,
                    height: height + 1 - kernel,
                    width: width + 1 - kernel,
                })
            }
            (
                Self::Pool(size),
                Shape::Image {
                    channels,
                    height,
                    width,
                },
            ) => Ok(Shape::Image {
                channels,
                height: height / size,
                width: width / size,
            }),
            (Self::Flatten, _) => Ok(Shape::Flat(input.len())),
            (Self::Dropout(rate), _) if !(0.0..1.0).contains(&rate) => Err(LayerError::NotAShare),
            (Self::Activation(_) | Self::Dropout(_) | Self::Affine { .. }, _) => Ok(input),
        }
    }

    /// Whether it reads an image alone.
    pub fn needs_image(self) -> bool {
        matches!(self.output(Shape::Flat(1)), Err(LayerError::NeedsImage(_)))
    }

    /// How many weights and biases it has.
    fn parameters(self, input: Shape) -> usize {
        match (self, input) {
            (LayerSpec::Dense(outputs), _) => (input.len() + 1).saturating_mul(outputs),
            // A kernel is no larger than the image that it goes over.
            (LayerSpec::Conv { filters, kernel }, Shape::Image { channels, .. }) => {
                (channels * kernel * kernel + 1).saturating_mul(filters)
            }
            _ => 0,
        }
    }
}

impl fmt::Display for LayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dense(outputs) => write!(f, "dense {outputs}"),
            Self::Conv { filters, kernel } => write!(f, "conv {filters}×{kernel}×{kernel}"),
            Self::Pool(size) => write!(f, "pool {size}"),
            Self::Flatten => write!(f, "flatten"),
            Self::Activation(activation) => write!(f, "{}", activation.name()),
            Self::Dropout(rate) => write!(f, "dropout {rate}"),
            Self::Affine { scale, shift } => write!(f, "times {scale} plus {shift}"),
        }
    }
}

/// A network without its numbers.
///
/// ```
/// use logltn_nn::{Activation, NetworkSpec, Shape, mlp};
/// let spec: NetworkSpec = mlp(16, &[32, 32], 5, Activation::Elu);
/// assert_eq!(spec.output(), Ok(Shape::Flat(5)));
/// assert_eq!(spec.to_string(), "16 numbers → dense 32 → elu → dense 32 → elu → dense 5");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    /// What goes in, for one row of a batch.
    pub input: Shape,
    /// From the input to the output.
    pub layers: Vec<LayerSpec>,
}

impl NetworkSpec {
    /// The shape of the output, or the first layer that cannot be.
    pub fn output(&self) -> Result<Shape, SpecError> {
        self.shapes()
            .map(|shapes| *shapes.last().unwrap_or(&self.input))
    }

    /// How many parameters each layer has, or the first layer that cannot be.
    ///
    /// ```
    /// use logltn_nn::{Activation, mlp};
    /// assert_eq!(mlp(16, &[32], 5, Activation::Elu).parameters()?, [17 * 32, 0, 33 * 5]);
    /// # Ok::<(), logltn_nn::SpecError>(())
    /// ```
    pub fn parameters(&self) -> Result<Vec<usize>, SpecError> {
        let shapes = self.shapes()?;
        let layers = self.layers.iter().zip(&shapes);
        Ok(layers
            .map(|(layer, &input)| layer.parameters(input))
            .collect())
    }

    /// The shape of the input and of the output of each layer.
    pub(crate) fn shapes(&self) -> Result<Vec<Shape>, SpecError> {
        let mut shapes = vec![self.input];
        let mut shape = self.input;
        if shape.len() > MAX_SIZE || shape.is_empty() {
            return Err(SpecError::Input(shape));
        }
        for (index, &layer) in self.layers.iter().enumerate() {
            let error = |problem| SpecError::Layer {
                index,
                layer,
                problem,
            };
            let output = layer.output(shape).map_err(error)?;
            if output.len().max(layer.parameters(shape)) > MAX_SIZE {
                return Err(error(LayerError::TooManyNumbers));
            }
            shape = output;
            shapes.push(shape);
        }
        Ok(shapes)
    }
}

/// The most numbers in a row of anything, or parameters in a layer: 2³⁰, 4 GiB.
const MAX_SIZE: usize = 1 << 30;

impl fmt::Display for NetworkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.input)?;
        for layer in &self.layers {
            write!(f, " → {layer}")?;
        }
        Ok(())
    }
}

/// Dense layers with an activation after each but the last.
pub fn mlp(input: usize, hidden: &[usize], output: usize, activation: Activation) -> NetworkSpec {
    let mut layers = vec![];
    for &width in hidden {
        layers.push(LayerSpec::Dense(width));
        layers.push(LayerSpec::Activation(activation));
    }
    layers.push(LayerSpec::Dense(output));
    NetworkSpec {
        input: Shape::Flat(input),
        layers,
    }
}

/// The paper's network for digits: 1×28×28 images, two convolutions (6 and 16 filters of 5×5), each with ELU and
/// pooling by 2, dense layers of 100 and 84 with ELU, and `output` logits.
pub fn lenet(output: usize) -> NetworkSpec {
    let elu = LayerSpec::Activation(Activation::Elu);
    let conv = |filters| LayerSpec::Conv { filters, kernel: 5 };
    NetworkSpec {
        input: Shape::Image {
            channels: 1,
            height: 28,
            width: 28,
        },
        layers: vec![
            conv(6),
            elu,
            LayerSpec::Pool(2),
            conv(16),
            elu,
            LayerSpec::Pool(2),
            LayerSpec::Flatten,
            LayerSpec::Dense(100),
            elu,
            LayerSpec::Dense(84),
            elu,
            LayerSpec::Dense(output),
        ],
    }
}

/// Why a specification makes no network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpecError {
    /// The input is empty or too large.
    Input(Shape),
    /// A layer cannot have the input that it gets.
    Layer {
        /// Which layer, from 0.
        index: usize,
        /// The layer.
        layer: LayerSpec,
        /// What is wrong with it.
        problem: LayerError,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(shape) if shape.is_empty() => {
                write!(
                    f,
                    "the input of a network cannot be {shape}: there is nothing in it"
                )
            }
            Self::Input(shape) => write!(f, "{shape} is too large an input for a network"),
            Self::Layer {
                index,
                layer,
                problem,
            } => write!(
                f,
                "layer {} of the network, `{layer}`, {problem}",
                index + 1
            ),
        }
    }
}

impl Error for SpecError {}

/// Why a layer cannot be. Its words go after “layer 3, `pool 2`, ”.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerError {
    /// A dense layer without outputs or a convolution without filters.
    NoOutputs,
    /// A kernel or pooling tile of size 0.
    NoSize,
    /// A dense layer on an image.
    NeedsNumbers(Shape),
    /// A convolution or pooling on something flat.
    NeedsImage(Shape),
    /// A kernel or pooling tile that is larger than the image.
    TooLarge {
        /// Of the kernel or the tile.
        size: usize,
        /// What it should go over.
        input: Shape,
    },
    /// Dropout of less than nothing, or of everything.
    NotAShare,
    /// More than 2³⁰ parameters, or numbers per row.
    TooManyNumbers,
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOutputs => write!(f, "has no outputs: it needs at least 1"),
            Self::NoSize => write!(f, "has size 0: it needs at least 1"),
            Self::NeedsNumbers(input) => write!(
                f,
                "gets {input} but works on flat input: put `flatten` before it"
            ),
            Self::NeedsImage(input) => write!(
                f,
                "gets {input} but works on images: give the network an image as input, and flatten after this layer"
            ),
            Self::TooLarge { size, input } => write!(
                f,
                "goes over {size}×{size} pixels, but gets only {input}: make it smaller or have fewer layers before it"
            ),
            Self::NotAShare => write!(f, "cannot drop that share: it is at least 0 and below 1"),
            Self::TooManyNumbers => write!(f, "would have more than 2^30 numbers"),
        }
    }
}

impl Error for LayerError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_lenet() {
        let shapes = lenet(10).shapes().unwrap();
        let text: Vec<String> = shapes.iter().map(Shape::to_string).collect();
        assert_eq!(
            text,
            [
                "a 1×28×28 image",
                "a 6×24×24 image",
                "a 6×24×24 image",
                "a 6×12×12 image",
                "a 16×8×8 image",
                "a 16×8×8 image",
                "a 16×4×4 image",
                "256 numbers",
                "100 numbers",
                "100 numbers",
                "84 numbers",
                "84 numbers",
                "10 numbers"
            ]
        );
    }

    #[test]
    fn words_for_the_impossible() {
        let says = |input, layers: &[LayerSpec], words: &str| {
            let spec = NetworkSpec {
                input,
                layers: layers.to_vec(),
            };
            assert_eq!(spec.output().unwrap_err().to_string(), words);
        };
        let image = |channels, height, width| Shape::Image {
            channels,
            height,
            width,
        };
        let conv = |filters, kernel| LayerSpec::Conv { filters, kernel };
        says(
            Shape::Flat(0),
            &[],
            "the input of a network cannot be 0 numbers: there is nothing in it",
        );
        says(
            image(usize::MAX, 2, 1),
            &[],
            &format!(
                "a {}×2×1 image is too large an input for a network",
                usize::MAX
            ),
        );
        says(
            Shape::Flat(4),
            &[LayerSpec::Dense(0)],
            "layer 1 of the network, `dense 0`, has no outputs: it needs at least 1",
        );
        says(
            image(1, 4, 4),
            &[LayerSpec::Pool(0)],
            "layer 1 of the network, `pool 0`, has size 0: it needs at least 1",
        );
        says(
            image(1, 4, 4),
            &[conv(2, 3), LayerSpec::Dense(3)],
            "layer 2 of the network, `dense 3`, gets a 2×2×2 image but works on flat input: put `flatten` before it",
        );
        says(
            Shape::Flat(16),
            &[conv(2, 3)],
            "layer 1 of the network, `conv 2×3×3`, gets 16 numbers but works on images: give the network an image as \
             input, and flatten after this layer",
        );
        says(
            image(1, 4, 9),
            &[conv(2, 5)],
            "layer 1 of the network, `conv 2×5×5`, goes over 5×5 pixels, but gets only a 1×4×9 image: make it smaller \
             or have fewer layers before it",
        );
        says(
            Shape::Flat(4),
            &[LayerSpec::Dropout(1.0)],
            "layer 1 of the network, `dropout 1`, cannot drop that share: it is at least 0 and below 1",
        );
        says(
            Shape::Flat(1 << 20),
            &[LayerSpec::Dense(1 << 20)],
            "layer 1 of the network, `dense 1048576`, would have more than 2^30 numbers",
        );
    }
}
