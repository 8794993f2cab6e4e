//! Checks that the inputs of networks name existing fields of features.

use std::collections::BTreeMap;

use logltn::theory::ArgumentSort;
use logltn::{Code, Diagnostic, Theory, did_you_mean};
use logltn_learn::metrics::Subject;

use super::features::{FeatureFile, FieldShape};
use super::report::Report;
use crate::manifest::{InputExpr, Spanned, users};

/// Reports the `x.field` that are not in the features of x, and boxes that are not four numbers.
pub(super) fn check(
    report: &mut Report<'_>,
    theory: &Theory,
    files: &BTreeMap<String, FeatureFile>,
) {
    let manifest = report.manifest;
    for user in users(&manifest.predicates, &manifest.functions) {
        let sorts = match user.subject {
            Subject::Function => theory.function(user.name).map(|id| &theory[id].arguments),
            _ => theory.predicate(user.name).map(|id| &theory[id].arguments),
        };
        let (Some(network), Some(args), Some(sorts)) =
            (manifest.network(user.network), user.args, sorts)
        else {
            continue;
        };
        let mut check = Check {
            report,
            theory,
            files,
            args,
            sorts,
        };
        for input in network.inputs.iter().flatten() {
            check.input(input);
        }
    }
}

struct Check<'a, 'r> {
    report: &'a mut Report<'r>,
    theory: &'a Theory,
    files: &'a BTreeMap<String, FeatureFile>,
    args: &'a [Spanned<String>],
    sorts: &'a [ArgumentSort],
}

impl Check<'_, '_> {
    fn input(&mut self, input: &InputExpr) {
        match input {
            InputExpr::Features(_) | InputExpr::Call { .. } => {}
            InputExpr::Field { variable, field } => {
                self.field(variable, field);
            }
            InputExpr::Stop(inner) => self.input(inner),
            InputExpr::Containment(a, b) => {
                self.corners(a);
                self.corners(b);
            }
        }
    }

    /// The features of the sort of an argument, if it has any that could be read.
    fn file(&self, variable: &str) -> Option<&FeatureFile> {
        let position = self.args.iter().position(|arg| arg.value == variable)?;
        let sort = self.sorts.get(position)?.sort()?;
        self.files.get(&self.theory[sort].name)
    }

    fn field(&mut self, variable: &Spanned<String>, field: &Spanned<String>) -> Option<FieldShape> {
        let file = self.file(variable)?;
        let named = |f: &&FieldShape| f.name.as_deref() == Some(field.as_str());
        if let Some(found) = file.fields.iter().find(named) {
            return Some(found.clone());
        }
        let names: Vec<&str> = (file.fields.iter())
            .filter_map(|f| f.name.as_deref())
            .collect();
        let error = Diagnostic::error(
            Code::UnknownField,
            format!("{} has no field `{}`", file.path.display(), field.value),
        );
        let error = if names.is_empty() {
            let variable = &variable.value;
            error
                .note("a file of this format is one array without a name")
                .help(format!("write `{variable}` for all its numbers"))
        } else {
            let list: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            error
                .note(format!("its fields are {}", list.join(", ")))
                .maybe_help(did_you_mean(field, names.iter().copied()))
        };
        self.report.push(field.span, "no such field", error);
        None
    }

    /// A box is xmin, ymin, xmax, ymax.
    fn corners(&mut self, input: &InputExpr) {
        let (width, span) = match input {
            InputExpr::Field { variable, field } => {
                let Some(found) = self.field(variable, field) else {
                    return;
                };
                (found.width(), variable.span.to(field.span))
            }
            InputExpr::Features(variable) => match self.file(variable) {
                Some(file) => (file.width(), variable.span),
                None => return,
            },
            _ => return,
        };
        if width != 4 {
            self.report.push(
                span,
                "not a box",
                Diagnostic::error(Code::WrongShape, format!(
                    "`containment` takes boxes of four numbers (xmin, ymin, xmax, ymax), but `{input}` has {width}"
                )),
            );
        }
    }
}
