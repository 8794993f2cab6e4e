//! A run to look at: `report.html`, and the same plots as PNG.
//!
//! [`from_run_directory`] reads a run, [`Report::write`] writes the page and the plots. The page is self-contained: no network, no
//! fonts, no scripts from elsewhere. It is the [page] that the dashboard serves, with
//! the data of one run inside. Long runs are thinned as they are read, so a run of any length makes a page of about the
//! same size.
//!
//! The crate also draws pictures for other crates: [`scatter_png`], [`panels_png`] and [`lines_png`] for benchmarks and the paper's
//! figures, [`pca_2d`] for points of many dimensions. The font is bundled, so they
//! look the same everywhere.
//!
//! ```
//! use logltn_report::{LinesOptions, Series, lines_png};
//!
//! let losses = [1.0, 0.6, 0.4, 0.3, 0.25];
//! let series = Series {
//!     name: "loss".into(),
//!     points: (1..).map(f64::from).zip(losses).collect(),
//! };
//! let options = LinesOptions {
//!     title: "Learning".into(),
//!     x_label: "step".into(),
//!     ..LinesOptions::default()
//! };
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("loss.png");
//! lines_png(&[series], &options, &path)?;
//! assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
//! # Ok::<(), logltn::Diagnostic>(())
//! ```

mod axis;
mod bitmap;
mod chart;
mod comparison;
mod curves;
mod documents;
mod drawing;
mod font;
mod lines;
pub mod page;
mod palette;
mod pca;
mod plots;
mod scatter;
mod schedule;
mod shades;
mod summary;
mod thinning;
mod tiles;
mod violations;
mod words;

#[cfg(test)]
mod tests;

pub use comparison::comparison_png;
pub use documents::{ListedRun, base64, details};
pub use lines::{LinesOptions, Series, line_panels_png, lines_png};
pub use pca::pca_2d;
pub use scatter::{ScatterPanel, panels_png, scatter_png};
pub use shades::{Shades, shades_png};
pub use summary::{Picture, Report, RunSummary, from_run_directory, pictures};
pub use tiles::{Tile, tiles_png};
pub use violations::{Culprits, Violated, features_png};
