//! What is said at the end of a training: of the whole theory, and not of the last step's batch, sample or dropout.

use crate::common::Folder;
use serde_json::Value;

const THEORY: &str = "sort Point
sort Class = 0..2
table labelled(x: Point, c: Class)
predicate class(Point, Class)
axiom examples: forall (x, c) in labelled. class(x, c)
axiom each for c: Class: exists x: Point. class(x, c)
";

/// The last batch is a rest of 4, networks have dropout, α goes from 1 to 4, and one axiom has its own schedule.
const MANIFEST: &str = "theory = \"t.ltn\"
[sorts.Point]
features = \"points.csv\"
[tables]
labelled = { rows = \"labelled.csv\", batch = 8 }
[predicates.class]
args = [\"x\", \"c\"]
network = { layers = [{ dense = 8 }, \"elu\", { dropout = 0.3 }] }
output = \"softmax\"
[axioms.\"each[1]\"]
alpha = { linear = [1, 8] }
[train]
epochs = 5
learning_rate = 0.02
checkpoint_every = 3
";

fn project() -> Folder {
    let number = |n: usize| (n * 7919 % 1009) as f64 / 504.5 - 1.0;
    let (mut points, mut labelled) = ("a,b\n".to_string(), "x,c\n".to_string());
    for i in 0..60 {
        let (a, b) = (number(2 * i), number(2 * i + 1));
        points += &format!("{a},{b}\n");
        labelled += &format!("{i},{}\n", usize::from(a > 0.0) + usize::from(b > 0.2));
    }
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
        ("points.csv", points.as_bytes()),
        ("labelled.csv", labelled.as_bytes()),
    ])
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The line of a table that begins with this, in words.
fn line<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = text.lines().map(|l| l.split_whitespace().collect());
    let mut found = lines.filter(|words: &Vec<&str>| words.first() == Some(&name));
    found.next().unwrap_or_else(|| panic!("{name}: {text}"))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn what_is_printed_reported_and_compared_is_what_eval_finds() {
    let folder = project();
    let trained = folder.run(&["train", "m.toml", "--out", "a"]);
    trained.ended(0);
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    let info: Value = serde_json::from_str(&folder.read("a/run.json")).expect("JSON");
    let last = &info["whole"]["last"];
    assert!(close(number(&last["sat"]), number(&found["sat"])), "{info}");
    assert!(close(number(&last["loss"]), number(&found["loss"])));
    assert_eq!(info["whole"]["alpha"], 4.0);
    // The last step saw four rows, with dropout.
    let records = folder.read("a/metrics.jsonl");
    let step: Value = serde_json::from_str(records.lines().last().expect("a line")).expect("JSON");
    assert!((number(&step["sat"]) - number(&found["sat"])).abs() > 1e-3);
    let head = "the whole theory with the first and the last weights, alpha 4, p 2, p_forall 2";
    trained.says(head);
    let page = folder.read("a/report.html");
    assert!(page.contains("Truths of the whole theory"), "{page}");
    let compared = {
        folder.ok(&["train", "m.toml", "--out", "b", "--seed", "1"]);
        folder.json(&["compare", "a", "b"])
    };
    assert_eq!(compared["of"], "whole theory");
    for (place, axiom) in (found["axioms"].as_array().expect("axioms").iter()).enumerate() {
        let (name, truth) = (axiom["name"].as_str().expect("a name"), &axiom["truth"]);
        let truth = number(truth);
        assert!(close(number(&last["axioms"][place]), truth), "{name}");
        let printed: f64 = line(&trained.stdout, name)[3].parse().expect("a number");
        assert!((printed - truth.exp()).abs() < 1e-5, "{name} {printed}");
        assert!(close(number(&compared["runs"][0]["axioms"][name]), truth));
    }
    assert!(close(
        number(&compared["runs"][0]["loss"]),
        number(&found["loss"])
    ));
    let text = folder.run(&["compare", "a", "b"]).stdout;
    assert!(
        text.contains("truths and loss of the whole theory"),
        "{text}"
    );
    // Beside a run that does not say, all are compared by their last steps, and that is said.
    let old = folder.read("b/run.json");
    let cut = old.find("\"whole\"").expect("it");
    let old = format!("{}\n}}\n", old[..cut].trim_end().trim_end_matches(','));
    folder.write("b/run.json", old.as_bytes());
    let compared = folder.json(&["compare", "a", "b"]);
    assert_eq!(compared["of"], "last step");
    assert_eq!(
        compared["runs"][0]["axioms"]["examples"],
        step["axioms"]["examples"]
    );
    let text = folder.run(&["compare", "a", "b"]).stdout;
    assert!(text.contains("in the last step's batch"), "{text}");
}

/// What changes by the schedule of α alone is no learning.
#[test]
fn who_learns_nothing_is_shown_no_change() {
    let folder = project();
    let still = MANIFEST.replace("learning_rate = 0.02", "learning_rate = 1e-12");
    folder.write("m.toml", still.as_bytes());
    let trained = folder.run(&["train", "m.toml", "--out", "a"]);
    trained.ended(0);
    for axiom in ["examples", "each[0]", "each[1]", "each[2]"] {
        let words = line(&trained.stdout, axiom);
        assert_eq!(words[2], words[3], "{}", trained.stdout);
    }
}

#[test]
fn a_run_that_was_killed_ends_with_the_same_words() {
    let folder = project();
    let trained = folder.run(&["train", "m.toml", "--out", "a"]);
    trained.ended(0);
    let weights = folder.bytes("a/weights.safetensors");
    let whole = |run: &str| -> Value {
        let info: Value = serde_json::from_str(&folder.read(run)).expect("JSON");
        info["whole"].clone()
    };
    let expected = whole("a/run.json");
    assert!(expected["first"]["sat"].is_number() && expected["last"]["sat"].is_number());
    // Killed after the last checkpoint: it knows what it began with, or finds it again.
    let text = folder.read("a/run.json");
    let without = {
        let cut = text.find("\"whole\"").expect("it");
        format!("{}\n}}\n", text[..cut].trim_end().trim_end_matches(','))
    };
    let running = without.replace("\"finished\"", "\"running\"");
    for info in [None, Some(running)] {
        for name in ["weights.safetensors", "report.html"] {
            folder.remove(&format!("a/{name}"));
        }
        if let Some(info) = info {
            folder.write("a/run.json", info.as_bytes());
        }
        let resumed = folder.run(&["train", "m.toml", "--out", "a", "--resume"]);
        resumed.ended(0);
        assert_eq!(whole("a/run.json"), expected);
        let now = folder.bytes("a/weights.safetensors");
        assert_eq!(now, weights);
    }
}

/// Where the whole is too much beside the training, the last step is shown, and said to be.
#[test]
fn a_batch_that_stands_for_the_whole_is_called_one() {
    let folder = project();
    let theory = THEORY.to_string()
        + "table pairs(x: Point, y: Point, n: Int)
axiom alike: forall (x, y, n) in pairs. class(x, 0) <-> class(y, 0)
";
    folder.write("t.ltn", theory.as_bytes());
    let mut pairs = "x,y,n\n".to_string();
    (0..12_000).for_each(|i| pairs += &format!("{},{},{i}\n", i % 60, i / 60 % 60));
    folder.write("pairs.csv", pairs.as_bytes());
    let manifest = MANIFEST
        .replace(
            "[tables]",
            "[tables]\npairs = { rows = \"pairs.csv\", batch = 100 }",
        )
        .replace("epochs = 5", "steps = 5");
    folder.write("m.toml", manifest.as_bytes());
    let trained = folder.run(&["train", "m.toml", "--out", "a"]);
    trained.ended(0);
    let head = "of the first and the last step's batch, alpha 1 and 4, p 2, p_forall 2";
    trained.says(head);
    trained.says("--run a looks at the whole");
    let page = page(&folder, "a");
    assert_eq!(page["runs"][0]["whole"], false);
    assert_eq!(page["curves"]["a"]["whole"], Value::Null);
    let text = folder.run(&["compare", "a", "a"]).stdout;
    assert!(text.contains("in the last step's batch"), "{text}");
}

// --- samples --------------------------------------------------------------------------------------

/// Twelve in a circle, each linked to the next; steps see three.
fn circle() -> Folder {
    let (mut names, mut links) = (String::new(), "h,t\n".to_string());
    for i in 0..12 {
        names += &format!("e{i}\n");
        links += &format!("e{i},e{}\n", (i + 1) % 12);
    }
    let theory = "sort E
table tr(h: E, t: E)
predicate link(E, E)
axiom has: forall h: E. exists t: E where tr(h, t). link(h, t)
";
    let manifest = "theory = \"t.ltn\"
[sorts.E]
individuals = \"e.txt\"
learnable = 4
sample = 3
[tables]
tr = { rows = \"tr.csv\" }
[predicates.link]
closed_form = { logit = \"2 - dist(a1, a2)\" }
[train]
steps = 20
checkpoint_every = 3
";
    Folder::new(&[
        ("t.ltn", theory.as_bytes()),
        ("m.toml", manifest.as_bytes()),
        ("e.txt", names.as_bytes()),
        ("tr.csv", links.as_bytes()),
    ])
}

/// The data in the page of a run.
fn page(folder: &Folder, run: &str) -> Value {
    let page = folder.read(&format!("{run}/report.html"));
    let (_, data) = page.split_once("id=\"data\">").expect("data");
    let (data, _) = data.split_once("</script>").expect("an end");
    serde_json::from_str(data).expect("JSON")
}

#[test]
fn what_a_sample_leaves_out_is_counted_and_never_called_true() {
    let folder = circle();
    let trained = folder.run(&["train", "m.toml", "--out", "a"]);
    trained.ended(0);
    let (mut total, mut unseen) = (0, 0);
    for record in folder.read("a/metrics.jsonl").lines() {
        let record: Value = serde_json::from_str(record).expect("JSON");
        // Each of the three has one successor, who is in the sample or not.
        let left = record["left_out"]["has"].as_u64().unwrap_or(0);
        assert!(left <= 3, "{record}");
        assert_eq!(record["axioms"]["has"].is_null(), left == 3, "{record}");
        total += left;
        unseen += u64::from(left == 3);
    }
    // Of 220 samples 112 have no two neighbours.
    assert!((1..20).contains(&unseen), "{unseen}");
    let info: Value = serde_json::from_str(&folder.read("a/run.json")).expect("JSON");
    assert_eq!(info["axioms"][0]["left_out"], total);
    let head =
        "`exists` left out because a step's sample had no individual for them, over all steps:";
    let (_, after) = trained.stdout.split_once(head).expect("a word");
    assert_eq!(line(after, "has"), ["has", &total.to_string()]);
    let page = page(&folder, "a");
    assert_eq!(page["curves"]["a"]["left_out"][0][0], "has");
    assert_eq!(page["curves"]["a"]["left_out"][0][1], total);
    // The axiom itself is looked at whole.
    let found = folder.json(&["eval", "m.toml", "--run", "a"]);
    let truth = number(&found["axioms"][0]["truth"]);
    let printed: f64 = line(&trained.stdout, "has")[3].parse().expect("a number");
    assert!((printed - truth.exp()).abs() < 1e-5 && printed < 1.0);
    // Steps before an interruption count too.
    for name in ["weights.safetensors", "report.html"] {
        folder.remove(&format!("a/{name}"));
    }
    folder.ok(&["train", "m.toml", "--out", "a", "--resume"]);
    let again: Value = serde_json::from_str(&folder.read("a/run.json")).expect("JSON");
    assert_eq!(again["axioms"], info["axioms"]);
}

#[test]
fn check_does_not_take_a_sample_for_the_guard() {
    let folder = circle();
    // A sample of one has no neighbours.
    let one = folder.read("m.toml").replace("sample = 3", "sample = 1");
    folder.write("m.toml", one.as_bytes());
    let checked = folder.run(&["check", "m.toml"]);
    checked.ended(0);
    let said = "axiom `has` has no groundings in the first step's sample";
    checked.complains(said);
    assert!(
        !checked.stderr.contains("guards keep nothing"),
        "{}",
        checked.stderr
    );
}

// --- frozen, capped -------------------------------------------------------------------------------

#[test]
fn where_everything_is_frozen_there_is_nothing_to_train() {
    let folder = project();
    let frozen = MANIFEST.to_string() + "freeze = [\"class\"]\n";
    folder.write("m.toml", frozen.as_bytes());
    for command in [&["check", "m.toml"][..], &["train", "m.toml", "--out", "a"]] {
        let run = folder.refuses(command);
        let said = "there is nothing to train: all that could be learnt is frozen";
        run.complains(said);
        run.complains("freeze = [\"class\"]");
    }
    assert!(!folder.has("a"));
}

/// LogSumExp over sixty points is above 0.
#[test]
fn a_log_above_0_is_called_capped() {
    let folder = project();
    let arguments = ["train", "m.toml", "--out", "a", "--semantics", "logltn-lse"];
    let trained = folder.run(&arguments);
    trained.ended(0);
    let words = line(&trained.stdout, "each[0]");
    assert_eq!(words[words.len() - 3..words.len() - 1], ["1", "(capped)"]);
    assert!(words[words.len() - 1].parse::<f64>().expect("a log") > 0.0);
    let arguments = ["eval", "m.toml", "--run", "a", "--semantics", "logltn-lse"];
    let found = folder.run(&arguments).stdout;
    assert_eq!(line(&found, "each[0]")[2..4], ["1", "(capped)"], "{found}");
    let arguments = ["query", "m.toml", "--run", "a", "--semantics", "logltn-lse"];
    let arguments = [&arguments[..], &["exists x: Point. class(x, 0)"]].concat();
    let found = folder.run(&arguments).stdout;
    assert!(found.contains("1 (capped)"), "{found}");
    // The page says so where it sees a log above 0: `dashboard_browser.rs`.
    let page = page(&folder, "a");
    assert_eq!(page["runs"][0]["logs"], true);
    let last = page["curves"]["a"]["last"].as_array().expect("axioms");
    let each = last.iter().find(|axiom| axiom[0] == "each[0]");
    assert!(number(&each.expect("it")[1]) > 0.0, "{last:?}");
}
