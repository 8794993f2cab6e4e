//! The networks' predictions on the data: classes against labels, and points in the plane.

use std::collections::BTreeMap;

use logltn::theory::ColumnSort;
use logltn::theory::{ArgumentSort, PredicateId, SortId};
use logltn::{ColumnData, Diagnostics, OutputKind, Theory};
use logltn_data::CsvFile;
use logltn_learn::{Answered, Known, largest};
use logltn_report::pca_2d;
use logltn_train::manifest::MetricTruth;
use logltn_train::project::{Features, Project};
use serde_json::{Value, json};

use crate::evaluation_charts::{self, confusion, rounded};
use crate::questions::Run;
use crate::violated::Predict;

/// With more individuals than this the page would wait too long.
const MOST_INDIVIDUALS: usize = 200_000;
/// More points than these are a blot: every second is shown, or every third. More dimensions take longer than they are
/// worth.
const MOST_POINTS: usize = 5_000;
const MOST_DIMENSIONS: usize = 256;

/// What a run's networks say, with its newest weights.
///
/// # Errors
/// If the run has no weights yet, or its data cannot be read.
pub fn of_run(run: &Run<'_>) -> Result<Vec<Value>, Diagnostics> {
    let (knowledge, mut model, mut measures) = run.model()?;
    // Skips what cannot be evaluated.
    let answered = measures
        .answered(&knowledge, &mut model)
        .unwrap_or_default();
    let predict = &mut |id, individuals: &[u32]| model.predict(id, individuals, 1).ok();
    networks(run.project(), &answered, predict)
}

/// What each predicate says that gives one of several classes to individuals, in the form that the page reads: its
/// classes against the labels, and where the individuals lie. Then what else has answers to rows of metrics, `answered`.
///
/// # Errors
/// If the data cannot be read.
pub fn networks(
    project: &Project,
    answered: &[Answered],
    predict: Predict<'_>,
) -> Result<Vec<Value>, Diagnostics> {
    let theory = project.theory();
    let mut found = Vec::new();
    for (id, sort, class) in classifiers(theory, &project.outputs) {
        let classes = project.data.size(class);
        let names: Vec<String> = (0..classes)
            .map(|c| theory[class].individual_name(c))
            .collect();
        let mut said = |individuals: &[u32]| -> Option<Vec<usize>> {
            let numbers = predict(id, individuals)?;
            Some(numbers.chunks_exact(classes).map(largest).collect())
        };
        let labelled = labelled(project, &theory[id].name, sort, class)?;
        let counted = match &labelled {
            Some(labelled) if labelled.individuals.len() <= MOST_INDIVIDUALS => {
                match said(&labelled.individuals) {
                    Some(said) => confusion(&labelled.labels, &said, &names),
                    None => continue, // no network of ours
                }
            }
            _ => None,
        };
        let points = points(project, sort, &mut said, labelled.as_ref())?;
        if counted.is_none() && points.is_none() {
            continue;
        }
        let judged = answered.iter().find(|one| one.of == theory[id].name);
        found.push(json!({
            "predicate": theory[id].name,
            "judged": judged.map(|one| evaluation_charts::document(one, &names)),
            "sort": theory[sort].name,
            "classes": names,
            "confusion": counted,
            "labels": labelled.map(|labelled| labelled.whence),
            "points": points,
        }));
    }
    for one in answered {
        if found
            .iter()
            .all(|network| network["predicate"] != one.of[..])
        {
            let names = class_names(project, &one.of);
            found.push(json!({ "predicate": one.of, "classes": names, "judged": evaluation_charts::document(one, &names) }));
        }
    }
    Ok(found)
}

/// The names of a predicate's classes, the individuals of its last argument.
fn class_names(project: &Project, predicate: &str) -> Vec<String> {
    let theory = project.theory();
    let found = theory.predicates.iter().find(|p| p.name == predicate);
    match found.and_then(|p| p.arguments.last()) {
        Some(ArgumentSort::Sort(class)) => (0..project.data.size(*class))
            .map(|c| theory[*class].individual_name(c))
            .collect(),
        _ => Vec::new(),
    }
}

/// Individuals whose classes are known.
struct Labelled {
    individuals: Vec<u32>,
    labels: Vec<String>,
    /// Where that is said.
    whence: String,
}

/// Those known to the manifest: by the labels of the sort, otherwise by the rows of the predicate's first metric that has
/// some.
fn labelled(
    project: &Project,
    predicate: &str,
    sort: SortId,
    class: SortId,
) -> Result<Option<Labelled>, Diagnostics> {
    let theory = project.theory();
    if let Some(labels) = project.labels_of(sort)? {
        return Ok(Some(Labelled {
            individuals: (0..labels.len() as u32).collect(),
            labels,
            whence: format!("the labels of {}", theory[sort].name),
        }));
    }
    let metrics = project.manifest.evaluate.iter().flat_map(|e| &e.metrics);
    for metric in metrics.filter(|metric| metric.of.value == predicate) {
        let MetricTruth::Rows(file) = &metric.truth else {
            continue;
        };
        if metric.columns.is_some() || metric.part.is_some() {
            let known = project
                .metrics()?
                .into_iter()
                .find(|m| m.label() == metric.label());
            if let Some(Known::Rows(columns)) = known.map(|metric| metric.known)
                && let [ColumnData::Individuals(who), ColumnData::Individuals(what)] = &columns[..]
            {
                return Ok(Some(Labelled {
                    individuals: who.clone(),
                    labels: (what.iter())
                        .map(|c| theory[class].individual_name(*c as usize))
                        .collect(),
                    whence: format!("the rows of {}", file.value.display()),
                }));
            }
            continue;
        }
        let rows = CsvFile::read(&project.manifest.resolve(&file.value))?;
        let arguments = project.argument_names(predicate);
        let places: Vec<Option<usize>> = (arguments.iter())
            .map(|name| rows.columns().iter().position(|column| column == name))
            .collect();
        // Rows with their own truth may say what is false.
        let [Some(of), Some(is)] = places[..] else {
            continue;
        };
        if rows.columns().len() != 2 {
            continue;
        }
        let individuals =
            |column, sort| match project.read_column(&rows, column, ColumnSort::Sort(sort)) {
                Ok(ColumnData::Individuals(found)) => Some(found),
                _ => None,
            };
        if let (Some(who), Some(what)) = (individuals(of, sort), individuals(is, class)) {
            return Ok(Some(Labelled {
                individuals: who,
                labels: (what.iter())
                    .map(|c| theory[class].individual_name(*c as usize))
                    .collect(),
                whence: format!("the rows of {}", file.value.display()),
            }));
        }
    }
    Ok(None)
}

/// The positions of individuals in two principal components of their features, if they have any, and their
/// predictions.
fn points(
    project: &Project,
    sort: SortId,
    said: &mut dyn FnMut(&[u32]) -> Option<Vec<usize>>,
    labelled: Option<&Labelled>,
) -> Result<Option<Value>, Diagnostics> {
    let size = project.data.size(sort);
    let width = project.feature_file(sort).map_or(0, |file| file.width());
    if size == 0 || !(2..=MOST_DIMENSIONS).contains(&width) || size > MOST_INDIVIDUALS {
        return Ok(None);
    }
    let some: Vec<u32> = (0..size as u32)
        .step_by(size.div_ceil(MOST_POINTS))
        .collect();
    let Some(classes) = said(&some) else {
        return Ok(None);
    };
    let features = Features::of(&project.features_of(sort)?);
    let places = pca_2d(&features.values, features.width)?;
    let known: Option<BTreeMap<u32, &str>> = labelled.map(|labelled| {
        let labels = labelled.labels.iter().map(String::as_str);
        labelled.individuals.iter().copied().zip(labels).collect()
    });
    let of = |what: &dyn Fn(u32) -> Value| some.iter().map(|i| what(*i)).collect::<Vec<_>>();
    Ok(Some(json!({
        "of": size,
        "x": of(&|i| rounded(places[i as usize].0).into()),
        "y": of(&|i| rounded(places[i as usize].1).into()),
        "class": classes,
        "name": of(&|i| project.theory()[sort].individual_name(i as usize).into()),
        "label": known.map(|known| of(&|i| json!(known.get(&i)))),
    })))
}

/// The predicates that give one class to individuals, with the sorts of these and of the classes.
fn classifiers(theory: &Theory, outputs: &[logltn::Output]) -> Vec<(PredicateId, SortId, SortId)> {
    let predicates = theory.predicates.iter().zip(outputs).enumerate();
    predicates
        // Of a sigmoid several classes may be true, or none.
        .filter(|(_, (_, output))| output.kind == OutputKind::Softmax)
        .filter_map(|(i, (predicate, _))| match predicate.arguments[..] {
            [ArgumentSort::Sort(sort), ArgumentSort::Sort(class)] => {
                Some((PredicateId(i as u32), sort, class))
            }
            _ => None,
        })
        .collect()
}
