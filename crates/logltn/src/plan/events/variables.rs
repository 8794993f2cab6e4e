//! The random variables of worlds: an atom, or all atoms of a softmax's row.

use rustc_hash::FxHashMap;

use crate::output::OutputKind;
use crate::plan::Plan;

/// What a variable is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Atom {
    pub request: u32,
    /// Of the request's row.
    pub code: u64,
    /// The answer in that row; 0 of a softmax, whose answers are the states of one variable.
    pub class: u32,
}

/// All variables met so far. A variable of two states is false in the first and true in the second.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    pub atoms: Vec<Atom>,
    numbers: FxHashMap<Atom, u32>,
    pub domains: Vec<u32>,
}

impl Variables {
    /// The variable and its state that a literal speaks of.
    pub fn literal(&mut self, plan: &Plan, request: usize, code: u64, class: u32) -> (u32, u32) {
        let of = &plan.requests[request];
        let is_softmax = plan.outputs[of.predicate.index()].kind == OutputKind::Softmax;
        let atom = Atom {
            request: request as u32,
            code,
            class: if is_softmax { 0 } else { class },
        };
        let next = self.atoms.len() as u32;
        let var = *self.numbers.entry(atom).or_insert(next);
        if var == next {
            self.atoms.push(atom);
            self.domains
                .push(if is_softmax { of.width as u32 } else { 2 });
        }
        (var, if is_softmax { class } else { 1 })
    }
}
