//! `logltn completions` and `logltn man`: for the shell and for the manual.

use std::path::PathBuf;

use clap::CommandFactory;

use crate::console;
use crate::outcome::Outcome;

/// Print a completion script for a shell.
///
/// For example, `logltn completions bash > ~/.local/share/bash-completion/completions/logltn`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

/// Runs `completions`.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut script = Vec::new();
    let mut command = crate::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "logltn", &mut script);
    console::print_raw(&String::from_utf8_lossy(&script))
}

/// Write the manual pages, one for each command.
#[derive(clap::Args)]
pub struct ManArguments {
    /// The folder for the pages, which is created if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs `man`.
pub fn man(arguments: &ManArguments) -> Outcome {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(crate::Arguments::command(), folder));
    match written {
        Ok(()) => Outcome::Done,
        Err(error) => {
            let folder = folder.display();
            console::complain(&format!("error: cannot write pages to {folder}: {error}\n"));
            Outcome::Failed
        }
    }
}
