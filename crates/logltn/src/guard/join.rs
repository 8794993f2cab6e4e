//! Listing the bindings that pass a guard, the way a database would: loops over the smallest choices, equations
//! solved for their last variable, tables entered by the values that are known.

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::conjuncts;
use super::distinct::Distinct;
use super::evaluate::{Cell, GuardError, Scope, integer, real_code};
use super::linear::Linear;
use super::near_pairs::NearPoints;
use super::planner::{Patience, Planner};
use super::table_index::{ByValue, RowsByKey, cell_code};
use crate::guard_parts::Part;
use crate::source::Span;
use crate::theory::*;

/// Checks for a stop after this many tried combinations: some milliseconds.
const LOOKS_UP: u64 = 1 << 16;

/// How to list the bindings of one quantifier (or of the part of it that its guard holds together).
pub(crate) struct Join<'a> {
    pub(super) scope: Scope<'a>,
    pub(super) steps: Vec<Step<'a>>,
}

pub(super) enum Step<'a> {
    /// Every individual of the variable's sort that linear conditions leave possible.
    Loop {
        id: VarId,
        size: u32,
        within: Vec<(Linear, Vec<bool>)>,
        /// Whether some condition on it is still to be tested; if not, no value is tried in vain.
        asked: bool,
    },
    /// Every row of a table.
    LoopRows(TableId, &'a [VarId], u32),
    /// The rows of a table for which the cells of some columns are known in one of several ways.
    FindRows {
        table: TableId,
        variables: &'a [VarId],
        ways: Vec<LookUpRows<'a>>,
    },
    /// The same individual as another term.
    Assign(VarId, &'a Term),
    /// The one integer that satisfies an equation.
    Solve(VarId, Linear),
    /// The integer value of a known term.
    Compute(VarId, &'a Value),
    /// The rows of a table in which the guard requires membership.
    Member {
        table: TableId,
        index: Arc<RowsByKey>,
        key: Vec<(Known<'a>, ColumnSort)>,
        binds: Vec<(usize, VarId)>,
    },
    /// The combinations of some variables that an `exists` of the guard allows, each once: a semi-join.
    Exists {
        binds: Vec<VarId>,
        join: Join<'a>,
        span: Span,
    },
    /// The combinations that the alternatives of an `or` allow, each once: a union. A combination belongs to the first
    /// alternative that holds for it.
    Either(Vec<(&'a Guard, Join<'a>)>),
    /// The individuals for which an expression has a known value; the condition itself is tested afterwards.
    LookUp {
        id: VarId,
        index: Rc<ByValue>,
        key: Known<'a>,
    },
    /// The points that can be within a distance of a known one; the condition itself is tested afterwards.
    Near {
        id: VarId,
        index: Rc<NearPoints>,
        from: &'a Term,
        /// Whether the known one is of the same sort, and so in the index itself.
        among: bool,
        distance: &'a Value,
    },
    /// Continues only if the condition holds.
    Check(&'a Guard),
}

impl Step<'_> {
    /// Whether all individuals of a sort are tried for no variable, or only for some of `these`, and none of them in vain.
    pub fn is_bounded(&self, these: &[VarId]) -> bool {
        let bounded = |join: &Join| join.steps.iter().all(|step| step.is_bounded(these));
        match self {
            Step::Loop { id, asked, .. } => !asked && these.contains(id),
            Step::Exists { join, .. } => bounded(join),
            Step::Either(alternatives) => alternatives.iter().all(|(_, join)| bounded(join)),
            _ => true,
        }
    }
}

/// The choices of a step.
pub(super) enum Choices<'s> {
    /// A variable is this individual, or there is none.
    One(VarId, Option<u32>),
    /// A variable is any of these.
    Individuals(VarId, Listed<'s>),
    /// Variables are the cells of any of these rows.
    Rows(TableId, &'s [VarId], Listed<'s>),
    /// The same for some of the table's columns.
    Cells(TableId, &'s [(usize, VarId)], &'s [u32]),
}

/// Individuals or rows.
pub(super) enum Listed<'s> {
    Range(Range<u32>),
    These(Cow<'s, [u32]>),
}

impl Listed<'_> {
    fn len(&self) -> usize {
        match self {
            Listed::Range(range) => range.len(),
            Listed::These(list) => list.len(),
        }
    }

    #[inline(always)]
    fn at(&self, nth: usize) -> u32 {
        match self {
            Listed::Range(range) => range.start + nth as u32,
            Listed::These(list) => list[nth],
        }
    }
}

impl Choices<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Choices::One(_, individual) => usize::from(individual.is_some()),
            Choices::Individuals(_, listed) | Choices::Rows(_, _, listed) => listed.len(),
            Choices::Cells(_, _, rows) => rows.len(),
        }
    }

    /// Binds variables as one of them says; false if their sorts have no such individual.
    #[inline(always)]
    pub fn bind(&self, nth: usize, scope: &Scope, env: &mut [Cell]) -> bool {
        match self {
            Choices::One(id, individual) => match individual {
                Some(individual) => env[id.index()] = Cell::Individual(*individual),
                None => return false,
            },
            Choices::Individuals(id, listed) => {
                env[id.index()] = Cell::Individual(listed.at(nth));
            }
            Choices::Rows(table, variables, listed) => {
                scope.bind_row(env, *table, variables, listed.at(nth) as usize);
            }
            Choices::Cells(table, binds, rows) => {
                let Some(data) = scope.data.table(*table) else {
                    return false;
                };
                for &(column, id) in *binds {
                    let code = cell_code(&data.columns[column], rows[nth] as usize);
                    let sort = scope.theory()[*table].columns[column].sort;
                    match scope.index_from_cell(id, sort, code) {
                        Some(index) => env[id.index()] = Cell::Individual(index),
                        None => return false,
                    }
                }
            }
        }
        true
    }
}

/// Rows of a table by some known cells.
pub(super) struct LookUpRows<'a> {
    index: Arc<RowsByKey>,
    key: Vec<(Known<'a>, ColumnSort)>,
}

/// A value that is known when a table is entered.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    Value(&'a Value),
    Individual(&'a Term),
}

impl Known<'_> {
    /// The variables that it reads, in their order.
    pub fn variables(self) -> Vec<VarId> {
        let mut found = Vec::new();
        match self {
            Known::Value(value) => super::value_variables(value, &mut found),
            Known::Individual(term) => super::term_variables(term, &mut found),
        }
        found.sort_unstable();
        found
    }

    /// Whether a function is in it.
    pub fn applies(self) -> bool {
        let mut applies = false;
        let mut look = |part: Part| {
            if let Part::Term(term) = part {
                applies |= matches!(term.kind, TermKind::Apply(..));
            }
        };
        match self {
            Known::Value(value) => value.visit(&mut look),
            Known::Individual(term) => term.visit(&mut look),
        }
        applies
    }
}

/// Called with each binding that passes, and with the row if the quantifier ranges over rows. Returns
/// whether to go on.
pub(crate) type Visit<'v> = dyn FnMut(&mut Vec<Cell>, u32) -> bool + 'v;

impl<'a> Join<'a> {
    /// The bindings of `binding` that satisfy all `conditions`, given the variables bound outside.
    pub fn new(scope: Scope<'a>, binding: &'a Binding, conditions: &[&'a Guard]) -> Join<'a> {
        match binding {
            Binding::Sorts(variables) => Join::over_sorts(scope, variables, conditions),
            Binding::Rows(table, variables) => {
                Join::over_rows(scope, *table, variables, conditions)
            }
        }
    }

    /// The combinations of some variables that satisfy all `conditions`.
    pub fn over_sorts(scope: Scope<'a>, variables: &[VarId], conditions: &[&'a Guard]) -> Join<'a> {
        Join::patiently(scope, variables, conditions, &Patience::default())
    }

    /// The same as part of a larger guard, with this much planning effort left.
    pub(super) fn patiently(
        scope: Scope<'a>,
        variables: &[VarId],
        conditions: &[&'a Guard],
        patience: &Patience,
    ) -> Join<'a> {
        let steps = Planner::new(scope, variables, conditions).steps(patience);
        Join { scope, steps }
    }

    /// The rows of a table that satisfy all `conditions`.
    pub fn over_rows(
        scope: Scope<'a>,
        table: TableId,
        variables: &'a [VarId],
        conditions: &[&'a Guard],
    ) -> Join<'a> {
        let first = Join::rows(scope, table, variables, conditions, &[]);
        let checks = conditions.iter().map(|g| Step::Check(g));
        Join {
            scope,
            steps: std::iter::once(first).chain(checks).collect(),
        }
    }

    /// The combinations that an `exists` allows for the `unknown` variables around it, together with its own
    /// variables.
    pub(super) fn inside_out(
        scope: Scope<'a>,
        unknown: &[VarId],
        binding: &'a Binding,
        conditions: &[&'a Guard],
        patience: &Patience,
    ) -> Join<'a> {
        match binding {
            Binding::Sorts(variables) => {
                Join::patiently(scope, &[unknown, variables].concat(), conditions, patience)
            }
            Binding::Rows(table, variables) => {
                let mut steps = vec![Join::rows(scope, *table, variables, conditions, unknown)];
                steps.extend(Planner::new(scope, unknown, conditions).steps(patience));
                Join { scope, steps }
            }
        }
    }

    /// The rows of a table that can satisfy the conditions, found by their known cells.
    fn rows(
        scope: Scope<'a>,
        table: TableId,
        variables: &'a [VarId],
        conditions: &[&'a Guard],
        unknown: &[VarId],
    ) -> Step<'a> {
        let conditions: Vec<&Guard> = conditions.iter().flat_map(|g| conjuncts(g)).collect();
        let way = |conditions: &[&'a Guard]| {
            let keys = conditions.iter().copied();
            let keys = keys.filter_map(|guard| key_column(variables, unknown, guard));
            let (columns, known): (Vec<usize>, Vec<Known>) = keys.unzip();
            let sorts = columns
                .iter()
                .map(|&c| scope.theory()[table].columns[c].sort);
            (!columns.is_empty()).then(|| LookUpRows {
                index: scope.indexes.by_columns(scope.data, table, &columns, false),
                key: known.into_iter().zip(sorts).collect(),
            })
        };
        let either = |guard: &&'a Guard| match &guard.kind {
            GuardKind::Or(members) => (members.iter())
                .map(|member| way(&conjuncts(member)))
                .collect::<Option<Vec<_>>>(),
            _ => None,
        };
        let ways = match conditions.iter().any(|g| scope.may_fail(g)) {
            true => None,
            false => (way(&conditions).map(|way| vec![way]))
                .or_else(|| conditions.iter().find_map(either)),
        };
        match ways {
            Some(ways) => Step::FindRows {
                table,
                variables,
                ways,
            },
            None => {
                let rows = scope.data.table(table).map_or(0, |t| t.rows) as u32;
                Step::LoopRows(table, variables, rows)
            }
        }
    }

    /// Lists the bindings. `env` holds the outer bindings; `visit` returns whether to go on.
    pub fn run(&self, env: &mut Vec<Cell>, visit: &mut Visit) -> Result<(), GuardError> {
        self.step(0, env, 0, visit).map(|_| ())
    }

    fn step(
        &self,
        at: usize,
        env: &mut Vec<Cell>,
        row: u32,
        visit: &mut Visit,
    ) -> Result<bool, GuardError> {
        let Some(step) = self.steps.get(at) else {
            return Ok(visit(env, row));
        };
        let scope = &self.scope;
        let tried = scope.indexes.tried.get() + 1;
        scope.indexes.tried.set(tried);
        if tried.is_multiple_of(LOOKS_UP) && scope.is_to_stop() {
            return Err(GuardError::Stopped);
        }
        if let Some(choices) = self.choices(step, env)? {
            for nth in 0..choices.len() {
                if !choices.bind(nth, scope, env) {
                    continue;
                }
                let row = match &choices {
                    Choices::Rows(_, _, listed) => listed.at(nth),
                    _ => row,
                };
                if !self.step(at + 1, env, row, visit)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        match step {
            Step::Exists { binds, join, span } => {
                let mut found = Distinct::new(binds.len());
                let mut full = false;
                join.run(env, &mut |env, _| {
                    full = !found.insert(binds.iter().map(|id| env[id.index()].individual()));
                    !full
                })?;
                if full {
                    return Err(GuardError::NoRoom(*span));
                }
                for individuals in found.sorted().chunks(binds.len()) {
                    for (id, &individual) in binds.iter().zip(individuals) {
                        env[id.index()] = Cell::Individual(individual);
                    }
                    if !self.step(at + 1, env, row, visit)? {
                        return Ok(false);
                    }
                }
            }
            Step::Either(alternatives) => {
                for (nth, (_, join)) in alternatives.iter().enumerate() {
                    let (mut go_on, mut failed) = (true, None);
                    join.run(env, &mut |env, _| {
                        match (self.is_new(&alternatives[..nth], env)).and_then(|new| match new {
                            true => self.step(at + 1, env, row, visit),
                            false => Ok(true),
                        }) {
                            Ok(more) => go_on = more,
                            Err(error) => failed = Some(error),
                        }
                        go_on && failed.is_none()
                    })?;
                    if let Some(error) = failed {
                        return Err(error);
                    }
                    if !go_on {
                        return Ok(false);
                    }
                }
            }
            Step::Check(guard) if scope.holds(guard, env)? => {
                return self.step(at + 1, env, row, visit);
            }
            _ => {}
        }
        Ok(true)
    }

    /// The choices of a step; `None` if it consists of other joins or of a condition.
    #[inline(always)]
    pub(super) fn choices<'s>(
        &'s self,
        step: &'s Step<'a>,
        env: &mut Vec<Cell>,
    ) -> Result<Option<Choices<'s>>, GuardError> {
        let scope = &self.scope;
        let solved = |id: VarId, value: Option<i64>| {
            Choices::One(
                id,
                value.and_then(|value| scope.index_of_integer(id, value)),
            )
        };
        let these = |list: &'s [u32]| Listed::These(Cow::Borrowed(list));
        Ok(Some(match step {
            Step::Loop {
                id, size, within, ..
            } => {
                let possible = self.possible(*id, *size, within, env);
                Choices::Individuals(*id, Listed::Range(possible))
            }
            Step::LoopRows(table, variables, rows) => {
                Choices::Rows(*table, variables, Listed::Range(0..*rows))
            }
            Step::FindRows {
                table,
                variables,
                ways,
            } => Choices::Rows(*table, variables, Listed::These(self.find_rows(ways, env)?)),
            Step::Assign(id, term) => Choices::One(*id, Some(scope.individual(term, env))),
            Step::Solve(id, linear) => solved(*id, linear.solve(scope, env, *id)),
            Step::Compute(id, value) => solved(*id, integer(scope.number(value, env)?)),
            Step::Member {
                table,
                index,
                key,
                binds,
            } => Choices::Cells(*table, binds, self.look_up(index, key, env)?),
            Step::LookUp { id, index, key } => {
                let found = index.get(&scope.value_code(*key, env)?);
                Choices::Individuals(*id, these(found.map_or(&[], Vec::as_slice)))
            }
            Step::Near {
                id,
                index,
                from,
                among,
                distance,
            } => {
                let distance = scope.number(distance, env)?.to_f64();
                let own = among.then(|| scope.individual(from, env));
                let found = (scope.features_of(from, env))
                    .map_or(Vec::new(), |point| index.candidates(own, point, distance));
                Choices::Individuals(*id, Listed::These(Cow::Owned(found)))
            }
            Step::Exists { .. } | Step::Either(_) | Step::Check(_) => return Ok(None),
        }))
    }

    /// Whether none of these alternatives holds, so that the binding was not found by them.
    pub(super) fn is_new(
        &self,
        earlier: &[(&Guard, Join)],
        env: &mut Vec<Cell>,
    ) -> Result<bool, GuardError> {
        for (guard, _) in earlier {
            if self.scope.holds(guard, env)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rows that any of several look-ups finds, each once, in order.
    pub(super) fn find_rows<'i>(
        &self,
        ways: &'i [LookUpRows],
        env: &mut Vec<Cell>,
    ) -> Result<Cow<'i, [u32]>, GuardError> {
        if let [one] = ways {
            return Ok(Cow::Borrowed(self.look_up(&one.index, &one.key, env)?));
        }
        let mut rows = Vec::new();
        for way in ways {
            rows.extend_from_slice(self.look_up(&way.index, &way.key, env)?);
        }
        rows.sort_unstable();
        rows.dedup();
        Ok(Cow::Owned(rows))
    }

    /// The individuals of an integer sort within the bounds of the linear conditions.
    pub(super) fn possible(
        &self,
        id: VarId,
        size: u32,
        within: &[(Linear, Vec<bool>)],
        env: &[Cell],
    ) -> Range<u32> {
        if within.is_empty() {
            return 0..size;
        }
        let first = self
            .scope
            .integer_of(self.scope.variables[id.index()].sort, 0);
        let mut range = (first, first + i64::from(size) - 1);
        for (linear, bound) in within {
            linear.narrow(&self.scope, env, bound, id, &mut range);
        }
        let (low, high) = range;
        match low <= high {
            true => (low - first) as u32..(high - first + 1) as u32,
            false => 0..0,
        }
    }

    pub(super) fn look_up<'i>(
        &self,
        index: &'i RowsByKey,
        key: &[(Known, ColumnSort)],
        env: &mut Vec<Cell>,
    ) -> Result<&'i [u32], GuardError> {
        let mut codes = Vec::with_capacity(key.len());
        for (known, sort) in key {
            let code = match known {
                Known::Value(value) => self.scope.table_cell(value, *sort, env)?,
                Known::Individual(term) => Some(u64::from(self.scope.individual(term, env))),
            };
            match code {
                Some(code) => codes.push(code),
                None => return Ok(&[]),
            }
        }
        Ok(index.get(&codes))
    }

    /// The steps in a few words, for display; [`with_names`] inserts the names of the variables.
    pub fn describe(&self, variables: &[VarId]) -> String {
        let name = |id: &VarId| mark(variables.iter().position(|v| v == id).unwrap_or(0));
        let table = |id: &TableId| self.scope.theory()[*id].name.as_str();
        let mut words = Vec::new();
        for step in &self.steps {
            words.push(match step {
                Step::Loop {
                    id, size, within, ..
                } => {
                    let bounded = if within.is_empty() { "" } else { " at most" };
                    format!("loop {} ({size}{bounded})", name(id))
                }
                Step::LoopRows(id, _, rows) => format!("scan {} ({rows})", table(id)),
                Step::FindRows { table: id, .. } => format!("look up rows of {}", table(id)),
                Step::Assign(id, _) => format!("set {}", name(id)),
                Step::Solve(id, _) => format!("solve for {}", name(id)),
                Step::Compute(id, _) => format!("compute {}", name(id)),
                Step::Member {
                    table: id, binds, ..
                } => {
                    let bound: Vec<_> = binds.iter().map(|(_, v)| name(v).to_string()).collect();
                    format!("join {} for {}", table(id), bound.join(", "))
                }
                Step::LookUp { id, .. } => format!("look up {} by value", name(id)),
                Step::Near { id, .. } => format!("find {} nearby", name(id)),
                Step::Exists { binds, .. } => {
                    let bound: Vec<_> = binds.iter().map(|v| name(v).to_string()).collect();
                    format!("semi-join for {}", bound.join(", "))
                }
                Step::Either(alternatives) => {
                    let ways = alternatives
                        .iter()
                        .map(|(_, join)| join.describe(variables));
                    format!("either of ({})", ways.collect::<Vec<_>>().join(" | "))
                }
                Step::Check(_) => "test".to_string(),
            });
        }
        words.dedup();
        words.join(", ")
    }
}

/// Stands for the name of a variable, by its place among those that are bound: axioms that share lists have their
/// own names.
fn mark(place: usize) -> char {
    const FIRST: u32 = 0xF0000; // private use
    char::from_u32(FIRST + (place as u32).min(0xFFFF)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A description with the names of the variables that an axiom has.
pub(crate) fn with_names(description: &str, names: &[&str]) -> String {
    let place = |c: char| names.iter().enumerate().find(|(i, _)| mark(*i) == c);
    let mut out = String::with_capacity(description.len());
    for c in description.chars() {
        match place(c) {
            Some((_, name)) => out += name,
            None => out.push(c),
        }
    }
    out
}

/// The column of a row binder that an equation ties to a known value, and that value.
fn key_column<'a>(
    variables: &[VarId],
    unknown: &[VarId],
    guard: &'a Guard,
) -> Option<(usize, Known<'a>)> {
    let place = |id: &VarId| variables.iter().position(|v| v == id);
    let (a, b) = match &guard.kind {
        GuardKind::Compare(Comparison::Equal, a, b) => (Known::Value(a), Known::Value(b)),
        GuardKind::Same {
            negated: false,
            left,
            right,
        } => (Known::Individual(left), Known::Individual(right)),
        _ => return None,
    };
    let column = |known: Known| match known {
        Known::Value(Value {
            kind: ValueKind::Number(id),
            ..
        })
        | Known::Individual(Term {
            kind: TermKind::Variable(id),
            ..
        }) => place(id),
        _ => None,
    };
    let is_known = |known: Known| {
        (known.variables().iter()).all(|v| !variables.contains(v) && !unknown.contains(v))
    };
    match (column(a), column(b)) {
        (Some(column), None) if is_known(b) => Some((column, b)),
        (None, Some(column)) if is_known(a) => Some((column, a)),
        _ => None,
    }
}

impl Scope<'_> {
    /// The known value, as 64 bits that are equal for equal values.
    pub(super) fn value_code(&self, known: Known, env: &mut Vec<Cell>) -> Result<u64, GuardError> {
        Ok(match known {
            Known::Value(value) => real_code(self.number(value, env)?.to_f64()),
            Known::Individual(term) => u64::from(self.individual(term, env)),
        })
    }

    /// The individuals of a variable's sort by the value of an expression that reads no other variable.
    pub(super) fn by_value(&self, id: VarId, of: Known) -> Rc<ByValue> {
        let mut name = match of {
            Known::Value(value) => value.clone(),
            Known::Individual(term) => Value::new(ValueKind::Individual(term.clone()), term.span),
        };
        name.visit_mut(&mut |mut part| {
            part.forget_place();
            part.rename(|_| VarId(0));
        });
        // The same function as an individual and as a number have different codes.
        let name = (
            matches!(of, Known::Value(_)),
            self.variables[id.index()].sort,
            name,
        );
        self.indexes.by_value(name, || {
            let mut index = ByValue::default();
            let mut env = self.environment();
            for individual in 0..self.size_of(id) {
                env[id.index()] = Cell::Individual(individual);
                // The planner uses look-ups only where nothing can fail.
                if let Ok(code) = self.value_code(of, &mut env) {
                    index.entry(code).or_default().push(individual);
                }
            }
            index
        })
    }

    /// The individual of an integer sort that is this integer.
    pub(super) fn index_of_integer(&self, id: VarId, value: i64) -> Option<u32> {
        match self.variables[id.index()].sort {
            ColumnSort::Sort(sort) => match self.theory()[sort].kind {
                SortKind::Range(low, high) if (low..=high).contains(&value) => {
                    Some((value - low) as u32)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The individual that a variable must be to equal a cell of a column.
    pub(super) fn index_from_cell(&self, id: VarId, column: ColumnSort, code: u64) -> Option<u32> {
        if self.variables[id.index()].sort == column {
            return Some(code as u32);
        }
        let value = match column {
            ColumnSort::Int => code as i64,
            ColumnSort::Real => {
                let x = f64::from_bits(code);
                (x == x.trunc() && x.abs() < 9e15).then_some(x as i64)?
            }
            ColumnSort::Sort(sort) => match self.theory()[sort].kind {
                SortKind::Range(low, _) => low + code as i64,
                _ => return None,
            },
        };
        self.index_of_integer(id, value)
    }
}

impl<'a> Scope<'a> {
    /// The names of variables.
    pub fn names(&self, variables: &[VarId]) -> Vec<&'a str> {
        let name = |v: &VarId| self.variables[v.index()].name.as_str();
        variables.iter().map(name).collect()
    }

    /// Runs something that gives up, as if it was asked to stop, after about this many tries.
    pub fn tiring_after<R>(&self, tries: u64, run: impl FnOnce() -> R) -> R {
        self.indexes.tires.set(self.indexes.tried.get() + tries);
        let done = run();
        self.indexes.tires.set(0);
        done
    }

    /// Whether a stop was requested, or enough was tried.
    fn is_to_stop(&self) -> bool {
        let tires = self.indexes.tires.get();
        self.data.is_stopped() || (tires > 0 && self.indexes.tried.get() > tires)
    }

    /// How many combinations a binder has.
    fn combinations(&self, binding: &Binding) -> u128 {
        match binding {
            Binding::Sorts(variables) => (variables.iter())
                .map(|v| u128::from(self.size_of(*v)))
                .fold(1, u128::saturating_mul),
            Binding::Rows(table, _) => self.data.table(*table).map_or(0, |t| t.rows as u128),
        }
    }

    /// How many combinations the `exists` of a guard have to go through for one binding, at most.
    pub fn tries(&self, guard: &Guard) -> u128 {
        let all = |guards: &mut dyn Iterator<Item = &Guard>| {
            guards.fold(0, |sum: u128, guard| sum.saturating_add(self.tries(guard)))
        };
        match &guard.kind {
            GuardKind::Not(inner) => self.tries(inner),
            GuardKind::And(members) | GuardKind::Or(members) => all(&mut members.iter()),
            GuardKind::Exists(binding, guard, body) => {
                let inside = all(&mut guard.iter().chain([body]).map(|guard| &**guard));
                (self.combinations(binding)).saturating_mul(inside.max(1))
            }
            GuardKind::Compare(..) | GuardKind::Same { .. } | GuardKind::Member(..) => 0,
        }
    }

    /// How many individuals a variable ranges over.
    pub fn size_of(&self, id: VarId) -> u32 {
        match self.variables[id.index()].sort {
            ColumnSort::Sort(sort) => self.data.size(sort) as u32,
            ColumnSort::Int | ColumnSort::Real => 0,
        }
    }
}
