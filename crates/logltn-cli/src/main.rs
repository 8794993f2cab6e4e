//! The program `logltn`: rules and neural networks, trained together.

use std::process::ExitCode;

/// Limits the program's memory: `--memory`.
#[global_allocator]
static ALLOCATOR: logltn_memory::Counting = logltn_memory::Counting;

fn main() -> ExitCode {
    // A write beyond `ulimit -f` becomes an error instead of ending the program.
    #[cfg(unix)]
    // SAFETY: no handler is installed, and no thread has been started.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    // Large pieces of memory go back to the system when they are freed: by default the allocator keeps more the larger they
    // get, and the program takes up to half as much again as it uses.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20);
    }
    logltn_cli::main_with(std::env::args_os()).into()
}
