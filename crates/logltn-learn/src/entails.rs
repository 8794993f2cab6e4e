//! Reasoning by refutation: does every grounding that satisfies the theory satisfy a formula?
//!
//! What is learnt is moved by gradients, from several starts, to make the formula false while the theory stays true. A
//! grounding that does so is a counterexample; that none was found is not a proof.

use std::collections::BTreeMap;

use logltn::theory::{ArgumentSort, SortId};
use logltn::{
    Code, Diagnostic, Diagnostics, Engine, Parameters, Plan, Precision, Semantics, Source,
};

use crate::axioms::{AxiomSettings, set_axioms};
use crate::knowledge::{Ground, KnowledgeBase};
use crate::model::Model;
use crate::optimizers::{Frozen, Optimizers};
use crate::predict::Asked;
use crate::predictions::Answers;
use crate::random::Random;
use crate::slow_work::{Foretold, foretell};
use crate::state::State;
use crate::training::Optimizer;

/// How to look for a counterexample.
#[derive(Clone, Debug)]
pub struct Refute {
    /// To which degree the theory must be true.
    pub level: f64,
    /// From how many starts.
    pub restarts: u64,
    /// How many steps each.
    pub steps: u64,
    /// Where the starts come from.
    pub seed: u64,
    /// What the connectives mean.
    pub semantics: Semantics,
    /// α, p and p_forall.
    pub parameters: Parameters,
    /// What is set for single axioms.
    pub axioms: BTreeMap<String, AxiomSettings>,
}

impl Default for Refute {
    fn default() -> Refute {
        Refute {
            level: 0.95,
            restarts: 10,
            steps: 1000,
            seed: 0,
            semantics: Semantics::default(),
            parameters: Parameters::default(),
            axioms: BTreeMap::new(),
        }
    }
}

/// What was found. Truths are degrees between 0 and 1, computed in double precision.
#[derive(Clone, Debug)]
pub struct Entailment {
    /// The grounding that satisfies the theory and not the formula, if one was found.
    pub counterexample: Option<Counterexample>,
    /// To which degree the theory had to be true.
    pub level: f64,
    /// How true the theory is in the counterexample; without one, where the formula was least true under the theory; and
    /// if no start satisfied the theory, where that was truest.
    pub theory: f64,
    /// How true the formula is there.
    pub formula: f64,
    /// Whether some start satisfied the theory.
    pub satisfied: bool,
    /// From how many starts it was looked for.
    pub restarts: u64,
}

/// A grounding in readable form.
#[derive(Clone, Debug, Default)]
pub struct Counterexample {
    /// The truth of each axiom.
    pub axioms: Vec<(String, f64)>,
    /// The truth of each predicate of few tuples, by its individuals: none for a proposition.
    pub predicates: Vec<(String, Vec<TupleTruth>)>,
}

/// Individuals, and the truth of a predicate of them.
type TupleTruth = (Vec<String>, f64);

/// By how much the formula must be less true than the theory: more than rounding.
const MARGIN: f64 = 1e-6;

/// The most tuples of a predicate that are written out.
const MOST_TUPLES: u128 = 1000;

/// How far a step of the search moves a number at first: one that is a truth itself, and one from a network.
const FAR: f64 = 0.1;
const NEAR: f64 = 0.01;

/// Randomness for starts, apart from that of initial weights.
const STARTS: u64 = 17;

/// Searches for a grounding that satisfies the axioms of a knowledge base but not a formula. Calls `watch` after each
/// step.
///
/// ```
/// use logltn::{Output, Semantics};
/// use logltn_learn::{Refute, Session, entails};
///
/// let theory = "predicate A()  predicate B()  axiom either: A() or B()";
/// let session = Session::builder(theory)
///     .learnable("A", 0.0, Output::sigmoid())
///     .learnable("B", 0.0, Output::sigmoid())
///     .steps(1)
///     .build()?;
/// let semantics = Semantics::named("stable").unwrap();
/// let how = Refute { restarts: 3, steps: 200, semantics, ..Refute::default() };
/// let found = entails(session.knowledge(), "A()", &how, &mut || ())?;
/// assert!(found.counterexample.is_some() && found.theory >= 0.95 && found.formula < 0.5);
/// assert!(entails(session.knowledge(), "B() or A()", &how, &mut || ())?.counterexample.is_none());
/// # Ok::<(), logltn::Diagnostics>(())
/// ```
///
/// # Errors
/// If the formula cannot be understood, or cannot be evaluated with this knowledge.
pub fn entails(
    knowledge: &KnowledgeBase,
    formula: &str,
    how: &Refute,
    watch: &mut dyn FnMut(),
) -> Result<Entailment, Diagnostics> {
    let question = Question::new(knowledge, formula, how)?;
    let steps = how.restarts.max(1).saturating_mul(how.steps);
    for mut engine in question.engines::<f32>()? {
        foretell(
            &mut engine,
            &how.parameters,
            3.0 * steps as f64,
            "the search",
        );
    }
    let (foretold, mut done) = (Foretold::default(), 0);
    let mut watch = || {
        foretold.done(done, steps, || {
            let (restarts, steps) = (how.restarts.max(1), how.steps);
            format!("the search has up to {restarts} starts of {steps} steps")
        });
        done += 1;
        watch();
    };
    let mut best: Option<Found> = None;
    for start in 0..how.restarts.max(1) {
        let found = question.search(start, &mut watch)?;
        best = match best {
            Some(best) if !found.is_better_than(&best, how.level) => Some(best),
            _ => Some(found),
        };
    }
    let Some(found) = best else {
        return Err(Diagnostic::error(Code::ValueOutOfRange, "there is no start").into());
    };
    let satisfied = found.theory >= how.level;
    let refuted = satisfied && found.formula < how.level - MARGIN;
    Ok(Entailment {
        counterexample: match refuted {
            true => Some(question.shown(&found)?),
            false => None,
        },
        level: how.level,
        theory: found.theory,
        formula: found.formula,
        satisfied,
        restarts: how.restarts.max(1),
    })
}

/// The best grounding of a start.
struct Found {
    theory: f64,
    formula: f64,
    weights: State,
    start: u64,
}

impl Found {
    /// The theory must hold; if it does in both, the formula should not.
    fn is_better_than(&self, other: &Found, level: f64) -> bool {
        match (self.theory >= level, other.theory >= level) {
            (true, true) => self.formula < other.formula,
            (false, false) => self.theory > other.theory,
            (holds, _) => holds,
        }
    }
}

/// Theory and formula, planned.
struct Question<'k> {
    knowledge: &'k KnowledgeBase,
    how: &'k Refute,
    theory: std::sync::Arc<Plan>,
    formula: std::sync::Arc<Plan>,
}

impl<'k> Question<'k> {
    fn new(
        knowledge: &'k KnowledgeBase,
        formula: &str,
        how: &'k Refute,
    ) -> Result<Question<'k>, Diagnostics> {
        if knowledge.theory().axioms.is_empty() {
            let what = "the theory has no axioms: nothing follows from it";
            return Err(Diagnostic::error(Code::NoAxioms, what).into());
        }
        let source = Source::new("formula", formula);
        let read = knowledge.theory().parse_formula(source.clone())?;
        let asked = knowledge.data.with_formula(source, read);
        let plan = |data| Plan::new(data, &knowledge.outputs, &how.semantics).map(Into::into);
        Ok(Question {
            knowledge,
            how,
            theory: plan(&knowledge.data)?,
            formula: plan(&asked)?,
        })
    }

    fn engines<T: Precision>(&self) -> Result<[Engine<T>; 2], Diagnostics> {
        let mut theory = Engine::new(std::sync::Arc::clone(&self.theory));
        set_axioms(&mut theory, &self.how.axioms)?;
        Ok([theory, Engine::new(std::sync::Arc::clone(&self.formula))])
    }

    /// A model that has all that will be asked, at one of the starts.
    fn model(&self, start: u64) -> Result<Model, Diagnostics> {
        let seed = self.how.seed.wrapping_add(start);
        let mut model = Model::new(self.knowledge, seed)?;
        for engine in self.engines::<f32>()? {
            model.attach(self.knowledge, &engine)?;
        }
        // Numbers that all begin alike would begin alike from every start.
        let names = self.learnable();
        let mut random = Random::new(seed, STARTS);
        model.visit_parameters(&mut |name, values, _| {
            if start > 0 && names.contains(&name) {
                values
                    .iter_mut()
                    .for_each(|x| *x += 3.0 * random.normal() as f32);
            }
        });
        Ok(model)
    }

    /// The predicates that have their own numbers.
    fn learnable(&self) -> Vec<&str> {
        let predicates = self.knowledge.theory().predicates.iter();
        predicates
            .zip(&self.knowledge.predicates)
            .filter(|(_, ground)| matches!(ground, Ground::Learnable { .. }))
            .map(|(predicate, _)| predicate.name.as_str())
            .collect()
    }

    fn search(&self, start: u64, watch: &mut dyn FnMut()) -> Result<Found, Diagnostics> {
        let (how, semantics) = (self.how, &self.how.semantics);
        let mut model = self.model(start)?;
        let [mut theory, mut formula] = self.engines::<f32>()?;
        let mut exact = self.engines::<f64>()?;
        let mut optimizers = Optimizers::new(Optimizer::Adam, Frozen::default(), &mut model);
        let learnable = self.learnable();
        let (mut only_tables, mut numbers) = (true, 0);
        model.visit_parameters(&mut |name, values, _| {
            only_tables &= learnable.contains(&name);
            numbers += values.len();
        });
        let far = if only_tables { FAR } else { NEAR };
        let mut best = self.look(&mut model, &mut exact, start)?;
        // How much the theory weighs against the formula; before it holds for the first time, it is all that counts.
        let (mut weight, mut held) = (1.0_f64, best.theory >= how.level);
        let (mut by_theory, mut by_formula) = (Vec::new(), Vec::new());
        for step in 0..how.steps {
            watch();
            model.attach(self.knowledge, &theory)?;
            model.forward(&mut theory, true)?;
            let Ok(value) = theory.evaluate_with_gradients(&how.parameters) else {
                break; // it has run away
            };
            let truth = semantics.degree(value.sat);
            model.backward(&theory);
            gradient(&mut model, &mut by_theory);
            model.attach(self.knowledge, &formula)?;
            model.forward(&mut formula, true)?;
            let Ok(value) = formula.evaluate_with_gradients(&how.parameters) else {
                break;
            };
            let said = semantics.degree(value.axioms[0].truth);
            model.backward(&formula);
            gradient(&mut model, &mut by_formula);
            let holds = truth >= how.level;
            let better = match best.theory >= how.level {
                true => holds && said < best.formula - MARGIN,
                false => truth > best.theory,
            };
            if better {
                let now = self.look(&mut model, &mut exact, start)?;
                if now.is_better_than(&best, how.level) {
                    best = now;
                }
            }
            if numbers == 0 || (best.theory >= how.level && best.formula < MARGIN) {
                break;
            }
            held |= holds;
            weight = (weight * if holds { 1.0 / 1.1 } else { 1.1 }).clamp(1e-3, 1e3);
            // Both are derivatives of losses, which fall where truth rises.
            let (against, towards) = if held { (-1.0, weight) } else { (0.0, 1.0) };
            let mut both = by_formula.iter().zip(&by_theory);
            model.visit_gradients(&mut |gradients| {
                for (to, (formula, theory)) in gradients.iter_mut().zip(&mut both) {
                    *to = against as f32 * formula + towards as f32 * theory;
                }
            });
            let left = 1.0 - step as f64 / how.steps as f64;
            optimizers.step(&mut model, far * left);
        }
        Ok(best)
    }

    /// Theory and formula as they are, in double precision.
    fn look(
        &self,
        model: &mut Model,
        [theory, formula]: &mut [Engine<f64>; 2],
        start: u64,
    ) -> Result<Found, Diagnostics> {
        let semantics = &self.how.semantics;
        let mut weights = State::default();
        model.store(&mut weights);
        Ok(Found {
            theory: semantics.degree(self.value(model, theory)?.sat),
            formula: semantics.degree(self.value(model, formula)?.axioms[0].truth),
            weights,
            start,
        })
    }

    fn value<'e>(
        &self,
        model: &mut Model,
        engine: &'e mut Engine<f64>,
    ) -> Result<&'e logltn::Evaluation, Diagnostics> {
        model.attach(self.knowledge, engine)?;
        model.evaluate(engine)?;
        engine.evaluate(&self.how.parameters)
    }

    /// A grounding for people.
    fn shown(&self, found: &Found) -> Result<Counterexample, Diagnostics> {
        let mut model = self.model(found.start)?;
        model.restore(&found.weights)?;
        let [mut theory, _] = self.engines::<f64>()?;
        let truths: Vec<f64> = (self.value(&mut model, &mut theory)?.axioms.iter())
            .map(|axiom| self.how.semantics.degree(axiom.truth))
            .collect();
        let names = theory
            .plan()
            .axioms()
            .iter()
            .map(|axiom| axiom.name.clone());
        let axioms = names.zip(truths).collect();
        let mut truths = |asked: &Asked, rows: &[u32]| {
            let said = asked.predict(self.knowledge, &mut model, rows, &[])?;
            Ok(Some(said.numbers))
        };
        Ok(Counterexample {
            axioms,
            predicates: written_out(self.knowledge, &mut truths)?,
        })
    }
}

/// The truths of a predicate's rows of individuals, or `None` where they are unknown.
type Truths<'a> = dyn FnMut(&Asked, &[u32]) -> Result<Option<Vec<f64>>, Diagnostics> + 'a;

/// The truth of each predicate of few tuples, from that of each row of these, class after class. Predicates of numbers and
/// vectors, and those of the host, have no tuples to show.
pub(crate) fn written_out(
    knowledge: &KnowledgeBase,
    truths: &mut Truths,
) -> Result<Vec<(String, Vec<TupleTruth>)>, Diagnostics> {
    let name = |sort: SortId, i: usize| {
        let name = knowledge.theory()[sort].individual_name(i);
        name.strip_prefix('#').map_or(name.clone(), str::to_string)
    };
    let mut shown = Vec::new();
    for predicate in &knowledge.theory().predicates {
        let Ok(asked) = Asked::new(knowledge, &predicate.name) else {
            continue;
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
        let Some(truths) = truths(&asked, &rows)? else {
            continue;
        };
        let arity = asked.arguments().len();
        let mut all = Vec::new();
        for (row, truths) in truths.chunks_exact(width.max(1)).enumerate() {
            let arguments = asked.arguments().iter().zip(&rows[row * arity..]);
            let tuple: Vec<String> = arguments
                .map(|(argument, &i)| match argument {
                    ArgumentSort::Sort(sort) => name(*sort, i as usize),
                    ArgumentSort::Vector(_) => String::new(),
                })
                .collect();
            for (class, &truth) in truths.iter().enumerate() {
                let class = classes.map(|sort| name(sort, class));
                all.push((tuple.iter().cloned().chain(class).collect(), truth));
            }
        }
        shown.push((predicate.name.clone(), all));
    }
    Ok(shown)
}

/// The gradient of a model, scaled to length 1 unless it is 0: how steep a truth is does not tell how much it matters.
fn gradient(model: &mut Model, out: &mut Vec<f32>) {
    out.clear();
    model.visit_gradients(&mut |gradients| out.extend_from_slice(gradients));
    let norm = out
        .iter()
        .map(|g| f64::from(*g).powi(2))
        .sum::<f64>()
        .sqrt();
    if norm > 0.0 && norm.is_finite() {
        out.iter_mut()
            .for_each(|g| *g = (f64::from(*g) / norm) as f32);
    }
}
