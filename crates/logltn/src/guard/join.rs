//! Listing the bindings that pass a guard, the way a database would: loops over the smallest choices,
//! equations solved for their last variable, tables entered by what is known already.

use std::rc::Rc;

use super::evaluate::{Cell, GuardError, Scope};
use super::linear::Linear;
use super::neighbours::Neighbours;
use super::table_index::{RowsByKey, cell_code};
use super::{conjuncts, free_variables};
use crate::theory::*;

/// How to list the bindings of one quantifier (or of the part of it that its guard holds together).
pub(crate) struct Join<'a> {
    scope: Scope<'a>,
    steps: Vec<Step<'a>>,
}

enum Step<'a> {
    /// Every individual of the variable's sort.
    Loop(VarId, u32),
    /// Every row of a table.
    LoopRows(TableId, &'a [VarId], u32),
    /// The rows of a table whose cells in some columns are known.
    FindRows {
        table: TableId,
        variables: &'a [VarId],
        index: Rc<RowsByKey>,
        key: Vec<(&'a Value, ColumnSort)>,
    },
    /// The same individual as another term.
    Assign(VarId, &'a Term),
    /// The one integer that satisfies an equation.
    Solve(VarId, Linear),
    /// The rows of a table of which the guard demands membership.
    Member {
        table: TableId,
        index: Rc<RowsByKey>,
        key: Vec<(&'a Value, ColumnSort)>,
        binds: Vec<(usize, VarId)>,
    },
    /// The points that can be within a distance of a known one; a check of the condition itself follows.
    Near {
        id: VarId,
        index: Rc<Neighbours>,
        from: &'a Term,
        distance: &'a Value,
    },
    /// Goes on only if the condition holds.
    Check(&'a Guard),
    /// Goes on only if a linear condition can still hold.
    Possible(Linear, Vec<bool>),
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
        let steps = Planner::new(scope, variables, conditions).steps();
        Join { scope, steps }
    }

    /// The rows of a table that satisfy all `conditions`.
    pub fn over_rows(
        scope: Scope<'a>,
        table: TableId,
        variables: &'a [VarId],
        conditions: &[&'a Guard],
    ) -> Join<'a> {
        let rows = scope.data.table(table).map_or(0, |t| t.rows) as u32;
        let checks = conditions.iter().map(|g| Step::Check(g));
        let conditions: Vec<&Guard> = conditions.iter().flat_map(|g| conjuncts(g)).collect();
        let mut columns = Vec::new();
        let mut key = Vec::new();
        if !conditions.iter().any(|g| scope.may_fail(g)) {
            for guard in &conditions {
                if let Some((column, value)) = key_column(variables, guard) {
                    columns.push(column);
                    key.push((value, scope.theory()[table].columns[column].sort));
                }
            }
        }
        let first = if columns.is_empty() {
            Step::LoopRows(table, variables, rows)
        } else {
            Step::FindRows {
                table,
                variables,
                index: scope.indexes.by_columns(scope.data, table, &columns, false),
                key,
            }
        };
        Join {
            scope,
            steps: std::iter::once(first).chain(checks).collect(),
        }
    }

    /// Lists the bindings. `env` holds what is bound outside; `visit` returns whether to go on.
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
        match step {
            Step::Loop(id, size) => {
                for index in 0..*size {
                    env[id.index()] = Cell::Individual(index);
                    if !self.step(at + 1, env, row, visit)? {
                        return Ok(false);
                    }
                }
            }
            Step::LoopRows(table, variables, rows) => {
                for row in 0..*rows {
                    scope.bind_row(env, *table, variables, row as usize);
                    if !self.step(at + 1, env, row, visit)? {
                        return Ok(false);
                    }
                }
            }
            Step::FindRows {
                table,
                variables,
                index,
                key,
            } => {
                for &row in self.look_up(index, key, env)? {
                    scope.bind_row(env, *table, variables, row as usize);
                    if !self.step(at + 1, env, row, visit)? {
                        return Ok(false);
                    }
                }
            }
            Step::Assign(id, term) => {
                env[id.index()] = Cell::Individual(scope.individual(term, env));
                return self.step(at + 1, env, row, visit);
            }
            Step::Solve(id, linear) => {
                if let Some(value) = linear.solve(scope, env, *id)
                    && let Some(index) = scope.index_of_integer(*id, value)
                {
                    env[id.index()] = Cell::Individual(index);
                    return self.step(at + 1, env, row, visit);
                }
            }
            Step::Member {
                table,
                index,
                key,
                binds,
            } => {
                let Some(data) = scope.data.table(*table) else {
                    return Ok(true);
                };
                'rows: for &found in self.look_up(index, key, env)? {
                    for &(column, id) in binds {
                        let code = cell_code(&data.columns[column], found as usize);
                        let sort = scope.theory()[*table].columns[column].sort;
                        match scope.index_from_cell(id, sort, code) {
                            Some(index) => env[id.index()] = Cell::Individual(index),
                            None => continue 'rows,
                        }
                    }
                    if !self.step(at + 1, env, row, visit)? {
                        return Ok(false);
                    }
                }
            }
            Step::Near {
                id,
                index,
                from,
                distance,
            } => {
                let distance = scope.number(distance, env)?.to_f64();
                let candidates = match scope.features_of(from, env) {
                    Some(point) => index.candidates(point, distance),
                    None => return Ok(true),
                };
                for candidate in candidates {
                    env[id.index()] = Cell::Individual(candidate);
                    if !self.step(at + 1, env, row, visit)? {
                        return Ok(false);
                    }
                }
            }
            Step::Check(guard) => {
                if scope.holds(guard, env)? {
                    return self.step(at + 1, env, row, visit);
                }
            }
            Step::Possible(linear, bound) => {
                if linear.possible(scope, env, bound) {
                    return self.step(at + 1, env, row, visit);
                }
            }
        }
        Ok(true)
    }

    fn look_up<'i>(
        &self,
        index: &'i RowsByKey,
        key: &[(&Value, ColumnSort)],
        env: &mut Vec<Cell>,
    ) -> Result<&'i [u32], GuardError> {
        let mut codes = Vec::with_capacity(key.len());
        for (value, sort) in key {
            match self.scope.table_cell(value, *sort, env)? {
                Some(code) => codes.push(code),
                None => return Ok(&[]),
            }
        }
        Ok(index.get(codes.as_slice()).map_or(&[], Vec::as_slice))
    }

    /// How it goes about it, in a few words, for people.
    pub fn describe(&self) -> String {
        let name = |id: &VarId| self.scope.variables[id.index()].name.as_str();
        let table = |id: &TableId| self.scope.theory()[*id].name.as_str();
        let mut words = Vec::new();
        for step in &self.steps {
            words.push(match step {
                Step::Loop(id, size) => format!("loop {} ({size})", name(id)),
                Step::LoopRows(id, _, rows) => format!("scan {} ({rows})", table(id)),
                Step::FindRows { table: id, .. } => format!("look up rows of {}", table(id)),
                Step::Assign(id, _) => format!("set {}", name(id)),
                Step::Solve(id, _) => format!("solve for {}", name(id)),
                Step::Member {
                    table: id, binds, ..
                } => {
                    let bound: Vec<_> = binds.iter().map(|(_, v)| name(v)).collect();
                    format!("join {} for {}", table(id), bound.join(", "))
                }
                Step::Near { id, .. } => format!("find {} nearby", name(id)),
                Step::Check(_) => "test".to_string(),
                Step::Possible(..) => continue,
            });
        }
        words.dedup();
        words.join(", ")
    }
}

/// The column of a row binder that an equation ties to something known outside, and that something.
fn key_column<'a>(variables: &[VarId], guard: &'a Guard) -> Option<(usize, &'a Value)> {
    let GuardKind::Compare(Comparison::Equal, a, b) = &guard.kind else {
        return None;
    };
    let column = |value: &Value| match &value.kind {
        ValueKind::Number(id) => variables.iter().position(|v| v == id),
        _ => None,
    };
    let outside = |value: &Value| {
        let mut found = Vec::new();
        super::value_variables(value, &mut found);
        found.iter().all(|v| !variables.contains(v))
    };
    match (column(a), column(b)) {
        (Some(column), None) if outside(b) => Some((column, b)),
        (None, Some(column)) if outside(a) => Some((column, a)),
        _ => None,
    }
}

impl Scope<'_> {
    /// The individual of an integer sort that is this integer.
    fn index_of_integer(&self, id: VarId, value: i64) -> Option<u32> {
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
    fn index_from_cell(&self, id: VarId, column: ColumnSort, code: u64) -> Option<u32> {
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

/// Chooses the steps.
struct Planner<'a> {
    scope: Scope<'a>,
    conditions: Vec<&'a Guard>,
    /// For each condition: its variables among those to bind, and its linear form.
    needs: Vec<Vec<VarId>>,
    linear: Vec<Option<Linear>>,
    done: Vec<bool>,
    unbound: Vec<VarId>,
    steps: Vec<Step<'a>>,
}

impl<'a> Planner<'a> {
    fn new(scope: Scope<'a>, variables: &[VarId], conditions: &[&'a Guard]) -> Planner<'a> {
        let whole = conditions.to_vec();
        let mut conditions: Vec<&Guard> = conditions.iter().flat_map(|g| conjuncts(g)).collect();
        let mut unbound = variables.to_vec();
        let mut steps = Vec::new();
        if conditions.iter().any(|g| scope.may_fail(g)) {
            // The order of the text decides what is computed at all: try every combination.
            let size = |id: &VarId| scope.size_of(*id);
            steps.extend(unbound.drain(..).map(|id| Step::Loop(id, size(&id))));
            conditions = whole;
        }
        let needs = conditions.iter().map(|g| {
            let mut needs = free_variables(g);
            needs.retain(|v| variables.contains(v));
            needs
        });
        Planner {
            needs: needs.collect(),
            linear: conditions.iter().map(|g| Linear::of(&scope, g)).collect(),
            done: vec![false; conditions.len()],
            conditions,
            unbound,
            steps,
            scope,
        }
    }

    fn steps(mut self) -> Vec<Step<'a>> {
        self.check_what_is_bound();
        while !self.unbound.is_empty() {
            if !self.assign() && !self.solve() && !self.join_table() && !self.near() {
                let id = self.unbound.remove(0);
                self.steps.push(Step::Loop(id, self.scope.size_of(id)));
                self.cut_short(id);
            }
            self.check_what_is_bound();
        }
        self.steps
    }

    fn missing(&self, condition: usize) -> Vec<VarId> {
        let needs = self.needs[condition].iter().copied();
        needs.filter(|v| self.unbound.contains(v)).collect()
    }

    fn bind(&mut self, id: VarId) {
        self.unbound.retain(|v| *v != id);
    }

    fn check_what_is_bound(&mut self) {
        for i in 0..self.conditions.len() {
            if !self.done[i] && self.missing(i).is_empty() {
                self.done[i] = true;
                self.steps.push(Step::Check(self.conditions[i]));
            }
        }
    }

    /// `x = y` with one of the two known.
    fn assign(&mut self) -> bool {
        for i in 0..self.conditions.len() {
            let GuardKind::Same {
                negated: false,
                left,
                right,
            } = &self.conditions[i].kind
            else {
                continue;
            };
            let missing = self.missing(i);
            if self.done[i] || missing.len() != 1 {
                continue;
            }
            for (from, to) in [(left, right), (right, left)] {
                if from.kind == TermKind::Variable(missing[0]) && to.kind != from.kind {
                    self.done[i] = true;
                    self.steps.push(Step::Assign(missing[0], to));
                    self.bind(missing[0]);
                    return true;
                }
            }
        }
        false
    }

    /// An equation with one unknown.
    fn solve(&mut self) -> bool {
        for i in 0..self.conditions.len() {
            let missing = self.missing(i);
            if self.done[i] || missing.len() != 1 {
                continue;
            }
            let Some(linear) = &self.linear[i] else {
                continue;
            };
            let has_it = linear.terms.iter().any(|(id, _, _)| *id == missing[0]);
            if linear.op == Comparison::Equal && has_it {
                self.done[i] = true;
                self.steps.push(Step::Solve(missing[0], linear.clone()));
                self.bind(missing[0]);
                return true;
            }
        }
        false
    }

    /// Membership in a table that binds something, if that beats loops over the sorts.
    fn join_table(&mut self) -> bool {
        let mut best: Option<(f64, usize, Step<'a>)> = None;
        for i in 0..self.conditions.len() {
            let GuardKind::Member(table, cells) = &self.conditions[i].kind else {
                continue;
            };
            if self.done[i] {
                continue;
            }
            let missing = self.missing(i);
            let mut known = Vec::new();
            let mut key = Vec::new();
            let mut binds: Vec<(usize, VarId)> = Vec::new();
            let mut usable = true;
            for (column, cell) in cells.iter().enumerate() {
                let sort = self.scope.theory()[*table].columns[column].sort;
                let mut variables = Vec::new();
                super::value_variables(cell, &mut variables);
                if variables.iter().all(|v| !missing.contains(v)) {
                    known.push(column);
                    key.push((cell, sort));
                } else if let Some(id) = plain_variable(cell)
                    && binds.iter().all(|(_, v)| *v != id)
                {
                    binds.push((column, id));
                } else {
                    usable = false;
                }
            }
            if !usable {
                continue;
            }
            let index = (self.scope.indexes).by_columns(self.scope.data, *table, &known, true);
            let rows: usize = index.values().map(Vec::len).sum();
            let fan_out = rows as f64 / index.len().max(1) as f64;
            let sizes = binds.iter().map(|(_, v)| f64::from(self.scope.size_of(*v)));
            let better = best.as_ref().is_none_or(|(cost, _, _)| fan_out < *cost);
            if fan_out <= sizes.product::<f64>() && better {
                let step = Step::Member {
                    table: *table,
                    index,
                    key,
                    binds,
                };
                best = Some((fan_out, i, step));
            }
        }
        let Some((_, i, step)) = best else {
            return false;
        };
        self.done[i] = true;
        if let Step::Member { binds, .. } = &step {
            let bound: Vec<_> = binds.iter().map(|(_, v)| *v).collect();
            self.steps.push(step);
            bound.into_iter().for_each(|id| self.bind(id));
        }
        true
    }

    /// A point within some distance of one that is known.
    fn near(&mut self) -> bool {
        for i in 0..self.conditions.len() {
            let Some((a, b, distance)) = within(self.conditions[i]) else {
                continue;
            };
            let missing = self.missing(i);
            let mut limited_by = Vec::new();
            super::value_variables(distance, &mut limited_by);
            if self.done[i] || missing.len() != 1 || limited_by.contains(&missing[0]) {
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                let wanted = to.kind == TermKind::Variable(missing[0]) && from.kind != to.kind;
                let sort = self.scope.sort_of(to).filter(|_| wanted);
                let index = sort.and_then(|s| self.scope.indexes.neighbours(self.scope.data, s));
                if let Some(index) = index {
                    self.steps.push(Step::Near {
                        id: missing[0],
                        index,
                        from,
                        distance,
                    });
                    // The condition stays open: it is checked now that all is bound.
                    self.bind(missing[0]);
                    return true;
                }
            }
        }
        false
    }

    /// After a loop: give up where a linear condition cannot be met any more.
    fn cut_short(&mut self, id: VarId) {
        for i in 0..self.conditions.len() {
            let Some(linear) = &self.linear[i] else {
                continue;
            };
            if self.done[i] || !linear.terms.iter().any(|(v, _, _)| *v == id) {
                continue;
            }
            let bound = (0..self.scope.variables.len())
                .map(|v| !self.unbound.contains(&VarId(v as u32)))
                .collect();
            self.steps.push(Step::Possible(linear.clone(), bound));
        }
    }
}

/// `dist(a, b) < distance` in any spelling: the two points and the distance.
fn within(guard: &Guard) -> Option<(&Term, &Term, &Value)> {
    let GuardKind::Compare(op, left, right) = &guard.kind else {
        return None;
    };
    let (near, distance) = match op {
        Comparison::Less | Comparison::LessEqual => (left, right),
        Comparison::Greater | Comparison::GreaterEqual => (right, left),
        Comparison::Equal | Comparison::NotEqual => return None,
    };
    match &near.kind {
        ValueKind::Dist(a, b) => Some((a, b, distance)),
        _ => None,
    }
}

fn plain_variable(value: &Value) -> Option<VarId> {
    match &value.kind {
        ValueKind::Number(id) => Some(*id),
        ValueKind::Individual(term) => match term.kind {
            TermKind::Variable(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

impl Scope<'_> {
    /// How many individuals a variable ranges over.
    pub fn size_of(&self, id: VarId) -> u32 {
        match self.variables[id.index()].sort {
            ColumnSort::Sort(sort) => self.data.size(sort) as u32,
            ColumnSort::Int | ColumnSort::Real => 0,
        }
    }
}
