//! The truth of a theory with the networks of a run, in double precision.

use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics, Parameters, Semantics};
use logltn_learn::{Evaluated, Model, State};

use crate::project::Project;
use crate::run_directory::RunDirectory;

/// The truth of every axiom with the weights of the run in `folder`: the final ones, or those of the last
/// checkpoint if it is not finished.
///
/// Networks run in single precision as in training; the logic above them, and predicates given by numbers,
/// in double precision. Tables with batches are looked at whole. With `gradients`, the derivatives by the
/// numbers of predicates given by numbers come too.
///
/// # Errors
/// If the folder holds no weights, or those of other networks.
pub fn evaluate_run(
    project: &Project,
    folder: &Path,
    semantics: &Semantics,
    parameters: &Parameters,
    gradients: bool,
) -> Result<Evaluated, Diagnostics> {
    let weights = weights_of(folder)?;
    project.evaluate_with(semantics, parameters, gradients, |engine| {
        let knowledge = project.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        model.attach(&knowledge, engine)?;
        model.restore(&weights).map_err(|errors| {
            let mut out = Diagnostics::new();
            for error in errors {
                out.push(error.help(format!(
                    "{}: evaluate a run with the manifest it was trained with",
                    folder.display()
                )));
            }
            out
        })?;
        model.evaluate(engine)
    })
}

/// The newest weights of a run.
fn weights_of(folder: &Path) -> Result<State, Diagnostics> {
    let run = RunDirectory::open(folder)?;
    if let Some(weights) = run.weights()? {
        return Ok(weights);
    }
    run.checkpoint()?.ok_or_else(|| {
        Diagnostic::error(
            Code::NotTrained,
            format!(
                "{}: the run has no weights yet, not even a checkpoint",
                folder.display()
            ),
        )
        .help("let `logltn train` go on to its first checkpoint, or continue it with `--resume`")
        .into()
    })
}
