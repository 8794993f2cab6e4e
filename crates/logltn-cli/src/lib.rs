//! The program `logltn` as a function, so that other programs, such as the Python package, can run it.

mod commands;
mod console;
mod ctrl_c;
mod folder;
mod lsp;
mod mcp;
mod outcome;
mod standard_input;
mod text;
mod topics;
mod whole_file;

pub use commands::check::document::{Step as CheckedStep, document_of_plan as check_document};
pub use commands::explain::document as explain_document;
pub use commands::identify::document as identify_document;
pub use commands::query::document as query_document;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};
use logltn_diagnostics::early;
use logltn_memory as memory;

/// Logic Tensor Networks in log space: rules and neural networks, trained together.
#[derive(Parser)]
#[command(name = "logltn", version, propagate_version = true)]
#[command(
    after_help = "`logltn help language` prints the theory language on one page, `help ebnf` and `help gbnf` its grammar, `help commands` all flags, `help CODE` an example of a mistake."
)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
    /// The most memory to use, such as `16GB` [default: half of the machine's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = text::size)]
    memory: Option<u64>,
}

/// Runs a command line, whose first word is the program's name, and returns the exit status: 0 for success, 1 if valid
/// input failed, 2 if theory, manifest, data or flags are wrong.
pub fn main_with<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    if let Some(page) = topics::asked_for(&arguments) {
        return console::print(&page).status();
    }
    let command = with_negative_numbers(Arguments::command());
    let parsed = (command.try_get_matches_from(arguments))
        .and_then(|found| Arguments::from_arg_matches(&found));
    match parsed {
        Ok(arguments) => {
            logltn_data::say_what_was_cut();
            early::listen(|warning| console::report(&warning.clone().into()));
            memory::set_allow_more("`--memory 64GB` allows more, if the machine has it");
            match arguments.memory {
                Some(bytes) => memory::set_limit(bytes),
                // Read from the machine before anything is allocated.
                None => drop(memory::limit()),
            }
            if memory::address_space().is_some() && !start_threads() {
                console::complain("error: cannot start a thread: `ulimit -v` is too small\n");
                return outcome::Outcome::Failed.status();
            }
            arguments.command.run().status()
        }
        Err(usage) => {
            // A closed pipe is not a failure.
            let _ = usage.print();
            u8::try_from(usage.exit_code()).unwrap_or(2)
        }
    }
}

/// A flag's `-1` is a number out of range, not another flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_numbers = |argument: clap::Arg| {
        let number = argument.get_action().takes_values() && !argument.is_positional();
        argument.allow_negative_numbers(number)
    };
    (command.mut_args(takes_numbers)).mut_subcommands(with_negative_numbers)
}

/// Starts as many threads as a limit on addresses allows; returns whether there is at least one. By itself the pool would
/// panic if one is missing.
fn start_threads() -> bool {
    let wanted = std::thread::available_parallelism().map_or(1, usize::from);
    let spawn = |_| std::thread::Builder::new().spawn(std::thread::park).ok();
    let started: Vec<_> = (0..wanted).map_while(spawn).collect();
    let count = started.len();
    for thread in started {
        thread.thread().unpark();
        let _ = thread.join();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
    // Where there is a pool already, that is used.
    count > 0 && (pool.build_global().is_ok() || rayon::current_num_threads() > 0)
}
