//! What a dense layer does to a block of rows.

use std::ops::Range;

use crate::compile::Dense;
use crate::processor::Processor;
use crate::product::{PANEL, ProductTask, Start, panel_width};

impl Dense {
    /// output = input · weightsᵀ + bias
    pub fn forward(
        &self,
        processor: Processor,
        packed: &[f32],
        rows: usize,
        (input, input_stride): (&[f32], usize),
        (output, output_stride): (&mut [f32], usize),
    ) {
        let weights = &packed[self.packed_weights.clone()];
        let bias = &packed[self.packed_bias.clone()];
        for first in (0..self.outputs).step_by(PANEL) {
            // The columns that fill up the last vector are computed too: weights and bias are 0 there.
            let width = panel_width(self.outputs, first);
            processor.product(&mut ProductTask {
                rows,
                depth: self.inputs,
                columns: width,
                a: input,
                a_row: input_stride,
                a_depth: 1,
                b: &weights[first * self.inputs..],
                b_depth: width,
                start: Start::Bias(&bias[first..]),
                c: &mut output[first..],
                c_row: output_stride,
            });
        }
    }

    /// by_input = by_output · weights
    pub fn input_gradient(
        &self,
        processor: Processor,
        packed: &[f32],
        rows: usize,
        (by_output, output_stride): (&[f32], usize),
        (by_input, input_stride): (&mut [f32], usize),
    ) {
        let weights = &packed[self.packed_weights_back.clone()];
        for first in (0..self.inputs).step_by(PANEL) {
            let width = panel_width(self.inputs, first);
            processor.product(&mut ProductTask {
                rows,
                depth: self.outputs,
                columns: width,
                a: by_output,
                a_row: output_stride,
                a_depth: 1,
                b: &weights[first * self.outputs..],
                b_depth: width,
                start: Start::Zero,
                c: &mut by_input[first..],
                c_row: input_stride,
            });
        }
    }

    /// gradients = start + by_outputᵀ · input, for some of the outputs and the inputs from `first` on, at most a panel.
    #[allow(clippy::too_many_arguments)] // two matrices, the place in them, and where the result goes
    pub fn weight_gradient(
        &self,
        processor: Processor,
        rows: usize,
        (input, input_stride): (&[f32], usize),
        (by_output, output_stride): (&[f32], usize),
        (outputs, first): (Range<usize>, usize),
        start: Start,
        gradients: &mut [f32],
    ) {
        processor.product(&mut ProductTask {
            rows: outputs.len(),
            depth: rows,
            columns: PANEL.min(self.inputs - first),
            a: &by_output[outputs.start..],
            a_row: 1,
            a_depth: output_stride,
            b: &input[first..],
            b_depth: input_stride,
            start,
            c: &mut gradients[first..],
            c_row: self.inputs,
        });
    }
}
