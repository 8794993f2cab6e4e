//! Small clauses: a connective of two to four literals right under the quantifier of an axiom, the commonest of all
//! formulas. The engine takes value and derivatives of such a clause in one go (`engine/clause`) instead of node by node.

use super::program::{NodeKind, Program};
use crate::operators::{Aggregator, And, Implies, Not, Or, Space};
use crate::semantics::Semantics;

/// The most literals of a small clause.
pub(crate) const MOST_LITERALS: usize = 4;

/// A quantifier over a connective of literals.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    /// The nodes of the literals, in their order.
    pub literals: Vec<usize>,
    pub form: Form,
}

/// What is computed for each binding, and what is done with the values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// `or` in log space, added up: log Σ exp(α x), less the log of the number of literals if `mean`, over α.
    LogExp { mean: bool },
    /// `exists` in log space over all classes of one literal, added up: the same over a row of numbers.
    ExistsClass { mean: bool },
    /// `or` in log space as the greatest literal, added up.
    Max,
    /// A connective of two truth degrees made of products, then `outer`.
    Product {
        /// What `outer` is applied to.
        of: Bilinear,
        outer: Outer,
    },
}

/// What is done with the numbers q that a [`Bilinear`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outer {
    /// Their mean.
    Mean,
    /// Their p-mean.
    PMean,
    /// One less their p-mean: q is how far the clause is from true.
    PMeanError,
    /// The sum of their logs.
    Log,
}

/// constant + first·x + second·y + both·x·y
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bilinear {
    pub constant: f64,
    pub first: f64,
    pub second: f64,
    pub both: f64,
}

/// slope·x + start
#[derive(Clone, Copy)]
struct Affine {
    slope: f64,
    start: f64,
}

impl Affine {
    /// This one after `inner`.
    fn after(self, inner: Affine) -> Affine {
        Affine {
            slope: self.slope * inner.slope,
            start: self.slope * inner.start + self.start,
        }
    }
}

impl Bilinear {
    /// This form of `x` and `y` instead of x and y.
    fn of(self, x: Affine, y: Affine) -> Bilinear {
        Bilinear {
            constant: self.constant
                + self.first * x.start
                + self.second * y.start
                + self.both * x.start * y.start,
            first: (self.first + self.both * y.start) * x.slope,
            second: (self.second + self.both * x.start) * y.slope,
            both: self.both * x.slope * y.slope,
        }
    }

    fn then(self, outer: Affine) -> Bilinear {
        Bilinear {
            constant: outer.slope * self.constant + outer.start,
            first: outer.slope * self.first,
            second: outer.slope * self.second,
            both: outer.slope * self.both,
        }
    }

    /// With x and y exchanged.
    pub fn exchanged(self) -> Bilinear {
        Bilinear {
            first: self.second,
            second: self.first,
            ..self
        }
    }
}

/// Below this the projections do not keep roots and logarithms away from 0 in single precision.
const LEAST_EPS: f64 = 1e-5;

impl Clause {
    /// The small clause that a quantifier is about, if it is about one.
    pub fn of(program: &Program, quantifier: usize, semantics: &Semantics) -> Option<Clause> {
        let NodeKind::Quantifier { forall, body, .. } = program.nodes[quantifier].kind else {
            return None;
        };
        let aggregator = semantics.aggregator(forall);
        match semantics.space {
            Space::Log => log_clause(program, body, aggregator, semantics),
            Space::Truth => {
                let outer = match aggregator {
                    Aggregator::Mean => Outer::Mean,
                    Aggregator::PMean => Outer::PMean,
                    Aggregator::PMeanError => Outer::PMeanError,
                    _ => return None,
                };
                product_clause(program, body, outer, semantics)
            }
            Space::Mixed => match program.nodes[body].kind {
                NodeKind::Log(inner) if forall => {
                    product_clause(program, inner, Outer::Log, semantics)
                }
                _ => None,
            },
        }
    }
}

fn log_clause(
    program: &Program,
    body: usize,
    aggregator: Aggregator,
    semantics: &Semantics,
) -> Option<Clause> {
    let linear = matches!(aggregator, Aggregator::Mean | Aggregator::Sum);
    let NodeKind::Or(members) = &program.nodes[body].kind else {
        return exists_clause(program, body, semantics).filter(|_| linear);
    };
    let few = (2..=MOST_LITERALS).contains(&members.len());
    let literal = |m: &usize| matches!(program.nodes[*m].kind, NodeKind::Literal { .. });
    if !linear || !few || !members.iter().all(literal) {
        return None;
    }
    let form = match semantics.or {
        Or::LogMeanExp => Form::LogExp { mean: true },
        Or::LogSumExp => Form::LogExp { mean: false },
        Or::Max => Form::Max,
        _ => return None,
    };
    Some(Clause {
        literals: members.clone(),
        form,
    })
}

/// An `exists` about one literal. Whether it is over classes is for the engine to see.
fn exists_clause(program: &Program, body: usize, semantics: &Semantics) -> Option<Clause> {
    let NodeKind::Quantifier {
        forall: false,
        body: literal,
        ..
    } = program.nodes[body].kind
    else {
        return None;
    };
    // Clauses share tables: all of them hold exponentials, or none.
    let form = match (semantics.exists, semantics.or) {
        (Aggregator::LogMeanExp, Or::LogMeanExp | Or::LogSumExp) => {
            Form::ExistsClass { mean: true }
        }
        (Aggregator::LogSumExp, Or::LogMeanExp | Or::LogSumExp) => {
            Form::ExistsClass { mean: false }
        }
        _ => return None,
    };
    matches!(program.nodes[literal].kind, NodeKind::Literal { .. }).then(|| Clause {
        literals: vec![literal],
        form,
    })
}

fn product_clause(
    program: &Program,
    body: usize,
    outer: Outer,
    semantics: &Semantics,
) -> Option<Clause> {
    let eps = semantics.stable_eps;
    if outer != Outer::Mean && eps < LEAST_EPS {
        return None;
    }
    let away_from_zero = Affine {
        slope: 1.0 - eps,
        start: eps,
    };
    let away_from_one = Affine {
        slope: 1.0 - eps,
        start: 0.0,
    };
    let bilinear = |constant, first, second, both| Bilinear {
        constant,
        first,
        second,
        both,
    };
    let (members, projections, value) = match &program.nodes[body].kind {
        NodeKind::Implies(a, b) if semantics.implies == Implies::Reichenbach => (
            [*a, *b],
            [away_from_zero, away_from_one],
            bilinear(1.0, -1.0, 0.0, 1.0),
        ),
        NodeKind::Or(m) if semantics.or == Or::ProbabilisticSum && m.len() == 2 => (
            [m[0], m[1]],
            [away_from_one; 2],
            bilinear(0.0, 1.0, 1.0, -1.0),
        ),
        NodeKind::And(m) if semantics.and == And::Product && m.len() == 2 => (
            [m[0], m[1]],
            [away_from_zero; 2],
            bilinear(0.0, 0.0, 0.0, 1.0),
        ),
        _ => return None,
    };
    let (x, first) = degree(program, members[0], semantics)?;
    let (y, second) = degree(program, members[1], semantics)?;
    let value = value.of(projections[0].after(x), projections[1].after(y));
    let of = value.then(match outer {
        Outer::Mean => Affine {
            slope: 1.0,
            start: 0.0,
        },
        Outer::PMean | Outer::Log => away_from_zero,
        Outer::PMeanError => Affine {
            slope: eps - 1.0,
            start: 1.0,
        },
    });
    Some(Clause {
        literals: vec![first, second],
        form: Form::Product { of, outer },
    })
}

/// A literal, or the negation of one: what it makes of the atom's truth degree.
fn degree(program: &Program, node: usize, semantics: &Semantics) -> Option<(Affine, usize)> {
    let plain = Affine {
        slope: 1.0,
        start: 0.0,
    };
    match program.nodes[node].kind {
        NodeKind::Literal { .. } => Some((plain, node)),
        NodeKind::Not(a) if semantics.not != Not::Godel => {
            let (inner, literal) = match program.nodes[a].kind {
                NodeKind::Literal { .. } => (plain, a),
                _ => return None,
            };
            let negation = Affine {
                slope: -1.0,
                start: 1.0,
            };
            Some((negation.after(inner), literal))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_forms() {
        let value =
            |b: Bilinear, x: f64, y: f64| b.constant + b.first * x + b.second * y + b.both * x * y;
        let reichenbach = Bilinear {
            constant: 1.0,
            first: -1.0,
            second: 0.0,
            both: 1.0,
        };
        let affine = |slope, start| Affine { slope, start };
        let (p, q, r) = (affine(0.9, 0.1), affine(-0.8, 0.7), affine(-2.0, 1.0));
        let composed = reichenbach.of(p, q).then(r);
        for (x, y) in [(0.0, 0.0), (0.3, 0.9), (1.0, 0.2)] {
            let (u, v) = (0.9 * x + 0.1, -0.8 * y + 0.7);
            let expected = -2.0 * (1.0 - u + u * v) + 1.0;
            assert!((value(composed, x, y) - expected).abs() < 1e-12);
            assert!((value(composed.exchanged(), y, x) - expected).abs() < 1e-12);
        }
        let twice = q.after(p);
        assert!((twice.slope * 0.5 + twice.start - (-0.8 * (0.9 * 0.5 + 0.1) + 0.7)).abs() < 1e-12);
    }
}
