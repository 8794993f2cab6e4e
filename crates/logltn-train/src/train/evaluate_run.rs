//! The truth of a theory with the networks of a run, in double precision.

use std::path::Path;

use logltn::{Code, Diagnostic, Diagnostics, Parameters, Semantics};
use logltn_learn::{Evaluated, Measures, Model, State};

use crate::project::Project;
use crate::run_directory::RunDirectory;

/// The truth of every axiom with the weights of the run in `folder`: the final ones, or those of the last
/// checkpoint if it is not finished.
///
/// Networks run in single precision as in training; the logic above them, and predicates given by numbers,
/// in double precision. Tables with batches are looked at whole. With `gradients`, the derivatives by the
/// numbers of predicates given by numbers come too. Beside the axioms are the metrics of the manifest, by name.
///
/// What the run was trained with is compared with the project: another activation or input would make nonsense of its
/// weights. Of a run that has no record of it, a warning says so.
///
/// # Errors
/// If the folder holds no weights, or those of other networks; with each difference.
pub fn evaluate_run(
    project: &Project,
    folder: &Path,
    semantics: &Semantics,
    parameters: &Parameters,
    gradients: bool,
) -> Result<(Evaluated, Vec<(String, f64)>), Diagnostics> {
    let weights = weights_of(folder)?;
    let metrics = project.metrics()?;
    let unknown = compare(project, folder)?;
    let mut values = Vec::new();
    let mut evaluated = project.evaluate_with(semantics, parameters, gradients, |engine| {
        let knowledge = project.knowledge()?;
        let mut model = Model::new(&knowledge, 0)?;
        model.attach(&knowledge, engine)?;
        let mut measures = Measures::new(&knowledge, &metrics)?;
        measures.prepare(&knowledge, &mut model)?;
        (model.restore(&weights)).map_err(|errors| with_help(errors, folder))?;
        model.evaluate(engine)?;
        // Measuring uses the networks' rows, so it comes last.
        values = measures.measure(&knowledge, &mut model)?;
        Ok(())
    })?;
    evaluated.warnings.extend(unknown);
    Ok((evaluated, values))
}

/// Compares a project with what a run was trained with; a warning if that is not known.
///
/// # Errors
/// With each difference.
fn compare(project: &Project, folder: &Path) -> Result<Diagnostics, Diagnostics> {
    let learnt = RunDirectory::open(folder)?.info().map(|info| info.model);
    match learnt {
        Ok(learnt) if !learnt.is_empty() => {
            (project.same_model(&learnt)).map_err(|errors| with_help(errors, folder))?;
            Ok(Diagnostics::new())
        }
        // Nothing is learnt here.
        _ if project.description().is_empty() => Ok(Diagnostics::new()),
        _ => Ok(Diagnostic::warning(
            Code::RunNotDescribed,
            format!(
                "{}: the run has no record of what it was trained with: whether its weights mean the same here cannot be checked",
                folder.display()
            ),
        )
        .help("if the manifest was changed since, train again")
        .into()),
    }
}

fn with_help(errors: Diagnostics, folder: &Path) -> Diagnostics {
    let mut out = Diagnostics::new();
    for error in errors {
        out.push(error.help(format!(
            "{0}: use a run with the manifest it was trained with (`{0}/manifest.toml`)",
            folder.display()
        )));
    }
    out
}

/// The newest weights of a run.
pub(super) fn weights_of(folder: &Path) -> Result<State, Diagnostics> {
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
