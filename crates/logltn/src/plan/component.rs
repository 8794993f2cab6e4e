//! Building components: which variables a guard holds together, and the tuples that it keeps.

use rustc_hash::FxHashMap;

use super::build::Builder;
use super::literal::MapKey;
use super::program::*;
use crate::diagnostic::Diagnostic;
use crate::guard::{Cell, Join, Scope, conjuncts, free_variables};
use crate::theory::*;

/// A component in scope of the formula at hand.
#[derive(Clone, Debug)]
pub(super) struct InScope {
    pub component: usize,
    pub level: usize,
    /// Its place among the components of its level.
    pub position: usize,
    /// The variables that its tuples bind; for rows, one per column.
    pub variables: Vec<VarId>,
}

/// What building a component leaves behind for those inside it.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyIds {
    /// The outer variables that its guard looks at.
    pub variables: Vec<VarId>,
    pub ids: FxHashMap<Box<[u64]>, u32>,
}

/// The most numbers that the lists of one component may hold, however much memory there is.
const MAX_CELLS: usize = 1 << 31;

impl Builder<'_> {
    /// The components of a quantifier, in scope at `level`, with the slots that hold their keys.
    pub(super) fn components(
        &mut self,
        binding: &Binding,
        guard: Option<&Guard>,
        level: usize,
    ) -> Result<(Vec<InScope>, Vec<ComponentUse>), Diagnostic> {
        let conditions = guard.map(conjuncts).unwrap_or_default();
        // Where arithmetic can fail, the order of the text decides what is computed, so nothing is split.
        let guards = self.guard_scope();
        let whole = conditions.iter().any(|g| guards.may_fail(g));
        let groups = match binding {
            Binding::Sorts(variables) if !whole => groups(variables, conditions),
            Binding::Sorts(variables) | Binding::Rows(_, variables) => {
                vec![(variables.clone(), conditions)]
            }
        };
        let mut scope: Vec<InScope> = Vec::new();
        let mut uses = Vec::new();
        for (position, (variables, conditions)) in groups.into_iter().enumerate() {
            let (component, key_slot) = match (binding, conditions.is_empty()) {
                (Binding::Rows(table, _), true) => (self.all_rows(*table, variables[0])?, None),
                (Binding::Sorts(_), true) => (self.all_individuals(variables[0])?, None),
                (Binding::Rows(table, _), false) => {
                    self.guarded(&variables, Some(*table), &conditions)?
                }
                (Binding::Sorts(_), false) => self.guarded(&variables, None, &conditions)?,
            };
            scope.push(InScope {
                component,
                level,
                position,
                variables,
            });
            let names = |variables: &[VarId]| {
                let names = variables
                    .iter()
                    .map(|v| self.variables[v.index()].name.as_str());
                names.collect::<Vec<_>>().join(", ")
            };
            uses.push(ComponentUse {
                component,
                key_slot,
                names: names(&scope[position].variables),
                key_names: names(&self.key_ids[component].variables),
            });
        }
        Ok((scope, uses))
    }

    pub(super) fn all_individuals(&mut self, variable: VarId) -> Result<usize, Diagnostic> {
        let ColumnSort::Sort(sort) = self.variables[variable.index()].sort else {
            return Ok(0); // the resolver binds only sorts here
        };
        let size = self.data.size(sort) as u32;
        self.shared_component(ComponentSource::Sort(sort), size, None, variable)
    }

    fn all_rows(&mut self, table: TableId, variable: VarId) -> Result<usize, Diagnostic> {
        let (rows, batched) = match self.data.table(table) {
            Some(t) => (t.rows as u32, t.batched.then_some(table)),
            None => (0, None),
        };
        self.shared_component(ComponentSource::Rows(table), rows, batched, variable)
    }

    fn shared_component(
        &mut self,
        source: ComponentSource,
        size: u32,
        batched: Option<TableId>,
        variable: VarId,
    ) -> Result<usize, Diagnostic> {
        if let Some(&known) = self.shared_components.get(&source) {
            return Ok(known);
        }
        self.account_for_cells(u128::from(size), self.span_of(variable))?;
        self.components.push(Component {
            source: source.clone(),
            offsets: vec![0, size],
            tuples: (0..size).collect(),
            arity: 1,
            candidates: u128::from(size),
            method: String::new(),
            batched,
        });
        self.key_ids.push(KeyIds::default());
        self.shared_components
            .insert(source, self.components.len() - 1);
        Ok(self.components.len() - 1)
    }

    /// The tuples that a guard keeps, one list for each combination of the outer variables it looks at.
    fn guarded(
        &mut self,
        variables: &[VarId],
        rows_of: Option<TableId>,
        conditions: &[&Guard],
    ) -> Result<(usize, Option<usize>), Diagnostic> {
        let mut outer: Vec<VarId> = conditions.iter().flat_map(|g| free_variables(g)).collect();
        outer.sort_unstable();
        outer.dedup();
        outer.retain(|v| {
            let in_scope = |s: &InScope| s.variables.contains(v);
            !variables.contains(v) && self.scope.iter().any(in_scope)
        });

        let name = self.guard_name(variables, rows_of, conditions, &outer);
        if let Some(&known) = self.guarded_components.get(&name) {
            let keys = std::mem::take(&mut self.key_ids[known]);
            let key_slot = (!outer.is_empty()).then(|| self.key_slot(&keys, Some(known)));
            self.key_ids[known] = keys;
            return Ok((known, key_slot));
        }
        let mut tuples = Vec::new();
        let mut offsets = vec![0_u32];
        let mut keys = KeyIds {
            variables: outer.clone(),
            ids: FxHashMap::default(),
        };
        let scope = self.guard_scope();
        let join = match rows_of {
            Some(table) => Join::over_rows(scope, table, variables, conditions),
            None => Join::over_sorts(scope, variables, conditions),
        };
        let arity = if rows_of.is_some() {
            1
        } else {
            variables.len()
        };
        let room = self.account.cells_left().min(MAX_CELLS);
        let span = conditions[0].span.to(conditions[conditions.len() - 1].span);
        let mut env = self.env.clone();
        let mut failure = None;
        self.walk(&outer, &mut env, &mut |env| {
            let key: Box<[u64]> = outer.iter().map(|v| env[v.index()].code()).collect();
            if failure.is_some() || keys.ids.contains_key(&key) {
                return;
            }
            let start = tuples.len();
            let mut count = 0;
            let result = join.run(env, &mut |env, row| {
                count += 1;
                match rows_of {
                    Some(_) => tuples.push(row),
                    None => tuples.extend(variables.iter().map(|v| env[v.index()].code() as u32)),
                }
                tuples.len() <= room
            });
            if let Err(error) = result {
                failure = Some(scope.diagnose(&error));
            } else if tuples.len() > room {
                failure = Some(self.too_much(span));
            }
            sort_tuples(&mut tuples[start..], arity);
            keys.ids.insert(key, offsets.len() as u32 - 1);
            offsets.push(offsets[offsets.len() - 1] + count);
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        let sizes: u128 = match rows_of {
            Some(table) => self.data.table(table).map_or(0, |t| t.rows as u128),
            None => variables
                .iter()
                .map(|v| u128::from(scope.size_of(*v)))
                .product(),
        };
        let component = Component {
            source: ComponentSource::Guarded {
                variables: variables.to_vec(),
                rows_of,
            },
            candidates: sizes * keys.ids.len() as u128,
            method: join.describe(),
            batched: rows_of.filter(|t| self.data.table(*t).is_some_and(|t| t.batched)),
            offsets,
            tuples,
            arity,
        };
        self.account_for_cells(component.tuples.len() as u128, span)?;
        let known = self.components.len();
        self.components.push(component);
        self.guarded_components.insert(name, known);
        let key_slot = (!outer.is_empty()).then(|| self.key_slot(&keys, Some(known)));
        self.key_ids.push(keys);
        Ok((known, key_slot))
    }

    /// What makes the lists of two guards the same: their text and sorts, what `for`, `all` and `any` have fixed in
    /// them, and around those that look at outer variables the components that bind these.
    fn guard_name(
        &self,
        variables: &[VarId],
        rows_of: Option<TableId>,
        conditions: &[&Guard],
        outer: &[VarId],
    ) -> String {
        let mut name = format!("{rows_of:?}");
        let mut seen: Vec<VarId> = conditions.iter().flat_map(|g| free_variables(g)).collect();
        seen.sort_unstable();
        seen.dedup();
        // Which comes first decides on the places in the tuples.
        for id in variables.iter().chain(&seen) {
            let variable = &self.variables[id.index()];
            let fixed = self.fixed[id.index()].then(|| self.env[id.index()].code());
            name += &format!(" {}: {:?} {fixed:?}", variable.name, variable.sort);
        }
        for condition in conditions {
            name += " and ";
            name += &self.theory().guard_text(self.variables, condition);
        }
        if !outer.is_empty() {
            for around in self.relevant(outer) {
                name += &format!(" in {} {:?}", around.component, around.variables);
            }
            name += &format!(" for {outer:?}");
        }
        name
    }

    pub(super) fn guard_scope(&self) -> Scope<'_> {
        Scope {
            data: self.data,
            variables: self.variables,
            indexes: self.indexes,
        }
    }

    /// Visits every combination of the components in scope that bind `wanted`, directly or by way of the
    /// keys of those that do; the others cannot matter.
    pub(super) fn walk(
        &self,
        wanted: &[VarId],
        env: &mut Vec<Cell>,
        visit: &mut dyn FnMut(&mut Vec<Cell>),
    ) {
        self.walk_from(&self.relevant(wanted), env, visit);
    }

    /// The components that bind `wanted`, or what the keys of those depend on, from the outside in.
    fn relevant(&self, wanted: &[VarId]) -> Vec<&InScope> {
        let mut needed: Vec<VarId> = wanted.to_vec();
        let mut relevant: Vec<&InScope> = Vec::new();
        // From the inside out: a component's key is bound further out.
        for in_scope in self.scope.iter().rev() {
            if in_scope.variables.iter().any(|v| needed.contains(v)) {
                relevant.push(in_scope);
                needed.extend(&self.key_ids[in_scope.component].variables);
            }
        }
        relevant.reverse();
        relevant
    }

    fn walk_from(
        &self,
        rest: &[&InScope],
        env: &mut Vec<Cell>,
        visit: &mut dyn FnMut(&mut Vec<Cell>),
    ) {
        let Some((first, rest)) = rest.split_first() else {
            visit(env);
            return;
        };
        let key = self.key_of(first.component, env);
        let component = &self.components[first.component];
        let Some(key) = key else { return };
        let range = component.offsets[key as usize]..component.offsets[key as usize + 1];
        for tuple in range {
            self.bind_tuple(first, tuple as usize, env);
            self.walk_from(rest, env, visit);
        }
    }

    /// The key of a component under a binding of the outer variables.
    pub(super) fn key_of(&self, component: usize, env: &[Cell]) -> Option<u32> {
        self.key_in(&self.key_ids[component], env)
    }

    /// The number of the key that the outer variables make.
    pub(super) fn key_in(&self, keys: &KeyIds, env: &[Cell]) -> Option<u32> {
        if keys.variables.is_empty() {
            return Some(0);
        }
        let key: Box<[u64]> = keys
            .variables
            .iter()
            .map(|v| env[v.index()].code())
            .collect();
        keys.ids.get(&key).copied()
    }

    /// Binds the variables of a component to its `tuple`-th tuple.
    pub(super) fn bind_tuple(&self, in_scope: &InScope, tuple: usize, env: &mut [Cell]) {
        let component = &self.components[in_scope.component];
        let table = match &component.source {
            ComponentSource::Rows(table) => Some(*table),
            ComponentSource::Guarded { rows_of, .. } => *rows_of,
            ComponentSource::Sort(_) => None,
        };
        match table {
            Some(table) => {
                let row = component.tuples[tuple] as usize;
                self.guard_scope()
                    .bind_row(env, table, &in_scope.variables, row);
            }
            None => {
                let cells = &component.tuples[tuple * component.arity..];
                for (variable, &cell) in in_scope.variables.iter().zip(cells) {
                    env[variable.index()] = Cell::Individual(cell);
                }
            }
        }
    }

    /// A slot that holds the key id, made of what the outer components know. The keys of a component that several
    /// axioms share are mapped once.
    pub(super) fn key_slot(&mut self, keys: &KeyIds, of: Option<usize>) -> usize {
        let slot = self.new_slot(SlotBase::default());
        let owners = self.owners(&keys.variables);
        if let [owner] = owners.as_slice() {
            let owner = self.scope[*owner].clone();
            let name = of.map(|keyed| MapKey::Key {
                component: owner.component,
                keyed,
            });
            if let Some(&map) = name.as_ref().and_then(|n| self.map_index.get(n)) {
                self.use_map(slot, &owner, map);
                return slot;
            }
            let ids = self.per_tuple(&owner, |env| {
                let key: Box<[u64]> = (keys.variables.iter())
                    .map(|v| env[v.index()].code())
                    .collect();
                // Tuples that no outer binding reaches have no key, and are never asked for one.
                keys.ids.get(&key).copied().unwrap_or(0)
            });
            self.add_map(slot, &owner, MapValues::Plain(ids));
            if let Some(name) = name {
                self.map_index.insert(name, self.maps.len() - 1);
            }
            return slot;
        }
        // Several components: each numbers its own part, and the sum is looked up.
        let mut table = FxHashMap::default();
        let mut parts = Vec::new();
        let wide = self.new_wide_slot(0);
        let mut radix = 1_u64;
        for &owner in &owners {
            let owner = self.scope[owner].clone();
            let own: Vec<VarId> = (keys.variables.iter().copied())
                .filter(|v| owner.variables.contains(v))
                .collect();
            let mut numbers: FxHashMap<Vec<u64>, u64> = FxHashMap::default();
            let raw = self.per_tuple(&owner, |env| {
                let part: Vec<u64> = own.iter().map(|v| env[v.index()].code()).collect();
                let next = numbers.len() as u64;
                *numbers.entry(part).or_insert(next)
            });
            let values = raw.into_iter().map(|n| n * radix).collect();
            self.add_wide_map(wide, &owner, MapValues::Wide(values));
            let scale = radix;
            radix = radix.saturating_mul(numbers.len().max(1) as u64);
            numbers.values_mut().for_each(|n| *n *= scale);
            parts.push((own, numbers));
        }
        for (key, id) in &keys.ids {
            let code_of = |v: &VarId| keys.variables.iter().position(|k| k == v).map(|i| key[i]);
            let sum = parts.iter().try_fold(0_u64, |sum, (own, numbers)| {
                let part: Option<Vec<u64>> = own.iter().map(code_of).collect();
                Some(sum + numbers.get(&part?)?)
            });
            if let Some(sum) = sum {
                table.insert(sum, *id);
            }
        }
        self.program.key_tables.push(table);
        let level = owners
            .iter()
            .map(|&o| self.scope[o].level)
            .max()
            .unwrap_or(0);
        self.program.levels[level].resolves.push(Resolve {
            wide,
            slot,
            table: ResolveTable::Key(self.program.key_tables.len() - 1),
        });
        slot
    }

    /// The components in scope that bind some of the variables.
    pub(super) fn owners(&self, variables: &[VarId]) -> Vec<usize> {
        (0..self.scope.len())
            .filter(|&i| {
                self.scope[i]
                    .variables
                    .iter()
                    .any(|v| variables.contains(v))
            })
            .collect()
    }

    /// A number for each tuple of a component.
    pub(super) fn per_tuple<T>(
        &self,
        in_scope: &InScope,
        mut number: impl FnMut(&[Cell]) -> T,
    ) -> Vec<T> {
        let mut env = self.env.clone();
        (0..self.components[in_scope.component].len())
            .map(|tuple| {
                self.bind_tuple(in_scope, tuple, &mut env);
                number(&env)
            })
            .collect()
    }
}

fn sort_tuples(tuples: &mut [u32], arity: usize) {
    match arity {
        0 => {}
        1 => tuples.sort_unstable(),
        2 => {
            let (pairs, _) = tuples.as_chunks_mut::<2>();
            pairs.sort_unstable();
        }
        _ => {
            let mut list: Vec<Vec<u32>> = tuples.chunks(arity).map(<[u32]>::to_vec).collect();
            list.sort_unstable();
            for (place, tuple) in tuples.chunks_mut(arity).zip(list) {
                place.copy_from_slice(&tuple);
            }
        }
    }
}

/// Variables that some condition ties together belong to one component, the others each to their own;
/// conditions without any of them make a component that keeps everything or nothing.
pub(super) fn groups<'g>(
    variables: &[VarId],
    conditions: Vec<&'g Guard>,
) -> Vec<(Vec<VarId>, Vec<&'g Guard>)> {
    let mut groups: Vec<(Vec<VarId>, Vec<&Guard>)> =
        variables.iter().map(|v| (vec![*v], Vec::new())).collect();
    for condition in conditions {
        let free = free_variables(condition);
        let (mut tied, others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(vs, _)| vs.iter().any(|v| free.contains(v)));
        groups = others;
        let mut merged: (Vec<VarId>, Vec<&Guard>) = (Vec::new(), Vec::new());
        for (vs, cs) in tied.drain(..) {
            merged.0.extend(vs);
            merged.1.extend(cs);
        }
        merged.1.push(condition);
        groups.push(merged);
    }
    for (vs, _) in &mut groups {
        vs.sort_unstable();
    }
    // The order of the text for the conditions, that of the binder for the components.
    groups.sort_by_key(|(vs, _)| vs.first().copied());
    for (_, cs) in &mut groups {
        cs.sort_by_key(|g| g.span.start);
    }
    groups
}
