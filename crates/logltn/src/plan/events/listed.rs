//! The events of a plan one by one, for callers that need something other than their probability.

use super::ground::{Grounding, NotGround};
use super::variables::{Atom, Variables};
use super::{Limits, too_large};
use crate::circuit::Proposition;
use crate::diagnostic::Diagnostics;
use crate::memory;
use crate::plan::Plan;
use crate::plan::active::Active;
use crate::plan::individual::Bound;
use crate::theory::VarId;

/// Visits the events of a plan that was made without compiling them.
pub(crate) struct EventLister<'p> {
    plan: &'p Plan,
    active: Active,
    variables: Variables,
    left: usize,
}

/// The formula under one binding of an axiom's leading quantifiers.
pub(crate) struct ListedEvent<'a> {
    pub formula: Proposition,
    /// By variable of the formula: the request, its row, and the class there.
    atoms: &'a [Atom],
    plan: &'a Plan,
    program: usize,
    codes: [u64; crate::plan::program::MOST_CODES],
}

impl<'p> EventLister<'p> {
    pub fn new(plan: &'p Plan) -> EventLister<'p> {
        let limits = Limits {
            time: plan.data.compile_time(),
            bytes: memory::limit(),
        };
        EventLister {
            plan,
            active: Active::new(plan),
            variables: Variables::default(),
            left: limits.literals(),
        }
    }

    /// Calls `visit` with the event of each binding of an axiom, until it returns false.
    pub fn each(
        &mut self,
        program: usize,
        visit: &mut dyn FnMut(ListedEvent) -> Result<bool, Diagnostics>,
    ) -> Result<(), Diagnostics> {
        let (plan, active) = (self.plan, &self.active);
        let mut left = self.left;
        let variables = &mut self.variables;
        let mut grounding = Grounding::new(plan, active, program, variables, &mut left);
        let mut ended = None;
        let done =
            grounding.each_observation(plan.leading[program], &mut |variables, codes, formula| {
                let event = ListedEvent {
                    formula,
                    atoms: &variables.atoms,
                    plan,
                    program,
                    codes,
                };
                match visit(event) {
                    Ok(true) => return Ok(()),
                    Ok(false) => ended = Some(Ok(())),
                    Err(error) => ended = Some(Err(error)),
                }
                Err(NotGround::Stopped)
            });
        match ended {
            Some(ended) => ended,
            None => done.map_err(|why| too_large(plan, &plan.axioms[program].name, why)),
        }
    }
}

impl ListedEvent<'_> {
    /// The request, the individuals of its row, and the class of an atom that is not of a softmax.
    pub fn atom(&self, var: u32) -> (usize, Vec<u32>, u32) {
        let atom = self.atoms[var as usize];
        let request = &self.plan.requests[atom.request as usize];
        let mut row = vec![0; request.extents.len()];
        request.decode(atom.code, &mut row);
        (atom.request as usize, row, atom.class)
    }

    /// Rows and individuals that the leading quantifiers are at, but for the variables of sorts that are not kept.
    pub fn place(&self, keeps: impl Fn(VarId) -> bool) -> Vec<u32> {
        let ranking = self.plan.programs[self.program].ranking.as_ref();
        let mut place = Vec::new();
        for digit in ranking.iter().flat_map(|r| &r.digits) {
            let mut value = self.codes[digit.code] / digit.stride % digit.extent;
            for (size, variable) in digit.parts(&self.plan.data).into_iter().rev() {
                if variable.is_none_or(&keeps) {
                    place.push((value % size) as u32);
                }
                value /= size;
            }
        }
        place
    }

    /// The values of the variables of the leading quantifiers.
    pub fn bound(&self) -> Vec<Bound> {
        self.plan.bound(self.program, &self.codes)
    }
}
