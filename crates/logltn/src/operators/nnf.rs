//! Negation normal form: in log space `->` and `not` are rewritten until negations are at the atoms, which have exact
//! logs of their negations. So nothing is left to compute.

use super::implication::{ImplicationLaws, Implies};
use super::negation::{Negate, NegationLaws};
use super::{Domain, Expressed, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct Nnf;

impl Operator for Nnf {
    const DOMAIN: Domain = Domain::Logs;
    const FORMULAS: &'static [Formula] = &[
        Formula::new(
            "implies",
            "logs",
            "`not a or b`",
            "rewritten before anything is computed; cannot be replaced",
        ),
        Formula::new(
            "not",
            "logs",
            "pushed to the atoms",
            "which know the log of their negation; cannot be replaced",
        ),
    ];
}

impl Implies for Nnf {
    const LAWS: ImplicationLaws = ImplicationLaws { polynomial: None };
    const EXPRESSED: Expressed = Expressed::Rewritten;

    fn of<T: Real>(_: Settings<T>, _: T, _: T) -> T {
        unreachable!("negation normal form has no implications")
    }

    fn slopes<T: Real>(_: Settings<T>, _: T, _: T) -> (T, T) {
        unreachable!("negation normal form has no implications")
    }
}

impl Negate for Nnf {
    const LAWS: NegationLaws = NegationLaws { affine: None };
    const EXPRESSED: Expressed = Expressed::Rewritten;

    fn of<T: Real>(_: T) -> T {
        unreachable!("negation normal form negates atoms only")
    }

    fn slope<T: Real>(_: T) -> T {
        unreachable!("negation normal form negates atoms only")
    }
}
