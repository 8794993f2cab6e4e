//! `closed_form = { log_truth = "-rate * dist(u, v)" }` with `learn = { rate = 0.05 }`.

use std::collections::BTreeSet;

use logltn::{Code, Diagnostic};
use logltn_learn::{ClosedForm, Spanned};

use super::Section;
use super::phrase::Phrase;
use super::reader::{Item, Problems, at_most_one};

const EXAMPLE: &str = "{ logit = \"margin - norm(h + r - t)\" }";

/// The closed form of a predicate at `path`, with what it learns.
pub(super) fn read(
    path: &str,
    form: &Item<'_>,
    learn: Option<&Item<'_>>,
    args: Option<&Spanned<Vec<Spanned<String>>>>,
    problems: &mut Problems<'_>,
) -> Option<ClosedForm> {
    let learnt = match learn {
        Some(learn) => read_learn(learn, args, problems),
        None => Some(Section::new()),
    };
    let mut form = read_form(form, problems)?;
    if let Some(args) = args {
        form = form.args(args.iter().map(|arg| arg.value.clone()));
    }
    let used = form.names();
    for (name, first) in learnt? {
        if !used.contains(&name) {
            problems.push(
                first.span,
                "never used",
                Diagnostic::warning(
                    Code::UnusedDeclaration,
                    format!("`{path}` learns `{name}`, which its closed form does not use"),
                )
                .help("use it, or remove it"),
            );
        }
        form = form.learn(name, first.value);
    }
    Some(form)
}

fn read_form(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<ClosedForm> {
    if !item.is_table() {
        let help = "say what its number is: `truth` (0 to 1), `log_truth` (at most 0) or `logit`";
        let what = format!("a table such as {EXAMPLE}");
        return item.expected_with_help(problems, &what, Some(help.to_string()));
    }
    let mut table = item.table(problems, EXAMPLE)?;
    let (truth, log_truth) = (table.take("truth"), table.take("log_truth"));
    let logit = table.take("logit");
    let (place, before) = (table.span, problems.count());
    table.finish(problems);
    if !at_most_one(problems, &item.path, &[&truth, &log_truth, &logit]) {
        return None;
    }
    let (text, make): (_, fn(String) -> ClosedForm) = match (truth, log_truth, logit) {
        (Some(text), ..) => (text, ClosedForm::truth),
        (_, Some(text), _) => (text, ClosedForm::log_truth),
        (.., Some(text)) => (text, ClosedForm::logit),
        // Another key is most likely meant for one of these, and has been reported.
        (None, None, None) if problems.count() > before => return None,
        (None, None, None) => {
            problems.push(
                place,
                "missing here",
                Diagnostic::error(
                    Code::MissingKey,
                    format!(
                        "`{}` has none of `truth`, `log_truth` and `logit`",
                        item.path
                    ),
                )
                .help(format!("write `closed_form = {EXAMPLE}`, say")),
            );
            return None;
        }
    };
    let phrase = Phrase::read(
        &text,
        problems,
        "arithmetic such as \"margin - norm(h + r - t)\"",
    )?;
    let form = make(phrase.text.clone()).written(problems.source, phrase.whole(), phrase.origin);
    if let Err(wrong) = form.check_syntax() {
        let place = phrase.place(wrong.span);
        let label = wrong.label.clone();
        let error = Diagnostic::error(wrong.code, format!("`{}`: {}", text.path, wrong.message));
        problems.push(place, &label, error.maybe_help(wrong.help));
        return None;
    }
    Some(form)
}

/// Numbers and vectors by name.
fn read_learn(
    item: &Item<'_>,
    args: Option<&Spanned<Vec<Spanned<String>>>>,
    problems: &mut Problems<'_>,
) -> Option<Section<Vec<f64>>> {
    if !item.is_table() {
        let what = "a table of numbers such as { rate = 0.05 }";
        return item.expected(problems, what);
    }
    let before = problems.count();
    let section = item.section(problems, &mut BTreeSet::new(), |item, problems| {
        let name = item.path.rsplit('.').next().unwrap_or_default();
        let word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !word || name.starts_with(|c: char| c.is_numeric()) {
            let what = format!("`{name}` is not a name of letters, digits and `_`");
            problems.error(Code::MalformedExpression, item.key, what);
            return None;
        }
        if let Some(arg) = args.and_then(|args| args.iter().find(|arg| arg.value == name)) {
            problems.push(
                item.key,
                "learnt",
                Diagnostic::error(
                    Code::DuplicateName,
                    format!("`{name}` is an argument, and cannot be learnt as well"),
                )
                .mark(arg.span, "the argument"),
            );
            return None;
        }
        if item.is_empty_array() {
            let what = format!("`{}` is empty: expected a number or numbers", item.path);
            problems.error(Code::EmptyValue, item.span, what);
            return None;
        }
        let number = |item: &Item<'_>, problems: &mut Problems<'_>| {
            let range = "a number that single precision can hold";
            let fits = |x: f64| (x as f32).is_finite();
            item.number_where(problems, range, fits).map(|x| x.value)
        };
        match item.is_number() {
            true => number(item, problems).map(|x| vec![x]),
            false => item.list(problems, "a number, or an array such as [0, 0, 1]", number),
        }
    })?;
    (problems.count() == before).then_some(section)
}
