//! `logltn predict` of pictures, and beside `query`; the rest is in `cases/predict.case`.

use crate::common::{Folder, Run};

fn ok(run: Run) -> String {
    run.quiet();
    run.stdout
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
    let refused = ask(&["--features", "Image=new.idx", "--json"]).ends(2);
    refused.complains("pictures or truth values");
    refused.says("unsupported-elements");
    folder.write("new.idx", &pictures(&[7, 7, 7, 7]));
    let new = ok(ask(&["--features", "Image=new.idx"]));
    let third = known.lines().nth(3).expect("a row").replacen('2', "0", 1);
    assert_eq!(new.lines().nth(1), Some(third.as_str()));
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
fn rows_of_numbers_are_answered_as_a_query_is() {
    let folder = numbers();
    folder.ok(&["train", "m.toml", "--out", "run"]);
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
