//! Mistakes as Python's exceptions and warnings.

use std::panic::{AssertUnwindSafe, catch_unwind};

use logltn::{Code, Diagnostic, Diagnostics, Severity};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// The most messages that are printed.
const MOST_MESSAGES: usize = 50;

/// A mistake in an argument, as found by Python: code, message, help.
pub type Problem = (String, String, Option<String>);

/// Why a call failed.
pub enum Failure {
    /// The arguments are wrong.
    Input(Diagnostics),
    /// A Python exception.
    Python(PyErr),
}

impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Failure {
        Failure::Input(found)
    }
}

impl From<Diagnostic> for Failure {
    fn from(found: Diagnostic) -> Failure {
        Failure::Input(found.into())
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Python(error)
    }
}

/// Runs the body of a function called from Python. A panic becomes a `RuntimeError`: PyO3's own exception for panics is
/// not caught by `except Exception`.
pub fn guarded<T>(py: Python<'_>, body: impl FnOnce() -> Result<T, Failure>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Failure::Python(error))) => Err(error),
        Ok(Err(Failure::Input(found))) => Err(input_error(py, &found)),
        Err(payload) => Err(panicked(payload.as_ref())),
    }
}

/// A panic as a `RuntimeError`.
pub fn panicked(payload: &(dyn std::any::Any + Send)) -> PyErr {
    let text = (payload.downcast_ref::<String>().map(String::as_str))
        .or_else(|| payload.downcast_ref::<&str>().copied());
    PyRuntimeError::new_err(format!(
        "this is a bug in logltn, please report it: {}",
        text.unwrap_or("a panic without a message")
    ))
}

/// Adds to a message of the planner how its remedy is written in Python.
fn in_python(found: &Diagnostic) -> Diagnostic {
    match (found.code(), found.message().split('`').nth(1)) {
        (Code::LearntInGuard, Some(name)) if found.message().starts_with("function `") => {
            let written = format!("in Python: `functions={{\"{name}\": values}}`");
            found.clone().note(written)
        }
        _ => found.clone(),
    }
}

fn input_error(py: Python<'_>, found: &Diagnostics) -> PyErr {
    let found = &found.iter().map(in_python).collect();
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let module = py.import("logltn._errors")?;
        module.call_method1("input_error", (rendered(found), diagnostics(py, found)?))
    };
    match made() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// As the command line prints them.
fn rendered(found: &Diagnostics) -> String {
    let mut text = found.render(false, MOST_MESSAGES);
    let warnings = found.iter().count() - found.error_count();
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    text += &format!("\n{}", counted(found.error_count(), "error"));
    if warnings > 0 {
        text += &format!(", {}", counted(warnings, "warning"));
    }
    text
}

fn diagnostics<'py>(py: Python<'py>, found: &Diagnostics) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for d in found.iter() {
        let severity = match d.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        list.append((
            severity,
            d.code().name(),
            d.message(),
            d.file(),
            d.line(),
            d.column(),
            d.help_text(),
        ))?;
    }
    Ok(list)
}

/// Issues warnings through Python's `warnings`.
pub fn warn(py: Python<'_>, found: &Diagnostics) -> PyResult<()> {
    if found.is_empty() {
        return Ok(());
    }
    let texts: Vec<String> = found.iter().map(|d| d.render(false)).collect();
    let module = py.import("logltn._errors")?;
    module.call_method1("warn", (texts, diagnostics(py, found)?))?;
    Ok(())
}

/// Adds what Python found.
pub fn take_problems(problems: Vec<Problem>, found: &mut Diagnostics) {
    for (code, message, help) in problems {
        let code = Code::named(&code).unwrap_or(Code::Internal);
        found.push(Diagnostic::error(code, message).maybe_help(help));
    }
}

/// Raises what Python found as an `InputError`.
#[pyfunction]
pub fn raise_problems(py: Python<'_>, problems: Vec<Problem>) -> PyResult<()> {
    guarded(py, || {
        let mut found = Diagnostics::new();
        take_problems(problems, &mut found);
        match found.has_errors() {
            true => Err(found.into()),
            false => Ok(()),
        }
    })
}

/// Warns of what Python found.
#[pyfunction]
pub fn warn_of(py: Python<'_>, problems: Vec<Problem>) -> PyResult<()> {
    let mut found = Diagnostics::new();
    for (code, message, help) in problems {
        let code = Code::named(&code).unwrap_or(Code::Internal);
        found.push(Diagnostic::warning(code, message).maybe_help(help));
    }
    warn(py, &found)
}

/// "did you mean …?", if one of the names is similar.
#[pyfunction]
pub fn did_you_mean(name: &str, known: Vec<String>) -> Option<String> {
    logltn::did_you_mean(name, known.iter().map(String::as_str))
}
