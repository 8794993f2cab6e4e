//! Chooses the steps by which a guard's bindings are listed.

use std::cell::Cell;

use super::bounds::Bounds;
use super::evaluate::Scope;
use super::join::{Join, Known, Step};
use super::linear::Linear;
use super::{conjuncts, free_variables};
use crate::guard_parts::Part;
use crate::theory::*;

/// Sorts of more individuals than this are not indexed by the values of functions for them.
const MOST_LOOKED_UP: u32 = 1 << 22;

/// How many parts of a guard are planned separately while planning the whole; after that the rest is looped over.
/// Without a limit, nests of `or` and `exists` would be planned over and over.
pub(super) struct Patience(Cell<u32>);

impl Default for Patience {
    fn default() -> Patience {
        Patience(Cell::new(500))
    }
}

impl Patience {
    fn is_left(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Chooses the steps.
pub(super) struct Planner<'a> {
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
    pub fn new(scope: Scope<'a>, variables: &[VarId], conditions: &[&'a Guard]) -> Planner<'a> {
        let whole = conditions.to_vec();
        let mut conditions: Vec<&Guard> = conditions.iter().flat_map(|g| conjuncts(g)).collect();
        let mut unbound = variables.to_vec();
        let mut steps = Vec::new();
        if conditions.iter().any(|g| scope.may_fail(g)) {
            // Conditions must be evaluated in the order of the text, so try every combination.
            let size = |id: &VarId| scope.size_of(*id);
            steps.extend(unbound.drain(..).map(|id| Step::Loop {
                id,
                size: size(&id),
                within: Vec::new(),
                asked: true,
            }));
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

    pub fn steps(mut self, patience: &Patience) -> Vec<Step<'a>> {
        self.check_what_is_bound();
        while !self.unbound.is_empty() {
            if !self.assign()
                && !self.solve()
                && !self.compute()
                && !self.join_table()
                && !self.look_up()
                && !self.near()
                && !self.list_a_part(patience)
            {
                let id = self.unbound.remove(self.first_to_loop());
                self.steps.push(Step::Loop {
                    id,
                    size: self.scope.size_of(id),
                    within: self.bounds_of(id),
                    asked: self.asks_about(id, None),
                });
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
                let mut read = Vec::new();
                super::term_variables(to, &mut read);
                if from.kind == TermKind::Variable(missing[0]) && !read.contains(&missing[0]) {
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

    /// An integer equal to a known value that has no linear form, as in `born(x) = y`.
    fn compute(&mut self) -> bool {
        for i in 0..self.conditions.len() {
            let GuardKind::Compare(Comparison::Equal, a, b) = &self.conditions[i].kind else {
                continue;
            };
            let missing = self.missing(i);
            if self.done[i] || missing.len() != 1 {
                continue;
            }
            for (unknown, known) in [(a, b), (b, a)] {
                let is_it = unknown.kind == ValueKind::Number(missing[0]);
                // Above this, reals do not represent every integer.
                let exact = matches!(self.scope.variable_bounds(missing[0]), Bounds::Int(a, b)
                    if a.unsigned_abs().max(b.unsigned_abs()) < 1 << 53);
                if is_it && exact && !Known::Value(known).variables().contains(&missing[0]) {
                    self.done[i] = true;
                    self.steps.push(Step::Compute(missing[0], known));
                    self.bind(missing[0]);
                    return true;
                }
            }
        }
        false
    }

    /// The open variable whose individuals are all tried next: arguments of functions come before variables that depend
    /// on the functions' values, as in `edge(f(x), y)`.
    fn first_to_loop(&self) -> usize {
        let mut applied = Vec::new();
        for (condition, done) in self.conditions.iter().zip(&self.done) {
            let GuardKind::Member(_, cells) = &condition.kind else {
                continue;
            };
            for cell in cells.iter().filter(|_| !done) {
                if Known::Value(cell).applies() {
                    applied.extend(Known::Value(cell).variables());
                }
            }
        }
        let first = self.unbound.iter().position(|v| applied.contains(v));
        first.unwrap_or(0)
    }

    /// Membership in a table that binds a variable, if that beats loops over the sorts.
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
                    key.push((Known::Value(cell), sort));
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
            let fan_out = index.fan_out();
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

    /// An equation with a function's value for the unknown individual on one side and a known value on the other: a
    /// hash join on that value, as in `color(x) = color(y)`.
    fn look_up(&mut self) -> bool {
        for i in 0..self.conditions.len() {
            let missing = self.missing(i);
            let [id] = missing[..] else { continue };
            if self.done[i] || self.scope.size_of(id) > MOST_LOOKED_UP {
                continue;
            }
            let sides = match &self.conditions[i].kind {
                GuardKind::Same {
                    negated: false,
                    left,
                    right,
                } => [left, right].map(Known::Individual),
                GuardKind::Compare(Comparison::Equal, a, b) => [a, b].map(Known::Value),
                _ => continue,
            };
            for (of, key) in [(sides[0], sides[1]), (sides[1], sides[0])] {
                let mut reads = of.variables();
                reads.dedup();
                if reads == [id] && of.applies() && !key.variables().contains(&id) {
                    let index = self.scope.by_value(id, of);
                    self.steps.push(Step::LookUp { id, index, key });
                    // The condition stays open: equal numbers may be of different kinds.
                    self.bind(id);
                    return true;
                }
            }
        }
        false
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
                // The other point must be known: it must not be the point itself, nor the value of a function for it.
                let mut depends = false;
                from.visit(&mut |part| depends |= part.variable() == Some(missing[0]));
                let wanted = to.kind == TermKind::Variable(missing[0]) && !depends;
                let sort = self.scope.sort_of(to).filter(|_| wanted);
                let index = sort.and_then(|s| self.scope.indexes.neighbours(self.scope.data, s));
                if let Some(index) = index {
                    self.steps.push(Step::Near {
                        id: missing[0],
                        index,
                        from,
                        among: self.scope.sort_of(from) == sort,
                        distance,
                    });
                    // The condition stays open: it is tested once everything is bound.
                    self.bind(missing[0]);
                    return true;
                }
            }
        }
        false
    }

    /// Whether an open condition, other than one, reads a variable.
    fn asks_about(&self, id: VarId, other_than: Option<usize>) -> bool {
        (0..self.conditions.len())
            .any(|i| !self.done[i] && Some(i) != other_than && self.needs[i].contains(&id))
    }

    /// An `exists`, or an `or` whose alternatives all lead to the unknown variables by tables, equations or distances:
    /// the combinations that it allows are listed from inside, instead of testing it on every combination. Preferably
    /// without any loop; otherwise with loops over the variables that only this condition mentions, where an
    /// alternative leaves them open.
    fn list_a_part(&mut self, patience: &Patience) -> bool {
        let mut second_best = None;
        for i in 0..self.conditions.len() {
            let condition = self.conditions[i];
            let is_part = matches!(condition.kind, GuardKind::Exists(..) | GuardKind::Or(_));
            if self.done[i] || !is_part || !patience.is_left() {
                continue;
            }
            let binds = self.missing(i);
            let step = match &condition.kind {
                GuardKind::Exists(binding, guard, body) => {
                    let guards: Vec<_> = guard
                        .iter()
                        .map(|g| g.as_ref())
                        .chain([body.as_ref()])
                        .collect();
                    Step::Exists {
                        join: Join::inside_out(self.scope, &binds, binding, &guards, patience),
                        binds: binds.clone(),
                        span: condition.span,
                    }
                }
                GuardKind::Or(members) => {
                    // Earlier alternatives are tested again on what later ones find, so cheap ones come first.
                    let mut members: Vec<&Guard> = members.iter().collect();
                    members.sort_by_key(|m| has_exists(m));
                    let plan = |m| (m, Join::patiently(self.scope, &binds, &[m], patience));
                    Step::Either(members.into_iter().map(plan).collect())
                }
                _ => continue,
            };
            if step.is_bounded(&[]) {
                self.take_part(i, step, &binds);
                return true;
            }
            let only_here = |v: &&VarId| !self.asks_about(**v, Some(i));
            let only_here: Vec<VarId> = binds.iter().filter(only_here).copied().collect();
            if second_best.is_none() && step.is_bounded(&only_here) {
                second_best = Some((i, step, binds));
            }
        }
        let Some((i, step, binds)) = second_best else {
            return false;
        };
        self.take_part(i, step, &binds);
        true
    }

    fn take_part(&mut self, condition: usize, step: Step<'a>, binds: &[VarId]) {
        self.done[condition] = true;
        self.steps.push(step);
        binds.iter().for_each(|&id| self.bind(id));
    }

    /// The bounds that the open linear conditions give for a variable that is about to be looped over: a sort may
    /// have billions of integers of which the guard keeps ten.
    fn bounds_of(&self, id: VarId) -> Vec<(Linear, Vec<bool>)> {
        let mut found = Vec::new();
        for (condition, done) in self.conditions.iter().zip(&self.done) {
            for linear in Linear::bounds(&self.scope, condition) {
                if !done && linear.terms.iter().any(|(v, _, _)| *v == id) {
                    let bound = (0..self.scope.variables.len())
                        .map(|v| VarId(v as u32) != id && !self.unbound.contains(&VarId(v as u32)))
                        .collect();
                    found.push((linear, bound));
                }
            }
        }
        found
    }
}

/// Whether asking it once may go through many bindings.
pub(crate) fn has_exists(guard: &Guard) -> bool {
    let mut found = false;
    guard.visit(&mut |part| {
        found |= matches!(part, Part::Guard(guard) if matches!(guard.kind, GuardKind::Exists(..)));
    });
    found
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
