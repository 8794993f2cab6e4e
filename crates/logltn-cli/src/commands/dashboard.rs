//! `logltn dashboard`: a page that follows runs.

use std::path::PathBuf;

use logltn_dashboard::{Address, Dashboard, export};

use crate::console;
use crate::outcome::Outcome;

/// Serve a page that follows all runs under a folder: curves, axioms, what breaks them.
///
/// Only this machine can see the page, until Ctrl-C. With `--host` others can, if they have the token in the printed address.
/// Runs are never written to.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder that holds runs, however deep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The port; 0 takes any free one
    #[arg(long, value_name = "N", default_value_t = 6060)]
    port: u16,
    /// Let others see the page under this name or address, with the token
    #[arg(long, value_name = "H")]
    host: Option<String>,
    /// Write the page and its data to a file, which needs no server
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
