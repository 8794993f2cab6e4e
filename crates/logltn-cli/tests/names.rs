//! Features of chosen columns, and individuals that have names.

use crate::common::Folder;
use serde_json::Value;

/// People with an index that pandas wrote, a name that looks like a number, and a column that is not a number.
fn people() -> Folder {
    Folder::new(&[
        (
            "t.ltn",
            b"sort Person\ntable likes(x: Person, y: Person)\nconstant boss: Person\nconstant seven: Person\npredicate tall(Person)\n\
              predicate near(Person, Person)\n\
              axiom boss: tall(boss)\naxiom seven: not tall(seven)\n\
              axiom likes: forall (x, y) in likes. near(x, y)\n\
              axiom one for x: Person: tall(x)\n",
        ),
        (
            "people.csv",
            b",name,age,town,height\n0,ann,20,Bern,1.8\n1,7,30,Graz,1.7\n2,0,40,Bern,1.6\n",
        ),
        ("likes.csv", b"x,y\n7,ann\n0,7\n"),
        ("tall.csv", b"logit\n1\n-2\n3\n"),
        ("near.csv", b"logit\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
        (
            "m.toml",
            b"theory = 't.ltn'\n[sorts.Person]\n\
              features = { file = 'people.csv', columns = ['height', 'age'], names = 'name' }\n\
              [tables]\nlikes = { rows = 'likes.csv' }\n[constants.boss]\nrow = '0'\n[constants.seven]\nrow = '7'\n\
              [predicates.tall]\nlogits = 'tall.csv'\noutput = 'sigmoid'\n\
              [predicates.near]\nlogits = 'near.csv'\noutput = 'sigmoid'\n",
        ),
    ])
}

fn axioms(folder: &Folder) -> Vec<(String, f64)> {
    let run = folder.ok(&["eval", "m.toml", "--semantics", "stable", "--json"]);
    let document = run.json();
    let axioms = document["axioms"].as_array().expect("axioms");
    let axiom = |a: &Value| {
        let name = a["name"].as_str().expect("a name");
        (name.to_string(), a["truth"].as_f64().expect("a truth"))
    };
    axioms.iter().map(axiom).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn individuals_with_names_are_written_by_name() {
    let found = axioms(&people());
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["boss", "seven", "likes", "one[ann]", "one[7]", "one[0]"]
    );
    // The boss is named `0`, which is the third row, not the first; `7` is the second.
    assert!((found[0].1 - sigmoid(3.0)).abs() < 1e-9, "{found:?}");
    assert!((found[1].1 - sigmoid(2.0)).abs() < 1e-9, "{found:?}");
    // near(7, ann) is number 3 of row 1, near(0, 7) number 7 of row 2; both nearly true.
    let mean: f64 = [4.0, 8.0]
        .map(|x| (1.0 - sigmoid(x) * (1.0 - 1e-4)).powi(2))
        .iter()
        .sum();
    assert!((found[2].1 - (1.0 - (mean / 2.0).sqrt())).abs() < 1e-9);
}

#[test]
fn networks_see_the_chosen_columns_in_their_order() {
    let folder = people();
    folder.change("m.toml", "logits = 'tall.csv'", "network = { mlp = [3] }");
    let check = folder.ok(&["check", "m.toml"]);
    let person = check
        .stdout
        .lines()
        .find(|line| line.contains("people.csv"));
    let person = person.expect("a line about people");
    assert!(person.contains("ann, 7, 0"), "{person}");
    folder.ok(&["train", "m.toml", "--out", "a", "--steps", "3"]);
    // The network reads the two columns, and no index, name or town.
    let weights = folder.bytes("a/weights.safetensors");
    let header = String::from_utf8_lossy(&weights);
    assert!(
        header.contains("[3,2]") || header.contains("[2,3]"),
        "{header:.300}"
    );
}

#[test]
fn mistakes_lead_to_what_was_meant() {
    for (file, from, to, expected) in [
        (
            "m.toml",
            "'height'",
            "'hieght'",
            &["there is no column `hieght`", "did you mean `height`?"][..],
        ),
        (
            "m.toml",
            "names = 'name'",
            "names = 'nmae'",
            &["there is no column `nmae`", "did you mean `name`?"],
        ),
        ("m.toml", "'height'", "'town'", &["column `town`", "`Bern`"]),
        (
            "m.toml",
            "['height', 'age']",
            "['age', 'age']",
            &["`age` is listed twice"],
        ),
        ("m.toml", "['height', 'age']", "[]", &["is empty"]),
        (
            "m.toml",
            "names = 'name'",
            "nmaes = 'name'",
            &["nmaes", "did you mean `names`?"],
        ),
        (
            "m.toml",
            "names = 'name'",
            "names = 'town'",
            &["the name `Bern` is in row 0 and again in row 2"],
        ),
        (
            "m.toml",
            "row = '0'",
            "row = 0",
            &["are written by name only", "write `row = \"ann\"`"],
        ),
        (
            "m.toml",
            "row = '0'",
            "row = 'anne'",
            &["there is no individual `anne`", "did you mean `ann`?"],
        ),
        ("likes.csv", "7,ann", "1,ann", &["`1`"]),
        (
            "m.toml",
            "names = 'name' }",
            "names = 'name' }\nlearnable = 3",
            &["features", "learnable"],
        ),
    ] {
        let folder = people();
        folder.change(file, from, to);
        let run = folder.refuses(&["check", "m.toml"]);
        for part in expected {
            assert!(
                run.stderr.contains(part),
                "{to}: no {part:?} in\n{}",
                run.stderr
            );
        }
        // Each cell that is not a number is its own mistake.
        let errors = run.stderr.matches("error: ").count();
        assert!(
            errors == 1 || to == "'town'",
            "{to}: one mistake is said once\n{}",
            run.stderr
        );
    }
    let folder = people();
    folder.write("people.npy", b"");
    folder.change("m.toml", "people.csv", "people.npy");
    let run = folder.run(&["check", "m.toml"]);
    run.complains("to CSV files only");
}
