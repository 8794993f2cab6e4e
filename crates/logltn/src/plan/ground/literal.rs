//! Atoms to literals: which request they belong to, and how each component in scope adds to their place
//! in its table.

use super::{Bound, Ground};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{Cell, Scope};
use crate::plan::program::*;
use crate::source::Span;
use crate::theory::*;

/// What makes two maps the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::plan) enum MapKey {
    /// Parts of a request's code: strides and places in the tuple, and the constant part.
    Rows {
        component: usize,
        request: usize,
        form: Vec<(u64, usize)>,
        base: u64,
    },
    /// The class that a place in the tuple picks.
    Class { component: usize, place: usize },
    /// The key of a component inside.
    Key { component: usize, keyed: usize },
}

/// An argument's individual.
#[derive(Clone, Copy)]
pub(crate) enum Leaf {
    Fixed(u32),
    Bound(VarId),
}

impl Leaf {
    /// How an argument is made of individuals and numbers, which are added to `leaves`.
    pub fn shape(
        scope: &Scope,
        term: &Term,
        leaves: &mut Vec<(Leaf, Option<SortId>)>,
    ) -> ArgumentShape {
        match &term.kind {
            TermKind::Apply(function, arguments) => {
                let arguments = arguments.iter().map(|a| Leaf::shape(scope, a, leaves));
                ArgumentShape::Apply(*function, arguments.collect())
            }
            _ => {
                let (leaf, sort) = Leaf::of(scope, term);
                leaves.push((leaf, sort));
                sort.map_or(ArgumentShape::Number, ArgumentShape::Individual)
            }
        }
    }

    /// An individual and its sort, or a number, which has none.
    pub fn of(scope: &Scope, term: &Term) -> (Leaf, Option<SortId>) {
        match &term.kind {
            TermKind::Variable(id) => {
                let sort = match scope.variables[id.index()].sort {
                    ColumnSort::Sort(sort) => Some(sort),
                    ColumnSort::Int | ColumnSort::Real => None,
                };
                (Leaf::Bound(*id), sort)
            }
            TermKind::Individual(sort, index) => (Leaf::Fixed(*index), Some(*sort)),
            TermKind::Constant(id) => (
                Leaf::Fixed(scope.data.constant_index(*id)),
                Some(scope.theory()[*id].sort),
            ),
            TermKind::Number(x) => (Leaf::Fixed(scope.data.number_index(x.0)), None),
            TermKind::Apply(function, _) => match scope.theory()[*function].result {
                ArgumentSort::Sort(sort) => (Leaf::Fixed(0), Some(sort)),
                ArgumentSort::Vector(_) => (Leaf::Fixed(0), None),
            },
        }
    }

    /// Its part of a row's code is this times the stride.
    pub fn index(self, scope: &Scope, env: &[Cell]) -> u32 {
        match self {
            Leaf::Fixed(index) => index,
            Leaf::Bound(variable) => match env[variable.index()] {
                Cell::Individual(index) => index,
                Cell::Int(n) => scope.data.number_index(n as f64),
                Cell::Real(x) => scope.data.number_index(x),
            },
        }
    }
}

/// What each leaf counts for in the code of a row.
pub(crate) fn strides(extents: &[u64]) -> Vec<u64> {
    let mut strides = vec![1_u64; extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i] * extents[i];
    }
    strides
}

impl Ground<'_> {
    pub(super) fn literal(
        &mut self,
        predicate: PredicateId,
        arguments: &[Term],
        negated: bool,
        span: Span,
    ) -> Result<NodeKind, Diagnostic> {
        let output = self.outputs[predicate.index()];
        let (class, arguments) = match (output.per_class, arguments.split_last()) {
            (true, Some((class, rest))) => (Some(class), rest),
            _ => (None, arguments),
        };
        let mut leaves = Vec::new();
        let shape: Vec<_> = (arguments.iter())
            .map(|a| Leaf::shape(&self.scope, a, &mut leaves))
            .collect();
        let request = self.request(predicate, shape, span)?;
        self.shared.requests[request].occurs[usize::from(negated)] = true;

        let slot = self.new_slot();
        if let Some(class) = class {
            self.class(predicate, class, slot)?;
        }
        self.row(request, &leaves, slot)?;
        Ok(NodeKind::Literal {
            request,
            negated,
            slot,
        })
    }

    fn request(
        &mut self,
        predicate: PredicateId,
        shape: Vec<ArgumentShape>,
        span: Span,
    ) -> Result<usize, Diagnostic> {
        let key = (predicate, shape);
        if let Some(&known) = self.shared.request_index.get(&key) {
            return Ok(known);
        }
        let mut extents = Vec::new();
        key.1.iter().for_each(|s| self.extents(s, &mut extents));
        let grid = extents.iter().try_fold(1_u64, |n, e| n.checked_mul(*e));
        if grid.is_none() {
            return Err(Diagnostic::error(
                Code::TooManyBindings,
                format!(
                    "predicate `{}` has more possible arguments than can be numbered",
                    self.scope.theory()[predicate].name
                ),
            )
            .at(&self.scope.theory().source, span, ""));
        }
        let width = match (
            self.outputs[predicate.index()].per_class,
            self.scope.theory()[predicate].arguments.last(),
        ) {
            (true, Some(ArgumentSort::Sort(sort))) => self.scope.data.size(*sort),
            _ => 1,
        };
        self.shared.requests.push(RequestPlan {
            predicate,
            shape: key.1.clone(),
            complete: extents.is_empty(),
            extents,
            width,
            dynamic: false,
            occurs: [false; 2],
            constant_codes: Vec::new(),
            span,
        });
        self.shared
            .request_index
            .insert(key, self.shared.requests.len() - 1);
        Ok(self.shared.requests.len() - 1)
    }

    fn extents(&self, shape: &ArgumentShape, extents: &mut Vec<u64>) {
        match shape {
            ArgumentShape::Individual(sort) => {
                extents.push(self.scope.data.extent(*sort).max(1) as u64)
            }
            ArgumentShape::Number => extents.push(self.scope.data.number_extent().max(1)),
            ArgumentShape::Apply(_, arguments) => {
                arguments.iter().for_each(|a| self.extents(a, extents));
            }
        }
    }

    /// The last argument of a predicate that answers for all classes at once.
    fn class(
        &mut self,
        predicate: PredicateId,
        class: &Term,
        slot: usize,
    ) -> Result<(), Diagnostic> {
        let wrong = |what: &str| {
            Diagnostic::error(
                Code::ComputedClass,
                format!(
                    "the last argument of `{}` picks the class, so it cannot be {what}",
                    self.scope.theory()[predicate].name
                ),
            )
            .at(&self.scope.theory().source, class.span, "")
        };
        if matches!(class.kind, TermKind::Apply(..)) {
            return Err(wrong("a function's value"));
        }
        match Leaf::of(&self.scope, class) {
            (Leaf::Fixed(index), sort) => {
                if sort.is_some_and(|sort| index as usize >= self.scope.data.size(sort)) {
                    return Err(wrong("a learnable constant"));
                }
                self.program.slots[slot].plain = index;
            }
            (Leaf::Bound(variable), _) => {
                let Some(owner) = self.owners(&[variable]).first().copied() else {
                    return Ok(());
                };
                let bound = &self.around[owner];
                let place = (bound.variables.iter()).position(|v| *v == variable);
                let key = MapKey::Class {
                    component: bound.component,
                    place: place.unwrap_or(0),
                };
                self.map(slot, owner, key, |this, owner| {
                    let class = |env: &[Cell]| env[variable.index()].individual();
                    MapValues::Plain(this.per_tuple(owner, class))
                })?;
            }
        }
        Ok(())
    }

    /// The arguments that name the row.
    fn row(
        &mut self,
        request: usize,
        leaves: &[(Leaf, Option<SortId>)],
        slot: usize,
    ) -> Result<(), Diagnostic> {
        let strides = strides(&self.shared.requests[request].extents);
        let mut base = 0;
        let mut bound: Vec<(VarId, u64)> = Vec::new();
        for ((leaf, _), stride) in leaves.iter().zip(&strides) {
            match leaf {
                Leaf::Fixed(index) => base += u64::from(*index) * stride,
                Leaf::Bound(variable) => bound.push((*variable, *stride)),
            }
        }
        let variables: Vec<VarId> = bound.iter().map(|(v, _)| *v).collect();
        let owners = self.owners(&variables);
        if owners.iter().any(|&o| self.component(o).batched.is_some()) {
            self.shared.requests[request].dynamic = true;
        }
        // What is fixed has been laid out already.
        if request < self.shared.fixed.requests {
            self.shared.requests[request].dynamic = true;
        } else if self.needs_every_row(leaves, &owners) {
            self.shared.requests[request].complete = true;
        }
        match owners.as_slice() {
            [] => {
                self.program.slots[slot].row = Some((request, base));
                self.shared.requests[request].constant_codes.push(base);
            }
            [owner] => {
                let key = MapKey::Rows {
                    component: self.around[*owner].component,
                    request,
                    form: form(&self.around[*owner], &bound),
                    base,
                };
                self.map(slot, *owner, key, |this, owner| {
                    let codes = this.per_tuple(owner, |env| base + this.code(env, &bound));
                    MapValues::Rows { request, codes }
                })?;
            }
            several => {
                let wide = self.new_wide_slot(base);
                for &owner in several {
                    let own: Vec<_> = (bound.iter().copied())
                        .filter(|(v, _)| self.around[owner].variables.contains(v))
                        .collect();
                    self.account_for_places(owner)?;
                    let values = self.per_tuple(owner, |env| self.code(env, &own));
                    self.use_wide_map(wide, owner, values);
                }
                let table = ResolveTable::Request(request);
                self.resolve(several, Resolve { wide, slot, table });
            }
        }
        Ok(())
    }

    /// Whether the literal runs over every row that the predicate could be asked about: each argument a
    /// variable of its own, over all individuals of its sort.
    fn needs_every_row(&self, leaves: &[(Leaf, Option<SortId>)], owners: &[usize]) -> bool {
        let unguarded = |&o: &usize| matches!(self.component(o).source, ComponentSource::Sort(_));
        owners.len() == leaves.len()
            && owners.iter().all(unguarded)
            && (leaves.iter()).all(|(leaf, sort)| {
                matches!((leaf, sort), (Leaf::Bound(_), Some(sort))
                    if self.scope.data.extent(*sort) == self.scope.data.size(*sort))
            })
    }

    /// Lets a component add to a slot, by a map that is made if it is not there yet.
    fn map(
        &mut self,
        slot: usize,
        owner: usize,
        key: MapKey,
        values: impl FnOnce(&Self, usize) -> MapValues,
    ) -> Result<(), Diagnostic> {
        let map = match self.shared.map_index.get(&key) {
            Some(&known) => known,
            None => {
                self.account_for_places(owner)?;
                let map = self.add_map(owner, values(self, owner));
                self.shared.map_index.insert(key, map);
                map
            }
        };
        self.use_map(slot, owner, map);
        Ok(())
    }

    pub(super) fn account_for_places(&mut self, owner: usize) -> Result<(), Diagnostic> {
        let bound = &self.around[owner];
        let lists = &mut self.shared.lists;
        let places = lists.components[bound.component].len();
        let span = self.scope.variables[bound.variables[0].index()].span;
        lists.account.take_places(places, self.scope.theory(), span)
    }

    fn component(&self, owner: usize) -> &Component {
        &self.shared.lists.components[self.around[owner].component]
    }

    /// The part of a row's code that these variables are.
    fn code(&self, env: &[Cell], parts: &[(VarId, u64)]) -> u64 {
        let index = |v: VarId| Leaf::Bound(v).index(&self.scope, env);
        let part = |(v, stride): &(VarId, u64)| u64::from(index(*v)) * stride;
        parts.iter().map(part).sum()
    }

    fn per_tuple<T>(&self, owner: usize, number: impl FnMut(&[Cell]) -> T) -> Vec<T> {
        let owner = &self.around[owner];
        self.shared.lists.per_tuple(self.scope, owner, number)
    }
}

/// Strides and places in the owner's tuple: the same for every axiom that asks in the same way.
fn form(owner: &Bound, bound: &[(VarId, u64)]) -> Vec<(u64, usize)> {
    let place = |v: VarId| owner.variables.iter().position(|o| *o == v).unwrap_or(0);
    bound
        .iter()
        .map(|&(v, stride)| (stride, place(v)))
        .collect()
}
