//! Are the features of a size that networks can learn from?
//!
//! Training is in single precision. A number beyond 3.4e38 is infinite there, and one of 1e25 lets the square of a
//! gradient, which Adam keeps, become so: the weights would be lost some steps later, without a word about the row.

use std::collections::BTreeMap;

use logltn::theory::ArgumentSort;
use logltn::{Code, Diagnostic, Theory};
use logltn_data::{Array, Values};

use super::features::FeatureFile;
use super::report::Report;
use crate::manifest::{Grounding, Individuals};

/// The largest feature that is learnt from: gradients of a million rows, squared, are still far from the largest number
/// in single precision.
const LARGEST: f64 = 1e12;

/// The first number of an array that is too large to learn from: its place in words, and what it is.
pub(super) fn first_too_large(array: &Array) -> Option<(String, f64)> {
    let large = |x: &f64| x.abs() > LARGEST;
    let (at, value) = match &array.values {
        Values::U8(_) => None,
        Values::I64(v) => v
            .iter()
            .map(|&x| x as f64)
            .enumerate()
            .find(|(_, x)| large(x)),
        Values::F32(v) => v
            .iter()
            .map(|&x| x.into())
            .enumerate()
            .find(|(_, x)| large(x)),
        Values::F64(v) => v.iter().copied().enumerate().find(|(_, x)| large(x)),
    }?;
    let width = array.row_width().max(1);
    Some((
        format!("row {}, column {}", at / width + 1, at % width + 1),
        value,
    ))
}

/// Reports features that are too large, of sorts whose individuals networks or closed forms read.
pub(super) fn check(
    report: &mut Report<'_>,
    theory: &Theory,
    files: &BTreeMap<String, FeatureFile>,
) {
    let manifest = report.manifest;
    let predicates = manifest.predicates.iter().filter_map(|(name, p)| {
        let reads = matches!(
            p.grounding,
            Grounding::Network { .. } | Grounding::ClosedForm(_)
        );
        let declared = theory.predicates.iter().find(|d| d.name == *name)?;
        reads.then_some(&declared.arguments)
    });
    let functions = manifest.functions.iter().filter_map(|(name, f)| {
        let declared = theory.functions.iter().find(|d| d.name == *name)?;
        f.network.is_some().then_some(&declared.arguments)
    });
    let read: Vec<&str> = (predicates.chain(functions).flatten())
        .filter_map(|argument| match argument {
            ArgumentSort::Sort(sort) => Some(theory[*sort].name.as_str()),
            ArgumentSort::Vector(_) => None,
        })
        .collect();
    for (sort, file) in files
        .iter()
        .filter(|(sort, _)| read.contains(&sort.as_str()))
    {
        let Some((field, (place, value))) =
            (file.fields.iter()).find_map(|field| Some((&field.name, field.too_large.as_ref()?)))
        else {
            continue;
        };
        let field = match field {
            Some(name) => format!(", field `{name}`"),
            None => String::new(),
        };
        let given = manifest
            .sorts
            .get(sort)
            .and_then(|s| s.individuals.as_ref());
        let span = match given {
            Some(Individuals::Features(from)) => from.file.span,
            _ => logltn::Span::default(),
        };
        let error = Diagnostic::error(
            Code::ValueOutOfRange,
            format!(
                "{}{field}, {place}: {value:e} is too large to learn from",
                file.path.display()
            ),
        )
        .note(format!(
            "networks compute in single precision, so features may be at most {LARGEST:e} in size"
        ))
        .help("scale the column in the file: best to numbers of about 1");
        report.push(span, "read from here", error);
    }
}
