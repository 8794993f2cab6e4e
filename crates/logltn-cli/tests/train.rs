//! Runs that are killed, interrupted, and out of room; others are in `cases/train.case`.

#[cfg(unix)]
use std::process::Command;
use std::time::{Duration, Instant};

#[cfg(unix)]
use crate::common::signal;
use crate::common::{Folder, Run};
use serde_json::Value;

fn project() -> Folder {
    crate::common::project("points")
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

#[test]
fn killed_at_any_moment_a_resumed_run_ends_with_the_same_bits() {
    let folder = project();
    // How long it takes to the weights; what follows, the report, is not interesting to interrupt.
    let begun = Instant::now();
    let mut child = folder.start(&["train", "m.toml", "--out", "whole"]);
    folder.await_file("whole/weights.safetensors", &mut child);
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
            let mut child = folder.start(&arguments);
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

#[cfg(unix)]
#[test]
fn interrupted_it_says_how_to_resume() {
    let folder = project();
    // So long that it goes on when the signal comes, however busy the machine is.
    folder.change("m.toml", "epochs = 3", "epochs = 400");
    let long = folder.read("m.toml");
    succeeds(&folder.run(&["train", "m.toml", "--out", "whole"]));
    let mut child = folder.start(&["train", "m.toml", "--out", "run"]);
    folder.await_file("run/checkpoint.safetensors", &mut child);
    signal(&child, "-INT");
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
    let theory = folder.read("t.ltn");
    folder.change("t.ltn", "each for", "every for");
    let refused = folder.run(&resume);
    assert_ne!(refused.status, 0);
    // What is measured is not what is learnt.
    folder.write("t.ltn", format!("# a remark\n{theory}").as_bytes());
    let measured = long.replace("every = 10", "every = 10 # steps");
    folder.write("m.toml", measured.as_bytes());
    succeeds(&folder.run(&resume));
    assert_eq!(weights(&folder, "run"), weights(&folder, "whole"));
    assert_eq!(metrics(&folder, "run"), metrics(&folder, "whole"));
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
    let still = folder
        .read("m.toml")
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
