//! Training in memory: a theory, its data, the groundings of its predicates, and steps.
//!
//! This crate does not read files. A [`Session`] is made by [`Session::builder`], or from a [`KnowledgeBase`] and a [`Training`],
//! which `logltn-train` reads from a manifest.
//!
//! # A training in thirty lines
//!
//! Eight points in the plane, and no label at all: near points belong to the same cluster, and no cluster is empty.
//!
//! ```
//! use logltn::{Output, Parameters};
//! use logltn_learn::{Individuals, Known, Metric, MetricKind, Network, Param, Schedule, Session};
//! use logltn_nn::Activation;
//!
//! let points = vec![0.1, 0.2, 0.0, 0.1, 0.2, 0.1, 0.1, 0.0, 2.1, 2.0, 2.0, 2.2, 1.9, 2.1, 2.2, 2.1];
//! let classes = "a a a a b b b b".split(' ').map(String::from).collect();
//! let mut session = Session::builder("
//!         sort Point
//!         sort Cluster = 0..1
//!         param near
//!         predicate C(Point, Cluster)
//!         axiom covered:   forall x: Point. exists c: Cluster. C(x, c)
//!         axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
//!         axiom smooth:    forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)
//!     ")
//!     .sort("Point", Individuals::features([2], points))
//!     .param("near", Param::percentile(50.0, "dist(Point, Point)"))
//!     .predicate("C", Network::mlp(&[8, 8], Activation::Elu), Output::softmax())
//!     .metric(Metric::new(MetricKind::AdjustedRandIndex, "C", Known::Labels { sort: "Point".into(), labels: classes }))
//!     .alpha(Schedule::linear(1.0, 4.0))
//!     .learning_rate(0.02)
//!     .steps(200)
//!     .build()?;
//! while !session.is_done() {
//!     let step = session.step()?;
//!     assert!(step.loss.is_finite());
//! }
//! let now = session.evaluate(&Parameters { alpha: 4.0, ..Parameters::default() })?;
//! assert_eq!(now.axioms[2].name, "smooth");
//! assert_eq!(session.measure()?, [("adjusted_rand_index(C)".to_string(), 1.0)]);
//! let logits = session.predict("C", &[0, 7])?; // two rows of two classes
//! assert!((logits[0] > logits[1]) != (logits[2] > logits[3]));
//! # Ok::<(), logltn::Diagnostics>(())
//! ```
//!
//! `build` reports all mistakes at once:
//!
//! ```
//! # use logltn_learn::{Network, Session};
//! # use logltn_nn::Activation;
//! let errors = Session::builder("sort Point  param near  predicate C(Point)  axiom a: forall x: Point. C(x)")
//!     .sort("Pont", 3)
//!     .predicate("D", Network::mlp(&[8], Activation::Tanh), logltn::Output::sigmoid())
//!     .steps(10)
//!     .build().err().unwrap().to_string();
//! assert!(errors.contains("no sort `Pont`") && errors.contains("no predicate `D`"), "{errors}");
//! ```
//!
//! # Stop, and continue with the same bits
//!
//! [`Session::state`] is everything that the rest of a training depends on, numbers and facts by name;
//! [`Session::restore`] takes it up again. [`Session::weights`] is what was learnt.
//!
//! # Code of your own behind a predicate
//!
//! Argument rows in, logits out; gradients in. That is all a predicate needs to be, see [`Grounding`]:
//!
//! ```
//! use logltn::{Diagnostics, Output, Request};
//! use logltn_learn::{Grounding, Session};
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
//! let logits = Logits { values: vec![0.0; 2], gradients: vec![0.0; 2] };
//! let mut session = Session::builder("
//!         sort Person
//!         predicate happy(Person)
//!         axiom all: forall x: Person. happy(x)
//!     ")
//!     .sort("Person", ["ann", "bob"])
//!     .host("happy", logits, Output::sigmoid())
//!     .learning_rate(0.1)
//!     .steps(20)
//!     .build()?;
//! let first = session.step()?;
//! let mut last = first.clone();
//! while !session.is_done() {
//!     last = session.step()?;
//! }
//! assert!(last.loss < first.loss);
//! # Ok::<(), Diagnostics>(())
//! ```

mod ask;
mod asked_rows;
mod axioms;
mod batches;
mod closed_form;
mod closed_forms;
mod degrees;
mod description;
mod distances;
mod ensemble;
mod entails;
mod entails_exact;
mod evaluate;
mod field;
mod given_numbers;
mod individuals;
mod input;
mod knowledge;
mod labels;
mod large_tables;
mod measure;
pub mod metrics;
pub mod mine;
mod model;
mod network;
mod optimizers;
mod part_names;
mod phrase;
mod predict;
mod predictions;
pub mod random;
mod row_view;
mod sample;
mod schedule;
mod session;
mod slow_work;
mod spanned;
mod spread;
mod state;
mod training;
mod vanishing;
mod worlds;

pub use ask::{Ask, Explained, Queried, own_parameters};
pub use asked_rows::AskedRows;
pub use axioms::{AxiomSettings, check_members, set_axioms};
pub use closed_form::{ClosedForm, Learnt};
pub use degrees::largest;
pub use description::same_model;
pub use distances::{Distance, distances, distances_of};
pub use entails::{Counterexample, Entailment, Refute, entails};
pub use entails_exact::{Exactly, entails_exactly};
pub use evaluate::Evaluated;
pub use field::{Field, Kept, Values};
pub use given_numbers::Numbers;
pub use individuals::Individuals;
pub use input::InputExpr;
pub use knowledge::{Behind, Ground, KnowledgeBase, NetworkRef, Units, Vectors};
pub use labels::{Labels, LabelsOf};
pub use large_tables::{LargeTables, large_tables};
pub use measure::{Answered, Compared, Known, Measures, Metric};
pub use metrics::MetricKind;
pub use model::{Grounding, Model};
pub use network::{Input, Network};
pub use phrase::{Mistake, parse_distance};
pub use predict::Asked;
pub use predictions::{Answers, Predictions};
pub use sample::seen_in_steps;
pub use schedule::{By, Curve, Moment, Schedule, Schedules};
pub use session::{Begun, Best, Builder, Constant, Param, Session, Step, StepWork};
pub use slow_work::{Foretold, duration, foretell};
pub use spanned::{Place, Spanned};
pub use spread::Apart;
pub use state::{NamedTensor, State};
pub use training::{EarlyStop, Length, MOST_STEPS, Optimizer, Phase, Training};
pub use worlds::{InWorld, RowsOf, Worlds, check_laws, draw, plan_of_laws, world};
