//! `logltn train`, `logltn demo` and `logltn eval --run`: runs that are killed, resumed, refused, looked at.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, Run};
use serde_json::Value;

const THEORY: &str = "sort Point
sort Class = 0..2
table labelled(x: Point, c: Class)
table pairs(x: Point, y: Point)
predicate class(Point, Class)
predicate near(Point, Point)
axiom examples: forall (x, c) in labelled. class(x, c)
axiom together: forall (x, y) in pairs. near(x, y) and class(x, 0) -> class(y, 0)
axiom each for c: Class: exists x: Point. class(x, c)
";

/// Minibatches of two sizes, a schedule, phases, metrics, and a checkpoint every three steps.
const MANIFEST: &str = "theory = \"t.ltn\"
[sorts.Point]
features = \"points.csv\"
[tables]
labelled = { rows = \"labelled.csv\", batch = 8 }
pairs = { rows = \"pairs.csv\", batch = 5 }
[predicates.class]
args = [\"x\", \"c\"]
network = { mlp = [8, 8], activation = \"elu\" }
output = \"softmax\"
[predicates.near]
network = { mlp = [8], activation = \"tanh\" }
output = \"sigmoid\"
[schedule]
alpha = { linear = [1, 4] }
[train]
learning_rate = { exponential = [0.01, 0.001] }
seed = 7
checkpoint_every = 3
phases = [ { steps = 20, axioms = [\"examples\", \"each[1]\"] }, { epochs = 3 } ]
[evaluate]
every = 10
metrics = [ { metric = \"accuracy\", predicate = \"class\", rows = \"labelled.csv\" },
            { metric = \"balanced_accuracy\", predicate = \"class\", rows = \"labelled.csv\", name = \"fair\" } ]
";

fn project() -> Folder {
    let number = |n: usize| (n * 7919 % 1009) as f64 / 504.5 - 1.0;
    let mut points = "a,b,c\n".to_string();
    let mut labelled = "x,c\n".to_string();
    let mut pairs = "x,y\n".to_string();
    for i in 0..60 {
        let (a, b, c) = (number(3 * i), number(3 * i + 1), number(3 * i + 2));
        points += &format!("{a},{b},{c}\n");
        let class = usize::from(a > 0.0) + usize::from(b > 0.2);
        labelled += &format!("{i},{class}\n");
        pairs += &format!("{i},{}\n", (i * 11 + 3) % 60);
    }
    Folder::new(&[
        ("t.ltn", THEORY.as_bytes()),
        ("m.toml", MANIFEST.as_bytes()),
        ("points.csv", points.as_bytes()),
        ("labelled.csv", labelled.as_bytes()),
        ("pairs.csv", pairs.as_bytes()),
    ])
}

fn weights(folder: &Folder, run: &str) -> Vec<u8> {
    let path = folder.path().join(run).join("weights.safetensors");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of `metrics.jsonl` without the times.
fn metrics(folder: &Folder, run: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join(run).join("metrics.jsonl"));
    let without_time = |line: &str| {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        let record = value.as_object_mut().expect("an object");
        assert!(record.remove("step_time").is_some());
        // Which depends on the time.
        assert!(record.remove("check").is_some());
        value
    };
    text.expect("metrics.jsonl")
        .lines()
        .map(without_time)
        .collect()
}

fn succeeds(run: &Run) {
    run.ended(0);
}

fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_logltn"))
        .args(arguments)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn wait_for(path: &Path, child: &mut Child) {
    let begun = Instant::now();
    while !path.exists() && child.try_wait().expect("a child").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(600), "no {path:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn killed_at_any_moment_a_resumed_run_ends_with_the_same_bits() {
    let folder = project();
    // How long it takes to the weights; what follows, the report, is not interesting to interrupt.
    let begun = Instant::now();
    let mut child = spawn(&folder, &["train", "m.toml", "--out", "whole"]);
    wait_for(&folder.path().join("whole/weights.safetensors"), &mut child);
    let whole = begun.elapsed().as_micros() as u64;
    assert!(child.wait().expect("a child").success());
    let (expected, records) = (weights(&folder, "whole"), metrics(&folder, "whole"));
    assert_eq!(records.len(), 20 + 3 * 12, "steps in all");

    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut kills, mut resumed_midway) = (0, 0);
    let mut attempt = 0;
    // How long a child lives at most. The tests beside this one come and go, so it is found again after each attempt.
    let mut reach = whole * 2 / 3;
    while kills < 16 || resumed_midway < 3 {
        attempt += 1;
        assert!(
            attempt < 20,
            "{kills} kills, {resumed_midway} from a checkpoint"
        );
        let out = format!("run{attempt}");
        let checkpoint = folder.path().join(&out).join("checkpoint.safetensors");
        let arguments = ["train", "m.toml", "--out", &out, "--resume"];
        // Up to six kills in a row, then to the end.
        for _ in 0..6 {
            let mut child = spawn(&folder, &arguments);
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            std::thread::sleep(Duration::from_micros((random >> 33) % reach));
            // SIGKILL; an error means that it had ended.
            let _ = child.kill();
            let status = child.wait().expect("a child");
            kills += usize::from(!status.success());
        }
        let had_weights = folder
            .path()
            .join(&out)
            .join("weights.safetensors")
            .exists();
        match (checkpoint.exists(), had_weights) {
            (true, false) => resumed_midway += 1,
            (false, _) => reach = reach * 3 / 2,
            (true, true) => reach = reach * 2 / 3,
        }
        succeeds(&folder.run(&arguments));
        assert_eq!(weights(&folder, &out), expected, "attempt {attempt}");
        assert_eq!(metrics(&folder, &out), records, "attempt {attempt}");
        let report = folder.path().join(&out).join("report.html");
        assert!(report.exists(), "attempt {attempt}: no report");
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let folder = project();
    for threads in ["1", "2", "3"] {
        let run = folder.run(&["train", "m.toml", "--out", threads, "--threads", threads]);
        succeeds(&run);
        assert_eq!(weights(&folder, threads), weights(&folder, "1"));
        assert_eq!(metrics(&folder, threads), metrics(&folder, "1"));
    }
}

#[cfg(unix)]
#[test]
fn interrupted_it_says_how_to_resume() {
    let folder = project();
    // So long that it goes on when the signal comes, however busy the machine is.
    let long = MANIFEST.replace("epochs = 3", "epochs = 400");
    folder.write("m.toml", long.as_bytes());
    succeeds(&folder.run(&["train", "m.toml", "--out", "whole"]));
    let mut child = spawn(&folder, &["train", "m.toml", "--out", "run"]);
    wait_for(
        &folder.path().join("run/checkpoint.safetensors"),
        &mut child,
    );
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("kill").success());
    let output = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--resume"), "{said}");
    assert!(said.contains("stopped after step"), "{said}");
    let info = folder.read("run/run.json");
    assert!(info.contains("\"interrupted\""), "{info}");
    // The checkpoint is of the very step it stopped after, not of a multiple of three before it.
    let done = metrics(&folder, "run").len();
    assert!(
        said.contains(&format!("stopped after step {done} ")),
        "{said} {done}"
    );

    // Half a run with one learning rate and half with another would be a run of neither.
    let resume = ["train", "m.toml", "--out", "run", "--resume"];
    let changed = long.replace("[0.01, 0.001]", "[0.02, 0.001]");
    folder.write("m.toml", changed.as_bytes());
    let refused = folder.run(&resume);
    assert_ne!(refused.status, 0);
    let what = "`train.learning_rate.exponential.0` was 0.01 there and is 0.02 now";
    refused.complains(what);
    folder.write("m.toml", long.as_bytes());
    folder.write("t.ltn", THEORY.replace("each for", "every for").as_bytes());
    let refused = folder.run(&resume);
    assert_ne!(refused.status, 0);
    // What is measured is not what is learnt.
    folder.write("t.ltn", format!("# a remark\n{THEORY}").as_bytes());
    let measured = long.replace("every = 10", "every = 10 # steps");
    folder.write("m.toml", measured.as_bytes());
    succeeds(&folder.run(&resume));
    assert_eq!(weights(&folder, "run"), weights(&folder, "whole"));
    assert_eq!(metrics(&folder, "run"), metrics(&folder, "whole"));
}

#[test]
fn resume_starts_afresh_goes_on_or_does_nothing() {
    let folder = project();
    let train = ["train", "m.toml", "--out", "run", "--steps", "9"];
    let resume = [&train[..], &["--resume"]].concat();
    succeeds(&folder.run(&resume));
    let before = weights(&folder, "run");
    let time = |name: &str| {
        let data = std::fs::metadata(folder.path().join("run").join(name));
        data.and_then(|d| d.modified()).expect("a file")
    };
    let names = [
        "weights.safetensors",
        "metrics.jsonl",
        "report.html",
        "run.json",
    ];
    let times = names.map(time);

    let again = folder.run(&resume);
    succeeds(&again);
    again.says("finished already");
    assert_eq!(weights(&folder, "run"), before);
    assert_eq!(names.map(time), times, "nothing is written");

    // Of other inputs it does nothing either, but says so, with each difference and a way to go on.
    folder.write("longer.toml", MANIFEST.replace("0.01,", "0.02,").as_bytes());
    let longer = [
        "train",
        "longer.toml",
        "--out",
        "run",
        "--steps",
        "20",
        "--seed",
        "8",
        "--resume",
    ];
    let refused = folder.refuses(&longer);
    for said in [
        "`train.steps` was 9 there and is 20 now",
        "`train.seed` was 7 there and is 8 now",
        "`train.learning_rate.exponential.0` was 0.01 there and is 0.02 now",
        "start = { run = ",
    ] {
        refused.complains(said);
    }
    assert_eq!(names.map(time), times, "nothing is written");

    let refused = folder.refuses(&train);
    refused.complains("holds a run already");
    refused.complains("--resume");
    assert_eq!(weights(&folder, "run"), before);
}

#[test]
fn a_report_that_was_never_made_is_made_up_for() {
    let folder = project();
    let arguments = [
        "train", "m.toml", "--out", "run", "--steps", "9", "--resume",
    ];
    succeeds(&folder.run(&arguments));
    for name in ["report.html", "pictures/class.png"] {
        std::fs::remove_file(folder.path().join("run").join(name)).expect(name);
    }
    let info = folder.path().join("run/run.json");
    let text = std::fs::read_to_string(&info).expect("run.json");
    // Written by an older program, without a checksum.
    let mut text: Value = serde_json::from_str(&text).expect("JSON");
    text.as_object_mut().expect("an object").remove("check");
    let text = text.to_string();
    folder.write(
        "run/run.json",
        text.replace("finished", "running").as_bytes(),
    );
    succeeds(&folder.run(&arguments));
    assert!(folder.has("run/report.html"));
    assert!(folder.has("run/pictures/class.png"));
    let text = std::fs::read_to_string(&info).expect("run.json");
    assert!(text.contains("\"finished\""), "{text}");
}

/// A run that a kill left unfinished.
fn unfinished(folder: &Folder) {
    succeeds(&folder.run(&["train", "m.toml", "--out", "run"]));
    for name in ["weights.safetensors", "report.html"] {
        std::fs::remove_file(folder.path().join("run").join(name)).expect(name);
    }
}

#[test]
fn another_training_cannot_be_resumed() {
    let folder = project();
    unfinished(&folder);
    let checkpoint = || folder.bytes("run/checkpoint.safetensors");
    let before = checkpoint();
    let wrong: [(&[&str], &str); 3] = [
        (&["--seed", "8"], "`train.seed` was 7 there and is 8 now"),
        (
            &["--semantics", "stable"],
            "`semantics` was left out there and is \"stable\" now",
        ),
        (
            &["--steps", "5"],
            "`train.steps` was left out there and is 5 now",
        ),
    ];
    for (flags, message) in wrong {
        let arguments = [&["train", "m.toml", "--out", "run", "--resume"], flags].concat();
        let run = folder.refuses(&arguments);
        run.complains("another training");
        run.complains(message);
        assert_eq!(checkpoint(), before);
    }
    folder.write("m.toml", MANIFEST.replace("[8, 8]", "[8, 9]").as_bytes());
    let run = folder.run(&["train", "m.toml", "--out", "run", "--resume"]);
    assert_ne!(run.status, 0);
    run.complains("class.");
    assert_eq!(checkpoint(), before);

    folder.write("m.toml", MANIFEST.as_bytes());
    let points = folder.read("points.csv");
    let digit = points.rfind(|c: char| c.is_ascii_digit()).expect("a digit");
    let other = if points[digit..].starts_with('1') {
        "2"
    } else {
        "1"
    };
    let mut changed = points.clone();
    changed.replace_range(digit..=digit, other);
    folder.write("points.csv", changed.as_bytes());
    let run = folder.run(&["train", "m.toml", "--out", "run", "--resume"]);
    assert_ne!(run.status, 0);
    for file in ["points.csv`", "has changed"] {
        run.complains(file);
    }
    assert_eq!(checkpoint(), before);
    // Nor by way of the run's own manifest.
    let run = folder.run(&["train", "run/manifest.toml", "--out", "run", "--resume"]);
    assert_ne!(run.status, 0);
    let message = "has changed";
    run.complains(message);
    folder.write("points.csv", points.as_bytes());
    succeeds(&folder.run(&["train", "m.toml", "--out", "run", "--resume"]));
}

/// With steps too small to change any class the metric stands still.
#[test]
fn a_run_whose_metric_gets_no_better_ends_early_and_is_finished() {
    let folder = project();
    let still = MANIFEST
        .replace("{ exponential = [0.01, 0.001] }", "1e-12")
        .replace("every = 10", "every = 4")
        .replace(
            "seed = 7",
            "seed = 7\nearly_stop = { metric = \"accuracy\", patience = 2 }",
        );
    folder.write("m.toml", still.as_bytes());
    let train = ["train", "m.toml", "--out", "run"];
    succeeds(&folder.run(&train));
    // After 4, and not better after 8 and 12.
    assert_eq!(metrics(&folder, "run").len(), 12);
    let info = folder.read("run/run.json");
    assert!(info.contains("\"finished\""), "{info}");
    assert!(folder.has("run/report.html"));
    // Standing still, the first are the best: those after step 4.
    let said = "stopped early after step 12 of";
    assert!(info.contains(said), "{info}");
    let last = folder.path().join("run/last.safetensors");
    assert!(std::fs::read(last).expect("the end's weights") != weights(&folder, "run"));
    let before = weights(&folder, "run");
    succeeds(&folder.run(&[&train[..], &["--resume"]].concat()));
    assert_eq!(weights(&folder, "run"), before);
}

#[test]
fn numbers_that_run_away_stop_the_run() {
    let folder = project();
    let wild = MANIFEST.replace("{ exponential = [0.01, 0.001] }", "1e30");
    folder.write("m.toml", wild.replace("every = 3", "every = 1").as_bytes());
    let run = folder.stops(&["train", "m.toml", "--out", "run"]);
    run.complains("step ");
    let named = ["`class`", "`near`", "`examples`", "`together`"];
    assert!(
        named.iter().any(|n| run.stderr.contains(n)),
        "{}",
        run.stderr
    );
    run.complains("last checkpoint is intact");
    let info = folder.read("run/run.json");
    assert!(info.contains("\"failed\""), "{info}");
    // The checkpoint can be read, and gives the same end again.
    let again = folder.stops(&["train", "m.toml", "--out", "run", "--resume"]);
    again.complains("step ");
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = project();
    folder.write("file", b"");
    let run = folder.refuses(&["train", "m.toml", "--out", "file"]);
    run.complains("found a file");
    let run = folder.refuses(&["train", "m.toml", "--out", "file/run"]);
    run.complains("file/run");
    let run = folder.refuses(&["train", "m.toml", "--out", "/proc/nowhere/run"]);
    assert!(
        run.stderr.contains("/proc/nowhere/run: cannot be made")
            || run.stderr.contains("/proc/nowhere/run: it cannot be made"),
        "{}",
        run.stderr
    );
    // Missing parents are made.
    succeeds(&folder.run(&["train", "m.toml", "--out", "a/b/run", "--steps", "3"]));
    assert!(folder.has("a/b/run/weights.safetensors"));
    let run = folder.refuses(&["train", "m.toml"]);
    run.complains("--out");
}

/// A limit on the size of files does what a full disk does: from some moment on writes fail.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_last_checkpoint_whole() {
    let folder = project();
    succeeds(&folder.run(&["train", "m.toml", "--out", "whole"]));
    let program = env!("CARGO_BIN_EXE_logltn");
    let limited = format!("trap '' XFSZ; ulimit -f 8; exec '{program}' train m.toml --out run");
    let output = Command::new("sh")
        .args(["-c", &limited])
        .current_dir(folder.path())
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("run/metrics."), "which file: {said}");
    assert!(said.contains("cannot be written"), "{said}");
    assert!(said.contains("last checkpoint is intact"), "{said}");
    let done = metrics_done(&folder, "run");
    assert!((3..56).contains(&done), "{done} steps");
    succeeds(&folder.run(&["train", "m.toml", "--out", "run", "--resume"]));
    assert_eq!(weights(&folder, "run"), weights(&folder, "whole"));
    assert_eq!(metrics(&folder, "run"), metrics(&folder, "whole"));
}

/// How many whole lines there are.
#[cfg(unix)]
fn metrics_done(folder: &Folder, run: &str) -> usize {
    let bytes = std::fs::read(folder.path().join(run).join("metrics.jsonl")).expect("it");
    bytes.iter().filter(|b| **b == b'\n').count()
}

#[test]
fn flags_replace_what_the_manifest_says() {
    let folder = project();
    let train = |out: &str, flags: &[&str]| {
        let arguments = [&["train", "m.toml", "--out", out, "--steps", "5"], flags].concat();
        succeeds(&folder.run(&arguments));
        let info = std::fs::read_to_string(folder.path().join(out).join("run.json"));
        let info: Value = serde_json::from_str(&info.expect("run.json")).expect("JSON");
        assert_eq!(metrics(&folder, out).len(), 5);
        (info["seed"].clone(), info["semantics"].clone())
    };
    assert_eq!(train("plain", &[]), (7.into(), "logltn".into()));
    assert_eq!(train("seed", &["--seed", "8"]), (8.into(), "logltn".into()));
    assert_eq!(train("same", &["--seed", "7"]), (7.into(), "logltn".into()));
    let stable = train("stable", &["--semantics", "stable"]);
    assert_eq!(stable, (7.into(), "stable".into()));
    assert_eq!(weights(&folder, "same"), weights(&folder, "plain"));
    assert_ne!(weights(&folder, "seed"), weights(&folder, "plain"));
    assert_ne!(weights(&folder, "stable"), weights(&folder, "plain"));
    for flags in [
        ["--steps", "0"],
        ["--semantics", "stabel"],
        ["--threads", "0"],
    ] {
        let run = folder.refuses(&["train", "m.toml", "--out", "no", flags[0], flags[1]]);
        run.complains(flags[0]);
    }
}

#[test]
fn the_report_and_the_event_files() {
    let folder = project();
    let run = folder.run(&[
        "train",
        "m.toml",
        "--out",
        "run",
        "--steps",
        "9",
        "--tensorboard",
    ]);
    succeeds(&run);
    let report = folder.read("run/report.html");
    let axioms = ["examples", "together", "each[0]", "each[1]", "each[2]"];
    for name in axioms.iter().chain(&["accuracy(class)", "fair"]) {
        assert!(report.contains(name), "{name} is not in the report");
        run.says(name);
    }
    assert!(
        !report.contains("src=\"http") && !report.contains("href=\"http"),
        "the report is self-contained"
    );
    let folder_of_events = std::fs::read_dir(folder.path().join("run/tensorboard")).expect("one");
    let events: Vec<PathBuf> = folder_of_events
        .map(|e| e.expect("a file").path())
        .collect();
    let is_events = |p: &PathBuf| p.to_string_lossy().contains("events.out.tfevents");
    assert!(events.iter().any(is_events), "{events:?}");
    for name in ["manifest.toml", "theory.ltn", "metrics.csv"] {
        assert!(folder.path().join("run").join(name).exists(), "{name}");
    }
    let pictures = folder.bytes("run/pictures/class.png");
    assert!(pictures.starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn the_demo_ends_with_a_picture() {
    let folder = Folder::new(&[]);
    let run = folder.run(&["demo"]);
    succeeds(&run);
    for name in ["covered", "inhabited", "smooth", "adjusted_rand_index"] {
        run.says(name);
    }
    let path_after = |what: &str| {
        let line = run.stdout.lines().find(|line| line.starts_with(what));
        let path = line.and_then(|line| line.strip_prefix(what)).expect(what);
        folder.path().join(path.trim())
    };
    let picture = std::fs::read(path_after("picture")).expect("the picture");
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    let report = std::fs::read_to_string(path_after("report")).expect("the report");
    assert!(report.contains("smooth") && report.contains("</html>"));
    let index = run
        .stdout
        .lines()
        .find(|l| l.contains("adjusted_rand_index"));
    let index = index
        .and_then(|l| l.split_whitespace().last())
        .expect("a number");
    let index: f64 = index.parse().expect("a number");
    assert!((0.3..=1.0).contains(&index), "{index}");
}

#[test]
fn a_second_demo_leaves_the_first_alone() {
    let folder = Folder::new(&[]);
    std::fs::create_dir(folder.path().join("logltn-demo")).expect("a folder");
    folder.write("logltn-demo/mine", b"precious");
    let mut child = spawn(&folder, &["demo"]);
    wait_for(
        &folder.path().join("logltn-demo-2/run/run.json"),
        &mut child,
    );
    let _ = child.kill();
    child.wait().expect("a child");
    assert!(folder.has("logltn-demo-2/clustering.toml"));
    let kept: Vec<_> = std::fs::read_dir(folder.path().join("logltn-demo"))
        .expect("it")
        .collect();
    assert_eq!(kept.len(), 1);
}

// --- logltn eval --run -------------------------------------------------------------------------

fn eval(folder: &Folder, flags: &[&str]) -> Value {
    let run = folder.run(&[&["eval", "m.toml", "--json"], flags].concat());
    succeeds(&run);
    run.json()
}

/// Without batches and with a constant α, the last record of a run with a learning rate of nearly nothing
/// is what `eval` finds, up to single precision.
#[test]
fn the_truth_of_a_trained_theory() {
    let folder = project();
    let still = MANIFEST
        .replace(", batch = 8", "")
        .replace(", batch = 5", "")
        .replace("{ exponential = [0.01, 0.001] }", "{ linear = [0.01, 0] }")
        .replace("{ linear = [1, 4] }", "2");
    folder.write("m.toml", still.as_bytes());
    succeeds(&folder.run(&["train", "m.toml", "--out", "run", "--steps", "30"]));
    let found = eval(&folder, &["--run", "run"]);
    let records = metrics(&folder, "run");
    // The record of step 30 was made before its step, whose learning rate is 0.
    let last = &records[29];
    let close = |a: &Value, b: &Value| {
        let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
        (a - b).abs() < 1e-5 * (1.0 + b.abs())
    };
    assert!(close(&found["sat"], &last["sat"]), "{found} {last}");
    let axioms = found["axioms"].as_array().expect("axioms");
    assert_eq!(axioms.len(), 5);
    for axiom in axioms {
        let name = axiom["name"].as_str().expect("a name");
        assert!(
            close(&axiom["truth"], &last["axioms"][name]),
            "{axiom} {last}"
        );
        assert_eq!(axiom["groundings"], 60);
    }
    // The flags work, and the text has the same axioms.
    let other = eval(
        &folder,
        &["--run", "run", "--semantics", "stable", "--p", "3"],
    );
    assert_eq!(
        (&other["semantics"], &other["p"]),
        (&"stable".into(), &3.0.into())
    );
    let sat = other["sat"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&sat), "{other}");
    let sharper = eval(&folder, &["--run", "run", "--alpha", "50"]);
    assert!(sharper["sat"].as_f64() > found["sat"].as_f64());
    let text = folder.run(&["eval", "m.toml", "--run", "run"]);
    succeeds(&text);
    text.says("each[2]");
}

#[test]
fn batched_tables_are_evaluated_whole_and_unfinished_runs_by_their_checkpoint() {
    let folder = project();
    unfinished(&folder);
    let from_checkpoint = eval(&folder, &["--run", "run"]);
    assert_eq!(from_checkpoint["axioms"][0]["groundings"], 60);
    assert_eq!(from_checkpoint["alpha"], 4.0);
    succeeds(&folder.run(&["train", "m.toml", "--out", "run", "--resume"]));
    assert_eq!(eval(&folder, &["--run", "run"]), from_checkpoint);
}

#[test]
fn runs_that_cannot_be_evaluated() {
    let folder = project();
    let refused = |arguments: &[&str], message: &str| {
        let run = folder.refuses(arguments);
        run.complains(message);
        assert!(run.stdout.is_empty());
    };
    refused(&["eval", "m.toml"], "--run");
    refused(
        &["eval", "m.toml", "--run", "nowhere"],
        "nowhere: there is no such folder",
    );
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    refused(&["eval", "m.toml", "--run", "empty"], "holds no run");
    folder.write("empty/run.json", b"{}");
    refused(&["eval", "m.toml", "--run", "empty"], "no weights yet");
    succeeds(&folder.run(&["train", "m.toml", "--out", "run", "--steps", "2"]));
    folder.write("m.toml", MANIFEST.replace("[8, 8]", "[8, 9]").as_bytes());
    refused(&["eval", "m.toml", "--run", "run"], "class.");
}

#[test]
fn the_manifest_of_a_run_holds_without_the_original() {
    let folder = project();
    succeeds(&folder.run(&["train", "m.toml", "--out", "a", "--steps", "4"]));
    let before = eval(&folder, &["--run", "a"]);
    std::fs::remove_file(folder.path().join("m.toml")).expect("a manifest");
    std::fs::remove_file(folder.path().join("t.ltn")).expect("a theory");
    let again = folder.run(&["eval", "a/manifest.toml", "--run", "a", "--json"]);
    succeeds(&again);
    assert_eq!(
        serde_json::from_str::<Value>(&again.stdout).expect("JSON"),
        before
    );
    let text = folder.read("a/manifest.toml");
    assert!(
        text.starts_with("# m.toml as it was run: seed 7, semantics logltn, 4 steps."),
        "{text}"
    );
}

/// Flags, phases that flags replace, and paths: trained again from it, a run's manifest gives the same bits.
#[test]
fn the_manifest_of_a_run_reproduces_it() {
    let folder = project();
    let cases: [(&str, &[&str]); 3] = [
        ("plain", &[]),
        ("steps", &["--steps", "7", "--seed", "18446744073709551615"]),
        (
            "all",
            &["--steps", "8", "--seed", "3", "--semantics", "stable"],
        ),
    ];
    for (name, flags) in cases {
        let (out, again) = (format!("runs/{name}"), format!("elsewhere/deep/{name}"));
        succeeds(&folder.run(&[&["train", "m.toml", "--out", &out], flags].concat()));
        let manifest = format!("{out}/manifest.toml");
        succeeds(&folder.run(&["train", &manifest, "--out", &again]));
        assert_eq!(weights(&folder, &out), weights(&folder, &again), "{name}");
        assert_eq!(metrics(&folder, &out), metrics(&folder, &again), "{name}");
        // It is a run of the same inputs.
        let resume = [&["train", "m.toml", "--out", &again, "--resume"][..], flags].concat();
        succeeds(&folder.run(&resume));
    }

    // Moved together, project and run still fit.
    let moved = Folder::new(&[]);
    let to = moved.path().join("project");
    std::fs::rename(folder.path(), &to).expect("to be moved");
    let run = crate::common::run_in(
        &to,
        &["train", "runs/all/manifest.toml", "--out", "runs/third"],
    );
    succeeds(&run);
    let bytes = |run: &str| std::fs::read(to.join(run).join("weights.safetensors")).expect("it");
    assert_eq!(bytes("runs/all"), bytes("runs/third"));
    std::fs::create_dir_all(folder.path()).expect("a folder to be removed");
}

/// What fits by its shapes alone is refused anyway.
#[test]
fn a_run_is_not_evaluated_as_something_else() {
    let folder = project();
    let layers = "layers = [{ dense = 8 }, \"elu\", { dropout = 0.1 }]";
    let whole = MANIFEST.replace("mlp = [8, 8], activation = \"elu\"", layers).replace(
        "network = { mlp = [8], activation = \"tanh\" }",
        "args = [\"x\", \"y\"]\nnetwork = { mlp = [8], activation = \"tanh\", inputs = [\"x\", \"y\"] }",
    );
    folder.write("m.toml", whole.as_bytes());
    succeeds(&folder.run(&["train", "m.toml", "--out", "run", "--steps", "3"]));
    let changes = [
        (
            "\"elu\"",
            "\"relu\"",
            &["predicates.class.layers", "elu", "relu"][..],
        ),
        ("0.1", "0.2", &["predicates.class.layers", "0.1", "0.2"]),
        (
            "[\"x\", \"y\"] }",
            "[\"y\", \"x\"] }",
            &["predicates.near.inputs", "#1, #2", "#2, #1"],
        ),
        (
            "\"softmax\"",
            "\"sigmoid\"",
            &["predicates.class.output", "softmax"],
        ),
        (
            "{ dense = 8 }",
            "{ dense = 9 }",
            &["predicates.class.layers"],
        ),
    ];
    for (from, to, said) in changes {
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole, "{from}");
        folder.write("other.toml", changed.as_bytes());
        let run = folder.refuses(&["eval", "other.toml", "--run", "run"]);
        for said in said {
            run.complains(said);
        }
    }
    // Other names for the arguments, and what concerns training only, change nothing.
    let same = (whole.replace("[\"x\", \"y\"]\n", "[\"a\", \"b\"]\n"))
        .replace("inputs = [\"x\", \"y\"]", "inputs = [\"a\", \"b\"]")
        .replace("seed = 7", "seed = 8");
    folder.write("other.toml", same.as_bytes());
    succeeds(&folder.run(&["eval", "other.toml", "--run", "run"]));

    // Columns in another order, or under other names, are other inputs.
    let points = folder.read("points.csv");
    folder.write(
        "points.csv",
        points.replace("a,b,c\n", "a,c,b\n").as_bytes(),
    );
    let run = folder.refuses(&["eval", "m.toml", "--run", "run"]);
    run.complains("sorts.Point.columns");
    folder.write(
        "points.csv",
        points.replace("a,b,c\n", "u,v,w\n").as_bytes(),
    );
    folder.refuses(&["eval", "m.toml", "--run", "run"]);
    folder.write("points.csv", points.as_bytes());

    // A run of an older version has no record.
    let info = folder.read("run/run.json");
    let mut info: Value = serde_json::from_str(&info).expect("JSON");
    for key in ["model", "check"] {
        info.as_object_mut().expect("an object").remove(key);
    }
    folder.write("run/run.json", info.to_string().as_bytes());
    let run = folder.run(&["eval", "m.toml", "--run", "run"]);
    succeeds(&run);
    run.complains("no record");
}
