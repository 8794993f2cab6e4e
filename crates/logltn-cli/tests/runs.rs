//! What a manifest says of single axioms, of schedules, and of the weights that a training begins with.

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

fn eval(folder: &Folder, manifest: &str, flags: &[&str]) -> Value {
    let run = folder.run(&[&["eval", manifest, "--json"], flags].concat());
    succeeds(&run);
    run.json()
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

fn records(folder: &Folder, run: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join(run).join("metrics.jsonl"));
    let text = text.expect("metrics.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
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

// --- α -----------------------------------------------------------------------------------------

/// Without a word of it, α goes from 1 to 4 in training, is 4 for a run, and 1 where nothing was trained.
#[test]
fn the_papers_schedule_of_alpha_is_the_default() {
    let folder = project();
    train(&folder, "m.toml", "default");
    let said = format!("{MANIFEST}[schedule]\nalpha = {{ linear = [1, 4] }}\n");
    folder.write("said.toml", said.as_bytes());
    train(&folder, "said.toml", "said");
    assert_eq!(bytes(&folder, "default"), bytes(&folder, "said"));
    folder.write(
        "one.toml",
        format!("{MANIFEST}[schedule]\nalpha = 1\n").as_bytes(),
    );
    train(&folder, "one.toml", "one");
    assert_ne!(bytes(&folder, "default"), bytes(&folder, "one"));

    let alpha = |manifest: &str, flags: &[&str]| eval(&folder, manifest, flags)["alpha"].clone();
    assert_eq!(alpha("m.toml", &["--run", "default"]), 4.0);
    assert_eq!(alpha("m.toml", &["--run", "default", "--alpha", "2"]), 2.0);
    assert_eq!(alpha("one.toml", &["--run", "default"]), 1.0);
    let resolved = std::fs::read_to_string(folder.path().join("default/manifest.toml"));
    let resolved = resolved.expect("a manifest");
    assert!(
        resolved.contains("alpha = { linear = [1, 4] }"),
        "{resolved}"
    );

    let by_numbers = crate::common::project("sound");
    assert_eq!(eval(&by_numbers, "m.toml", &[])["alpha"], 1.0);
}

// --- stepwise schedules ------------------------------------------------------------------------

#[test]
fn a_schedule_can_go_by_steps() {
    let folder = project();
    let with = |alpha: &str| format!("{MANIFEST}[schedule]\nalpha = {alpha}\n");
    folder.write(
        "at.toml",
        with("{ at = [[0, 1], [3, 4], [5, 2]] }").as_bytes(),
    );
    train(&folder, "at.toml", "at");
    for (name, alpha) in [("one.toml", "1"), ("four.toml", "4")] {
        folder.write(name, with(alpha).as_bytes());
    }
    train(&folder, "one.toml", "one");
    let (at, one) = (records(&folder, "at"), records(&folder, "one"));
    for step in 0..3 {
        assert_eq!(at[step]["loss"], one[step]["loss"], "step {step}");
    }
    assert_ne!(at[3]["loss"], one[3]["loss"]);
    assert_eq!(eval(&folder, "at.toml", &["--run", "at"])["alpha"], 2.0);

    for (alpha, said) in [
        ("{ at = [[1, 1], [3, 4]] }", "the first must be 0"),
        ("{ at = [[0, 1], [3, 4], [3, 2]] }", "must come after 3"),
        ("{ at = [] }", "is empty"),
        ("{ at = [[0, 1, 2]] }", "[step, value]"),
        ("{ at = [[0, -1]] }", "must be between 0.001"),
        ("{ at = [[0, 1]], linear = [1, 4] }", "has both"),
        ("{ at = [[0.5, 1]] }", "a whole number"),
    ] {
        refused(&folder, &with(alpha), &["schedule.alpha", said]);
    }
}

// --- [axioms] ----------------------------------------------------------------------------------

#[test]
fn axioms_have_weights_and_parameters_of_their_own() {
    let folder = project();
    train(&folder, "m.toml", "run");
    let own = format!(
        "{MANIFEST}[axioms.symmetric]\nweight = 3\nalpha = {{ linear = [1, 9] }}\n\
         [axioms.each]\nweight = 0.5\np = 7\n[axioms.\"each[1]\"]\nweight = 0\n"
    );
    folder.write("own.toml", own.as_bytes());
    let plain = |alpha: &str| eval(&folder, "m.toml", &["--run", "run", "--alpha", alpha]);
    let truth = |found: &Value, name: &str| {
        let axioms = found["axioms"].as_array().expect("axioms").iter();
        let axiom = axioms
            .clone()
            .find(|a| a["name"] == name)
            .expect("an axiom");
        (
            axiom["weight"].as_f64().expect("a weight"),
            axiom["truth"].as_f64().expect("a truth"),
        )
    };
    let (two, nine) = (plain("2"), plain("9"));
    let found = eval(&folder, "own.toml", &["--run", "run", "--alpha", "2"]);
    // They beat the flag, inside that axiom only; a schedule's last value counts.
    assert_eq!(
        truth(&found, "symmetric"),
        (3.0, truth(&nine, "symmetric").1)
    );
    assert_ne!(truth(&two, "symmetric").1, truth(&nine, "symmetric").1);
    assert_eq!(truth(&found, "examples"), truth(&two, "examples"));
    assert_eq!(truth(&found, "each[0]"), (0.5, truth(&two, "each[0]").1));
    assert_eq!(truth(&found, "each[1]").0, 0.0);
    let sum: f64 = ["examples", "reflexive", "symmetric", "each[0]", "each[2]"]
        .iter()
        .map(|name| truth(&found, name))
        .map(|(weight, truth)| weight * truth)
        .sum();
    let sat = found["sat"].as_f64().expect("a number");
    assert!((sat - sum / 6.0).abs() < 1e-12, "{sat} {sum}");

    // In training: at the first step α = 1 in `symmetric`, later more; interrupted, the same.
    train(&folder, "own.toml", "own");
    let (own_records, plain_records) = (records(&folder, "own"), records(&folder, "run"));
    let at_first = |r: &[Value]| r[0]["axioms"]["symmetric"].as_f64().expect("a number");
    assert_eq!(at_first(&own_records), at_first(&plain_records));
    let whole = bytes(&folder, "own");
    assert_ne!(whole, bytes(&folder, "run"));
    std::fs::remove_file(folder.path().join("own/weights.safetensors")).expect("weights");
    succeeds(&folder.run(&["train", "own.toml", "--out", "own", "--resume"]));
    assert_eq!(bytes(&folder, "own"), whole);
    let other = own.replace("weight = 3", "weight = 4");
    folder.write("own.toml", other.as_bytes());
    let run = folder.refuses(&["train", "own.toml", "--out", "own", "--resume"]);
    let said = "`axioms.symmetric.weight` was 3 there and is 4 now";
    run.complains(said);

    for (section, said) in [
        (
            "[axioms.symetric]\nweight = 2\n",
            "did you mean `symmetric`?",
        ),
        ("[axioms.\"each[7]\"]\nweight = 2\n", "no axiom `each[7]`"),
        ("[axioms.each]\nweight = -1\n", "at least 0"),
        ("[axioms.each]\np_forall = 0.5\n", "between 1 and"),
        ("[axioms.each]\nwieght = 1\n", "did you mean `weight`?"),
    ] {
        refused(&folder, &format!("{MANIFEST}{section}"), &[said]);
    }
}

/// Weights are exchanged all at once: none of the states in between, in which all are 0, is looked at.
#[test]
fn weights_of_the_theory_are_replaced() {
    let folder = project();
    let theory = THEORY
        .replace("axiom examples:", "axiom examples (weight 0):")
        .replace("axiom reflexive:", "axiom reflexive (weight 0):")
        .replace("axiom symmetric:", "axiom symmetric (weight 0):")
        .replace("axiom each for", "axiom each (weight 0) for");
    folder.write("t.ltn", theory.as_bytes());
    refused(&folder, MANIFEST, &["add up to 0"]);
    let given = format!("{MANIFEST}[axioms.examples]\nweight = 2\n");
    folder.write("m.toml", given.as_bytes());
    train(&folder, "m.toml", "run");
    let found = eval(&folder, "m.toml", &["--run", "run"]);
    assert_eq!(found["sat"], found["axioms"][0]["truth"]);
    assert_eq!(found["axioms"][0]["weight"], 2.0);
}

// --- start and freeze --------------------------------------------------------------------------

#[test]
fn a_training_can_begin_with_the_weights_of_another() {
    let folder = project();
    train(&folder, "m.toml", "runs/a");
    // One step of learning nearly nothing keeps what was taken.
    let still = MANIFEST
        .replace("steps = 6", "steps = 1")
        .replace("learning_rate = 0.05", "learning_rate = 1e-30\nseed = 5");
    let with = |start: &str| format!("{still}start = {start}\n");
    folder.write("all.toml", with("{ run = \"runs/a\" }").as_bytes());
    let run = train(&folder, "all.toml", "all");
    assert_eq!(bytes(&folder, "all"), bytes(&folder, "runs/a"));
    run.complains("begins with");
    assert!(!run.stderr.contains("not taken"), "{}", run.stderr);

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

    // Without `only`, what does not fit is listed, here and in the record.
    let wider = with("{ run = \"runs/a\" }").replace("mlp = [5]", "mlp = [4]");
    folder.write("wider.toml", wider.as_bytes());
    let run = train(&folder, "wider.toml", "wider");
    run.complains("its shape is");
    assert!(same("wider", "class."));
    let info = folder.read("wider/run.json");
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let left = info["start"]["left"].as_array().expect("a list");
    assert!(
        left.iter()
            .all(|l| l.as_str().is_some_and(|l| l.contains("near."))),
        "{left:?}"
    );
    assert!(
        !left.is_empty()
            && info["start"]["taken"]
                .as_array()
                .is_some_and(|t| !t.is_empty())
    );

    let only = wider.replace("runs/a\" }", "runs/a\", only = [\"near\"] }");
    folder.write("wrong.toml", only.as_bytes());
    let run = folder.refuses(&["train", "wrong.toml", "--out", "no"]);
    run.complains("cannot be taken");

    for (start, said) in [
        ("{ run = \"runs/b\" }", "there is no such folder"),
        (
            "{ run = \"runs/a\", only = [\"clas\"] }",
            "did you mean `class`?",
        ),
        ("{ run = \"runs/a\", only = [] }", "is empty"),
        ("{ only = [\"class\"] }", "has no `run`"),
        ("\"runs/a\"", "expected a table"),
    ] {
        refused(&folder, &with(start), &[said]);
    }
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
