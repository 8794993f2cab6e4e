//! How much memory a plan may take: counted before anything is listed, so that a theory that needs too much is refused
//! instead of exhausting the machine.

use super::program::RequestPlan;
use crate::diagnostic::{Code, Diagnostic};
use crate::memory;
use crate::source::Span;
use crate::theory::Theory;

/// How much has been requested so far, and how much is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    used: u128,
    limit: u128,
}

/// Per binding: its numbers in a component's list.
const PER_CELL: u128 = 4;
/// Per binding and literal: its row's code in the plan and its place in the engine.
const PER_PLACE: u128 = 12;
/// Per answer: the number, its derivative, both literals and their derivatives.
const PER_ANSWER: u128 = 24;

impl Account {
    pub fn new(limit: u64) -> Account {
        Account {
            used: 0,
            limit: u128::from(limit),
        }
    }

    /// How many more cells of tuples there is room for.
    pub fn cells_left(&self) -> usize {
        let left = (self.limit.saturating_sub(self.used)).min(memory::left().into());
        usize::try_from(left / PER_CELL).unwrap_or(usize::MAX)
    }

    /// Records that this many cells of tuples will be listed.
    pub fn take_cells(
        &mut self,
        cells: u128,
        theory: &Theory,
        span: Span,
    ) -> Result<(), Diagnostic> {
        self.take(cells.saturating_mul(PER_CELL), theory, span)
    }

    /// The same for cells that were checked before.
    pub fn take_again(&mut self, cells: usize) {
        self.used = self.used.saturating_add(PER_CELL * cells as u128);
    }

    /// The same for the places that this many tuples add.
    pub fn take_places(
        &mut self,
        places: usize,
        theory: &Theory,
        span: Span,
    ) -> Result<(), Diagnostic> {
        self.take(PER_PLACE * places as u128, theory, span)
    }

    /// Records that this many bytes will be used, or returns an error that says why that is too
    /// much.
    fn take(&mut self, bytes: u128, theory: &Theory, span: Span) -> Result<(), Diagnostic> {
        self.used = self.used.saturating_add(bytes);
        match self.used > self.limit || memory::ask(bytes).is_err() {
            true => Err(self.too_much(None, theory, span)),
            false => Ok(()),
        }
    }

    /// With the number of bindings, if that is known.
    pub fn too_much(&self, bindings: Option<f64>, theory: &Theory, span: Span) -> Diagnostic {
        let limit = memory::shown(self.limit.min(memory::limit().into()));
        let what = match bindings {
            Some(n) => format!("too many bindings: about {n:.1e}, which take more"),
            None => "too many bindings: with these, the plan takes more".to_string(),
        };
        Diagnostic::error(
            Code::TooMuchMemory,
            format!("{what} than the {limit} of memory allowed"),
        )
        .at(&theory.source, span, "listed one by one")
        .help(format!(
            "a narrower guard, fewer individuals, or fewer variables under one quantifier; {}",
            memory::allow_more()
        ))
    }

    /// Tables that hold an answer for every possible row.
    pub fn take_tables(&mut self, requests: &[RequestPlan], theory: &Theory) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for request in requests.iter().filter(|r| r.complete) {
            let (rows, width) = (u128::from(request.grid()), request.width as u128);
            let bytes = rows * (width * PER_ANSWER + PER_CELL * request.extents.len() as u128);
            // Places in a table are 32 bits wide, however much memory there is.
            let numbered = rows * width <= u128::from(u32::MAX);
            match self.take(bytes, theory, request.span) {
                Err(problem) => problems.push(problem),
                Ok(()) if !numbered => problems.push(self.too_much(None, theory, request.span)),
                Ok(()) => {}
            }
        }
        problems
    }
}
