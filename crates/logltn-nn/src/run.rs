//! A pass over the blocks of a batch, by as many threads as there are.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::block::{Block, Shared};
use crate::buffer::Floats;
use crate::compile::Piece;
use crate::product::{PANEL, Start};

/// A pass over the blocks of a batch. Work is split in halves again and again, at places that depend on the batch
/// alone; who does which half does not matter.
pub(crate) struct Run<'a> {
    pub shared: Shared<'a>,
    /// Memory for operations while they run, for each thread.
    pub scratch: &'a [Mutex<Floats>],
    /// Whether to share the work with other threads.
    pub parallel: bool,
    /// The number of rows in each block but the last.
    pub block_rows: usize,
    /// Whether the result is no longer wanted.
    pub stop: &'a AtomicBool,
}

impl Run<'_> {
    fn both(&self, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
        if self.parallel {
            rayon::join(one, other);
        } else {
            one();
            other();
        }
    }

    /// Runs `work` with this thread's memory. The lock is always free: a thread does one thing at a time.
    fn with_scratch(&self, work: impl FnOnce(&mut [f32])) {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.scratch.len();
        let mut scratch = self.scratch[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        work(&mut scratch);
    }

    /// Rows of input go through the blocks, and become rows of output.
    pub fn forward(&self, blocks: &mut [Block], input: &[f32], output: &mut [f32]) {
        let program = self.shared.program;
        match blocks {
            [] => {}
            _ if self.stop.load(Relaxed) => {}
            [block] => self.with_scratch(|scratch| {
                block.forward(self.shared, input, output, scratch);
            }),
            _ => {
                let middle = blocks.len() / 2;
                let rows = middle * self.block_rows;
                let (blocks, other_blocks) = blocks.split_at_mut(middle);
                let (input, other_input) = input.split_at(rows * program.input.shape.len());
                let (output, other_output) = output.split_at_mut(rows * program.output.shape.len());
                self.both(
                    || self.forward(blocks, input, output),
                    || self.forward(other_blocks, other_input, other_output),
                );
            }
        }
    }

    /// The way back of all blocks; `partial` has a part for each `group` of them.
    pub fn backward(
        &self,
        blocks: &mut [Block],
        group: usize,
        by_output: &[f32],
        by_input: Option<&mut [f32]>,
        partial: &mut [f32],
    ) {
        let program = self.shared.program;
        let (inputs, outputs) = (program.input.shape.len(), program.output.shape.len());
        if blocks.len() <= group {
            partial.fill(0.0);
            let mut by_input = by_input;
            for (index, block) in blocks.iter_mut().enumerate() {
                if self.stop.load(Relaxed) {
                    return;
                }
                let first = index * self.block_rows;
                let end = (first + self.block_rows).min(by_output.len() / outputs);
                let by_output = &by_output[first * outputs..end * outputs];
                let by_input = by_input
                    .as_deref_mut()
                    .map(|by_input| &mut by_input[first * inputs..end * inputs]);
                self.with_scratch(|scratch| {
                    block.backward(self.shared, by_output, by_input, partial, scratch);
                });
            }
            return;
        }
        let groups = blocks.len().div_ceil(group) / 2;
        let rows = groups * group * self.block_rows;
        let (blocks, other_blocks) = blocks.split_at_mut(groups * group);
        let (by_output, other_by_output) = by_output.split_at(rows * outputs);
        let (by_input, other_by_input) = by_input
            .map(|by_input| by_input.split_at_mut(rows * inputs))
            .unzip();
        let (partial, other_partial) = partial.split_at_mut(groups * program.partial);
        self.both(
            || self.backward(blocks, group, by_output, by_input, partial),
            || {
                self.backward(
                    other_blocks,
                    group,
                    other_by_output,
                    other_by_input,
                    other_partial,
                )
            },
        );
    }

    /// Adds to the gradients of the pieces, or replaces them; `gradients` begins with the one of parameter `first`.
    pub fn pieces(
        &self,
        pieces: &[Piece],
        blocks: &[Block],
        start: Start,
        gradients: &mut [f32],
        first: usize,
    ) {
        match pieces {
            [] => {}
            _ if self.stop.load(Relaxed) => {}
            [piece] => {
                let gradients =
                    &mut gradients[piece.weights.start - first..piece.weights.end - first];
                let inputs = piece.weights.len() / piece.outputs.len();
                // All rows for a few inputs: these gradients stay in the innermost cache.
                for input in (0..inputs).step_by(PANEL) {
                    let mut start = start;
                    for block in blocks {
                        block.add_piece(self.shared, piece, input, start, gradients);
                        start = Start::Result;
                    }
                }
            }
            [one, .., last] => {
                // Layers differ in size: the middle is that of the weights.
                let middle = usize::midpoint(one.weights.start, last.weights.end);
                let at = pieces.partition_point(|piece| piece.weights.end <= middle);
                let (pieces, other_pieces) = pieces.split_at(at.clamp(1, pieces.len() - 1));
                let other_first = other_pieces[0].weights.start;
                let (gradients, other_gradients) = gradients.split_at_mut(other_first - first);
                self.both(
                    || self.pieces(pieces, blocks, start, gradients, first),
                    || self.pieces(other_pieces, blocks, start, other_gradients, other_first),
                );
            }
        }
    }
}
