//! Samples of sorts and axioms as a user meets them: checked, trained, interrupted, evaluated.

use crate::common::Folder;
use serde_json::Value;

const THEORY: &str = "sort Person\ntable knows(x: Person, y: Person)\npredicate likes(Person, Person)\n\
    axiom facts: forall (x, y) in knows. likes(x, y)\n\
    axiom negatives: forall (x, _y) in knows. forall z: Person where z != x and not knows(x, z). not likes(x, z)\n\
    axiom rule: forall x, y, z: Person where knows(x, y) and knows(y, z). likes(x, z)\n";

const MANIFEST: &str = "theory = 't.ltn'\n[sorts]\nPerson = { individuals = 'people.txt', learnable = 4, sample = 6 }\n\
    [tables]\nknows = { rows = 'knows.csv', batch = 5 }\n\
    [predicates.likes]\nargs = ['x', 'y']\nclosed_form = { logit = 'margin - dist(x, y)' }\nlearn = { margin = 1.0 }\n\
    [axioms.rule]\nsample = 7\n\
    [train]\nsteps = 12\noptimizer = 'sparse_adam'\ncheckpoint_every = 4\n";

fn folder(manifest: &str) -> Folder {
    let (mut people, mut knows) = (String::new(), "x,y\n".to_string());
    for i in 0..30 {
        people += &format!("p{i}\n");
        knows += &format!("p{i},p{}\n", (i + 1) % 30);
    }
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", manifest.as_bytes()),
        ("people.txt", people.as_bytes()),
        ("knows.csv", knows.as_bytes()),
    ])
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).expect("a document")
}

#[test]
fn a_step_sees_samples_and_eval_sees_everyone() {
    let folder = folder(MANIFEST);
    let check = folder.ok(&["check", "m.toml"]);
    check.says("; 6 a step");
    check.says(
        "a step sees a sample of sort `Person`, 6 at a time; groundings are counted for one sample",
    );
    // 5 facts, up to 5 negatives of each, 7 of the rule's bindings.
    let step = check
        .stdout
        .lines()
        .find(|line| line.starts_with("a step: "));
    let step = step.expect("what a step takes");
    let groundings: u32 = step["a step: ".len()..]
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((5 + 20 + 7..=5 + 30 + 7).contains(&groundings), "{step}");
    folder.ok(&["train", "m.toml", "--out", "a"]);
    let eval = folder.ok(&["eval", "m.toml", "--run", "a", "--json"]);
    let axioms = &document(&eval.stdout)["axioms"];
    let groundings: Vec<u64> = (0..3)
        .map(|i| axioms[i]["groundings"].as_u64().unwrap())
        .collect();
    assert_eq!(groundings, [30, 30 * 28, 30]);
    // The same bits, whatever the number of threads.
    folder.ok(&["train", "m.toml", "--out", "b", "--threads", "1"]);
    let weights =
        |run: &str| std::fs::read(folder.path().join(run).join("weights.safetensors")).unwrap();
    assert_eq!(weights("a"), weights("b"));
    folder.ok(&["train", "m.toml", "--out", "c", "--seed", "1"]);
    assert_ne!(weights("a"), weights("c"));
}

#[test]
fn mistakes_are_told() {
    for (from, to, expected) in [
        ("sample = 6", "sample = 0", "at least 1"),
        ("sample = 6", "sample = 'six'", "a whole number"),
        ("sample = 7", "sample = -1", "at least 1"),
        (
            "[axioms.rule]\nsample",
            "[axioms.facts]\nsampel",
            "unknown key",
        ),
    ] {
        let folder = folder(&MANIFEST.replacen(from, to, 1));
        let run = folder.refuses(&["check", "m.toml"]);
        run.complains(expected);
    }
}
