//! Strata: formulas with parameters that are evaluated at some tuples. A definition is one.
//!
//! While a user of a stratum (an axiom, another stratum, the stratum itself) is grounded, it records the tuples that it
//! needs. Then the strata are grounded, users first, each as one program under the list of its tuples. The engine
//! computes them in the reverse order, and their values are read like literals. Strata that use each other form a
//! cycle. In a cycle the tuples have an order ([`order`]): each tuple comes after those that it needs, or they are
//! computed by depth.

mod order;
mod written;

use std::sync::Arc;

use rustc_hash::FxHashSet;

pub(super) use written::write_out;

use super::compile::Problem;
use super::eliminate::Eliminate;
use super::ground::{self, Bound, Shared, strides};
use super::narrow::Narrow;
use super::normal::{Maker, Normal};
use super::physical::Physical;
use super::program::{NO_PREDICATE, NodeKind, Program, RequestPlan};
use super::shard::Shards;
use super::{ArgumentShape, Rewrite};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard::{Scope, TableIndexes};
use crate::memory;
use crate::source::Span;
use crate::theory::*;

/// A stratum before it is grounded.
#[derive(Clone, Debug)]
pub(crate) struct StratumForm {
    /// For display.
    pub name: String,
    pub variables: Arc<[Variable]>,
    /// The variables that a tuple binds, all of them individuals.
    pub parameters: Vec<VarId>,
    /// Plain and, in log space, negated; only those that are used.
    pub formulas: [Option<Normal>; 2],
    /// As it was written, for display.
    pub written: Arc<Formula>,
    pub depth: Option<u32>,
    pub span: Span,
    /// Present if it is a shared part of axioms, not a definition.
    pub shared: Option<SharedPart>,
    /// Present if it is the product of two strata instead of a formula: an `exists` over the last variable of both,
    /// with their conjunction as its body, or a linear `forall` with the second as its guard. Its parameters are the other
    /// variables of both.
    pub contraction: Option<(usize, usize, bool)>,
}

/// A part of axioms that is computed once for all its places, for display.
#[derive(Clone, Debug)]
pub(crate) struct SharedPart {
    /// The first axiom that contains it.
    pub axiom: String,
    pub formula: String,
    pub parameters: Vec<String>,
    /// For how many bindings it would have been computed.
    pub bindings: f64,
    pub cost_before: f64,
    pub cost_after: f64,
}

/// The strata of a plan, and the tuples that are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strata {
    pub forms: Vec<StratumForm>,
    pub asked: Vec<Asked>,
}

/// The tuples of a stratum that are asked for, by their codes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    codes: Vec<u64>,
    /// The first of them, up to this number, are sorted and distinct.
    known: usize,
    full: bool,
    /// No further tuples can be added.
    closed: bool,
    /// All possible tuples.
    every: bool,
}

impl Asked {
    /// Adds a tuple. Returns whether there is room for more.
    pub fn push(&mut self, code: u64) -> bool {
        if self.codes.len() >= 2 * self.known + (1 << 16) {
            self.tidy();
            let grown = 8 * 2 * self.codes.len() as u128;
            self.full |= self.codes.len() > u32::MAX as usize / 2 || memory::ask(grown).is_err();
        }
        self.codes.push(code);
        !self.full
    }

    pub fn push_every(&mut self) {
        self.every = true;
    }

    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The number of possible tuples.
    fn finish(&mut self, grid: u64) {
        if !self.every {
            return self.tidy();
        }
        self.full |= grid > u64::from(u32::MAX / 2) || memory::ask(16 * u128::from(grid)).is_err();
        if !self.full {
            self.codes = (0..grid).collect();
        }
    }

    fn tidy(&mut self) {
        self.codes.sort_unstable();
        self.codes.dedup();
        self.known = self.codes.len();
    }
}

impl Strata {
    /// Adds a stratum, before any of its users is grounded. Returns its number.
    fn add(&mut self, form: StratumForm) -> usize {
        self.forms.push(form);
        self.asked.push(Asked::default());
        self.forms.len() - 1
    }

    /// This many strata whose tuples are known.
    pub fn closed(count: usize) -> Strata {
        let closed = Asked {
            closed: true,
            ..Asked::default()
        };
        Strata {
            forms: Vec::new(),
            asked: vec![closed; count],
        }
    }

    pub fn is_closed(&self, stratum: usize) -> bool {
        self.asked[stratum].closed
    }

    /// Forgets the tuples that were asked for.
    pub fn forget(&mut self) {
        self.asked.iter_mut().for_each(|a| *a = Asked::default());
    }
}

/// The strata as the engine sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StrataPlan {
    /// By stratum, which is also the number of its request.
    pub strata: Vec<StratumPlan>,
    /// In the order of computing.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) struct StratumPlan {
    pub name: String,
    /// Plain and negated.
    pub programs: [Option<Physical>; 2],
    /// The codes of all tuples, in the order of computing.
    pub codes: Vec<u64>,
    /// How many layers of these there are: one, or one for each depth that is needed.
    pub layers: usize,
    /// Strata that use each other have the same number.
    pub circle: usize,
    /// Whether it is the stratum with the depth: what it uses of its cycle is in the next layer.
    pub counts: bool,
    /// The depth of the tuples: the longest path from one that is asked for to one that asks for no others.
    pub depth: usize,
    pub rewrites: Vec<Rewrite>,
    pub shared: Option<SharedPart>,
    pub contraction: Option<Contraction>,
    /// If it is one whose sides leave out some tuples: the log of how many terms each of its sums has.
    pub log_terms: Vec<f64>,
    /// What it was made from, for explanations that open it.
    pub form: Arc<StratumForm>,
}

impl StratumPlan {
    /// Whether it says the same of all its tuples: which these are is all that matters.
    pub fn is_constant(&self) -> bool {
        let nodes = self.programs[0].iter().flat_map(|program| &program.nodes);
        self.contraction.is_none()
            && nodes.clone().all(|node| {
                matches!(
                    node.kind,
                    NodeKind::Constant(_) | NodeKind::Quantifier { .. }
                )
            })
    }

    /// The layer and the tuple that is at a place of its tables.
    pub fn tuple_at(&self, place: usize) -> (usize, usize) {
        let tuples = self.codes.len();
        (place / tuples % self.layers, place % tuples)
    }
}

/// A stratum that is the product of two others, as matrices of exponentials. Tuples that a side leaves out are false. A linear one
/// is the mean or the sum of those of the left that the right does not leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contraction {
    /// The rows by the inner individuals.
    pub left: usize,
    /// The columns by the inner individuals.
    pub right: usize,
    pub rows: usize,
    pub columns: usize,
    pub inner: usize,
    pub linear: bool,
}

/// Some tuples of a stratum, in one layer, that can be computed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub stratum: usize,
    pub layer: usize,
    pub start: u32,
    pub end: u32,
    /// Always false: the end of a depth.
    pub constant: bool,
}

/// A stratum that has been grounded.
pub(super) struct Grounded {
    pub plan: StratumPlan,
    pub programs: [Option<Program>; 2],
}

/// The normal forms of all definitions that axioms use, and a request for each definition.
pub(super) fn prepare(
    problem: Problem,
    shared: &mut Shared,
    indexes: &TableIndexes,
    found: &mut Diagnostics,
) {
    let theory = problem.data.theory();
    let axioms = theory.axioms.iter().map(|axiom| &axiom.formula);
    let used = theory.definitions_under(axioms.collect());
    for (definition, used) in theory.definitions.iter().zip(used) {
        let mut formulas = [None, None];
        // In log space a stratum may be used with both signs.
        let signs = 1 + usize::from(problem.semantics.in_log_space());
        for (negated, formula) in formulas[..signs].iter_mut().enumerate().filter(|_| used) {
            let mut warnings = Diagnostics::new();
            let mut maker = Maker {
                scope: Scope {
                    data: problem.data,
                    variables: &definition.body.variables,
                    indexes,
                },
                semantics: problem.semantics,
                fixed: vec![None; definition.body.variables.len()],
                text: definition.body.span,
                warnings: &mut warnings,
            };
            match maker.definition(definition, negated == 1) {
                Ok(normal) => {
                    let shards = Shards {
                        data: problem.data,
                        variables: &definition.body.variables,
                        what: "definition",
                    };
                    if problem.options.sharded
                        && negated == 0
                        && let Err(error) = shards.check_definition(&definition.body, &normal)
                    {
                        found.push(error);
                    }
                    *formula = Some(normal);
                }
                // The same for both signs.
                Err(error) if negated == 0 => found.push(error),
                Err(_) => {}
            }
            if negated == 0 {
                found.extend(warnings);
            }
        }
        shared.strata.add(StratumForm {
            name: definition.name().to_string(),
            variables: definition.body.variables.clone().into(),
            parameters: definition.parameter_ids(),
            formulas,
            written: Arc::new(definition.body.formula.clone()),
            depth: definition.depth,
            span: definition.body.name_span,
            shared: None,
            contraction: None,
        });
        add_request(problem, shared);
    }
}

/// Adds a stratum that is not a definition, before any axiom is grounded. Returns its number, unless its tuples are too
/// many to be numbered.
pub(super) fn add(problem: Problem, shared: &mut Shared, form: StratumForm) -> Option<usize> {
    let product = form.contraction.is_some();
    let stratum = shared.strata.add(form);
    if product {
        shared.strata.asked[stratum].push_every();
    }
    add_request(problem, shared);
    if strides(&shared.requests[stratum].extents).is_none() {
        shared.strata.forms.pop();
        shared.strata.asked.pop();
        shared.requests.pop();
        return None;
    }
    Some(stratum)
}

/// Asks for the tuples of a stratum that a guard has kept, and says how many they are; `None` if there is no room.
pub(super) fn ask(
    shared: &mut Shared,
    scope: Scope,
    stratum: usize,
    bound: &[Arc<Bound>],
) -> Option<usize> {
    let parameters = &shared.strata.forms[stratum].parameters;
    let strides = strides(&shared.requests[stratum].extents)?;
    let asked = &mut shared.strata.asked[stratum];
    let bound: Vec<&Bound> = bound.iter().map(|b| &**b).collect();
    let room = shared.lists.walk(scope, &bound, parameters, &mut |env| {
        let own = parameters.iter().zip(&strides);
        asked.push(own.map(|(v, stride)| env[v.index()].code() * stride).sum())
    });
    asked.tidy();
    (room && !asked.full).then_some(asked.codes.len())
}

/// The request of the last stratum.
fn add_request(problem: Problem, shared: &mut Shared) {
    let Some(form) = shared.strata.forms.last() else {
        return;
    };
    let parameters = form.parameters.iter();
    let sorts = parameters.map(|p| form.variables[p.index()].sort);
    let sorts: Vec<SortId> = sorts.filter_map(ColumnSort::sort).collect();
    let extents = sorts.iter().map(|s| problem.data.extent(*s) as u64);
    shared.requests.push(RequestPlan {
        predicate: NO_PREDICATE,
        extents: extents.collect(),
        shape: sorts.into_iter().map(ArgumentShape::Individual).collect(),
        width: 1,
        complete: false,
        dynamic: false,
        occurs: [false; 2],
        constant_codes: Vec::new(),
        span: form.span,
    });
}

/// Updates the sizes of sorts, which may have come with the call.
pub(super) fn take_sizes(problem: Problem, shared: &mut Shared) -> Result<(), Diagnostic> {
    for (request, form) in shared.requests.iter_mut().zip(&shared.strata.forms) {
        for (extent, parameter) in request.extents.iter_mut().zip(&form.parameters) {
            if let ColumnSort::Sort(sort) = form.variables[parameter.index()].sort {
                *extent = problem.data.extent(sort) as u64;
            }
        }
        if strides(&request.extents).is_none() {
            let what = format!(
                "definition `{}` has more possible arguments than can be numbered",
                form.name
            );
            let source = &problem.data.theory().source;
            return Err(Diagnostic::error(Code::TooManyBindings, what).at(source, form.span, ""));
        }
    }
    Ok(())
}

/// The signs with which the strata of a cycle are used, from outside or by each other.
fn signs(shared: &Shared, circle: &Circle) -> Vec<[bool; 2]> {
    let members = &circle.members;
    let mut signs: Vec<[bool; 2]> = members.iter().map(|m| shared.requests[*m].occurs).collect();
    loop {
        let before = signs.clone();
        for (at, &member) in members.iter().enumerate() {
            for sign in 0..2 {
                let formula = &shared.strata.forms[member].formulas[sign];
                let (true, Some(formula)) = (signs[at][sign], formula) else {
                    continue;
                };
                for (used, negated) in formula.uses() {
                    if let Some(at) = members.iter().position(|m| *m == used) {
                        signs[at][usize::from(negated)] = true;
                    }
                }
            }
        }
        if before == signs {
            return signs;
        }
    }
}

/// Grounds all strata that are used, and finds the order of computing.
pub(super) fn ground_all(
    problem: Problem,
    shared: &mut Shared,
    indexes: &TableIndexes,
) -> Result<(Vec<Grounded>, Vec<Step>), Diagnostic> {
    let theory = problem.data.theory();
    let circles = circles(&shared.strata.forms);
    let count = shared.strata.forms.len();
    let mut grounded: Vec<Option<Grounded>> = (0..count).map(|_| None).collect();
    // By circle.
    let mut steps: Vec<Vec<Step>> = Vec::new();
    for (number, circle) in circles.iter().enumerate() {
        for &stratum in &circle.members {
            let grid = shared.requests[stratum].grid();
            shared.strata.asked[stratum].finish(grid);
            if shared.strata.asked[stratum].is_full() {
                let span = shared.strata.forms[stratum].span;
                return Err(shared.lists.account.too_much(None, theory, span));
            }
        }
        let ordered = order::order(problem, shared, indexes, circle)?;
        for &stratum in &circle.members {
            shared.strata.asked[stratum].closed = true;
        }
        let signs = signs(shared, circle);
        for ((&stratum, tuples), signs) in circle.members.iter().zip(ordered.tuples).zip(signs) {
            let form = shared.strata.forms[stratum].clone();
            let span = form.span;
            let cells = tuples.codes.len() as u128 * (form.parameters.len() as u128 + 2);
            let layers = tuples.layers as u128 * tuples.codes.len() as u128 * 2;
            shared
                .lists
                .account
                .take_cells(cells + 4 * layers, theory, span)?;
            let contraction = form.contraction.map(|sides| contraction(shared, sides));
            let log_terms = (contraction.filter(|of| !of.linear))
                .map_or_else(Vec::new, |of| log_terms(shared, of));
            if contraction.is_some() {
                shared.requests[stratum].complete = true;
            }
            let bound = match contraction {
                Some(_) => Vec::new(),
                None => list_tuples(problem, shared, indexes, stratum, &tuples)?,
            };
            let mut programs = [None, None];
            let mut rewrites = Vec::new();
            let formulas = form.formulas.iter().zip(signs);
            for (program, (formula, asked)) in programs.iter_mut().zip(formulas) {
                let asked = asked && tuples.evaluated > 0;
                if let Some(formula) = formula.as_ref().filter(|_| asked) {
                    let normal = formula.clone();
                    let (done, rewritten) =
                        ground_one(problem, shared, indexes, &form, circle, &bound, normal)?;
                    *program = Some(done);
                    rewrites.extend(rewritten);
                }
            }
            grounded[stratum] = Some(Grounded {
                plan: StratumPlan {
                    name: form.name.clone(),
                    programs: [None, None],
                    codes: tuples.codes,
                    layers: tuples.layers,
                    circle: number,
                    counts: tuples.counts,
                    depth: tuples.depth,
                    rewrites,
                    shared: form.shared.clone(),
                    contraction,
                    log_terms,
                    form: Arc::new(form),
                },
                programs,
            });
        }
        steps.push(ordered.steps);
    }
    let steps = steps.into_iter().rev().flatten().collect();
    Ok((grounded.into_iter().flatten().collect(), steps))
}

fn contraction(shared: &Shared, (left, right, linear): (usize, usize, bool)) -> Contraction {
    let size = |stratum: usize| {
        let extents = &shared.requests[stratum].extents;
        let (inner, outer) = extents.split_last().unwrap_or((&1, &[]));
        (outer.iter().product::<u64>() as usize, *inner as usize)
    };
    let ((rows, inner), (columns, _)) = (size(left), size(right));
    Contraction {
        left,
        right,
        rows,
        columns,
        inner,
        linear,
    }
}

/// The logs of the numbers of terms of a product's sums, if they are not all the same.
fn log_terms(shared: &Shared, of: Contraction) -> Vec<f64> {
    let asked = [of.left, of.right].map(|side| &shared.strata.asked[side]);
    if asked.iter().all(|asked| asked.every) {
        return Vec::new();
    }
    let words = of.inner.div_ceil(64);
    let [left, right] = [(asked[0], of.rows), (asked[1], of.columns)].map(|(asked, rows)| {
        let mut bits = vec![if asked.every { u64::MAX } else { 0 }; rows * words];
        for code in asked.codes.iter().map(|code| *code as usize) {
            let (row, inner) = (code / of.inner, code % of.inner);
            bits[row * words + inner / 64] |= 1 << (inner % 64);
        }
        bits
    });
    let terms =
        |a: &[u64], b: &[u64]| -> u32 { a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum() };
    let rows = left.chunks_exact(words);
    rows.flat_map(|a| {
        right
            .chunks_exact(words)
            .map(move |b| f64::from(terms(a, b)).ln())
    })
    .collect()
}

/// What a stratum runs over: the list of its tuples, or all individuals of its parameters, which needs no list.
fn list_tuples(
    problem: Problem,
    shared: &mut Shared,
    indexes: &TableIndexes,
    stratum: usize,
    tuples: &order::Tuples,
) -> Result<Vec<Arc<Bound>>, Diagnostic> {
    let form = &shared.strata.forms[stratum];
    let request = &mut shared.requests[stratum];
    let scope = Scope {
        data: problem.data,
        variables: &form.variables,
        indexes,
    };
    let (arity, count) = (form.parameters.len(), tuples.evaluated);
    let sizes: Vec<u64> = (form.parameters.iter())
        .map(|p| u64::from(scope.size_of(*p)))
        .collect();
    // The longest list is in the innermost loop, so the tuples are in the order of the codes only if it is the last
    // one.
    let in_order = sizes == request.extents && sizes.is_sorted();
    let every = count as u64 == request.grid() && count == tuples.codes.len();
    if arity > 0 && in_order && every && tuples.codes.is_sorted() {
        request.complete = true;
        let each = |p: &VarId| (shared.lists).all(scope, None, vec![*p]);
        return form.parameters.iter().map(each).collect();
    }
    let mut cells = vec![0; count * arity];
    if arity > 0 {
        for (row, &code) in cells.chunks_exact_mut(arity).zip(&tuples.codes) {
            request.decode(code, row);
        }
    }
    let bound = (shared.lists).tuples(form.parameters.clone(), count, cells);
    Ok(vec![bound])
}

/// One stratum through the passes, under the list of its tuples.
fn ground_one(
    problem: Problem,
    shared: &mut Shared,
    indexes: &TableIndexes,
    form: &StratumForm,
    circle: &Circle,
    bound: &[Arc<Bound>],
    mut normal: Normal,
) -> Result<(Program, Vec<Rewrite>), Diagnostic> {
    let Problem {
        semantics, options, ..
    } = problem;
    let scope = Scope {
        data: problem.data,
        variables: &form.variables,
        indexes,
    };
    let mut rewrites = Vec::new();
    if options.narrow && semantics.in_log_space() {
        let mut narrow = Narrow {
            scope,
            semantics,
            written: &form.written,
            always: options.always,
            counts: problem.counting().is_some(),
            shards: None,
            rewrites: &mut rewrites,
        };
        narrow.apply(&mut normal);
    }
    // Inside a cycle, the tuples that are used must be those that the text uses.
    if options.eliminate && semantics.and_distributes_over_exists() && !circle.goes_round {
        let mut eliminate = Eliminate {
            scope,
            outputs: problem.outputs,
            written: &form.written,
            always: options.always,
            shards: None,
            lists: &mut shared.lists,
            around: bound.to_vec(),
        };
        eliminate.apply(&mut normal)?;
    }
    let mut program = ground::ground_under(scope, problem.outputs, shared, bound.to_vec(), normal)?;
    rewrites.append(&mut program.rewrites);
    Ok((program, rewrites))
}

/// Strata that use each other, or a single one.
pub(super) struct Circle {
    pub members: Vec<usize>,
    /// Whether one of its strata uses itself, directly or through others.
    pub goes_round: bool,
}

/// All cycles, users first.
fn circles(forms: &[StratumForm]) -> Vec<Circle> {
    let uses: Vec<FxHashSet<usize>> = (forms.iter())
        .map(|form| {
            let found = form.formulas.iter().flatten().flat_map(Normal::uses);
            let sides = form.contraction.map(|(left, right, _)| [left, right]);
            let found = found.map(|(stratum, _)| stratum);
            found.chain(sides.into_iter().flatten()).collect()
        })
        .collect();
    let reach: Vec<FxHashSet<usize>> = (0..forms.len())
        .map(|from| {
            let mut reached: FxHashSet<usize> = FxHashSet::default();
            let mut open = vec![from];
            while let Some(at) = open.pop() {
                open.extend(uses[at].iter().filter(|u| reached.insert(**u)));
            }
            reached
        })
        .collect();
    let mut seen = vec![false; forms.len()];
    let mut circles: Vec<Circle> = Vec::new();
    for a in 0..forms.len() {
        if seen[a] {
            continue;
        }
        let with = |b: &usize| *b == a || reach[a].contains(b) && reach[*b].contains(&a);
        let members: Vec<usize> = (a..forms.len()).filter(with).collect();
        members.iter().for_each(|&m| seen[m] = true);
        circles.push(Circle {
            goes_round: reach[a].contains(&a),
            members,
        });
    }
    // Those that reach more come first.
    let asks = |a: &Circle, b: &Circle| reach[a.members[0]].contains(&b.members[0]);
    let mut sorted: Vec<Circle> = Vec::new();
    for circle in circles {
        let place = sorted.iter().position(|other| asks(&circle, other));
        sorted.insert(place.unwrap_or(sorted.len()), circle);
    }
    sorted
}
