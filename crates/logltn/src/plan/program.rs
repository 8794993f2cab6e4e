//! What the planner hands to the engine: components, maps, requests and one program per axiom.
//!
//! A **component** is a list of tuples that a quantifier runs over: the individuals of a sort, the rows
//! of a table, or the combinations that a guard keeps, one list per key where the guard looks at outer
//! variables. A quantifier runs over the product of its components, which is never built.
//!
//! A **slot** holds, for each binding in a block, where a literal's number stands in its request's table
//! (or which key a guard has). Every component of the quantifiers around a literal adds its part to the
//! slot by way of a **map**: one number per tuple. So the engine's loops add small integers and gather;
//! they never see variables, sorts or guards.

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
    /// How many combinations the guard was asked about, over all keys.
    pub candidates: u128,
    /// How the tuples were found, for people.
    pub method: String,
    /// A step may look at some of the rows only.
    pub batched: Option<TableId>,
}

impl Component {
    pub fn len(&self) -> usize {
        *self.offsets.last().unwrap_or(&0) as usize
    }

    pub fn keys(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub fn bytes(&self) -> usize {
        4 * (self.offsets.len() + self.tuples.len())
    }
}

/// What a component lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ComponentSource {
    /// All individuals of a sort.
    Sort(SortId),
    /// All rows of a table.
    Rows(TableId),
    /// What a guard keeps of some variables' combinations, or of a table's rows.
    Guarded {
        variables: Vec<VarId>,
        rows_of: Option<TableId>,
    },
}

/// What the tuples of a component add to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub component: usize,
    pub values: MapValues,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MapValues {
    /// As it is: a class, a key, a part of a place in a complete table.
    Plain(Vec<u32>),
    /// The code of a request's row; adds the row's number times the width.
    Rows { request: usize, codes: Vec<u64> },
    /// A part of a code that is looked up when all parts have been added.
    Wide(Vec<u64>),
}

/// The argument rows on which a predicate is to be evaluated.
#[derive(Clone, Debug)]
pub(crate) struct RequestPlan {
    pub predicate: PredicateId,
    /// How the arguments are made of individuals.
    pub shape: Vec<ArgumentShape>,
    /// The number of individuals that each leaf of the shape may be; codes are mixed-radix numbers.
    pub extents: Vec<u64>,
    /// The number of answers per row: 1, or one per class.
    pub width: usize,
    /// Some literal needs every row there can be, so rows are numbered by their codes.
    pub complete: bool,
    /// Depends on a batched table: numbered anew for each batch.
    pub dynamic: bool,
    /// Occurs plain (0) or negated (1), so that the engine makes only the tables it needs.
    pub occurs: [bool; 2],
    /// Codes of atoms without variables.
    pub constant_codes: Vec<u64>,
    /// The first place in the theory that asks for it.
    pub span: Span,
}

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

/// How an argument of a predicate is made of individuals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentShape {
    /// An individual of a sort.
    Individual(SortId),
    /// A function's value at some arguments.
    Apply(FunctionId, Vec<ArgumentShape>),
}

/// One axiom, ready to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub nodes: Vec<Node>,
    pub root: usize,
    /// Level 0 is outside of all quantifiers; every quantifier has a level of its own.
    pub levels: Vec<Level>,
    pub slots: Vec<SlotBase>,
    /// The constant parts of the wide slots.
    pub wide_slots: Vec<u64>,
    /// Look-ups of guards' keys that several components determine.
    pub key_tables: Vec<rustc_hash::FxHashMap<u64, u32>>,
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
    pub components: Vec<ComponentUse>,
    /// The slots that this level or one inside it reads, with the map of each component.
    pub adds: Vec<SlotAdd>,
    pub wide_adds: Vec<SlotAdd>,
    /// Look-ups that are complete at this level.
    pub resolves: Vec<Resolve>,
}

#[derive(Clone, Debug)]
pub(crate) struct ComponentUse {
    pub component: usize,
    /// The slot, at the parent level, that holds the key.
    pub key_slot: Option<usize>,
    /// The variables that it binds, and those that its guard looks at, for people.
    pub names: String,
    pub key_names: String,
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
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: NodeKind,
    /// The level in whose block its value stands.
    pub level: usize,
    /// The two halves of an equivalence: they bind the same variables of the text twice.
    pub equivalence: bool,
    pub span: Span,
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
}
