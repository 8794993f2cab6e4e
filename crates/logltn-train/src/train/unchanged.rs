//! Whether the manifest and theory of a run that is resumed are still those that it began with.

use std::collections::BTreeMap;

use logltn::{Code, Diagnostic, Diagnostics, Source, Theory};

use super::document::Node;
use super::{Trainer, data_files};
use crate::run_directory::RunDirectory;

/// What may change between the parts of a run: it is measured, but nothing is learnt from it.
const FREE: &str = "evaluate";

/// What to do with a run of something else.
pub(super) const HELP: &str = "resume with the manifest, theory, data and flags that the run began with (its directory has the manifest with \
    all that flags decided, and the theory); or start anew in another folder, from these weights if you like: \
    `start = { run = \"…\" }` under `[train]`";

/// Compares what a run began with and what is to go on with it. A copy that is gone is no reason to lose the run.
///
/// # Errors
/// With each difference. The learning rate of one half of a run and that of the other would make a result that no
/// manifest stands for.
pub(super) fn check(trainer: &Trainer, directory: &RunDirectory) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::new();
    let read = |name: &str| std::fs::read_to_string(directory.file(name)).ok();
    if let Some(before) = read("manifest.toml") {
        let now = trainer.resolved_manifest(directory.path());
        errors.extend(manifest(&before, &now));
    }
    if let Some(before) = read("theory.ltn") {
        errors.extend(theory(&before, trainer.project().theory().source.text()));
    }
    if let Ok(before) = directory.info() {
        let now = data_files::fingerprints(&trainer.project().manifest, directory.path());
        errors.extend(data_files::unchanged(&before.data, &now));
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(()),
    }
}

/// Each key that has another value is an error.
fn manifest(before: &str, now: &str) -> Diagnostics {
    let mut errors = Diagnostics::new();
    let read = |text: &str| Node::parse(text, &BTreeMap::new()).map(|document| document.flat());
    let (Some(before), Some(now)) = (read(before), read(now)) else {
        // Someone has edited the run directory's copy, which is theirs to do; the manifest itself has been read.
        return errors;
    };
    let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let nothing = || "left out".to_string();
    for key in keys {
        let [was, is] = [&before, &now].map(|side| side.get(key).cloned());
        if was != is && key != FREE && !key.starts_with(&format!("{FREE}.")) {
            let [was, is] = [was, is].map(|value| value.unwrap_or_else(nothing));
            errors.push(other(format!("`{key}` was {was} there and is {is} now")));
        }
    }
    errors
}

/// A theory that says something else is an error; comments and spaces do not count.
fn theory(before: &str, now: &str) -> Diagnostics {
    let parsed = |text: &str| Theory::parse(Source::new("theory.ltn", text)).ok();
    let same = before == now
        || (parsed(before).zip(parsed(now))).is_some_and(|(before, now)| before.same_as(&now));
    match same {
        true => Diagnostics::new(),
        false => other("its theory is another one".to_string()).into(),
    }
}

fn other(what: String) -> Diagnostic {
    Diagnostic::error(
        Code::RunDiffers,
        format!("the run is of another training: {what}"),
    )
    .help(HELP)
}

#[cfg(test)]
mod tests {
    use super::{manifest, theory};

    #[test]
    fn what_is_written_differently_but_means_the_same_is_the_same() {
        let before = "semantics = \"logltn\"\n[train]\nsteps = 1_000\nlearning_rate = 0.002\n";
        let now =
            "semantics = 'logltn' # as ever\ntrain = { learning_rate = 2e-3, steps = 1000 }\n";
        assert!(manifest(before, now).is_empty());
    }

    #[test]
    fn each_change_is_named_but_those_of_evaluation_are_free() {
        let before = "[train]\nsteps = 10\nlearning_rate = 0.002\n[evaluate]\nevery = 1\n";
        let now = "[train]\nsteps = 10\nlearning_rate = 0.01\nbatch = 3\n[evaluate]\nevery = 5\n";
        let errors = manifest(before, now);
        let said: Vec<&str> = errors.iter().map(|e| e.message()).collect();
        assert_eq!(
            said,
            [
                "the run is of another training: `train.batch` was left out there and is 3 now",
                "the run is of another training: `train.learning_rate` was 0.002 there and is 0.01 now",
            ]
        );
    }

    #[test]
    fn a_theory_is_what_it_says() {
        let before = "predicate p()\naxiom a: p()\n";
        assert!(theory(before, "predicate p() # a remark\naxiom a: p()").is_empty());
        assert!(theory(before, "predicate p()\naxiom a: not p()\n").has_errors());
        assert!(theory(before, "axiom").has_errors());
    }
}
