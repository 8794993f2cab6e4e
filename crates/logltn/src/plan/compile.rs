//! From a theory to a plan: each axiom goes through the passes, one after another.

use std::sync::Arc;

use super::eliminate::Eliminate;
use super::ground::{self, Grounder, Shared};
use super::lower::{Lower, places_in_complete_tables};
use super::memory::Account;
use super::narrow::Narrow;
use super::normal::{Maker, Member, Normal};
use super::passes::Forms;
use super::program::Program;
use super::{Plan, PlanOptions, PlannedAxiom};
use crate::data::Data;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
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

/// An axiom that has been through the passes.
struct Planned {
    axiom: PlannedAxiom,
    program: Program,
    forms: Forms,
    warning: Option<Diagnostic>,
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
    let (mut axioms, mut programs, mut forms) = (Vec::new(), Vec::new(), Vec::new());
    for (index, axiom) in theory.axioms.iter().enumerate() {
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
        let planned = maker.members(axiom).and_then(|members| {
            let plan = |m| member(problem, scope, &mut shared, (index, axiom), m);
            members.into_iter().map(plan).collect::<Result<Vec<_>, _>>()
        });
        // Each axiom is planned even if an earlier one failed, to report all errors.
        match planned {
            Err(error) => found.push(error),
            Ok(members) => {
                for member in members {
                    member.warning.into_iter().for_each(|w| found.push(w));
                    axioms.push(member.axiom);
                    programs.push(member.program);
                    forms.push(member.forms);
                }
            }
        }
    }
    check_weights(theory, &axioms, &mut found);
    for problem in shared.lists.account.take_tables(&shared.requests, theory) {
        found.push(problem);
    }
    if found.has_errors() {
        return Err(found);
    }
    places_in_complete_tables(&mut programs, &mut shared.maps, &shared.requests);
    let lower = Lower {
        semantics,
        components: &shared.lists.components,
        maps: &shared.maps,
        requests: &shared.requests,
    };
    let programs = programs.into_iter().map(|p| lower.apply(p)).collect();
    Ok(Plan {
        data: Arc::new(data.clone()),
        outputs: outputs.to_vec(),
        semantics: *semantics,
        axioms,
        programs,
        forms,
        components: shared.lists.components,
        maps: shared.maps,
        requests: shared.requests,
        warnings: found,
    })
}

/// Takes an axiom, or a member of a family, from its normal form through all other passes.
fn member(
    problem: Problem,
    scope: Scope,
    shared: &mut Shared,
    (index, axiom): (usize, &Axiom),
    member: Member,
) -> Result<Planned, Diagnostic> {
    let Problem {
        semantics, options, ..
    } = problem;
    let Member { name, formula } = member;
    let mut forms = Forms::default();
    let mut keep = |form: &Normal| {
        if options.keep_forms {
            forms.push((scope.theory()).whole_normal_text(scope.variables, form));
        }
    };
    let mut rewrites = Vec::new();
    let mut normal = formula;
    keep(&normal);
    if options.narrow && semantics.in_log_space() {
        let mut narrow = Narrow {
            scope,
            semantics,
            written: &axiom.formula,
            always: options.always,
            rewrites: &mut rewrites,
        };
        normal = narrow.apply(normal);
    }
    keep(&normal);
    if options.eliminate && semantics.and_distributes_over_exists() {
        let mut eliminate = Eliminate {
            scope,
            outputs: problem.outputs,
            written: &axiom.formula,
            always: options.always,
            lists: &mut shared.lists,
            around: Vec::new(),
        };
        normal = eliminate.apply(normal)?;
    }
    keep(&normal);
    let mut program = ground::ground(scope, problem.outputs, shared, normal)?;
    let counts = ground::count(scope, &shared.lists, &program);
    let differs = semantics.in_log_space() && axiom.formula.nnf_differs();
    let warning = counts.warning(&scope, &name, differs);
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
    Ok(Planned {
        axiom,
        program,
        forms,
        warning,
    })
}

fn check_weights(theory: &Theory, axioms: &[PlannedAxiom], found: &mut Diagnostics) {
    match axioms.last() {
        None if !found.has_errors() => found.push(
            Diagnostic::error(Code::NoAxioms, "there are no axioms to evaluate")
                .help("write at least one: `axiom name: formula`"),
        ),
        Some(last) if axioms.iter().map(|a| a.weight).sum::<f64>() == 0.0 => found.push(
            Diagnostic::error(Code::ZeroWeights, "the weights of the axioms add up to 0")
                .at(&theory.source, last.span, "")
                .help("give at least one axiom a weight above 0"),
        ),
        _ => {}
    }
}

fn check(data: &Data, outputs: &[Output], semantics: &Semantics, out: &mut Diagnostics) {
    let theory = data.theory();
    if let Err(error) = semantics.validate() {
        out.push(Diagnostic::error(error.code(), error.to_string()).maybe_help(error.help()));
    }
    if outputs.len() != theory.predicates.len() {
        out.push(Diagnostic::error(
            Code::WrongNumberOfOutputs,
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
                    Code::NoClassArgument,
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
                            Code::SoftmaxOfOneClass,
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
                Code::NoClassArgument,
                format!(
                    "predicate `{}` has no last argument that could pick a class",
                    predicate.name
                ),
            )),
        }
    }
}
