//! Which rows a step sees: of tables with batches a batch, of sorts and axioms with samples a sample, and all of everything else.

use logltn::theory::TableId;
use logltn::{Data, Diagnostics, Engine};

use crate::batches::{self, TableBatches};
use crate::knowledge::KnowledgeBase;
use crate::sample::Samples;
use crate::training::Training;

#[derive(Debug)]
pub(crate) struct RowView {
    batches: Vec<TableBatches>,
    /// Where steps see some individuals only, or the rows of a batch come with the step.
    samples: Option<Samples>,
    /// Where the batches were at the last [`RowView::mark`].
    marked: Vec<(u64, u64)>,
    seed: u64,
}

impl RowView {
    pub fn new(knowledge: &KnowledgeBase, training: &Training) -> Result<RowView, Diagnostics> {
        let seed = training.seed;
        Ok(RowView {
            batches: batches::of(&knowledge.data, &training.batches, seed),
            samples: Samples::of(knowledge, training)?,
            marked: Vec::new(),
            seed,
        })
    }

    /// The data as steps see them.
    pub fn data<'d>(&'d self, all: &'d Data) -> &'d Data {
        self.samples.as_ref().map_or(all, Samples::data)
    }

    /// Whether a plan of what steps see has everyone in it.
    pub fn is_whole(&self) -> bool {
        self.samples.is_none()
    }

    /// Whether one step sees other rows than the next.
    pub fn changes(&self) -> bool {
        !self.batches.is_empty() || self.samples.is_some()
    }

    pub fn samples(&self) -> Option<&Samples> {
        self.samples.as_ref()
    }

    /// Whether steps see only some of what an axiom of the theory is about.
    pub fn concerns(&self, axiom: usize) -> bool {
        (self.samples.as_ref()).is_some_and(|samples| samples.concerns(axiom))
    }

    /// How many steps make a pass over the largest table with batches.
    pub fn steps_per_pass(&self) -> u64 {
        let passes = self.batches.iter().map(TableBatches::steps_per_pass);
        passes.max().unwrap_or(1)
    }

    /// Gives an engine the samples of the first step, if there are any, with batches of the right size.
    pub fn give_first_samples(&mut self, engine: &mut Engine<f32>) -> Result<(), Diagnostics> {
        let Some(samples) = &mut self.samples else {
            return Ok(());
        };
        let rows: Vec<(TableId, Vec<u32>)> = (self.batches.iter())
            .map(|batch| (batch.table, batch.first(batch.rows())))
            .collect();
        let rows: Vec<(TableId, &[u32])> = rows.iter().map(|(t, rows)| (*t, &rows[..])).collect();
        samples.give(engine, 0, &rows)
    }

    /// Gives an engine batches of the right size.
    pub fn give_first_batches(&self, engine: &mut Engine<f32>) -> Result<(), Diagnostics> {
        let data = engine.plan().data();
        let rows: Vec<(TableId, Vec<u32>)> = (self.batches.iter())
            .map(|batch| {
                // None of a large table, whose first rows the plan has.
                let all = data.table(batch.table).map_or(0, |table| table.rows);
                (batch.table, batch.first(all))
            })
            .collect();
        match rows.is_empty() {
            true => Ok(()),
            false => engine.set_batches(rows.iter().map(|(table, rows)| (*table, &rows[..]))),
        }
    }

    /// Gives an engine the rows of the next step, which has this number, counted from 0.
    pub fn give_next(&mut self, engine: &mut Engine<f32>, step: u64) -> Result<(), Diagnostics> {
        let batches = self.batches.iter_mut().map(|b| (b.table, b.next()));
        match &mut self.samples {
            None => engine.set_batches(batches),
            Some(samples) => {
                let rows: Vec<(TableId, &[u32])> = batches.collect();
                samples.give(engine, step, &rows)?;
                engine.set_batches(samples.remaining(rows))
            }
        }
    }

    /// Notes where it is, for [`RowView::back`].
    pub fn mark(&mut self) {
        self.marked.clear();
        self.marked
            .extend(self.batches.iter().map(TableBatches::state));
    }

    /// Goes back to where it was marked.
    pub fn back(&mut self) {
        let marked = std::mem::take(&mut self.marked);
        self.resume(&marked);
    }

    /// For each table with batches, where they are: what [`RowView::resume`] needs.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (TableId, (u64, u64))> {
        self.batches.iter().map(|b| (b.table, b.state()))
    }

    pub fn resume(&mut self, states: &[(u64, u64)]) {
        for (batches, state) in self.batches.iter_mut().zip(states) {
            batches.resume(self.seed, *state);
        }
    }
}
