//! Whether a formula follows from the axioms in classical logic: a proof either way, where sorts are finite.

use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{Code, Diagnostics, Engine, OutputKind, Plan, Source};

use crate::entails::{Counterexample, MOST_TUPLES, TupleTruth};
use crate::knowledge::{Ground, KnowledgeBase};
use crate::model::Model;
use crate::predict::Asked;
use crate::predictions::Answers;
use crate::worlds::Worlds;

/// What [`entails_exactly`] finds.
#[derive(Clone, Debug)]
pub enum Exactly {
    /// In every world in which the axioms hold, the formula does.
    Entailed {
        /// Whether there is such a world: otherwise everything follows.
        satisfiable: bool,
    },
    /// A world in which the axioms hold and the formula does not: atoms are 0 or 1.
    Refuted(Counterexample),
    /// It would take more time or memory than is allowed.
    TooHard(Diagnostics),
}

/// Whether a closed formula follows from the axioms. Atoms that data makes true or false, of degree 1 or 0, are so in all worlds;
/// all others, whatever is behind them, are free.
///
/// # Errors
/// If the formula cannot be understood.
pub fn entails_exactly(knowledge: &KnowledgeBase, formula: &str) -> Result<Exactly, Diagnostics> {
    // Without `find`.
    knowledge
        .theory()
        .parse_formula(Source::new("formula", formula))?;
    let query = (knowledge.theory()).parse_query(Source::new("formula", formula))?;
    let plan = |query| Plan::for_refuting(&knowledge.data, &knowledge.outputs, query);
    let counterexample = plan(Some(&query)).and_then(|plan| refute(knowledge, plan));
    match unless_none(counterexample)? {
        Found::World(shown) => Ok(Exactly::Refuted(shown)),
        Found::TooHard(errors) => Ok(Exactly::TooHard(errors)),
        Found::None => {
            let satisfiable = match knowledge.theory().axioms.is_empty() {
                true => true,
                false => {
                    let model = plan(None).and_then(|plan| refute(knowledge, plan));
                    // Where that is too hard to tell, the formula follows anyway.
                    !matches!(unless_none(model)?, Found::None)
                }
            };
            Ok(Exactly::Entailed { satisfiable })
        }
    }
}

enum Found {
    World(Counterexample),
    None,
    TooHard(Diagnostics),
}

fn unless_none(found: Result<Counterexample, Diagnostics>) -> Result<Found, Diagnostics> {
    match found {
        Ok(world) => Ok(Found::World(world)),
        Err(errors) if errors.iter().any(|e| e.code() == Code::Contradiction) => Ok(Found::None),
        Err(errors) if errors.iter().any(|e| e.code() == Code::TooHard) => {
            Ok(Found::TooHard(errors))
        }
        Err(errors) => Err(errors),
    }
}

/// A world of the plan's laws.
fn refute(knowledge: &KnowledgeBase, plan: Plan) -> Result<Counterexample, Diagnostics> {
    let mut engine = Engine::<f64>::new(plan);
    let mut model = Model::new(knowledge, 0)?;
    model.attach(knowledge, &engine)?;
    model.evaluate(&mut engine)?;
    for request in 0..engine.requests().len() {
        let predicate = engine.requests()[request].predicate;
        let (kind, is_data) = (
            knowledge.outputs[predicate.index()].kind,
            is_data(knowledge, predicate),
        );
        for number in engine.numbers_mut(request) {
            if !(is_data && is_certain(kind, *number)) {
                *number = undecided(kind);
            }
        }
    }
    let world = engine.world()?;
    let worlds = Worlds::of_engine(knowledge, engine);
    let axioms = (knowledge.theory().axioms.iter()).map(|axiom| (axiom.name.clone(), 1.0));
    let mut shown = Counterexample {
        axioms: axioms.collect(),
        predicates: Vec::new(),
    };
    for predicate in &knowledge.theory().predicates {
        let Ok(asked) = Asked::new(knowledge, &predicate.name) else {
            continue; // of vectors, which have no tuples to show
        };
        let Some(tuples) = asked.tuples(knowledge) else {
            continue;
        };
        let classes = match asked.answers() {
            Answers::Classes(sort) => Some(sort),
            _ => None,
        };
        let width = classes.map_or(1, |sort| knowledge.data.size(sort));
        if tuples.saturating_mul(width as u128) > MOST_TUPLES {
            continue;
        }
        let rows = asked.some_tuples(knowledge, 0, tuples as u64);
        let mut said = asked.predict(knowledge, &mut model, &rows, &[])?;
        let Some(of) = asked.rows_of(&rows, &[]) else {
            continue;
        };
        // An atom that no formula mentions may have any value.
        let data = is_data(knowledge, of.predicate);
        let certain = |x: &mut f64| {
            *x = if data && (*x == 0.0 || *x == 1.0) {
                *x
            } else {
                0.0
            }
        };
        said.numbers.iter_mut().for_each(certain);
        let states = worlds.states_in(&world.states, &of, &said);
        let mut all: Vec<TupleTruth> = Vec::new();
        for (row, states) in states.iter().enumerate() {
            let tuple: Vec<String> = (asked.arguments().iter().zip(of.row(row)))
                .map(|(argument, &i)| match argument {
                    ArgumentSort::Sort(sort) => name(knowledge, *sort, i as usize),
                    ArgumentSort::Vector(_) => String::new(),
                })
                .collect();
            for class in 0..width {
                let holds = match (of.output.kind, states.as_slice()) {
                    (OutputKind::Softmax, [state]) => *state as usize == class,
                    (_, states) => states[class] == 1,
                };
                let class = classes.map(|sort| name(knowledge, sort, class));
                let tuple = tuple.iter().cloned().chain(class).collect();
                all.push((tuple, f64::from(u8::from(holds))));
            }
        }
        shown.predicates.push((predicate.name.clone(), all));
    }
    Ok(shown)
}

fn name(knowledge: &KnowledgeBase, sort: SortId, index: usize) -> String {
    let name = knowledge.theory()[sort].individual_name(index);
    name.strip_prefix('#').map_or(name.clone(), str::to_string)
}

/// Whether nothing behind a predicate is learnt.
fn is_data(knowledge: &KnowledgeBase, predicate: PredicateId) -> bool {
    match &knowledge.predicates[predicate.index()] {
        Ground::Numbers(_) => true,
        Ground::ClosedForm(form) => {
            let arguments = knowledge.theory()[predicate].arguments.iter();
            let learnt = |argument: &ArgumentSort| match argument {
                ArgumentSort::Sort(sort) => knowledge.vectors[sort.index()].learnable.is_some(),
                ArgumentSort::Vector(_) => false,
            };
            form.learnt().is_empty() && !arguments.into_iter().any(learnt)
        }
        Ground::Network(_) | Ground::Learnable { .. } | Ground::Host => false,
    }
}

/// Whether a number says that an atom is true, or false, for certain.
fn is_certain(kind: OutputKind, number: f64) -> bool {
    match kind {
        OutputKind::Truth => number == 0.0 || number == 1.0,
        OutputKind::LogTruth => number == 0.0,
        OutputKind::Sigmoid | OutputKind::Softmax => false,
    }
}

fn undecided(kind: OutputKind) -> f64 {
    match kind {
        OutputKind::Sigmoid | OutputKind::Softmax => 0.0,
        OutputKind::Truth => 0.5,
        OutputKind::LogTruth => 0.5_f64.ln(),
    }
}
