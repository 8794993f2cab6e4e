//! How large the numbers of a guard can get, and so whether its arithmetic can fail.
//!
//! Where it cannot, conditions may be tested in any order. Where it can, the order of the text counts.

use super::evaluate::Scope;
use crate::data::FunctionData;
use crate::data::{ColumnData, Data};
use crate::number::Number;
use crate::theory::*;

/// The least and the greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bounds {
    Int(i64, i64),
    Real(f64, f64),
}

impl Bounds {
    fn reals(self) -> (f64, f64) {
        match self {
            Bounds::Int(a, b) => (a as f64, b as f64),
            Bounds::Real(a, b) => (a, b),
        }
    }
}

/// No distance between finite features of sensible size is above this.
const LARGE: f64 = 1e200;

impl Scope<'_> {
    /// Whether evaluating the guard can fail on some binding.
    pub fn may_fail(&self, guard: &Guard) -> bool {
        match &guard.kind {
            GuardKind::Compare(_, a, b) => self.bounds(a).is_none() || self.bounds(b).is_none(),
            GuardKind::Same { .. } => false,
            GuardKind::Member(table, cells) => {
                let columns = &self.theory()[*table].columns;
                cells.iter().zip(columns).any(|(cell, _)| match &cell.kind {
                    ValueKind::Individual(_) => false,
                    _ => self.bounds(cell).is_none(),
                })
            }
            GuardKind::Not(inner) => self.may_fail(inner),
            GuardKind::And(members) | GuardKind::Or(members) => {
                members.iter().any(|m| self.may_fail(m))
            }
            GuardKind::Exists(_, guard, body) => {
                guard.iter().any(|g| self.may_fail(g)) || self.may_fail(body)
            }
        }
    }

    /// The bounds of a variable that is a number.
    pub(super) fn variable_bounds(&self, id: VarId) -> Bounds {
        match self.variables[id.index()].sort {
            ColumnSort::Sort(sort) => match self.theory()[sort].kind {
                SortKind::Range(low, high) => Bounds::Int(low, high),
                _ => Bounds::Int(0, self.data.size(sort) as i64),
            },
            // The column is not known; the bounds over all columns of that type in the theory's tables are good
            // enough.
            ColumnSort::Int => self.indexes.column_bounds(self.data).0,
            ColumnSort::Real => self.indexes.column_bounds(self.data).1,
        }
    }

    /// The bounds of a value, or `None` if computing it can fail.
    pub(super) fn bounds(&self, value: &Value) -> Option<Bounds> {
        match &value.kind {
            ValueKind::Int(n) => Some(Bounds::Int(*n, *n)),
            ValueKind::Real(x) => Some(Bounds::Real(x.0, x.0)),
            ValueKind::Param(id) => match self.data.params[id.index()]? {
                Number::Int(n) => Some(Bounds::Int(n, n)),
                Number::Real(x) => Some(Bounds::Real(x, x)),
            },
            ValueKind::Number(id) => Some(self.variable_bounds(*id)),
            ValueKind::Individual(term) => match &term.kind {
                TermKind::Variable(id) => Some(self.variable_bounds(*id)),
                TermKind::Constant(id) => match self.theory()[self.theory()[*id].sort].kind {
                    SortKind::Range(low, high) => Some(Bounds::Int(low, high)),
                    _ => Some(Bounds::Int(0, i64::from(u32::MAX))),
                },
                TermKind::Apply(function, _) => {
                    Some(self.indexes.function_bounds(self.data, *function))
                }
                _ => Some(Bounds::Int(0, i64::from(u32::MAX))),
            },
            ValueKind::Negative(inner) => match self.bounds(inner)? {
                Bounds::Int(a, b) => Some(Bounds::Int(b.checked_neg()?, a.checked_neg()?)),
                Bounds::Real(a, b) => Some(Bounds::Real(-b, -a)),
            },
            ValueKind::Abs(inner) => match self.bounds(inner)? {
                Bounds::Int(a, b) => Some(Bounds::Int(0, a.checked_abs()?.max(b.checked_abs()?))),
                Bounds::Real(a, b) => Some(Bounds::Real(0.0, a.abs().max(b.abs()))),
            },
            ValueKind::Sum(members) => {
                let mut total = Bounds::Int(0, 0);
                for (i, (sign, member)) in members.iter().enumerate() {
                    let x = self.bounds(member)?;
                    total = match (i, sign) {
                        (0, _) => x,
                        (_, Sign::Plus) => add(total, x)?,
                        (_, Sign::Minus) => {
                            let minus = match x {
                                Bounds::Int(a, b) => {
                                    Bounds::Int(b.checked_neg()?, a.checked_neg()?)
                                }
                                Bounds::Real(a, b) => Bounds::Real(-b, -a),
                            };
                            add(total, minus)?
                        }
                    };
                }
                Some(total)
            }
            ValueKind::Product(members) => {
                let mut total = Bounds::Int(1, 1);
                for (i, (factor, member)) in members.iter().enumerate() {
                    let x = self.bounds(member)?;
                    total = match (i, factor) {
                        (0, _) => x,
                        (_, Factor::Times) => multiply(total, x)?,
                        (_, Factor::Over) => divide(total, x)?,
                        (_, Factor::Modulo) => modulo(total, x)?,
                    };
                }
                Some(total)
            }
            ValueKind::Min(values) | ValueKind::Max(values) => {
                let mut all = values.iter().map(|v| self.bounds(v));
                let first = all.next()??;
                all.try_fold(first, |a, b| {
                    Some(match (a, b?) {
                        (Bounds::Int(a, b), Bounds::Int(c, d)) => Bounds::Int(a.min(c), b.max(d)),
                        (a, b) => {
                            let ((a, b), (c, d)) = (a.reals(), b.reals());
                            Bounds::Real(a.min(c), b.max(d))
                        }
                    })
                })
            }
            ValueKind::Dist(..) => Some(Bounds::Real(0.0, LARGE)),
        }
    }
}

/// The bounds of all `Int` and of all `Real` columns.
pub(super) fn of_columns(data: &Data) -> (Bounds, Bounds) {
    let (mut ints, mut reals) = ((0, 0), (0.0, 0.0));
    for column in data.tables.iter().flatten().flat_map(|t| &*t.columns) {
        match column {
            ColumnData::Int(cells) => {
                ints = cells.iter().fold(ints, |(a, b), &n| (n.min(a), n.max(b)));
            }
            ColumnData::Real(cells) => {
                reals = cells.iter().fold(reals, |(a, b), &x| (x.min(a), x.max(b)));
            }
            ColumnData::Individuals(_) => {}
        }
    }
    (Bounds::Int(ints.0, ints.1), Bounds::Real(reals.0, reals.1))
}

/// The bounds of the values of a function given by data.
pub(super) fn of_function(data: &Data, function: FunctionId) -> Bounds {
    match data.function(function).map(AsRef::as_ref) {
        Some(FunctionData::Reals(values)) => {
            let ends = |(a, b): (f64, f64), &x: &f64| (x.min(a), x.max(b));
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), ends);
            Bounds::Real(low.min(high), high.max(low))
        }
        Some(FunctionData::Individuals(values)) => {
            let first = match data.theory()[function].result {
                ArgumentSort::Sort(sort) => match data.theory()[sort].kind {
                    SortKind::Range(low, _) => low,
                    _ => 0,
                },
                ArgumentSort::Vector(_) => 0,
            };
            let (low, high) = (values.iter().min(), values.iter().max());
            let value = |v: Option<&u32>| first + v.map_or(0, |&v| i64::from(v));
            Bounds::Int(value(low), value(high))
        }
        None => Bounds::Int(0, 0),
    }
}

fn real(a: f64, b: f64) -> Option<Bounds> {
    // Some margin below infinity, since the bounds are rounded, too.
    (a.abs() < 1e300 && b.abs() < 1e300).then_some(Bounds::Real(a, b))
}

fn add(x: Bounds, y: Bounds) -> Option<Bounds> {
    if let (Bounds::Int(a, b), Bounds::Int(c, d)) = (x, y) {
        return Some(Bounds::Int(a.checked_add(c)?, b.checked_add(d)?));
    }
    let ((a, b), (c, d)) = (x.reals(), y.reals());
    real(a + c, b + d)
}

fn multiply(x: Bounds, y: Bounds) -> Option<Bounds> {
    if let (Bounds::Int(a, b), Bounds::Int(c, d)) = (x, y) {
        let corners = [
            a.checked_mul(c)?,
            a.checked_mul(d)?,
            b.checked_mul(c)?,
            b.checked_mul(d)?,
        ];
        let low = corners.into_iter().min()?;
        return Some(Bounds::Int(low, corners.into_iter().max()?));
    }
    let ((a, b), (c, d)) = (x.reals(), y.reals());
    let corners = [a * c, a * d, b * c, b * d];
    real(
        corners.into_iter().fold(f64::INFINITY, f64::min),
        corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

fn divide(x: Bounds, y: Bounds) -> Option<Bounds> {
    let ((a, b), (c, d)) = (x.reals(), y.reals());
    if c <= 0.0 && d >= 0.0 {
        return None;
    }
    let corners = [a / c, a / d, b / c, b / d];
    real(
        corners.into_iter().fold(f64::INFINITY, f64::min),
        corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
    )
}

fn modulo(x: Bounds, y: Bounds) -> Option<Bounds> {
    let (c, d) = y.reals();
    if c <= 0.0 && d >= 0.0 {
        return None;
    }
    match (x, y) {
        (Bounds::Int(..), Bounds::Int(c, d)) => {
            Some(Bounds::Int(0, c.checked_abs()?.max(d.checked_abs()?) - 1))
        }
        _ => Some(Bounds::Real(0.0, c.abs().max(d.abs()))),
    }
}
