//! The program `logltn` as a function, for whoever starts it in another way: the Python package does.

mod commands;
mod console;
mod ctrl_c;
mod folder;
mod outcome;
mod text;
mod whole_file;

pub use commands::explain::document as explain_document;
pub use commands::query::document as query_document;

use std::ffi::OsString;

use clap::Parser;
use logltn_diagnostics::{early, memory};

/// Logic Tensor Networks in log space: rules and neural networks, trained together.
#[derive(Parser)]
#[command(name = "logltn", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
    /// How much memory to take at most, as `16GB`, instead of half of the machine's; what needs more is refused
    #[arg(long, global = true, value_name = "SIZE", value_parser = text::size)]
    memory: Option<u64>,
}

/// Does what the command line says, of which the first word is the program's name, and gives the exit status: 0 if all went
/// well, 1 if right input failed, 2 if something is wrong with theory, manifest, data or flags.
pub fn main_with<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => {
            logltn_data::say_what_was_cut();
            early::listen(|warning| console::report(&warning.clone().into()));
            match arguments.memory {
                Some(bytes) => memory::set_limit(bytes),
                // Read from the machine before anything is allocated.
                None => drop(memory::limit()),
            }
            arguments.command.run().status()
        }
        Err(usage) => {
            // A reader that has seen enough of the help is no failure.
            let _ = usage.print();
            u8::try_from(usage.exit_code()).unwrap_or(2)
        }
    }
}
