//! A network: its parameters, its gradients, and a batch on its way forward and back.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use rand_pcg::Pcg64;

use crate::block::{Block, Shared};
use crate::buffer::Floats;
use crate::compile::{OperationKind, Program};
use crate::dropout::Draw;
use crate::initialise::initialise;
use crate::packed::Packed;
use crate::processor::Processor;
use crate::product::Start;
use crate::run::Run;
use crate::spec::{NetworkSpec, Shape, SpecError};
use crate::tensor::Tensor;

/// Gradients of few weights are computed by at most this many groups of blocks, each with its own memory.
const GROUPS: usize = 32;

/// A network with its parameters.
///
/// [`forward`](Self::forward) and [`backward`](Self::backward) are the two halves of a step; see the
/// [crate page](crate) for the whole. Work is shared among the threads of the current `rayon` pool, and the results
/// have the same bits whatever their number. After the first step with the greatest batch, no step asks for memory.
#[derive(Debug)]
pub struct Network {
    spec: NetworkSpec,
    core: Core,
    gradients: Vec<f32>,
    /// What dropout of the next [`Self::forward`] depends on, and of the last one.
    draw: Draw,
    drawn: Draw,
    /// The number of rows that the last [`Self::forward`] has kept.
    rows: usize,
    /// Its blocks, and maybe more of an earlier, greater one.
    blocks: Vec<Block>,
    /// Blocks of rows of which nothing is kept, which must not disturb those.
    passing: Vec<Block>,
    output: Vec<f32>,
    /// The gradients of each group of blocks.
    partial: Vec<f32>,
}

/// What a pass over a batch reads.
#[derive(Debug)]
struct Core {
    program: Program,
    processor: Processor,
    parameters: Vec<f32>,
    packed: Packed,
    /// Memory for operations while they run, for each thread.
    scratch: Vec<Mutex<Floats>>,
    stop: Arc<AtomicBool>,
}

impl Core {
    /// A pass over a batch of this many rows.
    fn run(&self, rows: usize, draw: Option<Draw>) -> Run<'_> {
        Run {
            shared: Shared {
                program: &self.program,
                processor: self.processor,
                parameters: &self.parameters,
                packed: &self.packed,
                draw,
            },
            scratch: &self.scratch,
            parallel: self.program.is_parallel(rows),
            block_rows: self.program.rows_in_block(rows),
            stop: &self.stop,
        }
    }

    /// Sees to the memory of threads.
    fn prepare(&mut self) {
        let threads = rayon::current_num_threads().max(1);
        while self.scratch.len() < threads {
            let scratch = Floats::zeros(self.program.scratch);
            self.scratch.push(Mutex::new(scratch));
        }
    }

    /// Sends rows through blocks of which nothing is kept. The first of them is row `first_row` of the batch.
    fn pass(
        &self,
        passing: &mut Vec<Block>,
        input: &[f32],
        output: &mut [f32],
        first_row: usize,
        draw: Option<Draw>,
    ) {
        let outputs = self.program.output.shape.len();
        let run = self.run(output.len() / outputs, draw);
        let at_once = GROUPS * run.block_rows;
        let mut first_row = first_row;
        for (input, output) in input
            .chunks(at_once * self.program.input.shape.len())
            .zip(output.chunks_mut(at_once * outputs))
        {
            let rows = output.len() / outputs;
            let blocks = blocks(passing, rows, run.block_rows, first_row);
            run.forward(blocks, input, output);
            first_row += rows;
        }
    }
}

/// The blocks for this many rows, the first of which is row `first_row` of the batch.
fn blocks(all: &mut Vec<Block>, rows: usize, block_rows: usize, first_row: usize) -> &mut [Block] {
    let count = rows.div_ceil(block_rows);
    if all.len() < count {
        all.resize_with(count, Block::default);
    }
    let blocks = &mut all[..count];
    for (index, block) in blocks.iter_mut().enumerate() {
        block.first_row = first_row + index * block_rows;
    }
    blocks
}

impl Network {
    /// A network with random weights, uniform after Glorot, and biases of 0. The seed decides all bits.
    pub fn new(spec: &NetworkSpec, seed: u64) -> Result<Self, SpecError> {
        Self::for_processor(spec, seed, Processor::fastest())
    }

    pub(crate) fn for_processor(
        spec: &NetworkSpec,
        seed: u64,
        processor: Processor,
    ) -> Result<Self, SpecError> {
        let program = Program::new(spec)?;
        let length = program.parameters;
        let mut parameters = vec![0.0; length];
        // The stream is PCG's default; only the seed differs between networks.
        let mut rng = Pcg64::new(seed.into(), 0x0a02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96);
        for (weights, [inputs, outputs]) in &program.weights {
            let weights = &mut parameters[weights.clone()];
            initialise(weights, *inputs, *outputs, &mut rng);
        }
        Ok(Self {
            spec: spec.clone(),
            core: Core {
                packed: Packed::new(&program),
                program,
                processor,
                parameters,
                scratch: vec![],
                stop: Arc::default(),
            },
            gradients: vec![0.0; length],
            draw: Draw { seed, step: 0 },
            drawn: Draw { seed, step: 0 },
            rows: 0,
            blocks: vec![],
            passing: vec![],
            output: vec![],
            partial: vec![],
        })
    }

    /// What it was made from.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// The shape of a row of input.
    pub fn input_shape(&self) -> Shape {
        self.core.program.input.shape
    }

    /// The shape of a row of output.
    pub fn output_shape(&self) -> Shape {
        self.core.program.output.shape
    }

    /// All parameters, as [`tensors`](Self::tensors) tells them apart.
    pub fn parameters(&self) -> &[f32] {
        &self.core.parameters
    }

    /// All parameters, to be changed.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        self.core.packed.forget();
        &mut self.core.parameters
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
        let mut kinds = self.core.program.operations.iter().rev().map(|o| &o.kind);
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

    /// The parameters to be changed, and the gradients: what an optimizer wants.
    pub fn parameters_and_gradients(&mut self) -> (&mut [f32], &[f32]) {
        self.core.packed.forget();
        (&mut self.core.parameters, &self.gradients)
    }

    /// Sets all gradients to 0.
    pub fn zero_gradients(&mut self) {
        self.gradients.fill(0.0);
    }

    /// The parameters by name, in their order, without gaps.
    pub fn tensors(&self) -> &[Tensor] {
        &self.core.program.tensors
    }

    /// Sets the step number of the next [`forward`](Self::forward), counted from 0. Steps count themselves; this is
    /// for continuing where another network, or another program, stopped. Only [dropout](crate::LayerSpec::Dropout)
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
        self.forward_keeping(input, rows, rows)
    }

    /// The same, but [`backward`](Self::backward) covers only the first `kept` rows: the others get no gradient, and
    /// nothing is stored for them. All outputs have the same bits either way.
    ///
    /// ```
    /// use logltn_nn::{Activation, Network, mlp};
    /// let mut network = Network::new(&mlp(2, &[8], 1, Activation::Elu), 42)?;
    /// let all = network.forward(&[1.0, 2.0, 3.0, 4.0], 2).to_vec();
    /// network.backward(&[1.0, 0.0], None);
    /// let gradients = network.gradients().to_vec();
    /// assert_eq!(network.forward_keeping(&[1.0, 2.0, 3.0, 4.0], 2, 1), all);
    /// network.backward_anew(&[1.0], None);
    /// assert_eq!(network.gradients(), gradients);
    /// # Ok::<(), logltn_nn::SpecError>(())
    /// ```
    ///
    /// # Panics
    /// If `input` does not hold `rows` rows, or more are to be kept.
    pub fn forward_keeping(&mut self, input: &[f32], rows: usize, kept: usize) -> &[f32] {
        self.check_input(input, rows);
        assert!(kept <= rows, "{kept} of {rows} rows cannot be kept");
        self.core.prepare();
        let core = &mut self.core;
        core.packed.update(&core.program, &core.parameters);
        self.rows = kept;
        self.drawn = self.draw;
        self.draw.step = self.draw.step.wrapping_add(1);
        let draw = Some(self.drawn);
        let (inputs, outputs) = (self.input_shape().len(), self.output_shape().len());
        let output = room(&mut self.output, rows * outputs);
        let (input, other_input) = input.split_at(kept * inputs);
        let (kept_output, other_output) = output.split_at_mut(kept * outputs);
        let run = self.core.run(kept, draw);
        let blocks = blocks(&mut self.blocks, kept, run.block_rows, 0);
        run.forward(blocks, input, kept_output);
        let passing = &mut self.passing;
        (self.core).pass(passing, other_input, other_output, kept, draw);
        output
    }

    /// Once this flag is set, passes skip blocks of rows: they finish soon, and their results are useless.
    pub fn set_stop(&mut self, stop: Arc<AtomicBool>) {
        self.core.stop = stop;
    }

    /// About how many bytes a step of this many rows takes: what is kept of each row, and the gradients by that.
    pub fn bytes_kept(&self, rows: usize) -> u128 {
        let blocks = rows.div_ceil(self.core.program.rows_in_block(rows));
        8 * blocks as u128 * self.core.program.block_length as u128
    }

    /// The outputs for all rows of `input`, one after another, and nothing else: memory for what lies between is not
    /// kept, and a [`backward`](Self::backward) after it still belongs to the last [`forward`](Self::forward).
    ///
    /// # Panics
    /// If `input` does not hold `rows` rows.
    pub fn forward_only(&mut self, input: &[f32], rows: usize) -> &[f32] {
        self.check_input(input, rows);
        self.core.prepare();
        let core = &mut self.core;
        core.packed.update(&core.program, &core.parameters);
        let outputs = rows * self.output_shape().len();
        let output = room(&mut self.output, outputs);
        self.core.pass(&mut self.passing, input, output, 0, None);
        output
    }

    /// What the last pass forward found, one row after another; there may be more behind that.
    pub fn outputs(&self) -> &[f32] {
        &self.output
    }

    /// From the gradient of a loss by the outputs of the last [`forward`](Self::forward): **adds** the gradients by
    /// the parameters to [`gradients`](Self::gradients), and if it is wanted, stores the gradient by the inputs.
    /// The parameters must still be those of the forward pass.
    ///
    /// # Panics
    /// If `by_output` does not hold as many rows as the last `forward` had, or `by_input` is not as long as its input.
    pub fn backward(&mut self, by_output: &[f32], by_input: Option<&mut [f32]>) {
        self.way_back(by_output, by_input, Start::Result);
    }

    /// The same, but **replaces** the gradients by the parameters: as after [`zero_gradients`](Self::zero_gradients),
    /// in less time.
    ///
    /// # Panics
    /// As [`backward`](Self::backward).
    pub fn backward_anew(&mut self, by_output: &[f32], by_input: Option<&mut [f32]>) {
        self.way_back(by_output, by_input, Start::Zero);
    }

    fn way_back(&mut self, by_output: &[f32], by_input: Option<&mut [f32]>, start: Start) {
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
        let anew = matches!(start, Start::Zero);
        if self.rows == 0 {
            if anew {
                self.gradients.fill(0.0);
            }
            return;
        }
        self.core.prepare();
        let core = &mut self.core;
        let from = usize::from(by_input.is_none());
        (core.packed).update_back(&core.program, &core.parameters, from);
        let core = &self.core;
        let run = core.run(self.rows, Some(self.drawn));
        let count = self.rows.div_ceil(run.block_rows);
        let group = count.div_ceil(GROUPS);
        let length = count.div_ceil(group) * core.program.partial;
        let partial = room(&mut self.partial, length);
        let blocks = &mut self.blocks[..count];
        run.backward(blocks, group, by_output, by_input, partial);
        let pieces = &core.program.pieces;
        run.pieces(pieces, blocks, start, &mut self.gradients, 0);
        let groups = partial.chunks_exact(core.program.partial.max(1));
        for (index, partial) in groups.enumerate() {
            for (to, from) in &core.program.summed {
                let (to, from) = (&mut self.gradients[to.clone()], &partial[from.clone()]);
                if index == 0 && anew {
                    to.copy_from_slice(from);
                } else {
                    core.processor.add(to, from);
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
}

/// The first numbers of a buffer that never shrinks.
fn room(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}
