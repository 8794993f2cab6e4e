//! The program `logltn`: rules and neural networks, trained together.

use std::process::ExitCode;

/// Bounds what the program takes: `--memory`.
#[global_allocator]
static ALLOCATOR: logltn_diagnostics::memory::Counting = logltn_diagnostics::memory::Counting;

fn main() -> ExitCode {
    logltn_cli::main_with(std::env::args_os()).into()
}
