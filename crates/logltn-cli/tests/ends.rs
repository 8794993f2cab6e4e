//! What is said at the end of a training (see also `cases/ends.case`): of the whole theory, and not of the last step's batch, sample or dropout.

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
