//! The program `logltn`: rules and neural networks, trained together.

use std::process::ExitCode;

/// Bounds what the program takes: `--memory`.
#[global_allocator]
static ALLOCATOR: logltn_memory::Counting = logltn_memory::Counting;

fn main() -> ExitCode {
    // A file that may grow no more (`ulimit -f`) is an error of the write, not the end of the program.
    #[cfg(unix)]
    // SAFETY: no handler is installed, and no thread has been started.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    logltn_cli::main_with(std::env::args_os()).into()
}
