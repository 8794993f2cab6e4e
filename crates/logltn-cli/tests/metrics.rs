//! Metrics as users see them: values that can be computed by hand, and mistakes that `check` and `train` find alike.

use crate::common::{Folder, Run};
use serde_json::Value;

const THEORY: &str = "sort P
sort C = {a, b, c}
table sums(x: P, k: C)
table known(y: P, x: P)
predicate class(P, C)
predicate tags(P, C)
predicate likes(P, P)
predicate net(P)
axiom tagged: forall (x, k) in sums. tags(x, a) and tags(x, k)
axiom liked: forall (y, x) in known. likes(x, y)
axiom classes: forall x: P. exists k: C. class(x, k)
";

/// All predicates given by numbers but one, which no axiom uses.
const MANIFEST: &str = "theory = 't.ltn'
[sorts.P]
features = 'p.csv'
labels = { file = 'labels.csv', column = 'class' }
[tables]
sums = { rows = 'sums.csv' }
known = { rows = 'known.csv' }
[predicates]
class = { args = ['x', 'k'], logits = 'class.csv', output = 'softmax' }
tags = { args = ['x', 'k'], logits = 'tags.csv', output = 'sigmoid' }
likes = { args = ['x', 'y'], truth = 'likes.csv' }
net = { network = { mlp = [2] }, output = 'sigmoid' }
[train]
steps = 2
";

const FILES: &[(&str, &str)] = &[
    ("p.csv", "u,v\n0,1\n1,0\n2,2\n"),
    ("labels.csv", "class\na\nb\nb\n"),
    ("sums.csv", "x,k\n0,b\n1,b\n2,c\n"),
    ("known.csv", "x,y\n0,2\n1,0\n"),
    // The greatest: a, b, a. Above ½: none but b of 1 (0.58).
    ("class.csv", "a,b,c\n0.5,0,0\n0,1,-0.5\n0.1,0,0\n"),
    // True of 0: a, b; of 1: a; of 2: a, c.
    ("tags.csv", "a,b,c\n4,5,-1\n3,-2,-1\n1,-1,0.5\n"),
    // likes(0, ·): 0.1 0.9 0.95; likes(1, ·): 0.5 0.5 0.5; likes(2, ·): 0.3 0.2 0.6.
    (
        "likes.csv",
        "likes\n0.1\n0.9\n0.95\n0.5\n0.5\n0.5\n0.3\n0.2\n0.6\n",
    ),
    ("right.csv", "x,k\n0,a\n1,b\n2,b\n"),
    (
        "truth.csv",
        "x,k,truth\n0,a,1\n0,c,0\n1,b,1\n2,a,0\n2,b,1\n",
    ),
    (
        "swapped.csv",
        "truth,k,x\n1,a,0\n0,c,0\n1,b,1\n0,a,2\n1,b,2\n",
    ),
    ("likes_truth.csv", "x,y,truth\n0,1,1\n1,0,0\n2,0,1\n0,0,0\n"),
    (
        "likes_swapped.csv",
        "y,x,truth\n1,0,1\n0,1,0\n0,2,1\n0,0,0\n",
    ),
    ("facts.csv", "x,y\n0,1\n1,2\n2,0\n"),
    ("facts_swapped.csv", "y,x\n1,0\n2,1\n0,2\n"),
    ("other_sums.csv", "k,x\nb,0\na,1\n"),
];

fn folder(metrics: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&[("t.ltn", THEORY.as_bytes())]);
    for (name, text) in FILES.iter().chain(files) {
        folder.write(name, text.as_bytes());
    }
    let manifest = format!("{MANIFEST}[evaluate]\nmetrics = [\n{metrics}\n]\n");
    folder.write("m.toml", manifest.as_bytes());
    folder
}

/// Gives the network an axiom.
fn learn_something(folder: &Folder) {
    let theory = format!("{THEORY}axiom learnt: forall x: P. net(x)\n");
    folder.write("t.ltn", theory.as_bytes());
}

/// The metrics that `eval --json` prints.
fn values(run: &Run) -> Vec<(String, f64)> {
    run.ended(0);
    let document = run.json();
    let metrics = document["metrics"].as_array().expect("metrics").iter();
    metrics
        .map(|metric| {
            let name = metric["name"].as_str().expect("a name").to_string();
            (name, metric["value"].as_f64().expect("a value"))
        })
        .collect()
}

#[test]
fn values_by_hand() {
    let third = 1.0 / 3.0;
    // Of `class`: known a, b, b; said a, b, a.
    let by_hand: &[(&str, f64)] = &[
        (
            "metric = 'accuracy', predicate = 'class', rows = 'right.csv'",
            2.0 * third,
        ),
        (
            "metric = 'accuracy', predicate = 'class', labels = 'P'",
            2.0 * third,
        ),
        (
            "metric = 'balanced_accuracy', predicate = 'class', labels = 'P'",
            0.75,
        ),
        (
            "metric = 'precision', predicate = 'class', rows = 'right.csv'",
            0.75,
        ),
        (
            "metric = 'recall', predicate = 'class', rows = 'right.csv'",
            0.75,
        ),
        (
            "metric = 'f1', predicate = 'class', rows = 'right.csv'",
            2.0 * third,
        ),
        // Above ½ is only the third row of truth.csv; its truths are 1, 0, 1, 0, 1.
        (
            "metric = 'accuracy', predicate = 'class', rows = 'truth.csv'",
            0.6,
        ),
        (
            "metric = 'precision', predicate = 'class', rows = 'truth.csv'",
            1.0,
        ),
        (
            "metric = 'recall', predicate = 'class', rows = 'truth.csv'",
            third,
        ),
        (
            "metric = 'f1', predicate = 'class', rows = 'truth.csv'",
            0.5,
        ),
        // The truths of class: .45, .27, .63, .36, .32: in this order true (3), true (1), false, true, false.
        (
            "metric = 'average_precision', predicate = 'class', rows = 'truth.csv'",
            (2.0 + 0.75) * third,
        ),
        (
            "metric = 'roc_auc', predicate = 'class', rows = 'truth.csv'",
            5.0 / 6.0,
        ),
        // Of `tags`, one number per class: 4, −1, −2, 1, −1.
        (
            "metric = 'accuracy', predicate = 'tags', rows = 'truth.csv'",
            0.4,
        ),
        (
            "metric = 'roc_auc', predicate = 'tags', rows = 'truth.csv'",
            2.5 / 6.0,
        ),
        // Of `likes`: .9 true, .5 false, .3 true, .1 false.
        (
            "metric = 'average_precision', predicate = 'likes', rows = 'likes_truth.csv'",
            (1.0 + 2.0 * third) / 2.0,
        ),
        // At ½ it is not called true.
        (
            "metric = 'accuracy', predicate = 'likes', rows = 'likes_truth.csv'",
            0.75,
        ),
        // Row 0: a and b, right; row 1: b is not; row 2: a and c, right: each by its own threshold.
        ("metric = 'row_accuracy', table = 'sums'", 2.0 * third),
        (
            "metric = 'row_accuracy', table = 'sums', rows = 'other_sums.csv'",
            1.0,
        ),
        // likes(0, ·): 1 is second, or first if the known 2 is left out; likes(1, ·): all equal, 2 has rank 2, or 1.5 of
        // two without the known 0; likes(2, ·): 0 is second.
        (
            "metric = 'mrr', predicate = 'likes', of = 'y', rows = 'facts.csv'",
            0.5,
        ),
        (
            "metric = 'mrr', predicate = 'likes', of = 'y', filter = ['known'], rows = 'facts.csv'",
            (1.0 + 2.0 * third + 0.5) * third,
        ),
        (
            "metric = 'hits', k = 1, predicate = 'likes', of = 'y', filter = ['known'], rows = 'facts.csv'",
            third,
        ),
        (
            "metric = 'hits', k = 2, predicate = 'likes', of = 'y', rows = 'facts.csv'",
            1.0,
        ),
        // likes(·, 1): .9 .5 .2: 0 is first; likes(·, 2): .95 .5 .6: 1 is third; likes(·, 0): .1 .5 .3: 2 is second.
        (
            "metric = 'mrr', predicate = 'likes', of = 'x', rows = 'facts.csv'",
            (1.0 + third + 0.5) * third,
        ),
        // The classes of 0: a is first; of 1: b is first; of 2: b and c are equal.
        (
            "metric = 'mrr', predicate = 'class', of = 'k', rows = 'right.csv'",
            (2.0 + 0.4) * third,
        ),
    ];
    let list: Vec<String> = (by_hand.iter().enumerate())
        .map(|(i, (metric, _))| format!("{{ {metric}, name = 'm{i}' }}"))
        .collect();
    let folder = folder(&list.join(",\n"), &[]);
    let found = values(&folder.run(&["eval", "m.toml", "--json"]));
    assert_eq!(found.len(), by_hand.len());
    for (i, ((name, value), (metric, expected))) in found.iter().zip(by_hand).enumerate() {
        assert_eq!(*name, format!("m{i}"));
        assert!(
            (value - expected).abs() < 1e-12,
            "{metric}: {value}, not {expected}"
        );
    }
    // People see them too, and `train` writes the same.
    let shown = folder.run(&["eval", "m.toml"]).stdout;
    assert!(shown.contains("metric") && shown.contains("m0"), "{shown}");
    learn_something(&folder);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    assert_eq!(
        values(&folder.run(&["eval", "m.toml", "--run", "run", "--json"])),
        found
    );
    let log = folder.read("run/metrics.jsonl");
    let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
    for (name, value) in &found {
        assert_eq!(
            last["metrics"][name].as_f64(),
            Some(*value),
            "{name}: {last}"
        );
    }
}

#[test]
fn columns_go_by_their_names() {
    let pairs = [
        (
            "average_precision', predicate = 'class'",
            "truth.csv",
            "swapped.csv",
        ),
        ("roc_auc', predicate = 'tags'", "truth.csv", "swapped.csv"),
        (
            "accuracy', predicate = 'likes'",
            "likes_truth.csv",
            "likes_swapped.csv",
        ),
        (
            "roc_auc', predicate = 'likes'",
            "likes_truth.csv",
            "likes_swapped.csv",
        ),
        (
            "mrr', of = 'y', filter = ['known'], predicate = 'likes'",
            "facts.csv",
            "facts_swapped.csv",
        ),
    ];
    for (metric, one, other) in pairs {
        let both = [one, other]
            .map(|rows| format!("{{ metric = '{metric}, rows = '{rows}', name = '{rows}' }}"));
        let folder = folder(&both.join(","), &[]);
        let found = values(&folder.run(&["eval", "m.toml", "--json"]));
        assert_eq!(found[0].1, found[1].1, "{metric}");
    }
}

/// `check` and `train` say the same, before the first step.
#[test]
fn mistakes_are_found_before_the_first_step() {
    let mistakes: &[(&str, &[&str])] = &[
        (
            "metric = 'roc_auc', predicate = 'likes', rows = 'rows.csv'; x,z,truth\n0,1,1\n",
            &[
                "column `y` is missing for `roc_auc(likes)`",
                "rename `z` to `y`",
                "`x`, `y`, and `truth`",
                "m.toml:",
            ],
        ),
        (
            "metric = 'roc_auc', predicate = 'likes', rows = 'rows.csv'; x,y\n0,1\n",
            &["column `truth` is missing"],
        ),
        (
            "metric = 'accuracy', predicate = 'likes', rows = 'rows.csv'; x,y,Truth\n0,1,1\n",
            &[
                "column `Truth` is no argument of `likes`",
                "did you mean `truth`?",
            ],
        ),
        (
            "metric = 'accuracy', predicate = 'class', rows = 'rows.csv'; x,k,note\n0,a,hm\n",
            &["column `note` is no argument of `class`"],
        ),
        (
            "metric = 'accuracy', predicate = 'net', rows = 'rows.csv'; x,truth\n0,1\n",
            &[
                "column `a1` is missing",
                "`args = [\"x\"]` under `[predicates.net]`",
            ],
        ),
        (
            "metric = 'roc_auc', predicate = 'likes', rows = 'rows.csv'; x,y,truth\n0,1,1\n1,1,2\n",
            &["row 1 (line 3), column `truth`: expected 1 (true) or 0 (false), found `2`"],
        ),
        (
            "metric = 'accuracy', predicate = 'likes', rows = 'rows.csv'; x,y,truth\n0,1,yes\n",
            &["row 0 (line 2), column `truth`", "found `yes`"],
        ),
        (
            "metric = 'accuracy', predicate = 'class', rows = 'rows.csv'; x,k\n0,d\n",
            &["rows.csv, row 0 (line 2), column `k`", "no individual `d`"],
        ),
        (
            "metric = 'accuracy', predicate = 'class', rows = 'none.csv'",
            &["none.csv", "m.toml:"],
        ),
        (
            "metric = 'accuracy', predicate = 'likes', rows = 'rows.csv'; x,y\n0,1\n",
            &[
                "picks one of several classes, which `likes` does not",
                "a column `truth`",
            ],
        ),
        (
            "metric = 'balanced_accuracy', predicate = 'likes', rows = 'rows.csv'; x,y\n0,1\n",
            &["picks one of several classes, which `likes` does not"],
        ),
        (
            "metric = 'accuracy', predicate = 'likes', labels = 'P'",
            &["picks one of several classes"],
        ),
        (
            "metric = 'roc_auc', predicate = 'likes', rows = 'rows.csv'; x,y,truth\n0,1,1\n",
            &["`roc_auc(likes)` cannot be computed: no row is negative"],
        ),
        (
            "metric = 'average_precision', predicate = 'tags', rows = 'rows.csv'; x,k,truth\n0,a,0\n",
            &["cannot be computed: no row is positive"],
        ),
        (
            "metric = 'recall', predicate = 'tags', rows = 'rows.csv'; x,k,truth\n0,a,0\n",
            &["cannot be computed: no row is positive"],
        ),
        (
            "metric = 'accuracy', predicate = 'class', rows = 'rows.csv'; x,k\n",
            &["cannot be computed: there are no rows"],
        ),
        (
            "metric = 'row_accuracy', table = 'sums', rows = 'rows.csv'; x,k\n",
            &["cannot be computed: there are no rows"],
        ),
        (
            "metric = 'row_accuracy', table = 'sums', rows = 'rows.csv'; x,c\n0,a\n",
            &["column `k` is missing for table `sums`"],
        ),
        (
            "metric = 'mrr', predicate = 'likes', of = 'z', rows = 'facts.csv'",
            &["there is no argument `z`: they are `x`, `y`"],
        ),
        (
            "metric = 'mrr', predicate = 'likes', of = 'y', filter = ['sums'], rows = 'facts.csv'",
            &["table `sums` has no column `y`"],
        ),
        (
            "metric = 'mrr', predicate = 'likes', of = 'y', filter = ['smus'], rows = 'facts.csv'",
            &["smus", "sums"],
        ),
        (
            "metric = 'hits', predicate = 'likes', of = 'y', rows = 'facts.csv'",
            &["has no `k`"],
        ),
        (
            "metric = 'accuracy', predicate = 'class', k = 3, rows = 'right.csv'",
            &["cannot be given: it is for `hits`"],
        ),
        (
            "metric = 'rmse', predicate = 'net', rows = 'right.csv'",
            &["has no `function`", "cannot be given"],
        ),
    ];
    for (mistake, expected) in mistakes {
        let (metric, rows) = mistake.split_once("; ").unwrap_or((mistake, ""));
        let folder = folder(&format!("{{ {metric} }}"), &[("rows.csv", rows)]);
        let check = folder.run(&["check", "m.toml"]);
        let train = folder.run(&["train", "m.toml", "--out", "run"]);
        for (command, run) in [("check", &check), ("train", &train)] {
            run.ended(2);
            for part in *expected {
                assert!(
                    run.stderr.contains(part),
                    "{command} {mistake}: {}",
                    run.stderr
                );
            }
        }
        let errors = |run: &Run| -> Vec<String> {
            let lines = run.stderr.lines().filter(|line| line.starts_with("error"));
            lines.map(str::to_string).collect()
        };
        assert_eq!(errors(&check), errors(&train), "{mistake}");
        assert!(
            !folder.has("run/metrics.jsonl"),
            "{mistake}: a step was made"
        );
    }
}

/// Labels that are not classes have no accuracy; they are groups anyway.
#[test]
fn labels_that_are_no_classes() {
    let labels = [("labels.csv", "class\nu\nw\nw\n")];
    let wrong = folder(
        "{ metric = 'accuracy', predicate = 'class', labels = 'P' }",
        &labels,
    );
    let check = wrong.refuses(&["check", "m.toml"]);
    check.complains("the label `u` of individual 0 is not a class of `class`");
    let groups = folder(
        "{ metric = 'adjusted_rand_index', predicate = 'class', labels = 'P' }",
        &labels,
    );
    let found = values(&groups.run(&["eval", "m.toml", "--json"]));
    assert_eq!(found[0].0, "adjusted_rand_index(class)");
}

/// Without a run there is nothing to be said of what learns.
#[test]
fn metrics_of_networks_need_a_run() {
    let folder = folder(
        "{ metric = 'accuracy', predicate = 'net', rows = 'rows.csv' }",
        &[("rows.csv", "a1,truth\n0,1\n1,0\n")],
    );
    let without = folder.refuses(&["eval", "m.toml", "--json"]);
    without.says("`accuracy(net)` is known only after training");
    learn_something(&folder);
    folder.ok(&["train", "m.toml", "--out", "run"]);
    let with = values(&folder.run(&["eval", "m.toml", "--run", "run", "--json"]));
    assert_eq!(with.len(), 1);
}

#[test]
fn where_one_column_is_right_the_other_is_to_be_renamed() {
    let manifest = "theory = 't.ltn'\npredicates.q.learnable = true\n[evaluate]\n\
        metrics = [{ metric = 'roc_auc', predicate = 'q', rows = 'r.csv' }]\n";
    let folder = Folder::new(&[
        (
            "t.ltn",
            b"sort N = 0..1\npredicate q(N, N)\naxiom a: forall x, y: N. q(x, y)\n",
        ),
        ("m.toml", manifest.as_bytes()),
        ("r.csv", b"a2,x,truth\n0,1,1\n1,1,0\n"),
    ]);
    let run = folder.refuses(&["check", "m.toml"]);
    run.complains("rename `x` to `a1`");
}

/// A function given by data is measured without a run, as a predicate given by numbers is.
#[test]
fn a_function_given_by_data() {
    let manifest = "theory = 't.ltn'\n[sorts.P]\nfeatures = 'f.csv'\n[functions.f]\nargs = ['x']\nvalues = 'v.csv'\n\
                    [predicates.eq]\nargs = ['u', 'v']\nclosed_form = { log_truth = '-dist(u, v)' }\n[evaluate]\n\
                    metrics = [ { metric = 'mae', function = 'f', rows = 'known.csv' } ]\n";
    let theory = "sort P\nfunction f(P): Real\npredicate eq(Real, Real)\naxiom a: forall x: P. eq(f(x), 1)\n";
    let folder = Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("m.toml", manifest.as_bytes()),
        ("f.csv", b"v\n1\n2\n3\n"),
        ("v.csv", b"v\n1\n2\n4\n"),
        ("known.csv", b"value,x\n1.5,0\n2,1\n3,2\n"),
    ]);
    let run = folder.ok(&["eval", "m.toml", "--json"]);
    let said = run.json();
    assert_eq!(said["metrics"][0]["value"], 0.5);
}
