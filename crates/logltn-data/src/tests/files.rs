//! Reading from disk: what is not there, and real data where it is at hand.

use std::fs;
use std::path::{Path, PathBuf};

use super::writers::{f32s, gzip, idx, npy};
use crate::{CsvFile, Values, read_bytes, read_fields, read_idx, read_individuals};

fn message<T: std::fmt::Debug>(
    result: Result<T, logltn_diagnostics::Diagnostics>,
    folder: &Path,
) -> String {
    let text = result.unwrap_err().to_string();
    text.replace(&folder.display().to_string(), "DIR")
}

#[test]
fn reads_every_format_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.csv"), "x,y\n1,2\n").unwrap();
    fs::write(
        path("a.npy"),
        npy("<f4", false, &[1, 2], &f32s(&[1.0, 2.0])),
    )
    .unwrap();
    fs::write(path("a-ubyte.gz"), gzip(&idx(0x08, &[1, 2], &[1, 2]))).unwrap();
    for name in ["a.csv", "a.npy", "a-ubyte.gz"] {
        let fields = read_fields(&path(name)).unwrap();
        assert_eq!(fields[0].array.to_f64(), [1.0, 2.0], "{name}");
    }
    assert_eq!(read_fields(&path("a.npy")).unwrap()[0].array.shape, [1, 2]);
    assert_eq!(CsvFile::read(&path("a.csv")).unwrap().rows(), 1);
    assert_eq!(
        read_individuals(&path("a.csv"), "T")
            .unwrap_err()
            .error_count(),
        2
    );
}

#[test]
fn a_missing_file_suggests_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("points.csv"), "x\n1\n").unwrap();
    fs::write(path("boxes.safetensors"), "").unwrap();
    let say = |name: &str| message(read_fields(&path(name)), folder.path());
    insta::assert_snapshot!(say("point.csv"), @r#"
    error: DIR/point.csv: there is no such file
     |
     = help: did you mean `DIR/points.csv`?
    "#);
    insta::assert_snapshot!(say("boxes.npz"), @r#"
    error: DIR/boxes.npz: there is no such file
     |
     = help: did you mean `DIR/boxes.safetensors`?
    "#);
    insta::assert_snapshot!(say("unlike.npy"), @r#"
    error: DIR/unlike.npy: there is no such file
    "#);
    insta::assert_snapshot!(say("data/points.csv"), @r#"
    error: DIR/data/points.csv: there is no such file
     |
     = note: there is no folder `DIR/data` either
    "#);
    insta::assert_snapshot!(say("points.mat"), @r#"
    error: DIR/points.mat: there is no such file
     |
     = help: did you mean `DIR/points.csv`?
    "#);
}

#[test]
fn a_folder_is_not_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a.csv")).unwrap();
    fs::write(folder.path().join("a.csv/b.csv"), "x\n").unwrap();
    let text = message(read_fields(&folder.path().join("a.csv")), folder.path());
    insta::assert_snapshot!(text, @r#"
    error: DIR/a.csv: expected a file, found a folder
     |
     = help: name a file in it, for example `DIR/a.csv/b.csv`
    "#);
}

#[test]
fn gives_the_reason_of_the_system() {
    // A path through a file is refused for every user, unlike one that lacks permissions.
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "x\n").unwrap();
    let text = message(read_bytes(&folder.path().join("a/b.csv")), folder.path());
    assert!(
        text.contains("DIR/a/b.csv: the file cannot be read: Not a directory"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "x\n1\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        return; // the superuser may read everything
    }
    let text = message(read_fields(&path), folder.path());
    assert!(
        text.contains("DIR/a.csv: the file may not be read: Permission denied"),
        "{text}"
    );
}

/// A folder of the real data: in the repository, or where `LOGLTN_DATA` says.
fn real_data(name: &str) -> Option<PathBuf> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let named = std::env::var_os("LOGLTN_DATA").map(PathBuf::from);
    (named.into_iter().chain([shipped]))
        .map(|folder| folder.join(name))
        .find(|folder| folder.is_dir())
}

#[test]
fn mnist_is_sixty_thousand_pictures() {
    let Some(mnist) = real_data("mnist") else {
        return; // not every copy of the repository has it
    };
    let pictures = read_idx(&mnist.join("train-images-idx3-ubyte.gz")).unwrap();
    assert_eq!(pictures.shape, [60000, 28, 28]);
    assert!(matches!(pictures.values, Values::U8(_)));
    let labels = read_idx(&mnist.join("train-labels-idx1-ubyte.gz")).unwrap();
    assert_eq!((labels.rows(), labels.row_width()), (60000, 1));
    let Values::U8(labels) = labels.values else {
        panic!("labels are bytes");
    };
    assert_eq!(labels[..5], [5, 0, 4, 1, 9]);
}

#[test]
fn tcga_and_pascal_part_read() {
    if let Some(tcga) = real_data("tcga") {
        let fields = read_fields(&tcga.join("pca_16d.csv")).unwrap();
        assert_eq!(fields[0].array.shape, [801, 16]);
        let labels = CsvFile::read(&tcga.join("labels.csv")).unwrap();
        let class = labels.column_index("Class").unwrap();
        assert_eq!(labels.labels(class).unwrap()[..2], ["PRAD", "LUAD"]);
    }
    if let Some(pascal) = real_data("pascal-part") {
        let types = read_individuals(&pascal.join("classes.csv"), "Type").unwrap();
        assert_eq!((types.len(), types[0].as_str()), (60, "background"));
    }
}
