//! Params and constants: the numbers and the individuals that a theory leaves to its manifest.

use logltn::theory::{Sort, SortId, SortKind};
use logltn::{Code, ConstantData, Data, Diagnostic, Theory, did_you_mean, percentile};

use super::features::Features;
use super::report::Report;
use super::sorts::FeatureSorts;
use crate::manifest::{Constant, Param, Spanned};

/// Sets all params that the manifest gives.
pub(super) fn read(
    report: &mut Report<'_>,
    theory: &Theory,
    features: &FeatureSorts,
    data: &mut Data,
) {
    let manifest = report.manifest;
    for (name, param) in &manifest.params {
        if !theory.params.iter().any(|p| p.name == *name) {
            continue; // reported
        }
        let set = match &param.value {
            Param::Number(number) => data.set_param(name, *number),
            Param::Percentile { percentile, sorts } => {
                match percentile_of(report, features, name, percentile, sorts) {
                    Some(value) => data.set_param(name, value),
                    None => continue,
                }
            }
        };
        report.read(param.span, set);
    }
}

fn percentile_of(
    report: &mut Report<'_>,
    features: &FeatureSorts,
    name: &str,
    percent: &Spanned<f64>,
    sorts: &[Spanned<String>; 2],
) -> Option<f64> {
    let [first, second] = sorts;
    let whole = first.span.to(second.span);
    let a = features.values.get(&first.value)?;
    let b = features.values.get(&second.value)?;
    if a.width != b.width {
        report.push(
            whole,
            "no distance",
            Diagnostic::error(
                Code::SizesDisagree,
                format!(
                    "`params.{name}`: there is no distance between {} numbers (`{}`) and {} (`{}`)",
                    a.width, first.value, b.width, second.value
                ),
            ),
        );
        return None;
    }
    let other = (first.value != second.value).then_some(b);
    let found = percentile(a.points(), other.map(Features::points), percent.value);
    if found.is_none() {
        report.push(
            whole,
            "too large",
            Diagnostic::error(
                Code::NumberTooLarge,
                format!("`params.{name}`: some distances are too large for a number (1.8e308)"),
            )
            .help("scale the features down"),
        );
    }
    found
}

/// Sets which individuals the constants are.
pub(super) fn read_constants(
    report: &mut Report<'_>,
    theory: &Theory,
    features: &FeatureSorts,
    data: &mut Data,
    known: impl Fn(SortId) -> bool,
) {
    let manifest = report.manifest;
    for declared in &theory.constants {
        let Some(given) = manifest.constants.get(&declared.name) else {
            continue;
        };
        let sort = &theory[declared.sort].name;
        let is = match &given.value {
            Constant::Name(name) => {
                if !known(declared.sort) {
                    continue;
                }
                match individual_named(&theory[declared.sort], &declared.name, name) {
                    Ok(index) => ConstantData::Row(index),
                    Err(error) => {
                        report.push(name.span, "no such individual", error);
                        continue;
                    }
                }
            }
            Constant::Row(row) => {
                let size = data.size(declared.sort);
                if !known(declared.sort) {
                    continue;
                }
                let names = &theory[declared.sort].labels;
                if let Some(first) = names.first() {
                    let meant = names.get(row.value as usize).unwrap_or(first);
                    report.push(
                        row.span,
                        "expected a name",
                        Diagnostic::error(Code::WrongType, format!(
                            "`constants.{}`: the individuals of sort `{sort}` have names and are written by name only",
                            declared.name
                        ))
                        .help(format!("write `row = \"{meant}\"`")),
                    );
                    continue;
                }
                if row.value >= size as u64 {
                    let range = match size.checked_sub(1) {
                        Some(last) => format!("its rows are 0 to {last}"),
                        None => "it has none".to_string(),
                    };
                    report.push(
                        row.span,
                        "no such row",
                        Diagnostic::error(Code::UnknownIndividual, format!(
                            "`constants.{}`: there is no individual {} of sort `{sort}`: {range}",
                            declared.name, row.value
                        )),
                    );
                    continue;
                }
                ConstantData::Row(row.value as u32)
            }
            Constant::Learnable(length) => {
                check_length(report, features, &declared.name, sort, length);
                ConstantData::Learnable
            }
        };
        let set = data.set_constant(&declared.name, is);
        report.read(given.span, set);
    }
}

fn individual_named(
    sort: &Sort,
    constant: &str,
    name: &Spanned<String>,
) -> Result<u32, Diagnostic> {
    let at = sort.labels.iter().position(|label| *label == name.value);
    at.map(|at| at as u32).ok_or_else(|| {
        let (known, what) = (&sort.name, &name.value);
        let error = Diagnostic::error(
            Code::UnknownIndividual,
            format!("`constants.{constant}`: there is no individual `{what}` of sort `{known}`"),
        );
        match (sort.labels.is_empty(), sort.kind) {
            (_, SortKind::Range(..)) => error.help("its individuals are integers"),
            (true, _) => error.help("its individuals have no names: write `row = 0` for the first"),
            _ => error.maybe_help(did_you_mean(what, sort.labels.iter().map(String::as_str))),
        }
    })
}

/// A learnable constant is read like the other individuals of its sort, so it must have the same length.
fn check_length(
    report: &mut Report<'_>,
    features: &FeatureSorts,
    constant: &str,
    sort: &str,
    length: &Spanned<usize>,
) {
    let learnable = report.manifest.sorts.get(sort).and_then(|s| s.learnable);
    let others = (features.files.get(sort).map(|file| file.width()))
        .or(learnable.map(|length| length.value));
    if let Some(width) = others
        && width != length.value
    {
        report.push(
            length.span,
            "",
            Diagnostic::error(Code::SizesDisagree, format!(
                "`constants.{constant}` is a vector of {}, but the individuals of sort `{sort}` have {width} numbers",
                length.value
            ))
            .help(format!("write `learnable = {width}`")),
        );
    }
}
