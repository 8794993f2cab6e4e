//! The whole theory, as it is at the end of a training: no batch, no sample, no dropout.

use logltn::theory::{Axiom, Binding, Formula, FormulaKind};
use logltn::{Data, Diagnostics, memory};

use super::Session;
use crate::axioms;
use crate::evaluate::Evaluated;

/// Lists that grow are counted with what they keep in reserve, up to as much again.
const COUNTED: u128 = 2;

/// More groundings than these are visited on request, not at the end of every training.
const MOST_GROUNDINGS: u128 = 10_000_000;

/// So few are visited in no time.
const FEW_GROUNDINGS: u128 = 10_000;

impl Session {
    /// [Evaluates](Session::evaluate) everything with α, p and p_forall of the end of training, those of single axioms
    /// included: what a run comes to, and what it began with if it is asked before the first step. None where that would
    /// take long beside the training itself. That is decided by counting, so a run that was interrupted decides the same.
    ///
    /// # Errors
    /// As those of [`Session::evaluate`].
    pub fn evaluate_whole(&mut self) -> Result<Option<Evaluated>, Diagnostics> {
        let steps = self.whole.axioms().iter();
        let step = steps.fold(0_u128, |n, axiom| n.saturating_add(axiom.groundings));
        // With batches a plan knows all rows and a step sees its share; but not if the rows come with the step.
        let passes = match self.rows.is_whole() {
            true => u128::from(self.total() / self.steps_per_epoch()),
            false => u128::from(self.total()),
        };
        let groundings = self.whole_groundings();
        let is_quick = groundings <= FEW_GROUNDINGS
            || groundings.saturating_mul(2) <= step.saturating_mul(passes);
        if !is_quick || !self.has_room_for_whole() {
            return Ok(None);
        }
        let last = axioms::at_last(&self.axioms);
        let now = std::mem::replace(&mut self.axioms, last);
        let parameters = self.training.schedule.last();
        let evaluated = self.evaluate(&parameters);
        self.axioms = now;
        evaluated.map(Some)
    }

    /// Whether there are not too many groundings to look at all of them at the end of a training, and memory for a plan of
    /// its own.
    pub(crate) fn has_room_for_whole(&self) -> bool {
        self.whole_groundings() <= MOST_GROUNDINGS
            && memory::ask(COUNTED * self.whole.bytes_to_look_again()).is_ok()
    }

    /// How many groundings there are in all; where steps see samples, the most that there can be.
    fn whole_groundings(&self) -> u128 {
        let data = &self.knowledge.data;
        let of = |axiom: &logltn::PlannedAxiom| match self.rows.is_whole() {
            true => axiom.groundings,
            false => {
                let axiom = &data.theory().axioms[axiom.axiom];
                most(data, axiom, &axiom.formula).max(1)
            }
        };
        let axioms = self.whole.axioms().iter();
        axioms.fold(0, |n, axiom| n.saturating_add(of(axiom)))
    }
}

/// How many bindings the quantifiers of a formula have, guards aside.
fn most(data: &Data, axiom: &Axiom, formula: &Formula) -> u128 {
    let inner = (formula.children().into_iter())
        .map(|child| most(data, axiom, child))
        .fold(0, u128::saturating_add);
    let FormulaKind::Quantified { binding, .. } = &formula.kind else {
        return inner;
    };
    let own = match binding {
        Binding::Rows(table, _) => data.table(*table).map_or(0, |table| table.rows as u128),
        Binding::Sorts(variables) => (variables.iter())
            .map(|&variable| axiom[variable].sort.sort())
            .map(|sort| sort.map_or(1, |sort| data.size(sort) as u128))
            .fold(1, u128::saturating_mul),
    };
    own.saturating_mul(inner.max(1))
}
