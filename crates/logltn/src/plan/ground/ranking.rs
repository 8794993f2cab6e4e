//! The bindings of the quantifiers at the root as numbers, which order and identify them.

use super::Ground;
use crate::diagnostic::{Code, Diagnostic};
use crate::plan::program::*;
use crate::source::Span;
use crate::theory::*;

impl Ground<'_> {
    /// Makes slots for the numbers of all bindings around, in the order of their individuals (of rows, that of the
    /// table). They are added up like the places of literals, so that every binding of a block has its number.
    pub(super) fn ranking(&mut self) -> Result<Ranking, Diagnostic> {
        let mut digits = self.digits();
        let mut codes = 0;
        let mut stride = 1_u64;
        // The first number made has the last digits; the order is reversed below.
        for digit in digits.iter_mut().rev() {
            match stride.checked_mul(digit.extent) {
                Some(_) if codes > 0 => {}
                _ => {
                    codes += 1;
                    stride = 1;
                }
            }
            (digit.code, digit.stride) = (codes - 1, stride);
            stride *= digit.extent;
        }
        if codes > MOST_CODES {
            let theory = self.scope.theory();
            let first = self.around.iter().flat_map(|b| &b.variables).next();
            let span = first.map_or(Span::default(), |v| self.scope.variables[v.index()].span);
            return Err(Diagnostic::error(
                Code::TooManyBindings,
                "too many variables to number their bindings",
            )
            .at(&theory.source, span, "")
            .help("bind fewer of them here, and the others with `exists`"));
        }
        digits.iter_mut().for_each(|d| d.code = codes - 1 - d.code);
        let wides: Vec<usize> = (0..codes).map(|_| self.new_wide_slot(0)).collect();
        for owner in 0..self.around.len() {
            // Components that only decide whether there are any bindings.
            if self.around[owner].variables.is_empty() {
                continue;
            }
            self.account_for_places(owner)?;
            for (code, &wide) in wides.iter().enumerate() {
                let own = digits.iter().filter(|d| d.code == code);
                let values = self.part_of_code(owner, own);
                if let Some(values) = values {
                    self.use_wide_map(wide, owner, values);
                }
            }
        }
        let level = self.level;
        (self.wide_reads).extend(wides.iter().map(|&wide| (wide, level)));
        let mut levels: Vec<usize> = self.places.iter().map(|p| p.level).collect();
        levels.dedup();
        Ok(Ranking {
            levels,
            body: 0,
            codes: wides,
            digits,
        })
    }

    /// The outer variables, quantifier by quantifier, each in the order of the text.
    fn digits(&self) -> Vec<Digit> {
        let mut digits: Vec<(usize, VarId, Digit)> = Vec::new();
        for (bound, place) in self.around.iter().zip(&self.places) {
            let component = &self.shared.lists.components[bound.component];
            let mut digit = |first: VarId, of: DigitOf, extent: usize| {
                let extent = extent.max(1) as u64;
                let digit = Digit {
                    of,
                    code: 0,
                    stride: 0,
                    extent,
                };
                digits.push((place.level, first, digit));
            };
            match component.source.table() {
                Some(table) => {
                    let rows = self.scope.data.table(table).map_or(0, |t| t.rows);
                    let of = DigitOf::Row(table, bound.variables.clone());
                    digit(bound.variables[0], of, rows);
                }
                None => (bound.variables.iter())
                    .for_each(|&v| digit(v, DigitOf::Variable(v), self.scope.size_of(v) as usize)),
            }
        }
        // Variables are numbered in the order of the text.
        digits.sort_by_key(|(level, first, _)| (*level, *first));
        digits.into_iter().map(|(_, _, digit)| digit).collect()
    }

    /// What the tuples of a component add to a number, if they determine some of its digits.
    fn part_of_code<'d>(
        &self,
        owner: usize,
        digits: impl Iterator<Item = &'d Digit>,
    ) -> Option<Vec<u64>> {
        let bound = &self.around[owner];
        let component = &self.shared.lists.components[bound.component];
        let place = |digit: &Digit| match &digit.of {
            DigitOf::Variable(v) => bound.variables.iter().position(|o| o == v),
            DigitOf::Row(_, variables) => (*variables == bound.variables).then_some(0),
        };
        let own: Vec<(usize, u64)> = digits.filter_map(|d| Some((place(d)?, d.stride))).collect();
        let code = |tuple: &[u32]| {
            let parts = own
                .iter()
                .map(|(at, stride)| u64::from(tuple[*at]) * stride);
            parts.sum()
        };
        let tuples = component.tuples.chunks_exact(component.arity.max(1));
        (!own.is_empty()).then(|| tuples.map(code).collect())
    }
}
