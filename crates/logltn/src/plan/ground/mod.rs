//! Grounding: formulas without variables. Guards become lists, atoms become rows of requests and places in their
//! answers, and each axiom becomes a program over them.

mod count;
mod keys;
mod list_key;
mod lists;
mod literal;
mod ranking;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Plan;
use super::account::Account;
use super::eliminate::never_empty;
use super::normal::{Bindings, Kind, Normal};
use super::program::*;
use super::strata::Strata;
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::Scope;
use crate::output::Output;
use crate::recursion::deep;
use crate::theory::*;

pub(super) use count::{count, groundings_before};
pub(crate) use lists::{Bound, Counting, Grounder, KeyIds, codes, groups, relevant};
use literal::MapKey;
pub(crate) use literal::{Leaf, strides};

/// The parts that the programs of all axioms share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub lists: Grounder,
    pub maps: Vec<Map>,
    map_index: FxHashMap<MapKey, usize>,
    pub requests: Vec<RequestPlan>,
    request_index: FxHashMap<(PredicateId, Vec<ArgumentShape>), usize>,
    /// Each has the request with its number.
    pub strata: Strata,
    /// Whether bindings that differ only in what the formula does not read are counted beforehand.
    pub counting: Option<Counting>,
    /// The parts that do not depend on rows of a call.
    pub fixed: Fixed,
}

/// The shared parts that stay when rows come with a call: the first few of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Fixed {
    pub components: usize,
    pub maps: usize,
    pub requests: usize,
    /// Unchanged copies, since later axioms may ask for more.
    as_they_were: Vec<RequestPlan>,
    account: Option<Account>,
}

impl Shared {
    pub fn new(lists: Grounder) -> Shared {
        Shared {
            lists,
            maps: Vec::new(),
            map_index: FxHashMap::default(),
            requests: Vec::new(),
            request_index: FxHashMap::default(),
            strata: Strata::default(),
            counting: None,
            fixed: Fixed::default(),
        }
    }

    /// For a formula by itself, which asks the requests of a plan.
    pub fn of_plan(lists: Grounder, plan: &Plan) -> Shared {
        let mut shared = Shared {
            strata: Strata::closed(plan.strata.strata.len()),
            ..Shared::new(lists)
        };
        for (number, request) in plan.requests.iter().enumerate() {
            let is_stratum = request.predicate == NO_PREDICATE;
            if !is_stratum {
                let key = (request.predicate, request.shape.clone());
                shared.request_index.entry(key).or_insert(number);
            }
            shared.requests.push(RequestPlan {
                complete: request.extents.is_empty() && !is_stratum,
                dynamic: false,
                occurs: [false; 2],
                constant_codes: Vec::new(),
                ..request.clone()
            });
        }
        shared
    }

    /// Everything so far stays.
    pub fn fix(&mut self) {
        self.fixed = Fixed {
            components: self.lists.components.len(),
            maps: self.maps.len(),
            requests: self.requests.len(),
            as_they_were: self.requests.clone(),
            account: Some(self.lists.account),
        };
    }

    /// Drops what is not fixed, except for lists of guards that do not depend on a call's data.
    pub fn forget(&mut self) {
        let fixed = &self.fixed;
        self.maps.truncate(fixed.maps);
        self.map_index.retain(|_, map| *map < fixed.maps);
        self.requests.clone_from(&fixed.as_they_were);
        self.request_index
            .retain(|_, request| *request < fixed.requests);
        if let Some(account) = fixed.account {
            self.lists.account = account;
        }
        self.lists.forget(fixed.components);
        self.strata.forget();
    }
}

/// Grounds one axiom.
struct Ground<'a> {
    scope: Scope<'a>,
    outputs: &'a [Output],
    shared: &'a mut Shared,
    program: Program,
    /// The variables bound around the current formula, and where.
    around: Vec<Arc<Bound>>,
    places: Vec<ComponentPlace>,
    level: usize,
    /// The slots that each level reads.
    reads: Vec<(usize, usize)>,
    wide_reads: Vec<(usize, usize)>,
    /// How many more quantifiers have bindings that are asked for one by one.
    ranked: usize,
}

/// Where a component is.
#[derive(Clone, Copy)]
struct ComponentPlace {
    level: usize,
    /// Its place among the components of its level.
    position: usize,
}

/// The program of an axiom. The bindings of this many quantifiers at its root can be asked for one by one.
pub(super) fn ground(
    scope: Scope,
    outputs: &[Output],
    shared: &mut Shared,
    normal: Normal,
    ranked: usize,
) -> Result<Program, Diagnostic> {
    let mut ground = Ground::new(scope, outputs, shared, ranked);
    ground.program.root = ground.formula(normal)?;
    ground.carry_slots();
    Ok(ground.program)
}

/// The program of a stratum, whose root quantifier runs over its tuples.
pub(super) fn ground_under(
    scope: Scope,
    outputs: &[Output],
    shared: &mut Shared,
    tuples: Vec<Arc<Bound>>,
    normal: Normal,
) -> Result<Program, Diagnostic> {
    let span = normal.span;
    let mut ground = Ground::new(scope, outputs, shared, 0);
    let (level, body) = ground.under(tuples, normal)?;
    ground.program.nodes.push(Node {
        kind: NodeKind::Quantifier {
            forall: true,
            level,
            body,
        },
        level: 0,
        equivalence: false,
        groundings: None,
        span,
    });
    ground.program.root = ground.program.nodes.len() - 1;
    ground.carry_slots();
    Ok(ground.program)
}

impl<'a> Ground<'a> {
    fn new(
        scope: Scope<'a>,
        outputs: &'a [Output],
        shared: &'a mut Shared,
        ranked: usize,
    ) -> Ground<'a> {
        let mut program = Program::default();
        program.levels.push(Level::default());
        Ground {
            scope,
            outputs,
            shared,
            program,
            around: Vec::new(),
            places: Vec::new(),
            level: 0,
            reads: Vec::new(),
            wide_reads: Vec::new(),
            ranked,
        }
    }

    fn formula(&mut self, normal: Normal) -> Result<usize, Diagnostic> {
        deep(|| self.formula_here(normal))
    }

    fn formula_here(&mut self, normal: Normal) -> Result<usize, Diagnostic> {
        let Normal {
            kind,
            span,
            equivalence,
            groundings,
        } = normal;
        let kind = match kind {
            Kind::Constant(truth) => NodeKind::Constant(truth),
            Kind::Literal {
                predicate,
                arguments,
                negated,
            } => self.literal(predicate, &arguments, negated, span)?,
            Kind::Use {
                stratum,
                arguments,
                negated,
            } => self.ask(stratum, &arguments, negated, span)?,
            Kind::Not(a) => NodeKind::Not(self.formula(*a)?),
            Kind::Log(a) => NodeKind::Log(self.formula(*a)?),
            Kind::Implies(a, b) => NodeKind::Implies(self.formula(*a)?, self.formula(*b)?),
            Kind::Iff(a, b) => NodeKind::Iff(self.formula(*a)?, self.formula(*b)?),
            Kind::And(members) => NodeKind::And(self.formulas(members)?),
            Kind::Or(members) => NodeKind::Or(self.formulas(members)?),
            Kind::Quantifier {
                forall,
                binding,
                guard,
                body,
            } => {
                let lists = &mut self.shared.lists;
                let bound =
                    lists.quantifier(self.scope, &self.around, &binding, guard.as_deref())?;
                let bound = self.counted_beforehand(bound, &body);
                let lists = &self.shared.lists;
                let mean = |b: &Arc<Bound>| {
                    let component = &lists.components[b.component];
                    (component.len() / component.keys().max(1)) as u64
                };
                let bindings = bound.iter().map(mean).try_fold(1, u64::checked_mul);
                if bindings.is_none() {
                    return Err(Diagnostic::error(
                        Code::TooManyBindings,
                        "this quantifier has 2⁶⁴ bindings or more, too many to visit",
                    )
                    .at(&self.scope.theory().source, span, "")
                    .help("use fewer variables, or guards that tie them to each other"));
                }
                let (level, body) = self.under(bound, *body)?;
                NodeKind::Quantifier {
                    forall,
                    level,
                    body,
                }
            }
            Kind::SumProduct(sum) => {
                let mut elimination = sum.elimination;
                let (variables, keys) = sum.keys;
                elimination.key_slot =
                    (!variables.is_empty()).then(|| self.key_slot(&variables, &keys));
                elimination.common = self.formulas(sum.common)?;
                for factor in sum.factors {
                    let size = self.shared.lists.components[factor.bound.component].len();
                    let (level, body) = self.under(vec![factor.bound], factor.body)?;
                    elimination
                        .factors
                        .push(EliminationFactor { level, body, size });
                }
                // Inner ones have lower numbers.
                self.program.eliminations.push(elimination);
                self.program.elimination_keys.push((variables, keys));
                self.program.rewrites.push(sum.rewrite);
                NodeKind::Elimination(self.program.eliminations.len() - 1)
            }
        };
        let groundings = groundings.map(|of| self.counted(of)).transpose()?;
        self.program.nodes.push(Node {
            kind,
            level: self.level,
            equivalence,
            groundings,
            span,
        });
        Ok(self.program.nodes.len() - 1)
    }

    /// Bindings that differ only in variables that the formula does not read have the same value: it is computed once
    /// and weighs as much as they are. An empty `exists` in it would be counted too rarely.
    fn counted_beforehand(&mut self, bound: Vec<Arc<Bound>>, body: &Normal) -> Vec<Arc<Bound>> {
        let Some(counting) = self.shared.counting.filter(|_| self.ranked == 0) else {
            return bound;
        };
        let mut read = Vec::new();
        body.variables(&mut read);
        let mut variables = bound.iter().flat_map(|b| &b.variables);
        if variables.all(|v| read.contains(v)) || !never_empty(self.scope, body) {
            return bound;
        }
        let lists = &mut self.shared.lists;
        let counted = |bound| lists.counted(self.scope, bound, &read, counting);
        bound.into_iter().map(counted).collect()
    }

    /// The lists along which moved quantifiers are counted.
    fn counted(&mut self, of: Bindings) -> Result<Counted, Diagnostic> {
        let lists = &mut self.shared.lists;
        let kept = of.kept.iter();
        let bound = kept.map(|(binding, guard)| {
            lists.quantifier(self.scope, &self.around, binding, Some(guard))
        });
        Ok(Counted {
            times: of.times,
            lists: bound.collect::<Result<Vec<_>, _>>()?.concat(),
        })
    }

    fn formulas(&mut self, members: Vec<Normal>) -> Result<Vec<usize>, Diagnostic> {
        members.into_iter().map(|m| self.formula(m)).collect()
    }

    /// A formula at a new level, under these components.
    fn under(
        &mut self,
        bound: Vec<Arc<Bound>>,
        body: Normal,
    ) -> Result<(usize, usize), Diagnostic> {
        let outer = self.level;
        let level = self.program.levels.len();
        let key_slots = (bound.iter())
            .map(|b| (!b.keys.is_empty()).then(|| self.key_slot_of(b)))
            .collect();
        let depth = self.around.len();
        self.around.extend(bound.iter().cloned());
        (self.places).extend((0..bound.len()).map(|position| ComponentPlace { level, position }));
        self.program.levels.push(Level {
            parent: outer,
            bound,
            key_slots,
            ..Level::default()
        });
        self.level = level;
        self.weigh(level);
        let ranking = match self.ranked {
            0 => None,
            left => {
                self.ranked = left - 1;
                (left == 1).then(|| self.ranking()).transpose()?
            }
        };
        let body = self.formula(body);
        if let (Some(ranking), Ok(body)) = (ranking, &body) {
            self.program.ranking = Some(Ranking {
                body: *body,
                ..ranking
            });
        }
        self.level = outer;
        self.around.truncate(depth);
        self.places.truncate(depth);
        Ok((level, body?))
    }

    /// How many bindings each one of a level stands for, if some of its components are counted.
    fn weigh(&mut self, level: usize) {
        let first = self.around.len() - self.program.levels[level].bound.len();
        for owner in first..self.around.len() {
            let component = &self.shared.lists.components[self.around[owner].component];
            if component.weights.is_empty() {
                continue;
            }
            let map = self.add_map(owner, MapValues::Plain(component.weights.clone()));
            self.program.slots.push(SlotBase::default());
            let slot = self.program.slots.len() - 1;
            self.use_map(slot, owner, map);
            self.program.levels[level].weights.push(slot);
        }
    }

    // --- slots ----------------------------------------------------------------------------------

    fn new_slot(&mut self) -> usize {
        self.program.slots.push(SlotBase::default());
        let slot = self.program.slots.len() - 1;
        self.reads.push((slot, self.level));
        slot
    }

    fn new_wide_slot(&mut self, base: u64) -> usize {
        self.program.wide_slots.push(base);
        self.program.wide_slots.len() - 1
    }

    fn add_map(&mut self, owner: usize, values: MapValues) -> usize {
        let component = self.around[owner].component;
        self.shared.maps.push(Map { component, values });
        self.shared.maps.len() - 1
    }

    fn use_map(&mut self, slot: usize, owner: usize, map: usize) {
        let ComponentPlace { level, position } = self.places[owner];
        let level = &mut self.program.levels[level];
        let count = level.bound.len();
        add_entry(&mut level.adds, slot, count).maps[position].push(map);
    }

    fn use_wide_map(&mut self, wide: usize, owner: usize, values: Vec<u64>) {
        let map = self.add_map(owner, MapValues::Wide(values));
        let ComponentPlace { level, position } = self.places[owner];
        self.wide_reads.push((wide, level));
        let level = &mut self.program.levels[level];
        let count = level.bound.len();
        add_entry(&mut level.wide_adds, wide, count).maps[position].push(map);
    }

    /// A wide slot is complete at the innermost of its components, where it is looked up.
    fn resolve(&mut self, owners: &[usize], resolve: Resolve) {
        let levels = owners.iter().map(|&o| self.places[o].level);
        let level = levels.max().unwrap_or(0);
        self.program.levels[level].resolves.push(resolve);
    }

    /// The outer components that bind some of the variables.
    fn owners(&self, variables: &[VarId]) -> Vec<usize> {
        let binds = |b: &Bound| b.variables.iter().any(|v| variables.contains(v));
        (0..self.around.len())
            .filter(|&i| binds(&self.around[i]))
            .collect()
    }

    /// Declares every slot at each level from the outermost to the one that reads it.
    fn carry_slots(&mut self) {
        for (reads, wide) in [(&self.reads, false), (&self.wide_reads, true)] {
            let mut known: FxHashSet<(usize, usize)> = FxHashSet::default();
            for (at, level) in self.program.levels.iter().enumerate() {
                let adds = if wide { &level.wide_adds } else { &level.adds };
                known.extend(adds.iter().map(|add| (at, add.slot)));
            }
            for &(slot, level) in reads {
                let mut at = level;
                while at != 0 {
                    let level = &mut self.program.levels[at];
                    let maps = vec![Vec::new(); level.bound.len()];
                    let adds = if wide {
                        &mut level.wide_adds
                    } else {
                        &mut level.adds
                    };
                    if known.insert((at, slot)) {
                        adds.push(SlotAdd { slot, maps });
                    }
                    at = level.parent;
                }
            }
        }
        // Sorted, for quick look-up: an `any` may have a million of them.
        for level in &mut self.program.levels {
            level.adds.sort_by_key(|add| add.slot);
            level.wide_adds.sort_by_key(|add| add.slot);
        }
    }
}

pub(super) fn add_entry(adds: &mut Vec<SlotAdd>, slot: usize, components: usize) -> &mut SlotAdd {
    // Usually the one that is being made is the last.
    let at = match adds.iter().rposition(|a| a.slot <= slot) {
        Some(at) if adds[at].slot == slot => at,
        before => {
            let at = before.map_or(0, |before| before + 1);
            let maps = vec![Vec::new(); components];
            adds.insert(at, SlotAdd { slot, maps });
            at
        }
    };
    &mut adds[at]
}
