//! `logltn demo`: from nothing to a picture.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_standin::files::clustering_project;

use crate::commands::train;
use crate::console;
use crate::folder::free_folder;
use crate::outcome::Outcome;

/// Train a clustering theory on built-in data and draw the result.
///
/// 801 made-up points in 16 dimensions, drawn from the means and covariances of five kinds of cancer, and
/// three axioms: every point is in a cluster, every cluster has a point, near points belong together.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder for the data and the run
    #[arg(long, value_name = "DIR", default_value = "logltn-demo")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let folder = free_folder(&arguments.out);
    match write(&folder) {
        Ok(manifest) => {
            console::complain(&format!(
                "the theory, its manifest and its data are in {}\n",
                folder.display()
            ));
            train::run_command(&train::prepared(manifest, folder.join("run")))
        }
        Err(error) => {
            console::report(&Diagnostics::from(error));
            Outcome::Failed
        }
    }
}

fn write(folder: &Path) -> Result<PathBuf, Diagnostic> {
    for file in clustering_project() {
        let path = folder.join(file.path);
        let made = match path.parent() {
            Some(parent) => std::fs::create_dir_all(parent),
            None => Ok(()),
        };
        made.and_then(|()| std::fs::write(&path, &file.bytes))
            .map_err(|error| {
                Diagnostic::error(
                    Code::CannotWrite,
                    format!("{}: cannot be written: {error}", path.display()),
                )
                .help("choose another folder with `--out`")
            })?;
    }
    Ok(folder.join("clustering.toml"))
}
