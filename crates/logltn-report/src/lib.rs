//! A run to look at: `report.html`, and the same plots as SVG.
//!
//! [`from_run_directory`] reads a run, [`Report::write`] writes the page and the plots. The page is self-contained: no network, no
//! fonts, no scripts from elsewhere. It is the [page] that the dashboard serves, with
//! the data of one run inside. Long runs are thinned as they are read, so a run of any length makes a page of about the
//! same size.
//!
//! The crate also draws pictures for other crates: [`write_charts`] of curves, [`write_scatter`] of points, which [`pca_2d`] finds for
//! those of many dimensions, [`write_heat_map`] and [`write_tiles`] of tables. All are SVG, and texts are in the reader's font.

mod axis;
mod chart;
mod comparison;
mod curves;
mod documents;
mod drawing;
mod heat_map;
pub mod page;
mod palette;
mod pca;
mod picture;
mod picture_grid;
mod plots;
mod run_in_words;
mod scatter;
mod schedule;
mod summary;
mod thinning;
mod violations;

#[cfg(test)]
mod tests;

pub use chart::{Chart, Curve, write_charts};
pub use comparison::write_comparison;
pub use documents::{ListedRun, details};
pub use heat_map::{HeatMap, write_heat_map};
pub use pca::pca_2d;
pub use picture::{Picture, data_url, pictures};
pub use picture_grid::{Tile, write_tiles};
pub use scatter::{ScatterPanel, write_scatter};
pub use summary::{Report, RunSummary, from_run_directory};
pub use violations::{Culprits, Violated, features_png};
