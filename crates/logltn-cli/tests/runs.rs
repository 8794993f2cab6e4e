//! Which tensors a training takes over from another, and which it leaves as they are; the rest is in `cases/runs.case`.

use crate::common::{Folder, Run};
use serde_json::Value;

const THEORY: &str = "sort Point
sort Class = 0..2
table labelled(x: Point, c: Class)
predicate class(Point, Class)
predicate near(Point, Point)
axiom examples: forall (x, c) in labelled. class(x, c)
axiom reflexive: forall x: Point. near(x, x)
axiom symmetric: forall x, y: Point. near(x, y) -> near(y, x)
axiom each for c: Class: exists x: Point. class(x, c)
";

const MANIFEST: &str = "theory = \"t.ltn\"
[sorts.Point]
features = \"points.csv\"
[tables]
labelled = { rows = \"labelled.csv\" }
[networks.trunk]
mlp = [6]
activation = \"tanh\"
[predicates.class]
network = \"trunk\"
output = \"softmax\"
[predicates.near]
network = { mlp = [5], activation = \"tanh\" }
output = \"sigmoid\"
[train]
steps = 6
learning_rate = 0.05
checkpoint_every = 2
";

fn project() -> Folder {
    let number = |n: usize| (n * 7919 % 1009) as f64 / 504.5 - 1.0;
    let mut points = "a,b\n".to_string();
    let mut labelled = "x,c\n".to_string();
    for i in 0..12 {
        points += &format!("{},{}\n", number(2 * i), number(2 * i + 1));
        labelled += &format!("{i},{}\n", i % 3);
    }
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
        ("points.csv", points.as_bytes()),
        ("labelled.csv", labelled.as_bytes()),
    ])
}

fn succeeds(run: &Run) {
    run.ended(0);
}

fn train(folder: &Folder, manifest: &str, out: &str) -> Run {
    let run = folder.run(&["train", manifest, "--out", out]);
    succeeds(&run);
    run
}

fn bytes(folder: &Folder, run: &str) -> Vec<u8> {
    std::fs::read(folder.path().join(run).join("weights.safetensors")).expect("weights")
}

/// The numbers of all tensors whose names begin so.
fn tensors(folder: &Folder, run: &str, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let bytes = bytes(folder, run);
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("8")) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    let header = header.as_object().expect("an object");
    let named = header.iter().filter(|(name, _)| name.starts_with(prefix));
    let found: Vec<_> = named
        .map(|(name, tensor)| {
            let at = |i: usize| tensor["data_offsets"][i].as_u64().expect("a place") as usize;
            let numbers = bytes[8 + length + at(0)..8 + length + at(1)].to_vec();
            (name.clone(), numbers)
        })
        .collect();
    assert!(!found.is_empty(), "{prefix}: {header:?}");
    found
}

fn refused(folder: &Folder, manifest: &str, says: &[&str]) {
    folder.write("wrong.toml", manifest.as_bytes());
    for arguments in [
        &["check", "wrong.toml"][..],
        &["train", "wrong.toml", "--out", "no"],
    ] {
        let run = folder.refuses(arguments);
        for said in says {
            run.complains(said);
        }
    }
    assert!(!folder.has("no/run.json"));
}

#[test]
fn a_training_can_begin_with_some_weights_of_another() {
    let folder = project();
    train(&folder, "m.toml", "runs/a");
    // One step of learning nearly nothing keeps what was taken.
    let still = MANIFEST
        .replace("steps = 6", "steps = 1")
        .replace("learning_rate = 0.05", "learning_rate = 1e-30\nseed = 5");
    let with = |start: &str| format!("{still}start = {start}\n");
    let only = with("{ run = \"runs/a\", only = [\"class\", \"networks.trunk\"] }");
    folder.write("only.toml", only.as_bytes());
    let run = train(&folder, "only.toml", "deep/er/only");
    let same =
        |run: &str, what: &str| tensors(&folder, run, what) == tensors(&folder, "runs/a", what);
    assert!(same("deep/er/only", "class.") && same("deep/er/only", "networks.trunk."));
    assert!(!same("deep/er/only", "near."));
    run.complains("`near.");
    // Its manifest finds the other run too.
    train(&folder, "deep/er/only/manifest.toml", "again");
    assert_eq!(bytes(&folder, "again"), bytes(&folder, "deep/er/only"));
    succeeds(&folder.run(&["train", "only.toml", "--out", "again", "--resume"]));
}

#[test]
fn what_is_frozen_does_not_move() {
    let folder = project();
    let theory = format!(
        "{THEORY}constant ideal: Point\nconstant other: Point\nsort Thing\npredicate good(Thing)\n\
         axiom ideals: near(ideal, other) and class(ideal, 0)\naxiom things: forall t: Thing. good(t)\n"
    );
    folder.write("t.ltn", theory.as_bytes());
    let more = MANIFEST.replace(
        "[train]\n",
        "[constants]\nideal = { learnable = 2 }\nother = { learnable = 2 }\n\
             [sorts.Thing]\nindividuals = [\"a\", \"b\"]\nlearnable = 3\n\
             [predicates.good]\nnetwork = { mlp = [2] }\noutput = \"sigmoid\"\n[train]\n",
    );
    for optimizer in [
        "optimizer = \"adam\"",
        "optimizer = \"adamw\"\nweight_decay = 0.1",
        "optimizer = \"sgd\"\nmomentum = 0.5\nweight_decay = 0.1",
    ] {
        let name = |what: &str| format!("{what}-{}", optimizer.len());
        let write = |freeze: &str, steps: &str| {
            let text = format!("{more}{optimizer}\n{freeze}").replace("steps = 6", steps);
            folder.write("m.toml", text.as_bytes());
        };
        write("", "steps = 5");
        let (before, frozen, free) = (name("before"), name("frozen"), name("free"));
        train(&folder, "m.toml", &before);
        let start = format!("start = {{ run = \"{before}\" }}\n");
        write(&start, "steps = 6");
        train(&folder, "m.toml", &free);
        let names = "[\"near\", \"networks.trunk\", \"Thing\", \"other\"]";
        write(&format!("{start}freeze = {names}\n"), "steps = 6");
        train(&folder, "m.toml", &frozen);
        for what in ["near.", "networks.trunk.", "embedding.Thing"] {
            let was = tensors(&folder, &before, what);
            assert_eq!(tensors(&folder, &frozen, what), was, "{optimizer}: {what}");
            assert_ne!(tensors(&folder, &free, what), was, "{optimizer}: {what}");
        }
        // What is before the frozen networks is still taught by them.
        for what in ["class.", "good."] {
            let was = tensors(&folder, &before, what);
            assert_ne!(tensors(&folder, &frozen, what), was, "{optimizer}: {what}");
        }
        let constants = |run: &str| tensors(&folder, run, "constants.Point")[0].1.clone();
        let (was, is) = (constants(&before), constants(&frozen));
        assert_ne!(was[..8], is[..8], "{optimizer}: `ideal` moves");
        assert_eq!(was[8..], is[8..], "{optimizer}: `other` does not");
        // Killed, it continues with the same bits.
        let whole = bytes(&folder, &frozen);
        std::fs::remove_file(folder.path().join(&frozen).join("weights.safetensors")).expect("it");
        succeeds(&folder.run(&["train", "m.toml", "--out", &frozen, "--resume"]));
        assert_eq!(bytes(&folder, &frozen), whole);
    }
    for (names, said) in [
        ("[\"nearr\"]", "did you mean `near`?"),
        ("[\"Class\"]", "nothing that is learnt is called `Class`"),
        ("[\"trunk\"]", "networks.trunk"),
    ] {
        refused(&folder, &format!("{more}freeze = {names}\n"), &[said]);
    }
}
