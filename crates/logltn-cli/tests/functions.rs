//! Functions given by data, as a user meets them.

use crate::common::Folder;
use serde_json::Value;

const THEORY: &[u8] = b"sort Person\nsort Year = 1990..1999\n\
    table ages(x: Person, a: Real)\ntable bosses(x: Person, y: Person)\n\
    function age(Person): Real\nfunction boss(Person): Person\nfunction born(Person): Year\n\
    function place(Person): Real[2]\nfunction liking(Person, Person): Real\n\
    predicate old(Person)\npredicate likes(Person, Person)\npredicate tall(Real)\npredicate home(Real[2])\n\
    axiom old: forall x: Person where age(x) > 40. old(x)\n\
    axiom boss: forall x: Person where boss(x) != x. likes(boss(x), x)\n\
    axiom born: forall x, y: Person where born(x) = born(y) + 1. likes(x, y)\n\
    axiom tall: forall x: Person. tall(age(boss(x)))\n\
    axiom pairs: forall x, y: Person. tall(liking(x, y))\n\
    axiom home: forall x: Person. home(place(x))\n\
    axiom old2: forall x: Person where exists (y, a) in ages where y = x. a > 40. old(x)\n\
    axiom boss2: forall (x, y) in bosses where x != y. likes(y, x)\n";

const MANIFEST: &[u8] = b"theory = 't.ltn'\n[sorts.Person]\nindividuals = ['ann', 'bob', 'cy']\nlearnable = 3\n\
    [tables]\nages = { rows = 'ages.csv' }\nbosses = { rows = 'bosses.csv' }\n\
    [functions.age]\nvalues = 'age.csv'\n[functions.boss]\nvalues = 'boss.csv'\n[functions.born]\nvalues = 'born.csv'\n\
    [functions.place]\nvalues = 'place.csv'\n[functions.liking]\nvalues = 'liking.csv'\nargs = ['x', 'y']\n\
    [predicates.old]\nargs = ['x']\nnetwork = { mlp = [4], inputs = ['x', 'age(x)', 'place(x)'] }\noutput = 'sigmoid'\n\
    [predicates.likes]\nlearnable = true\n\
    [predicates.tall]\nnetwork = { mlp = [4] }\noutput = 'sigmoid'\n\
    [predicates.home]\nnetwork = { mlp = [4] }\noutput = 'sigmoid'\n\
    [train]\nsteps = 20\nlearning_rate = 0.1\n[evaluate]\nevery = 10\nmetrics = [\n\
    { metric = 'rmse', function = 'liking', rows = 'known.csv' },\n\
    { metric = 'accuracy', predicate = 'tall', rows = 'talls.csv' } ]\n";

fn project() -> Folder {
    Folder::new(&[
        ("t.ltn", THEORY),
        ("m.toml", MANIFEST),
        ("ages.csv", b"x,a\nann,30\nbob,41.5\ncy,70\n"),
        ("bosses.csv", b"x,y\nann,bob\nbob,bob\ncy,ann\n"),
        ("age.csv", b"age in years\n30\n41.5\n70\n"),
        ("boss.csv", b"boss\nbob\nbob\nann\n"),
        ("born.csv", b"born\n1994\n1993\n1993\n"),
        ("place.csv", b"x,y\n0,1\n1,0\n0.5,-1\n"),
        ("liking.csv", b"l\n1\n2\n1\n0.5\n2\n1\n1\n1\n-3\n"),
        ("known.csv", b"y,x,value\nbob,ann,2\ncy,cy,-1\n"),
        ("talls.csv", b"a1,truth\n30,1\n-1e3,1\n"),
    ])
}

fn axiom<'d>(document: &'d Value, name: &str) -> &'d Value {
    let axioms = document["axioms"].as_array().expect("axioms");
    let found = axioms.iter().find(|a| a["name"] == name);
    found.expect("the axiom")
}

#[test]
fn functions_are_given_by_data() {
    let folder = project();
    let check = folder.ok(&["check", "m.toml", "--plan"]);
    for text in [
        "values of age.csv",
        "look up y by value",
        "likes(Person, Person): at most",
        "home(place): at most 3 of 3 rows",
    ] {
        check.says(text);
    }
    let plan = folder.json(&["check", "m.toml"]);
    assert_eq!(plan["functions"][0]["grounding"], "data");
    folder.ok(&["train", "m.toml", "--out", "a"]);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    for (function, table, groundings) in [("old", "old2", 2), ("boss", "boss2", 2)] {
        let [one, other] = [function, table].map(|name| axiom(&found, name));
        assert_eq!(one["groundings"], groundings, "{one}");
        assert_eq!(one["groundings"], other["groundings"]);
        assert_eq!(one["truth"], other["truth"]);
    }
    assert_eq!(axiom(&found, "born")["groundings"], 2);
    assert_eq!(axiom(&found, "pairs")["groundings"], 9);
    let metrics = found["metrics"].as_array().expect("metrics");
    assert_eq!(metrics[0]["value"], 2_f64.sqrt(), "{metrics:?}");
    assert!(
        metrics[1]["value"].as_f64().is_some_and(|x| x >= 0.5),
        "{metrics:?}"
    );
    // Its own manifest trains the same bits from another folder.
    folder.ok(&["train", "a/manifest.toml", "--out", "b", "--threads", "1"]);
    let weights = |run: &str| {
        std::fs::read(folder.path().join(run).join("weights.safetensors")).expect("weights")
    };
    assert_eq!(weights("a"), weights("b"));
}

#[test]
fn a_run_is_not_resumed_with_other_values() {
    let folder = project();
    folder.ok(&["train", "m.toml", "--out", "a"]);
    folder.write("boss.csv", b"boss\nbob\nann\nann\n");
    let resumed = folder.refuses(&["train", "m.toml", "--out", "a", "--resume"]);
    resumed.complains("boss.csv");
}

#[test]
fn mistakes_name_file_row_and_column() {
    for (file, text, says) in [
        (
            "age.csv",
            "age\n30\n40\n",
            &[
                "age.csv: expected 3 rows of 1 column for function `age`, found 2 rows of 1 column",
                "one row for each individual (3 of `Person`)",
            ][..],
        ),
        (
            "age.csv",
            "30\n40\n50\n",
            &["found 2 rows", "the first line is the header"],
        ),
        ("age.csv", "name,age\nann,30\nbob,40\ncy,50\n", &["age.csv"]),
        (
            "age.csv",
            "id,age\n0,30\n1,40\n2,50\n",
            &["found 3 rows of 2 columns", "give the values alone"],
        ),
        (
            "age.csv",
            "age\n30\nforty\n50\n",
            &["age.csv, row 1 (line 3), column `age`", "found `forty`"],
        ),
        (
            "age.csv",
            "age\n30\ninf\n50\n",
            &["age.csv, row 1 (line 3), column `age`"],
        ),
        (
            "boss.csv",
            "boss\nbob\nbbo\nann\n",
            &[
                "boss.csv, row 1 (line 3)",
                "column `boss`",
                "no individual `bbo`",
                "did you mean `bob`?",
            ],
        ),
        (
            "boss.csv",
            "boss\nbob\nann\n",
            &["boss.csv: expected 3 rows of 1 column for function `boss`, found 2 rows"],
        ),
        (
            "born.csv",
            "born\n1994\n2003\n1993\n",
            &["born.csv, row 1 (line 3)", "2003 is not in sort `Year`"],
        ),
        (
            "place.csv",
            "x\n1\n2\n3\n",
            &["expected 3 rows of 2 columns"],
        ),
        (
            "liking.csv",
            "l\n1\n2\n3\n",
            &["expected 9 rows", "3 of `Person` × 3 of `Person`"],
        ),
    ] {
        let folder = project();
        folder.write(file, text.as_bytes());
        for command in [&["check", "m.toml"][..], &["train", "m.toml", "--out", "a"]] {
            let run = folder.refuses(command);
            for says in says {
                run.complains(says);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_said_before_the_first_step() {
    for (file, from, to, says) in [
        (
            "m.toml",
            "values = 'age.csv'",
            "values = 'age.csv'\nnetwork = { mlp = [2] }",
            "functions.age",
        ),
        (
            "m.toml",
            "values = 'age.csv'",
            "values = 'age.csv'\noutput = 'linear'",
            "nothing is learnt of `functions.age.values`",
        ),
        (
            "m.toml",
            "values = 'age.csv'",
            "network = { mlp = [2] }",
            "function `age` in a guard",
        ),
        (
            "m.toml",
            "values = 'age.csv'",
            "values = 'none.csv'",
            "none.csv",
        ),
        (
            "m.toml",
            "'age(x)'",
            "'boss(x)'",
            "the value of `boss` is an individual",
        ),
        ("t.ltn", "tall(age(boss(x)))", "tall(place(x))", "Real"),
        (
            "t.ltn",
            "function place(Person): Real[2]",
            "function place(Real): Real[2]",
            "argument",
        ),
        (
            "t.ltn",
            "age(x) > 40",
            "place(x) > 40",
            "`place` is 2 numbers",
        ),
        ("t.ltn", "age(x) > 40", "boss(x) > 40", "not a number"),
        ("t.ltn", "age(x) > 40", "age(x) = ann", "cannot compare"),
        (
            "m.toml",
            "{ metric = 'accuracy', predicate = 'tall', rows = 'talls.csv' }",
            "{ metric = 'accuracy', predicate = 'home', rows = 'talls.csv' }",
            "an argument that is a vector",
        ),
    ] {
        let folder = project();
        let text = folder.read(file);
        assert!(text.contains(from), "{from}");
        folder.write(file, text.replacen(from, to, 1).as_bytes());
        let run = folder.refuses(&["train", "m.toml", "--out", "a"]);
        run.complains(says);
        let run = folder.run(&["check", "m.toml"]);
        run.complains(says);
    }
}

#[test]
fn a_proposition_is_measured() {
    let folder = Folder::new(&[
        ("t.ltn", b"predicate rain()\npredicate snow()\naxiom a: rain() and not snow()\n"),
        ("m.toml", b"theory = 't.ltn'\n[predicates.rain]\nlearnable = true\n[predicates.snow]\nlearnable = true\n\
          [train]\nsteps = 50\nlearning_rate = 0.1\n[evaluate]\nmetrics = [\n\
          { metric = 'accuracy', predicate = 'rain', rows = 'truth.csv' },\n\
          { metric = 'accuracy', predicate = 'snow', rows = 'truth.csv' } ]\n"),
        ("truth.csv", b"truth\n1\n1\n0\n1\n"),
    ]);
    folder.ok(&["train", "m.toml", "--out", "a"]);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    let values: Vec<&Value> = found["metrics"]
        .as_array()
        .expect("metrics")
        .iter()
        .map(|m| &m["value"])
        .collect();
    assert_eq!(values, [0.75, 0.25]);
}
