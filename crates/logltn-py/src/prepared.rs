//! Plans reused across calls for rows that come with each call.
//!
//! Planning the rows of each call anew costs several times as much as evaluating them. But calls resemble each other: other
//! individuals, combined with sums seen before. So the cells that plans depend on are remembered, and a plan is made for all
//! of them in each row of a call; a call then selects one for each row, as from a table in batches. If nothing depends on
//! which individuals they are, each row of the plan has stand-ins of its own, and the call says who they are; otherwise the
//! individuals are remembered too. Anything not covered is planned separately.
//!
//! When plans are made is decided by counting calls, never by time: the same calls give the same bits.

use std::sync::Arc;

use logltn::Precision as Real;
use logltn::theory::{ColumnSort, SortId, TableId};
use logltn::{ColumnData, Data, Diagnostics, Engine, StandIns};
use rustc_hash::FxHashMap;

use crate::coming::Setting;

/// The most rows that a plan is made for.
const MOST_ROWS: usize = 1 << 18;
/// How many different sizes of sorts have plans: full batches, the last one of an epoch, those of a validation.
const MOST_SIZES: usize = 4;
/// After the rows have become too many this many times, they are no longer expected to repeat.
const MOST_OVERFLOWS: u32 = 3;
/// The most integers that are planned only because they lie between those seen.
const MOST_BETWEEN: i64 = 1 << 12;

/// Makes an engine for data with all rows.
pub type Make<T> = Arc<dyn Fn(&Data) -> Result<Engine<T>, Diagnostics> + Send + Sync>;

/// What came with calls, and the plans for it.
pub struct Prepared<T: Real> {
    /// Without what comes with calls.
    data: Data,
    stand_ins: Vec<StandIns>,
    make: Make<T>,
    entries: Vec<Entry<T>>,
    /// The entry that has lent its engine.
    lent: Option<usize>,
    overflows: u32,
}

/// What a call has to select from the engine lent to it.
pub struct Lent {
    pub rows: Vec<(TableId, Vec<u32>)>,
    /// For each sort of stand-ins, the individuals behind them in this call.
    pub who: Vec<(StandIns, Vec<u32>)>,
    /// What the engine selected when it was last lent: unchanged if rows consist of stand-ins only.
    pub chosen: Vec<(TableId, Vec<u32>)>,
}

/// What came with the calls in which the other sorts had these sizes.
struct Entry<T: Real> {
    sizes: Vec<(SortId, usize)>,
    tables: Vec<Known>,
    engine: Option<Engine<T>>,
    /// What it has selected.
    chosen: Vec<(TableId, Vec<u32>)>,
    /// How many stand-ins the plan has of each sort.
    own: Vec<(StandIns, usize)>,
    /// How many rows the calls with something new had since the last plan, and how many such calls there were.
    news: usize,
    calls: u32,
    /// How many rows justify another plan.
    patience: usize,
    /// When it was last used.
    used: u64,
}

/// The rows of a table that were seen.
struct Known {
    table: TableId,
    own: Vec<OwnColumn>,
    /// If there is no such column.
    individuals: Cells,
    others: Cells,
    /// The most rows that came at once, and how many of them the plan knows.
    most: usize,
    planned: usize,
}

/// A column in which each row of the plan has a stand-in of its own: `first + step · row`.
struct OwnColumn {
    column: usize,
    stand_ins: StandIns,
    first: usize,
    step: usize,
}

/// The cells of some columns, in order of arrival.
#[derive(Default)]
struct Cells {
    columns: Vec<usize>,
    places: FxHashMap<Box<[u64]>, usize>,
    list: Vec<Box<[u64]>>,
    /// How many of them the plan knows.
    planned: usize,
}

impl Cells {
    /// The position of a row's cells, added if they are new.
    fn place(&mut self, columns: &[ColumnData], row: usize, buffer: &mut Vec<u64>) -> usize {
        // On some processors, comparing two empty slices at a null address is slower than comparing something.
        if self.columns.is_empty() && !self.list.is_empty() {
            return 0;
        }
        buffer.clear();
        buffer.extend(self.columns.iter().map(|&c| cell(&columns[c], row)));
        match self.places.get(&buffer[..]) {
            Some(&place) => place,
            None => self.add(buffer),
        }
    }

    fn add(&mut self, cells: &[u64]) -> usize {
        let place = self.list.len();
        self.places.insert(cells.into(), place);
        self.list.push(cells.into());
        place
    }

    /// Adds the integers between those seen, and some around them, since they are likely to come; at most this many
    /// in all.
    fn add_between(&mut self, columns: &[ColumnData], most: usize) {
        let [column] = self.columns[..] else { return };
        let integers = || self.list.iter().map(|cells| cells[0] as i64);
        let (Some(least), Some(largest)) = (integers().min(), integers().max()) else {
            return;
        };
        let Some(width) = largest.checked_sub(least) else {
            return;
        };
        let is_int = matches!(columns.get(column), Some(ColumnData::Int(_)));
        if !is_int || width > MOST_BETWEEN || width > 8 * self.list.len() as i64 {
            return;
        }
        let around = width / 8 + 1;
        let all = least.saturating_sub(around)..=largest.saturating_add(around);
        if (width + 2 * around) as usize >= most {
            return;
        }
        for integer in all {
            if !self.places.contains_key(&[integer as u64][..]) {
                self.add(&[integer as u64]);
            }
        }
    }

    /// Forgets all but the first.
    fn truncate(&mut self, count: usize) {
        for cells in self.list.drain(count..) {
            self.places.remove(&cells);
        }
    }
}

fn rows(columns: &[ColumnData]) -> usize {
    columns.first().map_or(0, ColumnData::len)
}

fn cell(column: &ColumnData, row: usize) -> u64 {
    match column {
        ColumnData::Individuals(cells) => u64::from(cells[row]),
        ColumnData::Int(cells) => cells[row] as u64,
        ColumnData::Real(cells) => cells[row].to_bits(),
    }
}

impl Known {
    fn new(
        table: TableId,
        columns: &[ColumnData],
        anybody: impl Fn(usize) -> Option<StandIns>,
    ) -> Self {
        let all = 0..columns.len();
        let own: Vec<OwnColumn> = (all.clone())
            .filter_map(|column| {
                anybody(column).map(|stand_ins| OwnColumn {
                    column,
                    stand_ins,
                    first: 0,
                    step: 0,
                })
            })
            .collect();
        let is_individual = |c: &usize| matches!(columns[*c], ColumnData::Individuals(_));
        let (individuals, others) = match own.is_empty() {
            true => all.partition(is_individual),
            false => (Vec::new(), all.filter(|c| anybody(*c).is_none()).collect()),
        };
        let cells = |columns| Cells {
            columns,
            ..Cells::default()
        };
        Known {
            table,
            own,
            individuals: cells(individuals),
            others: cells(others),
            most: 0,
            planned: 0,
        }
    }

    /// The row numbers in the table of all combinations; `None` if one of them is not planned yet.
    fn numbers(&mut self, columns: &[ColumnData]) -> Option<Vec<u32>> {
        let rows = rows(columns);
        self.most = self.most.max(rows);
        let mut numbers = Vec::with_capacity(rows);
        let mut known = true;
        let mut buffer = Vec::new();
        for row in 0..rows {
            let (first, planned) = match self.own.is_empty() {
                true => {
                    let place = self.individuals.place(columns, row, &mut buffer);
                    (place, self.individuals.planned)
                }
                false => (row, self.planned),
            };
            let others = self.others.place(columns, row, &mut buffer);
            known &= first < planned && others < self.others.planned;
            numbers.push((first * self.others.planned + others) as u32);
        }
        known.then_some(numbers)
    }

    /// The individuals behind the plan's stand-ins; `None` if one of them is out of range.
    fn say_who(
        &self,
        columns: &[ColumnData],
        size: impl Fn(SortId) -> usize,
        who: &mut [(StandIns, Vec<u32>)],
    ) -> Option<()> {
        for own in &self.own {
            let size = size(own.stand_ins.of);
            let (_, who) = who.iter_mut().find(|(s, _)| *s == own.stand_ins)?;
            let ColumnData::Individuals(cells) = &columns[own.column] else {
                return None;
            };
            for (row, &cell) in cells.iter().enumerate() {
                *who.get_mut(own.first + own.step * row)? = cell;
            }
            if cells.iter().any(|&cell| cell as usize >= size) {
                return None;
            }
        }
        Some(())
    }

    /// How many rows there are of each combination of the others.
    fn firsts(&self) -> usize {
        match self.own.is_empty() {
            true => self.individuals.list.len(),
            false => self.most,
        }
    }

    fn combinations(&self) -> usize {
        self.firsts().saturating_mul(self.others.list.len())
    }

    /// How many rows must be planned separately before another plan is worth its cost, which is that of what it knows. New individuals may
    /// keep coming, so no more is spent on plans than on those rows, and the cost of a call does not grow; integers soon repeat.
    fn worth(&self) -> usize {
        match self.own.is_empty() {
            true => self.combinations(),
            false => self.combinations() / 8,
        }
    }

    /// Numbers its own individuals so that those of a row are consecutive.
    fn number(&mut self, counts: &mut Vec<(StandIns, usize)>) {
        for at in 0..self.own.len() {
            let sort = self.own[at].stand_ins;
            let of_sort = |own: &&OwnColumn| own.stand_ins == sort;
            let earlier = self.own[..at].iter().filter(of_sort).count();
            let step = self.own.iter().filter(of_sort).count();
            let place = counts.iter().position(|(s, _)| *s == sort);
            let place = place.unwrap_or_else(|| {
                counts.push((sort, 0));
                counts.len() - 1
            });
            let count = &mut counts[place].1;
            if earlier == 0 {
                *count += step * self.most;
            }
            self.own[at].first = *count - step * self.most + earlier;
            self.own[at].step = step;
        }
    }

    /// All combinations as columns.
    fn columns(&mut self, like: &[ColumnData]) -> Vec<ColumnData> {
        self.individuals.planned = self.individuals.list.len();
        self.others.planned = self.others.list.len();
        self.planned = self.most;
        let firsts = self.firsts();
        let rows = || (0..firsts).flat_map(|f| self.others.list.iter().map(move |o| (f, o)));
        let column = |(c, like): (usize, &ColumnData)| {
            let of = |cells: &Cells| cells.columns.iter().position(|x| *x == c);
            let (i, o) = (of(&self.individuals), of(&self.others));
            let own = self.own.iter().find(|own| own.column == c);
            let cells = rows().map(|(f, others)| match (own, i) {
                (Some(own), _) => (own.first + own.step * f) as u64,
                (None, Some(i)) => self.individuals.list[f][i],
                (None, None) => others[o.unwrap_or(0)],
            });
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
    pub fn new(data: Data, stand_ins: Vec<StandIns>, make: Make<T>) -> Prepared<T> {
        Prepared {
            data,
            stand_ins,
            make,
            entries: Vec::new(),
            lent: None,
            overflows: 0,
        }
    }

    /// Whether an engine is lent.
    pub fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// Puts back the engine for which `engine` was lent, with its selection.
    pub fn give_back(&mut self, engine: &mut Engine<T>, chosen: &mut Vec<(TableId, Vec<u32>)>) {
        let Some(entry) = self.lent.take().map(|e| &mut self.entries[e]) else {
            return;
        };
        if let Some(own) = &mut entry.engine {
            std::mem::swap(engine, own);
            entry.chosen = std::mem::take(chosen);
        }
    }

    /// Lends an engine that knows everything in a call, if there is one, and returns what it has to select. What does
    /// not fit is left to the other engine, which reports what is wrong with it.
    pub fn lend(&mut self, setting: &Setting, engine: &mut Engine<T>, now: u64) -> Option<Lent> {
        if self.overflows > MOST_OVERFLOWS || setting.rows.is_empty() {
            return None;
        }
        let at = self.entry(setting, now);
        let entry = &mut self.entries[at];
        if let Some(lent) = entry.choose(&self.data, setting) {
            std::mem::swap(engine, entry.engine.as_mut()?);
            self.lent = Some(at);
            return Some(lent);
        }
        entry.calls += 1;
        entry.news += setting.rows.iter().map(|(_, c)| rows(c)).sum::<usize>();
        if entry.tables.iter().any(|t| t.combinations() > MOST_ROWS) {
            self.overflows += 1;
            self.entries.remove(at);
        }
        None
    }

    /// Makes a plan for what has come, if it is enough, and returns whether it did. Only evaluated data are known to be valid,
    /// so this comes after evaluation.
    pub fn learn(&mut self, setting: &Setting) -> bool {
        let sizes = self.other_sizes(setting);
        let Some(entry) = self.entries.iter_mut().find(|e| e.sizes == sizes) else {
            return false;
        };
        if entry.calls < 2 || entry.news < entry.patience {
            return false;
        }
        (entry.news, entry.calls) = (0, 0);
        entry.engine = None;
        entry.chosen.clear();
        let came: Vec<usize> = (entry.tables.iter()).map(|t| t.others.list.len()).collect();
        entry.add_between(setting);
        let mut made = entry.make(&self.data, &self.make, setting);
        if made.is_err() {
            // Not all integers may be valid.
            let tables = entry.tables.iter_mut().zip(came);
            tables.for_each(|(table, came)| table.others.truncate(came));
            made = entry.make(&self.data, &self.make, setting);
        }
        entry.patience = entry.tables.iter().map(Known::worth).sum();
        match made {
            Ok(engine) => entry.engine = Some(engine),
            // Nor all combinations.
            Err(_) => self.overflows = MOST_OVERFLOWS + 1,
        }
        true
    }

    /// The sizes that a plan depends on.
    fn other_sizes(&self, setting: &Setting) -> Vec<(SortId, usize)> {
        let sizes = setting.sizes.iter();
        sizes
            .filter(|(sort, _)| !self.stand_ins.iter().any(|s| s.of == *sort && s.alone))
            .copied()
            .collect()
    }

    fn entry(&mut self, setting: &Setting, now: u64) -> usize {
        let sizes = self.other_sizes(setting);
        if let Some(at) = self.entries.iter().position(|e| e.sizes == sizes) {
            self.entries[at].used = now;
            return at;
        }
        if self.entries.len() == MOST_SIZES {
            let oldest = (0..MOST_SIZES).min_by_key(|&e| self.entries[e].used);
            self.entries.remove(oldest.unwrap_or(0));
        }
        let theory = self.data.theory();
        let known = |(table, columns): &(TableId, Vec<ColumnData>)| {
            let declared = &theory[*table].columns;
            let anybody = |column: usize| {
                let is_it = |s: &&StandIns| declared[column].sort == ColumnSort::Sort(s.sort);
                self.stand_ins.iter().find(is_it).copied()
            };
            Known::new(*table, columns, anybody)
        };
        self.entries.push(Entry {
            sizes,
            tables: setting.rows.iter().map(known).collect(),
            engine: None,
            chosen: Vec::new(),
            own: Vec::new(),
            news: 0,
            calls: 0,
            patience: 0,
            used: now,
        });
        self.entries.len() - 1
    }
}

impl<T: Real> Entry<T> {
    fn choose(&mut self, data: &Data, setting: &Setting) -> Option<Lent> {
        let mut all = Some(Vec::new());
        for known in &mut self.tables {
            let (_, columns) = setting.rows.iter().find(|(t, _)| *t == known.table)?;
            match (known.numbers(columns), &mut all) {
                (Some(numbers), Some(all)) => all.push((known.table, numbers)),
                _ => all = None,
            }
        }
        let rows = all.filter(|_| self.engine.is_some())?;
        let own = self.own.iter();
        let mut who: Vec<(StandIns, Vec<u32>)> = own.map(|(s, n)| (*s, vec![0; *n])).collect();
        let size = |sort: SortId| {
            let streamed = setting.sizes.iter().find(|(s, _)| *s == sort);
            streamed.map_or_else(|| data.size(sort), |(_, size)| *size)
        };
        for known in &self.tables {
            let (_, columns) = setting.rows.iter().find(|(t, _)| *t == known.table)?;
            known.say_who(columns, size, &mut who)?;
        }
        let chosen = std::mem::take(&mut self.chosen);
        Some(Lent { rows, who, chosen })
    }

    fn add_between(&mut self, setting: &Setting) {
        for known in &mut self.tables {
            let most = MOST_ROWS / known.firsts().max(1);
            let like = setting.rows.iter().find(|(t, _)| *t == known.table);
            if let Some((_, columns)) = like {
                known.others.add_between(columns, most);
            }
        }
    }

    fn make(
        &mut self,
        data: &Data,
        make: &Make<T>,
        setting: &Setting,
    ) -> Result<Engine<T>, Diagnostics> {
        let mut data = data.clone();
        let theory = data.theory().clone();
        self.own.clear();
        for known in &mut self.tables {
            known.number(&mut self.own);
        }
        for (sort, size) in &self.sizes {
            data.set_size(&theory[*sort].name, *size)?;
        }
        for (stand_ins, count) in &self.own {
            // The number of individuals that only stand-ins stand for is never needed.
            let comes = setting.sizes.iter().any(|(s, _)| *s == stand_ins.of);
            if stand_ins.alone && comes {
                data.set_size(&theory[stand_ins.of].name, 1)?;
            }
            data.set_stand_ins(stand_ins, (*count).max(1));
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
        make(&data)
    }
}
