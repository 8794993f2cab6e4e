//! The truest binding of an `exists` whose variables were eliminated, among what may be 10³⁰.

use super::probe::{Probe, individuals};
use crate::diagnostic::Diagnostic;
use crate::engine::eliminate::Work;
use crate::engine::lane::Lane;
use crate::guard::{Cell, Join, conjuncts};
use crate::operators::Semiring;
use crate::plan::program::{Elimination, NodeKind};
use crate::theory::{Guard, VarId};

impl Probe<'_> {
    /// Of a part that is a sum of products, by binding: its own truest binding, the first in order if several are;
    /// `None` if there is none.
    pub fn truest_of_sum(
        &self,
        variables: &[VarId],
        guard: Option<&Guard>,
    ) -> Result<Vec<Option<Vec<Cell>>>, Diagnostic> {
        let mut lane = Lane::default();
        let all = self.bindings.iter().enumerate().map(|(at, binding)| {
            let mut reached = None;
            self.run(&mut lane, at..at + 1, &mut |run, part, _| {
                if let NodeKind::Elimination(index) = run.exec.nodes[part].kind {
                    run.forward(part);
                    let work = run.lane.eliminations[index].clone();
                    reached = Some((work, &self.excerpt.plan.programs[0].eliminations[index]));
                }
            });
            let found = reached.filter(|(work, of)| !work.is_empty_for_one(of));
            let mut env = binding.env.clone();
            let Some((work, elimination)) = found else {
                return Ok(None);
            };
            self.truest(variables, guard, elimination, work, &mut env)?;
            Ok(Some(env))
        });
        all.collect()
    }

    /// The variables are fixed one after another, each to the first individual that leaves the greatest value within
    /// reach.
    fn truest(
        &self,
        variables: &[VarId],
        guard: Option<&Guard>,
        elimination: &Elimination,
        mut work: Work<f64>,
        env: &mut Vec<Cell>,
    ) -> Result<(), Diagnostic> {
        let greatest = |work: &mut Work<f64>| {
            work.forward(elimination, Semiring::Greatest, 1.0);
            work.total_of_one(elimination)
        };
        let most = greatest(&mut work);
        // Sums in another order differ in their last digits.
        let enough = most - 1e-12 * most.abs().max(1.0);
        let factors = elimination.factors.iter();
        let factors: Vec<_> = factors.map(|f| self.excerpt.tuples(f.level)).collect();
        let mut unread = Vec::new();
        for &variable in variables {
            let reads = |variables: &[VarId]| variables.iter().position(|v| *v == variable);
            if !factors.iter().any(|(read, _)| reads(read).is_some()) {
                unread.push(variable);
                continue;
            }
            for index in 0..self.scope.size_of(variable) {
                let mut tried = work.clone();
                for (f, (read, tuples)) in factors.iter().enumerate() {
                    let Some(at) = reads(read) else { continue };
                    let tuples = tuples.chunks_exact(read.len());
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
        if unread.is_empty() {
            return Ok(());
        }
        // The value of a variable that nothing reads does not matter: take the first that the guard keeps.
        let conditions = guard.map(conjuncts).unwrap_or_default();
        let mut first: Option<Vec<Cell>> = None;
        Join::over_sorts(self.scope, &unread, &conditions)
            .run(env, &mut |env, _| {
                let is_before =
                    |first: &Vec<Cell>| individuals(&unread, env) < individuals(&unread, first);
                if first.as_ref().is_none_or(is_before) {
                    first = Some(env.clone());
                }
                true
            })
            .map_err(|error| self.scope.diagnose(&error))?;
        first.into_iter().for_each(|first| *env = first);
        Ok(())
    }
}
