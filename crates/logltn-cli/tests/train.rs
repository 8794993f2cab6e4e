//! Runs that are killed, interrupted, and out of room; others are in `cases/train.case`.

#[cfg(unix)]
use std::process::Command;
use std::time::{Duration, Instant};

#[cfg(unix)]
use crate::common::signal;
use crate::common::{Folder, Random};

fn project() -> Folder {
    crate::common::project("points")
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
    let (expected, records) = (folder.weights("whole"), folder.records("whole"));
    assert_eq!(records.len(), 20 + 3 * 12, "steps in all");

    let mut random = Random(1);
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
            std::thread::sleep(Duration::from_micros(random.next() % reach));
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
        folder.ok(&arguments);
        assert_eq!(folder.weights(&out), expected, "attempt {attempt}");
        assert_eq!(folder.records(&out), records, "attempt {attempt}");
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
    folder.ok(&["train", "m.toml", "--out", "whole"]);
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
    let done = folder.records("run").len();
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
    folder.ok(&resume);
    assert_eq!(folder.weights("run"), folder.weights("whole"));
    assert_eq!(folder.records("run"), folder.records("whole"));
}

/// A limit on the size of files does what a full disk does: from some moment on writes fail.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_last_checkpoint_whole() {
    let folder = project();
    folder.ok(&["train", "m.toml", "--out", "whole"]);
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
    folder.ok(&["train", "m.toml", "--out", "run", "--resume"]);
    assert_eq!(folder.weights("run"), folder.weights("whole"));
    assert_eq!(folder.records("run"), folder.records("whole"));
}

/// How many whole lines there are.
#[cfg(unix)]
fn metrics_done(folder: &Folder, run: &str) -> usize {
    let bytes = std::fs::read(folder.path().join(run).join("metrics.jsonl")).expect("it");
    bytes.iter().filter(|b| **b == b'\n').count()
}
