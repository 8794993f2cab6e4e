//! Rules as a user meets them: mined, added to the theory, checked and trained.

use crate::common::Folder;

const THEORY: &str = "sort Person\nsort Relation\ntable train(h: Person, r: Relation, t: Person)\n\
    table test(h: Person, r: Relation, t: Person)\npredicate linked(Person, Relation, Person)\n\
    axiom facts: forall (h, r, t) in train. linked(h, r, t)\n\
    axiom few: forall h, t: Person, r: Relation where not train(h, r, t). not linked(h, r, t)\n";

const MANIFEST: &str = "theory = 't.ltn'\n[sorts]\nPerson = { individuals = 'people.txt', learnable = 6 }\n\
    Relation = { individuals = ['parent', 'grandparent', 'child of'], learnable = 6 }\n\
    [tables]\ntrain = { rows = 'train.csv' }\ntest = { rows = 'test.csv' }\n\
    [predicates.linked]\nargs = ['h', 'r', 't']\nclosed_form = { logit = 'sum(h * r * t)' }\n\
    [train]\nsteps = 3\n\
    [evaluate]\nmetrics = [{ metric = 'mrr', predicate = 'linked', rows = 'test.csv', of = 't', filter = ['train', 'test'] }]\n";

/// Eight families of a grandparent, a parent and a child; of the last the grandparent is not told.
fn families() -> Folder {
    let (mut people, mut train) = (String::new(), "h,r,t\n".to_string());
    for i in 0..8 {
        people += &format!("old{i}\nmid{i}\nnew{i}\n");
        train += &format!(
            "old{i},parent,mid{i}\nmid{i},parent,new{i}\nmid{i},child of,old{i}\nnew{i},child of,mid{i}\n"
        );
        if i < 7 {
            train += &format!("old{i},grandparent,new{i}\n");
        }
    }
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
        ("people.txt", people.as_bytes()),
        ("train.csv", train.as_bytes()),
        ("test.csv", b"h,r,t\nold7,grandparent,new7\n"),
    ])
}

#[test]
fn mined_rules_become_part_of_the_theory() {
    let folder = families();
    folder.ok(&["mine", "m.toml", "--out", "rules.ltn"]);
    let rules = folder.read("rules.ltn");
    for expected in [
        "mined from train (39 rows): bodies of up to 2",
        "# 7 of 8 pairs are facts, of 7 in all\n",
        "(weight 0.875):\n    forall x, z, y: Person where train(x, \"parent\", z) and train(z, \"parent\", y) and x != y. \
         linked(x, \"grandparent\", y)\n",
        "(weight 1):\n    forall x, y: Person where train(y, \"child of\", x). linked(x, \"parent\", y)\n",
    ] {
        assert!(rules.contains(expected), "{expected} is not in:\n{rules}");
    }
    // What is printed is what is written.
    assert_eq!(folder.run(&["mine", "m.toml"]).stdout, rules);
    folder.write("t.ltn", format!("{THEORY}{rules}").as_bytes());
    let run = folder.ok(&["check", "m.toml"]);
    // `test` is in no axiom, but a metric's filter names it.
    assert!(!run.stderr.contains("is never used"), "{}", run.stderr);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    // Mining again gives new names, and rules of one literal only where that is asked for.
    let run = folder.run(&["mine", "m.toml", "--length", "1", "--top", "1"]);
    assert!(!run.stdout.contains("axiom mined_1 "), "{}", run.stdout);
    assert!(!run.stdout.contains("grandparent\", y)"), "{}", run.stdout);
}

#[test]
fn mistakes_are_told() {
    let folder = families();
    for (arguments, expected) in [
        (["--length", "4"], "1..=3"),
        (["--confidence", "1.5"], "expected a share from 0 to 1"),
        (["--tables", "trains"], "the theory has no table `trains`"),
        (
            ["--tables", "test"],
            "there is nothing that rules could conclude",
        ),
        (["--out", "no/such/folder"], "cannot be written"),
    ] {
        let run = folder.run(&[["mine", "m.toml"], arguments].concat());
        assert_ne!(run.status, 0, "{arguments:?}");
        run.complains(expected);
    }
}

#[test]
fn one_number_weighs_all_mined_rules() {
    let folder = families();
    let text = folder.ok(&["mine", "m.toml", "--weight", "0.25"]).stdout;
    let weights = text.split("(weight ").skip(1).map(|rest| {
        let (weight, _) = rest.split_once(')').expect("a weight");
        weight.parse::<f64>().expect("a number")
    });
    let sum: f64 = weights.sum();
    assert!((sum - 0.25).abs() < 1e-6, "{sum}: {text}");
    folder.run(&["mine", "m.toml", "--weight", "0"]).ends(2);
}
