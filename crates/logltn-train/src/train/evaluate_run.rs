//! The truth of a theory with the networks of a run, in double precision.

use std::path::Path;

use logltn::{Diagnostics, Parameters, Semantics};
use logltn_learn::{Evaluated, Measures, Model};

use super::run_weights::RunWeights;
use crate::project::Project;

/// The truth of every axiom with the weights of the run in `folder`: the final ones, or those of the last
/// checkpoint if it is not finished.
///
/// Networks run in single precision as in training; the logic above them, and predicates given by numbers, in double
/// precision. Tables with batches are evaluated whole. With `gradients`, the derivatives by the numbers of predicates
/// given by numbers come too. Beside the axioms are the metrics of the manifest, by name.
///
/// # Errors
/// As [`RunWeights::read`].
pub fn evaluate_run(
    project: &Project,
    folder: &Path,
    semantics: &Semantics,
    parameters: &Parameters,
    gradients: bool,
) -> Result<(Evaluated, Vec<(String, f64)>), Diagnostics> {
    let weights = RunWeights::read(project, folder)?;
    let metrics = project.metrics()?;
    let knowledge = project.knowledge()?;
    let mut model = Model::new(&knowledge, 0)?;
    let mut measures = Measures::new(&knowledge, &metrics)?;
    let mut is_filled = false;
    let mut evaluated = project.evaluate_with(semantics, parameters, gradients, |engine| {
        // With a large table this comes once for each part.
        let is_first = !std::mem::replace(&mut is_filled, true);
        if is_first {
            measures.prepare(&knowledge, &mut model)?;
        }
        // After what metrics ask, which is of another engine.
        model.attach(&knowledge, engine)?;
        if is_first {
            weights.put_into(&mut model)?;
        }
        model.evaluate(engine)
    })?;
    let values = measures.measure(&knowledge, &mut model)?;
    evaluated.warnings.extend(weights.warnings().clone());
    Ok((evaluated, values))
}
