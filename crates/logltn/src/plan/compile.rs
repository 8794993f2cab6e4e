//! From a theory to a plan: each axiom goes through the passes, one after another.

use std::sync::Arc;

use super::account::Account;
use super::eliminate::Eliminate;
use super::functions::check_functions;
use super::ground::{self, Grounder, Shared};
use super::lower::{Lower, places_in_complete_tables};
use super::narrow::Narrow;
use super::normal::{Maker, Member, Normal};
use super::passes::Forms;
use super::physical::Physical;
use super::program::{Program, Ungrounded};
use super::shard::Shards;
use super::stream;
use super::{Plan, PlanOptions, PlannedAxiom, Ranked};
use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, memory};
use crate::guard::{Scope, TableIndexes};
use crate::output::{Output, OutputKind};
use crate::semantics::Semantics;
use crate::theory::*;

/// What is planned, and how.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub data: &'a Data,
    pub outputs: &'a [Output],
    pub semantics: &'a Semantics,
    pub options: &'a PlanOptions,
}

impl<'a> Problem<'a> {
    /// What this process has its own of, if there are others.
    fn shards(&self, axiom: usize) -> Option<Shards<'a>> {
        self.options.sharded.then(|| Shards {
            data: self.data,
            variables: &self.data.theory().axioms[axiom].variables,
        })
    }
}

/// An axiom, or a member of a family, that has been through the passes up to grounding.
pub(super) struct Grounded {
    pub axiom: PlannedAxiom,
    pub program: Program,
    pub forms: Forms,
    pub warning: Option<Diagnostic>,
}

/// One that has been through all passes.
pub(super) struct Lowered {
    pub axiom: PlannedAxiom,
    pub program: Physical,
    pub forms: Forms,
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
    if found.has_errors() {
        return Err(found);
    }
    let indexes = TableIndexes::default();
    let mut shared = Shared::new(Grounder::new(Account::new(options.memory)));
    // What comes with a call is planned last, so that the rest can stay.
    let (streamed, fixed): (Vec<_>, Vec<_>) =
        (theory.axioms.iter().enumerate()).partition(|(_, axiom)| stream::depends(data, axiom));
    let mut lowered = Vec::new();
    let mut plan_all = |shared: &mut Shared, axioms: Vec<(usize, &Axiom)>| {
        let mut grounded = Vec::new();
        let mut normal_forms = Vec::new();
        for (index, axiom) in axioms {
            let scope = Scope {
                data,
                variables: &axiom.variables,
                indexes: &indexes,
            };
            let mut maker = Maker {
                scope,
                semantics,
                fixed: vec![None; axiom.variables.len()],
                warnings: &mut found,
            };
            memory::doing(format!("planning axiom `{}`", axiom.name));
            let done = maker.members(axiom).and_then(|members| {
                let keep = stream::depends(data, axiom);
                normal_forms.extend(
                    (members.iter())
                        .filter(|_| keep)
                        .map(|m| (index, m.clone())),
                );
                let plan = |m| ground_member(problem, scope, shared, index, m);
                members.into_iter().map(plan).collect::<Result<Vec<_>, _>>()
            });
            // Each axiom is planned even if an earlier one failed, to report all errors.
            match done {
                Err(error) => found.push(error),
                Ok(members) => grounded.extend(members),
            }
        }
        lowered.extend(lower_all(problem, shared, grounded, &mut found));
        normal_forms
    };
    plan_all(&mut shared, fixed);
    shared.fix();
    let normal_forms = plan_all(&mut shared, streamed);
    lowered.sort_by_key(|l| l.axiom.axiom);
    // Whoever explains axioms does not weigh them.
    let weighed = options.ranked != Ranked::Foralls;
    let axioms = lowered.iter().map(|l| &l.axiom);
    check_weights(theory, axioms, weighed, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let mut plan = Plan {
        data: Arc::new(data.clone()),
        outputs: outputs.to_vec(),
        semantics: *semantics,
        axioms: Vec::with_capacity(lowered.len()),
        programs: Vec::with_capacity(lowered.len()),
        forms: Vec::with_capacity(lowered.len()),
        components: Vec::new(),
        maps: Vec::new(),
        requests: Vec::new(),
        warnings: found,
        streaming: None,
    };
    for Lowered {
        axiom,
        program,
        forms,
    } in lowered
    {
        plan.axioms.push(axiom);
        plan.programs.push(program);
        plan.forms.push(forms);
    }
    plan.keep(shared, *options, normal_forms);
    Ok(plan)
}

/// What the engine runs of axioms that have been grounded.
pub(super) fn lower_all(
    problem: Problem,
    shared: &mut Shared,
    grounded: Vec<Grounded>,
    found: &mut Diagnostics,
) -> Vec<Lowered> {
    let theory = problem.data.theory();
    let (mut programs, mut others) = (Vec::new(), Vec::new());
    for one in grounded {
        one.warning.into_iter().for_each(|w| found.push(w));
        programs.push(one.program);
        others.push((one.axiom, one.forms));
    }
    let own = shared.fixed.requests..;
    for problem in (shared.lists.account).take_tables(&shared.requests[own], theory) {
        found.push(problem);
    }
    if found.has_errors() {
        return Vec::new();
    }
    places_in_complete_tables(&mut programs, &mut shared.maps, &shared.requests);
    let lower = Lower {
        semantics: problem.semantics,
        components: &shared.lists.components,
        maps: &shared.maps,
        requests: &shared.requests,
    };
    let mut lowered = Vec::with_capacity(programs.len());
    for (program, (axiom, forms)) in programs.into_iter().zip(others) {
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
        });
    }
    lowered
}

/// Work that takes decades, in values of nodes.
const HOPELESS: u64 = 1_000_000_000_000_000_000;

fn endless(theory: &Theory, axiom: &PlannedAxiom) -> Diagnostic {
    let PlannedAxiom {
        name, groundings, ..
    } = axiom;
    Diagnostic::error(
        Code::TooManyBindings,
        format!(
            "axiom `{name}` has {:.1e} groundings, which nobody can go through",
            *groundings as f64
        ),
    )
    .at(&theory.source, axiom.span, "")
    .help("use guards that tie variables to each other, or fewer quantifiers inside each other")
}

/// Takes an axiom, or a member of a family, from its normal form through all other passes.
pub(super) fn ground_member(
    problem: Problem,
    scope: Scope,
    shared: &mut Shared,
    index: usize,
    member: Member,
) -> Result<Grounded, Diagnostic> {
    let Problem {
        semantics, options, ..
    } = problem;
    let axiom = &problem.data.theory().axioms[index];
    let Member { name, formula } = member;
    let shards = problem.shards(index);
    if let Some(shards) = shards {
        shards.check(axiom, &formula, semantics)?;
    }
    let mut forms = Forms::default();
    let mut keep = |form: &Normal| {
        if options.keep_forms {
            forms.push((scope.theory()).whole_normal_text(scope.variables, form));
        }
    };
    let mut rewrites = Vec::new();
    let mut normal = formula;
    let ranked = match options.ranked {
        Ranked::None => 0,
        Ranked::First => 1,
        Ranked::Foralls => normal.foralls(),
    };
    let explained = options.ranked == Ranked::Foralls;
    let written = explained.then(|| normal.clone());
    keep(&normal);
    if options.narrow && semantics.in_log_space() {
        let mut narrow = Narrow {
            scope,
            semantics,
            written: &axiom.formula,
            always: options.always,
            shards,
            rewrites: &mut rewrites,
        };
        // Whose bindings are asked for keeps them.
        narrow.apply(normal.under_mut(ranked));
    }
    keep(&normal);
    if options.eliminate && semantics.and_distributes_over_exists() {
        let mut eliminate = Eliminate {
            scope,
            outputs: problem.outputs,
            written: &axiom.formula,
            always: options.always,
            shards,
            lists: &mut shared.lists,
            around: Vec::new(),
        };
        eliminate.apply(&mut normal)?;
    }
    keep(&normal);
    let form = written.map(|written| {
        Arc::new(Ungrounded {
            written,
            eliminated: rewrites.is_empty().then(|| normal.clone()),
            foralls: ranked,
        })
    });
    let mut program = ground::ground(scope, problem.outputs, shared, normal, ranked)?;
    program.form = form;
    let counts = ground::count(scope, &shared.lists, &program);
    let differs = semantics.in_log_space() && axiom.formula.nnf_differs();
    let warning = counts.warning(&scope, &name, differs);
    // Without the rows that come with the call nothing is known yet.
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
        empty_exists: u64::try_from(counts.empty_exists).unwrap_or(u64::MAX),
        span: axiom.name_span,
    };
    Ok(Grounded {
        axiom,
        program,
        forms,
        warning,
    })
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
        Some(last) if weighed && axioms.map(|a| a.weight).sum::<f64>() == 0.0 => found.push(
            Diagnostic::error(Code::ZeroWeights, "the weights of the axioms add up to 0")
                .at(&theory.source, last.span, "")
                .help("give at least one axiom a weight above 0"),
        ),
        _ => {}
    }
}

pub(super) fn check(data: &Data, outputs: &[Output], semantics: &Semantics, out: &mut Diagnostics) {
    let theory = data.theory();
    check_functions(data, out);
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
