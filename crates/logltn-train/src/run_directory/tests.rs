//! What a run directory refuses, keeps and gives back. (That it survives SIGKILL is in `tests/run_directory_killed.rs`.)

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use proptest::prelude::*;

use logltn_learn::{NamedTensor, State};

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn checkpoint(step: u64) -> State {
    State {
        tensors: vec![
            ("b".into(), vec![2], vec![step as f32, -1.5]),
            ("a".into(), vec![2, 3], vec![0.0, 1.0, 2.0, 3.0, 4.0, -0.0]),
        ],
        facts: [
            ("step".to_string(), step.to_string()),
            ("epoch".to_string(), "1".to_string()),
            ("random".to_string(), "3405691582".to_string()),
        ]
        .into(),
    }
}

fn record(step: u64) -> StepRecord {
    StepRecord {
        step,
        loss: 0.1 * step as f64,
        sat: -0.1 * step as f64,
        axioms: vec![-1.0 / 3.0, f64::NAN],
        metrics: if step.is_multiple_of(2) {
            vec![("ari".into(), 0.7)]
        } else {
            vec![]
        },
        gradient_norm: 1e-300,
        step_time: 0.002,
        left_out: vec![("b".into(), 3)],
    }
}

fn names() -> (Vec<String>, Vec<String>) {
    (
        vec!["covered".into(), "types[a,b]\nc".into()],
        vec!["ari".into(), "acc".into()],
    )
}

#[test]
fn a_folder_with_a_run_is_refused() {
    let folder = folder();
    let dir = folder.path().join("deep/er");
    let run = RunDirectory::create(&dir).unwrap();
    let second = RunDirectory::resume(&dir).unwrap_err().to_string();
    assert!(second.contains("another process"), "{second}");
    run.write_info(&RunInfo::default()).unwrap();
    drop(run);
    let refused = RunDirectory::create(&dir).unwrap_err().to_string();
    assert!(refused.contains("`run.json` is there"), "{refused}");
    assert!(refused.contains("--resume"), "{refused}");
    assert_eq!(
        RunDirectory::open(&dir).unwrap().info().unwrap(),
        RunInfo::default()
    );
    RunDirectory::resume(&dir).unwrap();
}

#[test]
fn what_is_not_a_runs_is_not_written_into() {
    let folder = folder();
    let mine = folder.path().join("manifest.toml");
    fs::write(&mine, "mine").unwrap();
    for refused in [
        RunDirectory::create(folder.path()).unwrap_err(),
        RunDirectory::resume(folder.path()).unwrap_err(),
    ] {
        assert!(
            refused.to_string().contains("`manifest.toml` is there"),
            "{refused}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = folder();
    let [dir, mine] = ["run", "mine"].map(|name| folder.path().join(name));
    drop(RunDirectory::create(&dir).unwrap());
    fs::create_dir_all(dir.join("plots")).unwrap();
    fs::write(&mine, "mine").unwrap();
    for name in ["metrics.csv", "plots/loss.png"] {
        std::os::unix::fs::symlink(&mine, dir.join(name)).unwrap();
        let refused = RunDirectory::resume(&dir).unwrap_err().to_string();
        assert!(refused.contains("it is a link"), "{refused}");
        fs::remove_file(dir.join(name)).unwrap();
    }
    // Nor does it wait at a pipe; not even at that of its lock.
    for name in ["metrics.csv", "plots/loss.png", "run.lock"] {
        let path = dir.join(name);
        let _ = fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let refused = RunDirectory::resume(&dir).unwrap_err().to_string();
        assert!(refused.contains("a pipe or device"), "{refused}");
        fs::remove_file(path).unwrap();
    }
    fs::write(dir.join("run.json"), "{}").unwrap();
    RunDirectory::resume(&dir).unwrap();
}

/// Every single bit: the header's, its length's, the numbers'.
#[test]
fn a_flipped_bit_is_seen() {
    let bytes = encode(&checkpoint(3)).unwrap();
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(
            decode(&damaged, "c").is_err(),
            "bit {bit} of {}",
            8 * bytes.len()
        );
    }
}

#[test]
fn a_damaged_checkpoint_is_not_the_end() {
    let folder = folder();
    let run = RunDirectory::create(folder.path()).unwrap();
    let mut log = run.metrics_log(&[], &[], None).unwrap();
    run.write_checkpoint(&mut log, &checkpoint(3)).unwrap();
    run.write_checkpoint(&mut log, &checkpoint(4)).unwrap();
    let step = || run.checkpoint().unwrap().unwrap().facts["step"].clone();
    assert_eq!(step(), "4");
    let newest = run.file("checkpoint.safetensors");
    let mut bytes = fs::read(&newest).unwrap();
    *bytes.last_mut().unwrap() ^= 4;
    fs::write(&newest, bytes).unwrap();
    let offer = run.checkpoint().unwrap_err().to_string();
    assert!(offer.contains("of step 3, is whole"), "{offer}");
    fs::remove_file(&newest).unwrap();
    assert_eq!(step(), "3");
}

#[test]
fn an_empty_folder_is_taken() {
    let folder = folder();
    fs::write(folder.path().join(".hidden"), "").unwrap();
    RunDirectory::create(folder.path()).unwrap();
    // Nothing was written, so it can still be created.
    RunDirectory::create(folder.path()).unwrap();
    let none = RunDirectory::open(folder.path()).unwrap_err().to_string();
    assert!(none.contains("holds no run"), "{none}");
}

#[test]
fn what_is_not_a_folder_is_refused() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for wrong in [
        RunDirectory::create(&file).unwrap_err(),
        RunDirectory::resume(&file).unwrap_err(),
        RunDirectory::open(&file).unwrap_err(),
    ] {
        assert!(wrong.to_string().contains("found a file"), "{wrong}");
    }
    let below = RunDirectory::create(&file.join("run")).unwrap_err();
    assert!(below.to_string().contains("cannot be made"), "{below}");
    let missing = RunDirectory::open(&folder.path().join("no")).unwrap_err();
    assert!(missing.to_string().contains("no such folder"), "{missing}");
}

#[test]
fn a_write_that_fails_leaves_the_old_file() {
    let folder = folder();
    // The name is as long as names can be, so the unfinished file's is too long.
    let path = folder.path().join("x".repeat(255));
    fs::write(&path, "old").unwrap();
    let error = write_atomically(&path, b"new").unwrap_err();
    assert!(error.message().contains("cannot be written"), "{error}");
    assert_eq!(
        error.notes(),
        ["the file that was there before is unchanged"]
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let error = write_atomically(folder.path(), b"").unwrap_err();
    assert!(error.message().contains("a folder of that name"), "{error}");
}

#[test]
fn errors_name_the_path_the_reason_and_the_remedy() {
    let path = Path::new("runs/a/checkpoint.safetensors");
    let full = atomic::explain(
        path,
        "cannot be written",
        &io::ErrorKind::StorageFull.into(),
    );
    assert!(
        full.message()
            .starts_with("runs/a/checkpoint.safetensors: it cannot be written: ")
    );
    assert!(full.help_text().unwrap().contains("make room"));
    let denied = io::ErrorKind::PermissionDenied.into();
    let denied = atomic::explain(path, "cannot be written", &denied);
    assert!(denied.help_text().unwrap().contains("permissions"));
}

#[test]
fn leftovers_are_cleared_away() {
    let folder = folder();
    let leftover = folder
        .path()
        .join(".checkpoint.safetensors.12-0.unfinished");
    fs::write(&leftover, "half").unwrap();
    fs::write(folder.path().join(".mine"), "").unwrap();
    RunDirectory::resume(folder.path()).unwrap();
    assert!(!leftover.exists());
    assert!(folder.path().join(".mine").exists());
}

#[test]
fn the_bytes_of_a_checkpoint_depend_on_its_content_only() {
    let bytes = encode(&checkpoint(3)).unwrap();
    let mut turned = checkpoint(3);
    turned.tensors.reverse();
    assert_eq!(encode(&turned).unwrap(), bytes);
    assert_ne!(encode(&checkpoint(4)).unwrap(), bytes);
    // The numbers start at a multiple of eight.
    assert_eq!((bytes.len() - 8 * 4) % 8, 0);
}

#[test]
fn other_programs_can_read_a_checkpoint() {
    let bytes = encode(&checkpoint(3)).unwrap();
    let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let a = read.tensor("a").unwrap();
    assert_eq!(a.shape(), [2, 3]);
    assert_eq!(a.data()[4..8], 1.0f32.to_le_bytes());
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let mut expected: HashMap<String, String> = checkpoint(3).facts.into_iter().collect();
    let facts = header.metadata().clone().unwrap();
    expected.insert("checksum".to_string(), facts["checksum"].clone());
    assert_eq!(facts, expected);
}

#[test]
fn a_checkpoint_that_could_not_be_read_is_not_written() {
    let folder = folder();
    let run = RunDirectory::create(folder.path()).unwrap();
    let (axioms, metrics) = names();
    let mut log = run.metrics_log(&axioms, &metrics, None).unwrap();
    run.write_checkpoint(&mut log, &checkpoint(1)).unwrap();
    let tensor = |name: &str, shape: &[usize], values: &[f32]| -> NamedTensor {
        (name.into(), shape.to_vec(), values.to_vec())
    };
    let wrong = [
        (vec![], "holds no tensors"),
        (vec![tensor("w", &[2], &[1.0])], "does not fit"),
        (vec![tensor("w", &[], &[1.0])], "does not fit"),
        (vec![tensor("w", &[0], &[])], "does not fit"),
        (vec![tensor("w", &[usize::MAX, 4], &[1.0])], "does not fit"),
        (vec![tensor("w", &[2], &[1.0, f32::NAN])], "number 1 is NaN"),
        (
            vec![tensor("__metadata__", &[1], &[1.0])],
            "cannot have the name",
        ),
        (
            vec![tensor("w", &[1], &[1.0]), tensor("w", &[1], &[2.0])],
            "two tensors `w`",
        ),
    ];
    for (tensors, expected) in wrong {
        let bad = State {
            tensors,
            facts: BTreeMap::new(),
        };
        let text = run
            .write_checkpoint(&mut log, &bad)
            .unwrap_err()
            .to_string();
        assert!(text.contains(expected), "{text}");
        let kept = run.checkpoint().unwrap().unwrap();
        assert_eq!(kept.facts["step"], "1");
        assert_eq!(kept.tensor("b"), Some((&[2][..], &[1.0, -1.5][..])));
    }
}

#[test]
fn a_damaged_checkpoint_is_named() {
    let folder = folder();
    let run = RunDirectory::create(folder.path()).unwrap();
    let bytes = encode(&checkpoint(1)).unwrap();
    fs::write(
        run.file("checkpoint.safetensors"),
        &bytes[..bytes.len() - 1],
    )
    .unwrap();
    let text = run.checkpoint().unwrap_err().to_string();
    assert!(text.contains("checkpoint.safetensors"), "{text}");
    let strange = b"\x20\0\0\0\0\0\0\0{\"__metadata__\":{\"step\":[1,2,3]}}";
    assert!(decode(strange, "a").is_err());
}

#[test]
fn records_come_back_as_they_were() {
    let folder = folder();
    let run = RunDirectory::create(folder.path()).unwrap();
    let (axioms, metrics) = names();
    let mut log = run.metrics_log(&axioms, &metrics, None).unwrap();
    for step in 1..=5 {
        log.append(&record(step)).unwrap();
    }
    log.sync().unwrap();
    let mut reader = run.records().unwrap();
    let read: Vec<StepRecord> = reader.by_ref().map(Result::unwrap).collect();
    assert_eq!(read, (1..=5).map(record).collect::<Vec<_>>());
    assert_eq!(reader.axiom_names(), axioms);

    let csv = fs::read_to_string(run.file("metrics.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "step,loss,sat,gradient_norm,step_time,metric:ari,metric:acc,axiom:covered,\"axiom:types[a,b] c\""
    );
    assert_eq!(lines.len(), 6);
    assert!(lines[1].starts_with("1,0.1,-0.1,1e-300,"), "{}", lines[1]);
    assert!(
        lines[1].ends_with(",0.002,,,-0.3333333333333333,"),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].ends_with(",0.002,0.7,,-0.3333333333333333,"),
        "{}",
        lines[2]
    );
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let folder = folder();
    let run = RunDirectory::create(folder.path()).unwrap();
    let (axioms, metrics) = names();
    let mut log = run.metrics_log(&axioms, &metrics, None).unwrap();
    let mut wrong = record(1);
    wrong.axioms.pop();
    assert!(
        log.append(&wrong)
            .unwrap_err()
            .to_string()
            .contains("1 axioms")
    );
    let mut wrong = record(1);
    wrong.metrics.push(("f1".into(), 0.0));
    assert!(log.append(&wrong).unwrap_err().to_string().contains("`f1`"));
}

#[test]
fn a_resumed_log_forgets_later_steps_and_torn_lines() {
    let (axioms, metrics) = names();
    let whole = |steps: std::ops::Range<u64>| {
        let folder = folder();
        let run = RunDirectory::create(folder.path()).unwrap();
        let mut log = run.metrics_log(&axioms, &metrics, None).unwrap();
        steps.for_each(|step| log.append(&record(step)).unwrap());
        log.sync().unwrap();
        let read = |name| fs::read(run.file(name)).unwrap();
        (read("metrics.csv"), read("metrics.jsonl"))
    };
    let (csv, jsonl) = whole(1..21);
    let expected = whole(1..13);
    // Cut anywhere after step 10's lines, resumed at step 10, and two more steps done.
    let after_ten = whole(1..11);
    for cut in (0..csv.len() - after_ten.0.len()).step_by(5) {
        let folder = folder();
        let cut_jsonl = jsonl.len().min(after_ten.1.len() + cut);
        fs::write(
            folder.path().join("metrics.csv"),
            &csv[..after_ten.0.len() + cut],
        )
        .unwrap();
        fs::write(folder.path().join("metrics.jsonl"), &jsonl[..cut_jsonl]).unwrap();
        fs::write(folder.path().join("run.lock"), "").unwrap();
        let run = RunDirectory::resume(folder.path()).unwrap();
        let mut log = run.metrics_log(&axioms, &metrics, Some(10)).unwrap();
        log.append(&record(11)).unwrap();
        log.append(&record(12)).unwrap();
        drop(log);
        assert_eq!(fs::read(run.file("metrics.csv")).unwrap(), expected.0);
        assert_eq!(fs::read(run.file("metrics.jsonl")).unwrap(), expected.1);
    }
    // Without a checkpoint everything starts again.
    let folder = folder();
    fs::write(folder.path().join("metrics.csv"), &csv).unwrap();
    fs::write(folder.path().join("run.lock"), "").unwrap();
    let run = RunDirectory::resume(folder.path()).unwrap();
    drop(run.metrics_log(&axioms, &metrics, None).unwrap());
    assert_eq!(fs::read(run.file("metrics.csv")).unwrap(), whole(1..1).0);
}

/// Damage before the checkpoint: the records are refused, the table is made from them.
#[test]
fn damaged_metrics_are_refused_or_made_again() {
    let (axioms, metrics) = names();
    let folder = folder();
    let run = RunDirectory::create(folder.path()).unwrap();
    let mut log = run.metrics_log(&axioms, &metrics, None).unwrap();
    (1..9).for_each(|step| log.append(&record(step)).unwrap());
    drop(log);
    let [csv, jsonl] = ["metrics.csv", "metrics.jsonl"].map(|name| run.file(name));
    let [table, records] = [&csv, &jsonl].map(|path| fs::read(path).unwrap());
    for at in (0..table.len()).step_by(7) {
        let mut damaged = table.clone();
        damaged[at] ^= 4;
        damaged.truncate(table.len() - at % 3);
        fs::write(&csv, damaged).unwrap();
        drop(run.metrics_log(&axioms, &metrics, Some(8)).unwrap());
        assert_eq!(fs::read(&csv).unwrap(), table, "byte {at}");
    }
    for at in (0..records.len() - 30).step_by(7) {
        let mut damaged = records.clone();
        damaged[at] ^= 1;
        fs::write(&jsonl, damaged).unwrap();
        let wrong = run.metrics_log(&axioms, &metrics, Some(8));
        let wrong = wrong.map(drop).expect_err("a damage").to_string();
        // In the checksum's own key a line that has none is left, with another.
        let said = ["is missing or damaged", "unknown field"];
        assert!(said.iter().any(|said| wrong.contains(said)), "{wrong}");
        // And nothing was cut.
        assert_eq!(fs::read(&jsonl).unwrap().len(), records.len());
    }
    fs::write(&jsonl, &records[..records.len() - 5]).unwrap();
    assert!(run.metrics_log(&axioms, &metrics, Some(8)).is_err());
    // Lines that are gone, there twice or moved, each of them whole.
    let lines: Vec<&str> = std::str::from_utf8(&records).unwrap().lines().collect();
    for order in [
        &[0, 1, 3, 4, 5, 6, 7][..],
        &[0, 1, 1, 2, 3, 4, 5, 6, 7],
        &[0, 2, 1, 3, 4, 5, 6, 7],
    ] {
        let text: String = order.iter().map(|at| format!("{}\n", lines[*at])).collect();
        fs::write(&jsonl, text).unwrap();
        assert!(run.metrics_log(&axioms, &metrics, Some(8)).is_err());
        let read: Result<Vec<StepRecord>, Diagnostics> = run.records().unwrap().collect();
        let wrong = read.unwrap_err().to_string();
        assert!(wrong.contains("this is the record of step"), "{wrong}");
    }
}

#[test]
fn a_line_that_is_no_record_is_named() {
    let folder = folder();
    let path = folder.path().join("metrics.jsonl");
    let good = record(1).to_json_line(&names().0);
    for (text, expected) in [
        (
            format!("{good}{{}}\n"),
            "metrics.jsonl:2: the line is not a record",
        ),
        (
            format!(
                "{good}{}",
                record(2).to_json_line(&["other".into(), "b".into()])
            ),
            "differ from those in the first",
        ),
        (
            format!("{good}{}", good.replace("1e-300", "1e-301")),
            "metrics.jsonl:2: the line is damaged",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let run = RunDirectory::open(folder.path()).unwrap();
        let read: Result<Vec<StepRecord>, Diagnostics> = run.records().unwrap().collect();
        let wrong = read.unwrap_err().to_string();
        assert!(wrong.contains(expected), "{wrong}");
    }
    // A torn last line is not a mistake.
    fs::write(&path, format!("{good}{}", &good[..10])).unwrap();
    let run = RunDirectory::open(folder.path()).unwrap();
    assert_eq!(run.records().unwrap().count(), 1);
}

fn any_checkpoint() -> impl Strategy<Value = State> {
    let values = prop::collection::vec(-1e30f32..1e30, 1..12);
    let tensors = prop::collection::btree_map(".{0,6}", values, 1..6);
    let meta = prop::collection::btree_map(".{0,6}", ".{0,20}", 0..4);
    (tensors, meta).prop_map(|(tensors, facts)| State {
        tensors: (tensors.into_iter())
            .map(|(name, values)| (name, vec![1, values.len()], values))
            .collect(),
        facts,
    })
}

proptest! {
    #[test]
    fn checkpoints_come_back_bit_for_bit(checkpoint in any_checkpoint()) {
        let bytes = encode(&checkpoint).unwrap();
        let read = decode(&bytes, "a").unwrap();
        prop_assert_eq!(&read, &checkpoint);
        prop_assert_eq!(encode(&read).unwrap(), bytes);
    }

    #[test]
    fn no_bytes_make_decoding_panic(mut bytes in any_checkpoint().prop_map(|c| encode(&c).unwrap()),
                                    at in any::<prop::sample::Index>(), byte in any::<u8>(), keep in any::<prop::sample::Index>()) {
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(1 + keep.index(bytes.len()));
        let _ = decode(&bytes, "a");
    }

    #[test]
    fn numbers_come_back_bit_for_bit(loss in any::<f64>(), axiom in any::<f64>(), step in any::<u64>()) {
        let original = StepRecord { step, loss, axioms: vec![axiom], ..StepRecord::default() };
        let (read, _) = StepRecord::from_json_line(&original.to_json_line(&["a".to_string()])).unwrap();
        let finite = |value: f64| if value.is_finite() { value } else { f64::NAN };
        let expected = StepRecord { loss: finite(loss), axioms: vec![finite(axiom)], ..original };
        prop_assert_eq!(read, expected);
    }
}

/// Whoever follows a run does not wait for its next checkpoint.
#[test]
fn records_can_be_read_soon() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(&folder.path().join("a")).unwrap();
    let mut log = run.metrics_log(&[], &[], None).unwrap();
    let mut append = |step| {
        let record = StepRecord {
            step,
            ..StepRecord::default()
        };
        log.append(&record).unwrap();
        run.records().unwrap().count()
    };
    append(1);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(append(2), 2);
}
