//! `--gradients DIR`: the derivatives of the loss, in files of the shape of the predicates' numbers.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use logltn::Diagnostic;
use logltn_train::project::{NumberTable, Project};
use tempfile::NamedTempFile;

use crate::whole_file::{self, failed};

/// Checks that they may be written there.
///
/// # Errors
/// If a file of the manifest's own would be written over.
pub fn check(dir: &Path, project: &Project) -> Result<(), Diagnostic> {
    let predicates = project.theory().predicates.iter();
    predicates
        .map(|predicate| place(dir, &predicate.name))
        .try_for_each(|path| project.may_write(&path))
}

fn place(dir: &Path, predicate: &str) -> PathBuf {
    dir.join(format!("{predicate}.csv"))
}

/// Writes `DIR/P.csv` for every predicate given by numbers. Each file is there as a whole or not at all.
pub fn write(
    dir: &Path,
    project: &Project,
    gradients: &[Option<Vec<f64>>],
) -> Result<(), Diagnostic> {
    fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    let tables = project.theory().predicates.iter().zip(&project.numbers);
    for ((predicate, table), gradient) in tables.zip(gradients) {
        if let (Some(table), Some(gradient)) = (table, gradient) {
            let path = place(dir, &predicate.name);
            let file = whole_file::beside(&path)?;
            write_file(file, &path, table, gradient).map_err(|error| failed(&path, &error))?;
        }
    }
    Ok(())
}

fn write_file(
    mut file: NamedTempFile,
    path: &Path,
    table: &NumberTable,
    gradient: &[f64],
) -> io::Result<()> {
    {
        let mut out = BufWriter::new(file.as_file_mut());
        let mut header = csv::Writer::from_writer(Vec::new());
        header.write_record(&table.header)?;
        out.write_all(&header.into_inner().map_err(|error| error.into_error())?)?;
        for row in gradient.chunks_exact(table.columns) {
            for (i, value) in row.iter().enumerate() {
                if i > 0 {
                    out.write_all(b",")?;
                }
                // The shortest text that reads back as the same number.
                write!(out, "{value:?}")?;
            }
            out.write_all(b"\n")?;
        }
        out.flush()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
