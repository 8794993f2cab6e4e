//! Combinations of individuals, each kept once.

use crate::memory;

/// Collects combinations in about twice the memory of the distinct ones.
pub(super) struct Distinct {
    arity: usize,
    cells: Vec<u32>,
    /// How long it may get before it is sorted and thinned out.
    until: usize,
}

/// With fewer numbers than this, memory is not checked.
const SMALL: usize = 1 << 12;

impl Distinct {
    pub fn new(arity: usize) -> Distinct {
        Distinct {
            arity,
            cells: Vec::new(),
            until: SMALL,
        }
    }

    /// Adds a combination; `false` if there is no room for it.
    #[must_use]
    pub fn insert(&mut self, combination: impl Iterator<Item = u32>) -> bool {
        if self.cells.len() + self.arity > self.until {
            self.thin_out();
            self.until = (2 * self.cells.len()).max(SMALL);
            let more = self.until.saturating_sub(self.cells.capacity());
            if memory::ask((more * size_of::<u32>()) as u128).is_err() {
                return false;
            }
            self.cells.reserve_exact(self.until - self.cells.len());
        }
        self.cells.extend(combination);
        true
    }

    /// The combinations in order, consecutively.
    pub fn sorted(mut self) -> Vec<u32> {
        self.thin_out();
        self.cells
    }

    fn thin_out(&mut self) {
        let arity = self.arity;
        sort_tuples(&mut self.cells, arity);
        let mut kept = 0;
        for at in (0..self.cells.len()).step_by(arity.max(1)) {
            let is_new = kept == 0 || self.cells[kept - arity..kept] != self.cells[at..at + arity];
            if is_new {
                self.cells.copy_within(at..at + arity, kept);
                kept += arity;
            }
        }
        self.cells.truncate(kept);
    }
}

/// Sorts tuples that are stored consecutively.
pub(crate) fn sort_tuples(tuples: &mut [u32], arity: usize) {
    match arity {
        0 => {}
        1 => tuples.sort_unstable(),
        2 => {
            let (pairs, _) = tuples.as_chunks_mut::<2>();
            pairs.sort_unstable();
        }
        3 => tuples.as_chunks_mut::<3>().0.sort_unstable(),
        4 => tuples.as_chunks_mut::<4>().0.sort_unstable(),
        5 => tuples.as_chunks_mut::<5>().0.sort_unstable(),
        6 => tuples.as_chunks_mut::<6>().0.sort_unstable(),
        _ => {
            let mut list: Vec<&[u32]> = tuples.chunks(arity).collect();
            list.sort_unstable();
            let sorted = list.concat();
            tuples.copy_from_slice(&sorted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_once_and_in_order() {
        for arity in 1..=8 {
            let mut distinct = Distinct::new(arity);
            let mut expected = std::collections::BTreeSet::new();
            let mut state = 7_u32;
            for _ in 0..20_000 {
                let tuple: Vec<u32> = (0..arity)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (state >> 16) % (if arity < 3 { 90 } else { 3 })
                    })
                    .collect();
                assert!(distinct.insert(tuple.iter().copied()));
                expected.insert(tuple);
            }
            let expected: Vec<u32> = expected.into_iter().flatten().collect();
            assert_eq!(distinct.sorted(), expected);
        }
    }
}
