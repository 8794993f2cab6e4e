//! Operators as text, for programs that compute elsewhere: an exported plan contains what to compute, so readers need
//! not know operators by name.
//!
//! An expression has numbers, names, `+ - * /`, comparisons, and the functions that `PLAN-FORMAT.md` lists. Where a
//! derivative does not exist it is 0, so that differentiating the expressions gives the engine's slopes.

/// What an operator computes from its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expressed {
    /// An expression of `x`, or of `x` and `y`; more operands are folded from the left.
    Of(&'static str),
    /// A reduction of all operands.
    All(Reduction),
    /// Nothing: it is rewritten before anything is computed.
    Rewritten,
}

/// An aggregator: a few numbers that are updated by each member, and the value that is computed from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reduction {
    pub keeps: &'static [Kept],
    /// An expression of the kept numbers and of `count`: the number of members, or the sum of their weights.
    pub value: &'static str,
}

/// A number that is kept over the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub name: &'static str,
    pub how: How,
    /// An expression of a member `x`, its complement `c`, its weight `w`, and the numbers kept before this one.
    pub of: &'static str,
    /// What is kept before, and is `old` and becomes `new` when there are more members; by which factor a sum changes then.
    pub moves: Option<(&'static str, &'static str)>,
}

/// How members are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Sum,
    /// Without a derivative: sums are relative to it, and have them.
    Greatest,
}

impl Kept {
    pub const fn sum(name: &'static str, of: &'static str) -> Kept {
        Kept {
            name,
            how: How::Sum,
            of,
            moves: None,
        }
    }

    pub const fn greatest(name: &'static str, of: &'static str) -> Kept {
        Kept {
            how: How::Greatest,
            ..Kept::sum(name, of)
        }
    }

    /// A sum that changes by `factor` when what is kept as `to` is not `old` any more but `new`.
    pub const fn relative(self, to: &'static str, factor: &'static str) -> Kept {
        Kept {
            moves: Some((to, factor)),
            ..self
        }
    }
}
