//! What the planner hands to the engine: components, maps, requests and one program per axiom.
//!
//! A **component** is a list of tuples that a quantifier runs over: the individuals of a sort, the rows
//! of a table, or the combinations that a guard keeps, one list per key where the guard looks at outer
//! variables. A quantifier runs over the product of its components, which is never built.
//!
//! A **slot** holds, for each binding in a block, where a literal's number is in its request's table (or
//! which key a guard has). Every component of the quantifiers around a literal adds its part to the slot
//! by way of a **map**: one number per tuple. So the engine's loops add small integers and gather; they
//! never see variables, sorts or guards.

use std::sync::Arc;

use super::Rewrite;
use super::applied::Applied;
use super::ground::{Bound, KeyIds};
use super::normal::Normal;
use crate::source::Span;
use crate::theory::*;

/// A list of tuples for each key.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub source: ComponentSource,
    /// `offsets[key]..offsets[key + 1]` are the tuples of a key.
    pub offsets: Vec<u32>,
    /// Flat: `arity` numbers per tuple, individuals by index or one row of the table.
    pub tuples: Vec<u32>,
    pub arity: usize,
    /// How many bindings each tuple stands for; empty if each is one.
    pub weights: Vec<u32>,
    /// How many combinations the guard was tested on, over all keys.
    pub candidates: u128,
    /// How the tuples were found, for people.
    pub method: String,
    /// Whether a step may see only some of the rows.
    pub batched: Option<TableId>,
}

impl Component {
    pub fn len(&self) -> usize {
        *self.offsets.last().unwrap_or(&0) as usize
    }

    pub fn keys(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// How many bindings a tuple stands for.
    pub fn weight(&self, tuple: u32) -> u128 {
        self.weights
            .get(tuple as usize)
            .map_or(1, |w| u128::from(*w))
    }

    /// The same for some tuples together.
    pub fn bindings(&self, tuples: std::ops::Range<u32>) -> u128 {
        match self.weights.is_empty() {
            true => tuples.len() as u128,
            false => tuples.map(|tuple| self.weight(tuple)).sum(),
        }
    }

    pub fn bytes(&self) -> usize {
        4 * (self.offsets.len() + self.tuples.len() + self.weights.len())
    }
}

/// The kind of a component.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ComponentSource {
    /// All individuals of a sort.
    Sort(SortId),
    /// All rows of a table.
    Rows(TableId),
    /// The combinations of some variables, or the rows of a table, that a guard keeps.
    Guarded { rows_of: Option<TableId> },
    /// Bindings of all variables around a part of a formula: an [`Excerpt`](super::excerpt::Excerpt).
    Bindings,
}

impl ComponentSource {
    /// The table whose rows the tuples are.
    pub fn table(&self) -> Option<TableId> {
        match self {
            ComponentSource::Rows(table) => Some(*table),
            ComponentSource::Guarded { rows_of } => *rows_of,
            ComponentSource::Sort(_) | ComponentSource::Bindings => None,
        }
    }
}

/// What the tuples of a component add to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub component: usize,
    pub values: MapValues,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MapValues {
    /// The value itself: a class, a key, a part of a place in a complete table.
    Plain(Vec<u32>),
    /// The code of a request's row; adds the row's number times the width.
    Rows { request: usize, codes: Vec<u64> },
    /// A part of a code that is looked up when all parts have been added.
    Wide(Vec<u64>),
}

impl MapValues {
    /// By how much the second tuple's value differs from the first one's.
    pub fn step(&self) -> u64 {
        match self {
            MapValues::Plain(values) => match values[..] {
                [first, second, ..] => u64::from(first.abs_diff(second)),
                _ => 0,
            },
            MapValues::Rows { codes: values, .. } | MapValues::Wide(values) => match values[..] {
                [first, second, ..] => first.abs_diff(second),
                _ => 0,
            },
        }
    }
}

/// The argument rows on which a predicate is to be evaluated.
#[derive(Clone, Debug)]
pub(crate) struct RequestPlan {
    pub predicate: PredicateId,
    /// How the arguments are built from individuals.
    pub shape: Vec<ArgumentShape>,
    /// The number of individuals that each leaf of the shape may be; codes are mixed-radix numbers. Where one of them is 0 there
    /// are no codes.
    pub extents: Vec<u64>,
    /// The number of answers per row: 1, or one per class.
    pub width: usize,
    /// Some literal needs every possible row, so rows are numbered by their codes.
    pub complete: bool,
    /// Depends on a batched table: numbered again for each batch.
    pub dynamic: bool,
    /// Occurs plain (0) or negated (1), so that the engine makes only the tables it needs.
    pub occurs: [bool; 2],
    /// Codes of atoms without variables.
    pub constant_codes: Vec<u64>,
    /// The first place in the theory that uses it.
    pub span: Span,
}

/// The first requests of a plan are its strata, and belong to no predicate.
pub(crate) const NO_PREDICATE: PredicateId = PredicateId(u32::MAX);

impl RequestPlan {
    pub fn grid(&self) -> u64 {
        self.extents.iter().product()
    }

    /// The individuals of a row, from its code.
    pub fn decode(&self, mut code: u64, row: &mut [u32]) {
        for (leaf, extent) in row.iter_mut().zip(&self.extents).rev() {
            *leaf = (code % extent) as u32;
            code /= extent;
        }
    }
}

/// How an argument of a predicate is built from individuals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentShape {
    /// An individual of a sort.
    Individual(SortId),
    /// A number, by its place among [`Data::numbers`](crate::Data::numbers); [`Request::number`](crate::Request::number)
    /// tells its value.
    Number,
    /// A vector that a function given by data has for a tuple of individuals, by the number of the tuple:
    /// [`Data::function`](crate::Data::function) has the numbers.
    Row(FunctionId),
    /// A learnt function's value at some arguments.
    Apply(FunctionId, Vec<ArgumentShape>),
}

/// One axiom, ready to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub nodes: Vec<Node>,
    pub root: usize,
    /// Level 0 is outside all quantifiers; every quantifier has its own level.
    pub levels: Vec<Level>,
    pub slots: Vec<SlotBase>,
    /// The constant parts of the wide slots.
    pub wide_slots: Vec<u64>,
    /// Look-ups of guards' keys that several components determine.
    pub key_tables: Vec<rustc_hash::FxHashMap<u64, u32>>,
    /// Functions between variables and what they name together.
    pub applied: Vec<Applied>,
    pub eliminations: Vec<Elimination>,
    /// The outer variables of each elimination, and the numbers of its keys.
    pub elimination_keys: Vec<(Vec<VarId>, KeyIds)>,
    /// What the passes have rewritten, for people.
    pub rewrites: Vec<Rewrite>,
    /// If the bindings of the root are asked for one by one.
    pub ranking: Option<Ranking>,
    /// If they are to be explained.
    pub form: Option<Arc<Ungrounded>>,
}

/// What is under the `forall`s at an axiom's root, before grounding.
#[derive(Clone, Debug)]
pub(crate) struct Ungrounded {
    /// The normal form.
    pub written: Normal,
    /// The same with `exists` as sums of products, if that is all that was rewritten.
    pub eliminated: Option<Normal>,
}

/// Identifies the bindings of the quantifiers at the root: each is a few mixed-radix numbers, whose order is that of
/// the individuals.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// The levels of these quantifiers, from the outside to the inside.
    pub levels: Vec<usize>,
    /// What is under them.
    pub body: usize,
    /// By number: the wide slot that holds it at the innermost of the levels, then its array in the level's block.
    pub codes: Vec<usize>,
    /// Most significant first.
    pub digits: Vec<Digit>,
}

/// A digit of the numbers of a [`Ranking`].
#[derive(Clone, Debug)]
pub(crate) struct Digit {
    pub of: DigitOf,
    /// Which of the numbers it belongs to.
    pub code: usize,
    pub stride: u64,
    pub extent: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum DigitOf {
    Variable(VarId),
    Row(TableId, Vec<VarId>),
}

/// The greatest number of numbers of a [`Ranking`].
pub(crate) const MOST_CODES: usize = 4;

/// An `exists` whose variables are eliminated one after another, instead of going through all bindings.
///
/// Each step goes through the combinations of a few variables, adds up what the factors and the messages
/// of earlier steps have for them, and sums (or maximises) over the variables that it eliminates. The
/// message is a number for each combination of the remaining variables; the last message of each chain
/// is a single number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    pub factors: Vec<EliminationFactor>,
    /// Members of the conjunction without any of the variables, at the level of the node itself.
    pub common: Vec<usize>,
    /// The slot, at the level of the node, that holds the key.
    pub key_slot: Option<usize>,
    pub steps: Vec<EliminationStep>,
    /// By step: whether no variable remains after it, so that its message is part of the result.
    pub last: Vec<bool>,
    /// By key and step: which of the step's lists, or [`NO_LIST`] where the guard keeps nothing.
    pub lists_of_key: Vec<u32>,
    /// By key: how many bindings the `exists` has, and the natural log of that.
    pub counts: Vec<u128>,
    pub log_counts: Vec<f64>,
    /// The factor by which variables that nothing reads multiply the bindings, and its natural log.
    pub unread: u128,
    pub log_unread: f64,
    /// All combinations of all steps, over all keys.
    pub combinations: u128,
}

/// Instead of a list: the guard keeps nothing.
pub(crate) const NO_LIST: u32 = u32::MAX;

impl Elimination {
    pub fn list(&self, key: usize, step: usize) -> Option<&EliminationList> {
        let list = self.lists_of_key[key * self.steps.len() + step];
        self.steps[step].lists.get(list as usize)
    }

    /// The sum over all bindings of the product of the factors' weights; a factor without counts as 1.
    pub fn sum_of_products(&self, key: usize, weights: &[Option<Vec<u128>>]) -> u128 {
        let mut messages: Vec<Vec<u128>> = Vec::with_capacity(self.steps.len());
        let mut product = 1_u128;
        for (s, step) in self.steps.iter().enumerate() {
            let Some(list) = self.list(key, s) else {
                return 0;
            };
            let len = list.len();
            let mut terms = vec![1_u128; len];
            for (i, input) in step.inputs.iter().enumerate() {
                let values = match *input {
                    EliminationInput::Message(m) => &messages[m],
                    EliminationInput::Factor(f) => match &weights[f] {
                        Some(weights) => weights,
                        None => continue,
                    },
                };
                for (term, &place) in terms.iter_mut().zip(&list.places[i * len..]) {
                    *term = term.saturating_mul(values[place as usize]);
                }
            }
            let mut from = 0;
            let sums = list.ends.iter().map(|&end| {
                let own = &terms[from..end as usize];
                from = end as usize;
                own.iter().fold(0, |a: u128, b| a.saturating_add(*b))
            });
            let message: Vec<u128> = sums.collect();
            if self.last[s] {
                product = product.saturating_mul(message[0]);
            }
            messages.push(message);
        }
        product
    }

    /// About how much work one outer binding is, apart from its factors.
    pub fn cost(&self) -> u64 {
        let keys = self.counts.len().max(1) as u128;
        let steps = self.steps.len().max(1) as u128;
        let inputs: usize = self.steps.iter().map(|s| s.inputs.len()).sum();
        // Forward and backward, a combination reads or adds to each of its inputs, and has an exponential and its sum.
        let each = 2 * (inputs as u128 / steps + 2);
        u64::try_from(each * self.combinations / keys).unwrap_or(u64::MAX / 4)
    }

    pub fn bytes(&self) -> usize {
        let lists = self.steps.iter().flat_map(|s| &s.lists);
        let numbers: usize = lists.map(|l| l.ends.len() + l.places.len()).sum();
        4 * (numbers + self.lists_of_key.len()) + 24 * self.counts.len()
    }
}

/// A part of the conjunction, evaluated for each combination of the variables that it reads.
#[derive(Clone, Debug)]
pub(crate) struct EliminationFactor {
    pub level: usize,
    pub body: usize,
    /// The number of combinations.
    pub size: usize,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EliminationStep {
    pub inputs: Vec<EliminationInput>,
    pub lists: Vec<EliminationList>,
    /// The most combinations of a list, and the most places of its message.
    pub longest: usize,
    pub widest: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum EliminationInput {
    /// The message of an earlier step.
    Message(usize),
    Factor(usize),
}

/// The combinations that a step goes through, ordered by the place of its message that they add to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct EliminationList {
    /// Where the combinations of each place of the message end.
    pub ends: Vec<u32>,
    /// By input and combination: the place in the factor or in the message.
    pub places: Vec<u32>,
}

impl EliminationList {
    pub fn len(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }
}

/// The constant part of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlotBase {
    pub plain: u32,
    /// An atom's arguments that are all constant: request and code.
    pub row: Option<(usize, u64)>,
}

/// One quantifier's bindings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    pub parent: usize,
    /// The components: it runs over all combinations of their tuples.
    pub bound: Vec<Arc<Bound>>,
    /// For each of them, the slot at the parent level that holds the key, if it has one.
    pub key_slots: Vec<Option<usize>>,
    /// The slots that this level or one inside it reads, with the map of each component.
    pub adds: Vec<SlotAdd>,
    pub wide_adds: Vec<SlotAdd>,
    /// Look-ups that are complete at this level.
    pub resolves: Vec<Resolve>,
    /// The slots whose product says how many bindings each one stands for; without any, for itself.
    pub weights: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct SlotAdd {
    pub slot: usize,
    /// Per component of the level. A table's row may name both the row of a request and the class.
    pub maps: Vec<Vec<usize>>,
}

/// A wide slot whose parts are all there is looked up, and the result added to a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolve {
    pub wide: usize,
    pub slot: usize,
    pub table: ResolveTable,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ResolveTable {
    /// A request's rows; adds the number times the width.
    Request(usize),
    /// A key table of the program.
    Key(usize),
    /// The result of the program's functions for the code: the row of a request, or else a class, used
    /// directly.
    Applied {
        functions: usize,
        request: Option<usize>,
    },
}

impl ResolveTable {
    /// The request whose rows are looked up.
    pub fn request(self) -> Option<usize> {
        match self {
            ResolveTable::Request(request) => Some(request),
            ResolveTable::Applied { request, .. } => request,
            ResolveTable::Key(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: NodeKind,
    /// The level whose block holds its value.
    pub level: usize,
    /// The two halves of an equivalence: they bind the same variables of the text twice.
    pub equivalence: bool,
    /// Made from quantifiers: how many bindings those had.
    pub groundings: Option<Counted>,
    pub span: Span,
}

/// How many bindings moved quantifiers have: a number, times the lengths of some lists.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    pub times: u128,
    pub lists: Vec<Arc<Bound>>,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    /// An empty `any` (false) or `all` (true).
    Constant(bool),
    Literal {
        request: usize,
        negated: bool,
        slot: usize,
    },
    /// The value of a stratum at a tuple.
    Use {
        stratum: usize,
        negated: bool,
        slot: usize,
    },
    Not(usize),
    And(Vec<usize>),
    Or(Vec<usize>),
    Implies(usize, usize),
    Iff(usize, usize),
    /// The log of a truth degree: where `prod` leaves truth space.
    Log(usize),
    Quantifier {
        forall: bool,
        /// The level of its body.
        level: usize,
        body: usize,
    },
    /// An `exists` by elimination: one of the program's.
    Elimination(usize),
}

impl NodeKind {
    /// The children of this node.
    pub fn children(&self, eliminations: &[Elimination]) -> Vec<usize> {
        match self {
            NodeKind::Constant(_) | NodeKind::Literal { .. } | NodeKind::Use { .. } => Vec::new(),
            NodeKind::Not(a) | NodeKind::Log(a) | NodeKind::Quantifier { body: a, .. } => vec![*a],
            NodeKind::Implies(a, b) | NodeKind::Iff(a, b) => vec![*a, *b],
            NodeKind::And(members) | NodeKind::Or(members) => members.clone(),
            NodeKind::Elimination(index) => {
                let Elimination {
                    factors, common, ..
                } = &eliminations[*index];
                let factors = factors.iter().map(|factor| factor.body);
                common.iter().copied().chain(factors).collect()
            }
        }
    }
}
