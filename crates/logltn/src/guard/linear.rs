//! Conditions that are linear in integer variables, such as `10*d1 + d2 = n`: they can be solved for their last
//! variable, and they bound the variables that are looped over.

use super::bounds::Bounds;
use super::evaluate::{Cell, Scope};
use crate::number::Number;
use crate::theory::*;

/// `Σ coefficient·variable + constant  op  0`
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// Each variable with its coefficient and the bounds of its values.
    pub terms: Vec<(VarId, i64, (i64, i64))>,
    pub constant: i64,
    pub op: Comparison,
}

impl Linear {
    /// The linear form of a comparison, if it has one and it cannot overflow.
    pub fn of(scope: &Scope, guard: &Guard) -> Option<Linear> {
        match &guard.kind {
            GuardKind::Compare(op, a, b) => Linear::compare(scope, *op, a, b, 1),
            _ => None,
        }
    }

    /// The linear conditions that a comparison implies: itself, or both sides of `abs(x - y) < 3`.
    pub fn bounds(scope: &Scope, guard: &Guard) -> Vec<Linear> {
        let GuardKind::Compare(op, a, b) = &guard.kind else {
            return Vec::new();
        };
        let sides = match (op, &a.kind, &b.kind) {
            (Comparison::Less | Comparison::LessEqual, ValueKind::Abs(inner), _) => {
                Some((inner, b))
            }
            (Comparison::Greater | Comparison::GreaterEqual, _, ValueKind::Abs(inner)) => {
                Some((inner, a))
            }
            _ => None,
        };
        let below = match op {
            Comparison::Less | Comparison::Greater => Comparison::Less,
            _ => Comparison::LessEqual,
        };
        match sides {
            Some((inner, limit)) => ([1, -1].into_iter())
                .filter_map(|sign| Linear::compare(scope, below, inner, limit, sign))
                .collect(),
            None => Linear::of(scope, guard).into_iter().collect(),
        }
    }

    /// `sign·a op b`
    fn compare(scope: &Scope, op: Comparison, a: &Value, b: &Value, sign: i64) -> Option<Linear> {
        let mut linear = Linear {
            terms: Vec::new(),
            constant: 0,
            op,
        };
        linear.add(scope, a, sign)?;
        linear.add(scope, b, -1)?;
        linear.terms.sort_unstable_by_key(|(id, _, _)| *id);
        linear.terms.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
        linear.terms.retain(|(_, c, _)| *c != 0);
        // Sums of at most 2^62 never overflow below.
        let mut size = linear.constant.unsigned_abs() as u128;
        for (_, coefficient, (low, high)) in &linear.terms {
            let largest = low.unsigned_abs().max(high.unsigned_abs());
            size += u128::from(coefficient.unsigned_abs()) * u128::from(largest);
        }
        (size < 1 << 62).then_some(linear)
    }

    fn add(&mut self, scope: &Scope, value: &Value, factor: i64) -> Option<()> {
        match &value.kind {
            ValueKind::Int(n) => {
                self.constant = self.constant.checked_add(n.checked_mul(factor)?)?
            }
            ValueKind::Param(id) => match scope.data.params[id.index()]? {
                Number::Int(n) => {
                    self.constant = self.constant.checked_add(n.checked_mul(factor)?)?;
                }
                Number::Real(_) => return None,
            },
            ValueKind::Number(id) => match scope.variable_bounds(*id) {
                Bounds::Int(low, high) if self.terms.len() < 64 => {
                    self.terms.push((*id, factor, (low, high)));
                }
                _ => return None,
            },
            ValueKind::Negative(inner) => self.add(scope, inner, factor.checked_neg()?)?,
            ValueKind::Sum(members) => {
                for (i, (sign, member)) in members.iter().enumerate() {
                    let factor = match (i, sign) {
                        (0, _) | (_, Sign::Plus) => factor,
                        (_, Sign::Minus) => factor.checked_neg()?,
                    };
                    self.add(scope, member, factor)?;
                }
            }
            ValueKind::Product(members) => {
                let mut rest = None;
                let mut scale = factor;
                for (how, member) in members {
                    match (how, &member.kind) {
                        (Factor::Times, ValueKind::Int(n)) => scale = scale.checked_mul(*n)?,
                        (Factor::Times, _) if rest.is_none() => rest = Some(member),
                        _ => return None,
                    }
                }
                match rest {
                    Some(member) => self.add(scope, member, scale)?,
                    None => self.constant = self.constant.checked_add(scale)?,
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Narrows the range of an unbound variable to the values for which the condition is possible for some values of
    /// the other unbound variables.
    pub fn narrow(
        &self,
        scope: &Scope,
        env: &[Cell],
        bound: &[bool],
        unknown: VarId,
        range: &mut (i64, i64),
    ) {
        let mut coefficient = 0;
        let (mut low, mut high) = (self.constant, self.constant);
        for &(id, c, (a, b)) in &self.terms {
            if id == unknown {
                coefficient = c;
            } else if bound[id.index()] {
                let value = c * scope.integer(id, env);
                low += value;
                high += value;
            } else {
                low += (c * a).min(c * b);
                high += (c * a).max(c * b);
            }
        }
        match self.op {
            Comparison::Less => at_most(coefficient, -low - 1, range),
            Comparison::LessEqual => at_most(coefficient, -low, range),
            Comparison::Greater => at_most(-coefficient, high - 1, range),
            Comparison::GreaterEqual => at_most(-coefficient, high, range),
            Comparison::Equal => {
                at_most(coefficient, -low, range);
                at_most(-coefficient, high, range);
            }
            Comparison::NotEqual => {}
        }
    }

    /// For an equation: the integer that the one unbound variable must be.
    pub fn solve(&self, scope: &Scope, env: &[Cell], unknown: VarId) -> Option<i64> {
        let (mut sum, mut coefficient) = (self.constant, 0);
        for &(id, c, _) in &self.terms {
            if id == unknown {
                coefficient = c;
            } else {
                sum += c * scope.integer(id, env);
            }
        }
        (coefficient != 0 && sum % coefficient == 0).then(|| -(sum / coefficient))
    }
}

/// Narrows the range of v to where `coefficient·v ≤ limit`.
fn at_most(coefficient: i64, limit: i64, range: &mut (i64, i64)) {
    let quotient = limit.div_euclid(coefficient.abs().max(1));
    match coefficient {
        0 => {}
        1.. => range.1 = range.1.min(quotient),
        _ => range.0 = range.0.max(-quotient),
    }
}

impl Scope<'_> {
    /// The integer value of a bound variable.
    pub(crate) fn integer(&self, id: VarId, env: &[Cell]) -> i64 {
        match env[id.index()] {
            Cell::Int(n) => n,
            Cell::Real(x) => x as i64,
            Cell::Individual(index) => match self.variables[id.index()].sort {
                ColumnSort::Sort(sort) => match self.theory()[sort].kind {
                    SortKind::Range(low, _) => low + i64::from(index),
                    _ => i64::from(index),
                },
                _ => i64::from(index),
            },
        }
    }
}
