//! A network: its parameters, its gradients, and a batch on its way forward and back.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::block::{Block, Shared};
use crate::buffer::Buffer;
use crate::compile::{OperationKind, Piece, Program};
use crate::convolution::turn;
use crate::dropout::Draw;
use crate::initialise::Initialiser;
use crate::processor::Processor;
use crate::product::{PANEL, pack};
use crate::spec::{NetworkSpec, Shape, SpecError};
use crate::tensor::Tensor;

/// Gradients of few weights are computed by at most so many groups of blocks, each with memory of its own.
const GROUPS: usize = 32;

/// With fewer multiplications than this in a batch, waking other threads costs more than it gains.
const PARALLEL_WORK: usize = 1_000_000;

/// A network with its parameters.
///
/// [`forward`](Self::forward) and [`backward`](Self::backward) are the two halves of a step; see the
/// [crate page](crate) for the whole. Work is shared among the threads of the current `rayon` pool, and the results
/// have the same bits whatever their number. After the first step with the greatest batch, no step asks for memory.
#[derive(Debug)]
pub struct Network {
    spec: NetworkSpec,
    program: Program,
    processor: Processor,
    parameters: Vec<f32>,
    gradients: Vec<f32>,
    /// The parameters in the order in which the products want them.
    packed: Buffer,
    /// Whether the parameters may have changed since.
    stale: bool,
    /// What dropout of the next [`Self::forward`] depends on, and of the last one.
    draw: Draw,
    drawn: Draw,
    /// The number of rows of the last [`Self::forward`].
    rows: usize,
    /// Its blocks, and maybe more of an earlier, greater one.
    blocks: Vec<Block>,
    /// Blocks for [`Self::forward_only`], which must not disturb those.
    passing: Vec<Block>,
    output: Vec<f32>,
    /// The gradients of each group of blocks.
    partial: Vec<f32>,
    /// Memory for operations while they run, for each thread.
    scratch: Vec<Mutex<Buffer>>,
}

impl Network {
    /// A network with random weights, [`Initialiser::GlorotUniform`], and biases of 0. The seed decides all bits.
    pub fn new(spec: &NetworkSpec, seed: u64) -> Result<Self, SpecError> {
        Self::with_initialiser(spec, Initialiser::default(), seed)
    }

    /// A network with random weights of the given kind, and biases of 0. The seed decides all bits.
    pub fn with_initialiser(
        spec: &NetworkSpec,
        initialiser: Initialiser,
        seed: u64,
    ) -> Result<Self, SpecError> {
        Self::for_processor(spec, initialiser, seed, Processor::fastest())
    }

    pub(crate) fn for_processor(
        spec: &NetworkSpec,
        initialiser: Initialiser,
        seed: u64,
        processor: Processor,
    ) -> Result<Self, SpecError> {
        let program = Program::new(spec)?;
        let length = program.tensors.last().map_or(0, |tensor| tensor.range.end);
        let mut parameters = vec![0.0; length];
        // The stream is PCG's default; only the seed differs between networks.
        let mut rng = Pcg64::new(seed.into(), 0x0a02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96);
        for operation in &program.operations {
            match &operation.kind {
                OperationKind::Dense(dense) => {
                    let weights = &mut parameters[dense.weights.clone()];
                    initialiser.fill(weights, dense.inputs, dense.outputs, &mut rng);
                }
                OperationKind::Convolution(convolution) => {
                    let pixels = convolution.kernel * convolution.kernel;
                    let weights = &mut parameters[convolution.weights.clone()];
                    let (inputs, outputs) = (convolution.channels, convolution.filters);
                    initialiser.fill(weights, inputs * pixels, outputs * pixels, &mut rng);
                }
                OperationKind::Pool(_)
                | OperationKind::Flatten
                | OperationKind::Copy
                | OperationKind::Dropout(_) => {}
            }
        }
        Ok(Self {
            spec: spec.clone(),
            packed: Buffer::zeros(program.packed),
            program,
            processor,
            gradients: vec![0.0; length],
            parameters,
            stale: true,
            draw: Draw { seed, step: 0 },
            drawn: Draw { seed, step: 0 },
            rows: 0,
            blocks: vec![],
            passing: vec![],
            output: vec![],
            partial: vec![],
            scratch: vec![],
        })
    }

    /// What it was made from.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// The shape of a row of input.
    pub fn input_shape(&self) -> Shape {
        self.program.input.shape
    }

    /// The shape of a row of output.
    pub fn output_shape(&self) -> Shape {
        self.program.output.shape
    }

    /// All parameters, as [`tensors`](Self::tensors) tells them apart.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All parameters, to be changed.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        self.stale = true;
        &mut self.parameters
    }

    /// Sets the weights of the last dense layer to 0: every output is then its bias, which is 0 at first, whatever the
    /// input. A softmax over such outputs has no opinion yet, so that the first it learns is what the data say.
    ///
    /// ```
    /// use logltn_nn::{Activation, Network, mlp};
    /// let mut network = Network::new(&mlp(3, &[8], 2, Activation::Elu), 0)?;
    /// network.silence_output();
    /// assert_eq!(network.forward(&[1.0, -2.0, 3.0], 1), [0.0, 0.0]);
    /// # Ok::<(), logltn_nn::SpecError>(())
    /// ```
    pub fn silence_output(&mut self) {
        let mut kinds = self.program.operations.iter().rev().map(|o| &o.kind);
        let last = kinds.find_map(|kind| match kind {
            OperationKind::Dense(dense) => Some(dense.weights.clone()),
            _ => None,
        });
        if let Some(weights) = last {
            self.parameters_mut()[weights].fill(0.0);
        }
    }

    /// The gradients, one for each parameter.
    pub fn gradients(&self) -> &[f32] {
        &self.gradients
    }

    /// The gradients, to be changed.
    pub fn gradients_mut(&mut self) -> &mut [f32] {
        &mut self.gradients
    }

    /// The parameters to be changed, and the gradients: what an optimiser wants.
    pub fn parameters_and_gradients(&mut self) -> (&mut [f32], &[f32]) {
        self.stale = true;
        (&mut self.parameters, &self.gradients)
    }

    /// Sets all gradients to 0.
    pub fn zero_gradients(&mut self) {
        self.gradients.fill(0.0);
    }

    /// The parameters by name, in their order, without gaps.
    pub fn tensors(&self) -> &[Tensor] {
        &self.program.tensors
    }

    /// Says which step the next [`forward`](Self::forward) is of, counted from 0. Steps count themselves; this is for
    /// going on where another network, or another program, has stopped. Only [dropout](crate::LayerSpec::Dropout)
    /// depends on it.
    ///
    /// ```
    /// use logltn_nn::{LayerSpec, Network, NetworkSpec, Shape};
    ///
    /// let layers = vec![LayerSpec::Dropout(0.5)];
    /// let mut network = Network::new(&NetworkSpec { input: Shape::Flat(64), layers }, 42)?;
    /// let first = network.forward(&[1.0; 64], 1).to_vec();
    /// assert!(first.iter().all(|&x| x == 0.0 || x == 2.0));
    /// assert_ne!(network.forward(&[1.0; 64], 1), first);
    /// network.set_step(0);
    /// assert_eq!(network.forward(&[1.0; 64], 1), first);
    /// assert_eq!(network.forward_only(&[1.0; 64], 1), [1.0; 64]);
    /// # Ok::<(), logltn_nn::SpecError>(())
    /// ```
    pub fn set_step(&mut self, step: u64) {
        self.draw.step = step;
    }

    /// The outputs for all rows of `input`, one after another. Keeps what [`backward`](Self::backward) needs.
    ///
    /// # Panics
    /// If `input` does not hold `rows` rows.
    pub fn forward(&mut self, input: &[f32], rows: usize) -> &[f32] {
        self.check_input(input, rows);
        self.prepare();
        self.rows = rows;
        let count = rows.div_ceil(self.program.block_rows);
        if self.blocks.len() < count {
            self.blocks.resize_with(count, Block::default);
        }
        for (index, block) in self.blocks[..count].iter_mut().enumerate() {
            block.first_row = index * self.program.block_rows;
        }
        let outputs = rows * self.output_shape().len();
        if self.output.len() < outputs {
            self.output.resize(outputs, 0.0);
        }
        self.drawn = self.draw;
        self.draw.step = self.draw.step.wrapping_add(1);
        let run = Run::new(
            &self.program,
            self.processor,
            &self.parameters,
            &self.packed,
            &self.scratch,
            rows,
            Some(self.drawn),
        );
        run.forward(
            &mut self.blocks[..count],
            input,
            &mut self.output[..outputs],
        );
        &self.output[..outputs]
    }

    /// The outputs for all rows of `input`, one after another, and nothing else: memory for what lies between is not
    /// kept, and a [`backward`](Self::backward) after it still belongs to the last [`forward`](Self::forward).
    ///
    /// # Panics
    /// If `input` does not hold `rows` rows.
    pub fn forward_only(&mut self, input: &[f32], rows: usize) -> &[f32] {
        self.check_input(input, rows);
        self.prepare();
        let (inputs, outputs) = (self.input_shape().len(), self.output_shape().len());
        if self.output.len() < rows * outputs {
            self.output.resize(rows * outputs, 0.0);
        }
        let output = &mut self.output[..rows * outputs];
        let count = rows.div_ceil(self.program.block_rows).min(GROUPS);
        if self.passing.len() < count {
            self.passing.resize_with(count, Block::default);
        }
        let run = Run::new(
            &self.program,
            self.processor,
            &self.parameters,
            &self.packed,
            &self.scratch,
            rows,
            None,
        );
        let at_once = GROUPS * self.program.block_rows;
        for (input, output) in input
            .chunks(at_once * inputs)
            .zip(output.chunks_mut(at_once * outputs))
        {
            let count = (output.len() / outputs).div_ceil(self.program.block_rows);
            run.forward(&mut self.passing[..count], input, output);
        }
        output
    }

    /// From the gradient of a loss by the outputs of the last [`forward`](Self::forward): **adds** the gradients by
    /// the parameters to [`gradients`](Self::gradients), and if it is wanted, stores the gradient by the inputs.
    /// The parameters must still be those of the forward pass.
    ///
    /// # Panics
    /// If `by_output` does not hold as many rows as the last `forward` had, or `by_input` is not as long as its input.
    pub fn backward(&mut self, by_output: &[f32], by_input: Option<&mut [f32]>) {
        let (inputs, outputs) = (self.input_shape().len(), self.output_shape().len());
        assert_eq!(
            by_output.len(),
            self.rows * outputs,
            "the gradient by the output has as many rows as the last forward pass, {}, of {outputs} numbers",
            self.rows
        );
        if let Some(by_input) = &by_input {
            assert_eq!(
                by_input.len(),
                self.rows * inputs,
                "the gradient by the input has as many rows as the last forward pass, {}, of {inputs} numbers",
                self.rows
            );
        }
        if self.rows == 0 {
            return;
        }
        self.prepare();
        let count = self.rows.div_ceil(self.program.block_rows);
        let group = count.div_ceil(GROUPS);
        let partial = count.div_ceil(group) * self.program.partial;
        if self.partial.len() < partial {
            self.partial.resize(partial, 0.0);
        }
        let partial = &mut self.partial[..partial];
        let blocks = &mut self.blocks[..count];
        let run = Run::new(
            &self.program,
            self.processor,
            &self.parameters,
            &self.packed,
            &self.scratch,
            self.rows,
            Some(self.drawn),
        );
        run.backward(blocks, group, by_output, by_input, partial);
        run.pieces(&self.program.pieces, blocks, &mut self.gradients, 0);
        for partial in partial.chunks_exact(self.program.partial.max(1)) {
            for operation in &self.program.operations {
                let mut add = |to: &Range<usize>, from: &Range<usize>| {
                    let to = &mut self.gradients[to.clone()];
                    self.processor.add(to, &partial[from.clone()]);
                };
                match &operation.kind {
                    OperationKind::Dense(dense) => {
                        if let Some(partial_weights) = &dense.partial_weights {
                            add(&dense.weights, partial_weights);
                        }
                        add(&dense.bias, &dense.partial_bias);
                    }
                    OperationKind::Convolution(convolution) => {
                        add(&convolution.weights, &convolution.partial_weights);
                        add(&convolution.bias, &convolution.partial_bias);
                    }
                    OperationKind::Pool(_)
                    | OperationKind::Flatten
                    | OperationKind::Copy
                    | OperationKind::Dropout(_) => {}
                }
            }
        }
    }

    fn check_input(&self, input: &[f32], rows: usize) {
        let length = self.input_shape().len();
        assert_eq!(
            input.len(),
            rows * length,
            "the input has {rows} rows of {length} numbers"
        );
    }

    /// Packs the parameters if they may have changed, and sees to the memory of threads.
    fn prepare(&mut self) {
        let threads = rayon::current_num_threads().max(1);
        while self.scratch.len() < threads {
            let scratch = Buffer::zeros(self.program.scratch);
            self.scratch.push(Mutex::new(scratch));
        }
        if !self.stale {
            return;
        }
        for operation in &self.program.operations {
            match &operation.kind {
                OperationKind::Dense(dense) => {
                    let weights = &self.parameters[dense.weights.clone()];
                    let (inputs, outputs) = (dense.inputs, dense.outputs);
                    let to = &mut self.packed[dense.packed_weights.clone()];
                    pack_panels(weights, 1, inputs, inputs, outputs, to);
                    let to = &mut self.packed[dense.packed_weights_back.clone()];
                    pack_panels(weights, inputs, 1, outputs, inputs, to);
                    let bias = &mut self.packed[dense.packed_bias.clone()][..outputs];
                    bias.copy_from_slice(&self.parameters[dense.bias.clone()]);
                }
                OperationKind::Convolution(convolution) => turn(
                    &self.parameters[convolution.weights.clone()],
                    convolution.filters,
                    convolution.channels,
                    convolution.kernel,
                    &mut self.packed[convolution.turned_weights.clone()],
                ),
                OperationKind::Pool(_)
                | OperationKind::Flatten
                | OperationKind::Copy
                | OperationKind::Dropout(_) => {}
            }
        }
        self.stale = false;
    }
}

impl Clone for Network {
    /// A network with the same parameters and gradients; the batch under way is not copied.
    fn clone(&self) -> Self {
        Self {
            spec: self.spec.clone(),
            program: self.program.clone(),
            processor: self.processor,
            parameters: self.parameters.clone(),
            gradients: self.gradients.clone(),
            packed: self.packed.clone(),
            stale: self.stale,
            draw: self.draw,
            drawn: self.drawn,
            rows: 0,
            blocks: vec![],
            passing: vec![],
            output: vec![],
            partial: vec![],
            scratch: vec![],
        }
    }
}

/// [`pack`], several panels at a time if there is enough of them.
fn pack_panels(
    b: &[f32],
    b_depth: usize,
    b_column: usize,
    depth: usize,
    columns: usize,
    packed: &mut [f32],
) {
    if b.len() < PARALLEL_WORK / 10 {
        pack(b, b_depth, b_column, depth, columns, packed);
        return;
    }
    packed
        .par_chunks_mut(PANEL * depth)
        .enumerate()
        .for_each(|(index, panel)| {
            let first = index * PANEL;
            let columns = PANEL.min(columns - first);
            pack(
                &b[first * b_column..],
                b_depth,
                b_column,
                depth,
                columns,
                panel,
            );
        });
}

/// A pass over the blocks of a batch. Work is split in halves again and again, at places that depend on the batch
/// alone; who does which half does not matter.
struct Run<'a> {
    shared: Shared<'a>,
    scratch: &'a [Mutex<Buffer>],
    parallel: bool,
}

impl<'a> Run<'a> {
    fn new(
        program: &'a Program,
        processor: Processor,
        parameters: &'a [f32],
        packed: &'a [f32],
        scratch: &'a [Mutex<Buffer>],
        rows: usize,
        draw: Option<Draw>,
    ) -> Self {
        Self {
            shared: Shared {
                program,
                processor,
                parameters,
                packed,
                draw,
            },
            scratch,
            parallel: program.work.saturating_mul(rows) >= PARALLEL_WORK,
        }
    }

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

    fn forward(&self, blocks: &mut [Block], input: &[f32], output: &mut [f32]) {
        let program = self.shared.program;
        match blocks {
            [] => {}
            [block] => self.with_scratch(|scratch| {
                block.forward(self.shared, input, output, scratch);
            }),
            _ => {
                let middle = blocks.len() / 2;
                let rows = middle * program.block_rows;
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

    /// `partial` has a part for each `group` blocks.
    fn backward(
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
                let first = index * program.block_rows;
                let end = (first + program.block_rows).min(by_output.len() / outputs);
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
        let rows = groups * group * program.block_rows;
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

    /// Adds to the gradients of the pieces; `gradients` begins with the one of parameter `start`.
    fn pieces(&self, pieces: &[Piece], blocks: &[Block], gradients: &mut [f32], start: usize) {
        match pieces {
            [] => {}
            [piece] => {
                let gradients =
                    &mut gradients[piece.weights.start - start..piece.weights.end - start];
                let inputs = piece.weights.len() / piece.outputs.len();
                // All rows for a few inputs: these gradients stay in the innermost cache.
                for first in (0..inputs).step_by(PANEL) {
                    for block in blocks {
                        block.add_piece(self.shared, piece, first, gradients);
                    }
                }
            }
            _ => {
                let (pieces, other_pieces) = pieces.split_at(pieces.len() / 2);
                let other_start = other_pieces[0].weights.start;
                let (gradients, other_gradients) = gradients.split_at_mut(other_start - start);
                self.both(
                    || self.pieces(pieces, blocks, gradients, start),
                    || self.pieces(other_pieces, blocks, other_gradients, other_start),
                );
            }
        }
    }
}
