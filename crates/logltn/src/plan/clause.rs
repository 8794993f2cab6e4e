//! Small clauses: a connective of two to four literals right under the quantifier of an axiom, the commonest of all
//! formulas. The engine takes value and derivatives of such a clause in one go (`engine/clause`) instead of node by node.

use super::program::{NodeKind, Program};
use crate::operators::{Additive, Affine, Bilinear, Polynomial, Semiring, Space, Summand};
use crate::semantics::Semantics;

/// The most literals of a small clause.
pub(crate) const MOST_LITERALS: usize = 4;

/// A quantifier over a connective of literals.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    /// The nodes of the literals, in their order.
    pub literals: Vec<usize>,
    pub form: Form,
    /// What the quantifier does with the values.
    pub additive: Additive,
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
    /// A connective of two truth degrees made of products, of which something is added up.
    Product {
        /// The connective, projected as the quantifier wants it.
        of: Bilinear,
        summand: Summand,
    },
}

/// Below this the projections do not keep roots and logarithms away from 0 in single precision.
const LEAST_EPS: f64 = 1e-5;

impl Clause {
    /// The small clause that a quantifier is about, if it is about one.
    pub fn of(program: &Program, quantifier: usize, semantics: &Semantics) -> Option<Clause> {
        let NodeKind::Quantifier { forall, body, .. } = program.nodes[quantifier].kind else {
            return None;
        };
        let aggregator = if forall {
            semantics.forall
        } else {
            semantics.exists
        };
        let additive = aggregator.laws().additive?;
        let (literals, form) = match (semantics.space, &program.nodes[body].kind) {
            (Space::Log, _) => log_clause(program, body, additive, semantics)?,
            // The logs that the aggregator is about.
            (Space::Mixed, NodeKind::Log(inner)) => {
                product_clause(program, *inner, additive, semantics)?
            }
            (Space::Mixed, _) => return None,
            (Space::Truth, _) => product_clause(program, body, additive, semantics)?,
        };
        Some(Clause {
            literals,
            form,
            additive,
        })
    }
}

fn log_clause(
    program: &Program,
    body: usize,
    additive: Additive,
    semantics: &Semantics,
) -> Option<(Vec<usize>, Form)> {
    let linear = additive.summand == Summand::Itself;
    let NodeKind::Or(members) = &program.nodes[body].kind else {
        return exists_clause(program, body, semantics).filter(|_| linear);
    };
    let few = (2..=MOST_LITERALS).contains(&members.len());
    let literal = |m: &usize| matches!(program.nodes[*m].kind, NodeKind::Literal { .. });
    if !linear || !few || !members.iter().all(literal) {
        return None;
    }
    let form = match semantics.or.laws().semiring? {
        Semiring::Exponentials { mean } => Form::LogExp { mean },
        Semiring::Greatest => Form::Max,
    };
    Some((members.clone(), form))
}

/// An `exists` about one literal. Whether it is over classes is for the engine to see.
fn exists_clause(
    program: &Program,
    body: usize,
    semantics: &Semantics,
) -> Option<(Vec<usize>, Form)> {
    let NodeKind::Quantifier {
        forall: false,
        body: literal,
        ..
    } = program.nodes[body].kind
    else {
        return None;
    };
    // Clauses share tables: all of them hold exponentials, or none.
    let Semiring::Exponentials { mean } = semantics.exists.laws().semiring? else {
        return None;
    };
    (semantics.clauses_take_exponentials()
        && matches!(program.nodes[literal].kind, NodeKind::Literal { .. }))
    .then(|| (vec![literal], Form::ExistsClass { mean }))
}

fn product_clause(
    program: &Program,
    body: usize,
    additive: Additive,
    semantics: &Semantics,
) -> Option<(Vec<usize>, Form)> {
    let (eps, summand) = (semantics.stable_eps, additive.summand);
    if summand != Summand::Itself && eps < LEAST_EPS {
        return None;
    }
    let (members, polynomial) = match &program.nodes[body].kind {
        NodeKind::Implies(a, b) => ([*a, *b], semantics.implies.laws().polynomial?),
        NodeKind::Or(m) if m.len() == 2 => ([m[0], m[1]], semantics.or.laws().polynomial?),
        NodeKind::And(m) if m.len() == 2 => ([m[0], m[1]], semantics.and.laws().polynomial?),
        _ => return None,
    };
    let Polynomial { projections, value } = polynomial(eps);
    let (x, first) = degree(program, members[0], semantics)?;
    let (y, second) = degree(program, members[1], semantics)?;
    let value = value.of(projections[0].after(x), projections[1].after(y));
    let of = value.then((additive.projection)(eps));
    Some((vec![first, second], Form::Product { of, summand }))
}

/// A literal, or the negation of one: what it makes of the atom's truth degree.
fn degree(program: &Program, node: usize, semantics: &Semantics) -> Option<(Affine, usize)> {
    match program.nodes[node].kind {
        NodeKind::Literal { .. } => Some((Affine::IDENTITY, node)),
        NodeKind::Not(a) => {
            let negation = semantics.not.laws().affine?;
            matches!(program.nodes[a].kind, NodeKind::Literal { .. }).then_some((negation, a))
        }
        _ => None,
    }
}
