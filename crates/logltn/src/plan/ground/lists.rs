//! The lists of tuples that quantifiers run over, made once for all passes and all axioms that need them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::list_key::{ListKey, place};
use crate::connected::connected;
use crate::diagnostic::{Diagnostic, early};
use crate::guard::{Cell, Join, Scope, conjuncts, free_variables, say_if_slow, sort_tuples};
use crate::memory;
use crate::plan::account::Account;
use crate::plan::program::{Component, ComponentSource};
use crate::source::Span;
use crate::theory::*;

/// What a component binds in one axiom.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub component: usize,
    /// The variables that its tuples bind; for rows, one per column.
    pub variables: Vec<VarId>,
    /// The outer variables that its guard reads; they choose one of its lists.
    pub keys: Vec<VarId>,
}

/// The number of a list by the values of some outer variables.
pub(crate) type KeyIds = FxHashMap<Box<[u64]>, u32>;

/// Lists the bindings that guards keep. Another pass or another axiom that needs the same lists gets the existing ones.
#[derive(Clone, Debug)]
pub(crate) struct Grounder {
    pub account: Account,
    pub components: Vec<Component>,
    /// By component.
    keys: Vec<Arc<KeyIds>>,
    known: FxHashMap<ListKey, usize>,
    /// Those that depend on a call's data.
    streamed: FxHashSet<usize>,
    /// Those of [`ComponentSource::Bindings`].
    bindings: Vec<Vec<Cell>>,
}

/// When lists are counted, tuples that agree in what is read together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    /// How many times shorter a list has to be.
    pub least: usize,
    /// Whether the order of the tuples does not matter: in that of the individuals they are read faster.
    pub sorted: bool,
}

/// How long listing may take before its total time is estimated.
const PATIENCE: Duration = Duration::from_secs(1);

/// The memory of a key: its values, its number, and its place in a table.
const PER_KEY: usize = 64;

/// The memory of a binding while it is counted.
const PER_COUNT: usize = 128;

/// Checks whether a vector may become this long: beyond its capacity it doubles.
fn may_grow(length: usize, capacity: usize, bytes: usize) -> bool {
    length <= capacity || memory::ask((capacity * bytes) as u128).is_ok()
}

/// The most numbers that the lists of one component may hold, however much memory there is.
const MAX_CELLS: usize = 1 << 31;

impl Grounder {
    pub fn new(account: Account) -> Grounder {
        Grounder {
            account,
            components: Vec::new(),
            keys: Vec::new(),
            known: FxHashMap::default(),
            streamed: FxHashSet::default(),
            bindings: Vec::new(),
        }
    }

    /// Drops all components after the first few, except for those that another call can reuse unchanged.
    pub fn forget(&mut self, fixed: usize) {
        let mut kept: Vec<usize> = self.known.values().copied().collect();
        kept.retain(|c| *c >= fixed && !self.streamed.contains(c));
        kept.sort_unstable();
        // Those that stay move up; only the look-up here still refers to them.
        let moved: FxHashMap<usize, usize> = (0..fixed)
            .map(|c| (c, c))
            .chain(kept.iter().enumerate().map(|(i, c)| (*c, fixed + i)))
            .collect();
        for (i, &c) in kept.iter().enumerate() {
            self.components.swap(fixed + i, c);
            self.keys.swap(fixed + i, c);
            self.account
                .take_again(self.components[fixed + i].tuples.len());
        }
        self.components.truncate(fixed + kept.len());
        self.keys.truncate(fixed + kept.len());
        let known = std::mem::take(&mut self.known);
        self.known = (known.into_iter())
            .filter_map(|(key, c)| Some((key.moved(&moved)?, *moved.get(&c)?)))
            .collect();
        self.streamed.clear();
    }

    /// The components of a quantifier; it runs over their product.
    pub fn quantifier(
        &mut self,
        scope: Scope,
        around: &[Arc<Bound>],
        binding: &Binding,
        guard: Option<&Guard>,
    ) -> Result<Vec<Arc<Bound>>, Diagnostic> {
        let conditions = guard.map(conjuncts).unwrap_or_default();
        // Where arithmetic can fail, conditions must be evaluated in the order of the text, so nothing is split.
        let whole = conditions.iter().any(|g| scope.may_fail(g));
        let (groups, rows_of) = match binding {
            Binding::Sorts(variables) if !whole => (groups(variables, conditions), None),
            Binding::Sorts(variables) => (vec![(variables.clone(), conditions)], None),
            Binding::Rows(table, variables) => {
                (vec![(variables.clone(), conditions)], Some(*table))
            }
        };
        let bound = groups
            .into_iter()
            .map(|(variables, conditions)| match conditions.is_empty() {
                true => self.all(scope, rows_of, variables),
                false => self.guarded(scope, around, variables, rows_of, &conditions),
            });
        bound.collect()
    }

    /// The combinations of a few variables that are already listed.
    pub fn combinations(
        &mut self,
        scope: Scope,
        variables: Vec<VarId>,
        combinations: Vec<Vec<u32>>,
    ) -> Result<Arc<Bound>, Diagnostic> {
        let sizes: Vec<u32> = variables.iter().map(|v| scope.size_of(*v)).collect();
        let size = combinations.len();
        if variables.len() == 1 && size == sizes[0] as usize {
            return self.all(scope, None, variables);
        }
        let list = Component {
            source: ComponentSource::Guarded { rows_of: None },
            offsets: vec![0, size as u32],
            tuples: combinations.into_iter().flatten().collect(),
            arity: variables.len(),
            weights: Vec::new(),
            candidates: sizes.iter().map(|s| u128::from(*s)).product(),
            method: "those that some binding uses".to_string(),
            batched: None,
        };
        Ok(self.one_list(variables, list))
    }

    /// The tuples of some variables for which a stratum is computed, one after the other.
    pub fn tuples(&mut self, variables: Vec<VarId>, size: usize, tuples: Vec<u32>) -> Arc<Bound> {
        let list = Component {
            source: ComponentSource::Guarded { rows_of: None },
            offsets: vec![0, size as u32],
            tuples,
            arity: variables.len(),
            weights: Vec::new(),
            candidates: size as u128,
            method: "those that are asked for".to_string(),
            batched: None,
        };
        self.streamed.insert(self.components.len());
        self.one_list(variables, list)
    }

    /// Some bindings of these variables, given as environments.
    pub fn bindings(&mut self, variables: Vec<VarId>, bindings: Vec<Vec<Cell>>) -> Arc<Bound> {
        let list = Component {
            source: ComponentSource::Bindings,
            offsets: vec![0, bindings.len() as u32],
            tuples: (0..bindings.len() as u32).collect(),
            arity: 1,
            weights: Vec::new(),
            candidates: bindings.len() as u128,
            method: String::new(),
            batched: None,
        };
        self.bindings = bindings;
        self.one_list(variables, list)
    }

    /// A component without keys.
    pub fn one_list(&mut self, variables: Vec<VarId>, list: Component) -> Arc<Bound> {
        self.keys.push(Arc::default());
        Arc::new(Bound {
            component: self.push(list),
            variables,
            keys: Vec::new(),
        })
    }

    fn push(&mut self, component: Component) -> usize {
        self.components.push(component);
        self.components.len() - 1
    }

    /// All individuals of a variable's sort, or all rows of a table.
    pub fn all(
        &mut self,
        scope: Scope,
        rows_of: Option<TableId>,
        variables: Vec<VarId>,
    ) -> Result<Arc<Bound>, Diagnostic> {
        let first = &scope.variables[variables[0].index()];
        let rows = rows_of.and_then(|t| Some((t, scope.data.table(t)?)));
        let (source, size) = match (rows_of, first.sort) {
            (Some(table), _) => (ComponentSource::Rows(table), rows.map_or(0, |r| r.1.rows)),
            (None, ColumnSort::Sort(sort)) => (ComponentSource::Sort(sort), scope.data.size(sort)),
            // The resolver binds only sorts here.
            (None, ColumnSort::Int | ColumnSort::Real) => (ComponentSource::Sort(SortId(0)), 0),
        };
        let key = ListKey::All(source.clone());
        let component = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let theory = scope.theory();
                self.account.take_cells(size as u128, theory, first.span)?;
                if size > MAX_CELLS {
                    let bindings = Some(size as f64);
                    return Err(self.account.too_much(bindings, theory, first.span));
                }
                self.keys.push(Arc::default());
                if key.is_streamed(scope.data) {
                    self.streamed.insert(self.components.len());
                }
                self.push(Component {
                    source,
                    offsets: vec![0, size as u32],
                    tuples: (0..size as u32).collect(),
                    arity: 1,
                    weights: Vec::new(),
                    candidates: size as u128,
                    method: String::new(),
                    batched: rows.and_then(|(table, rows)| rows.batched.then_some(table)),
                })
            }
        };
        self.known.insert(key, component);
        Ok(Arc::new(Bound {
            component,
            variables,
            keys: Vec::new(),
        }))
    }

    /// The tuples that a guard keeps, one list for each combination of the outer variables that it reads.
    fn guarded(
        &mut self,
        scope: Scope,
        around: &[Arc<Bound>],
        variables: Vec<VarId>,
        rows_of: Option<TableId>,
        conditions: &[&Guard],
    ) -> Result<Arc<Bound>, Diagnostic> {
        let mut outer: Vec<VarId> = conditions.iter().flat_map(|g| free_variables(g)).collect();
        outer.retain(|v| !variables.contains(v));
        let relevant = relevant(around, &outer);
        // In an order that does not depend on the axiom.
        outer.sort_by_key(|v| place(&relevant, *v));
        outer.dedup();
        let key = ListKey::guarded(&scope, &variables, rows_of, conditions, &outer, &relevant);
        let bound = |component| {
            Arc::new(Bound {
                component,
                variables: variables.clone(),
                keys: outer.clone(),
            })
        };
        if let Some(&known) = self.known.get(&key) {
            return Ok(bound(known));
        }
        let mut tuples = Vec::new();
        let mut offsets = vec![0_u32];
        let mut keys = KeyIds::default();
        let join = match rows_of {
            Some(table) => Join::over_rows(scope, table, &variables, conditions),
            None => Join::over_sorts(scope, &variables, conditions),
        };
        let arity = if rows_of.is_some() {
            1
        } else {
            variables.len()
        };
        let room = self.account.cells_left().min(MAX_CELLS);
        let span = conditions[0].span.to(conditions[conditions.len() - 1].span);
        let sizes: u128 = match rows_of {
            Some(table) => scope.data.table(table).map_or(0, |t| t.rows as u128),
            None => {
                let sizes = variables.iter().map(|v| u128::from(scope.size_of(*v)));
                sizes.fold(1, u128::saturating_mul)
            }
        };
        // The possible outer bindings; conditions may leave fewer.
        let most_keys = (relevant.iter()).fold(1_u128, |most, bound| {
            let listed = self.components[bound.component].tuples.len() as u128;
            let own = bound.variables.iter().filter(|v| outer.contains(v));
            let own = own.fold(1, |n: u128, v| n.saturating_mul(scope.size_of(*v).into()));
            most.saturating_mul(listed.min(own))
        });
        let mut begun = Some(Instant::now()).filter(|_| early::is_heard());
        let mut failure = None;
        let had_room = self.walk(scope, &relevant, &outer, &mut |env| {
            let key = codes(&outer, env);
            if keys.contains_key(&key) {
                return true;
            }
            // The first of several lists represents the others.
            if keys.is_empty() && scope.is_worth_an_estimate(sizes, conditions) {
                let checked = self.check_estimate(scope, (&join, env), (arity, room), span);
                failure = checked.err();
                if failure.is_some() {
                    return false;
                }
            }
            if let Some(elapsed) = begun.map(|begun| begun.elapsed())
                && elapsed >= PATIENCE
            {
                begun = None;
                let seconds = elapsed.as_secs_f64() / keys.len().max(1) as f64 * most_keys as f64;
                let what = || format!("this guard has up to {most_keys} lists");
                say_if_slow(seconds, what, scope.theory(), span);
            }
            let start = tuples.len();
            let mut count = 0;
            let mut full = !may_grow(keys.len() + 1, keys.capacity(), PER_KEY);
            let result = join.run(env, &mut |env, row| {
                let length = tuples.len() + arity;
                full |= length > room || !may_grow(length, tuples.capacity(), size_of::<u32>());
                if full {
                    return false;
                }
                count += 1;
                match rows_of {
                    Some(_) => tuples.push(row),
                    None => tuples.extend(variables.iter().map(|v| env[v.index()].code() as u32)),
                }
                true
            });
            if let Err(error) = result {
                failure = Some(scope.diagnose(&error));
            } else if full {
                failure = Some(self.account.too_much(None, scope.theory(), span));
            }
            if failure.is_some() {
                return false;
            }
            sort_tuples(&mut tuples[start..], arity);
            keys.insert(key, offsets.len() as u32 - 1);
            offsets.push(offsets[offsets.len() - 1] + count);
            true
        });
        if !had_room {
            failure = Some(self.account.too_much(None, scope.theory(), span));
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        // Growing by doubling has left up to as much again.
        tuples.shrink_to_fit();
        let component = Component {
            source: ComponentSource::Guarded { rows_of },
            candidates: sizes.saturating_mul(keys.len() as u128),
            method: join.describe(&variables),
            batched: rows_of.filter(|t| scope.data.table(*t).is_some_and(|t| t.batched)),
            offsets,
            tuples,
            arity,
            weights: Vec::new(),
        };
        let cells = component.tuples.len() as u128;
        self.account.take_cells(cells, scope.theory(), span)?;
        self.keys.push(Arc::new(keys));
        let component = self.push(component);
        if relevant
            .iter()
            .any(|b| self.streamed.contains(&b.component))
            || key.is_streamed(scope.data)
        {
            self.streamed.insert(component);
        }
        self.known.insert(key, component);
        Ok(bound(component))
    }

    /// A component with one tuple for all that agree in the variables that are read, and how many these are, if that is
    /// shorter enough.
    pub fn counted(
        &mut self,
        scope: Scope,
        bound: Arc<Bound>,
        read: &[VarId],
        counting: Counting,
    ) -> Arc<Bound> {
        let component = &self.components[bound.component];
        let is_read = |at: &usize| read.contains(&bound.variables[*at]);
        let places: Vec<usize> = (0..bound.variables.len()).filter(is_read).collect();
        let bindings = component.source == ComponentSource::Bindings;
        if places.len() == bound.variables.len() || component.batched.is_some() || bindings {
            return bound;
        }
        let own: Vec<VarId> = places.iter().map(|at| bound.variables[*at]).collect();
        let of = bound.component;
        let key = ListKey::Counted { of, places };
        let known = self.known.get(&key).copied();
        let counted = known.or_else(|| {
            let counted = self.count(scope, &bound, &own, counting)?;
            self.account.take_again(counted.bytes() / size_of::<u32>());
            self.keys.push(self.keys[of].clone());
            Some(self.push(counted))
        });
        // Also that it does not pay.
        let component = counted.unwrap_or(of);
        self.known.insert(key, component);
        Arc::new(Bound {
            component,
            ..(*bound).clone()
        })
    }

    fn count(
        &self,
        scope: Scope,
        bound: &Bound,
        read: &[VarId],
        counting: Counting,
    ) -> Option<Component> {
        let component = &self.components[bound.component];
        // A number for each combination of what is read.
        let values = |v: &VarId| match scope.variables[v.index()].sort {
            ColumnSort::Sort(_) => u128::from(scope.size_of(*v)),
            ColumnSort::Int | ColumnSort::Real => 1 << 64,
        };
        let sizes: Vec<u128> = read.iter().map(values).collect();
        sizes
            .iter()
            .try_fold(1, |all: u128, n| all.checked_mul(*n))?;
        let most = component.len() / counting.least;
        memory::ask((most * PER_COUNT) as u128).ok()?;
        let (mut offsets, mut first, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut env = scope.environment();
        let mut known = FxHashMap::default();
        for list in component.offsets.windows(2) {
            let mut found: Vec<(u128, u32, u32)> = Vec::new();
            known.clear();
            for tuple in list[0]..list[1] {
                self.bind(scope, bound, tuple as usize, &mut env);
                let cells = read.iter().zip(&sizes);
                let own = cells.fold(0, |all, (v, n)| all * n + u128::from(env[v.index()].code()));
                let at = *known.entry(own).or_insert_with(|| {
                    found.push((own, tuple, 0));
                    found.len() - 1
                });
                found[at].2 += 1;
                if first.len() + found.len() > most {
                    return None;
                }
            }
            if counting.sorted {
                found.sort_unstable();
            }
            first.extend(found.iter().map(|(_, tuple, _)| *tuple));
            weights.extend(found.iter().map(|(.., weight)| *weight));
            offsets.push(first.len() as u32);
        }
        let arity = component.arity;
        let cells = |tuple: &u32| &component.tuples[*tuple as usize * arity..][..arity];
        (first.len() < component.len()).then(|| Component {
            source: ComponentSource::Guarded {
                rows_of: component.source.table(),
            },
            offsets,
            tuples: first.iter().flat_map(cells).copied().collect(),
            weights,
            method: component.method.clone(),
            ..*component
        })
    }

    /// Refuses lists that random walks estimate to be too long, before anything is listed.
    fn check_estimate(
        &self,
        scope: Scope,
        (join, env): (&Join, &mut Vec<Cell>),
        (arity, room): (usize, usize),
        span: Span,
    ) -> Result<(), Diagnostic> {
        let Some(found) = join.estimate(env) else {
            return Ok(());
        };
        let theory = scope.theory();
        if found.kept * arity as f64 > room as f64 {
            return Err(self.account.too_much(Some(found.kept), theory, span));
        }
        found.check(theory, span)
    }

    /// Visits the combinations of some components' tuples, from the outside in, such that each combination of the
    /// `wanted` variables' values comes at least once, in the order of its first occurrence, until `visit` returns
    /// false.
    ///
    /// Prefixes that agree in everything that matters further in are followed once: a chain of guards has few such
    /// prefixes but very many combinations. Returns `false` if memory ran out.
    #[must_use]
    pub fn walk(
        &self,
        scope: Scope,
        components: &[&Bound],
        wanted: &[VarId],
        visit: &mut dyn FnMut(&mut Vec<Cell>) -> bool,
    ) -> bool {
        let mut env = scope.environment();
        let Some((last, before)) = components.split_last() else {
            visit(&mut env);
            return true;
        };
        let mut matter: Vec<VarId> = Vec::new();
        let mut prefixes: Vec<Box<[Cell]>> = vec![Box::default()];
        let restore = |env: &mut Vec<Cell>, variables: &[VarId], prefix: &[Cell]| {
            for (variable, &cell) in variables.iter().zip(prefix) {
                env[variable.index()] = cell;
            }
        };
        for (at, bound) in before.iter().enumerate() {
            let further = &components[at + 1..];
            let matters =
                |v: &VarId| wanted.contains(v) || further.iter().any(|b| b.keys.contains(v));
            let variables = matter.iter().chain(&bound.variables).copied();
            let next: Vec<VarId> = variables.filter(matters).collect();
            let mut seen = FxHashSet::default();
            let mut longer = Vec::new();
            for prefix in &prefixes {
                restore(&mut env, &matter, prefix);
                for tuple in self.list(bound, &env) {
                    self.bind(scope, bound, tuple as usize, &mut env);
                    if seen.insert(codes(&next, &env)) {
                        if !may_grow(longer.len() + 1, longer.capacity(), 2 * PER_KEY) {
                            return false;
                        }
                        longer.push(next.iter().map(|v| env[v.index()]).collect());
                    }
                }
            }
            (matter, prefixes) = (next, longer);
        }
        for prefix in &prefixes {
            restore(&mut env, &matter, prefix);
            for tuple in self.list(last, &env) {
                self.bind(scope, last, tuple as usize, &mut env);
                if !visit(&mut env) {
                    return true;
                }
            }
        }
        true
    }

    /// The tuples of a component under a binding of the outer variables.
    pub fn list(&self, bound: &Bound, env: &[Cell]) -> std::ops::Range<u32> {
        let key = match bound.keys.is_empty() {
            true => Some(0),
            false => self.keys[bound.component]
                .get(&codes(&bound.keys, env))
                .copied(),
        };
        let offsets = &self.components[bound.component].offsets;
        key.map_or(0..0, |key| offsets[key as usize]..offsets[key as usize + 1])
    }

    /// Whether each variable of a component is each of its individuals in some tuple.
    pub fn names_all(&self, scope: Scope, bound: &Bound) -> bool {
        let component = &self.components[bound.component];
        match component.source {
            ComponentSource::Sort(_) => true,
            ComponentSource::Guarded { rows_of: None } if component.batched.is_none() => {
                (bound.variables.iter().enumerate()).all(|(at, variable)| {
                    let size = scope.size_of(*variable) as usize;
                    let mut seen = vec![false; size];
                    let mut own = component.tuples.iter().skip(at).step_by(component.arity);
                    let mut left = size;
                    own.any(|&individual| {
                        let seen = &mut seen[individual as usize];
                        left -= usize::from(!std::mem::replace(seen, true));
                        left == 0
                    })
                })
            }
            _ => false,
        }
    }

    /// The numbers of a component's lists.
    pub fn keys(&self, component: usize) -> Arc<KeyIds> {
        self.keys[component].clone()
    }

    /// Binds the variables of a component to its `tuple`-th tuple.
    pub fn bind(&self, scope: Scope, bound: &Bound, tuple: usize, env: &mut [Cell]) {
        let component = &self.components[bound.component];
        match component.source.table() {
            Some(table) => {
                let row = component.tuples[tuple] as usize;
                scope.bind_row(env, table, &bound.variables, row);
            }
            None if component.source == ComponentSource::Bindings => {
                let binding = &self.bindings[tuple];
                (bound.variables.iter()).for_each(|v| env[v.index()] = binding[v.index()]);
            }
            None => {
                let cells = &component.tuples[tuple * component.arity..];
                for (variable, &cell) in bound.variables.iter().zip(cells) {
                    env[variable.index()] = Cell::Individual(cell);
                }
            }
        }
    }

    /// A number for each tuple of a component, with the variables of its key bound too.
    pub fn per_tuple<T>(
        &self,
        scope: Scope,
        bound: &Bound,
        mut number: impl FnMut(&[Cell]) -> T,
    ) -> Vec<T> {
        let mut env = scope.environment();
        let component = &self.components[bound.component];
        let mut keys: Vec<&[u64]> = vec![&[]; component.keys()];
        for (key, id) in &*self.keys[bound.component] {
            keys[*id as usize] = key;
        }
        let mut numbers = Vec::with_capacity(component.len());
        for (key, list) in keys.iter().zip(component.offsets.windows(2)) {
            for (variable, &code) in bound.keys.iter().zip(*key) {
                env[variable.index()] = match scope.variables[variable.index()].sort {
                    ColumnSort::Sort(_) => Cell::Individual(code as u32),
                    ColumnSort::Int => Cell::Int(code as i64),
                    ColumnSort::Real => Cell::Real(f64::from_bits(code)),
                };
            }
            for tuple in list[0]..list[1] {
                self.bind(scope, bound, tuple as usize, &mut env);
                numbers.push(number(&env));
            }
        }
        numbers
    }
}

/// The values of some variables, for hashing.
pub(crate) fn codes(variables: &[VarId], env: &[Cell]) -> Box<[u64]> {
    variables.iter().map(|v| env[v.index()].code()).collect()
}

/// The components that bind `wanted`, or on which the keys of those depend, from the outside in; others do not matter.
pub(crate) fn relevant<'b>(around: &'b [Arc<Bound>], wanted: &[VarId]) -> Vec<&'b Bound> {
    let mut needed: Vec<VarId> = wanted.to_vec();
    let mut relevant: Vec<&Bound> = Vec::new();
    // From the inside out, since the variables of a component's key are bound further out.
    for bound in around.iter().rev() {
        if bound.variables.iter().any(|v| needed.contains(v)) {
            relevant.push(bound);
            needed.extend(&bound.keys);
        }
    }
    relevant.reverse();
    relevant
}

/// Variables that some condition ties together belong to one component, the others each to their own;
/// conditions without any of them make a component that keeps everything or nothing.
pub(crate) fn groups<'g>(
    variables: &[VarId],
    conditions: Vec<&'g Guard>,
) -> Vec<(Vec<VarId>, Vec<&'g Guard>)> {
    let things = variables.len() + conditions.len();
    let tied = connected(things, |i, visit| match i.checked_sub(variables.len()) {
        None => visit(variables[i].0),
        Some(at) => (free_variables(conditions[at]).iter())
            .filter(|v| variables.contains(v))
            .for_each(|v| visit(v.0)),
    });
    let group = |members: Vec<u32>| {
        let (mut own, mut tie) = (Vec::new(), Vec::new());
        for i in members {
            match (i as usize).checked_sub(variables.len()) {
                None => own.push(variables[i as usize]),
                Some(at) => tie.push(conditions[at]),
            }
        }
        own.sort_unstable();
        tie.sort_by_key(|g: &&Guard| g.span.start);
        (own, tie)
    };
    // The order of the text for the conditions, that of the binder for the components.
    let mut groups: Vec<(Vec<VarId>, Vec<&Guard>)> = tied.into_iter().map(group).collect();
    groups.sort_by_key(|(vs, _)| vs.first().copied());
    groups
}
