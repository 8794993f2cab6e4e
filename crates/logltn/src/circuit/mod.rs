//! Formulas over variables of finitely many states, compiled to circuits that answer questions about all worlds at once.
//!
//! A formula ([`Proposition`]) becomes hash-consed negation normal form ([`store`]), that becomes a circuit whose sums are
//! over worlds that exclude each other and whose products are over different variables ([`compile`]), and a circuit is
//! evaluated for many assignments of weights at once ([`evaluate`]): probabilities, marginals, the most probable world,
//! a world drawn at random.
//!
//! A variable that a branch does not mention is free there: its weights add up to 1, so nothing has to be written for
//! it. That keeps circuits small; questions about single states distribute the remaining mass by the variable's own
//! weights.

mod cliques;
mod closure;
mod compile;
#[cfg(test)]
mod count;
mod evaluate;
mod order;
mod proposition;
mod store;
mod sums;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use closure::Implications;
pub(crate) use compile::{Budget, TooHard, compile, is_satisfiable};
#[cfg(test)]
pub(crate) use evaluate::Random;
pub(crate) use evaluate::{Lanes, Weights, pick, unit_of};
pub(crate) use proposition::{Proposition, Shape};

/// A compiled formula.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circuit {
    /// By variable: how many states it has.
    pub domains: Vec<u32>,
    /// By variable: where its states begin among those of all variables. One more than there are variables.
    pub slots: Vec<u32>,
    /// Children before parents.
    pub nodes: Vec<Node>,
    /// The children of all products and sums.
    pub children: Vec<u32>,
    /// The states of all leaves.
    pub states: Vec<u32>,
    pub root: Root,
}

/// The root of the circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Root {
    /// No world.
    #[default]
    False,
    /// Every world.
    True,
    Node(u32),
}

/// Where a part of a circuit is; ranges point into [`Circuit::children`] or [`Circuit::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// The variable is in one of these states.
    Leaf { var: u32, from: u32, to: u32 },
    /// Parts with different variables.
    Product { from: u32, to: u32 },
    /// Parts that exclude each other.
    Sum { from: u32, to: u32 },
}

/// A node with its children, or a variable with its states.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'c> {
    Leaf(u32, &'c [u32]),
    Product(&'c [u32]),
    Sum(&'c [u32]),
}

impl Circuit {
    pub fn edges(&self) -> usize {
        self.children.len()
    }

    /// A node with what is in it.
    pub fn part(&self, node: Node) -> Part<'_> {
        let range = |from: u32, to: u32| from as usize..to as usize;
        match node {
            Node::Leaf { var, from, to } => Part::Leaf(var, &self.states[range(from, to)]),
            Node::Product { from, to } => Part::Product(&self.children[range(from, to)]),
            Node::Sum { from, to } => Part::Sum(&self.children[range(from, to)]),
        }
    }

    /// All parts, children before parents.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = (usize, Part<'_>)> {
        let parts = self.nodes.iter().map(|node| self.part(*node));
        (0..self.nodes.len()).zip(parts)
    }

    /// How many states all variables have together.
    pub fn slot_count(&self) -> usize {
        self.slots.last().map_or(0, |s| *s as usize)
    }
}
