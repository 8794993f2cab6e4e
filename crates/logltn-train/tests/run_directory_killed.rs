//! Whenever the process that writes a run is killed, there is a whole checkpoint, and metrics that reach as far.
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use logltn_learn::State;
use logltn_train::run_directory::{RunDirectory, StepRecord};

const FOLDER: &str = "LOGLTN_TEST_RUN";
const CHILD: &str = "run_directory_killed::writes_checkpoints_until_killed";

/// All numbers of a checkpoint are its step, so that a mixture of two would be seen.
fn checkpoint(step: u64) -> State {
    let size = 1 + (step as usize * 7919) % 200_000;
    State {
        tensors: vec![
            ("w".into(), vec![size], vec![step as f32; size]),
            ("v".into(), vec![3], vec![step as f32; 3]),
        ],
        facts: [("step".to_string(), step.to_string())].into(),
    }
}

fn step_of(checkpoint: &State) -> u64 {
    checkpoint.facts["step"].parse().unwrap()
}

/// The process that is killed; the test below starts it.
#[test]
#[ignore = "runs until it is killed"]
fn writes_checkpoints_until_killed() {
    let dir = env::var_os(FOLDER).expect("only the other test starts this");
    let run = RunDirectory::resume(Path::new(&dir)).unwrap();
    let last = run.checkpoint().unwrap().map(|found| step_of(&found));
    let mut log = run.metrics_log(&["a".into()], &[], last).unwrap();
    for step in last.unwrap_or(0) + 1.. {
        let record = StepRecord {
            step,
            loss: step as f64,
            axioms: vec![-1.0],
            ..StepRecord::default()
        };
        log.append(&record).unwrap();
        run.write_checkpoint(&mut log, &checkpoint(step)).unwrap();
    }
}

#[test]
fn a_killed_run_can_always_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let mut reached = 0;
    // Not random in the end, but the moments that it hits are.
    let mut state = 1u64;
    for round in 0..40 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", CHILD, "--ignored"])
            .env(FOLDER, &dir)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        sleep(Duration::from_micros(2_000 + (state >> 33) % 60_000));
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();

        if !dir.join("checkpoint.safetensors").exists() {
            assert_eq!(reached, 0, "a checkpoint is gone");
            continue;
        }
        let run = RunDirectory::open(&dir).unwrap();
        let found = run.checkpoint().unwrap().unwrap();
        let step = step_of(&found);
        assert!(
            step >= reached,
            "round {round}: from {reached} back to {step}"
        );
        reached = step;
        let mut expected = checkpoint(step);
        expected.tensors.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, expected);

        // The metrics reach at least as far, every step once.
        let steps: Vec<u64> = run.records().unwrap().map(|r| r.unwrap().step).collect();
        assert_eq!(steps, (1..=steps.len() as u64).collect::<Vec<_>>());
        assert!(steps.len() as u64 >= step);
        let csv = fs::read_to_string(dir.join("metrics.csv")).unwrap();
        assert!(csv.lines().count() as u64 > step);
    }
    assert!(reached > 0, "it was never given the time to write anything");

    // What the last one left unfinished goes away with the next writer.
    let run = RunDirectory::resume(&dir).unwrap();
    let unfinished = fs::read_dir(run.path())
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .starts_with('.')
        })
        .count();
    assert_eq!(unfinished, 0);
}
