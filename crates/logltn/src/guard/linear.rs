//! Conditions that are linear in integer variables, such as `10*d1 + d2 = n`: they can be solved for
//! their last variable, and cut short when no value of the remaining ones can satisfy them.

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
        let GuardKind::Compare(op, a, b) = &guard.kind else {
            return None;
        };
        let mut linear = Linear {
            terms: Vec::new(),
            constant: 0,
            op: *op,
        };
        linear.add(scope, a, 1)?;
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

    /// The sum over the bound variables, and the least and greatest that the unbound ones can add.
    fn partial(&self, scope: &Scope, env: &[Cell], bound: &[bool]) -> (i64, i64, i64) {
        let (mut sum, mut low, mut high) = (self.constant, 0, 0);
        for &(id, coefficient, (a, b)) in &self.terms {
            if bound[id.index()] {
                sum += coefficient * scope.integer(id, env);
            } else {
                let (x, y) = (coefficient * a, coefficient * b);
                low += x.min(y);
                high += x.max(y);
            }
        }
        (sum, low, high)
    }

    /// Whether some values of the unbound variables could still satisfy the condition.
    pub fn possible(&self, scope: &Scope, env: &[Cell], bound: &[bool]) -> bool {
        let (sum, low, high) = self.partial(scope, env, bound);
        let (low, high) = (sum + low, sum + high);
        match self.op {
            Comparison::Equal => low <= 0 && high >= 0,
            Comparison::NotEqual => true,
            Comparison::Less => low < 0,
            Comparison::LessEqual => low <= 0,
            Comparison::Greater => high > 0,
            Comparison::GreaterEqual => high >= 0,
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

impl Scope<'_> {
    /// The integer that a bound variable stands for.
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
