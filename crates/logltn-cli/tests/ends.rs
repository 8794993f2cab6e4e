//! What a sample leaves out is said at the end of a training; the rest is in `cases/ends.case`.

use crate::common::Folder;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The line of a table that begins with this, in words.
fn line<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = text.lines().map(|l| l.split_whitespace().collect());
    let mut found = lines.filter(|words: &Vec<&str>| words.first() == Some(&name));
    found.next().unwrap_or_else(|| panic!("{name}: {text}"))
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
