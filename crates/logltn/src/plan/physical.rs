//! What the engine runs: an axiom with everything resolved that does not change from step to step, such as where each
//! level finds its slots in its parent's block, which buffer holds each node's value, and which parts are small
//! clauses.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Rewrite;
use super::applied::Applied;
use super::ground::Bound;
use super::program::{Elimination, NodeKind, Ranking, ResolveTable, SlotBase, Ungrounded};
use crate::operators::{Additive, Bilinear, Summand};

/// An axiom, ready for the lanes.
#[derive(Clone, Debug)]
pub(crate) struct Physical {
    /// The axiom of the theory, whose variables it uses.
    pub axiom: usize,
    pub nodes: Vec<Node>,
    pub root: usize,
    /// The nodes that add up to the axiom's value: one, or the members of a conjunction of quantifiers.
    pub roots: Vec<Root>,
    /// Level 0 is outside all quantifiers; every quantifier has its own level. After these come the levels of
    /// small clauses over rows, which look up nothing new.
    pub levels: Vec<Level>,
    pub quantifier_levels: usize,
    /// The roots that are small clauses.
    pub clauses: Vec<SmallClause>,
    pub slots: Vec<SlotBase>,
    /// The constant parts of the wide slots.
    pub wide_slots: Vec<u64>,
    /// Look-ups of guards' keys that several components determine.
    pub key_tables: Vec<FxHashMap<u64, u32>>,
    /// Functions between variables and what they name together.
    pub applied: Vec<Applied>,
    pub eliminations: Vec<Elimination>,
    /// What the passes rewrote, for people.
    pub rewrites: Vec<Rewrite>,
    /// Present if the bindings of the root are asked for one by one.
    pub ranking: Option<Ranking>,
    /// Present if they are to be explained.
    pub form: Option<Arc<Ungrounded>>,
}

/// A part of an axiom that the lanes can divide among themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub node: usize,
    /// About how much work one binding of its quantifier is.
    pub cost: u64,
    /// Which small clause it is, if it is one.
    pub clause: Option<usize>,
    /// Whether other processes have other bindings of it.
    pub sharded: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: NodeKind,
    pub level: usize,
    /// The buffer of its level that holds its value. The members of a connective are side by side.
    pub buffer: usize,
    /// For a literal: where its places are; for an elimination: where its keys are.
    pub place: SlotSource,
    /// In a definition that was written out: its empty `exists` are not counted.
    pub uncounted: bool,
}

/// Where the values of a slot are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlotSource {
    /// The same for all bindings: the slot's base.
    Base(usize),
    /// In this array of the level's block.
    Array(usize),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    pub parent: usize,
    /// The longest comes last: its tuples run in the innermost loop.
    pub components: Vec<LevelComponent>,
    pub adds: Vec<Add>,
    /// By add: whether only literals of this level read the places, so that they need not be written down one by one
    /// where they follow each other.
    pub read_by_literals: Vec<bool>,
    pub wide_adds: Vec<Add>,
    pub resolves: Vec<Lookup>,
    /// The arrays whose product says how many bindings each one stands for; without any, for itself.
    pub weights: Vec<usize>,
    /// If it has these and no outer binding chooses its lists: how many bindings it has in total.
    pub counted: f64,
    /// The number of nodes whose values are in this level's block.
    pub buffers: usize,
    /// How many bindings a block of this level holds.
    pub capacity: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct LevelComponent {
    pub component: usize,
    pub key: Option<SlotSource>,
    /// For people.
    pub bound: Arc<Bound>,
    /// The place of the quantifier in the text.
    pub position: usize,
}

/// What the components of a level add to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Add {
    /// Where the parent level keeps the sum so far.
    pub from: SlotSource,
    /// Per component.
    pub maps: Vec<Vec<usize>>,
}

/// A wide slot that is complete is looked up, and the result is added to an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    pub wide: usize,
    pub array: usize,
    pub table: ResolveTable,
}

/// The most literals of a small clause.
pub(crate) const MOST_LITERALS: usize = 4;

/// A connective of two to four literals directly under the quantifier of an axiom, the most common formula. The engine
/// takes value and derivatives of such a clause in one pass (`engine/clause`) instead of node by node.
#[derive(Clone, Debug)]
pub(crate) struct SmallClause {
    /// The one whose place changes least comes first.
    pub literals: Vec<ClauseLiteral>,
    pub form: Form,
    /// Of its quantifier.
    pub forall: bool,
    /// How the quantifier aggregates the values.
    pub additive: Additive,
    /// The level that lists the bindings; without the classes if the clause goes over rows.
    pub level: usize,
    /// How many classes all literals have in a binding of that level: a row of them, or 1 if the clause goes over
    /// places.
    pub classes: usize,
    pub over_rows: bool,
    /// How many numbers a value is computed from: one of each literal, or a row of the only one.
    pub members: usize,
    /// About how much work a binding of that level is.
    pub cost: u64,
}

impl SmallClause {
    /// Whether it goes over rows of numbers instead of single ones.
    pub fn reads_rows(&self) -> bool {
        self.over_rows || matches!(self.form, Form::ExistsClass { .. })
    }
}

/// Where a literal of a clause finds its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClauseLiteral {
    pub request: usize,
    pub negated: bool,
    pub place: SlotSource,
}

/// What a small clause computes for each binding, and how the values are aggregated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// `or` in log space, added up: log Σ exp(α x), less the log of the number of literals if `mean`, over α.
    LogExp { mean: bool },
    /// `exists` in log space over all classes of one literal, added up: the same over a row of numbers.
    ExistsClass { mean: bool },
    /// `or` in log space as the greatest literal, added up.
    Max,
    /// A connective of two truth degrees made of products, and the sum that is taken over it.
    Product {
        /// The connective, with the projection that the quantifier needs.
        of: Bilinear,
        summand: Summand,
    },
}
