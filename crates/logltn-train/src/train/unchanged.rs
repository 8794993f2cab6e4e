//! Whether the manifest and theory of a run that is resumed are still those that it began with.

use std::collections::BTreeMap;

use logltn::{Code, Diagnostic, Diagnostics, Source, Theory};
use toml::de::{DeTable, DeValue};

/// What may change between the parts of a run: it is measured, but nothing is learnt from it.
const FREE: &str = "evaluate";

/// Compares the manifest of a run directory with the one that is to go on.
///
/// # Errors
/// With each key that has another value. The learning rate of one half of a run and that of the other would make
/// a result that no manifest stands for.
pub(super) fn manifest(before: &str, now: &str) -> Result<(), Diagnostics> {
    let (Some(before), Some(now)) = (flat(before), flat(now)) else {
        // Someone has edited the run directory's copy, which is theirs to do; the manifest itself has been read.
        return Ok(());
    };
    let mut keys: Vec<&String> = before.keys().chain(now.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let nothing = || "left out".to_string();
    let mut errors = Diagnostics::new();
    for key in keys {
        let [was, is] = [&before, &now].map(|side| side.get(key).cloned());
        if was != is && key != FREE && !key.starts_with(&format!("{FREE}.")) {
            let [was, is] = [was, is].map(|value| value.unwrap_or_else(nothing));
            errors.push(other(format!("`{key}` was {was} there and is {is} now")));
        }
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(()),
    }
}

/// Compares the theory of a run directory with the one that is to go on; comments and spaces do not count.
///
/// # Errors
/// If they say different things.
pub(super) fn theory(before: &str, now: &str) -> Result<(), Diagnostics> {
    let parsed = |text: &str| Theory::parse(Source::new("theory.ltn", text)).ok();
    let same = before == now
        || (parsed(before).zip(parsed(now))).is_some_and(|(before, now)| before.same_as(&now));
    match same {
        true => Ok(()),
        false => Err(other("its theory is another one".to_string()).into()),
    }
}

fn other(what: String) -> Diagnostic {
    Diagnostic::error(Code::RunDiffers, format!("the run is of another training: {what}")).help(
        "resume with the manifest and the theory that the run began with (its directory has copies), or start anew in another folder",
    )
}

/// `train.learning_rate` → `0.002`, for all values of a document.
fn flat(text: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let table = DeTable::parse(text).ok()?;
    flatten(
        String::new(),
        &DeValue::Table(table.into_inner()),
        &mut found,
    );
    Some(found)
}

fn flatten(key: String, value: &DeValue<'_>, found: &mut BTreeMap<String, String>) {
    let inner = |name: &str| match key.is_empty() {
        true => name.to_string(),
        false => format!("{key}.{name}"),
    };
    let leaf = match value {
        DeValue::Table(table) => {
            for (name, value) in table {
                flatten(inner(name.get_ref()), value.get_ref(), found);
            }
            return;
        }
        DeValue::Array(values) => {
            for (i, value) in values.iter().enumerate() {
                flatten(inner(&i.to_string()), value.get_ref(), found);
            }
            return;
        }
        // `1000` and `1e3` are the same.
        DeValue::Integer(number) => plain(number.as_str()),
        DeValue::Float(number) => plain(number.as_str()),
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    };
    found.insert(key, leaf);
}

fn plain(number: &str) -> String {
    let digits = number.replace('_', "");
    (digits.parse::<f64>()).map_or(digits, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{manifest, theory};

    #[test]
    fn what_is_written_differently_but_means_the_same_is_the_same() {
        let before = "semantics = \"logltn\"\n[train]\nsteps = 1_000\nlearning_rate = 0.002\n";
        let now =
            "semantics = 'logltn' # as ever\ntrain = { learning_rate = 2e-3, steps = 1000 }\n";
        assert!(manifest(before, now).is_ok());
    }

    #[test]
    fn each_change_is_named_but_those_of_evaluation_are_free() {
        let before = "[train]\nsteps = 10\nlearning_rate = 0.002\n[evaluate]\nevery = 1\n";
        let now = "[train]\nsteps = 10\nlearning_rate = 0.01\nbatch = 3\n[evaluate]\nevery = 5\n";
        let errors = manifest(before, now).unwrap_err();
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
        assert!(theory(before, "predicate p() # a remark\naxiom a: p()").is_ok());
        assert!(theory(before, "predicate p()\naxiom a: not p()\n").is_err());
        assert!(theory(before, "axiom").is_err());
    }
}
