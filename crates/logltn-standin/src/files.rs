//! The clustering project as files. `cargo run -p logltn-standin --example make_standin` writes those of the paper's other
//! theories.

use super::{CLUSTERING_DIMENSIONS, clustering_points};

/// Everything is made from this seed.
const SEED: u64 = 0;

/// A file to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandInFile {
    /// Where it belongs, relative to `theories/`.
    pub path: &'static str,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// The clustering theory with its manifest and its data: what `logltn demo` runs, on a machine that has nothing else.
pub fn clustering_project() -> Vec<StandInFile> {
    let mut files = clustering_files();
    let embedded = [
        ("clustering.ltn", include_str!("../theories/clustering.ltn")),
        (
            "clustering.toml",
            include_str!("../theories/clustering.toml"),
        ),
    ];
    files.extend(embedded.map(|(path, content)| text(path, content.to_string())));
    files
}

fn text(path: &'static str, text: String) -> StandInFile {
    StandInFile {
        path,
        bytes: text.into_bytes(),
    }
}

/// A CSV of a header and rows.
pub fn table(
    path: &'static str,
    header: &str,
    rows: impl IntoIterator<Item = String>,
) -> StandInFile {
    let mut content = format!("{header}\n");
    for row in rows {
        content.push_str(&row);
        content.push('\n');
    }
    text(path, content)
}

fn clustering_files() -> Vec<StandInFile> {
    let sample = clustering_points(SEED);
    let columns: Vec<String> = (0..CLUSTERING_DIMENSIONS)
        .map(|i| format!("component_{i}"))
        .collect();
    let rows = sample.features.chunks(CLUSTERING_DIMENSIONS).map(|row| {
        let cells: Vec<String> = row.iter().map(|value| format!("{value:.6}")).collect();
        cells.join(",")
    });
    vec![
        table("clustering/points.csv", &columns.join(","), rows),
        table(
            "clustering/labels.csv",
            "Class",
            sample.labels.iter().map(|label| (*label).to_owned()),
        ),
    ]
}
