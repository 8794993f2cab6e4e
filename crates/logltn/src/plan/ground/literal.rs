//! From atoms to literals: the request of each, and what each component in scope adds to its place in the request's
//! table.

use std::sync::Arc;

use super::{Bound, Ground};
use crate::data::FunctionData;
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{Cell, Scope, term_variables};
use crate::plan::applied::{Applied, Tree, Values};
use crate::plan::program::*;
use crate::source::Span;
use crate::theory::*;

/// When two maps are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::plan) enum MapKey {
    /// Parts of a request's code: strides with their terms, and the constant part.
    Rows {
        component: usize,
        request: usize,
        form: Vec<(u64, Form)>,
        base: u64,
    },
    /// The class that something in the tuple picks.
    Class { component: usize, form: Form },
    /// The key of a component inside.
    Key { component: usize, keyed: usize },
}

/// An argument that is not fixed, its number of values, and its stride in the row's code.
#[derive(Clone)]
struct RowPart {
    leaf: Leaf,
    extent: u64,
    stride: u64,
}

/// The argument that a tuple gives, whatever the names of its variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::plan) enum Form {
    /// The value at a place.
    Place(usize),
    /// The value of functions given by data, with variables as places.
    Computed(Term),
}

/// An argument's individual, number or vector.
#[derive(Clone)]
pub(crate) enum Leaf {
    Fixed(u32),
    Bound(VarId),
    /// The value of functions given by data at the variables.
    Computed(Term),
}

impl Leaf {
    fn variables(&self) -> Vec<VarId> {
        match self {
            Leaf::Fixed(_) => Vec::new(),
            Leaf::Bound(variable) => vec![*variable],
            Leaf::Computed(term) => {
                let mut found = Vec::new();
                term_variables(term, &mut found);
                found.sort_unstable();
                found.dedup();
                found
            }
        }
    }
}

impl Scope<'_> {
    /// How an argument is built from terms that do not depend on anything learnt; these are added to `leaves`.
    pub fn argument(&self, term: &Term, leaves: &mut Vec<(Leaf, ArgumentShape)>) -> ArgumentShape {
        match &term.kind {
            TermKind::Apply(function, arguments) if self.data.function(*function).is_none() => {
                let arguments = arguments.iter().map(|a| self.argument(a, leaves));
                ArgumentShape::Apply(*function, arguments.collect())
            }
            _ => {
                let (leaf, shape) = self.leaf(term);
                leaves.push((leaf, shape.clone()));
                shape
            }
        }
    }

    /// Terms that do not depend on anything learnt.
    pub fn leaf(&self, term: &Term) -> (Leaf, ArgumentShape) {
        let sorted =
            |sort: Option<SortId>| sort.map_or(ArgumentShape::Number, ArgumentShape::Individual);
        let shape = match &term.kind {
            TermKind::Apply(function, _) => match self.theory()[*function].result {
                ArgumentSort::Vector(width) if width != 1 => ArgumentShape::Row(*function),
                _ => sorted(self.sort_of(term)),
            },
            _ => sorted(self.sort_of(term)),
        };
        let leaf = match &term.kind {
            TermKind::Variable(id) => Leaf::Bound(*id),
            TermKind::Apply(..) => Leaf::Computed(term.clone()),
            _ => Leaf::Fixed(0),
        };
        match leaf.variables().is_empty() {
            true => (Leaf::Fixed(self.index_named(term, &[])), shape),
            false => (leaf, shape),
        }
    }

    /// The individual, the number or the vector that a term names, by its index.
    fn index_named(&self, term: &Term, env: &[Cell]) -> u32 {
        let data = self.data;
        match &term.kind {
            TermKind::Variable(id) => self.index_of(env[id.index()]),
            TermKind::Number(x) => data.number_index(x.0),
            TermKind::Apply(function, arguments) => {
                let row = self.function_row(*function, arguments, env);
                match data.function(*function).map(AsRef::as_ref) {
                    Some(FunctionData::Individuals(values)) => values[row],
                    Some(FunctionData::Reals(values))
                        if self.theory()[*function].result == ArgumentSort::Vector(1) =>
                    {
                        data.number_index(values[row])
                    }
                    _ => row as u32,
                }
            }
            _ => self.individual(term, env),
        }
    }

    fn index_of(&self, cell: Cell) -> u32 {
        match cell {
            Cell::Individual(index) => index,
            Cell::Int(n) => self.data.number_index(n as f64),
            Cell::Real(x) => self.data.number_index(x),
        }
    }

    /// What it names under a binding, by its index.
    pub fn leaf_index(&self, leaf: &Leaf, env: &[Cell]) -> u32 {
        match leaf {
            Leaf::Fixed(index) => *index,
            Leaf::Bound(variable) => self.index_of(env[variable.index()]),
            Leaf::Computed(term) => self.index_named(term, env),
        }
    }
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
            .map(|a| self.scope.argument(a, &mut leaves))
            .collect();
        let request = self.request(predicate, shape, span)?;
        self.shared.requests[request].occurs[usize::from(negated)] = true;

        let slot = self.new_slot();
        if let Some(class) = class {
            self.class(predicate, class, slot)?;
        }
        self.row(request, &leaves, slot, span)?;
        Ok(NodeKind::Literal {
            request,
            negated,
            slot,
        })
    }

    /// The value of a stratum at a tuple, which is thereby asked for.
    pub(super) fn ask(
        &mut self,
        stratum: usize,
        arguments: &[Term],
        negated: bool,
        span: Span,
    ) -> Result<NodeKind, Diagnostic> {
        let mut leaves = Vec::new();
        for argument in arguments {
            self.scope.argument(argument, &mut leaves);
        }
        self.shared.requests[stratum].occurs[usize::from(negated)] = true;
        let slot = self.new_slot();
        self.row(stratum, &leaves, slot, span)?;
        self.collect(stratum, &leaves, span)?;
        Ok(NodeKind::Use {
            stratum,
            negated,
            slot,
        })
    }

    /// Records which tuples of a stratum are asked for.
    fn collect(
        &mut self,
        stratum: usize,
        leaves: &[(Leaf, ArgumentShape)],
        span: Span,
    ) -> Result<(), Diagnostic> {
        if self.shared.strata.is_closed(stratum) {
            return Ok(());
        }
        let strides = strides(&self.shared.requests[stratum].extents).unwrap_or_default();
        let mut variables: Vec<VarId> = leaves.iter().flat_map(|(l, _)| l.variables()).collect();
        variables.sort_unstable();
        variables.dedup();
        if self.needs_every_row(leaves, &self.owners(&variables)) {
            self.shared.strata.asked[stratum].push_every();
            return Ok(());
        }
        let mut asked = std::mem::take(&mut self.shared.strata.asked[stratum]);
        let scope = self.scope;
        let around = super::relevant(&self.around, &variables);
        let lists = &self.shared.lists;
        let had_room = lists.walk(scope, &around, &variables, &mut |env| {
            let parts = leaves.iter().zip(&strides);
            let code =
                parts.map(|((leaf, _), stride)| u64::from(scope.leaf_index(leaf, env)) * stride);
            asked.push(code.sum())
        });
        self.shared.strata.asked[stratum] = asked;
        match had_room && !self.shared.strata.asked[stratum].is_full() {
            true => Ok(()),
            false => Err(self
                .shared
                .lists
                .account
                .too_much(None, scope.theory(), span)),
        }
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
            ArgumentShape::Individual(sort) => extents.push(self.scope.data.extent(*sort) as u64),
            ArgumentShape::Number => extents.push(self.scope.data.number_extent()),
            ArgumentShape::Row(function) => {
                let rows = self.scope.data.function_rows(*function);
                extents.push(rows.unwrap_or(0) as u64);
            }
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
        if let TermKind::Apply(function, _) = &class.kind
            && self.scope.data.function(*function).is_none()
        {
            let name = &self.scope.theory()[*function].name;
            let help = format!("if its values are known, give those of `{name}` as data");
            return Err(wrong("a learnt function's value").help(help));
        }
        let (leaf, shape) = self.scope.leaf(class);
        let variables = leaf.variables();
        let owners = self.owners(&variables);
        match (leaf, owners.as_slice()) {
            (Leaf::Fixed(index), _) => {
                let data = self.scope.data;
                let is_beyond = |sort| !data.waits_for(sort) && index as usize >= data.size(sort);
                if matches!(shape, ArgumentShape::Individual(sort) if is_beyond(sort)) {
                    return Err(wrong("a learnable constant"));
                }
                self.program.slots[slot].plain = index;
            }
            (leaf, [owner]) => {
                let bound = &self.around[*owner];
                let key = MapKey::Class {
                    component: bound.component,
                    form: form(bound, &leaf),
                };
                self.map(slot, *owner, key, |this, owner| {
                    MapValues::Plain(this.per_tuple(owner, |env| this.scope.leaf_index(&leaf, env)))
                })?;
            }
            (leaf, _) => {
                let part = RowPart {
                    leaf,
                    extent: 0,
                    stride: 1,
                };
                self.apply_across(None, vec![part], slot, class.span)?;
            }
        }
        Ok(())
    }

    /// The arguments that name the row.
    fn row(
        &mut self,
        request: usize,
        leaves: &[(Leaf, ArgumentShape)],
        slot: usize,
        span: Span,
    ) -> Result<(), Diagnostic> {
        let extents = self.shared.requests[request].extents.clone();
        let mut base = 0;
        let mut parts: Vec<RowPart> = Vec::new();
        let strides = strides(&extents).unwrap_or_default();
        for (((leaf, _), &stride), &extent) in leaves.iter().zip(&strides).zip(&extents) {
            match leaf {
                Leaf::Fixed(index) => base += u64::from(*index) * stride,
                _ => parts.push(RowPart {
                    leaf: leaf.clone(),
                    extent,
                    stride,
                }),
            }
        }
        let variables: Vec<VarId> = parts.iter().flat_map(|p| p.leaf.variables()).collect();
        let owners = self.owners(&variables);
        if owners.iter().any(|&o| self.component(o).batched.is_some()) {
            self.shared.requests[request].dynamic = true;
        }
        // The fixed arguments have been added already.
        if self.shared.requests[request].predicate == NO_PREDICATE {
            // A stratum numbers its tuples itself.
        } else if request < self.shared.fixed.requests {
            self.shared.requests[request].dynamic = true;
        } else if self.needs_every_row(leaves, &owners) {
            self.shared.requests[request].complete = true;
        }
        let alone = self.determines_alone(&owners, &variables);
        match alone.as_ref().map_or(&owners[..], std::slice::from_ref) {
            [] => {
                self.program.slots[slot].row = Some((request, base));
                self.shared.requests[request].constant_codes.push(base);
            }
            [owner] => {
                let bound = &self.around[*owner];
                let form = parts.iter().map(|p| (p.stride, form(bound, &p.leaf)));
                let key = MapKey::Rows {
                    component: bound.component,
                    request,
                    form: form.collect(),
                    base,
                };
                self.map(slot, *owner, key, |this, owner| {
                    let codes = this.per_tuple(owner, |env| base + this.code(env, &parts));
                    MapValues::Rows { request, codes }
                })?;
            }
            several => {
                let across = |p: &RowPart| self.owners(&p.leaf.variables()).len() > 1;
                if parts.iter().any(across) {
                    parts.extend(
                        leaves
                            .iter()
                            .zip(&strides)
                            .filter_map(|((leaf, _), &stride)| {
                                let fixed = matches!(leaf, Leaf::Fixed(_));
                                fixed.then(|| RowPart {
                                    leaf: leaf.clone(),
                                    extent: 1,
                                    stride,
                                })
                            }),
                    );
                    return self.apply_across(Some(request), parts, slot, span);
                }
                let wide = self.new_wide_slot(base);
                for &owner in several {
                    let is_own = |p: &&RowPart| self.owners(&p.leaf.variables()) == [owner];
                    let own: Vec<_> = parts.iter().filter(is_own).cloned().collect();
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

    /// The component whose tuples determine a row by themselves: each is in the list of one key, so that it knows outer
    /// variables too. Of a batch only some lists are needed, of which rows are looked up.
    fn determines_alone(&self, owners: &[usize], variables: &[VarId]) -> Option<usize> {
        let (&last, others) = owners.split_last()?;
        let bound = &self.around[last];
        let known = |v: &VarId| bound.variables.contains(v) || bound.keys.contains(v);
        let batched = owners.iter().any(|&o| self.component(o).batched.is_some());
        let alone = !others.is_empty() && !batched && variables.iter().all(known);
        (alone && self.shared.counting.is_some()).then_some(last)
    }

    /// Arguments some of which are values of functions of variables of several components: the components add up a
    /// code of the variables, which the functions turn into the code of the arguments.
    fn apply_across(
        &mut self,
        request: Option<usize>,
        parts: Vec<RowPart>,
        slot: usize,
        span: Span,
    ) -> Result<(), Diagnostic> {
        // What the components determine: arguments that one of them determines alone, and the variables of the
        // others.
        let mut digits: Vec<(Leaf, u64)> = Vec::new();
        for part in &parts {
            let variables = part.leaf.variables();
            match self.owners(&variables).len() {
                0 => {}
                1 => digits.push((part.leaf.clone(), part.extent)),
                _ => {
                    for variable in variables {
                        let extent = u64::from(self.scope.size_of(variable)).max(1);
                        digits.push((Leaf::Bound(variable), extent));
                    }
                }
            }
        }
        let extents: Vec<u64> = digits.iter().map(|d| d.1).collect();
        let Some(strides) = strides(&extents) else {
            let what = "the arguments of this function have more combinations than can be numbered";
            return Err(Diagnostic::error(Code::TooManyBindings, what).at(
                &self.scope.theory().source,
                span,
                "",
            ));
        };
        let mut places = strides
            .iter()
            .zip(&extents)
            .map(|(&stride, &extent)| Tree::Digit { stride, extent });
        let mut arguments = Vec::with_capacity(parts.len());
        for part in &parts {
            let variables = part.leaf.variables();
            let tree = match (&part.leaf, self.owners(&variables).len()) {
                (Leaf::Fixed(index), _) => Tree::Fixed(*index),
                (Leaf::Computed(term), 2..) => {
                    let own: Vec<(VarId, Tree)> =
                        variables.into_iter().zip(places.by_ref()).collect();
                    self.tree(term, &own)
                }
                _ => places.next().unwrap_or(Tree::Fixed(0)),
            };
            arguments.push((tree, part.stride));
        }
        let digits: Vec<RowPart> = (digits.into_iter().zip(strides))
            .map(|((leaf, extent), stride)| RowPart {
                leaf,
                extent,
                stride,
            })
            .collect();
        let variables: Vec<VarId> = digits.iter().flat_map(|d| d.leaf.variables()).collect();
        let owners = self.owners(&variables);
        let wide = self.new_wide_slot(0);
        for &owner in &owners {
            let is_own = |d: &&RowPart| self.owners(&d.leaf.variables()) == [owner];
            let own: Vec<_> = digits.iter().filter(is_own).cloned().collect();
            self.account_for_places(owner)?;
            let values = self.per_tuple(owner, |env| self.code(env, &own));
            self.use_wide_map(wide, owner, values);
        }
        self.program.applied.push(Applied { arguments });
        let functions = self.program.applied.len() - 1;
        let table = ResolveTable::Applied { functions, request };
        self.resolve(&owners, Resolve { wide, slot, table });
        Ok(())
    }

    /// A term whose variables are digits of a code.
    fn tree(&self, term: &Term, digits: &[(VarId, Tree)]) -> Tree {
        match &term.kind {
            TermKind::Variable(id) => {
                let digit = digits.iter().find(|(v, _)| v == id);
                digit.map_or(Tree::Fixed(0), |(_, digit)| digit.clone())
            }
            TermKind::Apply(function, arguments) => {
                let data = self.scope.data;
                let sorts = self.scope.theory()[*function].arguments.iter();
                let sizes = sorts.map(|sort| match sort {
                    ArgumentSort::Sort(sort) => data.size(*sort) as u64,
                    ArgumentSort::Vector(_) => 1,
                });
                let arguments = arguments.iter().map(|a| self.tree(a, digits)).zip(sizes);
                let values = match (
                    data.function(*function),
                    self.scope.theory()[*function].result,
                ) {
                    (Some(values), ArgumentSort::Sort(_)) => Values::Given(Arc::clone(values)),
                    (Some(values), ArgumentSort::Vector(1)) => match values.as_ref() {
                        FunctionData::Reals(values) => {
                            Values::Numbered(values.iter().map(|&x| data.number_index(x)).collect())
                        }
                        FunctionData::Individuals(_) => Values::Row,
                    },
                    _ => Values::Row,
                };
                Tree::Function {
                    values,
                    arguments: arguments.collect(),
                }
            }
            _ => Tree::Fixed(self.scope.index_named(term, &[])),
        }
    }

    /// Whether the literal runs over every row of the predicate: each argument is a different variable over all
    /// individuals of its sort.
    fn needs_every_row(&self, leaves: &[(Leaf, ArgumentShape)], owners: &[usize]) -> bool {
        let unguarded = |&o: &usize| matches!(self.component(o).source, ComponentSource::Sort(_));
        owners.len() == leaves.len()
            && owners.iter().all(unguarded)
            && (leaves.iter()).all(|(leaf, shape)| {
                matches!((leaf, shape), (Leaf::Bound(_), ArgumentShape::Individual(sort))
                    if self.scope.data.extent(*sort) == self.scope.data.size(*sort))
            })
    }

    /// Lets a component add to a slot, by a map that is made if it does not exist yet.
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

    /// What these parts add to a row's code.
    fn code(&self, env: &[Cell], parts: &[RowPart]) -> u64 {
        let part = |p: &RowPart| u64::from(self.scope.leaf_index(&p.leaf, env)) * p.stride;
        parts.iter().map(part).sum()
    }

    fn per_tuple<T>(&self, owner: usize, number: impl FnMut(&[Cell]) -> T) -> Vec<T> {
        let owner = &self.around[owner];
        self.shared.lists.per_tuple(self.scope, owner, number)
    }
}

/// The argument that the owner's tuple gives: the same for every axiom that asks in the same way.
fn form(owner: &Bound, leaf: &Leaf) -> Form {
    let place = |v: VarId| {
        let mut known = owner.variables.iter().chain(&owner.keys);
        known.position(|o| *o == v).unwrap_or(0)
    };
    match leaf {
        Leaf::Fixed(_) => Form::Place(0), // which has no owner
        Leaf::Bound(variable) => Form::Place(place(*variable)),
        Leaf::Computed(term) => {
            let mut term = term.clone();
            term.visit_mut(&mut |mut part| {
                part.forget_place();
                part.rename(|variable| VarId(place(variable) as u32));
            });
            Form::Computed(term)
        }
    }
}

/// The stride of each digit of a mixed-radix number; `None` if 64 bits are too few.
pub(crate) fn strides(extents: &[u64]) -> Option<Vec<u64>> {
    let mut strides = vec![1_u64; extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i].checked_mul(extents[i])?;
    }
    let first = extents.first().zip(strides.first());
    first
        .is_none_or(|(e, s)| e.checked_mul(*s).is_some())
        .then_some(strides)
}
