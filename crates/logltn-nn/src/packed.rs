//! The parameters in the order in which products want them, brought up to date when they are asked for.

use crate::buffer::{Floats, LANES};
use crate::compile::{Dense, OperationKind, Panel, Program};
use crate::convolution::turn;
use crate::product::{PANEL, panel_width};

/// With fewer weights than this, waking other threads costs more than it gains.
const PARALLEL_WEIGHTS: usize = 100_000;

/// Weights in panels of [`PANEL`] columns, one after another, each with its rows one after another and the last filled
/// up with zeros to whole vectors.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    forward: Floats,
    back: Floats,
    /// Whether the parameters may have changed since they were packed for the way forward.
    stale: bool,
    /// The first operation that is packed for the way back; those after it are as well.
    back_from: usize,
}

impl Packed {
    /// Nothing is packed yet.
    pub fn new(program: &Program) -> Self {
        Self {
            forward: Floats::zeros(program.packed),
            back: Floats::zeros(program.packed_back),
            stale: true,
            back_from: usize::MAX,
        }
    }

    /// The parameters may be changed from now on.
    pub fn forget(&mut self) {
        self.stale = true;
        self.back_from = usize::MAX;
    }

    /// Weights and biases for the way forward, if they are up to date.
    pub fn forward(&self) -> &[f32] {
        &self.forward
    }

    /// Weights for the way back, if they are up to date.
    pub fn back(&self) -> &[f32] {
        &self.back
    }

    /// Sees to it that what the way forward needs is up to date.
    pub fn update(&mut self, program: &Program, parameters: &[f32]) {
        if !self.stale {
            return;
        }
        for operation in &program.operations {
            if let OperationKind::Dense(dense) = &operation.kind {
                let bias = &mut self.forward[dense.packed_bias.clone()][..dense.outputs];
                bias.copy_from_slice(&parameters[dense.bias.clone()]);
            }
        }
        let pack = |dense: &Dense, first: usize, to: &mut [f32]| {
            let weights = &parameters[dense.weights.clone()];
            let width = panel_width(dense.outputs, first);
            pack_transposed(&weights[first * dense.inputs..], dense.inputs, width, to);
        };
        each_panel(program, &program.panels, &mut self.forward, 0, &pack);
        self.stale = false;
    }

    /// Sees to it that what the way back needs is up to date, from operation `from` on.
    pub fn update_back(&mut self, program: &Program, parameters: &[f32], from: usize) {
        let already = self.back_from;
        if already <= from {
            return;
        }
        for (index, operation) in program.operations.iter().enumerate() {
            if let OperationKind::Convolution(convolution) = &operation.kind
                && index >= from
            {
                turn(
                    &parameters[convolution.weights.clone()],
                    convolution.filters,
                    convolution.channels,
                    convolution.kernel,
                    &mut self.back[convolution.turned_weights.clone()],
                );
            }
        }
        let pack = |dense: &Dense, first: usize, to: &mut [f32]| {
            let weights = &parameters[dense.weights.clone()];
            let width = panel_width(dense.inputs, first);
            let used = PANEL.min(dense.inputs - first);
            let rows = weights.chunks_exact(dense.inputs);
            for (to, from) in to.chunks_exact_mut(width).zip(rows) {
                let (to, rest) = to.split_at_mut(used);
                to.copy_from_slice(&from[first..first + used]);
                rest.fill(0.0);
            }
        };
        let panels = &program.panels_back;
        let place = |operation| panels.partition_point(|panel| panel.operation < operation);
        let panels = &panels[place(from)..place(already)];
        each_panel(program, panels, &mut self.back, 0, &pack);
        self.back_from = from;
    }
}

/// Packs panels, several at a time if there is enough of them; `packed` begins with number `start` of the packed.
fn each_panel<F: Fn(&Dense, usize, &mut [f32]) + Sync>(
    program: &Program,
    panels: &[Panel],
    packed: &mut [f32],
    start: usize,
    pack: &F,
) {
    let (Some(first), Some(last)) = (panels.first(), panels.last()) else {
        return;
    };
    let all = last.packed.end - first.packed.start;
    if panels.len() > 1 && all >= PARALLEL_WEIGHTS / 4 {
        let middle = first.packed.start + all / 2;
        let at = panels.partition_point(|panel| panel.packed.end <= middle);
        let (panels, other_panels) = panels.split_at(at.clamp(1, panels.len() - 1));
        let other_start = other_panels[0].packed.start;
        let (packed, other_packed) = packed.split_at_mut(other_start - start);
        rayon::join(
            || each_panel(program, panels, packed, start, pack),
            || each_panel(program, other_panels, other_packed, other_start, pack),
        );
        return;
    }
    for panel in panels {
        if let OperationKind::Dense(dense) = &program.operations[panel.operation].kind {
            let to = &mut packed[panel.packed.start - start..panel.packed.end - start];
            pack(dense, panel.first, to);
        }
    }
}

/// Writes rows of `depth` numbers as columns, `width` of them: whole vectors, with zeros if there are not as many rows.
pub(crate) fn pack_transposed(rows: &[f32], depth: usize, width: usize, to: &mut [f32]) {
    // A vector of columns at a time: rows are often a power of two apart, and more than 16 such places do not fit into
    // the innermost cache.
    for first in (0..width).step_by(LANES) {
        let rows = &rows[first * depth..];
        let used = LANES.min(rows.len() / depth);
        let whole = if used == LANES {
            pack_squares(rows, depth, width, &mut to[first..])
        } else {
            0
        };
        let columns = to[first..].chunks_mut(width).enumerate();
        for (k, column) in columns.take(depth).skip(whole) {
            let (column, rest) = column[..LANES].split_at_mut(used);
            rest.fill(0.0);
            for (to, row) in column.iter_mut().zip(rows.chunks_exact(depth)) {
                *to = row[k];
            }
        }
    }
}

/// The columns of [`pack_transposed`] that 16 rows make, four by four; gives the depth up to which that is possible.
fn pack_squares(rows: &[f32], depth: usize, width: usize, to: &mut [f32]) -> usize {
    const DEEP: usize = 256;
    for (to, begin) in to.chunks_mut(DEEP * width).zip((0..depth).step_by(DEEP)) {
        let end = depth.min(begin + DEEP);
        for i in (0..LANES).step_by(4) {
            let [a, b, c, d]: [&[[f32; 4]]; 4] = std::array::from_fn(|j| {
                let start = (i + j) * depth;
                rows[start + begin..start + end].as_chunks().0
            });
            let to = to.chunks_mut(4 * width);
            for ((((a, b), c), d), to) in a.iter().zip(b).zip(c).zip(d).zip(to) {
                for (k, column) in transpose([*a, *b, *c, *d]).iter().enumerate() {
                    to[k * width + i..k * width + i + 4].copy_from_slice(column);
                }
            }
        }
    }
    depth / 4 * 4
}

/// Rows become columns.
#[inline(always)]
fn transpose(x: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
    // Left to itself, the compiler moves one number after another.
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128, _MM_TRANSPOSE4_PS};
        // SAFETY: vectors of four floats are four floats, and every such processor has them.
        unsafe {
            let mut rows: [__m128; 4] = std::mem::transmute(x);
            let [a, b, c, d] = &mut rows;
            _MM_TRANSPOSE4_PS(a, b, c, d);
            std::mem::transmute(rows)
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::array::from_fn(|i| x.map(|row| row[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for (count, depth) in [(1, 1), (16, 4), (17, 9), (64, 30), (50, 7)] {
            let rows: Vec<f32> = (1..=count * depth).map(|i| i as f32).collect();
            let width = panel_width(count, 0);
            let mut to = vec![f32::NAN; width * depth];
            pack_transposed(&rows, depth, width, &mut to);
            for (i, &found) in to.iter().enumerate() {
                let (k, row) = (i / width, i % width);
                let truth = rows.get(row * depth + k).filter(|_| row < count);
                assert_eq!(
                    found,
                    truth.copied().unwrap_or(0.0),
                    "{count} × {depth}: {i}"
                );
            }
        }
    }
}
