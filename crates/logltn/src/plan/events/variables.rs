//! The random variables of worlds: an atom, or all atoms of a softmax's row.

use rustc_hash::FxHashMap;

use crate::output::OutputKind;
use crate::plan::Plan;

/// The atom, or the row of atoms, of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub domains: Vec<u32>,
    /// By request and row: where the variables of its answers begin in `by_class`.
    rows: FxHashMap<(u32, u64), usize>,
    by_class: Vec<u32>,
    /// The last row that was asked for, since the next question is often about the same row.
    last: Option<((u32, u64), usize)>,
}

impl Variables {
    /// The variable and the state that a literal refers to.
    pub fn literal(&mut self, plan: &Plan, request: usize, code: u64, class: u32) -> (u32, u32) {
        let of = &plan.requests[request];
        let is_softmax = plan.outputs[of.predicate.index()].kind == OutputKind::Softmax;
        let (answers, own, state, domain) = match is_softmax {
            true => (1, 0, class, of.width as u32),
            false => (of.width.max(1), class, 1, 2),
        };
        let row = (request as u32, code);
        let start = match self.last {
            Some((last, start)) if last == row => start,
            _ => *self.rows.entry(row).or_insert_with(|| {
                let start = self.by_class.len();
                self.by_class.resize(start + answers, u32::MAX);
                start
            }),
        };
        self.last = Some((row, start));
        let var = &mut self.by_class[start + own as usize];
        if *var == u32::MAX {
            *var = self.atoms.len() as u32;
            self.atoms.push(Atom {
                request: row.0,
                code,
                class: own,
            });
            self.domains.push(domain);
        }
        (*var, state)
    }
}
