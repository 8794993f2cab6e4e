//! Questions to a knowledge base: what is true, for which individuals, and what violates a rule.

use std::collections::HashMap;
use std::mem::replace;
use std::path::PathBuf;
use std::sync::Arc;

use logltn::Precision as Real;
use logltn::theory::PredicateId;
use logltn::{
    Code, Data, Diagnostic, Diagnostics, Engine, Identified, Identify, Output, OutputKind,
    Parameters, PlanOptions, Support,
};
use logltn_learn::{Ask, own_parameters};
use logltn_train::project::read_support;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::call::{AskedRows, State, at_rows};
use crate::coming::{Coming, Setting, setting};
use crate::error::{Failure, guarded, warn};
use crate::given::numbers;
use crate::knowledge_base::{AskedFor, GivenValue, KnowledgeBase, given_values, in_either};

/// A formula, a definition, or an axiom to explain; all axioms if none of these is given.
#[derive(FromPyObject)]
pub struct Question {
    #[pyo3(item)]
    formula: Option<String>,
    #[pyo3(item)]
    axiom: Option<String>,
    /// α, p and p_forall.
    #[pyo3(item)]
    parameters: (f64, f64, f64),
    #[pyo3(item)]
    top: usize,
    /// The definitions whose formulas an explanation expands.
    #[pyo3(item)]
    open: Vec<String>,
    /// A definition whose tuples are queried.
    #[pyo3(item)]
    definition: Option<String>,
    /// What a formula reads of the individuals besides what axioms read: a sort; a column, or all features for
    /// distances; the numbers row by row, and how many an individual has.
    #[pyo3(item)]
    features: Vec<(String, Option<String>, PyBuffer<f64>, usize)>,
}

/// What a question is about.
pub struct About {
    pub data: Data,
    /// For predicates given at rows: those rows.
    pub rows: Vec<(PredicateId, HashMap<Vec<u64>, usize>)>,
}

/// The document of `logltn query --json` or `logltn explain --json`; for a definition, its shape and truths.
#[pyfunction]
pub fn ask(
    py: Python<'_>,
    knowledge: &KnowledgeBase,
    question: Question,
    values: Vec<GivenValue>,
    coming: Option<Bound<'_, Coming>>,
) -> PyResult<String> {
    guarded(py, || {
        let given = given_values(&values);
        let at_rows = at_rows(&given);
        let ctrl_c = Arc::clone(&knowledge.process(py)?.ctrl_c);
        let (document, warnings) = asking(
            py,
            knowledge,
            &question,
            at_rows,
            coming,
            move |about, engine| {
                engine.run_in(Arc::clone(&ctrl_c.pool));
                engine.set_stop(Arc::clone(&ctrl_c.stop));
                let plan = Arc::clone(engine.plan());
                let mut state = State::new(replace(engine, Engine::new(plan)), None, None);
                let known = (about.rows.iter()).try_for_each(|(p, rows)| state.know_rows(*p, rows));
                let taken = known.and_then(|()| state.take(&given));
                *engine = state.into_engine();
                taken
            },
        )?;
        warn(py, &warnings)?;
        Ok(document)
    })
}

/// What a question needs from the networks: its requests, and the numbers used as arguments.
#[pyfunction]
pub fn asked<'py>(
    py: Python<'py>,
    knowledge: &KnowledgeBase,
    question: Question,
    coming: Option<Bound<'_, Coming>>,
) -> PyResult<(Vec<AskedFor<'py>>, Vec<f64>)> {
    guarded(py, || {
        let mut seen: Option<(Vec<AskedRows>, Vec<f64>)> = None;
        let done = asking(py, knowledge, &question, Vec::new(), coming, |_, engine| {
            let numbers = engine.plan().data().numbers().to_vec();
            seen = Some((
                engine.requests().iter().map(AskedRows::from).collect(),
                numbers,
            ));
            // They have no answers yet.
            Err(Diagnostics::new())
        });
        match (seen, done) {
            (Some((rows, numbers)), _) => Ok((knowledge.asked_for(py, &rows)?, numbers)),
            (None, Err(failure)) => Err(failure),
            (None, Ok(_)) => Ok((Vec::new(), Vec::new())),
        }
    })
}

/// Runs the query; returns the document and its new warnings.
fn asking(
    py: Python<'_>,
    knowledge: &KnowledgeBase,
    question: &Question,
    at_rows: Vec<PredicateId>,
    coming: Option<Bound<'_, Coming>>,
    fill_in: impl FnOnce(&About, &mut Engine<f64>) -> Result<(), Diagnostics> + Send,
) -> Result<(String, Diagnostics), Failure> {
    let setting = setting(py, knowledge.plan.data(), coming.as_ref())?;
    let ctrl_c = Arc::clone(&knowledge.process(py)?.ctrl_c);
    let (plan, recipe) = (&knowledge.plan, &knowledge.recipe);
    let (alpha, p, p_forall) = question.parameters;
    let (formula, axiom) = (&question.formula, &question.axiom);
    let (definition, top, open) = (&question.definition, question.top, &question.open);
    let mut features = Vec::new();
    for (sort, column, buffer, width) in &question.features {
        features.push((sort, column, numbers(py, buffer)?, *width));
    }
    knowledge.with(py, move |state| {
        let mut about = in_either!(state, state => about(state, &setting, &at_rows))?;
        for (sort, column, values, width) in features {
            match column {
                Some(column) => about.data = about.data.with_field(sort, column, values)?,
                None => about.data.set_features(sort, width, values)?,
            }
        }
        let ask = Ask {
            data: &about.data,
            outputs: &recipe.outputs,
            semantics: *plan.semantics(),
            parameters: Parameters { alpha, p, p_forall },
            top,
            // Only about this process's own data.
            options: PlanOptions {
                sharded: false,
                ..recipe.options
            },
            open: open.clone(),
        };
        let fill_in = |engine: &mut Engine<f64>| fill_in(&about, engine);
        // Planning uses threads too.
        ctrl_c.interruptible(|| {
            let mut warnings = knowledge.warnings.clone();
            if let Some(definition) = definition {
                let truths = ask.truths_of(definition, None, fill_in)?;
                let theory = about.data.theory();
                let shape: Vec<usize> = (theory.definition(definition).into_iter())
                    .flat_map(|id| theory[id].parameters())
                    .filter_map(|parameter| Some(about.data.size(parameter.sort.sort()?)))
                    .collect();
                return Ok((written(&(shape, truths)), Diagnostics::new()));
            }
            match formula {
                Some(formula) => {
                    let found = ask.query(formula, fill_in)?;
                    warnings.extend(found.warnings.clone());
                    let document = written(&logltn_cli::query_document(
                        &ask.semantics,
                        &found,
                        &warnings,
                    ));
                    Ok((document, found.warnings))
                }
                None => {
                    let own = |name: &str| own_parameters(&recipe.axioms, name);
                    let found = ask.explain(axiom.as_deref(), &own, fill_in)?;
                    // They were reported when the knowledge base was made.
                    warnings.extend(found.warnings);
                    let document = written(&logltn_cli::explain_document(&found.axioms, &warnings));
                    Ok((document, Diagnostics::new()))
                }
            }
        })
    })
}

pub fn about<T: Real>(
    state: &mut State<T>,
    setting: &Arc<Setting>,
    at_rows: &[PredicateId],
) -> Result<About, Diagnostics> {
    state.set(setting, true)?;
    Ok(About {
        data: state.engine().plan().data().clone(),
        rows: (at_rows.iter())
            .map(|&p| (p, state.known_rows(p)))
            .collect(),
    })
}

fn written(document: &impl serde::Serialize) -> String {
    serde_json::to_string(document).unwrap_or_else(|_| "null".to_string())
}

/// True classes that occur in an axiom: its name, and the file, or the columns and the rows as written.
type GivenSupport = (String, Option<PathBuf>, Vec<String>, Vec<Vec<String>>);

/// The true classes of individuals, as written, and of which sort these are, if that is said.
type GivenLabels = (Option<String>, Vec<String>);

/// The document of `logltn identify --json`.
#[pyfunction]
pub fn identify(
    py: Python<'_>,
    knowledge: &KnowledgeBase,
    predicate: Option<String>,
    supports: Vec<GivenSupport>,
    labels: Option<GivenLabels>,
) -> PyResult<String> {
    guarded(py, || {
        let (plan, outputs) = (
            Arc::clone(&knowledge.plan),
            knowledge.recipe.outputs.clone(),
        );
        let found = py.detach(|| identified(plan.data(), &outputs, predicate, supports, labels))?;
        warn(py, &found.warnings)?;
        Ok(written(&logltn_cli::identify_document(&found)))
    })
}

fn identified(
    data: &Data,
    outputs: &[Output],
    predicate: Option<String>,
    supports: Vec<GivenSupport>,
    labels: Option<GivenLabels>,
) -> Result<Identified, Diagnostics> {
    let theory = data.theory();
    let softmax = |i: &usize| outputs[*i].kind == OutputKind::Softmax;
    let candidates: Vec<PredicateId> = (0..outputs.len())
        .filter(softmax)
        .map(|i| PredicateId(i as u32))
        .collect();
    let predicate = Identify::choose(theory, &candidates, predicate.as_deref())?;
    let name = &theory[predicate].name;
    let classes = Identify::classes(data, predicate).unwrap_or_default();
    let class = |text: &String, place: String| {
        classes.get(text).copied().ok_or_else(|| {
            let what = format!("{place}: `{text}` is not a class of `{name}`");
            Diagnostic::error(Code::UnknownIndividual, what)
        })
    };
    let labels = labels.map(|labels| own_labels(data, predicate, &labels, class));
    let labels = labels.transpose()?;
    let mut own = Vec::with_capacity(supports.len());
    for (axiom, path, columns, rows) in supports {
        if let Some(path) = path {
            own.push(read_support(data, predicate, &axiom, &path)?);
            continue;
        }
        let cells = |(at, row): (usize, &Vec<String>)| {
            let cell = |text: &String| class(text, format!("row {at} of the support of `{axiom}`"));
            row.iter().map(cell).collect::<Result<Vec<u32>, _>>()
        };
        own.push(Support {
            rows: rows
                .iter()
                .enumerate()
                .map(cells)
                .collect::<Result<_, _>>()?,
            columns: columns.iter().map(|c| Support::variables(c)).collect(),
            name: format!("support of `{axiom}`"),
            axiom,
        });
    }
    let question = Identify {
        labels: labels.as_deref(),
        supports: &own,
        ..Identify::new(data, outputs, predicate)
    };
    question.identify()
}

fn own_labels(
    data: &Data,
    predicate: PredicateId,
    (of, labels): &GivenLabels,
    class: impl Fn(&String, String) -> Result<u32, Diagnostic>,
) -> Result<Vec<u32>, Diagnostics> {
    let theory = data.theory();
    let Some((_, Some(sort))) = Identify::sorts(theory, predicate) else {
        let what = format!(
            "`{}` has more than one argument before the class: its individuals have no labels of their own",
            theory[predicate].name
        );
        return Err(Diagnostic::error(Code::NoLabels, what)
            .help("give the true classes that occur with `support=`")
            .into());
    };
    let (size, sort) = (data.size(sort), &theory[sort].name);
    if let Some(of) = of.as_ref().filter(|of| *of != sort) {
        let predicate = &theory[predicate].name;
        let what = format!(
            "`labels`: expected those of sort `{sort}`, which `{predicate}` is asked about, found `{of}`"
        );
        return Err(Diagnostic::error(Code::UnknownSort, what).into());
    }
    if labels.len() != size {
        let what = format!(
            "expected {size} labels, one for each individual of sort `{sort}`, found {}",
            labels.len()
        );
        return Err(Diagnostic::error(Code::SizesDisagree, what).into());
    }
    let label = |(at, text)| class(text, format!("label {at} of sort `{sort}`"));
    Ok(labels
        .iter()
        .enumerate()
        .map(label)
        .collect::<Result<_, _>>()?)
}
