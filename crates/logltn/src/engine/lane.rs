//! What one lane of an evaluation keeps: its buffers, and the derivatives that it sums.

use super::eliminate;
use super::touched::Touched;
use crate::operators::State;
use crate::plan::blocks::Blocks;
use crate::plan::physical::{MOST_LITERALS, Physical};
use crate::vector::Real;

/// The buffers of one lane, and the derivatives by literals that it has summed so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane<T> {
    pub(super) blocks: Blocks,
    /// By level and buffer.
    pub(super) values: Vec<Vec<Vec<T>>>,
    pub(super) derivatives: Vec<Vec<Vec<T>>>,
    /// By node, one state per binding of the node's level.
    pub(super) states: Vec<Vec<State>>,
    /// By level: the stamp of the parent block whose inner bindings are still in this level's only
    /// block.
    pub(super) resident: Vec<u64>,
    pub(super) scratch: Vec<T>,
    /// How many bindings each one of a block stands for.
    pub(super) weights: Vec<f64>,
    /// The two halves of an equivalence, and what their conjunction keeps for the backward pass.
    pub(super) halves: [Vec<T>; 2],
    pub(super) by_halves: Vec<Vec<T>>,
    /// The complements of members, and the derivatives by them.
    pub(super) complements: Vec<Vec<T>>,
    pub(super) by_complements: Vec<Vec<T>>,
    /// For small clauses: by literal, the places of the block's bindings.
    pub(super) places: [Vec<u32>; MOST_LITERALS],
    pub(super) listed: Vec<u32>,
    /// For small clauses: sums of values.
    pub(super) class_values: Vec<T>,
    /// For small clauses: runs of bindings with values still to be computed.
    pub(super) left_out: Vec<(u32, u32)>,
    /// For these runs: the exponentials of one binding, relative to the greatest.
    pub(super) exponentials: Vec<f64>,
    /// Whether a quantifier is visited again for its derivatives, when nothing is counted.
    pub(super) again: bool,
    /// By elimination of the program.
    pub(super) eliminations: Vec<eliminate::Work<T>>,
    /// By request: positive and negated.
    pub by_literal: Vec<[Touched<T>; 2]>,
    /// The number of empty `exists` in the forward pass.
    pub empty_exists: u64,
    /// By level: how many bindings its blocks have had so far.
    pub filled: Vec<u64>,
}

impl<T: Real> Lane<T> {
    /// Makes room for a program, as [`Blocks::make_room`].
    pub fn make_room(&mut self, exec: &Physical) {
        self.blocks.make_room(exec);
        eliminate::make_room(&mut self.eliminations, exec);
        let levels = exec.levels.len();
        if self.values.len() < levels {
            self.values.resize_with(levels, Vec::new);
            self.derivatives.resize_with(levels, Vec::new);
            self.resident.resize(levels, 0);
        }
        self.resident.fill(0);
        if self.filled.len() < levels {
            self.filled.resize(levels, 0);
        }
        for (i, level) in exec.levels.iter().enumerate() {
            for buffers in [&mut self.values[i], &mut self.derivatives[i]] {
                if buffers.len() < level.buffers {
                    buffers.resize_with(level.buffers, Vec::new);
                }
                for buffer in &mut buffers[..level.buffers] {
                    if buffer.len() < level.capacity {
                        buffer.resize(level.capacity, T::ZERO);
                    }
                }
            }
            if self.scratch.len() < level.capacity {
                self.scratch.resize(level.capacity, T::ZERO);
            }
            if !level.weights.is_empty() && self.weights.len() < level.capacity {
                self.weights.resize(level.capacity, 1.0);
            }
        }
        if self.states.len() < exec.nodes.len() {
            self.states.resize_with(exec.nodes.len(), Vec::new);
        }
    }
}
