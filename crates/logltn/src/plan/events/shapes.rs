//! Circuits by shape: formulas that are the same up to the names of their atoms are compiled once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::circuit::{Budget, Circuit, Proposition, Shape, TooHard, compile};

/// All circuits of a plan, each shape once.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    numbers: FxHashMap<Shape, Result<u32, TooHard>>,
    pub circuits: Vec<Arc<Circuit>>,
    /// How long compiling has taken so far.
    spent: Duration,
    /// The length of all shapes and circuits.
    length: usize,
}

/// Between calls, so much is kept besides what the last call used.
const MOST_KEPT: usize = 1 << 22;

impl Shapes {
    /// Begins a call: each has all the time, and circuits of earlier calls than the last, which used these circuits, do not pile
    /// up.
    pub fn renew(&mut self, used: impl Iterator<Item = u32>) {
        self.spent = Duration::ZERO;
        if self.length <= MOST_KEPT {
            return;
        }
        let used: FxHashSet<u32> = used.collect();
        let edges = |circuit: &u32| self.circuits[*circuit as usize].edges();
        if self.length - used.iter().map(edges).sum::<usize>() > MOST_KEPT {
            *self = Shapes::default();
        }
    }

    /// The circuit of a conjunction, and the variables that the circuit's own variables stand for.
    pub fn circuit<'p>(
        &mut self,
        members: impl ExactSizeIterator<Item = &'p Proposition>,
        domains: &[u32],
        budget: Budget,
    ) -> Result<(u32, Vec<u32>), TooHard> {
        let (shape, names) = Shape::of(members, |var| domains[var as usize]);
        if let Some(known) = self.numbers.get(&shape) {
            return known.map(|number| (number, names));
        }
        let started = Instant::now();
        let own = Budget {
            time: budget.time.saturating_sub(self.spent),
            ..budget
        };
        let compiled = compile(&shape.proposition(), &shape.domains, own);
        self.spent += started.elapsed();
        let found = match compiled {
            Ok(circuit) => {
                self.length += shape.length() + circuit.edges();
                self.circuits.push(Arc::new(circuit));
                Ok(self.circuits.len() as u32 - 1)
            }
            Err(reached) if reached.stopped => return Err(reached),
            Err(reached) => Err(TooHard {
                seconds: self.spent.as_secs_f64(),
                ..reached
            }),
        };
        self.numbers.insert(shape, found);
        found.map(|number| (number, names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_of_earlier_calls_do_not_pile_up() {
        let mut shapes = Shapes::default();
        let is = |state| Proposition::Is {
            var: 0,
            state,
            positive: true,
        };
        let budget = Budget::new(Duration::from_secs(10), 1 << 20, None);
        for state in 0..3 {
            let (circuit, _) = shapes
                .circuit([&is(state)].into_iter(), &[4], budget)
                .unwrap();
            assert_eq!(circuit, state);
        }
        shapes.renew([0].into_iter());
        assert_eq!(shapes.circuits.len(), 3);
        shapes.length += MOST_KEPT;
        shapes.renew([0].into_iter());
        assert_eq!(shapes.circuits.len(), 0);
    }
}
