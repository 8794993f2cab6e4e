//! How a manifest says what the engine and a session ask for: they do not know of manifests.

use logltn::{Code, Diagnostic, Diagnostics};

/// Adds to a message of a session where its remedy is written.
pub(crate) fn in_manifest(found: Diagnostic) -> Diagnostic {
    let help = found.help_text().unwrap_or_default();
    let written = match found.code() {
        Code::ClassesCollapsed => {
            "in a manifest: `[schedule] alpha = 1`, and under `[train]` \
             `phases = [{ steps = 50, axioms = [\"LABELS\"] }, { steps = 150 }]`"
        }
        Code::NoFeatures => {
            "in a manifest: `features` or `learnable = 8` under `[sorts.NAME]`; `learnable = true` without `network` and \
             `output` under `[predicates.NAME]`"
        }
        Code::NothingLearnt if help.contains("`undecided`") => {
            "in a manifest: `undecided = false` next to the network's layers"
        }
        // With notes on operators through which nothing flows back.
        Code::NothingLearnt if !found.notes().is_empty() => {
            "`logltn eval M --run DIR --semantics …` evaluates a run with another semantics"
        }
        Code::TrainingDiverged if help.contains("`clip_norm`") => {
            "in a manifest: `learning_rate` and `clip_norm` under `[train]`"
        }
        Code::TooHard if help.contains("more time") => {
            "in a manifest: `compile_seconds` under `[train]`"
        }
        _ => {
            let Some((_, name)) = help.split_once("or freeze `") else {
                return found;
            };
            let name = name.trim_end_matches('`').to_string();
            return found.note(format!(
                "in a manifest: `freeze = [\"{name}\"]` under `[train]`"
            ));
        }
    };
    found.note(written)
}

/// The same for several.
pub(crate) fn all_in_manifest(found: Diagnostics) -> Diagnostics {
    found.into_iter().map(in_manifest).collect()
}

/// The same for a message of the planner.
pub(crate) fn planned_in_manifest(found: Diagnostic) -> Diagnostic {
    match (found.code(), found.message().split('`').nth(1)) {
        (Code::LearntInGuard, Some(name)) if found.message().starts_with("function `") => {
            let written = format!("in a manifest: `values = \"….csv\"` under `[functions.{name}]`");
            found.note(written)
        }
        (Code::TooHard, _) => in_manifest(found),
        _ => found,
    }
}
