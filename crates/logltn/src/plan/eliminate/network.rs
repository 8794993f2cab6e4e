//! The parts of an `exists`, for elimination: variables with small domains, the factors that read them,
//! and the relations that its guard demands.

use crate::guard::{Cell, Linear, Scope, free_variables};
use crate::theory::*;

/// A variable of the `exists`, or one that splitting an equation has made.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    /// `None` for one that the planner made.
    pub id: Option<VarId>,
    pub domain: Domain,
    pub name: String,
}

#[derive(Clone, Debug)]
pub(super) enum Domain {
    /// This many individuals; the first stands for the integer `low`.
    Individuals { size: u32, low: i64 },
    /// These integers, in order.
    Integers(Vec<i64>),
}

impl Unknown {
    pub fn size(&self) -> usize {
        match &self.domain {
            Domain::Individuals { size, .. } => *size as usize,
            Domain::Integers(values) => values.len(),
        }
    }

    /// The integer at a place of the domain.
    pub fn value(&self, place: u32) -> i64 {
        match &self.domain {
            Domain::Individuals { low, .. } => low + i64::from(place),
            Domain::Integers(values) => values[place as usize],
        }
    }

    pub fn place(&self, value: i64) -> Option<u32> {
        match &self.domain {
            Domain::Individuals { size, low } => u32::try_from(value.checked_sub(*low)?)
                .ok()
                .filter(|p| p < size),
            Domain::Integers(values) => values.binary_search(&value).ok().map(|p| p as u32),
        }
    }

    /// The least and the greatest value; of an empty domain, 0.
    pub fn range(&self) -> (i64, i64) {
        match self.size() {
            0 => (0, 0),
            n => (self.value(0), self.value(n as u32 - 1)),
        }
    }
}

/// A condition on some variables, given the outer ones.
#[derive(Clone, Debug)]
pub(super) struct Relation<'g> {
    pub kind: RelationKind<'g>,
    /// The variables that it constrains, in order.
    pub scope: Vec<usize>,
    /// The variables of enclosing quantifiers that it reads.
    pub outer: Vec<VarId>,
    /// About what share of all combinations it keeps.
    pub kept: f64,
}

#[derive(Clone, Debug)]
pub(super) enum RelationKind<'g> {
    Guard(&'g Guard),
    Equation(Equation),
}

/// `Σ coefficient·variable = right`
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub terms: Vec<(usize, i64)>,
    pub right: Right,
}

/// `((constant + Σ coefficient·outer variable) div over) mod modulus`: the part of an equation that is
/// known once the enclosing variables are bound.
#[derive(Clone, Debug)]
pub(super) struct Right {
    pub constant: i64,
    pub outer: Vec<(VarId, i64)>,
    pub over: i64,
    pub modulus: Option<i64>,
}

impl Right {
    /// Zero.
    pub fn nothing() -> Right {
        Right {
            constant: 0,
            outer: Vec::new(),
            over: 1,
            modulus: None,
        }
    }

    pub fn value(&self, scope: &Scope, env: &[Cell]) -> i64 {
        let outer = self.outer.iter();
        let sum: i64 = outer.map(|(id, c)| c * scope.integer(*id, env)).sum();
        let quotient = (self.constant + sum).div_euclid(self.over);
        match self.modulus {
            Some(modulus) => quotient.rem_euclid(modulus),
            None => quotient,
        }
    }
}

impl Equation {
    pub fn scope(&self) -> Vec<usize> {
        let mut scope: Vec<usize> = self.terms.iter().map(|(v, _)| *v).collect();
        scope.sort_unstable();
        scope
    }

    /// About what share of all combinations satisfies it: one in the number of values of its left
    /// side.
    pub fn kept(&self, variables: &[Unknown]) -> f64 {
        let mut spread = 1.0;
        let mut divisor = 0;
        for (v, c) in &self.terms {
            let (low, high) = variables[*v].range();
            spread += c.unsigned_abs() as f64 * (high - low) as f64;
            divisor = gcd(divisor, c.unsigned_abs());
        }
        (divisor.max(1) as f64 / spread).min(1.0)
    }
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

/// The whole problem of an elimination.
#[derive(Clone, Debug)]
pub(super) struct Network<'g> {
    pub variables: Vec<Unknown>,
    pub relations: Vec<Relation<'g>>,
    /// The variables that each factor reads, in order.
    pub factors: Vec<Vec<usize>>,
}

/// A combination of some variables as one number; the planner gives up where numbers are too small
/// for that.
pub(super) fn code(variables: &[Unknown], scope: &[usize], places: &[u32]) -> u64 {
    scope.iter().fold(0, |code, &v| {
        code * variables[v].size() as u64 + u64::from(places[v])
    })
}

/// The inverse: the place of each variable of the scope.
pub(super) fn decode(variables: &[Unknown], scope: &[usize], mut code: u64) -> Vec<u32> {
    let mut places = vec![0; scope.len()];
    for (place, &v) in places.iter_mut().zip(scope).rev() {
        let size = variables[v].size().max(1) as u64;
        *place = (code % size) as u32;
        code /= size;
    }
    places
}

impl<'g> Network<'g> {
    /// The network of an `exists`, and the variables that neither the guard nor any of the factors reads.
    pub fn new(
        scope: Scope,
        variables: &[VarId],
        conditions: &[&'g Guard],
        factors: &[&[VarId]],
    ) -> (Network<'g>, Vec<VarId>) {
        let frees: Vec<Vec<VarId>> = conditions.iter().map(|g| free_variables(g)).collect();
        let is_read = |v: &VarId| {
            frees.iter().any(|f| f.contains(v)) || factors.iter().any(|f| f.contains(v))
        };
        let (read, unread): (Vec<VarId>, Vec<VarId>) = variables.iter().partition(|v| is_read(v));
        let place = |v: &VarId| read.iter().position(|r| r == v);
        let all: Vec<Unknown> = (read.iter())
            .map(|v| {
                let low = match scope.variables[v.index()].sort {
                    ColumnSort::Sort(sort) => match scope.theory()[sort].kind {
                        SortKind::Range(low, _) => low,
                        _ => 0,
                    },
                    _ => 0,
                };
                Unknown {
                    id: Some(*v),
                    domain: Domain::Individuals {
                        size: scope.size_of(*v),
                        low,
                    },
                    name: scope.variables[v.index()].name.clone(),
                }
            })
            .collect();
        let mut relations = Vec::new();
        for (&guard, free) in conditions.iter().zip(&frees) {
            let outer = free.iter().filter(|v| !read.contains(v));
            let outer: Vec<VarId> = outer.copied().collect();
            let mut own: Vec<usize> = free.iter().filter_map(place).collect();
            own.sort_unstable();
            let product: f64 = own.iter().map(|&v| all[v].size() as f64).product();
            let mut kind = RelationKind::Guard(guard);
            let mut kept = match &guard.kind {
                GuardKind::Same { negated: false, .. } => product.sqrt() / product,
                GuardKind::Member(table, _) => {
                    let rows = scope.data.table(*table).map_or(0, |t| t.rows) as f64;
                    (rows / product).min(1.0)
                }
                _ => 0.5,
            };
            let linear = Linear::of(&scope, guard).filter(|l| l.op == Comparison::Equal);
            if let Some(linear) = linear {
                let mut equation = Equation {
                    terms: Vec::new(),
                    right: Right::nothing(),
                };
                equation.right.constant = -linear.constant;
                for (id, coefficient, _) in linear.terms {
                    match place(&id) {
                        Some(v) => equation.terms.push((v, coefficient)),
                        None => equation.right.outer.push((id, -coefficient)),
                    }
                }
                // A variable that cancels out is still mentioned by the guard.
                if equation.terms.len() == own.len() {
                    kept = equation.kept(&all);
                    kind = RelationKind::Equation(equation);
                }
            }
            relations.push(Relation {
                kind,
                scope: own,
                outer,
                kept,
            });
        }
        let factors = factors.iter().map(|f| {
            let mut scope: Vec<usize> = f.iter().filter_map(place).collect();
            scope.sort_unstable();
            scope
        });
        let network = Network {
            factors: factors.collect(),
            variables: all,
            relations,
        };
        (network, unread)
    }
}
