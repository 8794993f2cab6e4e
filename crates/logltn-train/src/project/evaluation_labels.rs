//! The true classes of individuals, for evaluation only.

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::{CsvFile, Values, is_table, read_fields};

use crate::manifest::{Labels, Manifest};

/// The class of each individual as text. `size` is how many individuals there are.
pub(super) fn read(
    manifest: &Manifest,
    labels: &Labels,
    sort: &str,
    size: usize,
) -> Result<Vec<String>, Diagnostics> {
    let path = manifest.resolve(&labels.file);
    let name = path.display().to_string();
    let found = if is_table(&path) {
        let file = CsvFile::read(&path)?;
        let column = match (&labels.column, file.columns()) {
            (Some(column), _) => manifest.column(&file, column)?,
            (None, [_]) => 0,
            (None, columns) => {
                let list: Vec<String> = columns.iter().map(|c| format!("`{c}`")).collect();
                return Err(Diagnostic::error(
                    Code::AmbiguousColumn,
                    format!("{name}: which column holds the labels of sort `{sort}`?"),
                )
                .note(format!("its columns are {}", list.join(", ")))
                .help("add `column = \"…\"` to `labels`")
                .into());
            }
        };
        file.labels(column)?
    } else {
        classes(&name, &read_fields(&path)?)?
    };
    if found.len() != size {
        return Err(Diagnostic::error(Code::SizesDisagree, format!(
            "{name}: expected {size} labels, one for each individual of sort `{sort}`, found {}",
            found.len()
        ))
        .into());
    }
    Ok(found)
}

fn classes(name: &str, fields: &[logltn_data::Field]) -> Result<Vec<String>, Diagnostics> {
    let wrong = || {
        Diagnostics::from(Diagnostic::error(
            Code::WrongShape,
            format!("{name}: expected one class, an integer, per individual"),
        ))
    };
    let [field] = fields else {
        return Err(wrong());
    };
    if field.array.row_width() != 1 {
        return Err(wrong());
    }
    match &field.array.values {
        Values::U8(classes) => Ok(classes.iter().map(|c| c.to_string()).collect()),
        Values::I64(classes) => Ok(classes.iter().map(|c| c.to_string()).collect()),
        Values::F32(_) | Values::F64(_) => Err(wrong()),
    }
}
