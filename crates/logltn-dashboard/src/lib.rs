//! `logltn dashboard`: a page that follows the runs under a folder.
//!
//! [`Dashboard::bind`] takes an address, [`Dashboard::serve`] answers until it is stopped; [`export`] writes the same page with the data
//! inside. The page is [`logltn_report::page`]. Runs are read, never written.
//!
//! ```no_run
//! use logltn_dashboard::{Address, Dashboard};
//! let dashboard = Dashboard::bind(std::path::Path::new("runs"), &Address::default())?;
//! println!("{}", dashboard.url());
//! dashboard.serve();
//! # Ok::<(), logltn::Diagnostics>(())
//! ```

mod access;
mod alive;
mod discover;
mod documents;
mod evaluation_charts;
mod events;
mod export;
mod follow;
mod last_record;
mod networks;
mod questions;
mod runs_folder;
mod server;
mod stream;
mod violated;

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use logltn::{Code, Diagnostic, Diagnostics};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use access::Gate;
use discover::Runs;
use events::Watched;
use runs_folder::RunsFolder;
use server::Served;

pub use export::export;
pub use networks::networks;
pub use violated::{Predict, binding_text, violated};

/// Where the page is served.
#[derive(Clone, Debug)]
pub struct Address {
    /// The name or address under which others may ask; `None`: only this machine may.
    pub host: Option<String>,
    /// The port; 0 takes one that is free.
    pub port: u16,
}

impl Default for Address {
    fn default() -> Address {
        Address {
            host: None,
            port: 6060,
        }
    }
}

/// A page that is served.
pub struct Dashboard {
    runtime: Runtime,
    listener: TcpListener,
    served: Arc<Served>,
    url: String,
}

impl Dashboard {
    /// Takes the address, for the runs under a folder.
    ///
    /// # Errors
    /// If there is no such folder, or the address is taken or not this machine's.
    pub fn bind(dir: &Path, address: &Address) -> Result<Dashboard, Diagnostics> {
        let place = RunsFolder::new(dir)?;
        let shown = address.host.as_deref().unwrap_or("127.0.0.1");
        let cannot = |error: std::io::Error| {
            Diagnostic::error(
                Code::CannotListen,
                format!(
                    "{shown}:{}: it cannot be served there: {error}",
                    address.port
                ),
            )
            .help("choose another port with `--port`; `--port 0` takes one that is free")
        };
        // What is slow has its own threads.
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(8)
            .build()
            .map_err(cannot)?;
        let listener = match &address.host {
            None => {
                let here = (IpAddr::V4(Ipv4Addr::LOCALHOST), address.port);
                runtime.block_on(TcpListener::bind(here))
            }
            Some(host) => {
                let bare = host.trim_matches(['[', ']']);
                runtime.block_on(TcpListener::bind((bare, address.port)))
            }
        };
        let listener = listener.map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let name = match shown.contains(':') && !shown.starts_with('[') {
            true => format!("[{shown}]"),
            false => shown.to_string(),
        };
        let (gate, url) = match &address.host {
            None => (Gate::loopback(port), format!("http://{name}:{port}/")),
            Some(host) => {
                let token =
                    access::token().map_err(|error| cannot(std::io::Error::other(error)))?;
                let url = format!("http://{name}:{port}/?token={token}");
                (Gate::open_to(host, port, token), url)
            }
        };
        let watched = Watched::new(Runs::new(place.clone()));
        Ok(Dashboard {
            served: Arc::new(Served::new(place, gate, watched)),
            runtime,
            listener,
            url,
        })
    }

    /// What to type into a browser, with the token if one is needed.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until the process ends.
    pub fn serve(self) {
        self.runtime
            .block_on(server::serve(self.listener, self.served))
    }
}
