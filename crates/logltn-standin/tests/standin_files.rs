//! The data files of `theories/` are what the generator makes, and fit the theories that use them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../examples/make_standin/made.rs"]
mod made;

use logltn_standin::ontology::{TYPES, type_id};
use made::theory_files;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn committed(path: &str) -> Vec<u8> {
    let path = root().join("theories").join(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Header and rows of a committed CSV.
fn csv(path: &str) -> (String, Vec<Vec<String>>) {
    let text = String::from_utf8(committed(path)).expect("CSV files are UTF-8");
    let mut lines = text.lines();
    let header = lines.next().expect("a header").to_owned();
    let rows: Vec<Vec<String>> = lines
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let width = header.split(',').count();
    assert!(
        rows.iter().all(|row| row.len() == width),
        "{path}: ragged rows"
    );
    (header, rows)
}

fn numbers(path: &str, header: &str) -> Vec<Vec<usize>> {
    let (found, rows) = csv(path);
    assert_eq!(found, header, "{path}");
    rows.iter()
        .map(|row| {
            row.iter()
                .map(|cell| cell.parse().expect("a number"))
                .collect()
        })
        .collect()
}

#[test]
fn committed_files_are_what_the_generator_makes() {
    let labels =
        fs::read(root().join("data/mnist/train-labels-idx1-ubyte.gz")).expect("MNIST's labels");
    let made: BTreeMap<&str, Vec<u8>> = (theory_files(&labels).expect("files"))
        .into_iter()
        .map(|file| (file.path, file.bytes))
        .collect();
    for (path, bytes) in &made {
        assert!(
            committed(path) == *bytes,
            "theories/{path} differs: run `cargo run -p logltn-standin --example make_standin`"
        );
    }
    // Nothing else may lie in the data folders: it would be a file that no one can make again.
    for folder in ["clustering", "mnist_add", "pascal_part"] {
        for entry in fs::read_dir(root().join("theories").join(folder)).expect("folder") {
            let name = format!(
                "{folder}/{}",
                entry.expect("entry").file_name().to_string_lossy()
            );
            assert!(
                made.contains_key(name.as_str()),
                "theories/{name} is not made by the generator"
            );
        }
    }
    let size: usize = made.values().map(Vec::len).sum();
    assert!(size < 2_000_000, "{size} bytes");
}

#[test]
fn labels_that_are_not_mnists_are_refused() {
    assert!(theory_files(b"not gzip").is_err());
}

/// Every file that a manifest names is there.
#[test]
fn manifests_name_files_that_exist() {
    for manifest in ["clustering.toml", "mnist_add.toml", "pascal_part.toml"] {
        let text = String::from_utf8(committed(manifest)).expect("UTF-8");
        let files: Vec<&str> = (text.lines().filter(|line| !line.starts_with('#')))
            .flat_map(|line| line.split('"').skip(1).step_by(2))
            .filter(|quoted| {
                [".ltn", ".csv", ".gz", ".safetensors"]
                    .iter()
                    .any(|end| quoted.ends_with(end))
            })
            .collect();
        assert!(files.len() >= 3, "{manifest} names only {files:?}");
        for file in files {
            assert!(
                root().join("theories").join(file).is_file(),
                "{manifest} names `{file}`"
            );
        }
    }
}

#[test]
fn sums_name_distinct_images_that_are_not_held_out() {
    let sums = numbers("mnist_add/sums.csv", "x1,x2,y1,y2,n");
    assert_eq!(sums.len(), 1500);
    let images: BTreeSet<usize> = sums.iter().flat_map(|row| &row[..4]).copied().collect();
    assert_eq!(images, (0..6000).collect());
    assert!(sums.iter().all(|row| row[4] <= 198));
    for row in numbers("mnist_add/held_out_digits.csv", "x,d") {
        assert!((6000..60_000).contains(&row[0]) && row[1] < 10);
    }
}

#[test]
fn pascal_part_tables_are_in_range_and_keep_test_pictures_apart() {
    let bytes = committed("pascal_part/boxes.safetensors");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("safetensors");
    let roi = tensors.tensor("roi").expect("roi");
    let position = tensors.tensor("position").expect("position");
    let boxes = roi.shape()[0];
    assert_eq!(
        (roi.shape(), position.shape()),
        (&[boxes, 64][..], &[boxes, 4][..])
    );
    for edges in position.data().chunks(16) {
        let edge =
            |i: usize| f32::from_le_bytes(edges[4 * i..4 * i + 4].try_into().expect("four bytes"));
        assert!(0.0 <= edge(0) && edge(0) < edge(2) && edge(2) <= 1.0);
        assert!(0.0 <= edge(1) && edge(1) < edge(3) && edge(3) <= 1.0);
    }

    let training: BTreeSet<usize> = numbers("pascal_part/boxes.csv", "x")
        .into_iter()
        .map(|row| row[0])
        .collect();
    let (header, rows) = csv("pascal_part/test_labelled.csv");
    assert_eq!(header, "x,t");
    let test: BTreeSet<usize> = rows
        .iter()
        .map(|row| row[0].parse().expect("a box"))
        .collect();
    assert!(training.is_disjoint(&test));
    assert_eq!(
        training.union(&test).copied().collect::<Vec<_>>(),
        (0..boxes).collect::<Vec<_>>()
    );

    for table in ["parts", "not_parts", "pairs"] {
        let rows = numbers(&format!("pascal_part/{table}.csv"), "x,y");
        assert!(rows.len() >= 32, "{table} has less than a batch");
        assert!(
            rows.iter()
                .all(|row| row[0] != row[1] && row.iter().all(|x| training.contains(x))),
            "{table}"
        );
        assert_eq!(
            rows.iter().collect::<BTreeSet<_>>().len(),
            rows.len(),
            "{table} repeats rows"
        );
    }
    let known_parts: BTreeSet<Vec<usize>> = numbers("pascal_part/parts.csv", "x,y")
        .into_iter()
        .collect();
    assert!(
        numbers("pascal_part/not_parts.csv", "x,y")
            .iter()
            .all(|row| !known_parts.contains(row))
    );
    let pairs = numbers("pascal_part/test_pairs.csv", "x,y,truth");
    assert!(
        pairs
            .iter()
            .all(|row| test.contains(&row[0]) && test.contains(&row[1]))
    );
    let positives = pairs.iter().filter(|row| row[2] == 1).count();
    assert!(
        positives > 50 && pairs.iter().all(|row| row[2] <= 1),
        "{positives}"
    );

    let (header, labelled) = csv("pascal_part/labelled.csv");
    assert_eq!(header, "x,t");
    assert!(labelled.len() >= 32);
    for row in labelled.iter().chain(&rows) {
        assert!(type_id(&row[1]).is_some_and(|t| t != 0), "{row:?}");
    }
    for row in &labelled {
        assert!(
            training.contains(&row[0].parse().expect("a box")),
            "{row:?}"
        );
    }
    // Individuals have no header.
    let (first, others) = csv("pascal_part/classes.csv");
    let others = others.iter().map(|row| row[0].as_str());
    assert!(std::iter::once(&*first).chain(others).eq(TYPES));
    let (header, ontology) = csv("pascal_part/ontology.csv");
    assert_eq!(header, "whole,part");
    assert!(
        ontology
            .iter()
            .flatten()
            .all(|name| type_id(name).is_some())
    );
}
