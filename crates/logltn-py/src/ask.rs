//! Questions to a knowledge base: what is true, of whom, and what breaks a rule.

use std::collections::HashMap;
use std::mem::replace;
use std::sync::Arc;

use logltn::Precision as Real;
use logltn::theory::PredicateId;
use logltn::{Data, Diagnostics, Engine, Parameters, PlanOptions};
use logltn_learn::{Ask, own_parameters};
use pyo3::prelude::*;

use crate::call::{AskedRows, State, Target};
use crate::coming::{Coming, Setting, setting};
use crate::error::{Failure, guarded, warn};
use crate::knowledge_base::{AskedFor, GivenValue, KnowledgeBase, Precision, given_values};

/// A formula, or an axiom to explain; all of them, if neither is there.
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
}

/// What a question is about.
struct About {
    data: Data,
    /// Of predicates that are given at rows, which these are.
    rows: Vec<(PredicateId, HashMap<Vec<u64>, usize>)>,
}

/// The document of `logltn query --json` or `logltn explain --json`.
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
        let at_rows: Vec<PredicateId> = (given.iter())
            .filter_map(|value| match value.target {
                Target::AtRows(predicate) => Some(predicate),
                _ => None,
            })
            .collect();
        let ear = Arc::clone(&knowledge.process(py)?.ear);
        let (document, warnings) = asking(
            py,
            knowledge,
            &question,
            at_rows,
            coming,
            move |about, engine| {
                engine.run_in(Arc::clone(&ear.pool));
                engine.set_stop(Arc::clone(&ear.stop));
                let plan = engine.shared_plan();
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

/// What the networks have to be asked for a question: its requests, and the numbers that stand for themselves as arguments.
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
            // Nobody has answered them yet.
            Err(Diagnostics::new())
        });
        match (seen, done) {
            (Some((rows, numbers)), _) => Ok((knowledge.asked_for(py, &rows)?, numbers)),
            (None, Err(failure)) => Err(failure),
            (None, Ok(_)) => Ok((Vec::new(), Vec::new())),
        }
    })
}

/// Asks, and gives the document and what is new among its warnings.
fn asking(
    py: Python<'_>,
    knowledge: &KnowledgeBase,
    question: &Question,
    at_rows: Vec<PredicateId>,
    coming: Option<Bound<'_, Coming>>,
    fill_in: impl FnOnce(&About, &mut Engine<f64>) -> Result<(), Diagnostics> + Send,
) -> Result<(String, Diagnostics), Failure> {
    let setting = setting(py, knowledge, coming.as_ref())?;
    let ear = Arc::clone(&knowledge.process(py)?.ear);
    let (plan, recipe) = (&knowledge.plan, &knowledge.recipe);
    let (alpha, p, p_forall) = question.parameters;
    knowledge.with(py, move |state| {
        let about = match state {
            Precision::Single(state) => about(state, &setting, &at_rows)?,
            Precision::Double(state) => about(state, &setting, &at_rows)?,
        };
        let ask = Ask {
            data: &about.data,
            outputs: &recipe.outputs,
            semantics: *plan.semantics(),
            parameters: Parameters { alpha, p, p_forall },
            top: question.top,
            // About what is here.
            options: PlanOptions {
                sharded: false,
                ..recipe.options
            },
        };
        let fill_in = |engine: &mut Engine<f64>| fill_in(&about, engine);
        // Planning takes threads too.
        ear.hearing(|| {
            let mut warnings = knowledge.warnings.clone();
            match &question.formula {
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
                    let found = ask.explain(question.axiom.as_deref(), &own, fill_in)?;
                    // They were said when the knowledge base was made.
                    warnings.extend(found.warnings);
                    let document = written(&logltn_cli::explain_document(&found.axioms, &warnings));
                    Ok((document, Diagnostics::new()))
                }
            }
        })
    })
}

fn about<T: Real>(
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
