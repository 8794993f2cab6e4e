//! Look-ups into the data, built when first needed and kept: rows of tables by hash, points by distance.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::{self, Bounds};
use super::evaluate::real_code;
use super::near_pairs::NearPoints;
use super::neighbours::Neighbours;
use crate::data::{ColumnData, Data};
use crate::theory::{ColumnSort, FunctionId, SortId, TableId, Value};

/// The rows of a table by the cells of some of its columns.
#[derive(Debug, Default)]
pub(crate) struct RowsByKey {
    by_key: FxHashMap<Box<[u64]>, Vec<u32>>,
    rows: usize,
}

impl RowsByKey {
    /// The rows with these cells.
    pub fn get(&self, key: &[u64]) -> &[u32] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// The mean number of rows for a key.
    pub fn fan_out(&self) -> f64 {
        self.rows as f64 / self.by_key.len().max(1) as f64
    }
}

/// The individuals of a sort by the value of an expression for each: an index, an integer, or the bits of a real.
pub(crate) type ByValue = FxHashMap<u64, Vec<u32>>;

/// The table, the columns that are given, and whether equal rows are listed once.
type ByColumns = (TableId, Vec<usize>, bool);
/// All rows of a table.
type Members = FxHashSet<Box<[u64]>>;

/// The look-ups of all tables and sorts.
#[derive(Default)]
pub(crate) struct TableIndexes {
    by_columns: RefCell<FxHashMap<ByColumns, Arc<RowsByKey>>>,
    members: RefCell<FxHashMap<TableId, Arc<Members>>>,
    bounds: OnceCell<(Bounds, Bounds)>,
    function_bounds: RefCell<FxHashMap<FunctionId, Bounds>>,
    /// Individuals by the value of an expression for them.
    by_value: RefCell<FxHashMap<(bool, ColumnSort, Value), Rc<ByValue>>>,
    neighbours: RefCell<FxHashMap<SortId, Option<Rc<NearPoints>>>>,
    /// How many combinations have been tried so far by lookups here.
    pub(super) tried: Cell<u64>,
    /// The number of tried combinations after which a condition is given up; 0 without a limit.
    pub(super) tires: Cell<u64>,
}

/// Look-ups into tables whose rows do not come with a call: they stay valid for the next call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    by_columns: FxHashMap<ByColumns, Arc<RowsByKey>>,
    members: FxHashMap<TableId, Arc<Members>>,
}

/// A cell as the 64 bits by which it is looked up.
pub(crate) fn cell_code(column: &ColumnData, row: usize) -> u64 {
    match column {
        ColumnData::Individuals(cells) => u64::from(cells[row]),
        ColumnData::Int(cells) => cells[row] as u64,
        ColumnData::Real(cells) => real_code(cells[row]),
    }
}

impl TableIndexes {
    /// With the look-ups that an earlier call has built.
    pub fn with(kept: Kept) -> TableIndexes {
        TableIndexes {
            by_columns: RefCell::new(kept.by_columns),
            members: RefCell::new(kept.members),
            ..TableIndexes::default()
        }
    }

    /// The look-ups that a later call can use.
    pub fn keep(self, data: &Data) -> Kept {
        let mut by_columns = self.by_columns.into_inner();
        by_columns.retain(|(table, ..), _| !data.streams_table(*table));
        let mut members = self.members.into_inner();
        members.retain(|table, _| !data.streams_table(*table));
        Kept {
            by_columns,
            members,
        }
    }

    /// Whether the table has a row of exactly these cells.
    pub fn contains(&self, data: &Data, table: TableId, key: &[u64]) -> bool {
        let known = self.members.borrow().get(&table).cloned();
        let members = known.unwrap_or_else(|| {
            let members: Members = data.table(table).map_or_else(Members::default, |rows| {
                let cells = |row| rows.columns.iter().map(move |c| cell_code(c, row));
                (0..rows.rows).map(|row| cells(row).collect()).collect()
            });
            let members = Arc::new(members);
            self.members.borrow_mut().insert(table, members.clone());
            members
        });
        members.contains(key)
    }

    /// The bounds of the numbers in all `Int` and in all `Real` columns.
    pub(super) fn column_bounds(&self, data: &Data) -> (Bounds, Bounds) {
        *self.bounds.get_or_init(|| bounds::of_columns(data))
    }

    /// The bounds of what a function that is given by data says.
    pub(super) fn function_bounds(&self, data: &Data, function: FunctionId) -> Bounds {
        let known = self.function_bounds.borrow().get(&function).copied();
        known.unwrap_or_else(|| {
            let bounds = bounds::of_function(data, function);
            self.function_bounds.borrow_mut().insert(function, bounds);
            bounds
        })
    }

    /// The individuals of a sort by the value of an expression for them; `name` identifies the expression, whatever
    /// its variable is called and wherever it is.
    pub(super) fn by_value(
        &self,
        name: (bool, ColumnSort, Value),
        make: impl FnOnce() -> ByValue,
    ) -> Rc<ByValue> {
        if let Some(known) = self.by_value.borrow().get(&name) {
            return known.clone();
        }
        let index = Rc::new(make());
        self.by_value.borrow_mut().insert(name, index.clone());
        index
    }

    /// The index of a sort's points; `None` if it has no features that can be indexed.
    pub(super) fn neighbours(&self, data: &Data, sort: SortId) -> Option<Rc<NearPoints>> {
        if let Some(known) = self.neighbours.borrow().get(&sort) {
            return known.clone();
        }
        let features = data.sorts[sort.index()].features.as_ref();
        let index = features.and_then(|(width, values)| Neighbours::new(*width, values));
        let index = index.map(NearPoints::new).map(Rc::new);
        self.neighbours.borrow_mut().insert(sort, index.clone());
        index
    }

    /// The rows of the table by the cells of `columns`; if `distinct`, equal rows are listed once, since membership
    /// has no multiplicity.
    pub fn by_columns(
        &self,
        data: &Data,
        table: TableId,
        columns: &[usize],
        distinct: bool,
    ) -> Arc<RowsByKey> {
        let name = (table, columns.to_vec(), distinct);
        if let Some(known) = self.by_columns.borrow().get(&name) {
            return known.clone();
        }
        let mut index = RowsByKey::default();
        if let Some(rows) = data.table(table) {
            let mut seen: FxHashSet<Box<[u64]>> = FxHashSet::default();
            for row in 0..rows.rows {
                let whole = rows.columns.iter().map(|c| cell_code(c, row)).collect();
                if !distinct || seen.insert(whole) {
                    let key = columns.iter().map(|&c| cell_code(&rows.columns[c], row));
                    let rows = index.by_key.entry(key.collect()).or_default();
                    rows.push(row as u32);
                    index.rows += 1;
                }
            }
        }
        let index = Arc::new(index);
        self.by_columns.borrow_mut().insert(name, index.clone());
        index
    }
}
