//! Several runs of one manifest that are pushed to disagree where the theory permits it.
//!
//! Members are trained one after the other, in the folders `1`, `2`, … of the ensemble's. Each is pushed away from the
//! mean of itself and those before it (as in bears, by Marconato and others), so they agree on what the axioms fix.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_learn::Apart;

use super::{Asking, Predictor};
use crate::project::Project;

/// The file that marks a folder as an ensemble.
const NOTE: &str = "ensemble.json";

/// The folder of a member, counted from 1.
pub fn member(ensemble: &Path, number: usize) -> PathBuf {
    ensemble.join(number.to_string())
}

/// Marks a folder as an ensemble of this many members.
///
/// # Errors
/// If it cannot be written.
pub fn note_ensemble(folder: &Path, members: usize) -> Result<(), Diagnostics> {
    let path = folder.join(NOTE);
    let text = format!("{{\"members\": {members}}}\n");
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
    written.map_err(|error| {
        let what = format!("{}: {error}", path.display());
        Diagnostic::error(Code::CannotWrite, what).into()
    })
}

/// The runs in a folder: the members of an ensemble, or the folder itself.
///
/// # Errors
/// If the ensemble's own file is damaged.
pub fn members(folder: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    let path = folder.join(NOTE);
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Ok(vec![folder.to_path_buf()]);
    };
    let count = serde_json::from_str::<serde_json::Value>(&text).ok();
    let count = count.and_then(|note| note.get("members")?.as_u64());
    match count {
        Some(count @ 1..=10_000) => Ok((1..=count as usize).map(|i| member(folder, i)).collect()),
        _ => {
            let what = format!("{}: expected the number of members", path.display());
            Err(Diagnostic::error(Code::RunDamaged, what).into())
        }
    }
}

/// The predictions of earlier members for all individuals of each learnt softmax, from which the next one should
/// differ.
///
/// # Errors
/// If one of them cannot be asked.
pub fn apart_from(
    project: &Project,
    manifest: &Path,
    earlier: &[PathBuf],
    weight: f64,
) -> Result<Apart, Diagnostics> {
    let mut said: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for predicate in project.learnt_classes() {
        let name = &project.theory()[predicate].name;
        let mut sums: Vec<f32> = Vec::new();
        for run in earlier {
            let symbols = [name.clone()];
            let mut predictor = Predictor::load(&Asking {
                run: Some(run),
                given: Some(&[]),
                ..Asking::of(manifest, &symbols)
            })?;
            let mut at = 0;
            predictor.each_block(None, |_, found| {
                sums.resize(sums.len().max(at + found.numbers.len()), 0.0);
                let to = sums[at..].iter_mut().zip(&found.numbers);
                to.for_each(|(sum, p)| *sum += *p as f32);
                at += found.numbers.len();
                ControlFlow::Continue(())
            })?;
        }
        said.insert(name.clone(), sums);
    }
    Ok(Apart {
        weight,
        members: earlier.len(),
        said,
    })
}
