//! Features of new individuals, scaled like those of the training: bytes of pictures become 0 to 1.

use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::{Field as Read, Values, is_table};
use logltn_learn::Field;

use super::Project;
use super::features::Chosen;
use super::knowledge::for_networks;

/// A number beyond this is not a share of 255, even in a downscaled picture.
const MOST: f64 = 2.0;

/// How a field of the manifest's own file is scaled.
enum Own {
    /// Not scaled: numbers, or bytes that are truth values.
    AsItIs { bytes: bool },
    /// Bytes whose 0..255 is 0..1.
    Pictures,
}

fn seen(field: &Read) -> Own {
    match &field.array.values {
        Values::U8(bytes) if bytes.iter().any(|&b| b > 1) => Own::Pictures,
        values => Own::AsItIs {
            bytes: matches!(values, Values::U8(_)),
        },
    }
}

impl Project {
    /// Without a run, new features must look like the manifest's own. If these are missing, nothing can be checked.
    pub(crate) fn check_new_features(&self) -> Result<(), Diagnostics> {
        let mut wrong = Diagnostics::new();
        for (sort, own) in &self.own_features {
            let Some(file) = self.features.get(sort) else {
                continue;
            };
            let Ok(known) = file.chosen.read(own) else {
                continue;
            };
            for field in &file.fields {
                let other = known.iter().find(|other| other.name == field.name);
                if let Some(other) = other
                    && other.array.shape[1..] != field.shape
                {
                    let what = format!(
                        "{}: an individual of sort `{sort}` is {:?} here, but {:?} in {}",
                        file.path.display(),
                        field.shape,
                        &other.array.shape[1..],
                        own.display()
                    );
                    wrong.push(Diagnostic::error(Code::WrongShape, what).help(
                        "give the same columns, or arrays of the same shape, as the manifest's features",
                    ));
                }
            }
        }
        wrong.into_result(()).map(drop)
    }
}

/// A file's fields for networks that were trained with those of another. Whether bytes are scaled depends on all of them,
/// so a single dark picture must not be judged by itself.
pub(super) fn like(
    fields: Vec<Read>,
    file: &Path,
    own: &Path,
    chosen: &Chosen,
    exact: bool,
) -> Result<Vec<Field>, Diagnostics> {
    let known: Result<Vec<Read>, Diagnostics> = match is_table(own) {
        // Such a file holds no bytes, and takes long to read.
        true => Ok(Vec::new()),
        false => chosen.read(own),
    };
    let (name, own_name) = (file.display(), own.display());
    let mut out = Vec::new();
    for field in fields {
        let other = (known.as_ref().ok())
            .and_then(|known| known.iter().find(|other| other.name == field.name))
            .map(seen);
        let most = match (&field.array.values, &other) {
            (Values::U8(_), _) | (_, None | Some(Own::AsItIs { .. })) => 0.0,
            (_, Some(Own::Pictures)) => field.array.to_f64().into_iter().fold(0.0, f64::max),
        };
        match (&field.array.values, &other, &known) {
            (Values::U8(_), Some(Own::AsItIs { bytes: false }), _)
            | (Values::U8(_), None, Ok(_)) => {
                let what = format!(
                    "{name}: this file holds bytes, {own_name} other numbers: it is unclear whether 255 means 1 or 255"
                );
                let help = "give numbers of the same kind as those of the manifest";
                return Err(Diagnostic::error(Code::UnsupportedElements, what)
                    .help(help)
                    .into());
            }
            (Values::U8(bytes), None, Err(errors)) if bytes.iter().all(|&b| b <= 1) => {
                let mut errors = errors.clone();
                let what = format!(
                    "{name}: without {own_name} it is unclear whether its bytes are pictures or truth values"
                );
                errors.push(Diagnostic::error(Code::UnsupportedElements, what));
                return Err(errors);
            }
            (_, Some(Own::Pictures), _) if most > MOST => {
                let what = format!(
                    "{name}: the pictures of {own_name} are bytes, which networks see as 0 to 1, and here are numbers up \
                     to {most}"
                );
                return Err(Diagnostic::error(Code::ValueOutOfRange, what)
                    .help("divide by 255, or give bytes")
                    .into());
            }
            _ => {}
        }
        let field = for_networks(field, exact);
        // Other numbers than bytes are never scaled.
        out.push(match other {
            Some(own) => field.scaled(matches!(own, Own::Pictures)),
            None => field,
        });
    }
    Ok(out)
}
