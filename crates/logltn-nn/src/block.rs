//! One block of rows goes through the network, forward and back.

use crate::buffer::{Floats, LANES};
use crate::compile::{Convolution, Operation, OperationKind, Piece, Program};
use crate::convolution::{ConvolutionTask, WeightGradientTask};
use crate::dropout::Draw;
use crate::extent::Extent;
use crate::packed::Packed;
use crate::planes::{planes_from_rows, rows_from_planes};
use crate::processor::Processor;
use crate::product::{PANEL, Start};
use crate::spec::Shape;

/// The state of a block of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// The place of its first row in the batch.
    pub first_row: usize,
    /// The number of rows; the last block of a batch may have fewer than the others.
    rows: usize,
    /// The input and the output of every operation.
    values: Floats,
    /// The gradients by all of these, once the way back has begun.
    by_values: Floats,
    /// For each pooled pixel, which of its tile won.
    winners: Vec<u32>,
}

/// What all blocks share.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub program: &'a Program,
    pub processor: Processor,
    pub parameters: &'a [f32],
    pub packed: &'a Packed,
    /// What dropout depends on; `None` disables dropout.
    pub draw: Option<Draw>,
}

impl Block {
    /// From rows of input to rows of output.
    pub fn forward(
        &mut self,
        shared: Shared,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut [f32],
    ) {
        let program = shared.program;
        self.values.grow(program.block_length);
        if self.winners.len() < program.winners {
            self.winners.resize(program.winners, 0);
        }
        self.rows = input.len() / program.input.shape.len();
        let start = &mut self.values[program.input.range()];
        from_callers_rows(input, program.input, self.rows, start);
        for operation in &program.operations {
            self.forward_through(operation, shared, scratch);
        }
        let end = &self.values[program.output.range()];
        to_callers_rows(end, program.output, self.rows, output);
    }

    fn forward_through(&mut self, operation: &Operation, shared: Shared, scratch: &mut [f32]) {
        let processor = shared.processor;
        // Places are handed out in order: the input is before the output.
        let (before, after) = self.values.split_at_mut(operation.output.start);
        let input = &before[operation.input.range()];
        let output = &mut after[..operation.output.length];
        match &operation.kind {
            OperationKind::Dense(dense) => dense.forward(
                processor,
                shared.packed.forward(),
                self.rows,
                (input, operation.input.stride()),
                (output, operation.output.stride()),
            ),
            OperationKind::Convolution(convolution) => {
                let mut task = ConvolutionTask {
                    input,
                    channels: convolution.channels,
                    height: convolution.height,
                    width: convolution.width,
                    weights: &shared.parameters[convolution.weights.clone()],
                    kernel: convolution.kernel,
                    bias: Some(&shared.parameters[convolution.bias.clone()]),
                    rows_not_stored: 0,
                    output: &mut [],
                    filters: convolution.filters,
                };
                if let Some(pool) = &convolution.pool {
                    let planes = convolution.filters * pool.height * pool.width * LANES;
                    task.output = &mut scratch[..planes];
                    processor.convolve(&mut task);
                    let winners = &mut self.winners[pool.winners.clone()];
                    let between = &scratch[..planes];
                    processor.pool(between, pool.shape(), output, winners);
                } else {
                    task.output = output;
                    processor.convolve(&mut task);
                }
            }
            OperationKind::Pool(pool) => {
                let winners = &mut self.winners[pool.winners.clone()];
                processor.pool(input, pool.shape(), output, winners);
            }
            OperationKind::Flatten => {
                let (length, stride) = (operation.input.shape.len(), operation.output.stride());
                rows_from_planes(input, length, self.rows, output, stride);
            }
            OperationKind::Copy => output.copy_from_slice(input),
            OperationKind::Affine(scale, shift) => {
                for (y, x) in output.iter_mut().zip(input) {
                    *y = x * scale + shift;
                }
            }
            OperationKind::Dropout(dropout) => {
                output.copy_from_slice(input);
                if let Some(draw) = shared.draw {
                    dropout.apply(draw, operation.output, self.first_row, self.rows, output);
                }
            }
        }
        if let Some(activation) = operation.activation {
            let output = &mut self.values[operation.output.range()];
            activation.apply(&mut output[..operation.output.used(self.rows)]);
        }
    }

    /// From the gradient by the output to the gradients by the parameters, which are added to `partial` (except for
    /// the [`Piece`]s), and by the input.
    pub fn backward(
        &mut self,
        shared: Shared,
        by_output: &[f32],
        by_input: Option<&mut [f32]>,
        partial: &mut [f32],
        scratch: &mut [f32],
    ) {
        let program = shared.program;
        self.by_values.grow(program.block_length);
        let end = &mut self.by_values[program.output.range()];
        from_callers_rows(by_output, program.output, self.rows, end);
        for (index, operation) in program.operations.iter().enumerate().rev() {
            let needed = index > 0 || by_input.is_some();
            self.backward_through(operation, needed, shared, partial, scratch);
        }
        if let Some(by_input) = by_input {
            let start = &self.by_values[program.input.range()];
            to_callers_rows(start, program.input, self.rows, by_input);
        }
    }

    fn backward_through(
        &mut self,
        operation: &Operation,
        by_input_needed: bool,
        shared: Shared,
        partial: &mut [f32],
        scratch: &mut [f32],
    ) {
        let processor = shared.processor;
        let (before, after) = self.by_values.split_at_mut(operation.output.start);
        let by_input = &mut before[operation.input.range()];
        let by_output = &mut after[..operation.output.length];
        let input = &self.values[operation.input.range()];
        if let Some(activation) = operation.activation {
            let used = operation.output.used(self.rows);
            let output = &self.values[operation.output.range()][..used];
            processor.times_derivative(&mut by_output[..used], output, activation);
        }
        match &operation.kind {
            OperationKind::Dense(dense) => {
                let stride = operation.output.stride();
                let bias = &mut partial[dense.partial_bias.clone()];
                for row in by_output.chunks_exact(stride).take(self.rows) {
                    processor.add(bias, &row[..dense.outputs]);
                }
                if let Some(weights) = dense.partial_weights.clone() {
                    let gradients = &mut partial[weights];
                    let all = 0..dense.outputs;
                    for first in (0..dense.inputs).step_by(PANEL) {
                        dense.weight_gradient(
                            processor,
                            self.rows,
                            (input, operation.input.stride()),
                            (by_output, stride),
                            (all.clone(), first),
                            Start::Result,
                            gradients,
                        );
                    }
                }
                if by_input_needed {
                    dense.input_gradient(
                        processor,
                        shared.packed.back(),
                        self.rows,
                        (by_output, stride),
                        (by_input, operation.input.stride()),
                    );
                }
            }
            OperationKind::Convolution(convolution) => {
                let by_input = by_input_needed.then_some(by_input);
                // Without margins and pooling, what is there can be used as it is.
                let by_planes = if convolution.pool.is_some() || by_input_needed {
                    let margin = convolution.margin(by_input_needed);
                    convolution.spread(processor, by_output, &self.winners, margin, scratch)
                } else {
                    by_output
                };
                convolution.backward(shared, input, by_planes, by_input, partial);
            }
            OperationKind::Pool(pool) => {
                if by_input_needed {
                    let winners = &self.winners[pool.winners.clone()];
                    processor.unpool(by_output, winners, pool.shape(), 0, by_input);
                }
            }
            OperationKind::Flatten => {
                if by_input_needed {
                    let (length, stride) = (operation.input.shape.len(), operation.output.stride());
                    planes_from_rows(by_output, stride, self.rows, length, by_input);
                }
            }
            OperationKind::Copy => by_input.copy_from_slice(by_output),
            OperationKind::Affine(scale, _) => {
                for (x, y) in by_input.iter_mut().zip(by_output) {
                    *x = *y * scale;
                }
            }
            OperationKind::Dropout(dropout) => {
                by_input.copy_from_slice(by_output);
                if let Some(draw) = shared.draw {
                    // The slope of a product by a number that does not depend on the input is that number.
                    dropout.apply(draw, operation.input, self.first_row, self.rows, by_input);
                }
            }
        }
    }

    /// Adds what the rows of this block give to the gradients of a piece, for the inputs from `first` on; or stores it,
    /// if there is nothing yet to add it to.
    pub fn add_piece(
        &self,
        shared: Shared,
        piece: &Piece,
        first: usize,
        start: Start,
        gradients: &mut [f32],
    ) {
        let operation = &shared.program.operations[piece.operation];
        if let OperationKind::Dense(dense) = &operation.kind {
            dense.weight_gradient(
                shared.processor,
                self.rows,
                (
                    &self.values[operation.input.range()],
                    operation.input.stride(),
                ),
                (
                    &self.by_values[operation.output.range()],
                    operation.output.stride(),
                ),
                (piece.outputs.clone(), first),
                start,
                gradients,
            );
        }
    }
}

impl Convolution {
    /// The columns of zeros that the gradient by the output needs on both sides, if it is to go on to the input.
    fn margin(&self, by_input_needed: bool) -> usize {
        if by_input_needed { self.kernel - 1 } else { 0 }
    }

    /// The gradient by the output before pooling, with margins.
    fn spread<'a>(
        &self,
        processor: Processor,
        by_output: &[f32],
        winners: &[u32],
        margin: usize,
        scratch: &'a mut [f32],
    ) -> &'a [f32] {
        let (height, width) = (self.height + 1 - self.kernel, self.width + 1 - self.kernel);
        let stride = (width + 2 * margin) * LANES;
        let planes = &mut scratch[..self.filters * height * stride];
        if let Some(pool) = &self.pool {
            let winners = &winners[pool.winners.clone()];
            processor.unpool(by_output, winners, pool.shape(), margin, planes);
        } else {
            let rows = planes.chunks_exact_mut(stride);
            for (to, from) in rows.zip(by_output.chunks_exact(width * LANES)) {
                let (left, rest) = to.split_at_mut(margin * LANES);
                let (middle, right) = rest.split_at_mut(from.len());
                left.fill(0.0);
                middle.copy_from_slice(from);
                right.fill(0.0);
            }
        }
        planes
    }

    fn backward(
        &self,
        shared: Shared,
        input: &[f32],
        by_planes: &[f32],
        by_input: Option<&mut [f32]>,
        partial: &mut [f32],
    ) {
        let margin = self.margin(by_input.is_some());
        // Weights and bias lie next to each other.
        let (weights, bias) = partial[self.partial_weights.start..self.partial_bias.end]
            .split_at_mut(self.partial_weights.len());
        shared
            .processor
            .convolution_weight_gradient(&mut WeightGradientTask {
                input,
                channels: self.channels,
                height: self.height,
                width: self.width,
                by_output: by_planes,
                margin,
                filters: self.filters,
                kernel: self.kernel,
                weights,
                bias,
            });
        if let Some(by_input) = by_input {
            shared.processor.convolve(&mut ConvolutionTask {
                input: by_planes,
                channels: self.filters,
                height: self.height + 1 - self.kernel,
                width: self.width + 1 - self.kernel + 2 * margin,
                weights: &shared.packed.back()[self.turned_weights.clone()],
                kernel: self.kernel,
                bias: None,
                rows_not_stored: margin,
                output: by_input,
                filters: self.channels,
            });
        }
    }
}

/// From the caller's rows, which have no gaps, to where the network wants them.
fn from_callers_rows(input: &[f32], place: Extent, rows: usize, to: &mut [f32]) {
    let length = place.shape.len();
    if let Shape::Image { .. } = place.shape {
        planes_from_rows(input, length, rows, length, to);
        return;
    }
    let to = to.chunks_exact_mut(place.stride());
    for (to, from) in to.zip(input.chunks_exact(length)).take(rows) {
        let (used, rest) = to.split_at_mut(length);
        used.copy_from_slice(from);
        rest.fill(0.0);
    }
}

/// The other way.
fn to_callers_rows(from: &[f32], place: Extent, rows: usize, output: &mut [f32]) {
    let length = place.shape.len();
    if let Shape::Image { .. } = place.shape {
        rows_from_planes(from, length, rows, output, length);
        return;
    }
    let from = from.chunks_exact(place.stride());
    for (to, from) in output.chunks_exact_mut(length).zip(from).take(rows) {
        to.copy_from_slice(&from[..length]);
    }
}
