//! From a specification to operations on blocks of rows, with a place for everything.
//!
//! A batch is cut into blocks of rows, and a block goes through all layers before the next one begins, so that it stays
//! in cache. Flat things lie row after row, each filled up to whole vectors. Images lie as planes of vectors of 16 rows
//! of the batch, see [`crate::convolution`].
//!
//! Two things are rearranged. An activation belongs to the operation before it. And where an activation is followed by
//! pooling, pooling goes first: activations are monotone, so the result is the same, for a quarter of the work.

use std::ops::Range;

use crate::activation::Activation;
use crate::buffer::{LANES, whole_vectors};
use crate::dropout::Dropout;
use crate::extent::Extent;
use crate::product::{PANEL, packed_length, panel_width};
use crate::spec::{LayerSpec, NetworkSpec, Shape, SpecError};
use crate::tensor::Tensor;

/// Dense layers with more weights than this have the gradient of their weights computed in pieces, each for all rows;
/// others in blocks of rows, each for all weights, summed up afterwards.
const FEW_WEIGHTS: usize = 4096;

/// The most rows of a block of flat things, and their number where blocks are not shared among threads. Divided by 2,
/// and the latter by 6, 8 and 12: the rows of the tiles of products.
const FLAT_ROWS: usize = 64;
const FLAT_ROWS_ALONE: usize = 48;

/// With fewer multiplications than this in a batch, waking other threads costs more than it gains.
const PARALLEL_WORK: usize = 1_000_000;

/// A network, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub input: Extent,
    pub output: Extent,
    pub operations: Vec<Operation>,
    /// All parameters by name, in their order.
    pub tensors: Vec<Tensor>,
    /// How many parameters there are.
    pub parameters: usize,
    /// The most rows of a block.
    pub block_rows: usize,
    /// The number of floats for all places of one block.
    pub block_length: usize,
    /// The number of pooled pixels of one block.
    pub winners: usize,
    /// The number of floats of packed weights, for the way forward and for the way back.
    pub packed: usize,
    pub packed_back: usize,
    /// Both in panels, in the order of the operations.
    pub panels: Vec<Panel>,
    pub panels_back: Vec<Panel>,
    /// The weights, with the fan-in and fan-out of each.
    pub weights: Vec<(Range<usize>, [usize; 2])>,
    /// The number of gradients that are first computed block by block.
    pub partial: usize,
    /// Which of the parameters each of these is of.
    pub summed: Vec<(Range<usize>, Range<usize>)>,
    /// The number of floats that an operation may need while it runs.
    pub scratch: usize,
    /// Pieces of the gradients that are computed for all rows, in the order of the parameters.
    pub pieces: Vec<Piece>,
    /// The number of multiplications for one row, forward.
    pub work: usize,
}

/// One operation, and the activation after it.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub kind: OperationKind,
    pub activation: Option<Activation>,
    pub input: Extent,
    pub output: Extent,
}

#[derive(Clone, Debug)]
pub(crate) enum OperationKind {
    Dense(Dense),
    Convolution(Convolution),
    Pool(Pool),
    /// From planes of vectors to rows.
    Flatten,
    /// Nothing but the activation.
    Copy,
    /// What is kept grows, the rest is 0; without training, nothing.
    Dropout(Dropout),
    /// Each number times the first, plus the second.
    Affine(f32, f32),
}

#[derive(Clone, Debug)]
pub(crate) struct Dense {
    pub inputs: usize,
    pub outputs: usize,
    /// Among the parameters: outputs × inputs.
    pub weights: Range<usize>,
    /// Among the parameters.
    pub bias: Range<usize>,
    /// Among the packed: the weights and the bias for the way forward.
    pub packed_weights: Range<usize>,
    pub packed_bias: Range<usize>,
    /// Among those for the way back: the weights.
    pub packed_weights_back: Range<usize>,
    /// Among the partial gradients; none if the weights are many.
    pub partial_weights: Option<Range<usize>>,
    pub partial_bias: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    pub channels: usize,
    pub height: usize,
    pub width: usize,
    pub filters: usize,
    pub kernel: usize,
    /// Among the parameters: filters × channels × kernel × kernel.
    pub weights: Range<usize>,
    /// Among the parameters.
    pub bias: Range<usize>,
    /// Among those packed for the way back: the weights.
    pub turned_weights: Range<usize>,
    /// Among the partial gradients.
    pub partial_weights: Range<usize>,
    pub partial_bias: Range<usize>,
    /// Pooling of the output, if it follows.
    pub pool: Option<Pool>,
}

/// Pooling of planes.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub size: usize,
    /// The height and width of the planes that go in.
    pub height: usize,
    pub width: usize,
    /// Among the winners.
    pub winners: Range<usize>,
}

impl Pool {
    /// The height and width of the planes that go in, and the size.
    pub fn shape(&self) -> (usize, usize, usize) {
        (self.height, self.width, self.size)
    }
}

/// Some outputs of a dense layer, the gradients of whose weights are computed together for all rows.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Which of the operations, a [`Dense`] one.
    pub operation: usize,
    pub outputs: Range<usize>,
    /// Among the parameters.
    pub weights: Range<usize>,
}

/// Some columns of a dense layer's packed weights, for one of the two ways.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Which of the operations, a [`Dense`] one.
    pub operation: usize,
    /// The first column: an output on the way forward, an input on the way back.
    pub first: usize,
    /// Among the packed.
    pub packed: Range<usize>,
}

/// The next range of this length.
fn take(counter: &mut usize, length: usize) -> Range<usize> {
    let start = *counter;
    *counter += length;
    start..*counter
}

/// A range that begins with a whole vector.
fn take_vectors(counter: &mut usize, length: usize) -> Range<usize> {
    let start = take(counter, whole_vectors(length)).start;
    start..start + length
}

impl Program {
    pub fn new(spec: &NetworkSpec) -> Result<Self, SpecError> {
        let shapes = spec.shapes()?;
        let nowhere = Extent {
            shape: spec.input,
            start: 0,
            length: 0,
        };
        let mut program = Self {
            input: nowhere,
            output: nowhere,
            operations: vec![],
            tensors: vec![],
            parameters: 0,
            block_rows: match spec.input {
                Shape::Image { .. } => LANES,
                Shape::Flat(_) => FLAT_ROWS,
            },
            block_length: 0,
            winners: 0,
            packed: 0,
            packed_back: 0,
            panels: vec![],
            panels_back: vec![],
            weights: vec![],
            partial: 0,
            summed: vec![],
            scratch: 0,
            pieces: vec![],
            work: 0,
        };
        program.input = program.place(spec.input);
        program.output = program.input;
        let mut at = 0;
        while at < spec.layers.len() {
            let (operation, used) = program.operation(&spec.layers, &shapes, at);
            at += used;
            if let Some(operation) = operation {
                program.output = operation.output;
                program.operations.push(operation);
            }
        }
        Ok(program)
    }

    /// Whether a batch of this many rows is work for several threads.
    pub fn is_parallel(&self, rows: usize) -> bool {
        self.work.saturating_mul(rows) >= PARALLEL_WORK
    }

    /// The number of rows in each block of a batch, except for the last. Work for several threads is cut into an
    /// even number of blocks of about one size, so that two of them have the same to do.
    pub fn rows_in_block(&self, rows: usize) -> usize {
        match self.input.shape {
            Shape::Image { .. } => self.block_rows,
            Shape::Flat(_) if !self.is_parallel(rows) => FLAT_ROWS_ALONE,
            Shape::Flat(_) => {
                let pairs = rows.div_ceil(2 * self.block_rows).max(1);
                // An even number of rows, as there is a tile of two.
                rows.div_ceil(2 * pairs).next_multiple_of(2).max(2)
            }
        }
    }

    fn place(&mut self, shape: Shape) -> Extent {
        let length = match shape {
            Shape::Flat(length) => self.block_rows * whole_vectors(length),
            Shape::Image { .. } => LANES * shape.len(),
        };
        Extent {
            shape,
            start: take(&mut self.block_length, length).start,
            length,
        }
    }

    /// The operation that layer `at` begins, if it does anything, and the number of layers it comprises.
    fn operation(
        &mut self,
        layers: &[LayerSpec],
        shapes: &[Shape],
        at: usize,
    ) -> (Option<Operation>, usize) {
        let activation_at = |at: usize| match layers.get(at) {
            Some(&LayerSpec::Activation(activation)) => Some(activation),
            _ => None,
        };
        let pool_at = |at: usize| match layers.get(at) {
            Some(&LayerSpec::Pool(size)) => Some(size),
            _ => None,
        };
        let shape = shapes[at];
        let mut used = 1;
        let (kind, activation) = match (layers[at], shape) {
            (LayerSpec::Dense(outputs), _) => {
                let activation = activation_at(at + 1);
                used += usize::from(activation.is_some());
                (
                    OperationKind::Dense(self.dense(shape.len(), outputs, at)),
                    activation,
                )
            }
            (
                LayerSpec::Conv { filters, kernel },
                Shape::Image {
                    channels,
                    height,
                    width,
                },
            ) => {
                let mut convolution =
                    self.convolution(channels, height, width, filters, kernel, at);
                let activation_first = activation_at(at + 1);
                let pool_place = at + 1 + usize::from(activation_first.is_some());
                let mut activation = activation_first;
                if let Some(size) = pool_at(pool_place) {
                    convolution.pool = Some(self.pool(shapes[pool_place], size));
                    used = pool_place + 1 - at;
                    if activation.is_none() {
                        activation = activation_at(pool_place + 1);
                        used += usize::from(activation.is_some());
                    }
                } else {
                    used += usize::from(activation.is_some());
                }
                (OperationKind::Convolution(convolution), activation)
            }
            (LayerSpec::Pool(size), _) => {
                let activation = activation_at(at + 1);
                used += usize::from(activation.is_some());
                (OperationKind::Pool(self.pool(shape, size)), activation)
            }
            (LayerSpec::Flatten, Shape::Image { .. }) => (OperationKind::Flatten, None),
            (LayerSpec::Activation(activation), _) => match pool_at(at + 1) {
                Some(size) => {
                    used += 1;
                    (
                        OperationKind::Pool(self.pool(shape, size)),
                        Some(activation),
                    )
                }
                None => (OperationKind::Copy, Some(activation)),
            },
            (LayerSpec::Affine { scale, shift }, _) => (OperationKind::Affine(scale, shift), None),
            (LayerSpec::Dropout(rate), _) => (OperationKind::Dropout(Dropout::new(rate, at)), None),
            // Flat already; a convolution of something flat is an error of the specification.
            (LayerSpec::Flatten | LayerSpec::Conv { .. }, Shape::Flat(_)) => return (None, 1),
        };
        let operation = Operation {
            kind,
            activation,
            input: self.output,
            output: self.place(shapes[at + used]),
        };
        (Some(operation), used)
    }

    /// A tensor of the next parameters.
    fn tensor(&mut self, layer: usize, name: &str, shape: &[usize]) -> Range<usize> {
        let range = take(&mut self.parameters, shape.iter().product());
        self.tensors.push(Tensor {
            name: format!("{layer}.{name}"),
            shape: shape.to_vec(),
            range: range.clone(),
        });
        range
    }

    /// Room for the gradients by these parameters that are first computed block by block.
    fn partial(&mut self, of: &Range<usize>) -> Range<usize> {
        let partial = take(&mut self.partial, of.len());
        self.summed.push((of.clone(), partial.clone()));
        partial
    }

    fn dense(&mut self, inputs: usize, outputs: usize, layer: usize) -> Dense {
        let weights = self.tensor(layer, "weight", &[outputs, inputs]);
        let partial_weights = if weights.len() <= FEW_WEIGHTS {
            Some(self.partial(&weights))
        } else {
            for first in (0..outputs).step_by(PANEL) {
                let end = outputs.min(first + PANEL);
                self.pieces.push(Piece {
                    operation: self.operations.len(),
                    outputs: first..end,
                    weights: weights.start + first * inputs..weights.start + end * inputs,
                });
            }
            None
        };
        self.weights.push((weights.clone(), [inputs, outputs]));
        self.work += weights.len();
        let operation = self.operations.len();
        let packed_weights = take_vectors(&mut self.packed, packed_length(inputs, outputs));
        let packed_weights_back =
            take_vectors(&mut self.packed_back, packed_length(outputs, inputs));
        self.panels
            .extend(panels(operation, &packed_weights, inputs, outputs));
        self.panels_back
            .extend(panels(operation, &packed_weights_back, outputs, inputs));
        let bias = self.tensor(layer, "bias", &[outputs]);
        Dense {
            inputs,
            outputs,
            weights,
            packed_weights,
            packed_bias: take(&mut self.packed, whole_vectors(outputs)),
            packed_weights_back,
            partial_weights,
            partial_bias: self.partial(&bias),
            bias,
        }
    }

    fn convolution(
        &mut self,
        channels: usize,
        height: usize,
        width: usize,
        filters: usize,
        kernel: usize,
        layer: usize,
    ) -> Convolution {
        let weights = self.tensor(layer, "weight", &[filters, channels, kernel, kernel]);
        let (out_height, out_width) = (height + 1 - kernel, width + 1 - kernel);
        let with_margins = filters * out_height * (out_width + 2 * (kernel - 1)) * LANES;
        self.scratch = self.scratch.max(with_margins);
        self.work += weights.len() * out_height * out_width;
        let fans = [channels, filters].map(|planes| planes * kernel * kernel);
        self.weights.push((weights.clone(), fans));
        let bias = self.tensor(layer, "bias", &[filters]);
        Convolution {
            channels,
            height,
            width,
            filters,
            kernel,
            turned_weights: take_vectors(&mut self.packed_back, weights.len()),
            partial_weights: self.partial(&weights),
            partial_bias: self.partial(&bias),
            weights,
            bias,
            pool: None,
        }
    }

    fn pool(&mut self, input: Shape, size: usize) -> Pool {
        let (channels, height, width) = match input {
            Shape::Image {
                channels,
                height,
                width,
            } => (channels, height, width),
            Shape::Flat(length) => (length, 1, 1),
        };
        Pool {
            size,
            height,
            width,
            winners: take(
                &mut self.winners,
                channels * (height / size) * (width / size) * LANES,
            ),
        }
    }
}

/// The panels of packed weights.
fn panels(
    operation: usize,
    packed: &Range<usize>,
    depth: usize,
    columns: usize,
) -> impl Iterator<Item = Panel> {
    let start = packed.start;
    (0..columns).step_by(PANEL).map(move |first| {
        let begin = start + first * depth;
        Panel {
            operation,
            first,
            packed: begin..begin + panel_width(columns, first) * depth,
        }
    })
}
