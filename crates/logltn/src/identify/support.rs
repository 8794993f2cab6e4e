//! True classes that are listed for an axiom, and whose they are.

use rustc_hash::FxHashSet;

use super::Support;
use super::events::Asked;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::plan::Bound;
use crate::plan::Plan;
use crate::plan::events::ListedEvent;

/// Supports of axioms that do not exist.
pub(super) fn check_names(plan: &Plan, supports: &[Support]) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::new();
    let theory = plan.data.theory();
    let families = theory.axioms.iter().map(|a| a.name.as_str());
    let known: Vec<&str> = (plan.axioms.iter().map(|a| a.name.as_str()))
        .chain(families)
        .collect();
    for support in supports
        .iter()
        .filter(|s| !known.contains(&s.axiom.as_str()))
    {
        let what = format!(
            "there is no axiom `{}`, of which {} lists the true classes",
            support.axiom, support.name
        );
        let help = did_you_mean(&support.axiom, known.iter().copied());
        found.push(Diagnostic::error(Code::UnknownAxiom, what).maybe_help(help));
    }
    found.into_result(()).map(|_| ())
}

/// By column of a support: which of the event's individuals it tells the class of, if any.
pub(super) fn places(
    plan: &Plan,
    event: &ListedEvent,
    asked: &Asked,
    file: &Support,
    met: &mut FxHashSet<usize>,
) -> Result<Vec<Option<usize>>, Diagnostics> {
    let bound = event.bound();
    let mut places = Vec::with_capacity(file.columns.len());
    for (at, column) in file.columns.iter().enumerate() {
        let mut row = Vec::new();
        for variable in column {
            let found = bound.iter().find(|b| b.variable == *variable);
            let Some((_, individual)) = found.and_then(|b| b.individual) else {
                return Err(unknown_column(file, variable, &bound));
            };
            row.push(individual);
        }
        let place = asked.individuals.iter().position(|i| *i == row);
        if place.is_some() {
            met.insert(at);
        }
        places.push(place);
    }
    if (0..asked.individuals.len()).all(|i| places.contains(&Some(i))) {
        return Ok(places);
    }
    let what = format!(
        "{}: axiom `{}` asks about the class of an individual that no column gives",
        file.name, file.axiom
    );
    let span = plan.axioms.iter().find(|a| a.name == file.axiom);
    let mut error = Diagnostic::error(Code::MissingColumn, what);
    if let Some(axiom) = span {
        error = error.at(&plan.data.theory().source, axiom.span, "");
    }
    Err(error
        .help(format!("{} are expected", variables(&bound)))
        .into())
}

/// The variables that columns can be about, for messages.
fn variables(bound: &[Bound]) -> String {
    let names: Vec<String> = (bound.iter())
        .filter(|b| b.individual.is_some())
        .map(|b| format!("`{}`", b.variable))
        .collect();
    format!(
        "columns named after variables of the leading `forall`s ({}; several arguments of one atom together: `x,y`)",
        names.join(", ")
    )
}

fn unknown_column(file: &Support, variable: &str, bound: &[Bound]) -> Diagnostics {
    Diagnostic::error(
        Code::UnknownColumn,
        format!(
            "{}: column `{variable}` is not a variable of axiom `{}` that a leading `forall` binds to an individual",
            file.name, file.axiom
        ),
    )
    .help(format!("{} are expected", variables(bound)))
    .into()
}

/// Columns of which the predicate is never asked.
pub(super) fn check_columns(
    file: &Support,
    met: &FxHashSet<usize>,
    events: u64,
) -> Result<(), Diagnostics> {
    let unused = (0..file.columns.len()).find(|c| !met.contains(c));
    match unused {
        Some(column) if events > 0 => Err(Diagnostic::error(
            Code::UnknownColumn,
            format!(
                "{}: axiom `{}` does not ask about the class of `{}`",
                file.name,
                file.axiom,
                file.columns[column].join(",")
            ),
        )
        .help("leave the column out")
        .into()),
        _ => Ok(()),
    }
}

/// The classes of an event's individuals in a row; None if it has two for one individual.
pub(super) fn taken(row: &[u32], places: &[Option<usize>], individuals: usize) -> Option<Vec<u32>> {
    let mut truly: Vec<Option<u32>> = vec![None; individuals];
    for (class, place) in row.iter().zip(places) {
        if let Some(place) = place
            && *truly[*place].get_or_insert(*class) != *class
        {
            return None;
        }
    }
    truly.into_iter().collect()
}
