//! Circuits by shape: formulas that are the same up to the names of their atoms are compiled once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::circuit::{Budget, Circuit, Proposition, Shape, TooHard, compile};

/// All circuits of a plan, each shape once.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    numbers: FxHashMap<Shape, Result<u32, TooHard>>,
    pub circuits: Vec<Arc<Circuit>>,
    /// How long compiling has taken so far.
    spent: Duration,
}

impl Shapes {
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
                self.circuits.push(Arc::new(circuit));
                Ok(self.circuits.len() as u32 - 1)
            }
            Err(reached) => Err(TooHard {
                seconds: self.spent.as_secs_f64(),
                ..reached
            }),
        };
        self.numbers.insert(shape, found);
        found.map(|number| (number, names))
    }
}
