//! Rows that come with each call, as rows that are known.
//!
//! Planning the rows of each call anew costs several times what evaluating them does. But calls resemble each other: the same
//! numbers of individuals, combined with sums that were seen before. So the rows that came are remembered, their individuals
//! and their other cells apart, and a plan is made for all combinations of both, of which a call then chooses some, as it would
//! of a table in batches. What is not among them is planned by itself, as if nothing were remembered.
//!
//! When plans are made is decided by counting calls, never by time: the same calls give the same bits.

use std::sync::Arc;

use logltn::Precision as Real;
use logltn::theory::{SortId, TableId};
use logltn::{ColumnData, Data, Diagnostics, Engine};
use rustc_hash::FxHashMap;

use crate::call::Setting;

/// The most rows that a plan is made for.
const MOST_ROWS: usize = 1 << 17;
/// For how many different sizes of sorts there are plans: full batches, the last one of an epoch, those of a validation.
const MOST_SIZES: usize = 4;
/// After so many times that the rows became too many, they are no longer expected to repeat.
const MOST_OVERFLOWS: u32 = 3;

/// Makes an engine for data that have all rows.
pub type Make<T> = Arc<dyn Fn(&Data) -> Result<Engine<T>, Diagnostics> + Send + Sync>;

/// What came with calls, and plans for it.
pub struct Prepared<T: Real> {
    /// Without what comes with calls.
    data: Data,
    make: Make<T>,
    entries: Vec<Entry<T>>,
    /// Which of them has lent its engine.
    lent: Option<usize>,
    overflows: u32,
}

/// What came with calls in which sorts had these sizes.
struct Entry<T: Real> {
    sizes: Vec<(SortId, usize)>,
    tables: Vec<Known>,
    engine: Option<Engine<T>>,
    /// How many calls brought something new since the last plan was made, and how many it takes to make another one.
    news: u32,
    patience: u32,
    /// When it was last asked for.
    used: u64,
}

/// The rows of a table that were seen.
struct Known {
    table: TableId,
    individuals: Cells,
    others: Cells,
}

/// Some columns' cells, in the order in which they came.
#[derive(Default)]
struct Cells {
    columns: Vec<usize>,
    places: FxHashMap<Box<[u64]>, usize>,
    list: Vec<Box<[u64]>>,
    /// How many of them the plan knows.
    planned: usize,
}

impl Cells {
    /// The place of a row's cells, which are new if there was none.
    fn place(&mut self, columns: &[ColumnData], row: usize, buffer: &mut Vec<u64>) -> usize {
        buffer.clear();
        buffer.extend(self.columns.iter().map(|&c| cell(&columns[c], row)));
        if let Some(&place) = self.places.get(&buffer[..]) {
            return place;
        }
        let place = self.list.len();
        self.places.insert(buffer[..].into(), place);
        self.list.push(buffer[..].into());
        place
    }
}

fn cell(column: &ColumnData, row: usize) -> u64 {
    match column {
        ColumnData::Individuals(cells) => u64::from(cells[row]),
        ColumnData::Int(cells) => cells[row] as u64,
        ColumnData::Real(cells) => cells[row].to_bits(),
    }
}

impl Known {
    fn new(table: TableId, columns: &[ColumnData]) -> Known {
        let is_individual = |c: &usize| matches!(columns[*c], ColumnData::Individuals(_));
        let (individuals, others) = (0..columns.len()).partition(is_individual);
        let cells = |columns| Cells {
            columns,
            ..Cells::default()
        };
        Known {
            table,
            individuals: cells(individuals),
            others: cells(others),
        }
    }

    /// The numbers of some rows in the table of all combinations; none if one of them is not planned yet.
    fn numbers(&mut self, columns: &[ColumnData]) -> Option<Vec<u32>> {
        let rows = columns.first().map_or(0, ColumnData::len);
        let mut numbers = Vec::with_capacity(rows);
        let mut known = true;
        let mut buffer = Vec::new();
        for row in 0..rows {
            let individuals = self.individuals.place(columns, row, &mut buffer);
            let others = self.others.place(columns, row, &mut buffer);
            known &= individuals < self.individuals.planned && others < self.others.planned;
            numbers.push((individuals * self.others.planned + others) as u32);
        }
        known.then_some(numbers)
    }

    fn combinations(&self) -> usize {
        self.individuals.list.len() * self.others.list.len()
    }

    /// All combinations as columns.
    fn columns(&mut self, like: &[ColumnData]) -> Vec<ColumnData> {
        self.individuals.planned = self.individuals.list.len();
        self.others.planned = self.others.list.len();
        let rows = || {
            let others = &self.others.list;
            (self.individuals.list.iter()).flat_map(move |i| others.iter().map(move |o| (i, o)))
        };
        let column = |(c, like): (usize, &ColumnData)| {
            let own = |cells: &Cells| cells.columns.iter().position(|x| *x == c);
            let (i, o) = (own(&self.individuals), own(&self.others));
            let cells = rows().map(|(is, os)| i.map_or_else(|| os[o.unwrap_or(0)], |i| is[i]));
            match like {
                ColumnData::Individuals(_) => {
                    ColumnData::Individuals(cells.map(|c| c as u32).collect())
                }
                ColumnData::Int(_) => ColumnData::Int(cells.map(|c| c as i64).collect()),
                ColumnData::Real(_) => ColumnData::Real(cells.map(f64::from_bits).collect()),
            }
        };
        like.iter().enumerate().map(column).collect()
    }
}

impl<T: Real> Prepared<T> {
    pub fn new(data: Data, make: Make<T>) -> Prepared<T> {
        Prepared {
            data,
            make,
            entries: Vec::new(),
            lent: None,
            overflows: 0,
        }
    }

    /// Puts the engine back for which `engine` was lent.
    pub fn give_back(&mut self, engine: &mut Engine<T>) {
        if let Some(own) = self
            .lent
            .take()
            .and_then(|e| self.entries[e].engine.as_mut())
        {
            std::mem::swap(engine, own);
        }
    }

    /// Lends an engine for what comes with a call, if there is one that knows all of it, and says which rows it has to choose.
    /// What does not fit is left to the other engine, which says what is wrong with it.
    pub fn lend(
        &mut self,
        setting: &Setting,
        engine: &mut Engine<T>,
        now: u64,
    ) -> Option<Vec<(TableId, Vec<u32>)>> {
        if self.overflows > MOST_OVERFLOWS || setting.rows.is_empty() {
            return None;
        }
        let at = self.entry(setting, now);
        let entry = &mut self.entries[at];
        if let Some(numbers) = entry.numbers(setting) {
            std::mem::swap(engine, entry.engine.as_mut()?);
            self.lent = Some(at);
            return Some(numbers);
        }
        entry.news += 1;
        if entry.tables.iter().any(|t| t.combinations() > MOST_ROWS) {
            self.overflows += 1;
            self.entries.remove(at);
        }
        None
    }

    /// Makes a plan for what has come, if enough did. Only what has been evaluated is known to be right, so this comes after.
    pub fn learn(&mut self, setting: &Setting) {
        let Some(entry) = self.entries.iter_mut().find(|e| e.sizes == setting.sizes) else {
            return;
        };
        if entry.news < entry.patience {
            return;
        }
        entry.news = 0;
        entry.patience *= 2;
        entry.engine = None;
        let mut data = self.data.clone();
        let made = entry
            .fill(&mut data, setting)
            .and_then(|()| (self.make)(&data));
        match made {
            Ok(engine) => entry.engine = Some(engine),
            // Not all combinations make sense.
            Err(_) => self.overflows = MOST_OVERFLOWS + 1,
        }
    }

    fn entry(&mut self, setting: &Setting, now: u64) -> usize {
        if let Some(at) = self.entries.iter().position(|e| e.sizes == setting.sizes) {
            self.entries[at].used = now;
            return at;
        }
        if self.entries.len() == MOST_SIZES {
            let oldest = (0..MOST_SIZES).min_by_key(|&e| self.entries[e].used);
            self.entries.remove(oldest.unwrap_or(0));
        }
        let tables = setting.rows.iter();
        self.entries.push(Entry {
            sizes: setting.sizes.clone(),
            tables: tables.map(|(t, columns)| Known::new(*t, columns)).collect(),
            engine: None,
            news: 0,
            patience: 2,
            used: now,
        });
        self.entries.len() - 1
    }
}

impl<T: Real> Entry<T> {
    fn numbers(&mut self, setting: &Setting) -> Option<Vec<(TableId, Vec<u32>)>> {
        let mut all = Some(Vec::new());
        for known in &mut self.tables {
            let (_, columns) = setting.rows.iter().find(|(t, _)| *t == known.table)?;
            match (known.numbers(columns), &mut all) {
                (Some(numbers), Some(all)) => all.push((known.table, numbers)),
                _ => all = None,
            }
        }
        all.filter(|_| self.engine.is_some())
    }

    fn fill(&mut self, data: &mut Data, setting: &Setting) -> Result<(), Diagnostics> {
        let theory = data.theory().clone();
        for (sort, size) in &self.sizes {
            data.set_size(&theory[*sort].name, *size)?;
        }
        for known in &mut self.tables {
            let like = setting.rows.iter().find(|(t, _)| *t == known.table);
            let name = &theory[known.table].name;
            data.set_rows(
                name,
                known.columns(like.map_or(&[], |(_, columns)| columns)),
            )?;
            data.set_batched(name)?;
        }
        Ok(())
    }
}
