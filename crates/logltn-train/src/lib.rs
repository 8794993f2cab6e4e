//! Manifests and training for logltn.
//!
//! A *theory* says what should hold; a *manifest* names the data and networks of its symbols, and how to train. This crate
//! reads both ([`project`]), trains them as a session ([`train`](mod@train), [`logltn_learn`]) and stores the results
//! ([`run_directory`]). `docs/manifest.md` has the whole manifest.
//!
//! # From files to a trained theory
//!
//! ```
//! use logltn::{Diagnostics, Parameters};
//! use logltn_train::project::Project;
//! use logltn_train::run_directory::RunDirectory;
//! use logltn_train::train::{RunOptions, TrainOptions, Trainer, evaluate_run, run};
//! use std::sync::atomic::AtomicBool;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = |name: &str| folder.path().join(name);
//! std::fs::write(path("points.csv"), "a,b\n0,1\n2,0\n1,2\n").unwrap();
//! std::fs::write(path("good.ltn"), "
//!     sort Point
//!     predicate good(Point)
//!     axiom some: exists x: Point. good(x)
//!     axiom few:  exists x: Point. not good(x)
//! ").unwrap();
//! std::fs::write(path("good.toml"), r#"
//!     theory = "good.ltn"
//!     [sorts.Point]
//!     features = "points.csv"
//!     [predicates.good]
//!     network = { mlp = [8], activation = "tanh" }
//!     output = "sigmoid"
//!     [train]
//!     steps = 50
//!     learning_rate = 0.05
//! "#).unwrap();
//!
//! // All mistakes in the files are reported here, at once.
//! let mut found = Diagnostics::new();
//! let project = Project::load(&path("good.toml"), &mut found).ok_or(found)?;
//! let mut trainer = Trainer::new(project.clone(), &TrainOptions::default())?;
//!
//! // A step at a time …
//! let first = trainer.step()?;
//! assert_eq!((first.step, first.axioms.len()), (1, 2));
//!
//! // … or to the end, with a folder that can be resumed, compared, and made into a report (`logltn-report`).
//! let directory = RunDirectory::create(&path("run"))?;
//! run(&mut trainer, &directory, &RunOptions::default(), &AtomicBool::new(false), &mut ())?;
//! assert!(path("run").join("weights.safetensors").exists());
//!
//! // The truth of each axiom with these weights, in double precision; and the metrics.
//! let semantics = project.manifest.semantics;
//! let at_the_end = Parameters { alpha: 4.0, ..Parameters::default() };
//! let (now, _) = evaluate_run(&project, &path("run"), &semantics, &at_the_end, false)?;
//! assert!(now.sat > first.sat);
//! # Ok::<(), Diagnostics>(())
//! ```
//!
//! To use your own network for a predicate, leave it out of the manifest, implement [`logltn_learn::Grounding`], and
//! hand it to [`ground`](logltn_learn::Session::ground) before the first step.

mod in_manifest;
pub mod manifest;
pub mod project;
pub mod run_directory;
pub mod tensorboard;
pub mod train;
