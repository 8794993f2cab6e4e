//! `logltn dashboard`: a page that follows runs.

use std::path::PathBuf;

use logltn_dashboard::{Address, Dashboard, export};

use crate::console;
use crate::outcome::Outcome;

/// Serve a page that follows all runs under a folder: curves, axioms, what breaks them.
///
/// The page is for this machine only, until Ctrl-C. With `--host` others may see it: those who have the token in the address
/// that is printed. Runs are read, never written to.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder that holds runs, however deep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The port; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 6060)]
    port: u16,
    /// The name or address of this machine under which others may see the page, who have the token
    #[arg(long, value_name = "H")]
    host: Option<String>,
    /// Write the page with the data inside to a file instead: it needs no server
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["port", "host"])]
    export: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(file) = &arguments.export {
        return match export(&arguments.dir, file) {
            Ok(()) => console::print(&format!("dashboard {}\n", file.display())),
            Err(errors) => console::wrong_input(&errors, false),
        };
    }
    let address = Address {
        host: arguments.host.clone(),
        port: arguments.port,
    };
    match Dashboard::bind(&arguments.dir, &address) {
        Ok(dashboard) => {
            console::print(&format!("{}\n", dashboard.url()));
            dashboard.serve();
            Outcome::Done
        }
        Err(errors) => console::wrong_input(&errors, false),
    }
}
