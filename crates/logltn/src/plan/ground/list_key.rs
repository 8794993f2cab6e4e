//! When the lists of two guards are the same, whatever the names and places of their variables.

use rustc_hash::FxHashMap;

use super::lists::Bound;
use crate::data::Data;
use crate::guard::{Scope, tables};
use crate::plan::program::ComponentSource;
use crate::theory::*;

/// The tuples of a component depend on this, on the data, and on nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ListKey {
    /// All individuals or rows.
    All(ComponentSource),
    Guarded {
        rows_of: Option<TableId>,
        /// Without places in the text, and with variables numbered: first those that the tuples bind, then outer
        /// ones, then those that the guard itself binds.
        conditions: Vec<Guard>,
        /// The sorts of the variables that the tuples or the guard bind.
        sorts: Vec<ColumnSort>,
        /// For each outer variable, the component around that binds it, and its place in the tuples.
        outer: Vec<(usize, usize)>,
        /// The components that bind the outer variables of the guard, and what those components depend on.
        around: Vec<usize>,
    },
    /// The tuples of a component that differ in these places, counted.
    Counted { of: usize, places: Vec<usize> },
}

impl ListKey {
    /// The key of the tuples of some variables, or the rows of a table, that `conditions` keep. `outer` are the outer
    /// variables.
    pub fn guarded(
        scope: &Scope,
        variables: &[VarId],
        rows_of: Option<TableId>,
        conditions: &[&Guard],
        outer: &[VarId],
        around: &[&Bound],
    ) -> ListKey {
        let mut numbered = [variables, outer].concat();
        let mut number = |id: VarId| {
            let known = numbered.iter().position(|v| *v == id);
            let number = known.unwrap_or_else(|| {
                numbered.push(id);
                numbered.len() - 1
            });
            VarId(number as u32)
        };
        let conditions = conditions.iter().map(|&condition| {
            let mut condition = condition.clone();
            condition.visit_mut(&mut |mut part| {
                part.forget_place();
                part.rename(&mut number);
            });
            condition
        });
        let conditions = conditions.collect();
        let inner = &numbered[variables.len() + outer.len()..];
        let sort = |v: &VarId| scope.variables[v.index()].sort;
        ListKey::Guarded {
            rows_of,
            conditions,
            sorts: variables.iter().chain(inner).map(sort).collect(),
            outer: outer.iter().filter_map(|v| place(around, *v)).collect(),
            around: around.iter().map(|b| b.component).collect(),
        }
    }
}

impl ListKey {
    /// Whether the lists depend on a call's data, apart from the components around.
    pub fn is_streamed(&self, data: &Data) -> bool {
        match self {
            ListKey::All(ComponentSource::Sort(sort)) => data.streams_sort(*sort),
            ListKey::All(ComponentSource::Rows(table)) => data.streams_table(*table),
            ListKey::All(_) | ListKey::Counted { .. } => false,
            ListKey::Guarded {
                rows_of,
                conditions,
                sorts,
                ..
            } => {
                let mut tables = conditions.iter().flat_map(tables).chain(*rows_of);
                let sort =
                    |s: &ColumnSort| matches!(s, ColumnSort::Sort(s) if data.streams_sort(*s));
                tables.any(|t| data.streams_table(t)) || sorts.iter().any(sort)
            }
        }
    }

    /// The same with other numbers of components; `None` if one is gone.
    pub fn moved(mut self, to: &FxHashMap<usize, usize>) -> Option<ListKey> {
        let components = match &mut self {
            ListKey::All(_) => &mut [][..],
            ListKey::Guarded { around, .. } => around,
            ListKey::Counted { of, .. } => std::slice::from_mut(of),
        };
        for component in components {
            *component = *to.get(component)?;
        }
        Some(self)
    }
}

/// Which of some components binds a variable, and where in its tuples.
pub(super) fn place(around: &[&Bound], variable: VarId) -> Option<(usize, usize)> {
    let mut around = around.iter().enumerate();
    around.find_map(|(i, b)| Some((i, b.variables.iter().position(|v| *v == variable)?)))
}
