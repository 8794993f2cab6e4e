//! Questions to a knowledge base about the worlds that satisfy its laws.

use std::sync::Arc;

use logltn::theory::PredicateId;
use logltn::{
    Code, Data, Diagnostic, Diagnostics, Engine, OutputKind, Parameters, Plan, PlanOptions,
    Semantics, Source,
};
use logltn_learn::plan_of_laws;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::ask::{About, about};
use crate::call::{GivenShape, Gradient, State, Value, Work, at_rows};
use crate::coming::{Coming, Setting, setting};
use crate::ctrl_c::CtrlC;
use crate::error::guarded;
use crate::export::{ExportedPlan, exported_plan};
use crate::knowledge_base::{
    GivenValue, KnowledgeBase, LawEngine, Precision, given_values, in_either,
};

/// What is asked.
#[derive(FromPyObject)]
pub struct AboutWorlds {
    /// `marginals`, `world`, `sample`, `entropy`, or `slopes`: the derivative of the entropy, or of marginals.
    #[pyo3(item)]
    what: String,
    /// The knowledge base's own unless given.
    #[pyo3(item)]
    laws: Option<Vec<String>>,
    #[pyo3(item)]
    count: usize,
    #[pyo3(item)]
    seed: u64,
    /// What the marginals are multiplied by before they are added up, part by part.
    #[pyo3(item)]
    along: Option<Vec<Vec<f64>>>,
}

/// How many are kept: for a batch of training, the last one of an epoch, and those of an
/// evaluation.
const MOST_KEPT: usize = 4;

/// Of a predicate: where in its flattened array numbers are told (of a world, of a softmax: which rows), and what is told.
type Part<'py> = (usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// One part before Python sees it.
struct Told {
    predicate: usize,
    places: Vec<i64>,
    numbers: Vec<f64>,
}

/// What laws make of the atoms that they speak of, and a number: the entropy of these, or the log of the probability of their world.
#[pyfunction]
pub fn worlds<'py>(
    py: Python<'py>,
    knowledge: &KnowledgeBase,
    question: AboutWorlds,
    values: Vec<GivenValue>,
    coming: Option<Bound<'py, Coming>>,
) -> PyResult<(f64, Vec<Part<'py>>)> {
    guarded(py, || {
        let given = given_values(&values);
        let setting = setting(py, knowledge.plan.data(), coming.as_ref())?;
        let process = knowledge.process(py)?;
        let ctrl_c = Arc::clone(&process.ctrl_c);
        let laws = match &question.laws {
            Some(laws) => laws.clone(),
            None => knowledge.data.laws().to_vec(),
        };
        let (number, told) = knowledge.with(py, move |precision| {
            let mut kept = process.laws.lock().unwrap_or_else(|e| e.into_inner());
            let mut found = kept
                .iter()
                .position(|k| k.laws == laws && (k.setting == setting));
            // The rows depend on what else is asked.
            let at_rows = at_rows(&given);
            if !at_rows.is_empty() {
                found = None;
            }
            let own = match found {
                Some(at) => kept.remove(at),
                None => {
                    let about = asked_about(knowledge, precision, &setting, &at_rows)?;
                    let state = match laws.is_empty() {
                        true => None,
                        false => {
                            let plan = ctrl_c.interruptible(|| {
                                plan_of_laws(&about.data, &knowledge.recipe.outputs, &laws)
                            })?;
                            Some(state_of(plan, &about, &ctrl_c)?)
                        }
                    };
                    LawEngine {
                        laws: laws.clone(),
                        setting: Arc::clone(&setting),
                        state,
                    }
                }
            };
            kept.push(own);
            if kept.len() > MOST_KEPT {
                kept.remove(0);
            }
            match kept.last_mut().and_then(|k| k.state.as_mut()) {
                Some(state) => {
                    state.take(&given)?;
                    ctrl_c.interruptible(|| answer(state, &at_rows, &question))
                }
                None => {
                    in_either!(precision, state => {
                        state.set(&setting, true)?;
                        state.shapes(&given).0.into_result(())?;
                    });
                    Ok((0.0, Vec::new()))
                }
            }
        })?;
        let bytes = |numbers: Vec<u8>| PyBytes::new(py, &numbers);
        let parts = told.into_iter().map(|told| {
            (
                told.predicate,
                bytes(told.places.iter().flat_map(|n| n.to_ne_bytes()).collect()),
                bytes(told.numbers.iter().flat_map(|n| n.to_ne_bytes()).collect()),
            )
        });
        Ok((number, parts.collect()))
    })
}

/// The log of the probability of a closed formula as one event, given the laws; derivatives go into the arrays that the values
/// have for them.
#[pyfunction]
pub fn log_probability(
    py: Python<'_>,
    knowledge: &KnowledgeBase,
    formula: &str,
    laws: Option<Vec<String>>,
    values: Vec<GivenValue>,
    coming: Option<Bound<'_, Coming>>,
) -> PyResult<f64> {
    guarded(py, || {
        let given = given_values(&values);
        let setting = setting(py, knowledge.plan.data(), coming.as_ref())?;
        let ctrl_c = Arc::clone(&knowledge.process(py)?.ctrl_c);
        let truth = knowledge.with(py, move |precision| {
            let about = asked_about(knowledge, precision, &setting, &at_rows(&given))?;
            let plan = plan_of_event(knowledge, &about, laws.as_deref(), formula, &ctrl_c)?;
            let mut by_axiom: Vec<f64> = (plan.axioms().iter())
                .map(|axiom| if axiom.hard { 0.0 } else { 1.0 })
                .collect();
            let at = by_axiom.iter().position(|d| *d == 1.0).unwrap_or(0);
            let mut state = state_of(plan, &about, &ctrl_c)?;
            let wants = given.iter().any(|value| value.gradient.is_some());
            let gradient = match wants {
                true => Gradient::Of(std::mem::take(&mut by_axiom)),
                false => Gradient::None,
            };
            let work = Work {
                parameters: &Parameters::default(),
                values: &given,
                gradient: &gradient,
                weights: &[],
            };
            let evaluation = state.evaluate(&work, None)?;
            Ok(evaluation.axioms[at].truth)
        })?;
        Ok(truth)
    })
}

/// What has a formula as one event, and the laws.
fn plan_of_event(
    knowledge: &KnowledgeBase,
    about: &About,
    laws: Option<&[String]>,
    formula: &str,
    ctrl_c: &CtrlC,
) -> Result<Plan, Diagnostics> {
    let mut data = about.data.clone();
    if let Some(laws) = laws {
        logltn_learn::check_laws(&data, laws)?;
        data.set_laws(laws);
    }
    let query = data.theory().parse_query(Source::new("formula", formula))?;
    if query.is_open {
        let what = "a formula with `find` has answers, not a probability";
        let error = Diagnostic::error(Code::ValueOutOfRange, what);
        return Err(error
            .help("ask `kb.query`, or bind with `forall` or `exists`")
            .into());
    }
    let options = PlanOptions {
        sharded: false,
        joint: true,
        ..knowledge.recipe.options
    };
    let semantics = Semantics::named("probability").unwrap_or_default();
    let outputs = &knowledge.recipe.outputs;
    ctrl_c.interruptible(|| Plan::for_query(&data, outputs, &semantics, &query, &options))
}

/// What answers questions about worlds elsewhere: the plan of the laws, or of a formula as one event given them, for values whose
/// shapes are these. `None` without laws, and of laws that have no circuit but only a most probable world.
#[pyfunction]
pub fn export_worlds<'py>(
    py: Python<'py>,
    knowledge: &KnowledgeBase,
    formula: Option<&str>,
    laws: Option<Vec<String>>,
    values: Vec<GivenShape>,
    coming: Option<Bound<'py, Coming>>,
) -> PyResult<Option<ExportedPlan<'py>>> {
    guarded(py, || {
        let setting = setting(py, knowledge.plan.data(), coming.as_ref())?;
        let ctrl_c = Arc::clone(&knowledge.process(py)?.ctrl_c);
        let exported = knowledge.with(py, move |precision| {
            let given: Vec<Value> = values.iter().map(Value::elsewhere).collect();
            let about = asked_about(knowledge, precision, &setting, &at_rows(&given))?;
            let plan = match formula {
                Some(formula) => {
                    plan_of_event(knowledge, &about, laws.as_deref(), formula, &ctrl_c)?
                }
                None => {
                    let laws = laws.as_deref().unwrap_or(knowledge.data.laws());
                    if laws.is_empty() {
                        return Ok(None);
                    }
                    let outputs = &knowledge.recipe.outputs;
                    ctrl_c.interruptible(|| plan_of_laws(&about.data, outputs, laws))?
                }
            };
            let state = state_of(plan, &about, &ctrl_c)?;
            state.check(&given)?;
            match state.engine().export() {
                Ok(exported) => Ok(Some((exported, state.places()))),
                // The plan is there: what is too hard is the sum.
                Err(errors) if errors.iter().all(|e| e.code() == Code::TooHard) => Ok(None),
                Err(errors) => Err(errors),
            }
        })?;
        Ok(exported.map(|(exported, places)| exported_plan(py, &exported, places)))
    })
}

/// The data with what comes with the call, and the rows that predicates are given at.
fn asked_about(
    knowledge: &KnowledgeBase,
    precision: &mut Precision,
    setting: &Arc<Setting>,
    at_rows: &[PredicateId],
) -> Result<About, Diagnostics> {
    let mut about = in_either!(precision, state => about(state, setting, at_rows))?;
    if !setting.streams {
        // As given: in a plan, definitions may be expanded.
        about.data = Data::clone(&knowledge.data);
    }
    Ok(about)
}

fn state_of(plan: Plan, about: &About, ctrl_c: &Arc<CtrlC>) -> Result<State<f64>, Diagnostics> {
    let mut engine = Engine::<f64>::new(plan);
    engine.run_in(Arc::clone(&ctrl_c.pool));
    engine.set_stop(Arc::clone(&ctrl_c.stop));
    let mut state = State::new(engine, None, None);
    (about.rows.iter()).try_for_each(|(p, rows)| state.know_rows(*p, rows))?;
    Ok(state)
}

fn answer(
    state: &mut State<f64>,
    at_rows: &[PredicateId],
    question: &AboutWorlds,
) -> Result<(f64, Vec<Told>), Diagnostics> {
    let parts = parts(state, at_rows);
    let engine = state.engine_mut();
    let pick = |by_request: &[Vec<f64>]| -> Vec<Told> {
        let pick = |part: &Numbers| Told {
            predicate: part.predicate,
            places: part.places.clone(),
            numbers: part
                .at
                .iter()
                .map(|at| by_request[part.request][*at])
                .collect(),
        };
        parts.iter().map(pick).collect()
    };
    match question.what.as_str() {
        "entropy" => Ok((engine.entropy()?, pick(&engine.marginals()?))),
        "slopes" => {
            let along = question.along.as_ref().map(|along| {
                let mut by_request: Vec<Vec<f64>> = (0..engine.requests().len())
                    .map(|i| vec![0.0; engine.numbers_mut(i).len()])
                    .collect();
                for (part, along) in parts.iter().zip(along) {
                    for (at, along) in part.at.iter().zip(along) {
                        by_request[part.request][*at] = *along;
                    }
                }
                by_request
            });
            Ok((0.0, pick(&engine.derive_worlds(along.as_deref())?)))
        }
        "world" => {
            let world = engine.world()?;
            Ok((world.log_probability, states(&parts, &[world.states])))
        }
        "sample" => {
            let worlds = engine.sample_worlds(question.count, question.seed)?;
            Ok((0.0, states(&parts, &worlds)))
        }
        _ => Ok((0.0, pick(&engine.marginals()?))),
    }
}

/// The numbers of a request that laws involve.
struct Numbers {
    request: usize,
    predicate: usize,
    is_softmax: bool,
    width: usize,
    /// Where they are among those of the request, and in the flattened array.
    at: Vec<usize>,
    places: Vec<i64>,
}

fn parts(state: &State<f64>, at_rows: &[PredicateId]) -> Vec<Numbers> {
    let engine = state.engine();
    let requests = engine.requests().iter().zip(engine.in_events());
    let mut parts = Vec::new();
    for (request, ((of, in_events), (predicate, grid, among, _))) in
        requests.zip(state.places()).enumerate()
    {
        let places = match at_rows.contains(&of.predicate) {
            true => among,
            false => grid,
        };
        let at: Vec<usize> = (0..in_events.len()).filter(|at| in_events[*at]).collect();
        let place = |at: &usize| {
            let (row, class) = (at / of.width, at % of.width);
            let row = places.as_ref().map_or(row, |places| places[row]);
            (row * of.width + class) as i64
        };
        parts.push(Numbers {
            request,
            predicate,
            is_softmax: engine.plan().output(of.predicate).kind == OutputKind::Softmax,
            width: of.width,
            places: at.iter().map(place).collect(),
            at,
        });
    }
    parts
}

/// The states in some worlds, one world after the other; of a softmax by row.
fn states(parts: &[Numbers], worlds: &[Vec<Vec<u32>>]) -> Vec<Told> {
    let told = parts.iter().map(|part| {
        // The first number of each row stands for it.
        let step = if part.is_softmax { part.width } else { 1 };
        let firsts = || (0..part.at.len()).step_by(step);
        let state = |world: &Vec<Vec<u32>>, at: usize| f64::from(world[part.request][at / step]);
        Told {
            predicate: part.predicate,
            places: firsts().map(|i| part.places[i] / step as i64).collect(),
            numbers: (worlds.iter())
                .flat_map(|world| firsts().map(move |i| state(world, part.at[i])))
                .collect(),
        }
    });
    told.collect()
}
