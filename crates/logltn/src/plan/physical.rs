//! What the engine runs: an axiom with everything resolved that does not change from step to step. Where each level finds
//! its slots in its parent's block, in which buffer each node's value stands, which parts are small clauses.

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
    /// Of the theory, whose variables it is about.
    pub axiom: usize,
    pub nodes: Vec<Node>,
    pub root: usize,
    /// The nodes that add up to the axiom's value: one, or the members of a conjunction of quantifiers.
    pub roots: Vec<Root>,
    /// Level 0 is outside all quantifiers; every quantifier has its own level. After these come those that go
    /// through small clauses by rows, which look up nothing new.
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
    /// What the passes have rewritten, for people.
    pub rewrites: Vec<Rewrite>,
    /// If the bindings of the root are asked for one by one.
    pub ranking: Option<Ranking>,
    /// If they are to be explained.
    pub form: Option<Arc<Ungrounded>>,
}

/// A part of an axiom that the lanes can share among them.
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
    /// Which of its level's buffers holds its value. The members of a connective are side by side.
    pub buffer: usize,
    /// For a literal: where its places stand; for an elimination, its keys.
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
    /// The number of nodes whose values stand in this level's block.
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
    /// Its place in the text of the quantifier.
    pub position: usize,
}

/// What the components of a level add to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Add {
    /// Where the parent level has the sum so far.
    pub from: SlotSource,
    /// Per component.
    pub maps: Vec<Vec<usize>>,
}

/// A wide slot whose parts are all there is looked up, and the result added to an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    pub wide: usize,
    pub array: usize,
    pub table: ResolveTable,
}

/// The most literals of a small clause.
pub(crate) const MOST_LITERALS: usize = 4;

/// A connective of two to four literals right under the quantifier of an axiom, the commonest of all formulas. The engine
/// takes value and derivatives of such a clause in one pass (`engine/clause`) instead of node by node.
#[derive(Clone, Debug)]
pub(crate) struct SmallClause {
    /// The one whose place changes least comes first.
    pub literals: Vec<ClauseLiteral>,
    pub form: Form,
    /// Of its quantifier.
    pub forall: bool,
    /// What the quantifier does with the values.
    pub additive: Additive,
    /// The level that lists the bindings; without the classes if the clause goes over rows.
    pub level: usize,
    /// How many classes all literals have in a binding of that level: a row of them, or 1 if the clause goes over
    /// places.
    pub classes: usize,
    pub over_rows: bool,
    /// How many numbers make a value: one of each literal, or a row of the only one.
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

/// What a small clause computes for each binding, and what is done with the values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// `or` in log space, added up: log Σ exp(α x), less the log of the number of literals if `mean`, over α.
    LogExp { mean: bool },
    /// `exists` in log space over all classes of one literal, added up: the same over a row of numbers.
    ExistsClass { mean: bool },
    /// `or` in log space as the greatest literal, added up.
    Max,
    /// A connective of two truth degrees made of products, of which something is added up.
    Product {
        /// The connective, projected as the quantifier wants it.
        of: Bilinear,
        summand: Summand,
    },
}
