//! Manifests and training for logltn.
//!
//! A *theory* says what should hold, a *manifest* what its symbols are: data, networks, how to train. This crate
//! reads both ([`project`]), puts networks behind predicates ([`model`]), trains them ([`train`](mod@train)) and
//! keeps what comes out ([`run_directory`]). `docs/training.md` has the whole manifest.
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
//! std::fs::write(path("points.csv"), "a,b\n0,1\n1,0\n2,2\n").unwrap();
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
//! // Everything that is wrong with the files is found here, in one go.
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
//! // The truth of each axiom with these weights, in double precision.
//! let semantics = project.manifest.semantics;
//! let now = evaluate_run(&project, &path("run"), &semantics, &Parameters::default(), false)?;
//! assert!(now.sat > first.sat);
//! # Ok::<(), Diagnostics>(())
//! ```
//!
//! # A network of your own behind a predicate
//!
//! Leave the network out of the manifest, implement [`model::Grounding`], and hand it to
//! [`train::Trainer::ground`] before the first step.
//!
//! ```
//! use logltn::{Diagnostics, Request};
//! use logltn_train::model::Grounding;
//! use logltn_train::project::Project;
//! use logltn_train::train::{TrainOptions, Trainer};
//!
//! /// One logit for each person, and no network at all.
//! struct Logits { values: Vec<f32>, gradients: Vec<f32> }
//!
//! impl Grounding for Logits {
//!     fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
//!         for (row, number) in numbers.iter_mut().enumerate() {
//!             *number = self.values[request.row(row)[0] as usize];
//!         }
//!         Ok(())
//!     }
//!     fn backward(&mut self, request: &Request, by_numbers: &[f32]) {
//!         for (row, by) in by_numbers.iter().enumerate() {
//!             self.gradients[request.row(row)[0] as usize] += by;
//!         }
//!     }
//!     fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
//!         visit("logits", &mut self.values, &mut self.gradients);
//!     }
//! }
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = |name: &str| folder.path().join(name);
//! std::fs::write(path("happy.ltn"), "
//!     sort Person
//!     predicate happy(Person)
//!     axiom all: forall x: Person. happy(x)
//! ").unwrap();
//! std::fs::write(path("happy.toml"), r#"
//!     theory = "happy.ltn"
//!     [sorts.Person]
//!     individuals = ["ann", "bob"]
//!     [predicates.happy]
//!     output = "sigmoid"
//!     [train]
//!     steps = 20
//!     learning_rate = 0.1
//! "#).unwrap();
//! let mut found = Diagnostics::new();
//! let project = Project::load(&path("happy.toml"), &mut found).ok_or(found)?;
//! let mut trainer = Trainer::new(project, &TrainOptions::default())?;
//! let logits = Logits { values: vec![0.0; 2], gradients: vec![0.0; 2] };
//! trainer.ground("happy", Box::new(logits))?;
//! let first = trainer.step()?;
//! let mut last = first.clone();
//! while !trainer.is_done() {
//!     last = trainer.step()?;
//! }
//! assert!(last.loss < first.loss);
//! # Ok::<(), Diagnostics>(())
//! ```

pub mod manifest;
pub mod metrics;
pub mod model;
pub mod project;
pub mod random;
pub mod run_directory;
pub mod tensorboard;
pub mod train;
