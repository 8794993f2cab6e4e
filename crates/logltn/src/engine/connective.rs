//! Connectives on blocks: values forward, derivatives backward. One `match` on the operator per block.

use crate::operators::{And, Implies, Not, Or};
use crate::vector::Real;

/// What the operators need besides their operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings<T> {
    pub alpha: T,
    /// ε of the stable projections.
    pub eps: T,
}

impl<T: Real> Settings<T> {
    /// π0(x) = (1 − ε)x + ε: away from 0.
    #[inline(always)]
    pub fn away_from_zero(self, x: T) -> T {
        (T::ONE - self.eps) * x + self.eps
    }

    /// π1(x) = (1 − ε)x: away from 1.
    #[inline(always)]
    pub fn away_from_one(self, x: T) -> T {
        (T::ONE - self.eps) * x
    }

    /// The derivative of both projections.
    #[inline(always)]
    fn slope(self) -> T {
        T::ONE - self.eps
    }
}

/// `or` over blocks with LogMeanExp or LogSumExp: out, and for each member its share of the sum, in the
/// place where its derivative will stand.
pub(super) fn log_exp_forward<'v, T: Real>(
    mean: bool,
    alpha: T,
    member: impl Fn(usize) -> &'v [T],
    shares: &mut [Vec<T>],
    out: &mut [T],
    scratch: &mut [T],
) {
    let len = out.len();
    if let [a, b] = shares {
        let members = [member(0), member(1)];
        return log_exp_of_two(mean, alpha, members, [&mut a[..len], &mut b[..len]], out);
    }
    out.copy_from_slice(member(0));
    for k in 1..shares.len() {
        for (out, &x) in out.iter_mut().zip(member(k)) {
            *out = out.max(x);
        }
    }
    scratch.fill(T::ZERO);
    for (k, share) in shares.iter_mut().enumerate() {
        let share = &mut share[..len];
        share.copy_from_slice(member(k));
        T::kernels().exp_scaled_difference(share, alpha, out);
        for (sum, &e) in scratch.iter_mut().zip(share.iter()) {
            *sum += e;
        }
    }
    for share in shares.iter_mut() {
        for (e, &sum) in share.iter_mut().zip(scratch.iter()) {
            *e = *e / sum;
        }
    }
    let count = T::from_f64(shares.len() as f64);
    if mean {
        scratch.iter_mut().for_each(|s| *s = *s / count);
    }
    T::kernels().ln(scratch);
    for (out, &log) in out.iter_mut().zip(scratch.iter()) {
        *out += log / alpha;
    }
}

/// Two members need one exponential and one logarithm: max + log(1 + e^(−α|a − b|))/α.
fn log_exp_of_two<T: Real>(
    mean: bool,
    alpha: T,
    [a, b]: [&[T]; 2],
    [share_a, share_b]: [&mut [T]; 2],
    out: &mut [T],
) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = (a - b).abs() * alpha;
    }
    T::kernels().log1p_exp_neg_with_exp(out, share_a);
    let over = T::ONE / alpha;
    let less = if mean {
        T::from_f64(std::f64::consts::LN_2)
    } else {
        T::ZERO
    };
    let shares = share_a.iter_mut().zip(share_b.iter_mut());
    for ((out, (share_a, share_b)), (&a, &b)) in out.iter_mut().zip(shares).zip(a.iter().zip(b)) {
        *out = a.max(b) + (*out - less) * over;
        let e = *share_a;
        let large = T::ONE / (T::ONE + e);
        let small = e * large;
        let a_is_larger = a >= b;
        *share_a = if a_is_larger { large } else { small };
        *share_b = if a_is_larger { small } else { large };
    }
}

/// Conjunction of two truth degrees.
#[inline(always)]
pub(super) fn and2<T: Real>(op: And, s: Settings<T>, x: T, y: T) -> T {
    match op {
        And::Sum => x + y,
        And::Min => x.min(y),
        And::Product => s.away_from_zero(x) * s.away_from_zero(y),
        And::Lukasiewicz => (x + y - T::ONE).max(T::ZERO),
    }
}

/// The derivatives of [`and2`] by both operands.
#[inline(always)]
pub(super) fn and2_slopes<T: Real>(op: And, s: Settings<T>, x: T, y: T) -> (T, T) {
    match op {
        And::Sum => (T::ONE, T::ONE),
        And::Min if x <= y => (T::ONE, T::ZERO),
        And::Min => (T::ZERO, T::ONE),
        And::Product => (
            s.slope() * s.away_from_zero(y),
            s.slope() * s.away_from_zero(x),
        ),
        And::Lukasiewicz if x + y > T::ONE => (T::ONE, T::ONE),
        And::Lukasiewicz => (T::ZERO, T::ZERO),
    }
}

/// Disjunction of two values, for the operators that fold.
#[inline(always)]
pub(super) fn or2<T: Real>(op: Or, s: Settings<T>, x: T, y: T) -> T {
    match op {
        Or::ProbabilisticSum => {
            let (x, y) = (s.away_from_one(x), s.away_from_one(y));
            x + y - x * y
        }
        Or::Lukasiewicz => (x + y).min(T::ONE),
        Or::Max | Or::LogMeanExp | Or::LogSumExp => x.max(y),
    }
}

/// The derivatives of [`or2`] by both operands.
#[inline(always)]
pub(super) fn or2_slopes<T: Real>(op: Or, s: Settings<T>, x: T, y: T) -> (T, T) {
    match op {
        Or::ProbabilisticSum => (
            s.slope() * (T::ONE - s.away_from_one(y)),
            s.slope() * (T::ONE - s.away_from_one(x)),
        ),
        Or::Lukasiewicz if x + y < T::ONE => (T::ONE, T::ONE),
        Or::Lukasiewicz => (T::ZERO, T::ZERO),
        _ if x >= y => (T::ONE, T::ZERO),
        _ => (T::ZERO, T::ONE),
    }
}

/// Implication of truth degrees.
#[inline(always)]
pub(super) fn implies<T: Real>(op: Implies, s: Settings<T>, x: T, y: T) -> T {
    match op {
        Implies::Reichenbach => {
            let (x, y) = (s.away_from_zero(x), s.away_from_one(y));
            T::ONE - x + x * y
        }
        Implies::KleeneDienes | Implies::Nnf => (T::ONE - x).max(y),
        Implies::Godel if x <= y => T::ONE,
        Implies::Godel => y,
        Implies::Goguen if s.away_from_zero(x) <= y => T::ONE,
        Implies::Goguen => y / s.away_from_zero(x),
        Implies::Lukasiewicz => (T::ONE - x + y).min(T::ONE),
    }
}

/// The derivatives of [`implies`] by both operands.
#[inline(always)]
pub(super) fn implies_slopes<T: Real>(op: Implies, s: Settings<T>, x: T, y: T) -> (T, T) {
    match op {
        Implies::Reichenbach => (
            s.slope() * (s.away_from_one(y) - T::ONE),
            s.slope() * s.away_from_zero(x),
        ),
        Implies::KleeneDienes | Implies::Nnf if T::ONE - x >= y => (-T::ONE, T::ZERO),
        Implies::KleeneDienes | Implies::Nnf => (T::ZERO, T::ONE),
        Implies::Godel if x <= y => (T::ZERO, T::ZERO),
        Implies::Godel => (T::ZERO, T::ONE),
        Implies::Goguen => {
            let d = s.away_from_zero(x);
            if d <= y {
                (T::ZERO, T::ZERO)
            } else {
                (-s.slope() * y / (d * d), T::ONE / d)
            }
        }
        Implies::Lukasiewicz if x > y => (-T::ONE, T::ONE),
        Implies::Lukasiewicz => (T::ZERO, T::ZERO),
    }
}

/// Negation of a truth degree, and its derivative.
#[inline(always)]
pub(super) fn not<T: Real>(op: Not, x: T) -> (T, T) {
    match op {
        Not::Standard | Not::Nnf => (T::ONE - x, -T::ONE),
        Not::Godel if x == T::ZERO => (T::ONE, T::ZERO),
        Not::Godel => (T::ZERO, T::ZERO),
    }
}
