//! How much memory a plan may take: counted before anything is listed, so that a theory that needs too much is told so
//! instead of exhausting the machine.

use super::build::Builder;
use super::program::RequestPlan;
use super::show::bytes as shown;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::theory::VarId;

/// What has been asked for so far, and how much there may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    used: u128,
    limit: u128,
}

/// Per binding: its numbers in a component's list.
const PER_CELL: u128 = 4;
/// Per binding and literal: its row's code in the plan and its place in the engine.
pub(super) const PER_PLACE: u128 = 12;
/// Per answer: the number, its derivative, both literals and their derivatives.
const PER_ANSWER: u128 = 24;

impl Account {
    pub fn new(limit: u64) -> Account {
        Account {
            used: 0,
            limit: u128::from(limit),
        }
    }

    /// How many cells of tuples there is still room for.
    pub fn cells_left(&self) -> usize {
        usize::try_from((self.limit.saturating_sub(self.used)) / PER_CELL).unwrap_or(usize::MAX)
    }
}

impl Builder<'_> {
    /// Takes down that so many cells of tuples are going to be listed.
    pub(super) fn account_for_cells(&mut self, cells: u128, span: Span) -> Result<(), Diagnostic> {
        self.account_for(cells.saturating_mul(PER_CELL), span)
    }

    /// Takes down that so many bytes are going to be used, or says why that is too much.
    pub(super) fn account_for(&mut self, bytes: u128, span: Span) -> Result<(), Diagnostic> {
        self.account.used = self.account.used.saturating_add(bytes);
        if self.account.used > self.account.limit {
            return Err(self.too_much(span));
        }
        Ok(())
    }

    pub(super) fn too_many_bindings(&self, span: Span) -> Diagnostic {
        Diagnostic::error(
            Code::TooManyBindings,
            "this quantifier has 2⁶⁴ bindings or more, which nobody can go through",
        )
        .at(&self.theory().source, span, "")
        .help("use fewer variables, or guards that tie them to each other")
    }

    pub(super) fn too_much(&self, span: Span) -> Diagnostic {
        let size = |bytes: u128| shown(usize::try_from(bytes).unwrap_or(usize::MAX));
        Diagnostic::error(
            Code::TooMuchMemory,
            format!(
                "too many bindings: with these, the plan takes more than the {} it may have",
                size(self.account.limit)
            ),
        )
        .at(&self.theory().source, span, "listed one by one")
        .help("a narrower guard, fewer individuals, or fewer variables under one quantifier")
    }

    /// Where a variable is bound, to point at.
    pub(super) fn span_of(&self, variable: VarId) -> Span {
        self.variables[variable.index()].span
    }

    /// Tables that hold an answer for every row there can be.
    pub(super) fn account_for_tables(&mut self, requests: &[RequestPlan]) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for request in requests.iter().filter(|r| r.complete) {
            let (rows, width) = (u128::from(request.grid()), request.width as u128);
            let bytes = rows * (width * PER_ANSWER + PER_CELL * request.extents.len() as u128);
            // Places in a table are 32 bits wide, however much memory there is.
            let numbered = rows * width <= u128::from(u32::MAX);
            if let Err(problem) = self.account_for(bytes, request.span) {
                problems.push(problem);
            } else if !numbered {
                problems.push(self.too_much(request.span));
            }
        }
        problems
    }
}
