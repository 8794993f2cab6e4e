//! Shared subformulas: a part of a formula that reads fewer variables than are bound around it is computed once for each
//! binding of those that it reads, and a part that is in several places, of whatever axioms, once for all of them.
//!
//! Such a part becomes a stratum, and what it says is read like a literal. Values, gradients and counts stay as they are: a
//! part goes only if no `exists` in it can be empty and it has as many bindings whatever is around it.

mod contract;
mod group;
mod key;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::compile::{Prepared, Problem};
use super::cost::work;
use super::eliminate::never_empty;
use super::ground::{Bound, Shared};
use super::normal::{Kind, Normal};
use super::program::ComponentSource;
use super::strata::{self, SharedPart, StratumForm};
use crate::guard::{Scope, tables};
use crate::memory;
use crate::operators::Space;
use crate::recursion::deep;
use crate::theory::*;
use contract::Sides;
use key::Keys;

/// Formulas with more parts are left as they are: each part is looked at as a whole.
const MOST_PARTS: usize = 2000;

/// The most bindings that a part is computed for.
const MOST_TUPLES: f64 = (1 << 23) as f64;

/// What a binding of a stratum takes in memory: its code, value, derivatives.
const PER_TUPLE: f64 = 64.0;

/// What a stratum costs however small it is, in operations.
const OVERHEAD: f64 = 20_000.0;

/// A formula whose parts may be shared: an axiom, or a part that is.
struct Root<'a> {
    scope: Scope<'a>,
    axiom: usize,
    stratum: Option<usize>,
    normal: Normal,
    around: Vec<Around>,
}

impl Root<'_> {
    /// Takes the formula out, to be put back.
    fn take(&mut self) -> Normal {
        let nothing = Normal::new(Kind::Constant(true), self.normal.span);
        std::mem::replace(&mut self.normal, nothing)
    }
}

/// What is bound around a formula, one list of tuples.
#[derive(Clone)]
struct Around {
    variables: Vec<VarId>,
    /// How many tuples there are for a binding of what is around, and how many all in all.
    each: f64,
    all: f64,
    /// Whether these are all combinations there can be.
    every: bool,
}

/// A part that could be shared.
struct Part {
    /// What it says, whatever its variables are called.
    key: String,
    /// The variables that it reads, those of the largest sort last.
    parameters: Vec<VarId>,
    /// If there is a quantifier in it: how many bindings it has.
    groundings: Option<u128>,
    /// How many bindings it is computed for where it is, and how many differ in what it reads.
    bindings: f64,
    distinct: f64,
    work: f64,
    /// What computing it once for each of these costs.
    once: f64,
    every: bool,
    /// If it is a product of matrices.
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

/// Makes strata of the parts that these axioms share.
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
    /// The parts for which it pays, by key, with what it costs before and after.
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
            // Another place of one that is computed anyway.
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
        parts(&root.normal) <= MOST_PARTS && !self.reads_batches(&root.normal)
    }

    /// Rows of batched tables change from step to step, and with them what is asked.
    fn reads_batches(&self, normal: &Normal) -> bool {
        let batched = |t: TableId| {
            let table = self.problem.data.table(t);
            table.is_none_or(|t| t.batched)
        };
        let own = match &normal.kind {
            Kind::Quantifier { binding, guard, .. } => {
                let rows = matches!(binding, Binding::Rows(table, _) if batched(*table));
                rows || guard.iter().any(|g| tables(g).into_iter().any(batched))
            }
            _ => false,
        };
        own || deep(|| normal.children().any(|c| self.reads_batches(c)))
    }

    /// Cuts each `exists` over several variables that what is inside reads few of, and conjunctions of which some members do.
    fn nest(&mut self, root: &mut Root<'a>) {
        if !self.can_share(root) {
            return;
        }
        let mut normal = root.take();
        Walk::new(self, root).nest(&mut normal);
        root.normal = normal;
    }

    /// Puts uses of strata into the places of the chosen parts.
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

    /// A stratum for a part; its number, unless its tuples cannot be numbered.
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
                Some((left, right))
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

    /// The stratum of one side of a contraction, which is asked about all tuples there can be.
    fn side(
        &mut self,
        root: &Root<'a>,
        (variables, normal): &(Vec<VarId>, Normal),
        costs: [f64; 3],
        found: &mut Vec<Root<'a>>,
    ) -> Option<usize> {
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
        contraction: Option<(usize, usize)>,
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

/// Goes through the parts of a formula, the larger ones first.
struct Walk<'w, 'a, 's> {
    share: &'w mut Share<'a, 's>,
    scope: Scope<'a>,
    around: Vec<Around>,
    /// The same where guards look at it, as long as all of it is listed.
    bounds: Vec<Arc<Bound>>,
    listed: bool,
    /// Whether truth degrees are computed here, and not yet their logs.
    degrees: bool,
}

impl<'w, 'a, 's> Walk<'w, 'a, 's> {
    fn new(share: &'w mut Share<'a, 's>, root: &Root<'a>) -> Walk<'w, 'a, 's> {
        let degrees = share.problem.semantics.space != Space::Mixed || root.stratum.is_some();
        Walk {
            share,
            scope: root.scope,
            around: root.around.clone(),
            bounds: Vec::new(),
            // A part has no guards that look outside.
            listed: true,
            degrees,
        }
    }

    fn visit(&mut self, normal: &Normal, root: bool, visit: &mut dyn FnMut(Part)) {
        if !root && let Some(part) = self.part(normal) {
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
        if !root
            && let Some(part) = self.part(normal)
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
        while let Some(nested) =
            contract::nested(self.scope, self.share.problem.semantics, &outside, normal)
        {
            *normal = nested;
        }
        if let Some(grouped) = group::grouped(self.scope, self.share.problem.semantics, normal) {
            *normal = grouped;
        }
        let shell = Normal::new(shell(&normal.kind), normal.span);
        self.inside(&shell, |this| {
            deep(|| normal.children_mut().for_each(|c| this.nest(c)));
        });
    }

    /// Under what a formula binds.
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

    /// What a quantifier binds. Guards of `forall`s are listed, as grounding will do anyway; those of `exists` might never be.
    fn bind(&mut self, forall: bool, binding: &Binding, guard: Option<&Guard>) {
        let (scope, lists) = (self.scope, &mut self.share.shared.lists);
        if self.listed
            && (forall || guard.is_none())
            && let Ok(bound) = lists.quantifier(scope, &self.bounds, binding, guard)
        {
            for bound in bound {
                let component = &lists.components[bound.component];
                let all = component.len() as f64;
                self.around.push(Around {
                    variables: bound.variables.clone(),
                    each: all / component.keys().max(1) as f64,
                    all,
                    every: matches!(component.source, ComponentSource::Sort(_)),
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
                    // Nobody knows yet what a guard will leave.
                    each: if guard.is_some() { all.sqrt() } else { all },
                    all,
                    every: false,
                });
            }
        }
    }

    /// What is to be known of a part, if it can be shared.
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
            true => Some(self.groundings(normal).filter(|n| *n > 0)?),
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
            .flatten();
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
        // Where all combinations there can be are asked for it may be a product, with its parameters in another order.
        key.push_str(if sides.is_some() { "product" } else { "part" });
        Some(Part {
            key,
            parameters,
            groundings,
            bindings,
            distinct,
            work,
            // A stratum goes forward twice: once for the values, once more before it goes back.
            once: (sides.as_ref()).map_or(distinct * (1.5 * work + 4.0), |s| s.cost),
            every,
            sides,
        })
    }

    /// How many bindings a formula has, if that is the same whatever is around it.
    fn groundings(&self, normal: &Normal) -> Option<u128> {
        if normal.groundings.is_some() {
            return normal.groundings;
        }
        match &normal.kind {
            Kind::Quantifier {
                binding,
                guard,
                body,
                ..
            } => {
                if guard.is_some() {
                    return None;
                }
                let size = match binding {
                    Binding::Rows(table, _) => self.scope.data.table(*table)?.rows as u128,
                    Binding::Sorts(variables) => {
                        let sizes = variables.iter().map(|v| u128::from(self.scope.size_of(*v)));
                        sizes.fold(1, u128::saturating_mul)
                    }
                };
                Some(size.saturating_mul(deep(|| self.groundings(body))?))
            }
            _ => {
                let mut product = 1_u128;
                for (i, inner) in normal.children().enumerate() {
                    let own = deep(|| self.groundings(inner))?;
                    // The second half of an equivalence binds the same variables again.
                    if i == 0 || !normal.equivalence {
                        product = product.saturating_mul(own);
                    }
                }
                Some(product)
            }
        }
    }
}

/// What a formula is, without what is in it.
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

fn parts(normal: &Normal) -> usize {
    1 + deep(|| normal.children().map(parts).sum::<usize>())
}
