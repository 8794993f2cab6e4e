//! `--gradients DIR`: the derivatives of the loss, in files of the shape of the predicates' numbers.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use logltn::{Code, Diagnostic};
use logltn_train::project::{NumberTable, Project};

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
            let path = dir.join(format!("{}.csv", predicate.name));
            write_file(dir, &path, table, gradient).map_err(|error| failed(&path, &error))?;
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(
        Code::CannotWrite,
        format!("{}: cannot be written: {error}", path.display()),
    )
}

fn write_file(dir: &Path, path: &Path, table: &NumberTable, gradient: &[f64]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any other new file; temporary ones are private by default.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".logltn-").tempfile_in(dir)?;
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
