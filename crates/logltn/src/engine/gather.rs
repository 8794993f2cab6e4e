//! The truth of axioms whose rows come in several calls: merges the states of their quantifiers.

use super::merge::{self, take_in};
use super::run::Partial;
use super::{AxiomValue, Engine, Evaluation, Precision};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::parameters::Parameters;

/// The merged state of each axiom over several evaluations, as if all their rows had come at once.
///
/// That is possible where the rows belong to an outermost quantifier: see
/// [`Theory::is_only_gone_through`](crate::theory::Theory::is_only_gone_through).
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// By axiom: its parts, and its empty `exists`.
    axioms: Vec<Option<(Vec<Partial>, u64)>>,
}

impl<T: Precision> Engine<T> {
    /// Adds the last evaluation's state of some axioms, by place in the plan. All evaluations must use the same
    /// parameters.
    ///
    /// # Errors
    /// If an axiom was added before and does not have a quantifier at its root.
    pub fn gather(&self, axioms: &[usize], into: &mut Gathered) -> Result<(), Diagnostics> {
        into.axioms.resize(self.evaluation.axioms.len(), None);
        let shared = self.ground.shared(&self.settings, &self.stop);
        for &axiom in axioms {
            let parts = (self.parts.iter().zip(&self.totals)).filter(|(p, _)| p.program == axiom);
            let empty = self.evaluation.axioms[axiom].empty_exists;
            let Some((known, known_empty)) = &mut into.axioms[axiom] else {
                let found = parts.map(|(_, total)| *total).collect();
                into.axioms[axiom] = Some((found, empty));
                continue;
            };
            *known_empty += empty;
            let mut merged = 0;
            for ((part, more), total) in parts.clone().zip(&mut *known) {
                merged += usize::from(take_in(&shared, part, total, more));
            }
            // Both sides must have the same parts.
            if merged != known.len() || merged != parts.count() {
                let name = &self.ground.plan.axioms[axiom].name;
                let what = format!("axiom `{name}` would have to see all rows at once");
                return Err(Diagnostic::error(Code::NotShardable, what).into());
            }
        }
        Ok(())
    }

    /// The truth of all axioms and the loss, from what was gathered.
    ///
    /// # Panics
    /// If nothing was gathered for some axiom.
    pub fn gathered(&mut self, gathered: &Gathered, parameters: &Parameters) -> &Evaluation {
        let shared = self.ground.shared(&self.settings, &self.stop);
        let mut axioms = vec![AxiomValue::default(); self.evaluation.axioms.len()];
        for (axiom, (value, found)) in axioms.iter_mut().zip(&gathered.axioms).enumerate() {
            let (parts, empty) = found.as_ref().expect("something of each axiom");
            value.empty_exists = *empty;
            let own = self.parts.iter().filter(|p| p.program == axiom);
            for (part, total) in own.zip(parts) {
                value.truth += merge::value(&shared, part, total);
            }
        }
        self.evaluation.axioms = axioms;
        let semantics = self.ground.plan.semantics;
        let settings = self.over_axioms.settings(parameters, semantics.stable_eps);
        let by = &mut self.other_derivatives;
        (self.over_axioms).finish(&semantics, &settings, &mut self.evaluation, by);
        &self.evaluation
    }
}
