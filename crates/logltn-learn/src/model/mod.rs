//! Everything that is learnt behind a theory's predicates: networks, embeddings, constants.
//!
//! In each step the engine says which argument rows it needs. The model adds the rows that one network
//! needs of another, runs every network once on all its distinct rows, and hands gradients back the same
//! way.

mod asked;
mod build;
mod closed;
mod gradients;
mod grid;
mod grounding;
mod inputs;
mod network_cost;
mod parameters;
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

use crate::given_numbers::Numbers;
use crate::knowledge::{Ground, KnowledgeBase};
use crate::random::Random;
use build::{Builder, Symbol};
use closed::Closed;
use gradients::{Gradients, Target};
pub use grounding::Grounding;
use inputs::Sources;
use logltn_nn::Floats;
pub use parameters::Parameters;
pub(crate) use rows::Rows;
use unit::{Feed, Piece, Unit};
use vectors::SortVectors;

/// The grounding of a predicate.
enum Grounded {
    /// Numbers, which do not learn.
    Numbers(Arc<Numbers>),
    /// Numbers of its own, which do, in the model's list of learnable tables.
    Learnable(usize),
    /// A network.
    Network,
    /// Arithmetic, in the model's list of closed forms.
    Closed(usize),
    /// The program that uses this crate; not yet given.
    Host,
    /// The same, given.
    Grounding(Box<dyn Grounding>),
}

/// What answers a request.
#[derive(Clone, Copy)]
enum Answer {
    /// A network, for arguments of the request's shape.
    Unit { unit: usize, feed: usize },
    /// Likewise a closed form.
    Closed { closed: usize, feed: usize },
    /// Whatever is behind the predicate.
    Own,
}

/// The networks and learnable vectors behind a theory.
pub struct Model {
    pub(crate) units: Vec<Unit>,
    vectors: Vec<SortVectors>,
    learnable: Vec<Parameters>,
    gradients: Gradients,
    closed: Vec<Closed>,
    behind: Vec<Grounded>,
    theory: Arc<Theory>,
    /// For each request of the current engine.
    answers: Vec<Answer>,
    /// Units so that each comes after those it reads.
    order: Vec<usize>,
    /// The units of symbols, and the shared hidden layers by name.
    symbols: Vec<(Symbol, usize)>,
    trunks: Vec<(String, usize)>,
    /// The numbers that are arguments.
    numbers: Vec<f64>,
    /// What functions that are given by data say, where networks read it.
    given: Vec<Arc<[f32]>>,
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

/// This many rows are looked up between two checks for a stop.
const ROWS_BETWEEN_LOOKS: usize = 1 << 16;

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
            match model.build(knowledge, PredicateId(i as u32)) {
                Ok(behind) => model.behind.push(behind),
                Err(errors) => found.extend(errors),
            }
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
        Model {
            units: Vec::new(),
            vectors,
            learnable,
            gradients: Gradients::default(),
            closed: Vec::new(),
            behind: Vec::new(),
            theory: Arc::clone(knowledge.data.theory()),
            answers: Vec::new(),
            order: Vec::new(),
            symbols: Vec::new(),
            trunks: Vec::new(),
            numbers: Vec::new(),
            given: vec![Arc::default(); knowledge.theory().functions.len()],
            said: Vec::new(),
            unchanged: false,
            seed: random.bits(),
            stop: Arc::default(),
            sparse: false,
        }
    }

    fn build(
        &mut self,
        knowledge: &KnowledgeBase,
        predicate: PredicateId,
    ) -> Result<Grounded, Diagnostics> {
        // A predicate whose arguments are functions' values is built when a request shows its shape.
        let arguments = &knowledge.theory()[predicate].arguments;
        let ground = &knowledge.predicates[predicate];
        match (arguments.iter().any(is_vector), ground) {
            (true, Ground::Network(_)) => Ok(Grounded::Network),
            (false, _) | (true, Ground::ClosedForm(_)) => {
                Builder::new(knowledge, self).behind(predicate)
            }
            (true, _) => Ok(Grounded::Host),
        }
    }

    /// Puts a network of the caller's own behind a predicate.
    pub(crate) fn ground(&mut self, predicate: PredicateId, grounding: Box<dyn Grounding>) {
        self.behind[predicate] = Grounded::Grounding(grounding);
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
        let mut builder = Builder::new(knowledge, self);
        let requests = engine.requests().iter();
        let answers = requests.map(|request| builder.attach(request));
        self.answers = answers.collect::<Result<_, _>>()?;
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
                let ready = reads.into_iter().all(|piece| match piece {
                    Piece::Unit { unit, .. } => placed[*unit],
                    _ => true,
                });
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
        self.hand_out_closed(engine, rows_are_new)?;
        // Not before: of rows that were not all looked through nothing is known the next time.
        self.unchanged = true;
        self.hand_out(engine)
    }

    /// The same for an engine of any precision, when no gradients are wanted: networks keep nothing, and
    /// numbers from files lose nothing. The engine must be [attached](Model::attach).
    pub fn evaluate<T: Precision>(&mut self, engine: &mut Engine<T>) -> Result<(), Diagnostics> {
        self.unchanged = false;
        self.ask(engine.requests())?;
        self.foretell();
        self.run(Purpose::Looking);
        self.evaluate_closed(engine)?;
        // What networks leave out when they are stopped must not be taken for what they say.
        self.unless_stopped()?;
        self.hand_out(engine)
    }

    /// Copies the networks' results to where the engine wants them.
    fn hand_out<T: Precision>(&mut self, engine: &mut Engine<T>) -> Result<(), Diagnostics> {
        for index in 0..engine.requests().len() {
            match self.answers[index] {
                Answer::Unit { unit, feed } => {
                    let unit = &self.units[unit];
                    let numbers = engine.numbers_mut(index);
                    let from = unit.feeds[feed].start * unit.output_width;
                    let outputs = &unit.outputs[from..from + numbers.len()];
                    for (number, &output) in numbers.iter_mut().zip(outputs) {
                        *number = T::from_f64(f64::from(output));
                    }
                }
                Answer::Closed { .. } => {}
                Answer::Own => self.hand_out_own(engine, index)?,
            }
        }
        Ok(())
    }

    fn hand_out_own<T: Precision>(
        &mut self,
        engine: &mut Engine<T>,
        index: usize,
    ) -> Result<(), Diagnostics> {
        let (request, numbers) = engine.request_and_numbers(index);
        if let Some(table) = self.table(&self.behind[request.predicate]) {
            let rows = Rows::from(request).iter();
            for (row, numbers) in rows.zip(numbers.chunks_exact_mut(request.width.max(1))) {
                let known = table.read(row).zip(numbers);
                known.for_each(|(x, number)| *number = x);
            }
            return Ok(());
        }
        match &mut self.behind[request.predicate] {
            Grounded::Grounding(grounding) => {
                self.said.clear();
                self.said.resize(request.rows() * request.width, 0.0);
                grounding.forward(request, &mut self.said)?;
                let numbers = numbers.iter_mut().zip(&self.said);
                numbers.for_each(|(number, &x)| *number = T::from_f64(f64::from(x)));
                Ok(())
            }
            _ => {
                let name = &self.theory[request.predicate].name;
                Err(Diagnostic::error(
                    Code::NotGrounded,
                    format!("nothing grounds predicate `{name}`"),
                )
                .help(format!(
                    "in a manifest, give it a `network` and an `output`, or numbers, in `[predicates.{name}]`; in a program, \
                     `Session::ground` supplies one"
                ))
                .into())
            }
        }
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
        for behind in &mut self.behind {
            if let Grounded::Grounding(grounding) = behind {
                grounding.visit_parameters(&mut |_, _, gradients| gradients.fill(0.0));
            }
        }
        for (index, request) in engine.requests().iter().enumerate() {
            let gradient = engine.gradient(index);
            if let Answer::Unit { unit: answer, feed } = self.answers[index] {
                let unit = &self.units[answer];
                let from = unit.feeds[feed].start * unit.output_width;
                self.gradients.units[answer][from..from + gradient.len()].copy_from_slice(gradient);
                continue;
            }
            match &mut self.behind[request.predicate] {
                Grounded::Grounding(grounding) => grounding.backward(request, gradient),
                Grounded::Learnable(table) => {
                    let gradients = &mut self.gradients.tables[*table];
                    let table = &self.learnable[*table];
                    for (row, by) in gradient.chunks_exact(request.width.max(1)).enumerate() {
                        let start = table.place(request.row(row)) * by.len();
                        let gradients = &mut gradients[start..start + by.len()];
                        gradients.iter_mut().zip(by).for_each(|(g, by)| *g += by);
                    }
                }
                Grounded::Numbers(_) | Grounded::Network | Grounded::Closed(_) | Grounded::Host => {
                }
            }
        }
        self.backward_closed(engine);
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
        self.units
            .iter_mut()
            .flat_map(|u| &mut u.feeds)
            .for_each(|f| f.clear());
        // All requests of an engine share them.
        let numbers = requests.first().map_or(&[][..], Request::numbers);
        self.set_numbers(numbers);
        for (index, request) in requests.iter().enumerate() {
            let Answer::Unit { unit, feed } = self.answers[index] else {
                continue;
            };
            let feed = &mut self.units[unit].feeds[feed];
            for row in 0..request.rows() {
                if row.is_multiple_of(ROWS_BETWEEN_LOOKS) && self.stop.load(Ordering::Relaxed) {
                    return self.unless_stopped();
                }
                feed.row(request.row(row));
            }
        }
        self.ask_for_closed(requests);
        self.ask_among_units();
        Ok(())
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
                    piece.ask(&mut self.units, rows);
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
            let outputs = match purpose {
                Purpose::Training => this.network.forward_keeping(&this.inputs, rows, learning),
                Purpose::Looking => this.network.forward_only(&this.inputs, rows),
            };
            this.outputs.clear();
            this.outputs.extend_from_slice(outputs);
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
