//! Everything that is learnt behind a theory's predicates: networks, embeddings, constants.
//!
//! In each step the engine says which argument rows it needs. The model adds the rows that one network
//! needs of another, runs every network once on all its distinct rows, and hands gradients back the same
//! way.

mod asked;
mod build;
mod gradients;
mod grid;
mod grounding;
mod inputs;
mod network_cost;
mod parameters;
mod program;
mod read_rows;
mod rows;
mod stored;
mod table;
mod unit;
mod vectors;
mod written_inputs;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use logltn::theory::{ArgumentSort, PredicateId};
use logltn::{ArgumentShape, Code, Diagnostic, Diagnostics, Engine, Precision, Request, Theory};

use crate::knowledge::KnowledgeBase;
use crate::random::Random;
use build::{Builder, Symbol};
use gradients::{Gradients, Target};
pub use grounding::Grounding;
use inputs::Sources;
use logltn_nn::Floats;
pub use parameters::Parameters;
use program::Program;
pub(crate) use rows::Rows;
use table::Given;
use unit::{Feed, Piece, Unit};
use vectors::SortVectors;

/// What answers a request: a program, applied to arguments of the request's shape.
#[derive(Clone, Copy)]
struct Answer {
    program: usize,
    feed: usize,
}

/// The networks and learnable vectors behind a theory.
pub struct Model {
    pub(crate) units: Vec<Unit>,
    vectors: Vec<SortVectors>,
    learnable: Vec<Parameters>,
    gradients: Gradients,
    programs: Vec<Program>,
    /// What a program puts behind predicates itself.
    hosts: Vec<Option<Box<dyn Grounding>>>,
    theory: Arc<Theory>,
    /// For each request of the current engine; `None`: a host.
    answers: Vec<Option<Answer>>,
    /// Units so that each comes after those it reads.
    order: Vec<usize>,
    /// The units of symbols, and the shared hidden layers by name.
    symbols: Vec<(Symbol, usize)>,
    trunks: Vec<(String, usize)>,
    /// The numbers that are arguments.
    numbers: Vec<f64>,
    /// What functions and then predicates say that are given by data.
    given: Vec<Given>,
    /// What a host says, on its way to the engine.
    said: Vec<f32>,
    /// The rows, and the inputs that are data, are those of the last step.
    unchanged: bool,
    /// Where the initial weights of units come from.
    seed: u64,
    /// Set to stop whatever is being computed.
    stop: Arc<AtomicBool>,
    /// Steps keep account of the rows of tables that they read.
    sparse: bool,
}

/// Why the networks run.
#[derive(Clone, Copy)]
enum Purpose {
    /// A backward pass follows.
    Training,
    /// Nothing needs to be kept.
    Looking,
}

/// Randomness for initial weights, apart from that of batches.
const INITIAL: u64 = 1;

impl Model {
    /// The model of a knowledge base, with random weights.
    ///
    /// # Errors
    /// With what is wrong with the networks of all predicates. For that, features need not be there, only their shapes.
    pub fn new(knowledge: &KnowledgeBase, seed: u64) -> Result<Model, Diagnostics> {
        vectors::check_memory(knowledge)?;
        let mut model = Model::without_networks(knowledge, seed);
        let mut found = Diagnostics::new();
        for i in 0..knowledge.predicates.len() {
            let grounded = Builder::new(knowledge, &mut model).ground(PredicateId(i as u32));
            found.extend(grounded.err().unwrap_or_default());
        }
        let zeros = |table: &Parameters| Floats::zeros(table.values.len());
        model.gradients.tables = model.learnable.iter().map(zeros).collect();
        model.sort_units();
        found.into_result(model).map(|(model, _)| model)
    }

    fn without_networks(knowledge: &KnowledgeBase, seed: u64) -> Model {
        let mut random = Random::new(seed, INITIAL);
        let mut learnable = Vec::new();
        let vectors = vectors::of(knowledge, &mut learnable, &mut random);
        let theory = knowledge.theory();
        let predicates = theory.predicates.len();
        Model {
            units: Vec::new(),
            vectors,
            learnable,
            gradients: Gradients::default(),
            programs: Vec::new(),
            hosts: std::iter::repeat_with(|| None).take(predicates).collect(),
            theory: Arc::clone(knowledge.data.theory()),
            answers: Vec::new(),
            order: Vec::new(),
            symbols: Vec::new(),
            trunks: Vec::new(),
            numbers: Vec::new(),
            given: vec![Given::default(); theory.functions.len() + predicates],
            said: Vec::new(),
            unchanged: false,
            seed: random.bits(),
            stop: Arc::default(),
            sparse: false,
        }
    }

    /// Puts a network of the caller's own behind a predicate.
    pub(crate) fn ground(&mut self, predicate: PredicateId, grounding: Box<dyn Grounding>) {
        self.hosts[predicate] = Some(grounding);
    }

    /// Networks and closed forms stop soon after this flag is set, with whatever they have.
    pub(crate) fn set_stop(&mut self, flag: &Arc<AtomicBool>) {
        for unit in &mut self.units {
            unit.network.set_stop(Arc::clone(flag));
        }
        self.stop = Arc::clone(flag);
    }

    /// The flag of [`Model::set_stop`].
    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// An error if it was asked to stop: what has been computed since is good for nothing.
    pub(crate) fn unless_stopped(&self) -> Result<(), Diagnostics> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(Diagnostic::error(Code::Interrupted, "it was asked to stop").into()),
            false => Ok(()),
        }
    }

    /// Prepares for the requests of an engine: every shape of arguments gets its feed. Must be called
    /// before the first step with that engine.
    pub fn attach<T: Precision>(
        &mut self,
        knowledge: &KnowledgeBase,
        engine: &Engine<T>,
    ) -> Result<(), Diagnostics> {
        self.answers.clear();
        for request in engine.requests() {
            let program = self.program_of(request.predicate);
            let mut builder = Builder::new(knowledge, self);
            let answer = program.map(|program| builder.answer(program, &request.shape));
            self.answers.push(answer.transpose()?);
        }
        self.sort_units();
        self.unchanged = false;
        Ok(())
    }

    /// Each unit after those it reads.
    fn sort_units(&mut self) {
        let mut order = Vec::with_capacity(self.units.len());
        let mut placed = vec![false; self.units.len()];
        while order.len() < self.units.len() {
            let before = order.len();
            for unit in 0..self.units.len() {
                let reads = self.units[unit].feeds.iter().flat_map(|f| &f.pieces);
                let mut read = reads.filter_map(Piece::reads);
                let ready = read.all(|(unit, ..)| placed[unit]);
                if !placed[unit] && ready {
                    placed[unit] = true;
                    order.push(unit);
                }
            }
            if order.len() == before {
                break; // a cycle, which the builder has refused
            }
        }
        self.order = order;
    }

    /// Fills in the numbers of all requests of the engine. `batch_changed` says whether its requests are
    /// others than at the last call.
    pub fn forward(
        &mut self,
        engine: &mut Engine<f32>,
        batch_changed: bool,
    ) -> Result<(), Diagnostics> {
        let rows_are_new = batch_changed || !self.unchanged;
        if rows_are_new {
            self.unchanged = false;
            self.ask(engine.requests())?;
        }
        self.run(Purpose::Training);
        for index in 0..self.answers.len() {
            let request = engine.request_and_numbers(index);
            match self.answers[index] {
                Some(answer) => self.forward_program(answer, request, rows_are_new)?,
                None => self.ask_host(request)?,
            }
        }
        // Not before: of rows that were not all looked through nothing is known the next time.
        self.unchanged = true;
        Ok(())
    }

    /// The same for an engine of any precision, when no gradients are wanted: networks keep nothing, and
    /// numbers from files lose nothing. The engine must be [attached](Model::attach).
    pub fn evaluate<T: Precision>(&mut self, engine: &mut Engine<T>) -> Result<(), Diagnostics> {
        self.unchanged = false;
        self.ask(engine.requests())?;
        self.foretell();
        self.run(Purpose::Looking);
        for index in 0..self.answers.len() {
            let (request, numbers) = engine.request_and_numbers(index);
            match self.answers[index] {
                Some(answer) => self.evaluate_program(answer, (request.into(), numbers))?,
                None => self.ask_host((request, numbers))?,
            }
        }
        // What networks leave out when they are stopped must not be taken for what they say.
        self.unless_stopped()
    }

    /// Fills in what a host says.
    fn ask_host<T: Precision>(
        &mut self,
        (request, numbers): (&Request, &mut [T]),
    ) -> Result<(), Diagnostics> {
        let Some(host) = &mut self.hosts[request.predicate] else {
            let name = &self.theory[request.predicate].name;
            let what = format!("nothing grounds predicate `{name}`");
            return Err(Diagnostic::error(Code::NotGrounded, what)
                .help(format!(
                    "in a manifest, give it a `network` and an `output`, or numbers, in `[predicates.{name}]`; in a program, \
                     `Session::ground` supplies one"
                ))
                .into());
        };
        self.said.clear();
        self.said.resize(request.rows() * request.width, 0.0);
        host.forward(request, &mut self.said)?;
        let numbers = numbers.iter_mut().zip(&self.said);
        numbers.for_each(|(number, &x)| *number = T::from_f64(f64::from(x)));
        Ok(())
    }

    /// Says which step of the training comes next, counted from 0: what dropout drops depends on it, so that a
    /// training that was interrupted continues with the same bits.
    pub(crate) fn set_step(&mut self, step: u64) {
        let networks = self.units.iter_mut().map(|unit| &mut unit.network);
        networks.for_each(|network| network.set_step(step));
    }

    /// Takes the gradients of all requests of the engine, after its backward pass: the gradients by all parameters
    /// are then those of this step, whatever they were before.
    pub fn backward(&mut self, engine: &Engine<f32>) {
        for index in 0..self.units.len() {
            let has_twins = self.has_twins(index);
            let unit = &mut self.units[index];
            if has_twins {
                unit.network.zero_gradients();
            }
            let length = unit.rows_that_learn() * unit.output_width;
            self.gradients.of(Target::Unit(index)).reset(length);
        }
        self.zero_tables();
        self.list_read_rows(engine);
        for host in self.hosts.iter_mut().flatten() {
            host.visit_parameters(&mut |_, _, gradients| gradients.fill(0.0));
        }
        for (index, request) in engine.requests().iter().enumerate() {
            let by = engine.gradient(index);
            if let Some(answer) = self.answers[index] {
                self.backward_program(answer, request, by);
            } else if let Some(host) = &mut self.hosts[request.predicate] {
                host.backward(request, by);
            }
        }
        for at in (0..self.order.len()).rev() {
            self.backward_unit(self.order[at]);
        }
    }

    /// Whether other units use the parameters of this one.
    fn has_twins(&self, unit: usize) -> bool {
        self.units.iter().any(|u| u.twin_of == Some(unit))
    }

    /// The numbers that are arguments.
    pub(crate) fn set_numbers(&mut self, numbers: &[f64]) {
        self.numbers.clear();
        self.numbers.extend_from_slice(numbers);
    }

    /// Which rows each unit must answer: those of the requests first, then those that units need from
    /// others.
    fn ask(&mut self, requests: &[Request]) -> Result<(), Diagnostics> {
        debug_assert!(self.is_attached_to(requests), "another engine is attached");
        self.units
            .iter_mut()
            .flat_map(|u| &mut u.feeds)
            .for_each(|f| f.clear());
        // All requests of an engine share them.
        let numbers = requests.first().map_or(&[][..], Request::numbers);
        self.set_numbers(numbers);
        self.ask_for_programs(requests);
        self.ask_among_units();
        self.unless_stopped()
    }

    fn ask_among_units(&mut self) {
        for unit in &mut self.units {
            let pieces = unit.feeds.iter_mut().flat_map(|f| &mut f.pieces);
            pieces.for_each(Piece::forget);
        }
        // What a gradient can come back to is asked first, so that it lies together.
        self.ask_others(true);
        for feed in self.units.iter_mut().flat_map(|u| &mut u.feeds) {
            feed.learning = feed.rows;
        }
        self.ask_others(false);
        for unit in &mut self.units {
            let mut start = 0;
            for feed in &mut unit.feeds {
                feed.start = start;
                start += feed.rows;
            }
        }
    }

    /// Requests what units need from others and have not requested yet: all of it, or only what can receive a
    /// gradient.
    fn ask_others(&mut self, only_learning: bool) {
        for at in (0..self.order.len()).rev() {
            let unit = self.order[at];
            for feed in 0..self.units[unit].feeds.len() {
                // No unit reads itself.
                let mut own = std::mem::take(&mut self.units[unit].feeds[feed]);
                let mut pieces = std::mem::take(&mut own.pieces);
                let asking = pieces.iter_mut().filter(|p| !only_learning || !p.stops());
                asking.for_each(|piece| {
                    let rows = (0..own.rows).map(|row| own.tuple(row));
                    piece.ask(&mut self.units, rows, &self.stop);
                });
                self.units[unit].feeds[feed] = Feed { pieces, ..own };
            }
        }
    }

    /// Runs every unit on its rows.
    fn run(&mut self, purpose: Purpose) {
        for at in 0..self.order.len() {
            let index = self.order[at];
            if let Some(original) = self.units[index].twin_of {
                let parameters = self.units[original].network.parameters().to_vec();
                let twin = &mut self.units[index].network;
                twin.parameters_mut().copy_from_slice(&parameters);
            }
            let mut inputs = std::mem::take(&mut self.units[index].inputs);
            if !(self.unchanged && self.units[index].reads_data_only) {
                self.sources().put_together(index, &mut inputs);
            }
            let this = &mut self.units[index];
            this.inputs = inputs;
            let (rows, learning) = (this.rows(), this.rows_that_learn());
            match purpose {
                Purpose::Training => this.network.forward_keeping(&this.inputs, rows, learning),
                Purpose::Looking => this.network.forward_only(&this.inputs, rows),
            };
        }
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            units: &self.units,
            vectors: &self.vectors,
            learnable: &self.learnable,
            numbers: &self.numbers,
            given: &self.given,
            stop: &self.stop,
        }
    }

    fn backward_unit(&mut self, index: usize) {
        let mut by_inputs = std::mem::take(&mut self.units[index].by_inputs);
        // The gradients of twins may be there already.
        let has_twins = self.has_twins(index);
        let unit = &mut self.units[index];
        let by_outputs = self.gradients.of(Target::Unit(index));
        let by = unit.passes_gradient.then(|| {
            by_inputs.resize(unit.rows_that_learn() * unit.input_width, 0.0);
            by_inputs.as_mut_slice()
        });
        if has_twins {
            unit.network.backward(by_outputs, by);
        } else {
            unit.network.backward_anew(by_outputs, by);
        }
        if let Some(original) = unit.twin_of {
            let found = unit.network.gradients().to_vec();
            let sum = self.units[original].network.gradients_mut();
            sum.iter_mut().zip(&found).for_each(|(g, by)| *g += by);
        }
        let mut gradients = std::mem::take(&mut self.gradients);
        let (unit, sources) = (&self.units[index], self.sources());
        let learning = |feed: &&Feed| unit.passes_gradient && feed.learning > 0;
        for feed in unit.feeds.iter().filter(learning) {
            let rows = Rows {
                individuals: &feed.tuples,
                arity: feed.arity,
                count: feed.learning,
                numbers: &[],
            };
            let mut from = feed.start * unit.input_width;
            for piece in &feed.pieces {
                if !piece.stops() {
                    let by = (&by_inputs[from..], unit.input_width);
                    gradients.add(piece, by, (rows, 0), sources);
                }
                from += piece.width();
            }
        }
        self.gradients = gradients;
        self.units[index].by_inputs = by_inputs;
    }
}

fn is_vector(sort: &ArgumentSort) -> bool {
    matches!(sort, ArgumentSort::Vector(_))
}

/// Arguments that are given in rows: individuals and numbers.
fn rows_shape(arguments: &[ArgumentSort]) -> Result<Vec<ArgumentShape>, Diagnostics> {
    let shape = arguments.iter().map(|argument| match argument {
        ArgumentSort::Sort(sort) => Ok(ArgumentShape::Individual(*sort)),
        ArgumentSort::Vector(1) => Ok(ArgumentShape::Number),
        ArgumentSort::Vector(_) => Err(Diagnostic::error(
            Code::VectorArgument,
            "a predicate or function with a vector argument cannot be asked about rows",
        )),
    });
    Ok(shape.collect::<Result<_, Diagnostic>>()?)
}
