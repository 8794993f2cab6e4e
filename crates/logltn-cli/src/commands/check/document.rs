//! What `check --json` prints, of a manifest or of a knowledge base in memory.

use std::collections::BTreeMap;

use logltn::theory::{
    ColumnSort, ConstantId, FunctionId, ParamId, PredicateId, SortId, SortKind, TableId,
};
use logltn::{ConstantData, Data, Diagnostics, EventSize, Number, Pass, Plan};
use logltn_learn::{ClosedForm, StepWork};
use logltn_train::manifest::{Constant, Grounding, Manifest};
use logltn_train::project::Project;
use serde::Serialize;

use crate::commands::identify::NotFixed;
use crate::console::{Message, messages};

/// The whole document.
#[derive(Serialize)]
pub struct Document<'a> {
    theory: String,
    manifest: Option<&'a str>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
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

/// The estimated cost of a training step.
#[derive(Serialize)]
pub struct Step {
    groundings: u128,
    seconds: f64,
    network_bytes: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u128>,
}

impl Step {
    /// The cost of the axioms alone, without networks.
    pub fn of_axioms(groundings: u128, seconds: f64) -> Step {
        Step {
            groundings,
            seconds,
            network_bytes: 0,
            memory_bytes: None,
        }
    }
}

impl From<&StepWork> for Step {
    fn from(work: &StepWork) -> Step {
        Step {
            groundings: work.groundings,
            seconds: work.seconds,
            network_bytes: work.network_bytes,
            memory_bytes: Some(work.memory_bytes),
        }
    }
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
    learnable: Option<serde_json::Value>,
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
    /// Its depth limit, if it has one.
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

/// What it is about.
struct About<'a> {
    data: &'a Data,
    plan: &'a Plan,
    project: Option<&'a Project>,
}

/// That of a project.
pub fn document<'a>(
    project: &'a Project,
    plan: &'a Plan,
    passes: Option<&[Pass]>,
    work: &StepWork,
    not_fixed: &'a [NotFixed],
    found: &'a Diagnostics,
) -> Document<'a> {
    let about = About {
        data: &project.data,
        plan,
        project: Some(project),
    };
    Document {
        plan: passes.map(|_| plan.to_string()),
        passes: passes.map(|all| all.iter().map(|pass| pass_info(plan, *pass)).collect()),
        not_fixed,
        ..about.document(Some(work.into()), found)
    }
}

/// That of a plan whose numbers come from its host, and of axioms with these weights.
pub fn document_of_plan<'a>(
    plan: &'a Plan,
    weights: &[f64],
    step: Option<Step>,
    found: &'a Diagnostics,
) -> Document<'a> {
    let about = About {
        data: plan.data(),
        plan,
        project: None,
    };
    let mut document = about.document(step, found);
    let axioms = document.axioms.iter_mut().zip(weights);
    axioms.for_each(|(axiom, weight)| axiom.weight = *weight);
    document
}

impl<'a> About<'a> {
    fn manifest(&self) -> Option<&'a Manifest> {
        self.project.map(|project| &project.manifest)
    }

    fn document(&self, step: Option<Step>, found: &'a Diagnostics) -> Document<'a> {
        Document {
            theory: self.data.theory().source.name().to_string(),
            manifest: self.manifest().map(|manifest| manifest.source.name()),
            semantics: self.plan.semantics().to_string(),
            sorts: self.sorts(),
            params: self.params(),
            constants: self.constants(),
            tables: self.tables(),
            functions: self.functions(),
            predicates: self.predicates(),
            definitions: self.definitions(),
            axioms: self.axioms(),
            memory_bytes: self.plan.memory_bytes(),
            step,
            plan: None,
            passes: None,
            not_fixed: &[],
            warnings: messages(found),
        }
    }

    fn sorts(&self) -> Vec<Sort<'a>> {
        let sorts = self.data.theory().sorts.iter().enumerate();
        sorts
            .map(|(i, sort)| {
                let id = SortId(i as u32);
                let file = self.project.and_then(|project| project.feature_file(id));
                Sort {
                    name: &sort.name,
                    kind: match sort.kind {
                        SortKind::Data => "data",
                        SortKind::Range(..) => "range",
                        SortKind::Labels => "labels",
                    },
                    size: self.data.size(id),
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

    fn params(&self) -> Vec<Param<'a>> {
        let params = self.data.theory().params.iter().enumerate();
        params
            .map(|(i, param)| Param {
                name: &param.name,
                value: match self.data.param(ParamId(i as u32)) {
                    Some(Number::Int(n)) => Some(n.into()),
                    Some(Number::Real(x)) => serde_json::Number::from_f64(x),
                    None => None,
                },
            })
            .collect()
    }

    fn constants(&self) -> Vec<ConstantInfo<'a>> {
        let theory = self.data.theory();
        let constants = theory.constants.iter().enumerate();
        constants
            .map(|(i, constant)| {
                let given = self.manifest().map(|m| m.constants.get(&constant.name));
                let (row, learnable) = match given {
                    Some(given) => match given.map(|g| &g.value) {
                        Some(Constant::Row(row)) => (Some(row.value.into()), None),
                        // Listed by name only, as elsewhere.
                        Some(Constant::Name(name)) => (Some(name.value.as_str().into()), None),
                        Some(Constant::Learnable(length)) => (None, Some(length.value.into())),
                        None => (None, None),
                    },
                    None => match self.data.constant(ConstantId(i as u32)) {
                        Some(ConstantData::Row(row)) => (Some(row.into()), None),
                        Some(ConstantData::Learnable) => (None, Some(true.into())),
                        None => (None, None),
                    },
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

    fn tables(&self) -> Vec<Table<'a>> {
        let theory = self.data.theory();
        let tables = theory.tables.iter().enumerate();
        tables
            .map(|(i, table)| {
                let given = self.manifest().and_then(|m| m.tables.get(&table.name));
                let rows = self.data.table(TableId(i as u32));
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

    fn functions(&self) -> Vec<Function<'a>> {
        let theory = self.data.theory();
        let functions = theory.functions.iter().enumerate();
        functions
            .filter(|(_, function)| function.field().is_none())
            .map(|(i, function)| {
                let given = self
                    .manifest()
                    .and_then(|m| m.functions.get(&function.name));
                let grounding = match given.is_some_and(|given| given.network.is_some()) {
                    true => "network",
                    false if self.data.function(FunctionId(i as u32)).is_some() => "data",
                    false => "host",
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

    fn predicates(&self) -> Vec<Predicate<'a>> {
        let theory = self.data.theory();
        let predicates = theory.predicates.iter().enumerate();
        predicates
            .map(|(i, predicate)| (predicate, self.plan.output(PredicateId(i as u32))))
            .map(|(predicate, output)| Predicate {
                name: &predicate.name,
                arguments: (predicate.arguments.iter())
                    .map(|sort| theory.argument_sort_name(sort))
                    .collect(),
                grounding: grounding_name(self.manifest(), &predicate.name),
                output: output.kind.name(),
                per_class: output.per_class,
                closed_form: self.closed_form(&predicate.name).map(ClosedForm::text),
                learn: self.closed_form(&predicate.name).map(|form| {
                    let learnt = form.learnt().iter();
                    learnt
                        .map(|(name, first)| (name.as_str(), &first[..]))
                        .collect()
                }),
            })
            .collect()
    }

    fn closed_form(&self, predicate: &str) -> Option<&'a ClosedForm> {
        match &self.manifest()?.predicates.get(predicate)?.grounding {
            Grounding::ClosedForm(form) => Some(form),
            _ => None,
        }
    }

    fn definitions(&self) -> Vec<Definition<'a>> {
        let theory = self.data.theory();
        let planned = self.plan.definitions();
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

    fn axioms(&self) -> Vec<Axiom<'a>> {
        let theory = self.data.theory();
        // The members of a family follow each other and have the same formula.
        let mut last: Option<(usize, String, Option<String>)> = None;
        let planned = self.plan.axioms().iter().enumerate();
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
                    circuits: self.plan.event_size(place).map(Circuits::from),
                }
            })
            .collect()
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

/// The grounding of a predicate, as a manifest calls it.
fn grounding_name(manifest: Option<&Manifest>, predicate: &str) -> &'static str {
    let given = manifest.and_then(|manifest| manifest.predicates.get(predicate));
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
