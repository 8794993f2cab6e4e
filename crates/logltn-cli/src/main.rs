//! The program `logltn`: rules and neural networks, trained together.

use std::process::ExitCode;

fn main() -> ExitCode {
    logltn_cli::main_with(std::env::args_os()).into()
}
