//! The last aggregation, over all axioms, with weights and derivatives.

use super::Evaluation;
use crate::operators::{self, Accumulated, Aggregation, Block, Segment, Settings, Slopes};
use crate::parameters::Parameters;
use crate::semantics::Semantics;

/// The aggregation over axioms, with its buffers.
#[derive(Debug)]
pub(super) struct OverAxioms {
    /// By axiom.
    pub weights: Vec<f64>,
    /// p_forall of this aggregation, if it has its own.
    pub p_forall: Option<f64>,
    truths: Vec<f64>,
    complements: Vec<f64>,
    by_complements: Vec<f64>,
    pub scratch: [Vec<f64>; 2],
}

impl OverAxioms {
    pub fn new(weights: Vec<f64>) -> OverAxioms {
        let zeros = || vec![0.0; weights.len()];
        OverAxioms {
            truths: zeros(),
            complements: zeros(),
            by_complements: zeros(),
            scratch: [zeros(), zeros()],
            weights,
            p_forall: None,
        }
    }

    /// The settings of a call, except for those that this aggregation overrides.
    pub fn settings(&self, parameters: &Parameters, eps: f64) -> Settings<f64> {
        let p_forall = self.p_forall.unwrap_or(parameters.p_forall);
        let own = Parameters {
            p_forall,
            ..*parameters
        };
        Settings::new(&own, eps)
    }

    /// Fills in `sat` and `loss`, and the derivative of the loss by each axiom's truth.
    pub fn finish(
        &mut self,
        semantics: &Semantics,
        s: &Settings<f64>,
        evaluation: &mut Evaluation,
        derivatives: &mut [f64],
    ) {
        let aggregation: Aggregation<f64> = semantics.over_axioms.computation();
        for (truth, axiom) in self.truths.iter_mut().zip(&evaluation.axioms) {
            *truth = axiom.truth;
        }
        let complements = aggregation.laws.wants_complements;
        if complements {
            operators::complements(&self.truths, &mut self.complements);
        }
        let all = [Segment {
            parent: 0,
            start: 0,
            end: self.truths.len(),
        }];
        let block = Block {
            values: &self.truths,
            complements: &self.complements,
            segments: &all,
            weights: Some(&self.weights),
        };
        let [work, scratch] = &mut self.scratch;
        let mut states = [(aggregation.start)()];
        let to = Accumulated {
            states: &mut states,
            work,
            scratch,
        };
        aggregation.accumulate(s, block, to);
        evaluation.sat = (aggregation.value)(s, &states[0]);
        evaluation.loss = semantics.loss.of(evaluation.sat);
        let to = Slopes {
            states: &mut states,
            by: &|_| semantics.loss.slope(),
            fresh: false,
            out: derivatives,
            by_complements: &mut self.by_complements,
            scratch,
        };
        (aggregation.slopes)(s, block, to);
        if complements {
            operators::add_slopes(&self.truths, &self.by_complements, derivatives);
        }
        for slope in derivatives {
            *slope = if slope.is_finite() { *slope } else { 0.0 };
        }
    }

    /// The derivatives alone, if they do not depend on the axioms' truths. Returns whether that is
    /// the case.
    pub fn derive_linear(
        &self,
        semantics: &Semantics,
        s: &Settings<f64>,
        derivatives: &mut [f64],
    ) -> bool {
        let total = self.weights.iter().sum();
        let laws = semantics.over_axioms.laws();
        for (slope, weight) in derivatives.iter_mut().zip(&self.weights) {
            let linear = laws.linear_slope(semantics.loss.slope() * weight, s, total);
            *slope = linear.unwrap_or_default();
        }
        laws.is_linear()
    }
}
