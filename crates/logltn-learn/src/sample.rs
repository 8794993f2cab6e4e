//! Which individuals quantifiers see in a step, where it is not all of a sort.
//!
//! Who is drawn depends on the seed, the sort and the number of the step, and on nothing else: a training that was interrupted
//! continues with the same samples, and there is no state to be kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use logltn::theory::{SortId, SymbolKind, TableId};
use logltn::{
    Bindings, Code, ColumnData, Data, Diagnostic, Diagnostics, Engine, Plan, PlanOptions, Sampled,
    Semantics,
};
use rustc_hash::FxHashSet;

use crate::axioms::AxiomSettings;
use crate::knowledge::KnowledgeBase;
use crate::large_tables;
use crate::random::Random;
use crate::training::Training;

/// Sorts draw from separate streams, and so do axioms.
const FIRST_STREAM: u64 = 1 << 32;
const FIRST_OF_AXIOMS: u64 = 1 << 33;

/// Parts the seeds of neighbouring steps.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The samples of all sorts that have one, and the batches of tables that steps read beside them, or that are large.
#[derive(Debug)]
pub(crate) struct Samples {
    sampled: Sampled,
    /// The rows of the tables with batches that come with each step.
    rows: Vec<Arc<[ColumnData]>>,
    /// Those of them that steps do not know otherwise.
    large: Vec<TableId>,
    /// How many are drawn, of how many.
    sizes: Vec<(usize, usize)>,
    seed: u64,
    /// Counts what is left out because of the samples.
    counter: Option<Engine<f32>>,
}

/// The data as training steps see them: quantifiers over the sorts of `samples` look into samples, whose individuals come with each
/// step, and `axioms` with their own sample have some of their bindings. A sample that is as large as its sort is the sort. Of
/// [large tables](crate::large_tables()) the rows come with each step too.
///
/// # Errors
/// If there is no such sort, or a sample of nobody, or an axiom cannot be sampled.
pub fn seen_in_steps(
    data: &Data,
    samples: &BTreeMap<String, usize>,
    axioms: &BTreeMap<String, AxiomSettings>,
    semantics: &Semantics,
) -> Result<Data, Diagnostics> {
    seen_in_steps_from(data, samples, axioms, large_tables::FROM, semantics)
}

/// The same, with the number of rows from which a table is large.
pub(crate) fn seen_in_steps_from(
    data: &Data,
    samples: &BTreeMap<String, usize>,
    axioms: &BTreeMap<String, AxiomSettings>,
    large_from: usize,
    semantics: &Semantics,
) -> Result<Data, Diagnostics> {
    let theory = data.theory();
    let mut found = Diagnostics::new();
    for (name, count) in samples {
        if theory.sort(name).is_none() {
            found.push(theory.unknown(SymbolKind::Sort, name));
        }
        if *count == 0 {
            let what = format!("a sample of sort `{name}` must have at least one individual");
            found.push(Diagnostic::error(Code::ValueOutOfRange, what));
        }
    }
    if found.has_errors() {
        return Err(found);
    }
    let sampled = sampled(data, samples, axioms, large_from, semantics)?;
    Ok(sampled.map_or_else(|| data.clone(), |(sampled, _)| sampled.data))
}

/// The sorts that are larger than their samples, how many of each are drawn, and of how many.
fn sorts(data: &Data, samples: &BTreeMap<String, usize>) -> Vec<(SortId, usize, usize)> {
    let sorts = data.theory().sorts.iter().enumerate();
    let sampled = sorts.filter_map(|(i, sort)| {
        let (id, count) = (SortId(i as u32), *samples.get(&sort.name)?);
        let size = data.size(id);
        (count < size).then_some((id, count, size))
    });
    sampled.collect()
}

/// With the tables of which steps see the rows of a batch alone. None if every step sees everyone.
fn sampled(
    data: &Data,
    samples: &BTreeMap<String, usize>,
    axioms: &BTreeMap<String, AxiomSettings>,
    large_from: usize,
    semantics: &Semantics,
) -> Result<Option<(Sampled, Vec<TableId>)>, Diagnostics> {
    let ids: Vec<SortId> = sorts(data, samples)
        .iter()
        .map(|(sort, ..)| *sort)
        .collect();
    let own = data.theory().axioms.iter().enumerate();
    let own = own.filter_map(|(i, axiom)| Some((i, axioms.get(&axiom.name)?.sample?)));
    let own: Vec<(usize, usize)> = own.collect();
    let mut large = large_tables::tables(data, large_from);
    if semantics.exact {
        large.clear();
    }
    // Of those the bindings are listed.
    large.retain(|table| {
        let mut listed = own.iter().map(|(i, _)| &data.theory().axioms[*i]);
        !listed.any(|axiom| large_tables::over(axiom) == Some(*table))
    });
    if ids.is_empty() && own.is_empty() && large.is_empty() {
        return Ok(None);
    }
    let sampled = data.sampled(&ids, &own, &large, semantics)?;
    let anything = !sampled.samples.is_empty() || !sampled.bindings.is_empty() || !large.is_empty();
    Ok(anything.then_some((sampled, large)))
}

impl Samples {
    /// None if every step sees everyone.
    pub fn of(
        knowledge: &KnowledgeBase,
        training: &Training,
    ) -> Result<Option<Samples>, Diagnostics> {
        let data = &knowledge.data;
        let Training {
            samples,
            axioms,
            large_from,
            semantics,
            ..
        } = training;
        let Some((sampled, large)) = sampled(data, samples, axioms, *large_from, semantics)? else {
            return Ok(None);
        };
        let sizes = sorts(data, samples);
        let rows = (sampled.batches.iter()).map(|(of, _)| {
            data.table(*of)
                .map_or(Arc::default(), |t| Arc::clone(&t.columns))
        });
        // As they stand, groundings are what there is to count.
        let options = PlanOptions {
            narrow: false,
            eliminate: false,
            ..PlanOptions::default()
        };
        let counter = match &sampled.left_out {
            None => None,
            Some(data) => {
                let outputs = &knowledge.outputs;
                let plan = Plan::new_with(data, outputs, &Semantics::default(), &options)?;
                Some(Engine::new(plan))
            }
        };
        Ok(Some(Samples {
            counter,
            rows: rows.collect(),
            sampled,
            large,
            sizes: sizes
                .iter()
                .map(|&(_, count, size)| (count, size))
                .collect(),
            seed: training.seed,
        }))
    }

    /// What the step at hand leaves out because of its samples: names of axioms, and how many bindings of the quantifiers
    /// around an `exists`.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, u64)> {
        let counted = (self.counter.iter()).flat_map(|counter| counter.plan().axioms());
        counted.map(|axiom| {
            let count = u64::try_from(axiom.groundings).unwrap_or(u64::MAX);
            (axiom.name.as_str(), count)
        })
    }

    /// Whether an axiom of the theory sees samples, or rows that come with the step.
    pub fn concerns(&self, axiom: usize) -> bool {
        self.sampled.concerned.get(axiom).is_some_and(|c| *c)
    }

    /// The data as steps see them.
    pub fn data(&self) -> &Data {
        &self.sampled.data
    }

    /// Gives an engine the samples of a step, counted from 0, and the rows of its batches, and counts what is left out.
    pub fn give(
        &mut self,
        engine: &mut Engine<f32>,
        step: u64,
        rows: &[(TableId, &[u32])],
    ) -> Result<(), Diagnostics> {
        let tables = self.tables(step, rows);
        if let Some(counter) = &mut self.counter {
            counter.stream(&[], tables.clone())?;
        }
        engine.stream(&[], tables)
    }

    fn tables(&self, step: u64, rows: &[(TableId, &[u32])]) -> Vec<(TableId, Vec<ColumnData>)> {
        let mut tables = Vec::new();
        let seed = self.seed.wrapping_add(step.wrapping_mul(STRIDE));
        for ((sort, table), &(count, size)) in self.sampled.samples.iter().zip(&self.sizes) {
            let mut random = Random::new(seed, FIRST_STREAM + u64::from(sort.0));
            let drawn = draw(&mut random, count, size);
            tables.push((*table, vec![ColumnData::Individuals(drawn)]));
        }
        for Bindings { table, all, count } in &self.sampled.bindings {
            let mut random = Random::new(seed, FIRST_OF_AXIOMS + u64::from(table.0));
            let drawn = draw(&mut random, *count, all.first().map_or(0, ColumnData::len));
            tables.push((
                *table,
                all.iter().map(|column| column.some(&drawn)).collect(),
            ));
        }
        for ((of, batch), all) in self.sampled.batches.iter().zip(&self.rows) {
            let chosen = rows.iter().find(|(table, _)| table == of);
            let chosen = chosen.map_or(&[][..], |(_, rows)| rows);
            let columns = all.iter().map(|column| column.some(chosen));
            tables.push((*batch, columns.collect()));
        }
        tables
    }

    /// The batches that an engine has still to be told of.
    pub fn remaining<'r>(&self, mut rows: Vec<(TableId, &'r [u32])>) -> Vec<(TableId, &'r [u32])> {
        rows.retain(|(table, _)| !self.large.contains(table));
        rows
    }
}

/// Some of the individuals below `size`, each set of them as likely as any other (Floyd's way), in their order.
fn draw(random: &mut Random, count: usize, size: usize) -> Vec<u32> {
    let mut drawn = FxHashSet::default();
    for last in size - count..size {
        let one = random.below(last + 1) as u32;
        if !drawn.insert(one) {
            drawn.insert(last as u32);
        }
    }
    let mut drawn: Vec<u32> = drawn.into_iter().collect();
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_is_drawn_as_often_and_once_at_a_time() {
        let mut times = [0; 10];
        for step in 0..3000_u64 {
            let mut random = Random::new(step.wrapping_mul(STRIDE), FIRST_STREAM);
            let drawn = draw(&mut random, 3, 10);
            assert_eq!(drawn.len(), 3);
            assert!(drawn.is_sorted_by(|a, b| a < b));
            drawn.iter().for_each(|d| times[*d as usize] += 1);
        }
        // 900 each, with a deviation of 25.
        assert!(times.iter().all(|n| (800..1000).contains(n)), "{times:?}");
    }
}
