//! `logltn predict`: what predicates and functions say, of known and of new individuals.

use crate::common::{Folder, Run, sound};
use serde_json::Value;

fn ok(run: Run) -> String {
    run.quiet();
    run.stdout
}

/// That `logltn predict m.toml` refuses this, with a code and words.
fn refused(folder: &Folder, arguments: &[&str], code: &str, words: &[&str]) {
    let run = folder.refuses(&[&["predict", "m.toml"], arguments, &["--json"]].concat());
    let found = run.json();
    let codes = found["errors"].as_array().expect("errors").iter();
    let codes: Vec<&Value> = codes.map(|e| &e["code"]).collect();
    assert!(
        codes.iter().any(|c| *c == code),
        "{codes:?}: {}",
        run.stderr
    );
    for word in words {
        run.complains(word);
    }
}

/// The numbers of a column of a CSV.
fn column(csv: &str, name: &str) -> Vec<f64> {
    let mut lines = csv.lines();
    let head = lines.next().expect("a header").split(',');
    let at = head.enumerate().find(|(_, c)| *c == name);
    let at = at.unwrap_or_else(|| panic!("{name}: {csv}")).0;
    let cell = |line: &str| line.split(',').nth(at).expect("a cell").parse();
    lines.map(|line| cell(line).expect("a number")).collect()
}

/// Networks of points, of which the axioms, tables, params and constants speak by name and number.
fn trained(steps: u32) -> Folder {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Person
sort Mood = {glad, sad}
param near
table known(x: Person, m: Mood)
constant first: Person
predicate mood(Person, Mood)
predicate like(Person, Person)
predicate tall(Person)
function height(Person): Real
predicate same(Real, Real)
axiom known: forall (x, m) in known. mood(x, m)
axiom ann:   like(ann, bob) and like(first, bob) and not tall(ann)
axiom near:  forall x, y: Person where dist(x, y) < near. like(x, y) and same(height(x), height(y))
",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"
[sorts.Person]
features = { file = \"people.csv\", columns = [\"age\", \"size\"], names = \"name\" }
[params]
near = { percentile = 50, of = \"dist(Person, Person)\" }
[tables]
known = { rows = \"known.csv\" }
[constants]
first = { row = \"cid\" }
[predicates.mood]
args = [\"who\", \"how\"]
network = { mlp = [4] }
output = \"softmax\"
[predicates.like]
args = [\"x\", \"y\"]
network = { mlp = [3], inputs = [\"stop(mood(x))\", \"y\"] }
output = \"sigmoid\"
[predicates.tall]
learnable = true
[functions.height]
network = { mlp = [3] }
[predicates.same]
network = { mlp = [3] }
output = \"sigmoid\"
[train]
steps = 20
learning_rate = 0.05
checkpoint_every = 5
",
        ),
        (
            "people.csv",
            b"name,size,age\nann,0.5,1\nbob,0.25,-1\ncid,1,1\n",
        ),
        ("known.csv", b"x,m\nann,glad\nbob,sad\n"),
    ]);
    let steps = steps.to_string();
    folder.ok(&["train", "m.toml", "--out", "run", "--steps", &steps]);
    folder
}

#[test]
fn numbers_are_said_as_truth_degrees_to_the_last_digit() {
    let folder = sound();
    let said = ok(folder.run(&["predict", "m.toml", "type"]));
    let cat = [2.0_f64, 0.0, -0.5].map(f64::exp);
    let dog = [-1.0_f64, 0.0, 1.0].map(f64::exp);
    let first = cat[0] / (cat[0] + dog[0]);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("a1,prediction,truth"));
    assert!(
        lines.next().is_some_and(|l| l.starts_with("0,cat,0.95")),
        "{said}"
    );
    assert!((column(&said, "truth")[0] - first).abs() < 1e-15);
    // Of equal ones the first.
    assert_eq!(lines.next(), Some("1,cat,0.5"));
    let classes = ok(folder.run(&["predict", "m.toml", "type", "--classes"]));
    assert!(
        classes.starts_with("a1,prediction,truth,cat,dog\n"),
        "{classes}"
    );
    let sums = column(&classes, "cat")
        .into_iter()
        .zip(column(&classes, "dog"));
    assert!(sums.into_iter().all(|(a, b)| (a + b - 1.0).abs() < 1e-15));
    // A sigmoid for each class, truth degrees, logs of them.
    let shows = ok(folder.run(&["predict", "m.toml", "shows", "--classes"]));
    assert_eq!(shows.lines().nth(2), Some("1,red,0.5,0.5,0.5,0.5"));
    let close = ok(folder.run(&["predict", "m.toml", "close"]));
    assert_eq!(close.lines().nth(6), Some("1,2,0.25"));
    let bright = ok(folder.run(&["predict", "m.toml", "bright"]));
    let expected = format!(
        "a1,truth\n0,1\n1,{:?}\n2,{:?}\n",
        (-1.0_f64).exp(),
        (-0.5_f64).exp()
    );
    assert_eq!(bright, expected);
}

#[test]
fn json_has_the_same() {
    let folder = sound();
    let said = ok(folder.run(&["predict", "m.toml", "type", "--json", "--classes"]));
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(said["predicate"], "type");
    assert_eq!(said["rows"].as_array().map(Vec::len), Some(3));
    let row = &said["rows"][1];
    let expected = serde_json::json!({
        "arguments": {"a1": 1}, "truth": 0.5, "prediction": "cat", "classes": {"cat": 0.5, "dog": 0.5}
    });
    assert_eq!(*row, expected);
    folder.write("rows.csv", b"a2,a1\n2,1\n");
    let close = ["predict", "m.toml", "close", "--json", "--rows", "rows.csv"];
    let said: Value = serde_json::from_str(&ok(folder.run(&close))).expect("JSON");
    let expected = serde_json::json!({
        "predicate": "close", "rows": [{"arguments": {"a1": 1, "a2": 2}, "truth": 0.25}]
    });
    assert_eq!(said, expected);
}

#[test]
fn rows_of_a_file() {
    let folder = sound();
    folder.write("rows.csv", b"a1\n2\n0\n2\n");
    let said = ok(folder.run(&["predict", "m.toml", "type", "--rows", "rows.csv"]));
    let all = ok(folder.run(&["predict", "m.toml", "type"]));
    let all: Vec<&str> = all.lines().collect();
    let rows: Vec<&str> = said.lines().collect();
    assert_eq!(rows, [all[0], all[3], all[1], all[3]]);
    folder.write("rows.csv", b"a1\n");
    let none = ok(folder.run(&["predict", "m.toml", "type", "--rows", "rows.csv"]));
    assert_eq!(none, format!("{}\n", all[0]));
    let none = folder.run(&["predict", "m.toml", "type", "--rows", "rows.csv", "--json"]);
    let none: Value = serde_json::from_str(&ok(none)).expect("JSON");
    assert_eq!(none["rows"], serde_json::json!([]));
    // The right classes may be there too.
    folder.write("rows.csv", b"a2,a1\ncat,2\ndog,0\n");
    let said = ok(folder.run(&["predict", "m.toml", "type", "--rows", "rows.csv"]));
    let rows: Vec<&str> = said.lines().collect();
    assert_eq!(rows, [all[0], all[3], all[1]]);
    for (rows, words) in [
        (&b"x\n1\n"[..], ["missing-column", "`a1`"]),
        (b"a1,a3\n1,2\n", ["unknown-column", "`a3`"]),
        (b"a1\n1\n3\n", ["unknown-individual", "individual 3"]),
        (b"a1\n1\ncat\n", ["malformed-number", "`cat`"]),
    ] {
        folder.write("rows.csv", rows);
        let asked = ["type", "--rows", "rows.csv"];
        refused(&folder, &asked, words[0], &words[1..]);
    }
}

#[test]
fn symbols_and_flags_that_do_not_fit() {
    let folder = sound();
    let refused = |arguments: &[&str], code: &str, words: &[&str]| {
        refused(&folder, arguments, code, words);
    };
    refused(&["tpye"], "unknown-predicate", &["did you mean `type`?"]);
    refused(&["close", "--classes"], "no-classes", &[]);
    let other = ["close", "--features", "Type=points.csv"];
    refused(&other, "features-not-used", &["`Point`"]);
    let other = ["type", "--features", "Type=points.csv"];
    refused(&other, "no-features", &[]);
    let other = ["type", "--features", "Pont=points.csv"];
    refused(&other, "unknown-sort", &["did you mean `Point`?"]);
    let twice = [
        "type",
        "--features",
        "Point=points.csv",
        "--features",
        "Point=points.csv",
    ];
    refused(&twice, "duplicate-key", &[]);
    // A file of numbers knows its individuals.
    folder.write("more.csv", b"x,y\n0,0\n1,1\n2,2\n3,3\n");
    let other = ["bright", "--features", "Point=more.csv"];
    refused(&other, "wrong-shape", &["4 rows"]);
    let other = ["bright", "--features", "Point=nowhere.csv"];
    refused(&other, "file-not-found", &["nowhere.csv"]);
    let usage = folder.refuses(&["predict", "m.toml", "type", "--features", "Point"]);
    usage.complains("`Point=points.csv`");
}

#[test]
fn what_is_learnt_needs_a_run_that_fits() {
    let folder = trained(20);
    refused(&folder, &["mood"], "not-trained", &["--run DIR"]);
    refused(
        &folder,
        &["mood", "--run", "nowhere"],
        "file-not-found",
        &[],
    );
    let same = ["same", "--run", "run"];
    refused(
        &folder,
        &same,
        "vector-argument",
        &["number", "--rows FILE"],
    );
    let manifest = folder.read("m.toml");
    folder.write(
        "m.toml",
        manifest.replace("mlp = [4]", "mlp = [5]").as_bytes(),
    );
    let other = ["mood", "--run", "run"];
    refused(
        &folder,
        &other,
        "weights-do-not-fit",
        &["predicates.mood.layers"],
    );
    // What `mood` does not need may be different.
    folder.write(
        "other.toml",
        manifest.replace("mlp = [3]", "mlp = [5]").as_bytes(),
    );
    ok(folder.run(&["predict", "other.toml", "mood", "--run", "run"]));
}

#[test]
fn new_individuals() {
    let folder = trained(20);
    let ask = |symbol: &str, more: &[&str]| {
        folder.run(&[&["predict", "m.toml", symbol, "--run", "run"], more].concat())
    };
    let known = ok(ask("mood", &["--classes"]));
    assert!(
        known.starts_with("who,prediction,truth,glad,sad\nann,glad,"),
        "{known}"
    );
    // The tables, axioms and constants speak of `ann`, `bob` and `cid`, of whom one is here; and nobody reads them.
    folder.write(
        "new/people.csv",
        b"age,x,name,size\n1,9,cid,1\n-1,9,\"d, e\",0.25\n",
    );
    let file = ["--features", "Person=new/people.csv"];
    folder.remove("known.csv");
    let new = ok(ask("mood", &[&file[..], &["--classes"]].concat()));
    assert_eq!(column(&new.replace("\"d, e\"", "d"), "glad"), {
        let glad = column(&known, "glad");
        vec![glad[2], glad[1]]
    });
    assert!(new.contains("\n\"d, e\",sad,"), "{new}");
    // Through the inputs of another network; pairs by name.
    folder.write("pairs.csv", b"y,x\n\"d, e\",cid\n");
    let pairs = [&file[..], &["--rows", "pairs.csv"]].concat();
    let like = ok(ask("like", &pairs));
    let all = ok(ask("like", &[]));
    let old = all
        .lines()
        .find(|line| line.starts_with("cid,bob,"))
        .expect("a row");
    assert_eq!(
        like,
        format!("x,y,truth\n{}\n", old.replace("bob", "\"d, e\""))
    );
    // A function.
    let heights = ok(ask("height", &file));
    let old = ok(ask("height", &[]));
    assert_eq!(heights.lines().next(), Some("a1,value"));
    assert_eq!(heights.lines().nth(1), old.lines().nth(3));
    let json: Value = serde_json::from_str(&ok(ask("height", &["--json"]))).expect("JSON");
    assert_eq!(json["function"], "height");
    assert_eq!(
        json["rows"][2]["value"].as_f64(),
        Some(column(&old, "value")[2])
    );
    // Numbers of one's own are nobody else's.
    let tall = [&["tall", "--run", "run"], &file[..]].concat();
    refused(
        &folder,
        &tall,
        "weights-do-not-fit",
        &["predicates.tall.learnable"],
    );
    // Something else than what was trained with.
    folder.write("new/people.csv", b"name,size\nann,1\n");
    let mood = [&["mood", "--run", "run"], &file[..]].concat();
    refused(&folder, &mood, "unknown-column", &["`age`"]);
    let plain = folder.read("m.toml");
    let plain = plain.replace(", columns = [\"age\", \"size\"]", "");
    folder.write("m.toml", plain.as_bytes());
    folder.write("new/people.csv", b"name,size,age,x\nann,1,1,1\n");
    refused(
        &folder,
        &mood,
        "wrong-shape",
        &["people.csv", "`[3]`", "`[2]`"],
    );
}

#[test]
fn propositions_and_learnt_numbers() {
    let folder = Folder::new(&[
        ("t.ltn", b"predicate A()\naxiom a: not A()\n"),
        (
            "m.toml",
            b"theory = \"t.ltn\"\n[predicates.A]\nlearnable = true\n[train]\nsteps = 5\nlearning_rate = 0.5\n",
        ),
    ]);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let said = ok(folder.run(&["predict", "m.toml", "A", "--run", "run"]));
    let truth = column(&said, "truth");
    assert!(
        said.starts_with("truth\n") && truth.len() == 1 && truth[0] < 0.4,
        "{said}"
    );
    let json = ok(folder.run(&["predict", "m.toml", "A", "--run", "run", "--json"]));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        json["rows"][0],
        serde_json::json!({"arguments": {}, "truth": truth[0]})
    );
}

#[test]
fn runs_that_are_not_finished() {
    let folder = trained(20);
    let ask = || ok(folder.run(&["predict", "m.toml", "mood", "--run", "run"]));
    let finished = ask();
    // The last checkpoint has the same weights.
    folder.remove("run/weights.safetensors");
    assert_eq!(ask(), finished);
    folder.remove("run/checkpoint.safetensors");
    folder.remove("run/previous.safetensors");
    refused(
        &folder,
        &["mood", "--run", "run"],
        "not-trained",
        &["no weights yet"],
    );
}

/// An IDX file of pictures, 2 by 2.
fn pictures(bytes: &[u8]) -> Vec<u8> {
    let count = (bytes.len() / 4) as u8;
    [&[0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 2, 0, 0, 0, 2], bytes].concat()
}

#[test]
fn new_pictures_are_seen_as_those_of_training() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Image\nsort Digit = 0..1\npredicate digit(Image, Digit)
axiom a: exists x: Image. digit(x, 0)\naxiom b: exists x: Image. digit(x, 1)\n",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"\n[sorts.Image]\nfeatures = \"train.idx\"\n[predicates.digit]
network = { mlp = [4] }\noutput = \"softmax\"\n[train]\nsteps = 5\n",
        ),
    ]);
    folder.write(
        "train.idx",
        &pictures(&[0, 9, 200, 255, 1, 0, 1, 0, 7, 7, 7, 7]),
    );
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let ask = |more: &[&str]| {
        folder.run(&[&["predict", "m.toml", "digit", "--run", "run"], more].concat())
    };
    let known = ok(ask(&[]));
    // Dark, but a picture anyway: 1 is 1/255.
    folder.write("new.idx", &pictures(&[1, 0, 1, 0]));
    let new = ok(ask(&["--features", "Image=new.idx"]));
    let second = known.lines().nth(2).expect("a row").replacen('1', "0", 1);
    assert_eq!(new.lines().nth(1), Some(second.as_str()));
    // Without the pictures of training that cannot be told.
    folder.remove("train.idx");
    let run = ["digit", "--run", "run", "--features", "Image=new.idx"];
    refused(
        &folder,
        &run,
        "unsupported-elements",
        &["pictures or truth values"],
    );
    folder.write("new.idx", &pictures(&[7, 7, 7, 7]));
    let new = ok(ask(&["--features", "Image=new.idx"]));
    let third = known.lines().nth(3).expect("a row").replacen('2', "0", 1);
    assert_eq!(new.lines().nth(1), Some(third.as_str()));
}

#[test]
fn into_a_file() {
    let folder = sound();
    let said = ok(folder.run(&["predict", "m.toml", "close"]));
    let quiet = ok(folder.run(&["predict", "m.toml", "close", "--out", "close_said.csv"]));
    assert_eq!(quiet, "");
    let file = folder.read("close_said.csv");
    assert_eq!(file, said);
    let nowhere = folder.stops(&["predict", "m.toml", "close", "--out", "no/where.csv"]);
    nowhere.complains("no/where.csv: cannot be written");
}

#[test]
fn functions_given_by_data() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort Person = {ann, bob}\nfunction mother(Person): Person\nfunction age(Person, Person): Real
predicate p(Person)\naxiom a: forall x: Person. p(mother(x))\n",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"\n[functions.mother]\nvalues = \"mother.csv\"\n[functions.age]\nvalues = \"age.csv\"
[predicates.p]\ntruth = \"nowhere.csv\"\n",
        ),
        ("mother.csv", b"m\nbob\nbob\n"),
        ("age.csv", b"v\n1\n2\n0.5\n-4\n"),
    ]);
    let said = ok(folder.run(&["predict", "m.toml", "mother"]));
    assert_eq!(said, "a1,value\nann,bob\nbob,bob\n");
    let said = ok(folder.run(&["predict", "m.toml", "age"]));
    assert_eq!(
        said,
        "a1,a2,value\nann,ann,1\nann,bob,2\nbob,ann,0.5\nbob,bob,-4\n"
    );
    let said = ok(folder.run(&["predict", "m.toml", "mother", "--json"]));
    let said: Value = serde_json::from_str(&said).expect("JSON");
    let first = serde_json::json!({"arguments": {"a1": "ann"}, "value": "bob"});
    assert_eq!(said["rows"][0], first);
}

#[test]
fn closed_forms() {
    let manifest = "theory = \"t.ltn\"\n[predicates.far]\nargs = [\"x\", \"y\"]
closed_form = { log_truth = \"-RATE * abs(x - y)\" }\n[train]\nsteps = 2\n";
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort N = 0..2\npredicate far(N, N)\naxiom a: forall x, y: N. far(x, y)\n",
        ),
        ("m.toml", manifest.replace("RATE", "2").as_bytes()),
    ]);
    let said = ok(folder.run(&["predict", "m.toml", "far"]));
    let truth = column(&said, "truth");
    assert!((truth[1] - (-2.0_f64).exp()).abs() < 1e-7, "{said}");
    // Numbers that are trained are not known before.
    let learnt = manifest
        .replace("RATE", "rate")
        .replace("[train]", "learn = { rate = 0.5 }\n[train]");
    folder.write("m.toml", learnt.as_bytes());
    refused(&folder, &["far"], "not-trained", &["--run DIR"]);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    ok(folder.run(&["predict", "m.toml", "far", "--run", "run"]));
}

#[test]
fn new_individuals_of_closed_forms() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort P\npredicate near(P, P)\naxiom a: forall x, y: P. near(x, y)\n",
        ),
        ("p.csv", b"a,b\n0,1\n0.1,0.7\n"),
        (
            "m.toml",
            b"theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n[predicates.near]\nargs = [\"x\", \"y\"]
closed_form = { log_truth = \"-dist(x, y)\" }\n",
        ),
        ("narrow.csv", b"a\n0\n1\n"),
    ]);
    // The same individuals are the same to the last digit.
    let known = ok(folder.run(&["predict", "m.toml", "near"]));
    let same = folder.run(&["predict", "m.toml", "near", "--features", "P=p.csv"]);
    assert_eq!(ok(same), known);
    let narrow = ["near", "--features", "P=narrow.csv"];
    refused(
        &folder,
        &narrow,
        "wrong-shape",
        &["narrow.csv", "[1]", "[2]"],
    );
}

/// Networks and closed forms of numbers, and a function of them, each told its values by a table.
fn numbers() -> Folder {
    Folder::new(&[
        (
            "t.ltn",
            b"sort Person = {ann, bob}
sort Size = {small, big}
table seen(who: Person, h: Real, n: Int, s: Size)
function twice(Real): Real
predicate eq(Real, Real)
predicate size(Real, Size)
predicate older(Person, Real)
axiom sizes: forall (who, h, n, s) in seen. size(h, s) and older(who, n)
axiom twice: forall (_who, h, n, _s) in seen. eq(twice(h), n)
",
        ),
        (
            "m.toml",
            b"theory = \"t.ltn\"
[sorts.Person]
learnable = 2
[tables]
seen = { rows = \"seen.csv\" }
[functions.twice]
args = [\"h\"]
network = { mlp = [3] }
[predicates.eq]
args = [\"u\", \"v\"]
closed_form = { log_truth = \"-0.5 * dist(u, v)\" }
[predicates.size]
args = [\"h\", \"s\"]
network = { mlp = [3] }
output = \"softmax\"
[predicates.older]
args = [\"who\", \"n\"]
network = { mlp = [3] }
output = \"sigmoid\"
[train]
steps = 20
[evaluate]
metrics = [ { metric = \"accuracy\", predicate = \"eq\", rows = \"eq.csv\" } ]
",
        ),
        (
            "seen.csv",
            b"who,h,n,s\nann,0.5,1,small\nbob,2.25,4,big\nann,-1,-2,small\n",
        ),
        ("eq.csv", b"u,v,truth\n1,1.25,1\n1,3,0\n-2,2,1\n"),
    ])
}

#[test]
fn rows_of_numbers() {
    let folder = numbers();
    // A closed form of numbers is asked without a run, in any order of the columns, and answers in double precision.
    folder.write("rows.csv", b"v,u\n1.25,1\n0.1,1e-3\n-2,2\n");
    let said = ok(folder.run(&["predict", "m.toml", "eq", "--rows", "rows.csv"]));
    let truths = [0.25_f64, 0.1 - 1e-3, 4.0].map(|d| (-0.5 * d).exp());
    assert_eq!(column(&said, "truth"), truths, "{said}");
    assert!(said.starts_with("u,v,truth\n1,1.25,0.88"), "{said}");
    let said = folder.run(&["predict", "m.toml", "eq", "--rows", "rows.csv", "--json"]);
    let said: Value = serde_json::from_str(&ok(said)).expect("JSON");
    let first = serde_json::json!({"arguments": {"u": 1, "v": 1.25}, "truth": truths[0]});
    assert_eq!(said["rows"][0], first);
    // Two of the three rows of the metric come out right.
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let evaluated = folder.run(&["eval", "m.toml", "--run", "run", "--json"]);
    let evaluated: Value = serde_json::from_str(&ok(evaluated)).expect("JSON");
    assert_eq!(evaluated["metrics"][0]["value"], 2.0 / 3.0);

    // Networks of numbers, and of individuals and numbers, say the same as to a query.
    let queried = |formula: &str| -> Vec<f64> {
        let formula = format!("find (who, h, n, s) in seen. {formula}");
        let run = folder.ok(&["query", "m.toml", "--run", "run", &formula, "--json"]);
        let found = run.json();
        let answers = found["answers"].as_array().expect("answers");
        let at = |h: f64| {
            answers
                .iter()
                .find(|a| a["binding"]["h"].as_f64() == Some(h))
        };
        let truth = |h: f64| at(h).and_then(|a| a["truth"].as_f64()).expect("an answer");
        [0.5, 2.25, -1.0].map(|h| truth(h).exp()).to_vec()
    };
    let asked = |symbol: &str, rows: &[u8]| {
        folder.write("rows.csv", rows);
        ok(folder.run(&[
            "predict", "m.toml", symbol, "--run", "run", "--rows", "rows.csv",
        ]))
    };
    let near = |found: Vec<f64>, right: Vec<f64>| {
        assert_eq!(found.len(), right.len());
        let off = found.iter().zip(&right).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "{found:?} {right:?}");
    };
    let older = asked("older", b"n,who\n1,ann\n4,bob\n-2,ann\n");
    assert!(older.starts_with("who,n,truth\nann,1,"), "{older}");
    near(column(&older, "truth"), queried("older(who, n)"));
    // The class may stand there or not.
    let size = asked("size", b"h\n0.5\n2.25\n-1\n");
    assert!(size.starts_with("h,prediction,truth\n0.5,"), "{size}");
    let with = asked("size", b"h,s\n0.5,small\n2.25,big\n-1,small\n");
    assert_eq!(size, with);
    folder.write("rows.csv", b"h\n0.5\n2.25\n-1\n");
    let classes = [
        "predict",
        "m.toml",
        "size",
        "--run",
        "run",
        "--rows",
        "rows.csv",
        "--classes",
    ];
    let classes = ok(folder.run(&classes));
    near(column(&classes, "big"), queried("size(h, big)"));
    // A function of a number: `eq` of its value and 0 tells how large it is.
    let twice = asked("twice", b"h\n0.5\n2.25\n-1\n");
    assert!(twice.starts_with("h,value\n0.5,"), "{twice}");
    let truth = column(&twice, "value")
        .iter()
        .map(|x| (-0.5 * x.abs()).exp())
        .collect();
    near(truth, queried("eq(twice(h), 0)"));
}

#[test]
fn rows_of_numbers_that_are_none() {
    let folder = numbers();
    folder.write("rows.csv", b"u,v\n1,one\n,2\nnan,1\n");
    let rows = ["eq", "--rows", "rows.csv"];
    refused(
        &folder,
        &rows,
        "malformed-number",
        &["rows.csv", "`one`", "line 2"],
    );
    folder.write("rows.csv", b"u,v\n1,1e13\n");
    refused(&folder, &rows, "value-out-of-range", &["rows.csv", "1e13"]);
    folder.write("rows.csv", b"u,w\n1,1\n");
    refused(&folder, &rows, "missing-column", &["rename", "`v`"]);
    folder.write("rows.csv", b"u,v\n");
    assert_eq!(
        ok(folder.run(&[&["predict", "m.toml"], &rows[..]].concat())),
        "u,v,truth\n"
    );
    refused(
        &folder,
        &["eq"],
        "vector-argument",
        &["is a number", "--rows FILE"],
    );
}
