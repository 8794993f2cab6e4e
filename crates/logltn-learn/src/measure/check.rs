//! Whether a metric fits what it is of, and its rows the arguments.

use logltn::theory::{ArgumentSort, PredicateId, SortKind, SymbolKind};
use logltn::{Code, ColumnData, Diagnostics, did_you_mean};

use super::Metric;
use crate::asked_rows::AskedRows;
use crate::knowledge::{Ground, KnowledgeBase};
use crate::metrics::MetricKind;

/// The predicate that is measured: one over individuals and numbers that can be queried at any of
/// them.
pub(super) fn predicate(
    knowledge: &KnowledgeBase,
    metric: &Metric,
) -> Result<PredicateId, Diagnostics> {
    let theory = knowledge.theory();
    let unknown = || (metric.place).mark(theory.unknown(SymbolKind::Predicate, &metric.of));
    let predicate = theory.predicate(&metric.of).ok_or_else(unknown)?;
    let arguments = &theory[predicate].arguments;
    check_individuals(metric, arguments)?;
    if matches!(knowledge.predicates[predicate], Ground::Host) {
        let what = format!(
            "`{}` cannot be measured: its numbers come from host code",
            metric.of
        );
        let error = metric.wrong(Code::CannotPredict, what);
        return Err(error
            .help("only predicates with a network or numbers can be asked about other rows than those of the axioms")
            .into());
    }
    Ok(predicate)
}

fn check_individuals(metric: &Metric, arguments: &[ArgumentSort]) -> Result<(), Diagnostics> {
    let vector = |argument: &ArgumentSort| matches!(argument, ArgumentSort::Vector(2..));
    if arguments.iter().any(vector) {
        let what = format!(
            "`{}` cannot be measured on rows: it has an argument that is a vector, which no column holds",
            metric.of
        );
        return Err(metric.wrong(Code::VectorArgument, what).into());
    }
    Ok(())
}

/// Rows of all arguments, row by row.
pub(super) fn tuples(
    knowledge: &KnowledgeBase,
    metric: &Metric,
    arguments: &[ArgumentSort],
    columns: &[ColumnData],
    rows: usize,
) -> Result<AskedRows, Diagnostics> {
    check_individuals(metric, arguments)?;
    let wrong = |what: String| {
        let what = format!("the rows of `{}`: {what}", metric.label());
        Diagnostics::from(metric.wrong(Code::WrongSort, what))
    };
    if columns.len() != arguments.len() {
        let (given, arity) = (columns.len(), arguments.len());
        return Err(wrong(format!(
            "there are {given} columns of arguments, but `{}` has {arity} arguments",
            metric.of
        )));
    }
    for (i, (column, argument)) in columns.iter().zip(arguments).enumerate() {
        if column.len() != rows {
            let found = column.len();
            return Err(wrong(format!("column {i} has {found} rows, not {rows}")));
        }
        let (cells, sort) = match (column, argument) {
            (ColumnData::Individuals(cells), ArgumentSort::Sort(sort)) => (cells, *sort),
            (ColumnData::Individuals(_), _) => {
                return Err(wrong(format!("column {i} does not hold numbers")));
            }
            (_, ArgumentSort::Sort(_)) => {
                return Err(wrong(format!("column {i} does not hold individuals")));
            }
            (_, ArgumentSort::Vector(_)) => continue,
        };
        let (size, name) = (knowledge.data.size(sort), &knowledge.theory()[sort].name);
        if let Some(row) = cells.iter().position(|&x| x as usize >= size) {
            return Err(wrong(format!(
                "row {row}: sort `{name}` has no individual {}",
                cells[row]
            )));
        }
    }
    let too_many = || wrong("there are too many numbers to index".to_string());
    AskedRows::of(columns).ok_or_else(too_many)
}

/// The labels of a sort as rows: each of its individuals with its class.
pub(super) fn labels(
    knowledge: &KnowledgeBase,
    metric: &Metric,
    predicate: PredicateId,
    sort: &str,
    labels: &[String],
) -> Result<AskedRows, Diagnostics> {
    let theory = knowledge.theory();
    let arguments = &theory[predicate].arguments;
    let unknown = || metric.place.mark(theory.unknown(SymbolKind::Sort, sort));
    let id = theory.sort(sort).ok_or_else(unknown)?;
    let [first, ArgumentSort::Sort(last)] = arguments[..] else {
        return Err(one_argument(metric, sort).into());
    };
    if first != ArgumentSort::Sort(id) {
        return Err(one_argument(metric, sort).into());
    }
    let size = knowledge.data.size(id);
    if labels.len() != size {
        let found = labels.len();
        let what = format!(
            "expected {size} labels, one for each individual of sort `{sort}`, found {found}"
        );
        return Err(metric.wrong(Code::SizesDisagree, what).into());
    }
    let classes = &theory[last];
    let mut names: Vec<String> = match classes.kind {
        SortKind::Range(..) => (0..knowledge.data.size(last))
            .map(|i| classes.individual_name(i))
            .collect(),
        _ => classes.labels.clone(),
    };
    let other = labels.iter().position(|label| !names.contains(label));
    if let Some(row) = other {
        // Groups need no names.
        if metric.kind != MetricKind::AdjustedRandIndex {
            let label = &labels[row];
            let known = names.iter().map(String::as_str);
            let what = format!(
                "the label `{label}` of individual {row} is not a class of `{}`: sort `{}` has no such individual",
                metric.of, classes.name
            );
            let guess = did_you_mean(label, known);
            let guess = guess.unwrap_or_else(|| {
                "`adjusted_rand_index` ignores the names of the groups".to_string()
            });
            let error = metric.wrong(Code::UnknownIndividual, what).help(guess);
            return Err(error.into());
        }
        names.clear();
    }
    let mut rows = Vec::with_capacity(2 * labels.len());
    for (individual, label) in labels.iter().enumerate() {
        let class = match names.iter().position(|name| name == label) {
            Some(at) => at,
            None => {
                names.push(label.clone());
                names.len() - 1
            }
        };
        rows.extend([individual as u32, class as u32]);
    }
    Ok(AskedRows {
        arguments: rows,
        numbers: Vec::new(),
    })
}

fn one_argument(metric: &Metric, sort: &str) -> logltn::Diagnostic {
    let what =
        format!("labels of sort `{sort}` can be compared with a predicate `P({sort}, class)` only");
    metric.wrong(Code::MetricDoesNotFit, what)
}
