//! The paper's tables in small: few steps, few runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use logltn_paper::{
    Configuration, Job, Options, Quiet, Reproduced, RunRecord, Table, Task, Watch, reproduce,
};
use tempfile::TempDir;

fn configurations(names: &[&str]) -> Vec<Configuration> {
    (names.iter())
        .map(|name| Configuration::named(name).expect("a configuration of the paper"))
        .collect()
}

/// Clustering of the stand-in, whatever lies elsewhere on this machine.
fn clustering(folder: &TempDir, names: &[&str]) -> Options {
    let nothing = folder.path().join("no-data");
    std::fs::create_dir_all(&nothing).expect("a folder");
    Options {
        runs: Some(2),
        configurations: configurations(names),
        steps: Some(4),
        data: Some(nothing),
        out: Some(folder.path().join("table")),
        ..Options::default()
    }
}

fn finished(task: Task, options: &Options) -> Table {
    match reproduce(task, options, &AtomicBool::new(false), &Quiet) {
        Ok(Reproduced::Finished(table)) => *table,
        Ok(other) => panic!("{other:?}"),
        Err(errors) => panic!("{errors}"),
    }
}

fn refused(task: Task, options: &Options) -> String {
    match reproduce(task, options, &AtomicBool::new(false), &Quiet) {
        Ok(done) => panic!("{done:?}"),
        Err(errors) => errors.to_string(),
    }
}

/// Lets the first thread that makes a step finish its run and asks for a stop then; all others wait for that, so that
/// exactly one run gets done, however many cores there are.
struct StopAfterOne<'a> {
    stop: &'a AtomicBool,
    first: OnceLock<ThreadId>,
    done: Mutex<Vec<String>>,
}

impl Watch for StopAfterOne<'_> {
    fn begin(&self, _: &str, _: usize, _: usize, _: u64) {}
    fn steps(&self, _: u64) {
        let own = std::thread::current().id();
        if *self.first.get_or_init(|| own) == own {
            return;
        }
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    fn finished(&self, job: &Job, _: &RunRecord) {
        self.stop.store(true, Ordering::Relaxed);
        self.done.lock().expect("no panic").push(job.title());
    }
}

#[test]
fn an_interrupted_table_goes_on_to_the_same_figures() {
    let folder = TempDir::new().expect("a folder");
    let options = clustering(&folder, &["logltn", "prod", "logltn-max"]);
    let stop = AtomicBool::new(false);
    let watch = StopAfterOne {
        stop: &stop,
        first: OnceLock::new(),
        done: Mutex::new(Vec::new()),
    };
    let first = reproduce(Task::Clustering, &options, &stop, &watch).expect("no error");
    assert!(
        matches!(first, Reproduced::Interrupted { done: 1, of: 6 }),
        "{first:?}"
    );
    assert_eq!(watch.done.into_inner().expect("no panic").len(), 1);
    // What is there stays as it is: a mark in it survives.
    let runs = folder.path().join("table/runs");
    let kept = std::fs::read_dir(&runs)
        .expect("runs")
        .next()
        .expect("one run")
        .expect("readable")
        .path();
    let mut record: RunRecord =
        serde_json::from_slice(&std::fs::read(&kept).expect("a file")).expect("a record");
    record.seconds = 12345.0;
    std::fs::write(&kept, serde_json::to_vec(&record).expect("JSON")).expect("written");

    let resumed = finished(Task::Clustering, &options);
    let again: RunRecord =
        serde_json::from_slice(&std::fs::read(&kept).expect("a file")).expect("a record");
    assert_eq!(again.seconds, 12345.0);

    let elsewhere = TempDir::new().expect("a folder");
    let whole = finished(
        Task::Clustering,
        &clustering(&elsewhere, &["logltn", "prod", "logltn-max"]),
    );
    let figures = |table: &Table| -> Vec<Vec<f64>> {
        table.cells.iter().map(|cell| cell.runs.clone()).collect()
    };
    assert_eq!(figures(&resumed), figures(&whole));
}

#[test]
fn the_json_and_the_files_of_a_table() {
    let folder = TempDir::new().expect("a folder");
    let table = finished(
        Task::Clustering,
        &clustering(&folder, &["stable-6", "logltn"]),
    );
    let json = table.json();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        let object = value.as_object().expect("an object");
        let mut keys: Vec<String> = object.keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&json), ["cells", "data", "seconds", "task"]);
    assert_eq!(json["task"], "clustering");
    assert_eq!(json["data"], "stand-in");
    let cells = json["cells"].as_array().expect("cells");
    let names: Vec<&str> = cells.iter().filter_map(|c| c["config"].as_str()).collect();
    assert_eq!(names, ["stable-6", "logltn"]);
    for cell in cells {
        assert_eq!(
            keys(cell),
            [
                "config",
                "mean",
                "metric",
                "published",
                "runs",
                "samples",
                "sd"
            ]
        );
        assert_eq!(cell["metric"], "ari");
        assert!(cell["samples"].is_null());
        let runs: Vec<f64> =
            serde_json::from_value(cell["runs"].clone()).expect("a list of numbers");
        let mean = cell["mean"].as_f64().expect("a number");
        assert_eq!(runs.len(), 2);
        assert!((mean - (runs[0] + runs[1]) / 2.0).abs() < 1e-12);
        let sd = cell["sd"].as_f64().expect("a number");
        let half = (runs[0] - runs[1]) / 2.0;
        assert!((sd - (2.0 * half * half).sqrt()).abs() < 1e-12);
    }
    assert_eq!(cells[1]["published"]["mean"], 0.71);
    assert_eq!(cells[1]["published"]["sd"], 0.06);
    let read = |name: &str| std::fs::read(folder.path().join("table").join(name)).expect(name);
    for picture in ["assignments.svg", "curves.svg"] {
        assert!(read(picture).starts_with(b"<svg"), "{picture}");
    }
    let text = |name: &str| String::from_utf8(read(name)).expect("UTF-8");
    // Figures of made-up data must not look like the paper's.
    assert!(text("table.md").contains("STAND-IN") && !text("table.md").contains('▼'));
    assert!(text("report.html").contains("data:image/svg+xml;base64,"));
    assert_eq!(text("table.csv").lines().count(), 3);
}

#[test]
fn runs_of_another_table_are_not_mixed_in() {
    let folder = TempDir::new().expect("a folder");
    let options = clustering(&folder, &["logltn"]);
    finished(Task::Clustering, &options);
    let other = Options {
        percentile: 5.0,
        ..options.clone()
    };
    let message = refused(Task::Clustering, &other);
    assert!(
        message.contains("`percentile` was 2.5 there and is 5 now"),
        "{message}"
    );
    let other = Options { seed: 7, ..options };
    let message = refused(Task::Clustering, &other);
    assert!(
        message.contains("the seed was 0 there and is 7 now"),
        "{message}"
    );
}

#[test]
fn log_mean_exp_and_log_sum_exp_learn_the_same_from_the_same_seed() {
    let folder = TempDir::new().expect("a folder");
    let mut options = clustering(&folder, &["logltn", "logltn-lse"]);
    options.steps = Some(30);
    let table = finished(Task::Clustering, &options);
    let [mean, sum] = &table.cells[..] else {
        panic!("{:?}", table.cells)
    };
    for (a, b) in mean.runs.iter().zip(&sum.runs) {
        assert!((a - b).abs() < 0.02, "{a} and {b}");
    }
    // What differs is the value: a sum of truths can be more than true.
    assert!(sum.sat > mean.sat + 0.1, "{} and {}", sum.sat, mean.sat);
}

#[test]
fn numbers_of_digits_that_cannot_be_are_refused() {
    let options = Options {
        digits: vec![2, 0],
        ..Options::default()
    };
    let message = refused(Task::MultiAdd, &options);
    assert!(
        message.contains("numbers have from 1 to 100 digits"),
        "{message}"
    );
    let options = Options {
        digits: vec![2],
        configurations: configurations(&["stable-6"]),
        data: Some(repository().join("data")),
        ..Options::default()
    };
    let message = refused(Task::MultiAdd, &options);
    assert!(
        message.contains("multi-add has no configuration `stable-6`"),
        "{message}"
    );
    assert!(message.contains("it has `logltn`, `ceiling`"), "{message}");
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn mnist_add_learns_something_in_an_epoch() {
    let folder = TempDir::new().expect("a folder");
    let mut options = Options {
        runs: Some(1),
        configurations: configurations(&["logltn-sum"]),
        samples: vec![64, 640],
        epochs: Some(3),
        undecided: false,
        data: Some(repository().join("data")),
        out: Some(folder.path().join("table")),
        ..Options::default()
    };
    let table = finished(Task::MnistAdd, &options);
    let samples: Vec<Option<usize>> = table.cells.iter().map(|c| c.portion.samples).collect();
    assert_eq!(samples, [Some(64), Some(640)]);
    let json = table.json();
    assert_eq!(json["data"], "real");
    assert_eq!(json["cells"][0]["samples"], 64);
    assert!(json["cells"][0]["published"].is_null());
    // A guess is right about once in a hundred times.
    assert!(table.cells[1].mean > 4.0, "{}", table.cells[1].mean);
    assert!(folder.path().join("table/curves-640.svg").exists());

    options.samples = vec![15_001];
    let message = refused(Task::MnistAdd, &options);
    assert!(
        message.contains("15001 samples need 60004 images, but there are 60000"),
        "{message}"
    );
}

/// PASCAL-Part in small, on made-up pictures.
fn pascal_part(folder: &TempDir, names: &[&str]) -> Options {
    let nothing = folder.path().join("no-data");
    std::fs::create_dir_all(&nothing).expect("a folder");
    Options {
        runs: Some(1),
        configurations: configurations(names),
        steps: Some(4),
        pictures: Some(12),
        data: Some(nothing),
        out: Some(folder.path().join("table")),
        ..Options::default()
    }
}

#[test]
fn pascal_part_is_always_said_to_be_simulated() {
    let folder = TempDir::new().expect("a folder");
    let options = pascal_part(&folder, &["prod", "logltn"]);
    let table = finished(Task::PascalPart, &options);
    let json = table.json();
    assert_eq!(json["task"], "pascal-part");
    assert_eq!(json["data"], "simulated features");
    let cells: Vec<(&str, &str)> = (table.cells.iter())
        .map(|cell| (cell.metric.name, cell.configuration.name))
        .collect();
    let metrics = ["partof_ap", "type_accuracy", "violations"];
    let expected: Vec<(&str, &str)> = (metrics.iter())
        .flat_map(|&metric| [(metric, "prod"), (metric, "logltn")])
        .collect();
    assert_eq!(cells, expected);
    for cell in &table.cells[..4] {
        assert!(cell.mean > 0.0 && cell.mean <= 100.0, "{cell:?}");
    }
    assert_eq!(json["cells"][5]["published"]["mean"], 10_708.2);
    let read = |name: &str| std::fs::read(folder.path().join("table").join(name)).expect(name);
    assert!(read("curves.svg").starts_with(b"<svg"));
    for name in ["table.md", "report.html"] {
        let text = String::from_utf8(read(name)).expect("UTF-8");
        assert!(
            text.contains("SIMULATED features: average precision"),
            "{text}"
        );
        assert!(
            !text.contains('▲') && !text.contains('▼'),
            "no comparison is made"
        );
    }
    // What was run can be run by hand.
    let manifest = folder.path().join("table/work/pascal_part.toml");
    let mut found = logltn::Diagnostics::new();
    let project = logltn_train::project::Project::load(&manifest, &mut found);
    assert!(project.is_some(), "{found}");
}

#[test]
fn pascal_part_is_the_same_again_and_its_flags_make_a_difference() {
    let sat_of = |change: fn(&mut Options)| {
        let folder = TempDir::new().expect("a folder");
        let mut options = pascal_part(&folder, &["logltn"]);
        change(&mut options);
        let table = finished(Task::PascalPart, &options);
        let runs: Vec<f64> = table.cells.iter().map(|cell| cell.mean).collect();
        (table.cells[0].sat, runs)
    };
    let as_it_is = sat_of(|_| {});
    assert_eq!(as_it_is, sat_of(|_| {}));
    let different: [fn(&mut Options); 6] = [
        |options| options.released = true,
        |options| options.rectified = true,
        |options| options.examples_only = true,
        |options| options.noise = Some(0.5),
        |options| options.alpha_end = 5.0,
        |options| options.seed = 1,
    ];
    for (i, change) in different.into_iter().enumerate() {
        assert_ne!(as_it_is.0, sat_of(change).0, "{i}");
    }
}

#[test]
fn the_authors_features_are_read_where_they_are() {
    let folder = TempDir::new().expect("a folder");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut options = pascal_part(&folder, &["logltn"]);
    options.data = Some(data);
    options.pictures = None;
    let table = finished(Task::PascalPart, &options);
    assert_eq!(table.json()["data"], "real");
    assert!(
        table
            .data_title
            .starts_with("real: annotations and features")
    );
    assert!(!table.settings_line().contains("noise"));
    assert!(!table.settings_line().contains("rectified"));
    // How to simulate features is no question where there are some.
    options.rectified = true;
    let message = refused(Task::PascalPart, &options);
    assert!(message.contains("are for simulated features"), "{message}");
    // Three caps and heads, of 13 pairs.
    assert!(table.cells[0].mean > 10.0, "{:?}", table.cells[0]);
}

#[test]
fn pascal_part_refuses_what_it_cannot_use() {
    let folder = TempDir::new().expect("a folder");
    let options = pascal_part(&folder, &["logltn-max"]);
    let message = refused(Task::PascalPart, &options);
    assert!(
        message.contains("pascal-part has no configuration `logltn-max`"),
        "{message}"
    );

    let mut options = pascal_part(&folder, &["logltn"]);
    options.noise = Some(-1.0);
    assert!(refused(Task::PascalPart, &options).contains("`--noise -1` is not"));
    options.noise = None;
    options.pictures = Some(0);
    assert!(refused(Task::PascalPart, &options).contains("nothing to learn from"));

    options.pictures = Some(3);
    let data = folder.path().join("data/pascal-part");
    std::fs::create_dir_all(data.join("test")).expect("a folder");
    std::fs::write(data.join("test/box_features.hdf5"), b"").expect("written");
    options.data = Some(folder.path().join("data"));
    let message = refused(Task::PascalPart, &options);
    assert!(
        message.contains("but no `trainval/box_features.hdf5`"),
        "{message}"
    );

    std::fs::remove_file(data.join("test/box_features.hdf5")).expect("removed");
    for name in ["trainval_boxes.csv.gz", "test_boxes.csv.gz"] {
        std::fs::write(data.join(name), b"\x1f\x8bnot packed").expect("written");
    }
    let message = refused(Task::PascalPart, &options);
    assert!(
        message.contains("trainval_boxes.csv.gz: the gzip file is"),
        "{message}"
    );
    assert!(
        message.contains("test_boxes.csv.gz: the gzip file is"),
        "{message}"
    );
}

#[test]
fn shortcuts_have_names_and_go_on_where_they_were_stopped() {
    let folder = TempDir::new().expect("a folder");
    let options = Options {
        runs: Some(1),
        steps: Some(2),
        parts: vec!["parity".into(), "half".into()],
        semantics: vec!["stable".into()],
        out: Some(folder.path().join("table")),
        ..Options::default()
    };
    let stop = AtomicBool::new(false);
    let watch = StopAfterOne {
        stop: &stop,
        first: OnceLock::new(),
        done: Mutex::default(),
    };
    let stopped = reproduce(Task::Shortcuts, &options, &stop, &watch);
    let Ok(Reproduced::Interrupted { done: 1, of: 8 }) = stopped else {
        panic!("{stopped:?}");
    };
    let first = watch.done.into_inner().expect("no panic").remove(0);
    assert!(
        first.starts_with("stable-2") && first.contains("MNAdd-Half"),
        "{first}"
    );
    let table = finished(Task::Shortcuts, &options);
    // Two tasks, four kinds of help, four metrics.
    assert_eq!(table.cells.len(), 32);
    assert!(table.cells.iter().all(|cell| cell.mean.is_finite()));
    let titles: Vec<String> = table.sections().into_iter().map(|s| s.title).collect();
    assert!(
        titles[0].starts_with("MNAdd-Half: accuracy of single concepts"),
        "{titles:?}"
    );
    assert!(
        titles[7].starts_with("MNLogic, parity of four: expected"),
        "{titles:?}"
    );
    assert_eq!(table.json()["cells"][0]["part"], "MNAdd-Half");
    let page = std::fs::read_to_string(folder.path().join("table/table.md")).expect("a table");
    assert!(page.contains("arXiv:2505.13138"), "{page}");

    let other = |change: fn(&mut Options)| {
        let mut options = options.clone();
        change(&mut options);
        refused(Task::Shortcuts, &options)
    };
    let found = other(|o| o.parts = vec!["hlaf".into()]);
    assert!(
        found.contains("there is no task `hlaf`") && found.contains("`half`"),
        "{found}"
    );
    let found = other(|o| o.semantics = vec!["godel".into()]);
    assert!(found.contains("not run under `godel`"), "{found}");
    let found = other(|o| o.steps = Some(3));
    assert!(
        found.contains("`steps` was 2 there and is 3 now"),
        "{found}"
    );
}
