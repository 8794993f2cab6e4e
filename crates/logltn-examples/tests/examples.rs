//! Every example is written, trained and shown, on stand-in data, and learns what it is about.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use logltn::Diagnostics;
use logltn_examples::{EXAMPLES, Shown, Sources, example};
use logltn_train::project::Project;
use logltn_train::run_directory::RunDirectory;
use logltn_train::train::{RunOptions, TrainOptions, Trainer, run};

/// Trains an example and returns its metrics and what it shows.
fn trained(name: &str, steps: Option<u64>) -> (Vec<(String, f64)>, Shown) {
    let folder = tempfile::tempdir().unwrap();
    let example = example(name).unwrap();
    let sources = Sources {
        stand_ins: true,
        ..Sources::default()
    };
    let written = example.write(&sources, folder.path()).unwrap();
    let mut trainer = Trainer::new(
        loaded(&written.manifest),
        &TrainOptions {
            steps,
            ..TrainOptions::default()
        },
    )
    .unwrap();
    let place = folder.path().join("run");
    let directory = RunDirectory::create(&place).unwrap();
    let stop = AtomicBool::new(false);
    run(
        &mut trainer,
        &directory,
        &RunOptions::default(),
        &stop,
        &mut (),
    )
    .unwrap();
    let metrics = trainer.measure().unwrap();
    let shown = example.show(&written.manifest, &place).unwrap();
    for picture in &shown.pictures {
        assert!(picture.is_file(), "{}", picture.display());
    }
    (metrics, shown)
}

fn loaded(manifest: &Path) -> Project {
    let mut found = Diagnostics::new();
    let project = Project::load(manifest, &mut found).unwrap_or_else(|| panic!("{found}"));
    assert!(
        found.is_empty(),
        "a shipped manifest warns of nothing: {found}"
    );
    project
}

fn metric(metrics: &[(String, f64)], name: &str) -> f64 {
    let found = metrics.iter().find(|(metric, _)| metric == name);
    found
        .unwrap_or_else(|| panic!("{name} is not among {metrics:?}"))
        .1
}

/// A figure of the table of figures, which is the last.
fn figure(shown: &Shown, name: &str) -> f64 {
    let rows = &shown.tables.last().unwrap().rows;
    let row = rows.iter().find(|row| row[0] == name);
    row.unwrap_or_else(|| panic!("{name} is not in {rows:?}"))[1]
        .parse()
        .unwrap()
}

#[test]
fn binary() {
    let (metrics, shown) = trained("binary", None);
    assert!(metric(&metrics, "accuracy(A)") >= 0.95);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn hierarchy() {
    let (metrics, shown) = trained("hierarchy", None);
    assert!(metric(&metrics, "accuracy(is)") >= 0.93);
    let rows = &shown.tables[0].rows;
    let right = |row: usize| {
        rows[row][1]
            .split(' ')
            .next()
            .map(|n| n.parse::<u32>().unwrap())
    };
    assert_eq!(rows[1][2], "0", "no world breaks a law: {rows:?}");
    assert!(right(1) >= right(0), "{rows:?}");
}

#[test]
fn iris() {
    let (metrics, shown) = trained("iris", None);
    assert!(metric(&metrics, "accuracy(P)") >= 0.9);
    let tested: u32 = (shown.tables[0].rows.iter())
        .flat_map(|row| row[1..].iter().map(|cell| cell.parse::<u32>().unwrap()))
        .sum();
    assert_eq!(tested, 30);
}

#[test]
fn crabs() {
    let (metrics, shown) = trained("crabs", None);
    assert!(metric(&metrics, "1 - Hamming loss") >= 0.9);
    assert!(figure(&shown, "truth of `blue_is_not_orange`") > 0.8);
    assert!(figure(&shown, "truth of `blue_is_orange`") < 0.3);
}

#[test]
fn real_estate() {
    // The standard deviation of the prices is 13.6; what a straight line leaves of it, 9.
    let (metrics, shown) = trained("real-estate", None);
    assert!(metric(&metrics, "rmse(f)") <= 10.5);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn embeddings() {
    let (metrics, shown) = trained("embeddings", None);
    assert!(metric(&metrics, "f1(near)") >= 0.85);
    let next = &shown.tables[0].rows;
    assert!(
        next[..2]
            .iter()
            .any(|row| row[0] == "france" || row[0] == "spain"),
        "{next:?}"
    );
}

#[test]
fn stories() {
    let (_, shown) = trained("stories", None);
    let [rules, right, story] = &shown.tables[..] else {
        panic!("{:?}", shown.tables);
    };
    let sure = rules.rows.iter().filter(|row| row[4] == "yes");
    assert_eq!((sure.count(), rules.rows.len()), (20, 20), "{rules:?}");
    for row in &right.rows {
        let count: u32 = row[1].split(' ').next().unwrap().parse().unwrap();
        assert!(count >= 27, "{right:?}");
    }
    // Ten steps are put together nine times.
    assert_eq!(story.rows.len(), 9, "{story:?}");
    assert!(story.title.ends_with(&story.rows[8][3]), "{story:?}");
}

#[test]
fn clustering() {
    let (metrics, shown) = trained("clustering", None);
    assert!(metric(&metrics, "adjusted_rand_index(C)") >= 0.95);
    assert!(figure(&shown, "satisfaction") >= 0.854);
}

#[test]
fn smokes() {
    let (_, shown) = trained("smokes", None);
    assert!(figure(&shown, "satisfaction") >= 0.857);
    assert!(figure(&shown, "truth of `only_smokers`") > 0.8);
    assert!(figure(&shown, "truth of `ill_friends`") < 0.4);
    assert_eq!(shown.tables[0].rows.len(), 14);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn ancestors() {
    let (metrics, shown) = trained("ancestors", None);
    assert!(metric(&metrics, "f1(ancestor)") >= 0.9);
    assert!(figure(&shown, "satisfaction") >= 0.936);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn propositions() {
    let (_, shown) = trained("propositions", None);
    assert!(figure(&shown, "satisfaction") >= 0.956);
    let now: Vec<f64> = (shown.tables[0].rows.iter())
        .map(|row| row[2].parse().unwrap())
        .collect();
    assert!(now[0] < 0.1 && now[1] < 0.2 && now[2] > 0.9, "{now:?}");
    // What is given stays as it is.
    assert_eq!(now[3..5], [0.3, 0.9]);
    assert_eq!(shown.tables[0].rows.len(), 8);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn sums_of_digits() {
    let (metrics, shown) = trained("mnist-add", Some(94));
    assert!(metric(&metrics, "digits") > 0.4);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn sudoku() {
    let (metrics, shown) = trained("sudoku", Some(60));
    assert!(metric(&metrics, "digits") > 0.5);
    assert_eq!(shown.pictures.len(), 1);
}

#[test]
fn sudoku_of_nine() {
    // Better than chance after a few steps; the whole of it takes a quarter of a minute.
    let (metrics, _) = trained("sudoku-9", Some(25));
    assert!(metric(&metrics, "digits") > 0.22);
}

#[test]
fn names_are_unique_and_meant() {
    for example in EXAMPLES {
        let same = EXAMPLES.iter().filter(|e| e.name == example.name);
        assert_eq!(same.count(), 1, "{}", example.name);
    }
    let error = example("smoke").unwrap_err().to_string();
    assert!(error.contains("did you mean `smokes`"), "{error}");
}

#[test]
fn data_that_are_named_but_broken_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources {
        data: Some(folder.path().to_path_buf()),
        stand_ins: false,
    };
    let classics = folder.path().join("classics");
    std::fs::create_dir(&classics).unwrap();
    let write = |iris: &str| {
        let error = example(iris)
            .unwrap()
            .write(&sources, &folder.path().join("out"));
        error.unwrap_err().to_string()
    };
    let error = write("crabs");
    assert!(error.contains("`crabs.dat` missing"), "{error}");
    std::fs::write(
        classics.join("crabs.dat"),
        "sp sex index FL RW CL CW BD\nB X 1 1 2 3 4 5\n",
    )
    .unwrap();
    let error = write("crabs");
    assert!(
        error.contains("crabs.dat, line 2: `X` is neither `M` nor `F`"),
        "{error}"
    );
}
