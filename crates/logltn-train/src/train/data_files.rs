//! The files that a manifest names, and whether they have changed since a run began.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};

use super::resolved::seen_from;
use super::unchanged::HELP;
use crate::manifest::{Manifest, Spanned, learnt_from, measured_against};
use crate::run_directory::RunInfo;

/// Size and checksum of each file that something is learnt from, by its path as the run's own manifest has it: that
/// manifest may be what the run is resumed with, and run and project may be moved together.
///
/// # Errors
/// If one can no longer be read: a run without a record of its data could be resumed with any data.
pub(super) fn fingerprints(
    manifest: &Manifest,
    run: &Path,
) -> Result<BTreeMap<String, String>, Diagnostics> {
    fingerprints_of(&learnt_from(manifest), manifest, run)
}

/// The same of each file that is only measured against.
///
/// # Errors
/// If one cannot be read any more.
pub(super) fn measured_fingerprints(
    manifest: &Manifest,
    run: &Path,
) -> Result<BTreeMap<String, String>, Diagnostics> {
    fingerprints_of(&measured_against(manifest), manifest, run)
}

/// Whether questions to a run may read its files: each of them must be in `inside`, or have the checksum that the run
/// recorded in training. So a run that somebody else made cannot read files that its maker does not have.
///
/// # Errors
/// With each file that is elsewhere and does not match the record.
pub fn check_noted(manifest: &Manifest, info: &RunInfo, inside: &Path) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    let theory = std::iter::once(&manifest.theory);
    let files = learnt_from(manifest).into_iter();
    for file in files.chain(measured_against(manifest)).chain(theory) {
        let path = manifest.resolve(&file.value);
        let Ok(whole) = std::fs::canonicalize(&path) else {
            continue; // reading it will report the error
        };
        if whole.starts_with(inside) {
            continue;
        }
        let key = file.value.display().to_string();
        let noted = info.data.get(&key).or_else(|| info.measured.get(&key));
        let print = match weights_of_run(whole.clone()) {
            Some(file) if file.is_file() => fingerprint(&file).ok(),
            _ => None,
        };
        if noted.is_none() || noted != print.as_ref() {
            wrong.push(
                Diagnostic::error(
                    Code::RunDiffers,
                    format!(
                        "{}: the file has changed since the run was trained, so it is not read",
                        path.display()
                    ),
                )
                .help("restore the file, or train again"),
            );
        }
    }
    wrong.into_result(()).map(|_| ())
}

/// For a run's folder the file with its weights; any other path unchanged.
fn weights_of_run(path: PathBuf) -> Option<PathBuf> {
    if !path.is_dir() {
        return Some(path);
    }
    let names = ["weights.safetensors", "checkpoint.safetensors"].map(|name| path.join(name));
    names.into_iter().find(|path| path.exists())
}

fn fingerprints_of(
    files: &[&Spanned<PathBuf>],
    manifest: &Manifest,
    run: &Path,
) -> Result<BTreeMap<String, String>, Diagnostics> {
    let mut prints = BTreeMap::new();
    for file in files {
        let Some(path) = weights_of_run(manifest.resolve(&file.value)) else {
            continue;
        };
        let print = fingerprint(&path).map_err(|error| {
            let what = format!("{}: the file cannot be read: {error}", path.display());
            Diagnostic::error(Code::FileUnreadable, what)
        })?;
        prints.insert(seen_from(run, manifest, &file.value), print);
    }
    Ok(prints)
}

/// A checksum that detects every accidental change; forgery is not a concern here.
fn fingerprint(path: &Path) -> io::Result<String> {
    let (bytes, sum) = logltn_data::checksum(path)?;
    Ok(format!("{bytes} bytes, CRC-32 {sum:08x}"))
}

/// Compares the files of a run's beginning with those of now.
///
/// Each file that holds something else is an error. Files that only one side has show up as differences of the
/// manifest.
pub(super) fn unchanged(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Diagnostics {
    let mut errors = Diagnostics::new();
    for (path, was) in before {
        if let Some(is) = now.get(path)
            && is != was
        {
            errors.push(
                Diagnostic::error(
                    Code::RunDiffers,
                    format!("the run belongs to another training: the file `{path}` has changed"),
                )
                .note(format!("it was {was} when the run began and is {is} now"))
                .help(HELP),
            );
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, unchanged};

    #[test]
    fn one_bit_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        let mut prints = Vec::new();
        for text in ["a,b\n1,2\n", "a,b\n1,3\n", "a,b\n1,2\n"] {
            std::fs::write(&path, text).unwrap();
            prints.push([("points.csv".to_string(), fingerprint(&path).unwrap())].into());
        }
        assert!(unchanged(&prints[0], &prints[2]).is_empty());
        let errors = unchanged(&prints[0], &prints[1]);
        assert_eq!(errors.error_count(), 1);
        assert!(errors.to_string().contains("`points.csv`"), "{errors}");
    }

    #[test]
    fn a_file_that_one_side_does_not_know_says_nothing() {
        let one = [("a.csv".to_string(), "1 bytes".to_string())].into();
        let other = [("b.csv".to_string(), "2 bytes".to_string())].into();
        assert!(unchanged(&one, &other).is_empty());
        assert!(unchanged(&Default::default(), &one).is_empty());
    }
}
