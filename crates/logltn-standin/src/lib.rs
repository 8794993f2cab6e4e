//! Stand-ins for data that cannot be shipped.
//!
//! Two of the paper's three tasks run on data that this repository cannot ship. To try its theories anyway, this crate makes data of the same sizes and shapes from *statistics* of the real ones (class
//! sizes, means, covariances, counts; see `clustering_figures.rs` and `pascal_part_figures.rs`) and a seed. It contains no
//! row of the real data, and results on a stand-in say nothing about results on the real data.
//!
//! | task | stand-in |
//! |---|---|
//! | clustering | [`clustering_points`]: 801 points of 16 numbers in five classes |
//! | knowledge graphs | [`standin_graph`]: as many entities, relations and facts as a graph has |
//! | stories | [`Family`]: stories of a made-up family, of any length |
//! | PASCAL-Part | [`pascal_part_scenes`]: pictures full of boxes; [`simulated_features`]: what a detector might compute from them |
//!
//! [`mnist`] reads the digits that the repository ships, and [`data_folders`] finds the folders of real data.
//!
//! The same seed gives the same bits on every platform ([`logltn_learn::random`] says how), so the files that
//! `examples/make_standin` makes from them can be compared byte by byte.
//!
//! ```
//! use logltn_standin::{clustering_points, pascal_part_scenes, simulated_features};
//!
//! let clustering = clustering_points(0);
//! assert_eq!(clustering.features.len(), 801 * 16);
//!
//! let scenes = pascal_part_scenes(0, 3);
//! let roi = simulated_features(0, &scenes.boxes, 64, 2.0);
//! assert_eq!(roi.len(), scenes.boxes.len() * 64);
//! ```

mod clustering;
mod clustering_figures;
pub mod data_folders;
pub mod files;
mod knowledge_graph;
pub mod mnist;
mod normal;
pub mod ontology;
mod pascal_part;
mod pascal_part_figures;
mod roi_features;
mod stories;

pub use clustering::{CLUSTERING_DIMENSIONS, ClusteringStandIn, clustering_points};
pub use knowledge_graph::{GraphFigures, GraphStandIn, standin_graph};
pub use normal::Normal;
pub use pascal_part::{SceneBox, Scenes, pascal_part_scenes};
pub use roi_features::{DEFAULT_NOISE, simulated_features};
pub use stories::{Family, Story};
