//! `closed_form = { log_truth = "-rate * dist(u, v)" }` with `learn = { rate = 0.05 }`.

use std::collections::BTreeSet;

use logltn::{Code, Diagnostic};
use logltn_learn::ClosedForm;

use super::Section;
use super::phrase::Phrase;
use super::reader::{Item, Names};
use super::symbols::is_word;

const EXAMPLE: &str = "{ logit = \"margin - norm(h + r - t)\" }";

/// The closed form of a predicate at `path`, with what it learns.
pub(super) fn read(
    path: &str,
    form: &Item<'_>,
    learn: Option<&Item<'_>>,
    args: Option<&Names>,
) -> Option<ClosedForm> {
    let problems = form.problems;
    let learnt = match learn {
        Some(learn) => read_learn(learn, args),
        None => Some(Section::new()),
    };
    let mut form = read_form(form)?;
    if let Some(args) = args {
        form = form.args(args.iter().map(|arg| arg.value.clone()));
    }
    let used = form.names();
    for (name, first) in learnt? {
        if !used.contains(&name) {
            let what = format!("`{path}` learns `{name}`, which its closed form does not use");
            let warning = Diagnostic::warning(Code::UnusedDeclaration, what);
            problems.push(
                first.span,
                "never used",
                warning.help("use it, or remove it"),
            );
        }
        form = form.learn(name, first.value);
    }
    Some(form)
}

fn read_form(item: &Item<'_>) -> Option<ClosedForm> {
    if !item.is_table() {
        let help =
            "say what it computes: `truth` (0 to 1), `log_truth` (at most 0), `logit` or `softmax`";
        let what = format!("a table such as {EXAMPLE}");
        return item.expected_with_help(&what, Some(help.to_string()));
    }
    let problems = item.problems;
    let table = item.table()?;
    let [truth, log_truth, logit, softmax] =
        ["truth", "log_truth", "logit", "softmax"].map(|key| table.take(key));
    let (place, before) = (table.span, problems.count());
    table.end()?;
    let (text, make): (_, fn(String) -> ClosedForm) = match (truth, log_truth, logit, softmax) {
        (Some(text), ..) => (text, ClosedForm::truth),
        (_, Some(text), ..) => (text, ClosedForm::log_truth),
        (_, _, Some(text), _) => (text, ClosedForm::logit),
        (.., Some(text)) => (text, ClosedForm::softmax),
        // Another key is most likely a misspelt one of these, and has been reported.
        (None, None, None, None) if problems.count() > before => return None,
        (None, None, None, None) => {
            let path = &item.path;
            let what = format!("`{path}` has none of `truth`, `log_truth`, `logit` and `softmax`");
            let error = Diagnostic::error(Code::MissingKey, what);
            let error = error.help(format!("for example, write `closed_form = {EXAMPLE}`"));
            problems.push(place, "missing here", error);
            return None;
        }
    };
    let phrase = Phrase::read(&text, "arithmetic such as \"margin - norm(h + r - t)\"")?;
    let form = make(phrase.text.clone()).written(problems.source, phrase.whole(), phrase.origin);
    phrase.check(form.check_syntax()).map(|()| form)
}

/// Numbers and vectors by name.
fn read_learn(item: &Item<'_>, args: Option<&Names>) -> Option<Section<Vec<f64>>> {
    if !item.is_table() {
        return item.expected("a table of numbers such as { rate = 0.05 }");
    }
    let problems = item.problems;
    let before = problems.count();
    let section = item.section(&mut BTreeSet::new(), |item| {
        let name = item.path.rsplit('.').next().unwrap_or_default();
        if !is_word(name) {
            let what = format!("`{name}` is not a name of letters, digits and `_`");
            problems.error(Code::MalformedExpression, item.key, what);
            return None;
        }
        if let Some(arg) = args.and_then(|args| args.iter().find(|arg| arg.value == name)) {
            let what = format!("`{name}` is an argument, so it cannot be learnt as well");
            let error = Diagnostic::error(Code::DuplicateName, what);
            problems.push(item.key, "learnt", error.mark(arg.span, "the argument"));
            return None;
        }
        if item.is_empty_array() {
            item.refuse_empty("expected a number or numbers");
            return None;
        }
        let number = |item: &Item<'_>| item.number().map(|x| x.value);
        match item.is_number() {
            true => number(item).map(|x| vec![x]),
            false => item.list(number),
        }
    })?;
    (problems.count() == before).then_some(section)
}
