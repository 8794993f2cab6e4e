//! Which rows of each table a step looks at: shuffled anew for each pass over the table.

use std::collections::BTreeMap;

use logltn::Data;
use logltn::theory::TableId;

use crate::random::Random;

/// The batches of one table.
#[derive(Debug)]
pub(crate) struct TableBatches {
    pub table: TableId,
    size: usize,
    order: Vec<u32>,
    at: usize,
    random: Random,
    /// How many numbers had been drawn before the current pass was shuffled.
    drawn_before: u64,
}

/// Tables draw from separate streams, so that one does not disturb another.
const FIRST_STREAM: u64 = 1000;

impl TableBatches {
    fn new(table: TableId, rows: usize, size: usize, seed: u64) -> TableBatches {
        let mut batches = TableBatches {
            table,
            size,
            order: (0..rows as u32).collect(),
            at: 0,
            random: Random::new(seed, FIRST_STREAM + u64::from(table.0)),
            drawn_before: 0,
        };
        batches.shuffle();
        batches
    }

    /// A pass starts from the same order every time, so that the state is two numbers.
    fn shuffle(&mut self) {
        self.drawn_before = self.random.drawn();
        (0..)
            .zip(&mut self.order)
            .for_each(|(row, place)| *place = row);
        self.random.shuffle(&mut self.order);
        self.at = 0;
    }

    /// The rows of the next step. The last batch of a pass may be smaller.
    pub fn next(&mut self) -> &[u32] {
        if self.at >= self.order.len() {
            self.shuffle();
        }
        let from = self.at;
        self.at = (from + self.size).min(self.order.len());
        &self.order[from..self.at]
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// As many of the first of all rows as a step draws.
    pub fn first(&self, all: usize) -> Vec<u32> {
        (0..self.size.min(all) as u32).collect()
    }

    pub fn steps_per_pass(&self) -> u64 {
        self.order.len().div_ceil(self.size).max(1) as u64
    }

    /// What [`TableBatches::resume`] needs.
    pub fn state(&self) -> (u64, u64) {
        (self.drawn_before, self.at as u64)
    }

    pub fn resume(&mut self, seed: u64, (drawn_before, at): (u64, u64)) {
        let stream = FIRST_STREAM + u64::from(self.table.0);
        self.random = Random::resumed(seed, stream, drawn_before);
        self.shuffle();
        self.at = at as usize;
    }
}

/// The batches of all tables that have a batch size.
pub(crate) fn of(data: &Data, sizes: &BTreeMap<String, usize>, seed: u64) -> Vec<TableBatches> {
    (data.theory().tables.iter().enumerate())
        .filter_map(|(i, table)| {
            let id = TableId(i as u32);
            let size = *sizes.get(&table.name)?;
            let rows = data.table(id)?.rows;
            (rows > 0).then(|| TableBatches::new(id, rows, size.max(1), seed))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_sees_each_row_once_and_a_resumed_one_goes_on() {
        let mut batches = TableBatches::new(TableId(0), 10, 4, 5);
        let mut seen: Vec<u32> = Vec::new();
        let sizes: Vec<usize> = (0..3)
            .map(|_| {
                let batch = batches.next();
                seen.extend(batch);
                batch.len()
            })
            .collect();
        assert_eq!(sizes, [4, 4, 2]);
        assert_ne!(seen, (0..10).collect::<Vec<_>>());
        seen.sort_unstable();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        for steps in 0..9 {
            let state = batches.state();
            let mut again = TableBatches::new(TableId(0), 10, 4, 5);
            again.resume(5, state);
            assert_eq!(again.next(), batches.next(), "after {steps} more steps");
        }
    }
}
