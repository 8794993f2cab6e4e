//! Shared subformulas: a part of a formula that reads fewer variables than are bound around it is computed once for
//! each binding of those that it reads, and a part that occurs in several places, in any axioms, once for all of them.
//!
//! Such a part becomes a stratum, whose values are read like literals. Values, gradients and counts do not change: a
//! part is moved only if no `exists` in it can be empty and the number of its bindings does not depend on outer
//! variables.

mod contract;
mod group;
mod key;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::compile::{Prepared, Problem};
use super::cost::work;
use super::eliminate::never_empty;
use super::ground::{Bound, Shared};
use super::normal::{Bindings, Kind, Normal};
use super::strata::{self, SharedPart, StratumForm};
use crate::guard::{Scope, free_variables, tables};
use crate::memory;
use crate::operators::Space;
use crate::recursion::deep;
use crate::theory::*;
use contract::{Side, Sides};
use key::Keys;

/// Formulas with more parts are left unchanged, since each part is examined whole.
const MOST_PARTS: usize = 2000;

/// The most bindings for which a part is computed.
const MOST_TUPLES: f64 = (1 << 23) as f64;

/// The memory of a stratum's binding: its code, value, derivatives.
const PER_TUPLE: f64 = 64.0;

/// The fixed cost of a stratum, in operations.
const OVERHEAD: f64 = 20_000.0;

/// A formula whose parts may be shared: an axiom, or a shared part.
struct Root<'a> {
    scope: Scope<'a>,
    axiom: usize,
    stratum: Option<usize>,
    normal: Normal,
    around: Vec<Around>,
}

impl Root<'_> {
    /// Takes the formula out; it has to be put back.
    fn take(&mut self) -> Normal {
        let nothing = Normal::new(Kind::Constant(true), self.normal.span);
        std::mem::replace(&mut self.normal, nothing)
    }
}

/// The variables bound around a formula by one list of tuples.
#[derive(Clone)]
struct Around {
    variables: Vec<VarId>,
    /// How many tuples there are for an outer binding, and in total.
    each: f64,
    all: f64,
    /// Whether each of them runs over all of its individuals.
    every: bool,
}

/// A part that could be shared.
struct Part {
    /// Its formula, independent of variable names.
    key: String,
    /// The variables that it reads, those of the largest sort last.
    parameters: Vec<VarId>,
    /// The number of its bindings, if it contains a quantifier.
    groundings: Option<Bindings>,
    /// For how many bindings it is computed in its place, and how many of these differ in the variables that it
    /// reads.
    bindings: f64,
    distinct: f64,
    work: f64,
    /// The cost of computing it once for each of the latter.
    once: f64,
    every: bool,
    /// The contraction, if it is a product of matrices.
    sides: Option<Sides>,
}

/// All places of a part.
#[derive(Default)]
struct Places {
    bindings: f64,
    distinct: f64,
    work: f64,
    once: f64,
}

impl Places {
    fn cost_before(&self) -> f64 {
        self.bindings * self.work
    }

    fn cost_after(&self) -> f64 {
        self.once + 3.0 * self.bindings
    }

    fn pays(&self) -> bool {
        self.cost_after() + OVERHEAD < 0.75 * self.cost_before()
    }

    fn fits(&self) -> bool {
        let bytes = (self.distinct * PER_TUPLE) as u128;
        self.distinct <= MOST_TUPLES && memory::ask(bytes).is_ok()
    }
}

struct Share<'a, 's> {
    problem: Problem<'a>,
    shared: &'s mut Shared,
    /// The strata of parts that are shared, by key.
    known: FxHashMap<String, usize>,
}

/// Turns the parts that these axioms share into strata.
pub(super) fn apply<'a>(problem: Problem<'a>, shared: &mut Shared, axioms: &mut [Prepared<'a>]) {
    let mut share = Share {
        problem,
        shared,
        known: FxHashMap::default(),
    };
    let mut roots: Vec<Root> = (axioms.iter_mut())
        .map(|axiom| Root {
            scope: axiom.scope,
            axiom: axiom.index,
            stratum: None,
            normal: axiom.take(),
            around: Vec::new(),
        })
        .collect();
    for root in &mut roots {
        share.nest(root);
    }
    loop {
        let chosen = share.choose(&roots);
        if chosen.is_empty() {
            break;
        }
        for at in 0..roots.len() {
            let mut found = Vec::new();
            share.replace_in(&mut roots[at], &chosen, &mut found);
            roots.extend(found);
        }
    }
    for (at, mut root) in roots.into_iter().enumerate() {
        group::flatten(problem.semantics, &mut root.normal);
        match root.stratum {
            None => axioms[at].normal = root.normal,
            Some(stratum) => {
                share.shared.strata.forms[stratum].formulas[0] = Some(root.normal);
            }
        }
    }
}

impl<'a> Share<'a, '_> {
    /// The parts for which it pays, by key, with the costs before and after.
    fn choose(&mut self, roots: &[Root<'a>]) -> FxHashMap<String, Places> {
        let mut places: FxHashMap<String, Places> = FxHashMap::default();
        for root in roots {
            self.each_part(root, &mut |part| {
                let own = places.entry(part.key).or_default();
                own.bindings += part.bindings;
                own.distinct = own.distinct.max(part.distinct);
                own.once = own.once.max(part.once);
                own.work = part.work;
            });
        }
        let always = self.problem.options.always;
        places.retain(|key, places| {
            // Another place of a part that is computed anyway.
            let known = self.known.contains_key(key) && places.work > 4.0;
            places.fits() && (always || known || places.pays())
        });
        places
    }

    fn each_part(&mut self, root: &Root<'a>, visit: &mut dyn FnMut(Part)) {
        if !self.can_share(root) {
            return;
        }
        let mut walk = Walk::new(self, root);
        walk.visit(&root.normal, true, visit);
    }

    fn can_share(&self, root: &Root) -> bool {
        root.normal.parts().count() <= MOST_PARTS
            && !root.normal.parts().any(|part| self.reads_batches(part))
    }

    /// Rows of batched tables change from step to step, and with them the tuples that are needed.
    fn reads_batches(&self, normal: &Normal) -> bool {
        let batched = |t: TableId| {
            let table = self.problem.data.table(t);
            table.is_none_or(|t| t.batched)
        };
        match &normal.kind {
            Kind::Quantifier { binding, guard, .. } => {
                let rows = matches!(binding, Binding::Rows(table, _) if batched(*table));
                rows || guard.iter().any(|g| tables(g).into_iter().any(batched))
            }
            _ => false,
        }
    }

    /// Splits each `exists` over several variables whose parts read few of them, and conjunctions of which some members
    /// do.
    fn nest(&mut self, root: &mut Root<'a>) {
        if !self.can_share(root) {
            return;
        }
        let mut normal = root.take();
        Walk::new(self, root).nest(&mut normal);
        root.normal = normal;
    }

    /// Replaces the chosen parts by uses of strata.
    fn replace_in(
        &mut self,
        root: &mut Root<'a>,
        chosen: &FxHashMap<String, Places>,
        found: &mut Vec<Root<'a>>,
    ) {
        if !self.can_share(root) {
            return;
        }
        let mut normal = root.take();
        let mut walk = Walk::new(self, root);
        walk.replace(&mut normal, true, &mut |share, part, at| {
            let places = chosen.get(&part.key)?;
            let stratum = match share.known.get(&part.key) {
                Some(&known) => known,
                None => share.add(root, &part, at, places, found)?,
            };
            let argument = |v: &VarId| Term {
                kind: TermKind::Variable(*v),
                span: at.span,
            };
            let kind = Kind::Use {
                stratum,
                arguments: part.parameters.iter().map(argument).collect(),
                negated: false,
            };
            let mut used = Normal::new(kind, at.span);
            used.groundings = part.groundings;
            Some(used)
        });
        root.normal = normal;
    }

    /// Adds a stratum for a part. Returns its number, unless its tuples cannot be numbered.
    fn add(
        &mut self,
        root: &Root<'a>,
        part: &Part,
        normal: &Normal,
        places: &Places,
        found: &mut Vec<Root<'a>>,
    ) -> Option<usize> {
        let costs = [places.bindings, places.cost_before(), places.cost_after()];
        let contraction = match &part.sides {
            None => None,
            Some(sides) => {
                let [left, right] = &sides.sides;
                let left = self.side(root, left, costs, found)?;
                let right = self.side(root, right, costs, found)?;
                Some((left, right, sides.linear))
            }
        };
        let form = self.form(root, &part.parameters, normal, contraction, costs);
        let stratum = strata::add(self.problem, self.shared, form)?;
        self.known.insert(part.key.clone(), stratum);
        if contraction.is_none() {
            let (each, every) = (part.distinct, part.every);
            found.push(self.root(root, stratum, &part.parameters, normal, each, every));
        }
        Some(stratum)
    }

    /// The stratum of one side of a contraction, which is computed for all tuples that its guard keeps.
    fn side(
        &mut self,
        root: &Root<'a>,
        side: &Side,
        costs: [f64; 3],
        found: &mut Vec<Root<'a>>,
    ) -> Option<usize> {
        let (variables, normal) = (&side.variables, &side.formula);
        if let Some(guard) = &side.guard {
            let lists = &mut self.shared.lists;
            let binding = Binding::Sorts(variables.clone());
            let bound = (lists.quantifier(root.scope, &[], &binding, Some(guard))).ok()?;
            let form = self.form(root, variables, normal, None, costs);
            let stratum = strata::add(self.problem, self.shared, form)?;
            let kept = strata::ask(self.shared, root.scope, stratum, &bound)?;
            self.shared.requests[stratum].occurs[0] = true;
            found.push(self.root(root, stratum, variables, normal, kept as f64, false));
            return Some(stratum);
        }
        let mut keys = Keys::new(root.scope);
        keys.normal(normal);
        let key = keys.finish_with(variables);
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        let form = self.form(root, variables, normal, None, costs);
        let stratum = strata::add(self.problem, self.shared, form)?;
        self.shared.strata.asked[stratum].push_every();
        self.shared.requests[stratum].occurs[0] = true;
        self.known.insert(key, stratum);
        let sizes = variables.iter().map(|v| f64::from(root.scope.size_of(*v)));
        found.push(self.root(root, stratum, variables, normal, sizes.product(), true));
        Some(stratum)
    }

    fn form(
        &self,
        root: &Root,
        parameters: &[VarId],
        normal: &Normal,
        contraction: Option<(usize, usize, bool)>,
        [bindings, cost_before, cost_after]: [f64; 3],
    ) -> StratumForm {
        let variables = root.scope.variables;
        let theory = root.scope.theory();
        let axiom = &theory.axioms[root.axiom];
        StratumForm {
            name: format!("shared_{}", self.shared.strata.forms.len()),
            variables: variables.into(),
            parameters: parameters.to_vec(),
            formulas: [None, None],
            written: Arc::new(axiom.formula.clone()),
            depth: None,
            span: normal.span,
            contraction,
            shared: Some(SharedPart {
                axiom: axiom.name.clone(),
                formula: theory.whole_normal_text(variables, normal),
                parameters: (parameters.iter())
                    .map(|v| variables[v.index()].name.clone())
                    .collect(),
                bindings,
                cost_before,
                cost_after,
            }),
        }
    }

    fn root(
        &self,
        root: &Root<'a>,
        stratum: usize,
        parameters: &[VarId],
        normal: &Normal,
        each: f64,
        every: bool,
    ) -> Root<'a> {
        let all = Around {
            variables: parameters.to_vec(),
            each,
            all: each,
            every,
        };
        Root {
            scope: root.scope,
            axiom: root.axiom,
            stratum: Some(stratum),
            normal: normal.clone(),
            around: (!parameters.is_empty())
                .then_some(all)
                .into_iter()
                .collect(),
        }
    }
}

/// Visits the parts of a formula, larger ones first.
struct Walk<'w, 'a, 's> {
    share: &'w mut Share<'a, 's>,
    scope: Scope<'a>,
    around: Vec<Around>,
    /// The same where guards read it, as long as all of it is listed.
    bounds: Vec<Arc<Bound>>,
    listed: bool,
    /// Whether this place has truth degrees, not yet logs.
    degrees: bool,
    /// Whether the formula is that of a stratum.
    stratum: bool,
}

impl<'w, 'a, 's> Walk<'w, 'a, 's> {
    fn new(share: &'w mut Share<'a, 's>, root: &Root<'a>) -> Walk<'w, 'a, 's> {
        let degrees = share.problem.semantics.space != Space::Mixed || root.stratum.is_some();
        Walk {
            share,
            scope: root.scope,
            around: root.around.clone(),
            bounds: Vec::new(),
            // A part has no guards that read outer variables.
            listed: true,
            degrees,
            stratum: root.stratum.is_some(),
        }
    }

    fn visit(&mut self, normal: &Normal, root: bool, visit: &mut dyn FnMut(Part)) {
        if let Some(part) = self.part_at(normal, root) {
            visit(part);
        }
        self.inside(normal, |this| {
            deep(|| normal.children().for_each(|c| this.visit(c, false, visit)));
        });
    }

    fn replace(
        &mut self,
        normal: &mut Normal,
        root: bool,
        put: &mut dyn FnMut(&mut Share<'a, 's>, Part, &Normal) -> Option<Normal>,
    ) {
        if let Some(part) = self.part_at(normal, root)
            && let Some(other) = put(self.share, part, normal)
        {
            *normal = other;
            return;
        }
        let shell = Normal::new(shell(&normal.kind), normal.span);
        self.inside(&shell, |this| {
            deep(|| {
                normal
                    .children_mut()
                    .for_each(|c| this.replace(c, false, put));
            });
        });
    }

    fn nest(&mut self, normal: &mut Normal) {
        let outside: Vec<VarId> = (self.around.iter().filter(|a| a.each > 3.0))
            .flat_map(|a| a.variables.iter().copied())
            .collect();
        let (scope, semantics) = (self.scope, self.share.problem.semantics);
        let always = self.share.problem.options.always;
        while let Some(nested) = contract::nested(scope, semantics, &outside, normal, always) {
            *normal = nested;
        }
        if let Some(grouped) = group::grouped(scope, semantics, normal) {
            *normal = grouped;
        }
        let shell = Normal::new(shell(&normal.kind), normal.span);
        self.inside(&shell, |this| {
            deep(|| normal.children_mut().for_each(|c| this.nest(c)));
        });
    }

    /// Runs `go` with the variables that a formula binds in scope.
    fn inside(&mut self, normal: &Normal, go: impl FnOnce(&mut Self)) {
        let (around, bounds) = (self.around.len(), self.bounds.len());
        let (degrees, listed) = (self.degrees, self.listed);
        self.degrees |= matches!(normal.kind, Kind::Log(_));
        if let Kind::Quantifier {
            forall,
            binding,
            guard,
            ..
        } = &normal.kind
        {
            self.bind(*forall, binding, guard.as_deref());
        }
        go(self);
        self.around.truncate(around);
        self.bounds.truncate(bounds);
        self.degrees = degrees;
        self.listed = listed;
    }

    /// The variables of a quantifier. Guards of `forall`s are listed, as grounding will do anyway; those of `exists`
    /// might never be needed.
    fn bind(&mut self, forall: bool, binding: &Binding, guard: Option<&Guard>) {
        let (scope, lists) = (self.scope, &mut self.share.shared.lists);
        if self.listed
            && (forall || guard.is_none())
            && let Ok(bound) = lists.quantifier(scope, &self.bounds, binding, guard)
        {
            for bound in bound {
                let every = lists.names_all(scope, &bound);
                let component = &lists.components[bound.component];
                let all = component.len() as f64;
                self.around.push(Around {
                    variables: bound.variables.clone(),
                    each: all / component.keys().max(1) as f64,
                    all,
                    every,
                });
                self.bounds.push(bound);
            }
            return;
        }
        self.listed = false;
        let size = |v: &VarId| f64::from(scope.size_of(*v));
        match (binding, guard) {
            (Binding::Sorts(variables), None) => {
                self.around.extend(variables.iter().map(|v| Around {
                    variables: vec![*v],
                    each: size(v),
                    all: size(v),
                    every: true,
                }));
            }
            _ => {
                let all = match binding {
                    Binding::Rows(table, _) => {
                        scope.data.table(*table).map_or(0.0, |t| t.rows as f64)
                    }
                    Binding::Sorts(variables) => variables.iter().map(size).product(),
                };
                self.around.push(Around {
                    variables: binding.variables().to_vec(),
                    // What a guard will keep is not known yet.
                    each: if guard.is_some() { all.sqrt() } else { all },
                    all,
                    every: false,
                });
            }
        }
    }

    /// The description of a part, if it can be shared. All of a stratum is one only as a product of matrices, of which
    /// the stratum is then a copy: one side of a product may be another product.
    fn part_at(&mut self, normal: &Normal, root: bool) -> Option<Part> {
        let part = (!root || self.stratum).then(|| self.part(normal)).flatten();
        part.filter(|part| !root || part.sides.is_some())
    }

    /// The description of a part that is not all of an axiom.
    fn part(&mut self, normal: &Normal) -> Option<Part> {
        let can = match &normal.kind {
            Kind::Constant(_) | Kind::Literal { .. } | Kind::Use { .. } => false,
            Kind::Log(_) | Kind::SumProduct(_) => false,
            _ => self.degrees,
        };
        if !can {
            return None;
        }
        let mut keys = Keys::new(self.scope);
        keys.normal(normal);
        let mut parameters = keys.free();
        let quantified = normal.has_quantifier();
        let bound = || self.around.iter().flat_map(|a| &a.variables);
        let reads_all = bound().all(|v| parameters.contains(v));
        if !quantified && reads_all && !self.share.problem.options.always {
            return None;
        }
        let individual = |v: &VarId| {
            let sort = self.scope.variables[v.index()].sort;
            matches!(sort, ColumnSort::Sort(_))
        };
        if !parameters.iter().all(individual) {
            return None;
        }
        let groundings = match quantified {
            true => Some(self.groundings(normal).filter(|n| {
                let outer = |(binding, guard): &(Binding, Arc<Guard>)| {
                    let read = free_variables(guard);
                    let own = binding.variables();
                    (read.iter()).all(|v| own.contains(v) || parameters.contains(v))
                };
                n.times > 0 && n.kept.iter().all(outer)
            })?),
            false => None,
        };
        if !never_empty(self.scope, normal) {
            return None;
        }
        let every = (self.around.iter())
            .filter(|a| a.variables.iter().any(|v| parameters.contains(v)))
            .all(|a| a.every);
        let semantics = self.share.problem.semantics;
        let sides = every
            .then(|| Sides::of(self.scope, semantics, normal))
            .flatten()
            .filter(|sides| sides.sides.iter().all(|side| self.names_all(side)));
        match &sides {
            Some(sides) => parameters = sides.parameters(),
            None => parameters.sort_by_key(|v| self.scope.size_of(*v)),
        }
        let bindings = self.around.iter().map(|a| a.each).product();
        let distinct = (self.around.iter())
            .map(|around| {
                let own = (around.variables.iter()).filter(|v| parameters.contains(v));
                let sizes = own.map(|v| f64::from(self.scope.size_of(*v)));
                around.all.min(sizes.product())
            })
            .product();
        let work = work(&self.scope, normal);
        let mut key = keys.finish_with(&parameters);
        // Where all possible combinations are needed, it may be a product of matrices, with its parameters in another
        // order.
        key.push_str(if sides.is_some() { "product" } else { "part" });
        Some(Part {
            key,
            parameters,
            groundings,
            bindings,
            distinct,
            work,
            // A stratum's forward pass runs twice: once for the values, once more before the backward pass.
            once: (sides.as_ref()).map_or(distinct * (1.5 * work + 4.0), |s| s.cost),
            every,
            sides,
        })
    }

    /// Whether a side's guard keeps something of each individual: the other side asks about all of them.
    fn names_all(&mut self, side: &Side) -> bool {
        let Some(guard) = &side.guard else {
            return true;
        };
        let (scope, lists) = (self.scope, &mut self.share.shared.lists);
        let binding = Binding::Sorts(side.variables.clone());
        let bound = lists.quantifier(scope, &[], &binding, Some(guard));
        bound.is_ok_and(|bound| bound.iter().all(|b| lists.names_all(scope, b)))
    }

    /// How many bindings a formula has. Guards must read no variables that are bound inside of it, except for their own.
    fn groundings(&self, normal: &Normal) -> Option<Bindings> {
        if normal.groundings.is_some() {
            return normal.groundings.clone();
        }
        let mut all = Bindings::from(1);
        match &normal.kind {
            Kind::Quantifier {
                binding,
                guard: Some(guard),
                ..
            } => all.kept.push((binding.clone(), guard.clone())),
            Kind::Quantifier { binding, .. } => {
                all.times = match binding {
                    Binding::Rows(table, _) => self.scope.data.table(*table)?.rows as u128,
                    Binding::Sorts(variables) => {
                        let sizes = variables.iter().map(|v| u128::from(self.scope.size_of(*v)));
                        sizes.fold(1, u128::saturating_mul)
                    }
                };
            }
            _ => {}
        }
        for (i, inner) in normal.children().enumerate() {
            let own = deep(|| self.groundings(inner))?;
            // The second half of an equivalence binds the same variables again.
            if i == 0 || !normal.equivalence {
                all.times = all.times.saturating_mul(own.times);
                all.kept.extend(own.kept);
            }
        }
        Some(all)
    }
}

/// The kind of a formula, without its parts.
fn shell(kind: &Kind) -> Kind {
    let nothing = || Box::new(Normal::new(Kind::Constant(true), Default::default()));
    match kind {
        Kind::Log(_) => Kind::Log(nothing()),
        Kind::Quantifier {
            forall,
            binding,
            guard,
            ..
        } => Kind::Quantifier {
            forall: *forall,
            binding: binding.clone(),
            guard: guard.clone(),
            body: nothing(),
        },
        _ => Kind::Constant(true),
    }
}
