//! Worlds that satisfy the laws, given a model's probability for each atom by itself.

use logltn::theory::{ArgumentSort, PredicateId};
use logltn::{ArgumentShape, Data, Diagnostics, Engine, Output, OutputKind, Plan, Request};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::axioms;
use crate::degrees::largest;
use crate::knowledge::KnowledgeBase;
use crate::model::{Model, Rows};
use crate::predictions::Predictions;
use crate::random::Random;

/// The plan of some laws, by name: axioms, families, members of families.
///
/// # Errors
/// If there is no such axiom, if no world keeps all of them, or if they are too hard to compile.
pub fn plan_of_laws(data: &Data, outputs: &[Output], laws: &[String]) -> Result<Plan, Diagnostics> {
    check_laws(data, laws)?;
    let mut data = data.clone();
    data.set_laws(laws);
    let plan = Plan::for_worlds(&data, outputs)?;
    axioms::check_members(&plan, laws.iter().map(String::as_str))?;
    Ok(plan)
}

/// Whether these are axioms or families of a theory, or may be members of families.
///
/// # Errors
/// With those that are not.
pub fn check_laws(data: &Data, laws: &[String]) -> Result<(), Diagnostics> {
    let theory = data.theory();
    let mut wrong = Diagnostics::new();
    for law in laws {
        if theory.axiom(law.split('[').next().unwrap_or(law)).is_none() {
            let names = theory.axioms.iter().map(|axiom| axiom.name.as_str());
            wrong.push(axioms::no_such(law, names));
        }
    }
    wrong.into_result(()).map(drop)
}

/// Which of a request's numbers the laws involve, and what they make of them.
#[derive(Clone, Debug, Default)]
struct Told {
    /// By number.
    in_laws: Vec<bool>,
    /// By number.
    marginals: Vec<f64>,
}

/// The atoms that the laws involve, and their distribution given the laws.
pub struct Worlds {
    engine: Engine<f64>,
    /// For each predicate: the request and the argument rows that the laws involve. A numeric argument is its bits.
    places: Vec<FxHashMap<Vec<u64>, (usize, usize)>>,
    told: Vec<Told>,
}

/// What worlds say of the atoms of one predicate.
pub struct InWorld {
    /// By row, as they were asked: of a softmax the class, of others 0 or 1 for each number of the row.
    pub states: Vec<Vec<u32>>,
    /// The log of the probability of the joint state of all these atoms, and of those that laws connect with them.
    pub log_probability: f64,
}

impl Worlds {
    /// The worlds that keep these laws. [`Worlds::look`] asks a model about their atoms.
    ///
    /// # Errors
    /// As [`plan_of_laws`].
    pub fn new(knowledge: &KnowledgeBase, laws: &[String]) -> Result<Worlds, Diagnostics> {
        let plan = plan_of_laws(&knowledge.data, &knowledge.outputs, laws)?;
        Ok(Worlds::of_engine(knowledge, Engine::new(plan)))
    }

    /// The worlds of an engine that has laws alone.
    pub(crate) fn of_engine(knowledge: &KnowledgeBase, engine: Engine<f64>) -> Worlds {
        let mut places = vec![FxHashMap::default(); knowledge.theory().predicates.len()];
        let mut told = Vec::new();
        let in_laws = engine.in_events();
        for ((at, request), in_laws) in engine.requests().iter().enumerate().zip(in_laws) {
            told.push(Told {
                marginals: vec![0.0; in_laws.len()],
                in_laws,
            });
            // What is said of the values of functions is said of no individual.
            if !is_plain(request) {
                continue;
            }
            for row in 0..request.rows() {
                let key =
                    (request.shape.iter().zip(request.row(row))).map(|(shape, leaf)| match shape {
                        ArgumentShape::Number => request.number(*leaf).to_bits(),
                        _ => u64::from(*leaf),
                    });
                places[request.predicate].insert(key.collect(), (at, row));
            }
        }
        Worlds {
            engine,
            places,
            told,
        }
    }

    /// Makes sure that a model has all that will be asked of it. Its parameters do not change after that.
    ///
    /// # Errors
    /// If a network cannot be built.
    pub fn prepare(&self, knowledge: &KnowledgeBase, model: &mut Model) -> Result<(), Diagnostics> {
        model.attach(knowledge, &self.engine)
    }

    /// Queries the current model for all atoms that the laws involve.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn look(
        &mut self,
        knowledge: &KnowledgeBase,
        model: &mut Model,
    ) -> Result<(), Diagnostics> {
        model.attach(knowledge, &self.engine)?;
        model.evaluate(&mut self.engine)
    }

    /// Finds out how probable each atom is given the laws, for [`Worlds::condition`]. After [`Worlds::look`].
    ///
    /// # Errors
    /// If the laws hold in no world that the model thinks possible, or if that is too hard, other than a single world.
    pub fn sum_up(&mut self) -> Result<(), Diagnostics> {
        for (told, marginals) in self.told.iter_mut().zip(self.engine.marginals()?) {
            told.marginals = marginals;
        }
        Ok(())
    }

    /// For each row: where its numbers are, if the laws involve it.
    fn found<'a>(&'a self, of: &'a RowsOf) -> impl Iterator<Item = Option<(usize, usize)>> + 'a {
        let places = &self.places[of.predicate];
        let mut key = Vec::with_capacity(of.arguments.len());
        of.rows.iter().map(move |row| {
            key.clear();
            let own = of.arguments.iter().zip(row);
            key.extend(own.map(|(argument, &i)| match argument {
                ArgumentSort::Sort(_) => u64::from(i),
                ArgumentSort::Vector(_) => of.rows.numbers[i as usize].to_bits(),
            }));
            places.get(&key).copied()
        })
    }

    /// Whether the laws involve a predicate at these individuals.
    pub(crate) fn speak_of(&self, predicate: PredicateId) -> bool {
        !self.places[predicate].is_empty()
    }

    /// Makes the degrees of rows, `width` to a row, conditional on the laws. After [`Worlds::sum_up`].
    pub fn condition(&self, of: &RowsOf, width: usize, degrees: &mut [f64]) {
        let width = width.max(1);
        for (place, numbers) in self.found(of).zip(degrees.chunks_exact_mut(width)) {
            let Some((request, at)) = place else { continue };
            let told = &self.told[request];
            for (k, number) in numbers.iter_mut().enumerate() {
                if told.in_laws[at * width + k] {
                    *number = told.marginals[at * width + k];
                }
            }
        }
    }

    /// The states of rows in a world, the likelier one if the laws do not involve them.
    pub(crate) fn states_in(
        &self,
        world: &[Vec<u32>],
        of: &RowsOf,
        said: &Predictions,
    ) -> Vec<Vec<u32>> {
        states(Some((self, world)), of, said, &mut |degrees, k| {
            likelier(of.output.kind, degrees)[k]
        })
    }

    /// Worlds at random, for [`draw`]. After [`Worlds::look`].
    ///
    /// # Errors
    /// If it was asked to stop.
    pub fn sample(&mut self, count: usize, seed: u64) -> Result<Vec<Vec<Vec<u32>>>, Diagnostics> {
        self.engine.sample_worlds(count, seed)
    }
}

fn is_plain(request: &Request) -> bool {
    let plain = |shape: &ArgumentShape| {
        matches!(shape, ArgumentShape::Individual(_) | ArgumentShape::Number)
    };
    request.shape.iter().all(plain)
}

/// Some rows of a predicate.
#[derive(Clone, Copy, Debug)]
pub struct RowsOf<'a> {
    pub(crate) predicate: PredicateId,
    pub(crate) output: Output,
    /// What a row has, without the class.
    pub(crate) arguments: &'a [ArgumentSort],
    pub(crate) rows: Rows<'a>,
}

impl<'a> RowsOf<'a> {
    /// The rows of a request, if they are of individuals and numbers.
    pub(crate) fn plain(
        request: &'a Request,
        output: Output,
        arguments: &'a [ArgumentSort],
    ) -> Option<RowsOf<'a>> {
        is_plain(request).then(|| RowsOf {
            predicate: request.predicate,
            output,
            arguments: &arguments[..request.shape.len()],
            rows: request.into(),
        })
    }

    /// How many variables a row has.
    fn variables(&self, width: usize) -> usize {
        match self.output.kind {
            OutputKind::Softmax => 1,
            _ => width,
        }
    }
}

/// The state of some atoms in the most probable world; `said` are their degrees without laws. After [`Worlds::look`].
///
/// # Errors
/// If it is too hard to find.
pub fn world(
    worlds: Option<&mut Worlds>,
    of: &RowsOf,
    said: &Predictions,
) -> Result<InWorld, Diagnostics> {
    let (mut places, mut found) = (vec![None; of.rows.count], None);
    if let Some(worlds) = worlds {
        places = worlds.found(of).collect();
        found = Some(worlds.engine.world()?);
    }
    let width = said.width.max(1);
    let per_row = of.variables(width);
    let (mut rows, mut groups) = (FxHashSet::default(), FxHashSet::default());
    let mut log_probability = 0.0;
    let mut states = Vec::with_capacity(places.len());
    for ((row, place), degrees) in (places.into_iter().enumerate()).zip(said.rows()) {
        let mut own = likelier(of.output.kind, degrees);
        let is_new = rows.insert(of.rows.row(row));
        for (k, state) in own.iter_mut().enumerate() {
            let in_laws = found
                .as_ref()
                .zip(place)
                .and_then(|(world, (request, at))| {
                    let at = at * per_row + k;
                    Some((world.states[request][at], world.groups[request][at]?, world))
                });
            match in_laws {
                Some((told, group, world)) => {
                    *state = told;
                    if groups.insert(group) {
                        log_probability += world.by_group[group as usize];
                    }
                }
                None if is_new => log_probability += log_of(of.output.kind, degrees, k, *state),
                None => {}
            }
        }
        states.push(own);
    }
    Ok(InWorld {
        states,
        log_probability,
    })
}

/// The state of some atoms in a world of [`Worlds::sample`]: as it says where laws speak of them, and at random by their own
/// degrees (`said`, without laws) otherwise.
pub fn draw(
    world: Option<(&Worlds, &[Vec<u32>])>,
    of: &RowsOf,
    said: &Predictions,
    random: &mut Random,
) -> Vec<Vec<u32>> {
    states(world, of, said, &mut |degrees, k| match of.output.kind {
        OutputKind::Softmax => pick(degrees, random),
        _ => u32::from(random.uniform() < degrees[k]),
    })
}

/// The states of rows: those of a world where laws speak of them, otherwise what `free` makes of the degrees and the place in
/// them.
fn states(
    world: Option<(&Worlds, &[Vec<u32>])>,
    of: &RowsOf,
    said: &Predictions,
    free: &mut dyn FnMut(&[f64], usize) -> u32,
) -> Vec<Vec<u32>> {
    let places: Vec<_> = match world {
        Some((worlds, _)) => worlds.found(of).collect(),
        None => vec![None; of.rows.count],
    };
    let width = said.width.max(1);
    let per_row = of.variables(width);
    let mut states = Vec::with_capacity(places.len());
    for (place, degrees) in places.into_iter().zip(said.rows()) {
        let state = |k: usize| {
            let told = world
                .zip(place)
                .and_then(|((worlds, world), (request, at))| {
                    let is_told = worlds.told[request].in_laws[at * width + k];
                    is_told.then(|| world[request][at * per_row + k])
                });
            told.unwrap_or_else(|| free(degrees, k))
        };
        states.push((0..per_row).map(state).collect());
    }
    states
}

fn pick(degrees: &[f64], random: &mut Random) -> u32 {
    let mut left = random.uniform() * degrees.iter().sum::<f64>();
    for (class, degree) in degrees.iter().enumerate() {
        left -= degree;
        if left < 0.0 {
            return class as u32;
        }
    }
    // Rounding; nothing that is impossible may be drawn.
    degrees.iter().rposition(|d| *d > 0.0).unwrap_or(0) as u32
}

/// The likeliest state of each variable of a row; ties go to the first class, or to 0.
fn likelier(kind: OutputKind, degrees: &[f64]) -> Vec<u32> {
    match kind {
        OutputKind::Softmax => vec![largest(degrees) as u32],
        _ => degrees.iter().map(|d| u32::from(*d > 0.5)).collect(),
    }
}

fn log_of(kind: OutputKind, degrees: &[f64], k: usize, state: u32) -> f64 {
    match (kind, state) {
        (OutputKind::Softmax, class) => degrees[class as usize].ln(),
        (_, 0) => (-degrees[k]).ln_1p(),
        _ => degrees[k].ln(),
    }
}
