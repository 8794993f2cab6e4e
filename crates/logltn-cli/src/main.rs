//! The program `logltn`: rules and neural networks, trained together.

mod commands;
mod console;
mod folder;
mod outcome;
mod text;

use std::process::ExitCode;

use clap::Parser;

/// Logic Tensor Networks in log space: rules and neural networks, trained together.
#[derive(Parser)]
#[command(name = "logltn", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    // Usage mistakes end here, with status 2.
    Arguments::parse().command.run().into()
}
