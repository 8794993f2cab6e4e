//! The builder: goes through the axioms, writes families out, and collects what they share.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::component::{InScope, KeyIds};
use super::literal::MapKey;
use super::memory::Account;
use super::program::*;
use super::{Plan, PlannedAxiom};
use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard::{Cell, Join, TableIndexes, conjuncts};
use crate::output::{Output, OutputKind};
use crate::semantics::Semantics;
use crate::theory::*;

/// Whether to rewrite formulas where that is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewrites {
    Never,
    WhereCheaper,
    /// Cheaper or not, so that tests see many.
    Always,
}

pub(super) struct Builder<'a> {
    pub data: &'a Data,
    pub outputs: &'a [Output],
    pub semantics: &'a Semantics,
    pub rewrites: Rewrites,
    pub account: Account,
    pub indexes: &'a TableIndexes,
    // Shared by all axioms:
    pub components: Vec<Component>,
    pub key_ids: Vec<KeyIds>,
    pub shared_components: FxHashMap<ComponentSource, usize>,
    /// By everything that the lists depend on.
    pub guarded_components: FxHashMap<String, usize>,
    pub maps: Vec<Map>,
    pub map_index: FxHashMap<MapKey, usize>,
    pub requests: Vec<RequestPlan>,
    pub request_index: FxHashMap<(PredicateId, Vec<ArgumentShape>), usize>,
    pub warnings: Diagnostics,
    // Of the axiom at hand:
    pub variables: &'a [Variable],
    /// What `for`, `all` and `any` have bound.
    pub env: Vec<Cell>,
    pub fixed: Vec<bool>,
    pub program: Program,
    pub scope: Vec<InScope>,
    pub level: usize,
    /// For each level of the program, what it binds.
    pub level_scopes: Vec<Vec<InScope>>,
    /// Which levels read which slots.
    pub reads: Vec<(usize, usize)>,
    pub wide_reads: Vec<(usize, usize)>,
    /// The outer variables of each elimination.
    pub elimination_keys: Vec<KeyIds>,
}

pub(super) fn plan(
    data: &Data,
    outputs: &[Output],
    semantics: &Semantics,
    rewrites: Rewrites,
    memory: u64,
) -> Result<Plan, Diagnostics> {
    let mut out = data.missing();
    check(data, outputs, semantics, &mut out);
    if out.has_errors() {
        return Err(out);
    }
    let indexes = TableIndexes::default();
    let mut builder = Builder {
        data,
        outputs,
        semantics,
        rewrites,
        account: Account::new(memory),
        indexes: &indexes,
        components: Vec::new(),
        key_ids: Vec::new(),
        shared_components: FxHashMap::default(),
        guarded_components: FxHashMap::default(),
        maps: Vec::new(),
        map_index: FxHashMap::default(),
        requests: Vec::new(),
        request_index: FxHashMap::default(),
        warnings: out,
        variables: &[],
        env: Vec::new(),
        fixed: Vec::new(),
        program: Program::default(),
        scope: Vec::new(),
        level: 0,
        level_scopes: Vec::new(),
        reads: Vec::new(),
        wide_reads: Vec::new(),
        elimination_keys: Vec::new(),
    };
    let mut axioms = Vec::new();
    let mut programs = Vec::new();
    for (i, axiom) in data.theory().axioms.iter().enumerate() {
        // Each axiom is planned even if an earlier one failed, to report all errors.
        if let Err(error) = builder.axiom(i, axiom, &mut axioms, &mut programs) {
            builder.warnings.push(error);
        }
    }
    if axioms.is_empty() && !builder.warnings.has_errors() {
        builder.warnings.push(
            Diagnostic::error(Code::NoAxioms, "there are no axioms to evaluate")
                .help("write at least one: `axiom name: formula`"),
        );
    }
    if axioms.iter().map(|a: &PlannedAxiom| a.weight).sum::<f64>() == 0.0 && !axioms.is_empty() {
        let last = &axioms[axioms.len() - 1];
        builder.warnings.push(
            Diagnostic::error(Code::ZeroWeights, "the weights of the axioms add up to 0")
                .at(&data.theory().source, last.span, "")
                .help("give at least one axiom a weight above 0"),
        );
    }
    let requests = std::mem::take(&mut builder.requests);
    for problem in builder.account_for_tables(&requests) {
        builder.warnings.push(problem);
    }
    builder.requests = requests;
    if !builder.warnings.has_errors() {
        places_in_complete_tables(&mut programs, &mut builder.maps, &builder.requests);
    }
    let Builder {
        components,
        maps,
        requests,
        warnings,
        ..
    } = builder;
    if warnings.has_errors() {
        return Err(warnings);
    }
    Ok(Plan {
        data: Arc::new(data.clone()),
        outputs: outputs.to_vec(),
        semantics: *semantics,
        axioms,
        programs,
        components,
        maps,
        requests,
        warnings,
    })
}

fn check(data: &Data, outputs: &[Output], semantics: &Semantics, out: &mut Diagnostics) {
    let theory = data.theory();
    if let Err(error) = semantics.validate() {
        out.push(Diagnostic::error(error.code(), error.to_string()).maybe_help(error.help()));
    }
    if outputs.len() != theory.predicates.len() {
        out.push(Diagnostic::error(
            Code::SizesDisagree,
            format!(
                "the theory has {} predicates, but {} outputs were given",
                theory.predicates.len(),
                outputs.len()
            ),
        ));
        return;
    }
    for (predicate, output) in theory.predicates.iter().zip(outputs) {
        let error = |code, message: String| {
            Diagnostic::error(code, message).at(&theory.source, predicate.span, "")
        };
        if !output.per_class {
            if output.kind == OutputKind::Softmax {
                out.push(error(
                    Code::NoClasses,
                    format!(
                        "predicate `{}` is a softmax, so its last argument must pick the class",
                        predicate.name
                    ),
                ));
            }
            continue;
        }
        match predicate.arguments.last() {
            Some(ArgumentSort::Sort(sort)) => {
                let classes = data.sorts[sort.index()].size;
                if output.kind == OutputKind::Softmax && classes == Some(1) {
                    out.push(
                        error(
                            Code::NoClasses,
                            format!(
                                "predicate `{}` is a softmax over one class, which is always true",
                                predicate.name
                            ),
                        )
                        .help(format!(
                            "give sort `{}` a second individual, or use a sigmoid",
                            theory[*sort].name
                        )),
                    );
                }
            }
            _ => out.push(error(
                Code::NoClasses,
                format!(
                    "predicate `{}` has no last argument that could pick a class",
                    predicate.name
                ),
            )),
        }
    }
}

impl<'a> Builder<'a> {
    pub(super) fn theory(&self) -> &'a Theory {
        self.data.theory()
    }

    fn axiom(
        &mut self,
        index: usize,
        axiom: &'a Axiom,
        axioms: &mut Vec<PlannedAxiom>,
        programs: &mut Vec<Program>,
    ) -> Result<(), Diagnostic> {
        self.variables = &axiom.variables;
        self.fixed = vec![false; axiom.variables.len()];
        self.env = self.guard_scope().environment();
        if axiom.formula.nnf_is_too_large() {
            return Err(Diagnostic::error(Code::NestedTooDeep, format!(
                "the equivalences of axiom `{}` are nested too deep: its negation normal form would have more than {} nodes",
                axiom.name,
                crate::MAX_NNF_NODES
            ))
            .at(&self.theory().source, axiom.name_span, "")
            .help("name the parts: give the inner equivalence a predicate of its own"));
        }
        self.check_semantics(&axiom.formula)?;
        let Some(family) = &axiom.family else {
            let planned = self.member(index, axiom, axiom.name.clone())?;
            axioms.push(planned.0);
            programs.push(planned.1);
            return Ok(());
        };
        let members = self.bindings(&family.variables, family.guard.as_ref(), "for")?;
        if members.is_empty() {
            let warning = Diagnostic::warning(
                Code::NothingToRangeOver,
                format!("family `{}` has no members", axiom.name),
            )
            .at(&self.theory().source, axiom.name_span, "")
            .maybe_help(
                family
                    .guard
                    .as_ref()
                    .map(|_| "its guard keeps nothing".to_string()),
            );
            self.warnings.push(warning);
        }
        for member in members {
            let mut names = Vec::new();
            for (&variable, &cell) in family.variables.iter().zip(&member) {
                self.fix(variable, cell);
                let sort = axiom.variables[variable.index()].sort;
                names.push(self.guard_scope().show_cell(sort, Cell::Individual(cell)));
            }
            let name = format!("{}[{}]", axiom.name, names.join(", "));
            let planned = self.member(index, axiom, name)?;
            axioms.push(planned.0);
            programs.push(planned.1);
        }
        Ok(())
    }

    fn member(
        &mut self,
        index: usize,
        axiom: &Axiom,
        name: String,
    ) -> Result<(PlannedAxiom, Program), Diagnostic> {
        self.program = Program::default();
        self.program.levels.push(Level::default());
        self.scope.clear();
        self.level = 0;
        self.level_scopes = vec![Vec::new()];
        self.reads.clear();
        self.wide_reads.clear();
        self.elimination_keys.clear();
        self.program.root = self.root(&axiom.formula)?;
        self.carry_slots();
        let counts = self.count();
        if counts.empty_exists > 0 {
            self.warn_empty(axiom, &name, &counts);
        }
        let planned = PlannedAxiom {
            name,
            weight: axiom.weight,
            axiom: index,
            groundings_before: self.groundings_before(&axiom.formula),
            groundings: counts.groundings,
            empty_exists: u64::try_from(counts.empty_exists).unwrap_or(u64::MAX),
            span: axiom.name_span,
        };
        Ok((planned, std::mem::take(&mut self.program)))
    }

    /// Fixes a variable of `for`, `all` or `any` to an individual.
    pub(super) fn fix(&mut self, variable: VarId, individual: u32) {
        self.env[variable.index()] = Cell::Individual(individual);
        self.fixed[variable.index()] = true;
    }

    /// The bindings of the variables of `for`, `all` or `any` that pass the guard.
    pub(super) fn bindings(
        &mut self,
        variables: &[VarId],
        guard: Option<&Guard>,
        word: &str,
    ) -> Result<Vec<Vec<u32>>, Diagnostic> {
        for &id in variables {
            let variable = &self.variables[id.index()];
            let ColumnSort::Sort(sort) = variable.sort else {
                continue;
            };
            let sort = &self.theory()[sort];
            if sort.kind == SortKind::Data && sort.labels.is_empty() {
                return Err(Diagnostic::error(Code::MembersDependOnData, format!(
                    "`{word}` writes out one member per individual, but the individuals of sort `{}` are rows of data",
                    sort.name
                ))
                .at(&self.theory().source, variable.span, "not a sort of labels or integers")
                .help("range over them with `forall` or `exists`"));
            }
        }
        let conditions = guard.map(conjuncts).unwrap_or_default();
        for condition in &conditions {
            if let Some(table) = self.batched_table(condition) {
                return Err(Diagnostic::error(Code::MembersDependOnData, format!(
                    "the guard of `{word}` looks at table `{}`, of which each step sees a part only",
                    self.theory()[table].name
                ))
                .at(&self.theory().source, condition.span, "")
                .help("remove `batch` from that table in the manifest, or use another table"));
            }
        }
        let scope = self.guard_scope();
        let mut found = Vec::new();
        let mut env = self.env.clone();
        Join::over_sorts(scope, variables, &conditions)
            .run(&mut env, &mut |env, _| {
                let cells = variables.iter().map(|v| match env[v.index()] {
                    Cell::Individual(index) => index,
                    Cell::Int(_) | Cell::Real(_) => 0,
                });
                found.push(cells.collect::<Vec<u32>>());
                found.len() <= 1_000_000
            })
            .map_err(|error| scope.diagnose(&error))?;
        if found.len() > 1_000_000 {
            let span = self.variables[variables[0].index()].span;
            return Err(Diagnostic::error(
                Code::TooManyMembers,
                format!("`{word}` writes out more than a million members here"),
            )
            .at(&self.theory().source, span, ""));
        }
        found.sort_unstable();
        Ok(found)
    }

    fn batched_table(&self, guard: &Guard) -> Option<TableId> {
        let batched = |table: &TableId| self.data.table(*table).is_some_and(|t| t.batched);
        match &guard.kind {
            GuardKind::Member(table, _) => Some(*table).filter(batched),
            GuardKind::Not(inner) => self.batched_table(inner),
            GuardKind::And(members) | GuardKind::Or(members) => {
                members.iter().find_map(|m| self.batched_table(m))
            }
            GuardKind::Exists(binding, guard, body) => {
                let rows = match binding {
                    Binding::Rows(table, _) => Some(*table).filter(batched),
                    Binding::Sorts(_) => None,
                };
                rows.or_else(|| guard.as_ref().and_then(|g| self.batched_table(g)))
                    .or_else(|| self.batched_table(body))
            }
            GuardKind::Compare(..) | GuardKind::Same { .. } => None,
        }
    }

    // --- slots ----------------------------------------------------------------------------------

    pub(super) fn new_slot(&mut self, base: SlotBase) -> usize {
        self.program.slots.push(base);
        let slot = self.program.slots.len() - 1;
        self.reads.push((slot, self.level));
        slot
    }

    pub(super) fn new_wide_slot(&mut self, base: u64) -> usize {
        self.program.wide_slots.push(base);
        self.program.wide_slots.len() - 1
    }

    pub(super) fn add_map(&mut self, slot: usize, in_scope: &InScope, values: MapValues) {
        self.maps.push(Map {
            component: in_scope.component,
            values,
        });
        self.use_map(slot, in_scope, self.maps.len() - 1);
    }

    pub(super) fn use_map(&mut self, slot: usize, in_scope: &InScope, map: usize) {
        let level = &mut self.program.levels[in_scope.level];
        let count = level.components.len();
        add_entry(&mut level.adds, slot, count).maps[in_scope.position].push(map);
    }

    pub(super) fn add_wide_map(&mut self, wide: usize, in_scope: &InScope, values: MapValues) {
        self.maps.push(Map {
            component: in_scope.component,
            values,
        });
        let map = self.maps.len() - 1;
        let level = &mut self.program.levels[in_scope.level];
        let count = level.components.len();
        add_entry(&mut level.wide_adds, wide, count).maps[in_scope.position].push(map);
        self.wide_reads.push((wide, in_scope.level));
    }

    /// Makes every slot known at each level between the outside and where it is read.
    fn carry_slots(&mut self) {
        for (reads, wide) in [(&self.reads, false), (&self.wide_reads, true)] {
            for &(slot, level) in reads {
                let mut at = level;
                while at != 0 {
                    let level = &mut self.program.levels[at];
                    let count = level.components.len();
                    let adds = if wide {
                        &mut level.wide_adds
                    } else {
                        &mut level.adds
                    };
                    add_entry(adds, slot, count);
                    at = level.parent;
                }
            }
        }
    }
}

/// Where a request has every row there can be, a row's number is its code, and a literal whose row
/// several components determine needs no look-up: each adds its part of the place directly.
fn places_in_complete_tables(programs: &mut [Program], maps: &mut [Map], requests: &[RequestPlan]) {
    for program in programs {
        for at in 0..program.levels.len() {
            let resolves = std::mem::take(&mut program.levels[at].resolves);
            let (direct, looked_up) = resolves.into_iter().partition(|r| match r.table {
                ResolveTable::Key(_) => false,
                ResolveTable::Request(request) => requests[request].complete,
            });
            program.levels[at].resolves = looked_up;
            let direct: Vec<Resolve> = direct;
            for resolve in direct {
                let ResolveTable::Request(request) = resolve.table else {
                    continue;
                };
                let width = requests[request].width as u64;
                let base = program.wide_slots[resolve.wide] * width;
                program.slots[resolve.slot].plain += base as u32;
                for level in &mut program.levels {
                    let Some(found) = level.wide_adds.iter().position(|a| a.slot == resolve.wide)
                    else {
                        continue;
                    };
                    let wide = level.wide_adds.remove(found);
                    let count = level.components.len();
                    let add = add_entry(&mut level.adds, resolve.slot, count);
                    for (own, maps_of) in add.maps.iter_mut().zip(&wide.maps) {
                        own.extend_from_slice(maps_of);
                    }
                    for &map in wide.maps.iter().flatten() {
                        if let MapValues::Wide(values) = &maps[map].values {
                            let places = values.iter().map(|v| (v * width) as u32).collect();
                            maps[map].values = MapValues::Plain(places);
                        }
                    }
                }
            }
        }
    }
}

fn add_entry(adds: &mut Vec<SlotAdd>, slot: usize, components: usize) -> &mut SlotAdd {
    let at = match adds.iter().position(|a| a.slot == slot) {
        Some(at) => at,
        None => {
            adds.push(SlotAdd {
                slot,
                maps: vec![Vec::new(); components],
            });
            adds.len() - 1
        }
    };
    &mut adds[at]
}
