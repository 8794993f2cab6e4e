//! How much axioms pull on what is learnt.

use logltn::{Code, Diagnostic, Diagnostics, Span};

use super::Session;
use crate::vanishing;

/// The most numbers that are visited to see how much axioms pull: each axiom has a derivative by each.
const MOST_LOOKED_AT: u64 = 1 << 28;

impl Session {
    /// How much each axiom of the current phase pulls on the predicates: warnings if one, now and when this was last
    /// asked, has not pulled at all, or has pulled more than a hundred times as much as all others together. Call it after a
    /// step.
    ///
    /// That nothing pulls at first may be as it should: from an undecided start all classes are alike. With so many axioms
    /// that looking at each would take longer than many steps, nothing is said.
    pub fn balance(&mut self) -> Diagnostics {
        let mut out = Diagnostics::new();
        let parameters = self.last_parameters;
        let Some(at) = self.attached else {
            return out;
        };
        let phase = &mut self.phases[at];
        for (place, axiom) in phase.axioms.iter().zip(phase.engine.plan().axioms()) {
            let count = std::mem::take(&mut self.impossible[*place]);
            if count > 0 && self.called_impossible.insert(*place) {
                let theory = self.knowledge.theory();
                out.push(vanishing::of_observations(theory, axiom, count, self.done));
            }
        }
        let numbers = phase
            .engine
            .requests()
            .iter()
            .map(|r| (r.rows() * r.width) as u64);
        let axioms = phase.engine.plan().axioms().len() as u64;
        if numbers.sum::<u64>().saturating_mul(axioms) > MOST_LOOKED_AT {
            return out;
        }
        let norms = phase.engine.axiom_gradient_norms(&parameters);
        if phase.engine.is_stopped() {
            return out;
        }
        let total: f64 = norms.iter().sum();
        let theory = self.knowledge.theory();
        // Where only the least true axiom counts, the others have no gradient by design.
        let one_counts = self.training.semantics.one_axiom_counts();
        let mut flat = Vec::new();
        let heavy_before = self.heavy.take();
        for ((norm, axiom), place) in
            (norms.iter().zip(phase.engine.plan().axioms())).zip(&phase.axioms)
        {
            let counts = !axiom.hard && self.axioms[*place].weight > 0.0 && axiom.groundings > 0;
            if *norm == 0.0 && counts && (!one_counts || total == 0.0) {
                flat.push((*place, axiom.name.clone(), axiom.span));
            } else if !one_counts && total > *norm && *norm > 100.0 * (total - norm) {
                // Where all others are flat, that is said instead. At first they may be waiting, as from an undecided
                // start.
                self.heavy = Some(*place);
                if heavy_before == self.heavy && self.called_heavy.insert(*place) {
                    let warning = Diagnostic::warning(Code::DominatingGradient, format!(
                        "step {}: the gradient of axiom `{}` is more than 100 times as large as that of all others together",
                        self.done, axiom.name
                    ))
                    .help("give it a smaller weight, or the others a larger one");
                    out.push(warning.at(&theory.source, axiom.span, ""));
                }
            }
        }
        let still: Vec<(String, Span)> = (flat.iter())
            .filter(|(place, ..)| self.flat.contains(place) && self.called_flat.insert(*place))
            .map(|(_, name, span)| (name.clone(), *span))
            .collect();
        if !still.is_empty() {
            let semantics = &self.training.semantics;
            out.push(vanishing::of_axioms(theory, semantics, &still, self.done));
        }
        self.flat = flat.into_iter().map(|(place, ..)| place).collect();
        out
    }

    /// What to say of a training in which no step had a gradient. None if there is nothing to learn, or
    /// all of it is frozen.
    pub fn nothing_moved(&mut self) -> Option<Diagnostic> {
        let any = self.optimizers.moves_something(&mut self.model);
        let undecided = self.knowledge.has_undecided_network();
        any.then(|| vanishing::nothing_moved(&self.training.semantics, self.done, undecided))
    }
}
