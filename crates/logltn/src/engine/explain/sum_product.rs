//! An `exists` whose variables were eliminated, at one binding: its value, its derivatives, and its truest binding among
//! what may be 10³⁰.

use super::Looked;
use super::look::{Look, bind};
use super::tree::{Quantifier, Sum};
use crate::engine::eliminate::Work;
use crate::guard::{Cell, Join, conjuncts};
use crate::operators::{FLOOR, Semiring};
use crate::plan::codes;
use crate::plan::program::Elimination;
use crate::theory::*;
use crate::vector::Real;

impl<'a, T: Real> Look<'a, T> {
    fn elimination(&self, sum: &Sum) -> &'a Elimination {
        &self.ground.plan.programs[self.axiom].eliminations[sum.index]
    }

    /// The lists to use; `None` if the guard keeps nothing.
    fn key(&self, sum: &Sum, env: &[Cell]) -> Option<usize> {
        let (variables, ids) = sum.keys;
        let key = match variables.is_empty() {
            true => 0,
            false => *ids.get(&codes(variables, env))? as usize,
        };
        (self.elimination(sum).counts[key] > 0).then_some(key)
    }

    /// The values of all factors, to be summed up.
    fn factors(&mut self, sum: &Sum, key: usize, env: &mut Vec<Cell>) -> Looked<Work<f64>> {
        let mut values = Vec::with_capacity(sum.factors.len());
        for factor in &sum.factors {
            let mut own = Vec::new();
            for tuple in factor.tuples.chunks_exact(factor.variables.len()) {
                bind_tuple(factor.variables, tuple, env);
                own.push(self.value(&factor.body, env)?);
            }
            values.push(own);
        }
        Ok(Work::of_one(self.elimination(sum), key as u32, values))
    }

    fn semiring(&self) -> Semiring {
        let laws = self.aggregation(false).laws;
        laws.semiring.unwrap_or(Semiring::Greatest)
    }

    pub(super) fn sum_value(&mut self, sum: &Sum, env: &mut Vec<Cell>) -> Looked<f64> {
        let Some(key) = self.key(sum, env) else {
            return Ok(FLOOR);
        };
        let mut work = self.factors(sum, key, env)?;
        let (elimination, semiring) = (self.elimination(sum), self.semiring());
        let shift = match semiring {
            Semiring::Exponentials { mean: true } => -elimination.log_counts[key],
            Semiring::Exponentials { mean: false } => elimination.log_unread,
            Semiring::Greatest => 0.0,
        };
        work.forward(elimination, semiring, self.settings.alpha);
        let mut value = shift / self.settings.alpha + work.total_of_one(elimination);
        for member in &sum.common {
            value += self.value(member, env)?;
        }
        Ok(value)
    }

    pub(super) fn blame_sum(&mut self, sum: &Sum, env: &mut Vec<Cell>, by: f64) -> Looked<()> {
        let Some(key) = self.key(sum, env) else {
            return Ok(());
        };
        let mut work = self.factors(sum, key, env)?;
        let (elimination, semiring) = (self.elimination(sum), self.semiring());
        work.forward(elimination, semiring, self.settings.alpha);
        work.backward(elimination, semiring, &[by]);
        for (f, factor) in sum.factors.iter().enumerate() {
            let tuples = factor.tuples.chunks_exact(factor.variables.len());
            for (tuple, by) in tuples.zip(work.by_factor(f)) {
                bind_tuple(factor.variables, tuple, env);
                self.blame(&factor.body, env, *by)?;
            }
        }
        self.blame_all(&sum.common, env, &vec![by; sum.common.len()])
    }

    /// The truest binding, the first in order if several are: the variables are fixed one after another, each to the
    /// first individual that leaves the greatest value within reach. The environment is left at it.
    pub(super) fn truest_of_sum(
        &mut self,
        quantifier: &Quantifier,
        sum: &Sum,
        env: &mut Vec<Cell>,
    ) -> Looked<bool> {
        let Some(key) = self.key(sum, env) else {
            return Ok(false);
        };
        let mut work = self.factors(sum, key, env)?;
        let elimination = self.elimination(sum);
        let greatest = |work: &mut Work<f64>| {
            work.forward(elimination, Semiring::Greatest, 1.0);
            work.total_of_one(elimination)
        };
        let most = greatest(&mut work);
        // Sums in another order differ in their last digits.
        let enough = most - 1e-12 * most.abs().max(1.0);
        let mut unread = Vec::new();
        for &variable in quantifier.binding.variables() {
            let reads = |variables: &[VarId]| variables.iter().position(|v| *v == variable);
            if !sum.factors.iter().any(|f| reads(f.variables).is_some()) {
                unread.push(variable);
                continue;
            }
            for index in 0..self.scope.size_of(variable) {
                let mut tried = work.clone();
                for (f, factor) in sum.factors.iter().enumerate() {
                    let Some(at) = reads(factor.variables) else {
                        continue;
                    };
                    let tuples = factor.tuples.chunks_exact(factor.variables.len());
                    for (tuple, value) in tuples.zip(tried.factor_mut(f)) {
                        if tuple[at] != index {
                            *value = f64::NEG_INFINITY;
                        }
                    }
                }
                if greatest(&mut tried) >= enough {
                    env[variable.index()] = Cell::Individual(index);
                    work = tried;
                    break;
                }
            }
        }
        if !unread.is_empty() {
            // The value of a variable that nothing reads does not matter: take the first that the
            // guard keeps.
            let conditions = quantifier.guard.map(conjuncts).unwrap_or_default();
            let mut first: Option<Vec<Cell>> = None;
            let before = |a: &[Cell], b: &[Cell]| {
                let index =
                    |cells: &[Cell]| cells.iter().map(|c| c.individual()).collect::<Vec<_>>();
                index(a) < index(b)
            };
            Join::over_sorts(self.scope, &unread, &conditions)
                .run(env, &mut |env, _| {
                    let cells: Vec<Cell> = unread.iter().map(|v| env[v.index()]).collect();
                    if first.as_ref().is_none_or(|f| before(&cells, f)) {
                        first = Some(cells);
                    }
                    true
                })
                .map_err(|error| self.scope.diagnose(&error))?;
            bind(&unread, &first.unwrap_or_default(), env);
        }
        Ok(true)
    }
}

fn bind_tuple(variables: &[VarId], tuple: &[u32], env: &mut [Cell]) {
    for (variable, &cell) in variables.iter().zip(tuple) {
        env[variable.index()] = Cell::Individual(cell);
    }
}
