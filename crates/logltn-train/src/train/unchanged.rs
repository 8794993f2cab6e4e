//! Whether the manifest and theory of a run that is resumed are still those that it began with.

use std::collections::BTreeMap;

use logltn::{Code, Diagnostic, Diagnostics, Source, Theory};

use super::document::Node;
use super::{Trainer, data_files};
use crate::run_directory::RunDirectory;

/// What may change between the parts of a run: it is measured, but nothing is learnt from it, unless
/// `train.early_stop` looks at it.
const FREE: &str = "evaluate";

/// What to do with a run of something else.
pub(super) const HELP: &str = "resume with the manifest, theory, data and flags that the run began with (its directory holds the theory, and the manifest with the flags applied); or start again in another folder, from these weights if you like: \
    `start = { run = \"…\" }` under `[train]`";

/// Compares what a run began with and what is to continue with it.
///
/// # Errors
/// With each difference. The learning rate of one half of a run and that of the other would make a result that no
/// manifest stands for. For the same reason a run that has lost what it began with cannot go on.
pub(super) fn check(trainer: &Trainer, directory: &RunDirectory) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::new();
    let read = |name: &str| {
        let path = directory.file(name);
        let bytes = logltn_data::read_bytes(&path).map_err(lost)?;
        String::from_utf8(bytes).map_err(|_| lost(damaged(&path.display().to_string()).into()))
    };
    let info = directory.info().map_err(lost)?;
    let data = data_files::fingerprints(&trainer.project().manifest, directory.path())?;
    errors.extend(data_files::unchanged(&info.data, &data));
    let before = flat(&read("manifest.toml")?).ok_or_else(|| {
        lost(damaged(&directory.file("manifest.toml").display().to_string()).into())
    })?;
    // It has just been written, so it is TOML.
    let now = flat(&trainer.resolved_manifest(directory.path())).unwrap_or_default();
    errors.extend(manifest([&before, &now], [&info.data, &data]));
    errors.extend(theory(
        &read("theory.ltn")?,
        trainer.project().theory().source.text(),
    ));
    errors.into_result(()).map(drop)
}

fn damaged(file: &str) -> Diagnostic {
    Diagnostic::error(
        Code::RunDamaged,
        format!("{file}: it was changed after `logltn train` wrote it"),
    )
}

/// Why a run without its records cannot be resumed.
fn lost(errors: Diagnostics) -> Diagnostics {
    let why = "cannot resume: the run's records are damaged; restore the file, or start another run from these weights: \
        `start = { run = \"…\" }` under `[train]`";
    let because =
        |error: Diagnostic| Diagnostic::error(Code::RunDamaged, error.message()).help(why);
    errors.into_iter().map(because).collect()
}

/// `train.seed` → `3`, if it is TOML.
fn flat(text: &str) -> Option<BTreeMap<String, String>> {
    Some(Node::parse(text, &BTreeMap::new())?.flat())
}

/// Each key that has another value is an error. A path may be another if the file holds the same: `data` has what the
/// files of either side hold.
fn manifest(
    [before, now]: [&BTreeMap<String, String>; 2],
    data: [&BTreeMap<String, String>; 2],
) -> Diagnostics {
    let mut errors = Diagnostics::new();
    let stops_early = before.keys().any(|key| key.starts_with("train.early_stop"));
    let free = |key: &str| !stops_early && (key == FREE || key.starts_with(&format!("{FREE}.")));
    let holds = |data: &BTreeMap<String, String>, value: &Option<String>| {
        data.get(value.as_deref()?.trim_matches('"')).cloned()
    };
    let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let nothing = || "left out".to_string();
    for key in keys {
        let [was, is] = [before, now].map(|side| side.get(key).cloned());
        let moved = holds(data[0], &was).is_some_and(|held| Some(held) == holds(data[1], &is));
        if was != is && !free(key) && !moved {
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
        false => other("its theory differs".to_string()).into(),
    }
}

fn other(what: String) -> Diagnostic {
    Diagnostic::error(
        Code::RunDiffers,
        format!("the run belongs to another training: {what}"),
    )
    .help(HELP)
}

#[cfg(test)]
mod tests {
    use super::{flat, theory};
    use logltn::Diagnostics;
    use std::collections::BTreeMap;

    fn manifest(before: &str, now: &str) -> Diagnostics {
        let [before, now] = [before, now].map(|text| flat(text).expect("TOML"));
        let data = |path: &str, held: &str| BTreeMap::from([(path.to_string(), held.to_string())]);
        let data = [data("/a/x.csv", "8 bytes"), data("../x.csv", "8 bytes")];
        super::manifest([&before, &now], [&data[0], &data[1]])
    }

    #[test]
    fn a_file_that_was_moved_is_the_same_if_it_holds_the_same() {
        let sort = |file: &str| format!("[sorts.P]\nfeatures = \"{file}\"\n");
        assert!(manifest(&sort("/a/x.csv"), &sort("../x.csv")).is_empty());
        assert!(manifest(&sort("/a/x.csv"), &sort("../y.csv")).has_errors());
    }

    #[test]
    fn with_an_early_stop_evaluation_is_part_of_training() {
        let text = |every| {
            format!("[train]\nearly_stop = {{ patience = 3 }}\n[evaluate]\nevery = {every}\n")
        };
        assert!(manifest(&text(1), &text(2)).has_errors());
    }

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
                "the run belongs to another training: `train.batch` was left out there and is 3 now",
                "the run belongs to another training: `train.learning_rate` was 0.002 there and is 0.01 now",
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
