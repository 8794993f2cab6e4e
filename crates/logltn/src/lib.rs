//! Logic Tensor Networks in log space: a theory is compiled like a query and run like a kernel.
//!
//! Text and logits go in, the truth of each axiom, a loss and its gradient by every logit come out. This crate knows
//! neither networks nor files: the code that computes the logits only sees "these argument rows, please" and "here are
//! your gradients".
//!
//! # From a theory to a descent step
//! ```
//! use logltn::{Data, Engine, Output, Parameters, Plan, Semantics, Source, Theory};
//!
//! // Five points on a line, two clusters: near points belong together, each cluster has a point.
//! let theory = Theory::parse(Source::new("clusters.ltn", "
//!     sort Point   sort Cluster = 0..1   param near
//!     predicate C(Point, Cluster)
//!     axiom inhabited: forall c: Cluster. exists x: Point. C(x, c)
//!     axiom smooth: forall c: Cluster, x: Point, y: Point where dist(x, y) < near. C(x, c) -> C(y, c)"))?;
//! let mut data = Data::new(&theory);
//! data.set_features("Point", 1, vec![0.0, 0.1, 0.2, 1.0, 1.1])?;
//! data.set_param("near", 0.3)?;
//!
//! let plan = Plan::new(&data, &[Output::softmax()], &Semantics::default())?;
//! assert_eq!(plan.axioms()[1].groundings, 26); // 13 near pairs × 2 clusters, of 50
//! let mut engine = Engine::<f32>::new(plan);
//!
//! // One request: C on five points, two logits each. Here the logits are themselves what is learnt.
//! let mut logits = [0.3, 0.0, -0.1, 0.0, 0.2, 0.0, 0.0, 0.1, 0.0, 0.2];
//! let mut losses = Vec::new();
//! for _ in 0..100 {
//!     engine.numbers_mut(0).copy_from_slice(&logits);
//!     losses.push(engine.evaluate_with_gradients(&Parameters { alpha: 4.0, ..Parameters::default() })?.loss);
//!     for (logit, slope) in logits.iter_mut().zip(engine.gradient(0)) {
//!         *logit -= 10.0 * slope;
//!     }
//! }
//! assert!(losses[99] < 0.5 * losses[0]);
//! # Ok::<(), logltn::Diagnostics>(())
//! ```
//!
//! # The steps, one by one
//! 1. [`Theory::parse`] reads and checks the text. Mistakes come back together as [`Diagnostics`], each with its
//!    place and, where possible, how to fix it:
//!    ```
//!    # use logltn::{Source, Theory};
//!    let errors = Theory::parse(Source::new("a.ltn", "
//!        sort Point
//!        predicate near(Point, Point)
//!        axiom symmetric: forall x: Point, y: Pont. nera(x, y) -> near(y)")).unwrap_err();
//!    let text = errors.to_string();
//!    assert!(text.contains("unknown sort `Pont`") && text.contains("did you mean `Point`?"));
//!    assert!(text.contains("unknown predicate `nera`"));
//!    assert!(text.contains("predicate `near` takes 2 arguments, found 1"));
//!    ```
//!    A theory prints back as text that parses to the same theory, and [`Formula::nnf`](theory::Formula::nnf)
//!    is what the log semantics evaluate.
//! 2. [`Data`] says how many individuals each sort has, and holds tables, params, and features for `dist`.
//! 3. [`Semantics`] says what the connectives and quantifiers mean; [`Parameters`] drive α and p per call.
//! 4. [`Plan::new`] compiles all that: guards become lists of the bindings they keep, found by joins and by
//!    solving equations where the guard allows; the grid of all bindings is never built.
//!    Where that is exact, quantifiers are moved inward and the variables of an `exists` eliminated one by one
//!    ([`Plan::rewrites`]). Print a plan to see it.
//! 5. [`Engine`] runs the plan, in `f32` or `f64`: its [`requests`](Engine::requests) are the distinct argument
//!    rows of each predicate, [`numbers_mut`](Engine::numbers_mut) takes the logits,
//!    [`gradient`](Engine::gradient) gives the derivatives back.
//!
//! The language is described in `docs/language.md`, the operators in `docs/semantics.md`, the reasons behind the
//! design in `docs/design.md`.

mod circuit;
mod connected;
mod data;
mod definitions;
mod engine;
mod format;
mod guard;
mod guard_parts;
mod identify;
mod natural;
mod nnf;
mod number;
mod operators;
mod output;
mod parameters;
mod parser;
mod percentile;
pub(crate) mod plan;
mod polarity;
mod print;
mod product;
mod recursion;
mod resolve;
mod same;
mod sample;
mod semantics;
mod stand_ins;
mod syntax;
pub mod theory;
mod token;
mod told_apart;
mod words;

use logltn_diagnostics as diagnostic;
use logltn_diagnostics as source;
use logltn_diagnostics as suggest;
#[doc(hidden)]
pub use logltn_vector as vector;

pub use data::{ColumnData, ConstantData, Data, FunctionData, TableData};
#[doc(hidden)]
pub use engine::Fusing;
pub use engine::{
    Answer, Answers, AxiomValue, Engine, Evaluation, Exchange, Explanation, Exported,
    ExportedArray, ExportedBatch, Gathered, InPlace, Precision, Request, Rule, Violation, Wanted,
    Witness,
};
pub use format::format;
pub use guard_parts::Part;

pub use identify::{Identified, Identify, LabelNext, Support, SupportKind};
pub use logltn_diagnostics::early;
pub use logltn_diagnostics::{
    Code, Diagnostic, Diagnostics, Severity, Source, Span, did_you_mean, harmless, nearest,
};
pub use logltn_memory as memory;
pub(crate) use nnf::MAX_NNF_NODES;
pub use number::Number;
pub use operators::{Aggregator, And, Implies, Loss, Not, Or, Space};
pub use output::{Output, OutputKind};
pub use parameters::{AxiomParameters, Parameters};
pub use percentile::{Points, percentile};
pub use plan::{
    ArgumentShape, BlamedLiteral, Bound, EventSize, Individual, Pass, Plan, PlanOptions,
    PlannedAxiom, PlannedDefinition, Ranked, Rewrite, World,
};
pub use polarity::Polarity;
pub use resolve::{Declared, Labels};
pub use sample::{Bindings, Sampled};
pub use semantics::Semantics;
pub use stand_ins::StandIns;
pub use theory::Theory;
pub use token::{quoted_label, reserved_words};
pub use words::{Role, Word, words};
