//! Knowledge graphs: embeddings and rules behind predicates, and ranks.
//!
//! A predicate `linked(Entity, Relation, Entity)` is a softmax over the entities that come last, and says the log of one probability for each fact.
//! Behind it stand embeddings ([`ComplEx`]), or rules whose weights are learnt ([`Evidence`]). To ask for the first entity too, relations have names
//! for both directions: backwards, each has the number of the relation and all relations more.
//!
//! ```
//! use logltn::{ColumnData, Labels, Output, Source, Theory};
//! use logltn_paper::graph_model::{ComplEx, Conclusions, Evidence, Facts, Triple, ranks};
//! use logltn_learn::{Individuals, Session};
//!
//! // Ann and Bob are parents; who is a grandparent is told of some.
//! let people = ["ann", "bob", "cid", "dan", "eve", "fay"];
//! let train: [Triple; 5] = [[0, 0, 1], [1, 0, 2], [0, 1, 2], [3, 0, 4], [4, 0, 5]];
//! let relations = ["parent", "grandparent", "parent~", "grandparent~"];
//! let rules = "axiom grandparents (weight 0.9):
//!         forall x, z, y: Entity where train(x, parent, z) and train(z, parent, y). linked(x, grandparent, y)
//!     sort Entity  sort Relation  table train(h: Entity, r: Relation, t: Entity)
//!     predicate linked(Entity, Relation, Entity)";
//! let mut labels = Labels::default();
//! labels.insert("Relation", relations.map(String::from).to_vec());
//! let rules = Theory::parse_with(Source::new("rules.ltn", rules), &labels)?;
//! let facts = Facts { entities: 6, relations: 2, told: &train };
//! let derived = Evidence::new(&Conclusions::new(&rules, facts)?.into());
//!
//! let linked = ComplEx::new(6, 4, 8, 0.01, 0)?;
//! let column = |at: usize| ColumnData::Individuals(train.iter().map(|t| t[at]).collect());
//! let mut session = Session::builder("
//!         sort Entity  sort Relation  table train(h: Entity, r: Relation, t: Entity)
//!         predicate linked(Entity, Relation, Entity)  predicate derived(Entity, Relation, Entity)
//!         axiom facts: forall (h, r, t) in train. linked(h, r, t) and derived(h, r, t)
//!     ")
//!     .sort("Entity", Individuals::named(people))
//!     .sort("Relation", Individuals::named(relations))
//!     .table("train", vec![column(0), column(1), column(2)])
//!     .host("linked", linked.clone(), Output::log_truth())
//!     .host("derived", derived.clone(), Output::log_truth())
//!     .learning_rate(0.05)
//!     .steps(50)
//!     .build()?;
//! while !session.is_done() {
//!     session.step()?;
//! }
//! // Dan is the grandparent of Fay, which only the rule knows.
//! let found = ranks(facts, &train, &[[3, 1, 5]], &[1.0], |_, _| {}, |questions, times, scores| {
//!     derived.add(questions, times, scores)
//! })?;
//! assert_eq!(found[0].mrr(), 1.0);
//! # Ok::<(), logltn::Diagnostics>(())
//! ```

mod complex;
mod evidence;
mod ranking;
mod softmax;

use std::sync::{Mutex, MutexGuard, PoisonError};

use logltn::Request;

pub use complex::ComplEx;
pub use evidence::{Conclusions, Evidence};
pub use ranking::{Ranks, ranks};

/// A fact: who, which relation, to whom.
pub type Triple = [u32; 3];

/// The facts of a graph that are told.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// How many entities there are.
    pub entities: usize,
    /// How many relations, each in one direction.
    pub relations: usize,
    /// The facts.
    pub told: &'a [Triple],
}

impl Facts<'_> {
    /// A fact seen from its other end.
    pub fn backwards(&self, [head, relation, tail]: Triple) -> Triple {
        [tail, relation + self.relations as u32, head]
    }
}

/// The facts that are asked for.
fn asked(request: &Request) -> impl Iterator<Item = Triple> {
    (0..request.rows()).map(|row| {
        let row = request.row(row);
        [row[0], row[1], row[2]]
    })
}

/// What is shared, to be used now.
fn held<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
