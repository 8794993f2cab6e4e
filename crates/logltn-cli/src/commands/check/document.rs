//! What `check --json` prints.

use std::collections::BTreeMap;

use logltn::theory::{ColumnSort, SortId, SortKind, TableId};
use logltn::{Diagnostics, EventSize, Number, Output, OutputKind, Pass, Plan};
use logltn_learn::{ClosedForm, StepWork};
use logltn_train::manifest::{Constant, Grounding};
use logltn_train::project::Project;
use serde::Serialize;

use crate::commands::identify::NotFixed;
use crate::console::{Message, messages};

/// The whole document.
#[derive(Serialize)]
pub struct Document<'a> {
    theory: String,
    manifest: &'a str,
    semantics: String,
    sorts: Vec<Sort<'a>>,
    params: Vec<Param<'a>>,
    constants: Vec<ConstantInfo<'a>>,
    tables: Vec<Table<'a>>,
    functions: Vec<Function<'a>>,
    predicates: Vec<Predicate<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    definitions: Vec<Definition<'a>>,
    axioms: Vec<Axiom<'a>>,
    memory_bytes: usize,
    step: Step,
    /// With `--plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    /// With `--plan`: what each pass made of the axioms.
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<Vec<PassInfo<'a>>>,
    /// Predicates whose classes the axioms leave open, as far as a second is enough to find out.
    #[serde(skip_serializing_if = "<[NotFixed]>::is_empty")]
    not_fixed: &'a [NotFixed],
    warnings: Vec<Message<'a>>,
}

/// What a step of training takes, about.
#[derive(Serialize)]
struct Step {
    groundings: u128,
    seconds: f64,
    network_bytes: u128,
    memory_bytes: u128,
}

#[derive(Serialize)]
struct PassInfo<'a> {
    name: &'static str,
    axioms: Vec<Form<'a>>,
}

/// An axiom after a pass.
#[derive(Serialize)]
struct Form<'a> {
    name: &'a str,
    form: String,
}

#[derive(Serialize)]
struct Sort<'a> {
    name: &'a str,
    kind: &'static str,
    size: usize,
    /// The fields of its features, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Vec<Field<'a>>>,
}

#[derive(Serialize)]
struct Field<'a> {
    name: Option<&'a str>,
    shape: &'a [usize],
}

#[derive(Serialize)]
struct Param<'a> {
    name: &'a str,
    value: Option<serde_json::Number>,
}

#[derive(Serialize)]
struct ConstantInfo<'a> {
    name: &'a str,
    sort: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    learnable: Option<usize>,
}

#[derive(Serialize)]
struct Table<'a> {
    name: &'a str,
    columns: Vec<Column<'a>>,
    rows: usize,
    batch: Option<usize>,
}

#[derive(Serialize)]
struct Column<'a> {
    name: &'a str,
    sort: &'a str,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Vec<String>,
    result: String,
    grounding: &'static str,
}

#[derive(Serialize)]
struct Predicate<'a> {
    name: &'a str,
    arguments: Vec<String>,
    grounding: &'static str,
    output: &'static str,
    per_class: bool,
    /// Its closed form, and what that learns with its first values.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_form: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    learn: Option<BTreeMap<&'a str, &'a [f64]>>,
}

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    arguments: Vec<&'a str>,
    formula: String,
    /// How deep it may go, if that is said.
    to_depth: Option<u32>,
    /// How many tuples are asked for, and how deep they go; null where it is written out.
    tuples: Option<usize>,
    depth: Option<usize>,
}

#[derive(Serialize)]
struct Axiom<'a> {
    name: &'a str,
    /// The family it is a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    weight: f64,
    formula: String,
    nnf: Option<String>,
    groundings_before: u128,
    groundings: u128,
    empty_exists: u64,
    line: usize,
    /// Whether it is a law of exact probabilities.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hard: bool,
    /// The circuits of its events, where formulas have exact probabilities; of a law, of all laws together.
    #[serde(flatten)]
    circuits: Option<Circuits>,
}

#[derive(Serialize)]
struct Circuits {
    events: usize,
    shapes: usize,
    nodes: usize,
    edges: usize,
}

impl From<EventSize> for Circuits {
    fn from(size: EventSize) -> Circuits {
        Circuits {
            events: size.events,
            shapes: size.shapes,
            nodes: size.nodes,
            edges: size.edges,
        }
    }
}

/// Makes it.
pub fn document<'a>(
    project: &'a Project,
    plan: &'a Plan,
    passes: Option<&[Pass]>,
    work: &StepWork,
    not_fixed: &'a [NotFixed],
    found: &'a Diagnostics,
) -> Document<'a> {
    let theory = project.theory();
    Document {
        theory: theory.source.name().to_string(),
        manifest: project.manifest.source.name(),
        semantics: project.manifest.semantics.to_string(),
        sorts: sorts(project),
        params: params(project),
        constants: constants(project),
        tables: tables(project),
        functions: functions(project),
        predicates: predicates(project),
        definitions: definitions(project, plan),
        axioms: axioms(project, plan),
        memory_bytes: plan.memory_bytes(),
        step: Step {
            groundings: work.groundings,
            seconds: work.seconds,
            network_bytes: work.network_bytes,
            memory_bytes: work.memory_bytes,
        },
        plan: passes.map(|_| plan.to_string()),
        passes: passes.map(|all| all.iter().map(|pass| pass_info(plan, *pass)).collect()),
        not_fixed,
        warnings: messages(found),
    }
}

fn pass_info(plan: &Plan, pass: Pass) -> PassInfo<'_> {
    let axioms = plan.axioms().iter().enumerate();
    let axioms = axioms.map(|(i, axiom)| Form {
        name: &axiom.name,
        form: plan.form(i, pass).unwrap_or_default(),
    });
    PassInfo {
        name: pass.name(),
        axioms: axioms.collect(),
    }
}

fn sorts(project: &Project) -> Vec<Sort<'_>> {
    let sorts = project.theory().sorts.iter().enumerate();
    sorts
        .map(|(i, sort)| {
            let id = SortId(i as u32);
            let file = project.feature_file(id);
            Sort {
                name: &sort.name,
                kind: match sort.kind {
                    SortKind::Data => "data",
                    SortKind::Range(..) => "range",
                    SortKind::Labels => "labels",
                },
                size: project.data.size(id),
                features: file.map(|file| {
                    let fields = file.fields.iter().map(|field| Field {
                        name: field.name.as_deref(),
                        shape: &field.shape,
                    });
                    fields.collect()
                }),
            }
        })
        .collect()
}

fn params(project: &Project) -> Vec<Param<'_>> {
    let params = project.theory().params.iter().enumerate();
    params
        .map(|(i, param)| Param {
            name: &param.name,
            value: match project.data.param(logltn::theory::ParamId(i as u32)) {
                Some(Number::Int(n)) => Some(n.into()),
                Some(Number::Real(x)) => serde_json::Number::from_f64(x),
                None => None,
            },
        })
        .collect()
}

fn constants(project: &Project) -> Vec<ConstantInfo<'_>> {
    let theory = project.theory();
    let constants = theory.constants.iter();
    constants
        .map(|constant| {
            let given = project.manifest.constants.get(&constant.name);
            let (row, learnable) = match given.map(|g| &g.value) {
                Some(Constant::Row(row)) => (Some(row.value.into()), None),
                // By name only, as everywhere.
                Some(Constant::Name(name)) => (Some(name.value.as_str().into()), None),
                Some(Constant::Learnable(length)) => (None, Some(length.value)),
                None => (None, None),
            };
            ConstantInfo {
                name: &constant.name,
                sort: &theory[constant.sort].name,
                row,
                learnable,
            }
        })
        .collect()
}

fn tables(project: &Project) -> Vec<Table<'_>> {
    let theory = project.theory();
    let tables = theory.tables.iter().enumerate();
    tables
        .map(|(i, table)| {
            let given = project.manifest.tables.get(&table.name);
            let rows = project.data.table(TableId(i as u32));
            let column = |sort: ColumnSort| theory.column_sort_name(sort);
            Table {
                name: &table.name,
                columns: (table.columns.iter())
                    .map(|c| Column {
                        name: &c.name,
                        sort: column(c.sort),
                    })
                    .collect(),
                rows: rows.map_or(0, |data| data.rows),
                batch: given.and_then(|g| g.batch.as_ref()).map(|b| b.value),
            }
        })
        .collect()
}

fn functions(project: &Project) -> Vec<Function<'_>> {
    let theory = project.theory();
    let functions = theory
        .functions
        .iter()
        .filter(|function| function.field().is_none());
    functions
        .map(|function| {
            let given = project.manifest.functions.get(&function.name);
            let grounding = match given {
                Some(given) if given.values.is_some() => "data",
                Some(given) if given.network.is_some() => "network",
                _ => "host",
            };
            Function {
                name: &function.name,
                arguments: (function.arguments.iter())
                    .map(|sort| theory.argument_sort_name(sort))
                    .collect(),
                result: theory.argument_sort_name(&function.result),
                grounding,
            }
        })
        .collect()
}

fn predicates(project: &Project) -> Vec<Predicate<'_>> {
    let theory = project.theory();
    let predicates = theory.predicates.iter().zip(&project.outputs);
    predicates
        .map(|(predicate, output)| Predicate {
            name: &predicate.name,
            arguments: (predicate.arguments.iter())
                .map(|sort| theory.argument_sort_name(sort))
                .collect(),
            grounding: grounding_name(project, &predicate.name),
            output: output_name(*output),
            per_class: output.per_class,
            closed_form: closed_form(project, &predicate.name).map(ClosedForm::text),
            learn: closed_form(project, &predicate.name).map(|form| {
                let learnt = form.learnt().iter();
                learnt
                    .map(|(name, first)| (name.as_str(), &first[..]))
                    .collect()
            }),
        })
        .collect()
}

fn definitions<'a>(project: &'a Project, plan: &Plan) -> Vec<Definition<'a>> {
    let theory = project.theory();
    let planned = plan.definitions();
    (theory.definitions.iter())
        .map(|definition| {
            let planned = planned.iter().find(|p| p.name == definition.name());
            Definition {
                name: definition.name(),
                arguments: (definition.parameters().iter())
                    .map(|parameter| theory.column_sort_name(parameter.sort))
                    .collect(),
                formula: theory.show(&definition.body, &definition.body.formula),
                to_depth: definition.depth,
                tuples: planned.map(|p| p.tuples),
                depth: planned.map(|p| p.depth),
            }
        })
        .collect()
}

fn closed_form<'p>(project: &'p Project, predicate: &str) -> Option<&'p ClosedForm> {
    match &project.manifest.predicates.get(predicate)?.grounding {
        Grounding::ClosedForm(form) => Some(form),
        _ => None,
    }
}

/// The grounding of a predicate, as the manifest calls it.
pub fn grounding_name(project: &Project, predicate: &str) -> &'static str {
    let given = project.manifest.predicates.get(predicate);
    match given.map(|g| &g.grounding) {
        Some(Grounding::Network { .. }) => "network",
        Some(Grounding::Learnable { .. }) => "learnable",
        Some(Grounding::ClosedForm(_)) => "closed_form",
        Some(Grounding::Logits { .. }) => "logits",
        Some(Grounding::Truth(_)) => "truth",
        Some(Grounding::LogTruth(_)) => "log_truth",
        Some(Grounding::Host { .. }) | None => "host",
    }
}

/// What the numbers of a predicate mean.
pub fn output_name(output: Output) -> &'static str {
    match output.kind {
        OutputKind::Softmax => "softmax",
        OutputKind::Sigmoid => "sigmoid",
        OutputKind::Truth => "truth",
        OutputKind::LogTruth => "log_truth",
    }
}

fn axioms<'a>(project: &'a Project, plan: &'a Plan) -> Vec<Axiom<'a>> {
    let theory = project.theory();
    // The members of a family follow each other and have the same formula.
    let mut last: Option<(usize, String, Option<String>)> = None;
    let planned = plan.axioms().iter().enumerate();
    planned
        .map(|(place, planned)| {
            let axiom = &theory.axioms[planned.axiom];
            let (formula, nnf) = match &last {
                Some((index, formula, nnf)) if *index == planned.axiom => {
                    (formula.clone(), nnf.clone())
                }
                _ => {
                    let formula = theory.show(axiom, &axiom.formula);
                    let nnf = axiom.formula.nnf().map(|nnf| theory.show(axiom, &nnf));
                    last = Some((planned.axiom, formula.clone(), nnf.clone()));
                    (formula, nnf)
                }
            };
            Axiom {
                name: &planned.name,
                family: axiom.family.as_ref().map(|_| axiom.name.as_str()),
                weight: planned.weight,
                formula,
                nnf,
                groundings_before: planned.groundings_before,
                groundings: planned.groundings,
                empty_exists: planned.empty_exists,
                line: theory.source.line(planned.span.start),
                hard: planned.hard,
                circuits: plan.event_size(place).map(Circuits::from),
            }
        })
        .collect()
}
