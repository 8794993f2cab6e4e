//! Checks where functions are used: guards may use only functions given by data, and these have values for individuals
//! only.

use crate::data::{ConstantData, Data};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard_parts::Part;
use crate::source::Span;
use crate::theory::*;

/// Checks all functions of all axioms.
pub(super) fn check_functions(data: &Data, out: &mut Diagnostics) {
    let theory = data.theory();
    if theory.functions.is_empty() {
        return;
    }
    for axiom in theory.formulas() {
        if let Some(guard) = axiom.family.as_ref().and_then(|f| f.guard.as_ref()) {
            check_guard(data, guard, out);
        }
        for formula in axiom.formula.parts() {
            check_formula(data, formula, out);
        }
    }
}

fn check_formula(data: &Data, formula: &Formula, out: &mut Diagnostics) {
    match &formula.kind {
        FormulaKind::Atom { arguments, .. } | FormulaKind::Use { arguments, .. } => {
            for argument in arguments {
                argument.visit(&mut |part| check_arguments(data, part, true, out));
            }
        }
        FormulaKind::Quantified {
            guard: Some(guard), ..
        } => check_guard(data, guard, out),
        _ => {}
    }
}

fn check_guard(data: &Data, guard: &Guard, out: &mut Diagnostics) {
    let theory = data.theory();
    guard.visit(&mut |part| {
        if let Part::Term(Term {
            kind: TermKind::Apply(function, _),
            span,
        }) = &part
            && data.function(*function).is_none()
        {
            let declared = &theory[*function];
            if let (Some(field), [ArgumentSort::Sort(sort)]) =
                (declared.field(), &declared.arguments[..])
            {
                let what = format!(
                    "sort `{}` has no column of numbers `{field}`",
                    theory[*sort].name
                );
                out.push(Diagnostic::error(Code::UnknownColumn, what).at(
                    &theory.source,
                    *span,
                    "read here",
                ));
                return;
            }
            let what = format!(
                "function `{}` in a guard: a guard is crisp and may not depend on what is learnt",
                declared.name
            );
            let error =
                Diagnostic::error(Code::LearntInGuard, what).at(&theory.source, *span, "not crisp");
            let help = format!(
                "if its values are known, give those of `{}` as data",
                declared.name
            );
            out.push(error.mark(declared.span, "declared here").help(help));
        }
        check_arguments(data, part, false, out);
    });
}

/// A function given by data can be applied to individuals of the data only. Guards have no learnt functions at this
/// point.
fn check_arguments(data: &Data, part: Part, functions: bool, out: &mut Diagnostics) {
    let theory = data.theory();
    let Part::Term(Term {
        kind: TermKind::Apply(function, arguments),
        ..
    }) = part
    else {
        return;
    };
    if data.function(*function).is_none() {
        return;
    }
    let name = &theory[*function].name;
    let mut wrong = |what: String, span: Span| {
        let message = format!("function `{name}` is given by data, which have no value for {what}");
        let error = Diagnostic::error(Code::LearntArgument, message);
        out.push(error.at(&theory.source, span, "learnt"));
    };
    for argument in arguments {
        match &argument.kind {
            TermKind::Apply(inner, _) if functions && data.function(*inner).is_none() => {
                wrong(
                    format!("what `{}` learns", theory[*inner].name),
                    argument.span,
                );
            }
            TermKind::Constant(id)
                if data.constants[id.index()] == Some(ConstantData::Learnable) =>
            {
                wrong(
                    format!("constant `{}`, which is learnt", theory[*id].name),
                    argument.span,
                );
            }
            _ => {}
        }
    }
}
