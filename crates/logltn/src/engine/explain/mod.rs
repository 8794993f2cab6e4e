//! Why an axiom is not true: its least true bindings, and for each of them the literals and the witnesses.
//!
//! The bindings are found by the engine, block by block ([`super::rank`]). Only the few that are shown are then looked
//! at one by one, by a plain interpreter of the normal form: [`tree`] makes the formula ready for it, [`look`] has
//! values and derivatives, [`sum_product`] those of an `exists` whose variables were eliminated, [`opened`] those of
//! definitions that are opened, [`list`] what is shown.

mod list;
mod look;
mod opened;
mod sum_product;
mod tree;

use super::rank::{Order, Ranks};
use super::{Engine, Precision};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::guard::{Cell, Scope, TableIndexes};
use crate::parameters::Parameters;
use crate::plan::events::Events;
use crate::plan::individual::BlamedLiteral;
use crate::plan::individual::Bound;
use crate::plan::program::MOST_CODES;

use look::Look;
use opened::Opened;
use tree::Planter;

/// Why an axiom is as true as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The axiom, by its place in [`Plan::axioms`](crate::Plan::axioms).
    pub axiom: usize,
    /// Its name, `name[individual]` for a member of a family.
    pub name: String,
    /// Its truth: a log in the log semantics and in `prod`.
    pub truth: f64,
    /// How many bindings the `forall`s at its root have.
    pub groundings: u64,
    /// The least true first, equal ones in the order of the individuals.
    pub worst: Vec<Violation>,
}

/// A binding of the `forall`s at an axiom's root.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Empty if the axiom does not start with `forall`.
    pub binding: Vec<Bound>,
    /// The truth of the formula under them; in `prod` its log.
    pub truth: f64,
    /// Its literals, the greatest |blame| first.
    pub literals: Vec<BlamedLiteral>,
    /// The witness of each `exists`, from the outside in.
    pub witnesses: Vec<Witness>,
}

/// The truest binding of an `exists`.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The formula as it is evaluated.
    pub formula: String,
    /// The first in order if several are truest, and the truth of the body at it; `None` if there is no binding.
    pub truest: Option<(Vec<Bound>, f64)>,
}

impl<T: Precision> Engine<T> {
    /// Names the definitions whose formulas explanations open, instead of treating them as literals. Unknown names are
    /// ignored.
    pub fn open_definitions(&mut self, names: &[String]) {
        self.opened = names.to_vec();
    }

    /// Explains the axioms of a plan [for that](crate::Plan::for_explaining) by their `top` least true bindings, or all
    /// of them if `top` is 0. Memory is needed for these only, not for the bindings they are chosen from. The numbers
    /// must be filled in.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    pub fn explain(
        &mut self,
        parameters: &Parameters,
        top: usize,
    ) -> Result<Vec<Explanation>, Diagnostics> {
        T::explain(self, parameters, top)
    }

    pub(super) fn explain_here(
        &mut self,
        parameters: &Parameters,
        top: usize,
    ) -> Result<Vec<Explanation>, Diagnostics> {
        let top = if top == 0 { usize::MAX } else { top };
        let truths: Vec<f64> = (self.evaluate(parameters)?.axioms.iter())
            .map(|axiom| axiom.truth)
            .collect();
        let ranks = self.ranks(parameters, Order::LeastTrueFirst, top)?;
        if let Some(events) = &self.events {
            return Ok(self.explain_events(events, &truths, ranks));
        }
        let plan = &self.ground.plan;
        let mut explanations = Vec::with_capacity(truths.len());
        let indexes = TableIndexes::default();
        let opened = Opened::new(plan, &self.opened, &indexes);
        for (axiom, (truth, ranks)) in truths.into_iter().zip(ranks).enumerate() {
            let exec = &plan.programs[axiom];
            let Some(form) = &exec.form else { continue };
            let scope = Scope {
                data: &plan.data,
                variables: &plan.data.theory().axioms[exec.axiom].variables,
                indexes: &indexes,
            };
            let tree = Planter::new(scope, plan).plant(form);
            let mut look = Look::new(&self.ground, &self.settings[axiom], scope, axiom, &opened);
            let mut env = scope.environment();
            let mut worst = Vec::new();
            let groundings = match (&exec.ranking, &ranks) {
                (Some(ranking), Some(ranks)) => {
                    let variables = ranking.variables();
                    for found in &ranks.first {
                        ranking.bind(&scope, &found.codes, &mut env);
                        let binding = Bound::all(&scope, &variables, &env);
                        worst.push(look.violation(&tree, &mut env, binding, found.truth)?);
                    }
                    ranks.total
                }
                _ => {
                    worst.push(look.violation(&tree, &mut env, Vec::new(), truth)?);
                    1
                }
            };
            explanations.push(Explanation {
                axiom,
                name: plan.axioms[axiom].name.clone(),
                truth,
                groundings,
                worst,
            });
        }
        Ok(explanations)
    }
}

impl<T: Precision> Engine<T> {
    /// Of exact probabilities: the literals of events, and how much more probable each is given its event.
    fn explain_events(
        &self,
        events: &Events,
        truths: &[f64],
        ranks: Vec<Option<Ranks>>,
    ) -> Vec<Explanation> {
        let plan = &self.ground.plan;
        let indexes = TableIndexes::default();
        let mut explanations = Vec::new();
        for (axiom, (truth, ranks)) in truths.iter().zip(ranks).enumerate() {
            let exec = &plan.programs[axiom];
            if plan.axioms[axiom].hard || exec.form.is_none() {
                continue;
            }
            let scope = Scope {
                data: &plan.data,
                variables: &plan.data.theory().axioms[exec.axiom].variables,
                indexes: &indexes,
            };
            let mut env = scope.environment();
            let violation =
                |binding: Vec<Bound>, truth: f64, codes: &[u64; MOST_CODES]| Violation {
                    binding,
                    truth,
                    literals: events.blame(plan, axiom, codes),
                    witnesses: Vec::new(),
                };
            let (groundings, worst) = match (&exec.ranking, ranks) {
                (Some(ranking), Some(ranks)) => {
                    let variables = ranking.variables();
                    let worst = ranks.first.iter().map(|found| {
                        ranking.bind(&scope, &found.codes, &mut env);
                        let binding = Bound::all(&scope, &variables, &env);
                        violation(binding, found.truth, &found.codes)
                    });
                    (ranks.total, worst.collect())
                }
                _ => (1, vec![violation(Vec::new(), *truth, &[0; MOST_CODES])]),
            };
            explanations.push(Explanation {
                axiom,
                name: plan.axioms[axiom].name.clone(),
                truth: *truth,
                groundings,
                worst,
            });
        }
        explanations
    }
}

/// Errors in guards were found when they were listed.
type Looked<V> = Result<V, Diagnostic>;

/// What to do at each binding of a quantifier.
type Visit<'a, L> = dyn FnMut(&mut L, &mut Vec<Cell>, u32) -> Looked<()> + 'a;
