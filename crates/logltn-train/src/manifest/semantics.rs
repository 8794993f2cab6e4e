//! `semantics = "logltn"`, or `semantics = { base = "logltn", or = "max" }`.

use logltn::{Code, Diagnostic, Semantics, Space};

use super::reader::{Item, Problems, did_you_mean, quoted_list};

/// Reads a semantics, checking every override by itself.
pub(super) fn read(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Semantics> {
    if item.is_string() {
        return read_base(item, problems);
    }
    let what = "a name such as \"logltn\", or { base = \"logltn\", or = \"max\" }";
    let mut table = item.table(problems, what)?;
    let base = match table.take("base") {
        Some(base) => read_base(&base, problems),
        None => Some(Semantics::default()),
    };
    let operators: Vec<(&'static str, Option<Item<'_>>)> =
        Semantics::KEYS.map(|key| (key, table.take(key))).to_vec();
    let eps = table.take("stable_eps");
    table.finish(problems);
    let mut semantics = base?;
    let mut sound = true;
    for (key, operator) in operators {
        let Some(item) = operator else { continue };
        let Some(name) = item.string(problems, "an operator's name") else {
            sound = false;
            continue;
        };
        match semantics.with(key, &name) {
            Ok(changed) => semantics = changed,
            Err(error) => {
                sound = false;
                problems.push(
                    item.span,
                    "",
                    Diagnostic::error(error.code(), format!("`{}`: {error}", item.path))
                        .maybe_help(error.help()),
                );
            }
        }
    }
    if let Some(eps) = eps {
        let value = eps.number(problems)?;
        match semantics.with_stable_eps(value.value) {
            Ok(changed) => semantics = changed,
            Err(error) => {
                sound = false;
                problems.push(
                    eps.span,
                    "",
                    Diagnostic::error(error.code(), error.to_string()).maybe_help(error.help()),
                );
            }
        }
        if semantics.space == Space::Log {
            problems.push(
                eps.key,
                "no effect",
                Diagnostic::warning(
                    Code::NoEffect,
                    format!(
                        "`stable_eps` has no effect on `{}`, which has no product of truth degrees",
                        semantics.name
                    ),
                ),
            );
        }
    }
    sound.then_some(semantics)
}

fn read_base(item: &Item<'_>, problems: &mut Problems<'_>) -> Option<Semantics> {
    let name = item.string(problems, "the name of a semantics")?;
    let found = Semantics::named(&name);
    if found.is_none() {
        problems.push(
            name.span,
            "not known",
            Diagnostic::error(
                Code::UnknownSemantics,
                format!("there is no semantics `{}`", name.value),
            )
            .note(format!("known: {}", quoted_list(Semantics::NAMES)))
            .maybe_help(did_you_mean(&name, Semantics::NAMES)),
        );
    }
    found
}
