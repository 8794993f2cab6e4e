//! All axioms together: the last aggregation, with weights, and its derivatives.

use super::Evaluation;
use crate::operators::{Aggregation, Block, Segment, Settings, Slopes};
use crate::semantics::Semantics;

/// The aggregation over axioms, with its buffers.
#[derive(Debug, Default)]
pub(super) struct OverAxioms {
    /// By axiom.
    pub weights: Vec<f64>,
    truths: Vec<f64>,
    work: Vec<f64>,
    scratch: Vec<f64>,
}

impl OverAxioms {
    pub fn new(weights: Vec<f64>) -> OverAxioms {
        let zeros = vec![0.0; weights.len()];
        OverAxioms {
            weights,
            truths: zeros.clone(),
            work: zeros.clone(),
            scratch: zeros,
        }
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
        let all = [Segment {
            parent: 0,
            start: 0,
            end: self.truths.len(),
        }];
        let block = Block {
            values: &self.truths,
            segments: &all,
            weights: Some(&self.weights),
        };
        let mut state = [(aggregation.start)()];
        aggregation.accumulate(s, block, &mut state, &mut self.work, &mut self.scratch);
        evaluation.sat = (aggregation.value)(s, &state[0]);
        evaluation.loss = semantics.loss.of(evaluation.sat);
        let slopes = Slopes {
            states: &mut state,
            by: &|_| semantics.loss.slope(),
            fresh: false,
            out: derivatives,
            scratch: &mut self.scratch,
        };
        (aggregation.slopes)(s, block, slopes);
        for slope in derivatives {
            *slope = if slope.is_finite() { *slope } else { 0.0 };
        }
    }

    /// The derivatives alone, if they do not depend on the axioms' truths.
    pub fn derive_linear(
        &self,
        semantics: &Semantics,
        s: &Settings<f64>,
        derivatives: &mut [f64],
    ) -> bool {
        let total = self.weights.iter().sum();
        let laws = semantics.over_axioms.laws();
        for (slope, weight) in derivatives.iter_mut().zip(&self.weights) {
            match laws.linear_slope(semantics.loss.slope() * weight, s, total) {
                Some(linear) => *slope = linear,
                None => return false,
            }
        }
        laws.is_linear()
    }
}
