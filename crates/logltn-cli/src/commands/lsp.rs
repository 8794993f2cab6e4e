//! `logltn lsp`: a language server for editors.

use crate::outcome::Outcome;
use crate::{console, lsp};

/// Serve an editor over standard input and output (Language Server Protocol).
///
/// Diagnostics as you type, hover, completion, go to definition, rename and formatting, for theories (`.ltn`) and for the
/// manifests that ground them. Editors start it themselves: docs/editors.md says how.
#[derive(clap::Args)]
pub struct Arguments {
    /// Accepted for editors that pass it; there is no other transport
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Runs the command.
pub fn run(_: &Arguments) -> Outcome {
    match lsp::serve() {
        Ok(()) => Outcome::Done,
        Err(error) => {
            console::complain(&format!(
                "error: the connection to the editor broke: {error}\n"
            ));
            Outcome::Failed
        }
    }
}
