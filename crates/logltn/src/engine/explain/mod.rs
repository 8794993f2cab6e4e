//! Why an axiom is not true: its least true bindings, and for each of them the literals and the witnesses.
//!
//! The bindings are found by the engine, block by block ([`super::rank`]). For the few that are shown, the parts of the
//! formula are then planned by themselves, in double precision ([`probe`]): [`blame`] has the derivatives, [`elimination`]
//! the witnesses of an `exists` whose variables were eliminated, [`list`] what is shown.

mod blame;
mod elimination;
mod explainer;
mod list;
mod probe;

use super::rank::Order;
use super::strata::Layer;
use super::{Engine, Precision};
use crate::diagnostic::Diagnostics;
use crate::guard::{Scope, TableIndexes};
use crate::parameters::Parameters;
use crate::plan::individual::BlamedLiteral;
use crate::plan::individual::Bound;
use crate::plan::program::MOST_CODES;

use explainer::{Explainer, Inside};

/// How many bindings are explained together: enough to make the cost of planning for them negligible, few enough to
/// need little memory.
const AT_ONCE: usize = 64;

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
        let plan = &*self.ground.plan;
        let indexes = TableIndexes::default();
        let mut explanations = Vec::with_capacity(truths.len());
        for (axiom, (truth, ranks)) in truths.into_iter().zip(ranks).enumerate() {
            let exec = &plan.programs[axiom];
            let Some(form) = exec.form.as_deref().filter(|_| !plan.axioms[axiom].hard) else {
                continue;
            };
            let scope = Scope {
                data: &plan.data,
                variables: &plan.data.theory().axioms[exec.axiom].variables,
                indexes: &indexes,
            };
            let explainer = Explainer {
                ground: &self.ground,
                wanted: &self.wanted,
                settings: self.settings[axiom],
                opened: &self.opened,
                indexes: &indexes,
            };
            let (groundings, found) = match (&exec.ranking, &ranks) {
                (Some(_), Some(ranks)) => {
                    let found = ranks.first.iter().map(|found| (found.codes, found.truth));
                    (ranks.total, found.collect())
                }
                _ => (1, vec![([0; MOST_CODES], truth)]),
            };
            let inside = Inside {
                scope,
                layer: Layer::outside(self.ground.groups[axiom]),
                bound: (exec.ranking.as_ref()).map_or(Vec::new(), |r| r.variables()),
                parameters: &[],
            };
            let bind = |codes: &[u64; MOST_CODES]| {
                let mut env = scope.environment();
                let ranking = exec.ranking.iter();
                ranking.for_each(|ranking| ranking.bind(&scope, codes, &mut env));
                env
            };
            let mut worst = Vec::with_capacity(found.len());
            for some in found.chunks(AT_ONCE) {
                let bound = some.iter().map(|(codes, truth)| (bind(codes), *truth));
                let Some(events) = &self.events else {
                    worst.extend(explainer.violations(&inside, form, bound.collect())?);
                    continue;
                };
                // Of exact probabilities: the literals of events, and how much more probable each is given its event.
                let bound = bound.zip(some).map(|((env, truth), (codes, _))| Violation {
                    binding: Bound::all(&scope, &inside.bound, &env),
                    truth,
                    literals: events.blame(plan, axiom, codes),
                    witnesses: Vec::new(),
                });
                worst.extend(bound);
            }
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
