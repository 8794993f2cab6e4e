//! Whether a formula follows from the axioms in classical logic: a proof either way, where sorts are finite.

use logltn::{Code, Diagnostics, Engine, OutputKind, Plan, Source};

use crate::entails::{Counterexample, written_out};
use crate::knowledge::KnowledgeBase;
use crate::model::Model;
use crate::predict::Asked;
use crate::worlds::Worlds;

/// What [`entails_exactly`] finds.
#[derive(Clone, Debug)]
pub enum Exactly {
    /// In every world in which the axioms hold, the formula does.
    Entailed {
        /// Whether there is such a world: otherwise everything follows. `None` where that is too hard to tell.
        satisfiable: Option<bool>,
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
                true => Some(true),
                false => {
                    let model = plan(None).and_then(|plan| refute(knowledge, plan));
                    match unless_none(model)? {
                        Found::World(_) => Some(true),
                        Found::None => Some(false),
                        Found::TooHard(_) => None,
                    }
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
            knowledge.outputs[predicate].kind,
            !knowledge.learns(predicate),
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
    let mut truths = |asked: &Asked, rows: &[u32]| {
        let mut said = asked.predict(knowledge, &mut model, rows, &[])?;
        let Some(of) = asked.rows_of(rows, &[]) else {
            return Ok(None);
        };
        // An atom that no formula mentions may have any value.
        let data = !knowledge.learns(of.predicate);
        for x in &mut said.numbers {
            if !(data && (*x == 0.0 || *x == 1.0)) {
                *x = 0.0;
            }
        }
        let states = worlds.states_in(&world.states, &of, &said);
        for (truths, states) in said.numbers.chunks_exact_mut(said.width.max(1)).zip(states) {
            for (class, truth) in truths.iter_mut().enumerate() {
                let holds = match (of.output.kind, states.as_slice()) {
                    (OutputKind::Softmax, [state]) => *state as usize == class,
                    (_, states) => states[class] == 1,
                };
                *truth = f64::from(u8::from(holds));
            }
        }
        Ok(Some(said.numbers))
    };
    Ok(Counterexample {
        axioms: axioms.collect(),
        predicates: written_out(knowledge, &mut truths)?,
    })
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
