//! The program `logltn`: rules and neural networks, trained together.

mod commands;
mod console;
mod folder;
mod outcome;
mod text;

use std::process::ExitCode;

use clap::Parser;
use logltn::PlanOptions;

/// Logic Tensor Networks in log space: rules and neural networks, trained together.
#[derive(Parser)]
#[command(name = "logltn", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
    /// How much memory plans and networks may take, as `16GB`; what would need more is refused
    #[arg(long, global = true, value_name = "SIZE", value_parser = text::size, default_value = "4GiB")]
    memory: u64,
}

fn main() -> ExitCode {
    // Usage mistakes end here, with status 2.
    let arguments = Arguments::parse();
    PlanOptions::set_default_memory(arguments.memory);
    arguments.command.run().into()
}
