//! `logltn sweep`: many runs of one manifest, and their comparison.

use crate::common::Folder;
use serde_json::json;

const MANIFEST: &str = "theory = \"../t.ltn\"
semantics = \"logltn\"
[sorts.P]
features = \"points.csv\"
[predicates.good]
network = { mlp = [4], activation = \"tanh\" }
output = \"sigmoid\"
[train]
steps = 6
learning_rate = 0.01
seed = 3
";

fn folder() -> Folder {
    Folder::new(&[
        (
            "t.ltn",
            b"sort P\npredicate good(P)\naxiom some: exists x: P. good(x)\naxiom few: exists x: P. not good(x)\n",
        ),
        ("project/m.toml", MANIFEST.as_bytes()),
        ("project/points.csv", b"x,y\n0,1\n1,0\n2,2\n"),
    ])
}

fn weights(folder: &Folder, run: &str) -> Vec<u8> {
    let path = folder.path().join(run).join("weights.safetensors");
    std::fs::read(path).unwrap_or_else(|error| panic!("{run}: {error}"))
}

#[test]
fn a_run_for_each_combination_and_seed() {
    let folder = folder();
    let sweep = [
        "sweep",
        "project/m.toml",
        "--set",
        "train.learning_rate=0.001,1e-2",
        "--set",
        "predicates.good.network.mlp=[4],[3, 2]",
        "--seeds",
        "2",
        "--out",
        "runs",
    ];
    let run = folder.ok(&[&sweep[..], &["--json"]].concat());
    let found = run.json();
    assert_eq!(found["runs"].as_array().map(Vec::len), Some(8));
    assert_eq!(found["groups"].as_array().map(Vec::len), Some(4));
    let names: Vec<&str> = (found["runs"].as_array().expect("runs").iter())
        .map(|run| run["run"].as_str().expect("a name"))
        .collect();
    assert_eq!(names[0], "runs/learning_rate=0.001,mlp=[4],seed=3");
    assert_eq!(names[7], "runs/learning_rate=1e-2,mlp=[3,2],seed=4");
    let rates = &found["differences"]["train.learning_rate"];
    assert_eq!(rates[0], 0.001);
    assert_eq!(rates[7], 0.01);
    assert_eq!(
        found["differences"]["predicates.good.network.mlp"][7],
        json!([3, 2])
    );
    assert!(folder.has("runs/comparison.png"));
    assert!(folder.path().join(names[3]).join("report.html").exists());
    // Each is what `train` makes.
    let train = ["train", "project/m.toml", "--out", "alone", "--seed", "4"];
    folder.ok(&train);
    let same = "runs/learning_rate=1e-2,mlp=[4],seed=4";
    assert_eq!(weights(&folder, same), weights(&folder, "alone"));

    // Again, the same command does what is left.
    let before = weights(&folder, names[5]);
    std::fs::remove_dir_all(folder.path().join(names[5])).expect("it is there");
    let run = folder.ok(&sweep);
    assert_eq!(
        run.stderr.matches("was finished already").count(),
        7,
        "{}",
        run.stderr
    );
    assert_eq!(weights(&folder, names[5]), before);
    assert!(
        run.stdout.contains("train.learning_rate") && run.stdout.contains(" ± "),
        "{}",
        run.stdout
    );

    // A manifest that has changed since is not mixed in.
    folder.write(
        "project/m.toml",
        MANIFEST.replace("steps = 6", "steps = 7").as_bytes(),
    );
    let run = folder.refuses(&sweep);
    run.complains("`train.steps` was 6 there and is 7 now");
}

#[test]
fn mistakes_come_before_the_first_run() {
    let folder = folder();
    for (more, words) in [
        (
            &["--set", "train.learnin_rate=1,2"][..],
            "did you mean `learning_rate`?",
        ),
        (
            &["--set", "train.learning_rate=0.1,fast"],
            "expected a number",
        ),
        (&["--set", "train.learning_rate=0.1,-1"], "must be"),
        (
            &["--set", "predicates.god.network.mlp=[1],[2]"],
            "did you mean `good`?",
        ),
        (&["--set", "theory.name=a,b"], "is not a table of keys"),
        (&["--set", "train.steps"], "expected `=`"),
        (&["--set", "train.steps=1,1"], "twice"),
        (
            &["--set", "train.steps=1", "--set", "train.steps=2"],
            "is given twice",
        ),
        (
            &["--set", "train.seed=1,2", "--seeds", "2"],
            "exclude each other",
        ),
        (&["--set", "train.epochs=1,2"], "epochs"),
        (&["--set", "semantics=logltn,lgltn"], "lgltn"),
    ] {
        let sweep = ["sweep", "project/m.toml", "--out", "runs"];
        let run = folder.refuses(&[&sweep[..], more].concat());
        run.complains(words);
        assert!(!folder.has("runs"), "{more:?}");
    }
}

#[test]
fn words_and_parts_of_a_semantics() {
    let folder = folder();
    let set = ["--set", "semantics.exists=max,log_mean_exp"];
    let sweep = ["sweep", "project/m.toml", "--out", "runs", "--json"];
    let run = folder.ok(&[&sweep[..], &set].concat());
    let found = run.json();
    let expected = json!(["max", "log_mean_exp"]);
    assert_eq!(found["differences"], json!({"semantics.exists": expected}));
}

#[test]
fn a_run_that_runs_away_does_not_stop_the_others() {
    let folder = folder();
    let set = [
        "--set",
        "train.learning_rate=1e38,0.01",
        "--set",
        "train.steps=30",
    ];
    let sweep = ["sweep", "project/m.toml", "--out", "runs"];
    let run = folder.stops(&[&sweep[..], &set].concat());
    run.says("failed after");
    run.says("finished, 30 steps");
}
