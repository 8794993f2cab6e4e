//! Learnable predicates and propositions, and numbers as arguments, as a user meets them.

use crate::common::Folder;
use serde_json::Value;

fn truth(document: &Value, axiom: &str) -> f64 {
    let axioms = document["axioms"].as_array().expect("axioms");
    let found = axioms.iter().find(|a| a["name"] == axiom);
    found.expect("the axiom")["truth"]
        .as_f64()
        .expect("a truth")
}

fn weather() -> Folder {
    Folder::new(&[
        (
            "t.ltn",
            b"sort Person = {ann, bob}\nsort Mood = {glad, sad}\npredicate rain()\npredicate wet(Person)\n\
              predicate mood(Person, Mood)\n\
              axiom rain: rain()\naxiom then: forall x: Person. rain() -> wet(x)\n\
              axiom ann: not mood(ann, glad)\naxiom moods: forall x: Person. wet(x) <-> mood(x, sad)\n",
        ),
        (
            "m.toml",
            b"theory = 't.ltn'\nsemantics = 'stable'\n[predicates.rain]\nlearnable = true\n\
              [predicates.wet]\nlearnable = true\ninitial = -1\n\
              [predicates.mood]\nlearnable = true\noutput = 'softmax'\n\
              [train]\nsteps = 200\nlearning_rate = 0.1\n",
        ),
    ])
}

#[test]
fn a_proposition_is_learnt() {
    let folder = weather();
    let check = folder.run(&["check", "m.toml"]);
    check.quiet();
    check.says("learnable logits");
    folder.ok(&["train", "m.toml", "--out", "a"]);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    assert!(truth(&found, "rain") > 0.9, "{found}");
    assert!(truth(&found, "moods") > 0.8, "{found}");
    let weights = folder.bytes("a/weights.safetensors");
    let header = String::from_utf8_lossy(&weights);
    for name in ["\"rain\"", "\"wet\"", "\"mood\""] {
        assert!(header.contains(name), "{name}: {header:.400}");
    }
    // The bits depend on nothing but the inputs, and a run continues where it stopped.
    for arguments in [
        &["train", "m.toml", "--out", "b", "--threads", "1"][..],
        &["train", "m.toml", "--out", "b", "--resume"],
    ] {
        folder.ok(arguments);
    }
    let again = folder.bytes("b/weights.safetensors");
    assert_eq!(weights, again);
}

#[test]
fn what_cannot_be_learnt_so_is_said_before_the_first_step() {
    for (file, from, to, expected) in [
        ("m.toml", "initial = -1", "initial = 'low'", "initial"),
        (
            "m.toml",
            "learnable = true\ninitial = -1",
            "initial = -1",
            "add `learnable = true`",
        ),
        (
            "m.toml",
            "learnable = true",
            "learnable = false",
            "can only be `true`",
        ),
        ("m.toml", "learnable = true", "learnable = 3", "learnable"),
        (
            "m.toml",
            "learnable = true",
            "learnable = true\nlogits = 'p.csv'",
            "logits",
        ),
        (
            "m.toml",
            "learnable = true\n",
            "learnable = true\noutput = 'softmax'\n",
            "softmax",
        ),
        (
            "m.toml",
            "[predicates.rain]\nlearnable = true",
            "[predicates.rain]\nnetwork = { mlp = [2] }\noutput = 'sigmoid'",
            "`learnable = true`",
        ),
        (
            "t.ltn",
            "predicate rain()",
            "sort Big = 0..999999\npredicate big(Big, Big)\naxiom big: big(1, 2)\npredicate rain()",
            "big",
        ),
    ] {
        let folder = weather();
        folder.change(file, from, to);
        if expected == "big" {
            folder.change(
                "m.toml",
                "[train]",
                "[predicates.big]\nlearnable = true\n[train]",
            );
        }
        for command in [&["check", "m.toml"][..], &["train", "m.toml", "--out", "a"]] {
            let run = folder.refuses(command);
            run.complains(expected);
            if expected == "big" {
                run.complains("about 40000.0 GB in training");
            }
        }
    }
    let run = weather().refuses(&["eval", "m.toml"]);
    run.complains("predicate `rain` is learnable");
}

#[test]
fn a_network_reads_numbers() {
    let mut houses = String::from("rooms,age\n");
    let mut prices = String::from("x,y,year\n");
    for i in 0..30 {
        let (rooms, age) = (i % 5, i % 7);
        houses += &format!("{rooms},{age}\n");
        prices += &format!("{i},{},{}\n", 0.3 * f64::from(rooms), 2000 + i % 3);
    }
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort House\ntable prices(x: House, y: Real, year: Int)\nfunction f(House): Real\n\
              predicate eq(Real, Real)\npredicate cheap(Real)\n\
              axiom same: forall (_x, y, _n) in prices. eq(y, y)\n\
              axiom other: not eq(0, 1.2) and not eq(1.2, 0)\n\
              axiom known: forall (x, y, n) in prices where n < 2002. eq(f(x), y)\n\
              axiom cheap: forall (_x, y, _n) in prices where y < 0.5. cheap(y)\n\
              axiom dear: forall (_x, y, _n) in prices where y > 0.7. not cheap(y)\n",
        ),
        ("houses.csv", houses.as_bytes()),
        ("prices.csv", prices.as_bytes()),
        (
            "m.toml",
            b"theory = 't.ltn'\n[sorts.House]\nfeatures = 'houses.csv'\n[tables]\n\
              prices = { rows = 'prices.csv', batch = 10 }\n\
              [functions.f]\nnetwork = { mlp = [8] }\noutput = 'linear'\n\
              [predicates.eq]\nnetwork = { mlp = [16] }\noutput = 'sigmoid'\n\
              [predicates.cheap]\nnetwork = { mlp = [8] }\noutput = 'sigmoid'\n\
              [train]\nsteps = 300\nlearning_rate = 0.02\n",
        ),
    ]);
    let check = folder.run(&["check", "m.toml", "--plan"]);
    check.quiet();
    check.says("cheap(Real)");
    folder.ok(&["train", "m.toml", "--out", "a"]);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    for axiom in ["cheap", "dear", "known"] {
        assert!(truth(&found, axiom) > -0.3, "{axiom}: {found}");
    }
}
