//! `logltn mcp`: a server for language models.

use std::time::Duration;

use crate::outcome::Outcome;
use crate::{console, mcp};

/// Serve a language model over standard input and output (Model Context Protocol).
///
/// The tools are `check`, `query`, `explain`, `identify` and `train`. Each runs the command of that name with the memory limit of this
/// server and a time limit, so a client can do nothing that the command line cannot.
#[derive(clap::Args)]
pub struct Arguments {
    /// The most seconds one call of a tool may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    match mcp::serve(Duration::from_secs(arguments.seconds)) {
        Ok(()) => Outcome::Done,
        Err(error) => {
            console::complain(&format!("error: the connection broke: {error}\n"));
            Outcome::Failed
        }
    }
}
