//! From a theory to a plan: each axiom goes through the passes, one after another.

use std::sync::Arc;

use super::account::Account;
use super::eliminate::Eliminate;
use super::functions::check_functions;
use super::ground::{self, Counting, Grounder, Shared};
use super::lower::{Lower, places_in_complete_tables};
use super::narrow::Narrow;
use super::normal::{Kind, Maker, Member, Normal};
use super::passes::Forms;
use super::physical::Physical;
use super::program::{Program, Ungrounded};
use super::shard::Shards;
use super::share;
use super::strata::{self, StrataPlan, StratumPlan};
use super::stream;
use super::{Plan, PlanOptions, PlannedAxiom, Ranked, Rewrite};
use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard::{Scope, TableIndexes};
use crate::memory;
use crate::output::{Output, OutputKind};
use crate::plan::events::Events;
use crate::semantics::Semantics;
use crate::theory::*;

/// What to plan, and how.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub data: &'a Data,
    pub outputs: &'a [Output],
    pub semantics: &'a Semantics,
    pub options: &'a PlanOptions,
}

/// How many times fewer bindings are worth their weights.
const LEAST_COUNTED: usize = 3;

impl<'a> Problem<'a> {
    /// Whether parts of axioms may become strata. Without definitions in the theory, strata are not planned again for
    /// rows that come with a call; and questions about single bindings need the whole formula.
    fn shares_parts(&self) -> bool {
        self.options.share && self.is_settled()
    }

    /// Whether all bindings are known, and none is asked for by itself.
    fn is_settled(&self) -> bool {
        !self.options.sharded
            && self.options.ranked == Ranked::None
            && !self.semantics.exact
            && !self.data.streams_anything()
    }

    /// Whether bindings are counted that differ only in what the formula does not read.
    pub fn counting(&self) -> Option<Counting> {
        let PlanOptions { narrow, always, .. } = *self.options;
        let picks_one = |forall| self.semantics.aggregator(forall).laws().picks_one;
        (narrow && self.is_settled()).then(|| Counting {
            least: if always { 1 } else { LEAST_COUNTED },
            sorted: !picks_one(true) && !picks_one(false),
        })
    }

    /// What belongs to this process alone, if there are others.
    fn shards(&self, axiom: usize) -> Option<Shards<'a>> {
        self.options.sharded.then(|| Shards {
            data: self.data,
            variables: &self.data.theory().axioms[axiom].variables,
            what: "axiom",
        })
    }
}

/// An axiom, or a member of a family, that has been through the passes up to grounding.
pub(super) struct Grounded {
    pub axiom: PlannedAxiom,
    pub program: Program,
    pub forms: Forms,
    pub leading: usize,
    pub warning: Option<Diagnostic>,
}

/// One that has been through all passes.
pub(super) struct Lowered {
    pub axiom: PlannedAxiom,
    pub program: Physical,
    pub forms: Forms,
    pub leading: usize,
}

pub(super) fn compile(problem: Problem) -> Result<Plan, Diagnostics> {
    let Problem {
        data,
        outputs,
        semantics,
        options,
    } = problem;
    let theory = data.theory();
    let mut found = data.missing();
    check(data, outputs, semantics, &mut found);
    if semantics.exact && options.sharded {
        found.push(
            Diagnostic::error(
                Code::NotShardable,
                "`probability` cannot be computed by several processes together",
            )
            .help("let one process have all rows, or use another semantics, such as `logltn`"),
        );
    }
    if found.has_errors() {
        return Err(found);
    }
    if !theory.definitions.is_empty()
        && let Some(data) = strata::write_out(problem, &mut found)
        && !found.has_errors()
    {
        return compile(Problem {
            data: &data,
            ..problem
        });
    }
    if found.has_errors() {
        return Err(found);
    }
    let indexes = TableIndexes::default();
    let mut shared = Shared::new(Grounder::new(Account::new(options.memory)));
    shared.counting = problem.counting();
    if !theory.definitions.is_empty() {
        strata::prepare(problem, &mut shared, &indexes, &mut found);
        if let Err(error) = strata::take_sizes(problem, &mut shared) {
            found.push(error);
        }
        if found.has_errors() {
            return Err(found);
        }
    }
    // Axioms that depend on a call are planned last, so that the rest can stay.
    let (streamed, fixed): (Vec<_>, Vec<_>) =
        (theory.axioms.iter().enumerate()).partition(|(_, axiom)| stream::depends(data, axiom));
    let streams = !streamed.is_empty();
    let mut planning = Planning {
        problem,
        indexes: &indexes,
        found: &mut found,
        lowered: Vec::new(),
        strata: StrataPlan::default(),
    };
    planning.axioms(&mut shared, fixed, !streams);
    shared.fix();
    let normal_forms = match streams {
        true => planning.axioms(&mut shared, streamed, true),
        false => Vec::new(),
    };
    let Planning {
        mut lowered,
        strata,
        ..
    } = planning;
    lowered.sort_by_key(|l| l.axiom.axiom);
    // A caller that explains axioms ignores their weights.
    let weighed = options.ranked != Ranked::Foralls;
    let axioms = lowered.iter().map(|l| &l.axiom);
    // Laws alone may be those of a family without members: every world keeps them.
    if !options.only_laws {
        check_weights(theory, axioms, weighed, &mut found);
    }
    if found.has_errors() {
        return Err(found);
    }
    let mut plan = Plan::empty(Arc::new(data.clone()), outputs, *semantics);
    (plan.strata, plan.warnings) = (strata, found);
    for Lowered {
        axiom,
        program,
        forms,
        leading,
    } in lowered
    {
        plan.leading.push(leading);
        plan.axioms.push(axiom);
        plan.programs.push(program);
        plan.forms.push(forms);
    }
    plan.keep(shared, *options, normal_forms);
    if semantics.exact && options.events {
        memory::doing("compiling events");
        let bytes = options.memory.min(memory::limit());
        let events = Events::new(&plan, data.compile_time(), bytes)?;
        plan.events = Some(Arc::new(events));
    }
    Ok(plan)
}

/// Planning under way.
struct Planning<'a> {
    problem: Problem<'a>,
    indexes: &'a TableIndexes,
    found: &'a mut Diagnostics,
    lowered: Vec<Lowered>,
    strata: StrataPlan,
}

impl<'a> Planning<'a> {
    /// Plans some axioms; after the last ones, the strata that they use. Returns the normal forms of those that depend on a
    /// call.
    fn axioms(
        &mut self,
        shared: &mut Shared,
        axioms: Vec<(usize, &'a Axiom)>,
        last: bool,
    ) -> Vec<(usize, Member)> {
        let problem = self.problem;
        let Problem {
            data,
            semantics,
            options,
            ..
        } = problem;
        let theory = data.theory();
        let mut prepared = Vec::new();
        let mut normal_forms = Vec::new();
        for (index, axiom) in axioms {
            let scope = Scope {
                data,
                variables: &axiom.variables,
                indexes: self.indexes,
            };
            let mut maker = Maker {
                scope,
                semantics,
                fixed: vec![None; axiom.variables.len()],
                text: axiom.span,
                warnings: self.found,
            };
            memory::doing(format!("planning axiom `{}`", axiom.name));
            let done = maker.members(axiom).and_then(|mut members| {
                members.retain(|member| !options.only_laws || data.is_law(&member.name));
                let keep = stream::depends(data, axiom);
                normal_forms.extend(
                    (members.iter())
                        .filter(|_| keep)
                        .map(|m| (index, m.clone())),
                );
                let prepare = |m| prepare_member(problem, scope, index, m);
                (members.into_iter().map(prepare)).collect::<Result<Vec<_>, _>>()
            });
            // Each axiom is planned even if an earlier one failed, to report all errors.
            match done {
                Err(error) => self.found.push(error),
                Ok(members) => prepared.extend(members),
            }
        }
        if problem.shares_parts() && !self.found.has_errors() {
            share::apply(problem, shared, &mut prepared);
        }
        let mut grounded = Vec::with_capacity(prepared.len());
        let mut failed = None;
        for member in prepared {
            let index = member.index;
            // All members of a family have the same errors.
            if failed == Some(index) {
                continue;
            }
            memory::doing(format!("planning axiom `{}`", theory.axioms[index].name));
            match ground_prepared(problem, shared, member) {
                Err(error) => {
                    failed = Some(index);
                    self.found.push(error);
                }
                Ok(member) => grounded.push(member),
            }
        }
        let mut steps = Vec::new();
        let mut strata_grounded = Vec::new();
        // All axioms that use them ask about them.
        if last && !self.found.has_errors() {
            match strata::ground_all(problem, shared, self.indexes) {
                Ok(all) => (strata_grounded, steps) = all,
                Err(error) => self.found.push(error),
            }
        }
        let (axioms, planned) = lower_all(problem, shared, grounded, strata_grounded, self.found);
        self.lowered.extend(axioms);
        self.strata = StrataPlan {
            strata: planned,
            steps,
        };
        normal_forms
    }
}

/// Lowers grounded axioms to what the engine runs.
pub(super) fn lower_all(
    problem: Problem,
    shared: &mut Shared,
    grounded: Vec<Grounded>,
    strata: Vec<strata::Grounded>,
    found: &mut Diagnostics,
) -> (Vec<Lowered>, Vec<StratumPlan>) {
    let theory = problem.data.theory();
    let (mut programs, mut others) = (Vec::new(), Vec::new());
    for one in grounded {
        one.warning.into_iter().for_each(|w| found.push(w));
        programs.push(one.program);
        others.push((one.axiom, one.forms, one.leading));
    }
    let own = shared.fixed.requests..;
    for problem in (shared.lists.account).take_tables(&shared.requests[own], theory) {
        found.push(problem);
    }
    if found.has_errors() {
        return (Vec::new(), Vec::new());
    }
    let axioms = programs.len();
    let mut planned = Vec::with_capacity(strata.len());
    for stratum in strata {
        planned.push((
            stratum.plan,
            stratum.programs.each_ref().map(Option::is_some),
        ));
        programs.extend(stratum.programs.into_iter().flatten());
    }
    places_in_complete_tables(&mut programs, &mut shared.maps, &shared.requests);
    let lower = Lower {
        semantics: problem.semantics,
        components: &shared.lists.components,
        maps: &shared.maps,
        requests: &shared.requests,
    };
    let mut lowered = Vec::with_capacity(programs.len());
    let mut of_strata = programs.split_off(axioms).into_iter();
    let mut next = || {
        of_strata
            .next()
            .map(|program| lower.apply(program, usize::MAX))
    };
    let strata = (planned.into_iter())
        .map(|(mut plan, signs)| {
            plan.programs = signs.map(|asked| if asked { next() } else { None });
            plan
        })
        .collect();
    for (program, (axiom, forms, leading)) in programs.into_iter().zip(others) {
        let mut program = lower.apply(program, axiom.axiom);
        if let Some(shards) = problem.shards(axiom.axiom) {
            shards.mark(&mut program, &shared.lists.components);
        }
        if lower.work(&program) >= HOPELESS {
            found.push(endless(theory, &axiom));
        }
        lowered.push(Lowered {
            axiom,
            program,
            forms,
            leading,
        });
    }
    (lowered, strata)
}

/// Work that would take decades, in node values.
const HOPELESS: u64 = 1_000_000_000_000_000_000;

fn endless(theory: &Theory, axiom: &PlannedAxiom) -> Diagnostic {
    let PlannedAxiom {
        name, groundings, ..
    } = axiom;
    Diagnostic::error(
        Code::TooManyBindings,
        format!(
            "axiom `{name}` has {:.1e} groundings, too many to visit",
            *groundings as f64
        ),
    )
    .at(&theory.source, axiom.span, "")
    .help("use guards that tie variables to each other, or fewer quantifiers inside each other")
}

/// An axiom, or a member of a family, that has been through the passes that look at it alone and list nothing.
pub(super) struct Prepared<'a> {
    pub scope: Scope<'a>,
    pub index: usize,
    pub normal: Normal,
    name: String,
    individuals: Vec<u32>,
    forms: Forms,
    rewrites: Vec<Rewrite>,
    hard: bool,
    leading: usize,
    ranked: usize,
    /// The form before rewriting, for explanations.
    written: Option<Normal>,
}

impl Prepared<'_> {
    /// Takes the formula out; it has to be put back.
    pub fn take(&mut self) -> Normal {
        let nothing = Normal::new(Kind::Constant(true), self.normal.span);
        std::mem::replace(&mut self.normal, nothing)
    }

    fn keep_form(&mut self, options: &PlanOptions) {
        if options.keep_forms {
            let Prepared { scope, normal, .. } = &*self;
            let text = (scope.theory()).whole_normal_text(scope.variables, normal);
            self.forms.push(text);
        }
    }
}

/// Takes an axiom, or a member of a family, from its normal form through all other passes.
pub(super) fn ground_member(
    problem: Problem,
    scope: Scope,
    shared: &mut Shared,
    index: usize,
    member: Member,
) -> Result<Grounded, Diagnostic> {
    ground_prepared(
        problem,
        shared,
        prepare_member(problem, scope, index, member)?,
    )
}

fn prepare_member<'a>(
    problem: Problem<'a>,
    scope: Scope<'a>,
    index: usize,
    member: Member,
) -> Result<Prepared<'a>, Diagnostic> {
    let Problem {
        semantics, options, ..
    } = problem;
    let axiom = &problem.data.theory().axioms[index];
    let Member {
        name,
        individuals,
        formula,
    } = member;
    let shards = problem.shards(index);
    if let Some(shards) = shards {
        shards.check(axiom, &formula, semantics)?;
    }
    let mut rewrites = Vec::new();
    let mut normal = formula;
    let hard = semantics.exact && problem.data.is_law(&name);
    let leading = match semantics.exact && (hard || !options.joint) {
        true => leading_foralls(&axiom.formula).min(normal.foralls()),
        false => 0,
    };
    let ranked = match options.ranked {
        // Individuals that break a law are named.
        _ if hard => leading,
        Ranked::None => 0,
        Ranked::First => 1,
        Ranked::Foralls if semantics.exact => leading,
        Ranked::Foralls => normal.foralls(),
    };
    // The `find` is not part of the event.
    let leading = leading.max(ranked);
    let explained = options.ranked == Ranked::Foralls && !hard;
    let written = explained.then(|| normal.under_mut(ranked).clone());
    let mut prepared = Prepared {
        scope,
        index,
        name,
        individuals,
        forms: Forms::default(),
        rewrites: Vec::new(),
        hard,
        leading,
        ranked,
        written,
        normal,
    };
    prepared.keep_form(options);
    if options.narrow && semantics.in_log_space() && !semantics.exact {
        let mut narrow = Narrow {
            scope,
            semantics,
            written: &axiom.formula,
            always: options.always,
            counts: problem.counting().is_some(),
            shards,
            rewrites: &mut rewrites,
        };
        // An axiom whose bindings are asked for keeps its quantifiers.
        narrow.apply(prepared.normal.under_mut(ranked));
    }
    prepared.rewrites = rewrites;
    prepared.keep_form(options);
    Ok(prepared)
}

fn ground_prepared(
    problem: Problem,
    shared: &mut Shared,
    mut prepared: Prepared,
) -> Result<Grounded, Diagnostic> {
    let Problem {
        semantics, options, ..
    } = problem;
    prepared.keep_form(options);
    let (scope, index) = (prepared.scope, prepared.index);
    let axiom = &problem.data.theory().axioms[index];
    if options.eliminate && semantics.and_distributes_over_exists() && !semantics.exact {
        let mut eliminate = Eliminate {
            scope,
            outputs: problem.outputs,
            written: &axiom.formula,
            always: options.always,
            shards: problem.shards(index),
            lists: &mut shared.lists,
            around: Vec::new(),
        };
        eliminate.apply(&mut prepared.normal)?;
    }
    prepared.keep_form(options);
    let Prepared {
        mut normal,
        name,
        individuals,
        forms,
        mut rewrites,
        hard,
        leading,
        ranked,
        written,
        ..
    } = prepared;
    let form = written.map(|written| {
        Arc::new(Ungrounded {
            written,
            eliminated: (rewrites.is_empty()).then(|| normal.under_mut(ranked).clone()),
        })
    });
    let mut program = ground::ground(scope, problem.outputs, shared, normal, ranked)?;
    program.form = form;
    let counts = ground::count(scope, &shared.lists, &program);
    let differs = semantics.in_log_space() && axiom.formula.nnf_differs();
    let warning = counts.warning(&scope, &name, differs);
    // Nothing is known before the rows of the call are there.
    let waits = problem.data.waits_for_streams() && stream::depends(problem.data, axiom);
    let warning = warning.filter(|_| !waits);
    rewrites.append(&mut program.rewrites);
    program.rewrites = rewrites;
    let axiom = PlannedAxiom {
        name,
        weight: axiom.weight,
        axiom: index,
        groundings_before: ground::groundings_before(&scope, &axiom.formula),
        groundings: counts.groundings,
        empty_exists: match semantics.exact {
            true => 0,
            false => u64::try_from(counts.empty_exists).unwrap_or(u64::MAX),
        },
        span: axiom.name_span,
        hard,
        individuals,
    };
    Ok(Grounded {
        axiom,
        program,
        forms,
        leading,
        warning,
    })
}

/// How many nested `forall`s the negation normal form begins with; `all` does not count.
fn leading_foralls(formula: &Formula) -> usize {
    let (mut at, mut negated, mut count) = (formula, false, 0);
    loop {
        match &at.kind {
            FormulaKind::Not(inner) => (at, negated) = (inner, !negated),
            FormulaKind::Quantified {
                quantifier, body, ..
            } if matches!(
                (quantifier, negated),
                (Quantifier::Forall, false) | (Quantifier::Exists, true)
            ) =>
            {
                (at, count) = (body, count + 1);
            }
            _ => return count,
        }
    }
}

fn check_weights<'p>(
    theory: &Theory,
    axioms: impl Iterator<Item = &'p PlannedAxiom> + Clone,
    weighed: bool,
    found: &mut Diagnostics,
) {
    match axioms.clone().last() {
        None if !found.has_errors() => found.push(
            Diagnostic::error(Code::NoAxioms, "there are no axioms to evaluate")
                .help("write at least one: `axiom name: formula`"),
        ),
        // Laws have no weight, and there may be nothing but laws.
        Some(_) if axioms.clone().all(|a| a.hard) => {}
        Some(last)
            if weighed && axioms.filter(|a| !a.hard).map(|a| a.weight).sum::<f64>() == 0.0 =>
        {
            found.push(
                Diagnostic::error(Code::ZeroWeights, "the weights of the axioms add up to 0")
                    .at(&theory.source, last.span, "")
                    .help("give at least one axiom a weight above 0"),
            )
        }
        _ => {}
    }
}

pub(super) fn check(data: &Data, outputs: &[Output], semantics: &Semantics, out: &mut Diagnostics) {
    let theory = data.theory();
    check_functions(data, out);
    data.check_products(out);
    if let Err(error) = semantics.validate() {
        out.push(error);
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
        let name = &predicate.name;
        let error = |message: String| {
            Diagnostic::error(Code::NoClasses, message).at(&theory.source, predicate.span, "")
        };
        let is_softmax = output.kind == OutputKind::Softmax;
        match predicate.arguments.last() {
            _ if !output.per_class && is_softmax => out.push(error(format!(
                "predicate `{name}` is a softmax, so its last argument must pick the class"
            ))),
            _ if !output.per_class => {}
            Some(ArgumentSort::Sort(sort)) => {
                if is_softmax && data.sorts[sort.index()].size == Some(1) {
                    let message = format!(
                        "predicate `{name}` is a softmax over one class, which is always true"
                    );
                    out.push(error(message).help(format!(
                        "give sort `{}` a second individual, or use a sigmoid",
                        theory[*sort].name
                    )));
                }
            }
            _ => out.push(error(format!(
                "predicate `{name}` has no last argument that could pick a class"
            ))),
        }
    }
}
