//! `semantics = "logltn"`, or `semantics = { base = "logltn", or = "max" }`.

use logltn::{Code, Diagnostic, Semantics, Space};

use super::reader::{Item, did_you_mean, quoted_list};

/// Reads a semantics, checking every override separately.
pub(super) fn read(item: &Item<'_>) -> Option<Semantics> {
    if item.is_string() {
        return read_base(item);
    }
    let table = item.table()?;
    let base = match table.take("base") {
        Some(base) => read_base(&base),
        None => Some(Semantics::default()),
    };
    let operators: Vec<(&'static str, Option<Item<'_>>)> =
        Semantics::KEYS.map(|key| (key, table.take(key))).to_vec();
    let eps = table.take("stable_eps");
    table.end();
    let mut semantics = base?;
    let mut sound = true;
    for (key, operator) in operators {
        let Some(item) = operator else { continue };
        let Some(name) = item.string("an operator's name") else {
            sound = false;
            continue;
        };
        match semantics.with(key, &name) {
            Ok(changed) => semantics = changed,
            Err(error) => {
                sound = false;
                let what = format!("`{}`: {}", item.path, error.message());
                let help = error.help_text().map(str::to_string);
                item.wrong("", Diagnostic::error(error.code(), what).maybe_help(help));
            }
        }
    }
    if let Some(eps) = eps {
        let value = eps.number()?;
        match semantics.with_stable_eps(value.value) {
            Ok(changed) => semantics = changed,
            Err(error) => {
                sound = false;
                eps.wrong("", error);
            }
        }
        if semantics.space == Space::Log {
            let what = format!(
                "`stable_eps` has no effect on `{}`, which has no product of truth degrees",
                semantics.name
            );
            let warning = Diagnostic::warning(Code::NoEffect, what);
            item.problems.push(eps.key, "no effect", warning);
        }
    }
    sound.then_some(semantics)
}

fn read_base(item: &Item<'_>) -> Option<Semantics> {
    let name = item.string("the name of a semantics")?;
    let found = Semantics::named(&name);
    if found.is_none() {
        let what = format!("there is no semantics `{}`", name.value);
        let error = Diagnostic::error(Code::UnknownSemantics, what)
            .note(format!("known: {}", quoted_list(Semantics::NAMES)))
            .maybe_help(did_you_mean(&name, Semantics::NAMES));
        item.wrong("not known", error);
    }
    found
}
