//! What planner and engine may want to know of an operator. Each law is exact: whoever claims one is rewritten and
//! computed accordingly.

use super::aggregate::State;
use super::polynomial::{Affine, Polynomial};
use super::settings::Settings;
use super::{Aggregator, Or};

/// What is true of an `and` or `or`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectiveLaws {
    /// Its value is the sum of its members, so that each can be computed apart.
    pub adds: bool,
    /// `(a or b) or c` is `a or b or c`.
    pub associative: bool,
    /// The sum distributes over it.
    pub semiring: Option<Semiring>,
    /// Of two truth degrees it is a polynomial, given ε.
    pub polynomial: Option<fn(f64) -> Polynomial>,
    /// It is a function of its members' complements as well.
    pub wants_complements: bool,
}

/// What is true of an aggregator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AggregatorLaws {
    /// The aggregate of equal values is that value, however many there are.
    pub idempotent: bool,
    /// The aggregate of groups of equal size is the aggregate of the groups' aggregates.
    pub regroups: bool,
    /// Its value is that of one member, which has all of the derivative.
    pub picks_one: bool,
    /// The sum distributes over it.
    pub semiring: Option<Semiring>,
    /// Its value is a function of one sum over the members.
    pub additive: Option<Additive>,
    /// It is this aggregator of the members' logs, which the plan takes.
    pub of_logs: Option<Aggregator>,
    /// This `or` of the members is the same.
    pub or: Option<Or>,
    /// It is a function of its members' complements as well.
    pub wants_complements: bool,
}

impl ConnectiveLaws {
    /// Nothing but its values and slopes.
    pub const NONE: ConnectiveLaws = ConnectiveLaws {
        adds: false,
        associative: false,
        semiring: None,
        polynomial: None,
        wants_complements: false,
    };
}

impl AggregatorLaws {
    /// Nothing but its values and slopes.
    pub const NONE: AggregatorLaws = AggregatorLaws {
        idempotent: false,
        regroups: false,
        picks_one: false,
        semiring: None,
        additive: None,
        of_logs: None,
        or: None,
        wants_complements: false,
    };

    /// The derivative by each of `count` members, given that by the aggregate, if it is known before the members are.
    pub fn linear_slope(&self, by: f64, settings: &Settings<f64>, count: f64) -> Option<f64> {
        let additive = self.additive.filter(|a| a.summand == Summand::Itself)?;
        let state = (additive.state)(0.0, count);
        Some((additive.slope)(by, settings, &state))
    }

    /// Whether it is a linear function of its members.
    pub fn is_linear(&self) -> bool {
        (self.additive).is_some_and(|additive| additive.summand == Summand::Itself)
    }
}

/// An operator ⊕ over which the sum distributes: a + (b ⊕ c) = (a + b) ⊕ (a + c). So variables can be eliminated one at
/// a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Semiring {
    /// The greatest.
    Greatest,
    /// 1/α · log Σ exp(α v); with `mean`, of the sum over the number of members.
    Exponentials {
        /// Counts its members.
        mean: bool,
    },
}

/// An aggregator that adds something up over its members and makes its value of the total.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Additive {
    /// What is added up, of the projected members.
    pub summand: Summand,
    /// How members are projected, given ε.
    pub projection: fn(f64) -> Affine,
    /// The state after this many members, given the total.
    pub state: fn(f64, f64) -> State,
    /// From the derivative by the aggregate to that by a summand, except for a factor that is the summand's own: p
    /// for a power.
    pub slope: fn(f64, &Settings<f64>, &State) -> f64,
}

/// A function of a projected member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summand {
    Itself,
    Log,
    Power(Exponent),
}

/// Which parameter is the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exponent {
    P,
    PForall,
}
