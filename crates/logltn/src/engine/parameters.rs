//! What can change between calls without planning again: the weights and the parameters of single axioms.

use super::{Engine, Precision};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::operators::Settings;
use crate::parameters::{AxiomParameters, Parameters};

impl<T: Precision> Engine<T> {
    /// The weights of the axioms, in the order of [`Plan::axioms`](crate::Plan::axioms): those of the theory unless
    /// they were changed.
    pub fn weights(&self) -> &[f64] {
        &self.over_axioms.weights
    }

    /// Gives axioms other weights, by their places in [`Plan::axioms`](crate::Plan::axioms): all of them, or none after an
    /// error. Weights are finite and at least 0, and not all 0.
    pub fn set_weights(
        &mut self,
        weights: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<(), Diagnostics> {
        let over_axioms = &mut self.over_axioms;
        let changed = &mut over_axioms.scratch[0];
        changed.copy_from_slice(&over_axioms.weights);
        for (axiom, weight) in weights {
            let name = &self.ground.plan.axioms[axiom].name;
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Diagnostic::error(
                    Code::ValueOutOfRange,
                    format!(
                        "the weight of axiom `{name}` must be at least 0 and finite, not {weight}"
                    ),
                )
                .into());
            }
            // A law has no weight.
            if !self.ground.plan.axioms[axiom].hard {
                changed[axiom] = weight;
            }
        }
        let laws_only = self.ground.plan.axioms.iter().all(|a| a.hard);
        if changed.iter().sum::<f64>() == 0.0 && !laws_only {
            return Err(Diagnostic::error(
                Code::ZeroWeights,
                "the weights of the axioms add up to 0",
            )
            .help("give at least one axiom a weight above 0")
            .into());
        }
        over_axioms.weights.copy_from_slice(changed);
        Ok(())
    }

    /// Gives an axiom its own parameters, by its place in [`Plan::axioms`](crate::Plan::axioms). They apply inside
    /// that axiom only, and override those of the call.
    pub fn set_axiom_parameters(
        &mut self,
        axiom: usize,
        parameters: AxiomParameters,
    ) -> Result<(), Diagnostics> {
        if let Err(error) = parameters.over(&Parameters::default()).validate() {
            let name = &self.ground.plan.axioms[axiom].name;
            let message = format!("axiom `{name}`: {}", error.message());
            return Err(Diagnostic::error(error.code(), message).into());
        }
        let other_tables = self.own[axiom].alpha != parameters.alpha;
        let other_group = self.own[axiom] != parameters;
        self.own[axiom] = parameters;
        if other_group {
            self.group_axioms();
        }
        if other_tables {
            T::assign_lanes(self);
        }
        Ok(())
    }

    /// Gives the aggregation over axioms its own p_forall, which overrides that of any call.
    pub fn set_p_over_axioms(&mut self, p_forall: Option<f64>) -> Result<(), Diagnostics> {
        let checked = p_forall.map_or(Ok(()), |p| Parameters::check("p_forall", p));
        if let Err(error) = checked {
            let message = format!("over axioms: {}", error.message());
            return Err(Diagnostic::error(error.code(), message).into());
        }
        self.over_axioms.p_forall = p_forall;
        Ok(())
    }

    /// The settings of each axiom in this call; whether small clauses have to be chosen again.
    pub(super) fn take_parameters(&mut self, parameters: &Parameters) -> bool {
        let eps = self.ground.plan.semantics.stable_eps;
        let mut changed = false;
        for (settings, own) in self.settings.iter_mut().zip(&self.own) {
            let now = Settings::new(&own.over(parameters), eps);
            let same = (now.p, now.p_forall) == (settings.p, settings.p_forall);
            changed |= !same && now.powers_are_tame() != settings.powers_are_tame();
            *settings = now;
        }
        changed
    }
}
