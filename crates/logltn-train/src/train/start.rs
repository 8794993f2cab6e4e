//! The weights that a training begins with, and what of them stays as it is.

use std::path::PathBuf;

use logltn::{Diagnostic, Diagnostics};
use logltn_learn::{Begun, Model, Session};

use super::run_weights::weights_of;
use crate::manifest::{Manifest, Start};
use crate::project::Project;
use crate::run_directory::RunDirectory;

/// What a training began with, for the record.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// The run that the weights are of.
    pub run: PathBuf,
    /// What was taken of it and what was not.
    pub begun: Begun,
    /// What is different there, though it may mean what it meant.
    pub warnings: Diagnostics,
}

/// Gives a session the weights that its manifest begins with.
pub(super) fn begin(
    project: &Project,
    session: &mut Session,
) -> Result<Option<Beginning>, Diagnostics> {
    let manifest = &project.manifest;
    let Some(start) = manifest.start() else {
        return Ok(None);
    };
    let folder = manifest.resolve(&start.run.value);
    let only: Option<Vec<String>> =
        (start.only.as_ref()).map(|only| only.iter().map(|name| name.value.clone()).collect());
    let begun = weights_of(&folder)
        .and_then(|weights| session.begin_with(&weights, only.as_deref()))
        .map_err(|errors| to_begin_with(manifest, start, errors))?;
    let mut warnings = Diagnostics::new();
    if let Ok(info) = RunDirectory::open(&folder).and_then(|run| run.info())
        && let Err(others) = project.same_model(&info.model)
    {
        warnings.extend(others.into_iter().map(Diagnostic::into_warning));
    }
    Ok(Some(Beginning {
        run: folder,
        begun,
        warnings,
    }))
}

/// Whether what a manifest wants to begin with and to freeze is there: what can be known before training.
pub(super) fn check_parts(project: &Project) -> Diagnostics {
    let mut out = Diagnostics::new();
    let manifest = &project.manifest;
    let Some(train) = &manifest.train else {
        return out;
    };
    let only = train
        .start
        .iter()
        .flat_map(|start| start.only.iter().flatten());
    let names: Vec<_> = train.freeze.iter().chain(only).collect();
    if !names.is_empty() {
        let sketch = project.sketch();
        // If the networks cannot be built, that is said elsewhere.
        if let Ok(mut model) = Model::new(&sketch, 0) {
            for name in names {
                if let Err(error) = model.check_part(&sketch, &name.value) {
                    out.push(error.at(&manifest.source, name.span, "not learnt"));
                }
            }
        }
    }
    if let Some(start) = manifest.start()
        && let Err(errors) = weights_of(&manifest.resolve(&start.run.value))
    {
        out.extend(to_begin_with(manifest, start, errors));
    }
    out
}

fn to_begin_with(manifest: &Manifest, start: &Start, errors: Diagnostics) -> Diagnostics {
    let at = |error: Diagnostic| error.at(&manifest.source, start.run.span, "to begin with");
    errors.into_iter().map(at).collect()
}
