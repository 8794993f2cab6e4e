//! What a run has learnt so far, for callers that ask it something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_learn::{Model, State};

use crate::project::Project;
use crate::run_directory::RunDirectory;

/// The newest weights of a run that fits a project, whether the run is finished, interrupted or still running.
#[derive(Clone, Debug)]
pub struct RunWeights {
    folder: PathBuf,
    weights: State,
    warnings: Diagnostics,
}

impl RunWeights {
    /// Reads the final weights of the run in `folder`, or those of its last checkpoint if it is not finished.
    ///
    /// What the run was trained with is compared with the project: another activation or input would make nonsense of its
    /// weights. Of a run that has no record of it, a warning says so.
    ///
    /// # Errors
    /// If the folder holds no weights, or if the run was trained with something else; with each difference.
    pub fn read(project: &Project, folder: &Path) -> Result<RunWeights, Diagnostics> {
        Ok(RunWeights {
            weights: weights_of(folder)?,
            warnings: compare(project, folder)?,
            folder: folder.to_path_buf(),
        })
    }

    /// What could not be compared.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Puts the weights into the networks of a model. They must be there by now: attach whatever will be asked first.
    ///
    /// # Errors
    /// If they are of other networks.
    pub fn put_into(&self, model: &mut Model) -> Result<(), Diagnostics> {
        (model.restore(&self.weights)).map_err(|errors| with_help(errors, &self.folder))
    }
}

/// Compares a project with what a run was trained with; a warning if that is not known.
fn compare(project: &Project, folder: &Path) -> Result<Diagnostics, Diagnostics> {
    let run = RunDirectory::open(folder)?;
    // One that is damaged says something else than it should.
    let learnt = match run.holds("run.json")? {
        true => run.info()?.model,
        false => BTreeMap::new(),
    };
    match learnt {
        learnt if !learnt.is_empty() => {
            (project.same_model(&learnt)).map_err(|errors| with_help(errors, folder))?;
            let used = project.description()?;
            // Features are what is learnt from.
            let given = |key: &str| key.ends_with(".columns") || key.ends_with(".features");
            if !learnt.keys().any(|key| used.contains_key(key) && !given(key)) {
                let message = "the run has learnt nothing that this manifest uses";
                let error = Diagnostic::error(Code::WeightsDoNotFit, message);
                return Err(with_help(error.into(), folder));
            }
            Ok(Diagnostics::new())
        }
        // Nothing is learnt here.
        _ if project.description()?.is_empty() => Ok(Diagnostics::new()),
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
        let own = error.help_text().map(str::to_string);
        let general = format!(
            "{0}: use a run with the manifest it was trained with (`{0}/manifest.toml`)",
            folder.display()
        );
        out.push(error.help(own.unwrap_or(general)));
    }
    out
}

/// The newest weights of a run.
pub(super) fn weights_of(folder: &Path) -> Result<State, Diagnostics> {
    let run = RunDirectory::open(folder)?;
    if let Some(weights) = run.weights()? {
        return Ok(weights);
    }
    if let Some(checkpoint) = run.checkpoint()? {
        return Ok(checkpoint);
    }
    // It may have come to its end just now.
    run.weights()?.ok_or_else(|| {
        Diagnostic::error(
            Code::NotTrained,
            format!(
                "{}: the run has no weights yet, not even a checkpoint",
                folder.display()
            ),
        )
        .help("let `logltn train` reach its first checkpoint, or continue it with `--resume`")
        .into()
    })
}
