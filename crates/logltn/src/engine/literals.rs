//! From the numbers behind a predicate to its literals, and back: the paper's stable log-negations
//! (theorems 1 and 2), in time linear in the number of classes.

use std::sync::atomic::{AtomicBool, Ordering};

use super::by_lanes::{Both, ByLanes};
use super::pieces::{Pieces, Threads};
use crate::operators::Space;
use crate::output::OutputKind;
use crate::vector::{Function, Ln, LogSigmoid, Real, Sigmoid, Task, run_task};

/// Truth degrees enter log space as log(t + this), so that 0 and 1 stay finite.
const TRUTH_EPS: f64 = 1e-7;
/// How many numbers of a softmax go through all its passes together, so that the results of one pass are still in the
/// cache for the next.
const AT_ONCE: usize = 4096;
/// A row with at least this many classes is worth its own vector instructions.
const WIDE: usize = 32;

/// The values of all literals of one request.
///
/// In log space `positive` holds log P and `negative` log(1 − P); in truth space `positive` holds P.
#[derive(Clone, Debug, Default)]
pub(super) struct Literals<T> {
    pub positive: Vec<T>,
    pub negative: Vec<T>,
    /// Whether the literal and its negation occur; what does not occur is not computed.
    wanted: [bool; 2],
    /// Of a softmax: its probabilities, the arg-max of each row, and what is left for the others there.
    probabilities: Vec<T>,
    largest: Vec<u32>,
    others: Vec<T>,
    scratch: Vec<T>,
}

/// Some rows of literals and the numbers behind them; for the backward pass also the derivatives by these.
struct Rows<'a, T> {
    width: usize,
    numbers: &'a [T],
    positive: &'a mut [T],
    negative: &'a mut [T],
    probabilities: &'a mut [T],
    largest: &'a mut [u32],
    others: &'a mut [T],
    scratch: &'a mut [T],
    out: &'a mut [T],
}

impl<T: Real> Pieces for Rows<'_, T> {
    fn numbers(&self) -> usize {
        self.numbers.len()
    }

    fn cut(self, numbers: usize) -> (Self, Self) {
        let rows = (numbers / self.width).max(1);
        let at = rows * self.width;
        let (numbers, positive, negative) = (
            self.numbers.cut(at),
            self.positive.cut(at),
            self.negative.cut(at),
        );
        let (probabilities, scratch) = (self.probabilities.cut(at), self.scratch.cut(at));
        let (largest, others) = (self.largest.cut(rows), self.others.cut(rows));
        let out = self.out.cut(at);
        let first = Rows {
            width: self.width,
            numbers: numbers.0,
            positive: positive.0,
            negative: negative.0,
            probabilities: probabilities.0,
            largest: largest.0,
            others: others.0,
            scratch: scratch.0,
            out: out.0,
        };
        let second = Rows {
            width: self.width,
            numbers: numbers.1,
            positive: positive.1,
            negative: negative.1,
            probabilities: probabilities.1,
            largest: largest.1,
            others: others.1,
            scratch: scratch.1,
            out: out.1,
        };
        (first, second)
    }
}

impl<T: Real> Literals<T> {
    pub fn of_sign(&mut self, negated: bool) -> &mut Vec<T> {
        match negated {
            true => &mut self.negative,
            false => &mut self.positive,
        }
    }

    /// Computes the literals, plain and negated where they are wanted. Returns whether all numbers were
    /// finite.
    pub fn forward(
        &mut self,
        (kind, space): (OutputKind, Space),
        wanted: [bool; 2],
        width: usize,
        numbers: &[T],
        threads: Threads,
    ) -> bool {
        self.wanted = wanted;
        for table in [&mut self.positive, &mut self.negative] {
            table.resize(numbers.len(), T::ZERO);
        }
        if kind != OutputKind::Sigmoid {
            self.scratch.resize(numbers.len(), T::ZERO);
        }
        if kind == OutputKind::Softmax {
            let rows = numbers.len() / width;
            self.probabilities.resize(numbers.len(), T::ZERO);
            self.others.resize(rows, T::ZERO);
            self.largest.resize(rows, 0);
        }
        let rows = self.rows(width, numbers, &mut []);
        let all_finite = AtomicBool::new(true);
        threads.each(rows, |mut rows| {
            // A sum of finite numbers may overflow, but a sum with a NaN or an infinity is never
            // finite.
            if !T::kernels().sum(rows.numbers).is_finite() {
                all_finite.store(false, Ordering::Relaxed);
            }
            rows.forward(kind, space, wanted);
        });
        all_finite.into_inner()
    }

    /// The derivative of the loss by the numbers, from those by the plain and negated literals, which become zeros; the
    /// latter may be absent where they are not wanted.
    pub fn backward(
        &mut self,
        (kind, space): (OutputKind, Space),
        width: usize,
        numbers: &[T],
        by: ByLanes<T>,
        out: &mut [T],
        threads: Threads,
    ) {
        let wanted = self.wanted;
        let rows = self.rows(width, numbers, out);
        threads.each(Both(rows, by), |Both(rows, by)| {
            by.sums(|by| rows.backward(kind, space, wanted, by));
        });
    }

    fn rows<'a>(&'a mut self, width: usize, numbers: &'a [T], out: &'a mut [T]) -> Rows<'a, T> {
        Rows {
            width: width.max(1),
            numbers,
            positive: &mut self.positive,
            negative: &mut self.negative,
            probabilities: &mut self.probabilities,
            largest: &mut self.largest,
            others: &mut self.others,
            scratch: &mut self.scratch,
            out,
        }
    }
}

impl<T: Real> Rows<'_, T> {
    fn forward(&mut self, kind: OutputKind, space: Space, wanted: [bool; 2]) {
        if let (OutputKind::Sigmoid, Space::Log) = (kind, space) {
            return run_task(LogSigmoids {
                numbers: self.numbers,
                to: [&mut *self.positive, &mut *self.negative],
                wanted,
            });
        }
        self.compute(kind, space, wanted[1]);
        if space == Space::Log {
            // Logits at the end of the range have logs beyond it, and ∞ − ∞ is not a number. This
            // floor is far below any log that matters, and far enough from the end of the range for
            // sums of many.
            let floor = T::from_f64(lowest_log::<T>());
            // The plain logs of a softmax are above it already.
            let positive = wanted[0] && kind != OutputKind::Softmax;
            let tables = [
                (&mut self.positive, positive),
                (&mut self.negative, wanted[1]),
            ];
            for (table, _) in tables.into_iter().filter(|(_, floored)| *floored) {
                table.iter_mut().for_each(|x| *x = x.max(floor));
            }
        }
    }

    fn compute(&mut self, kind: OutputKind, space: Space, negated: bool) {
        let numbers = self.numbers;
        match (kind, space) {
            (OutputKind::Softmax, Space::Log) => {
                self.softmax();
                if negated {
                    self.log_not_softmax();
                }
            }
            (OutputKind::Softmax, _) => {
                self.softmax();
                self.positive.copy_from_slice(self.probabilities);
            }
            (OutputKind::Sigmoid, _) => T::kernels().sigmoid(numbers, self.positive),
            (OutputKind::Truth, Space::Log) => {
                let eps = T::from_f64(TRUTH_EPS);
                let pairs = self.positive.iter_mut().zip(&mut *self.negative);
                for ((positive, negative), &t) in pairs.zip(numbers) {
                    *positive = t + eps;
                    *negative = T::ONE - t + eps;
                }
                T::kernels().ln(self.positive);
                T::kernels().ln(self.negative);
            }
            (OutputKind::Truth, _) => self.positive.copy_from_slice(numbers),
            (OutputKind::LogTruth, Space::Log) => {
                self.positive.copy_from_slice(numbers);
                if negated {
                    for (negative, &v) in self.negative.iter_mut().zip(numbers) {
                        *negative = log_not(v);
                    }
                }
            }
            (OutputKind::LogTruth, _) => {
                self.positive.copy_from_slice(numbers);
                T::kernels().exp(self.positive);
            }
        }
    }

    /// log σ(z)ₖ = zₖ − LSE(z), no less than the floor of logs, and the probabilities themselves.
    fn softmax(&mut self) {
        let width = self.width;
        let rows = (AT_ONCE / width).max(1);
        let numbers = self.numbers.chunks(rows * width);
        let positive = self.positive.chunks_mut(rows * width);
        let probabilities = self.probabilities.chunks_mut(rows * width);
        let of_rows = (self.largest.chunks_mut(rows)).zip(self.others.chunks_mut(rows));
        let of_rows = of_rows.zip(self.scratch.chunks_mut(rows));
        let tables = numbers.zip(positive).zip(probabilities);
        for (((z, positive), probabilities), ((largest, others), scratch)) in tables.zip(of_rows) {
            run_task(Softmax {
                width,
                z,
                logs: positive,
                probabilities,
                largest,
                sums: &mut scratch[..others.len()],
                others,
            });
        }
    }

    /// log(1 − σ(z)ₖ). Where σₖ ≤ ½ the direct form is exact; the arg-max, whose 1 − σ may be smaller
    /// than any number, is LSE over the others − LSE over all.
    fn log_not_softmax(&mut self) {
        let (width, numbers) = (self.width, self.numbers);
        run_task(LogNotRounded {
            probabilities: self.probabilities,
            out: self.negative,
        });
        let logs = &mut self.scratch[..self.others.len()];
        logs.copy_from_slice(self.others);
        T::kernels().ln(logs);
        for (row, z) in numbers.chunks_exact(width).enumerate() {
            let best = self.largest[row] as usize;
            let value = if is_ample(self.others[row]) {
                logs[row]
            } else {
                let rest = |k: &usize| *k != best;
                let second = (0..width)
                    .filter(rest)
                    .map(|k| z[k])
                    .fold(T::NEG_INFINITY, T::max);
                let mut sum = T::ZERO;
                for k in (0..width).filter(rest) {
                    sum += (z[k] - second).exp();
                }
                // LSE over all is z[best] here, to the last bit.
                second - z[best] + sum.ln()
            };
            self.negative[row * width + best] = value;
        }
    }

    fn backward(self, kind: OutputKind, space: Space, wanted: [bool; 2], by: [&[T]; 2]) {
        if let OutputKind::Sigmoid = kind {
            return run_task(SigmoidSlopes {
                numbers: self.numbers,
                by,
                out: self.out,
                in_logs: space == Space::Log,
            });
        }
        let (width, numbers) = (self.width, self.numbers);
        let [by_positive, by_negative] = by;
        let (probabilities, out) = (&*self.probabilities, &mut *self.out);
        match (kind, space) {
            (OutputKind::Softmax, Space::Log) => run_task(SoftmaxSlopes {
                width,
                z: numbers,
                probabilities,
                largest: self.largest,
                others: self.others,
                by,
                negated: wanted[1],
                out,
            }),
            (OutputKind::Softmax, _) => {
                let rows = out
                    .chunks_exact_mut(width)
                    .zip(by_positive.chunks_exact(width));
                for ((out, g), p) in rows.zip(probabilities.chunks_exact(width)) {
                    let mut mean = T::ZERO;
                    g.iter().zip(p).for_each(|(&g, &p)| mean += g * p);
                    for ((out, &g), &p) in out.iter_mut().zip(g).zip(p) {
                        *out = p * (g - mean);
                    }
                }
            }
            (OutputKind::Sigmoid, _) => unreachable!("computed above"),
            (OutputKind::Truth, Space::Log) => {
                let eps = T::from_f64(TRUTH_EPS);
                for (i, out) in out.iter_mut().enumerate() {
                    let t = numbers[i];
                    *out = by_positive[i] / (t + eps) - by_negative[i] / (T::ONE - t + eps);
                }
            }
            (OutputKind::Truth, _) => out.copy_from_slice(by_positive),
            (OutputKind::LogTruth, Space::Log) => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = by_positive[i];
                    if by_negative[i] != T::ZERO && log_not_is_exact(numbers[i]) {
                        // d log(1 − eᵛ)/dv = −eᵛ/(1 − eᵛ)
                        *out -= by_negative[i] / (-numbers[i]).exp_m1();
                    }
                }
            }
            (OutputKind::LogTruth, _) => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = by_positive[i] * self.positive[i];
                }
            }
        }
    }
}

/// Some rows of a softmax: logs, probabilities, and by row the arg-max, what the others have, and the sum.
struct Softmax<'a, T> {
    width: usize,
    z: &'a [T],
    logs: &'a mut [T],
    probabilities: &'a mut [T],
    largest: &'a mut [u32],
    others: &'a mut [T],
    sums: &'a mut [T],
}

impl<T: Real> Task for Softmax<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (width, kernels) = (self.width, T::kernels());
        let rows = self.z.chunks_exact(width).zip(&mut *self.largest);
        let to =
            (self.logs.chunks_exact_mut(width)).zip(self.probabilities.chunks_exact_mut(width));
        for ((z, largest), (logs, shifted)) in rows.zip(to) {
            let (best, top) = greatest(z);
            *largest = best as u32;
            for ((log, shifted), &x) in logs.iter_mut().zip(shifted).zip(z) {
                *shifted = x - top;
                *log = *shifted;
            }
        }
        kernels.exp(self.probabilities);
        let rows = self.probabilities.chunks_exact_mut(width);
        let of_rows = self.others.iter_mut().zip(&mut *self.sums);
        for ((exps, &best), (others, sum)) in rows.zip(&*self.largest).zip(of_rows) {
            // The largest is exactly 1; adding it last keeps the digits of the others' sum.
            *others = sum_without(exps, best as usize);
            *sum = T::ONE + *others;
            let inverse = T::ONE / *sum;
            exps.iter_mut().for_each(|e| *e *= inverse);
        }
        kernels.ln(self.sums);
        let floor = T::from_f64(lowest_log::<T>());
        let rows = self.logs.chunks_exact_mut(width).zip(self.others);
        for ((logs, others), &ln) in rows.zip(&*self.sums) {
            // ln(1 + others) from ln of the rounded sum, corrected for the rounding: next to certainty it is all there is.
            let sum = T::ONE + *others;
            let kept = sum - T::ONE;
            let lse = if kept > T::ZERO {
                ln * (*others / kept)
            } else {
                *others
            };
            *others = *others / sum;
            logs.iter_mut().for_each(|x| *x = at_least(*x - lse, floor));
        }
    }
}

/// ln(1 − p), where p is at most ½.
struct LogNotRounded<'a, T> {
    probabilities: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Task for LogNotRounded<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let half = T::from_f64(0.5);
        for (out, &p) in self.out.iter_mut().zip(self.probabilities) {
            // ln(1 − p) from ln of the rounded difference u, corrected for the rounding.
            let u = T::ONE - if p < half { p } else { half };
            let lost = T::ONE - u;
            let exact: T = Ln.of::<FUSED>(u) * (p / lost);
            *out = if lost > T::ZERO { exact } else { -p };
        }
    }
}

/// The first of the greatest numbers of a row, and where it is.
#[inline(always)]
fn greatest<T: Real>(row: &[T]) -> (usize, T) {
    if row.len() >= WIDE {
        let top = T::kernels().max(row);
        // Some at a time, since a search that may end anywhere is not vectorised.
        let mut some = row.chunks(WIDE);
        let is_there = |some: &[T]| some.iter().fold(false, |found, x| found | (*x == top));
        let from = WIDE * some.position(is_there).unwrap_or(0);
        let best = row[from..].iter().position(|x| *x == top).unwrap_or(0);
        return (from + best, top);
    }
    // Selections instead of branches, which no processor could predict.
    let (mut best, mut top) = (0, row[0]);
    for (k, &x) in row.iter().enumerate() {
        let larger = x > top;
        best = if larger { k } else { best };
        top = if larger { x } else { top };
    }
    (best, top)
}

/// The sum of a row without one of its numbers.
#[inline(always)]
fn sum_without<T: Real>(row: &[T], left_out: usize) -> T {
    if row.len() >= WIDE {
        let sum = |part: &[T]| T::kernels().sum(part);
        return sum(&row[..left_out]) + sum(&row[left_out + 1..]);
    }
    let mut sum = T::ZERO;
    for (k, &x) in row.iter().enumerate() {
        sum += if k == left_out { T::ZERO } else { x };
    }
    sum
}

/// The literals of sigmoid atoms, in one pass, and only those that are wanted.
struct LogSigmoids<'a, T> {
    numbers: &'a [T],
    to: [&'a mut [T]; 2],
    wanted: [bool; 2],
}

impl<T: Real> Task for LogSigmoids<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let floor = T::from_f64(lowest_log::<T>());
        let [positive, negative] = self.to;
        match self.wanted {
            [true, true] => {
                let to = positive.iter_mut().zip(negative);
                for ((positive, negative), &z) in to.zip(self.numbers) {
                    let both: (T, T) = LogSigmoid.of::<FUSED>(z);
                    *positive = at_least(both.0, floor);
                    *negative = at_least(both.1, floor);
                }
            }
            [_, false] => {
                for (positive, &z) in positive.iter_mut().zip(self.numbers) {
                    *positive = at_least(LogSigmoid.of::<FUSED>(z), floor);
                }
            }
            [false, true] => {
                for (negative, &z) in negative.iter_mut().zip(self.numbers) {
                    *negative = at_least(LogSigmoid.of::<FUSED>(-z), floor);
                }
            }
        }
    }
}

#[inline(always)]
fn at_least<T: Real>(x: T, floor: T) -> T {
    if x < floor { floor } else { x }
}

/// From the derivatives by sigmoid atoms' literals to those by their numbers, in one pass.
struct SigmoidSlopes<'a, T> {
    numbers: &'a [T],
    by: [&'a [T]; 2],
    out: &'a mut [T],
    in_logs: bool,
}

impl<T: Real> Task for SigmoidSlopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let [plain, negated] = self.by;
        let all = self.out.iter_mut().zip(self.numbers);
        // S(z) and S(−z) = 1 − S(z), each to full accuracy.
        match (self.in_logs, plain.is_empty(), negated.is_empty()) {
            (true, false, false) => {
                for ((out, &z), (&by, &by_not)) in all.zip(plain.iter().zip(negated)) {
                    let (p, q): (T, T) = Sigmoid.of::<FUSED>(z);
                    *out = by * q - by_not * p;
                }
            }
            (true, false, true) => {
                for ((out, &z), &by) in all.zip(plain) {
                    let (_, q): (T, T) = Sigmoid.of::<FUSED>(z);
                    *out = by * q;
                }
            }
            (true, true, false) => {
                for ((out, &z), &by_not) in all.zip(negated) {
                    let (p, _): (T, T) = Sigmoid.of::<FUSED>(z);
                    *out = -(by_not * p);
                }
            }
            (false, false, _) => {
                for ((out, &z), &by) in all.zip(plain) {
                    let (p, q): (T, T) = Sigmoid.of::<FUSED>(z);
                    *out = by * p * q;
                }
            }
            (_, true, _) => self.out.fill(T::ZERO),
        }
    }
}

/// From the derivatives by the literals of a softmax's rows to those by their numbers.
struct SoftmaxSlopes<'a, T> {
    width: usize,
    z: &'a [T],
    probabilities: &'a [T],
    largest: &'a [u32],
    others: &'a [T],
    by: [&'a [T]; 2],
    /// Whether negated literals have derivatives.
    negated: bool,
    out: &'a mut [T],
}

impl<T: Real> Task for SoftmaxSlopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let [positive, negative] = self.by;
        let width = self.width;
        let rows = self.out.chunks_exact_mut(width).enumerate();
        for (row, out) in rows {
            let all = row * width..(row + 1) * width;
            let (g, p) = (&positive[all.clone()], &self.probabilities[all.clone()]);
            let (best, others) = (self.largest[row] as usize, self.others[row]);
            if self.negated {
                let gn = &negative[all.clone()];
                for (out, (&by, &p)) in out.iter_mut().zip(gn.iter().zip(p)) {
                    *out = by / (T::ONE - p);
                }
                softmax_row_backward(&self.z[all], p, (best, others), [g, gn], out);
                continue;
            }
            let rest = sum_without(g, best);
            let total = rest + g[best];
            for ((out, &g), &p) in out.iter_mut().zip(g).zip(p) {
                *out = g - p * total;
            }
            // Next to certainty 1 − p would be rounding alone; what the others have is known to the last bit.
            out[best] = g[best] * others - p[best] * rest;
        }
    }
}

/// `out` holds, for each literal, the derivative by its negation over what is left to the others.
#[inline(always)]
fn softmax_row_backward<T: Real>(
    z: &[T],
    p: &[T],
    (best, others): (usize, T),
    [gp, gn]: [&[T]; 2],
    out: &mut [T],
) {
    let width = z.len();
    out[best] = T::ZERO;
    // Not gp + gn − own: a small p comes with a large gn, next to which all digits would be lost.
    let mut rest = gn[best];
    for (k, ((&gp, &p), &own)) in gp.iter().zip(p).zip(&*out).enumerate() {
        rest += if k == best { T::ZERO } else { gp - p * own };
    }
    let common = rest + gp[best];
    for ((out, &gp), &p) in out.iter_mut().zip(gp).zip(p) {
        *out = gp - p * (common + *out);
    }
    // Next to certainty 1 − p would be rounding alone; what the others have is known to the last bit.
    out[best] = gp[best] * others - p[best] * rest;
    if gn[best] == T::ZERO {
        return;
    }
    // The arg-max's log-negation: the softmax over the others.
    if is_ample(others) {
        for k in (0..width).filter(|k| *k != best) {
            out[k] += gn[best] * (p[k] / others);
        }
    } else {
        let (second, sum) = without(z, best);
        for k in (0..width).filter(|k| *k != best) {
            out[k] += gn[best] * ((z[k] - second).exp() / sum);
        }
    }
}

/// The largest of the others, and the sum of the others' exponentials relative to it.
fn without<T: Real>(z: &[T], left_out: usize) -> (T, T) {
    let others = || (0..z.len()).filter(|k| *k != left_out).map(|k| z[k]);
    let largest = others().fold(T::NEG_INFINITY, T::max);
    let mut sum = T::ZERO;
    others().for_each(|x| sum += (x - largest).exp());
    (largest, sum)
}

/// The least log that a literal may have: −1e30 in single, −1e250 in double precision.
fn lowest_log<T: Real>() -> f64 {
    if is_single::<T>() { -1e30 } else { -1e250 }
}

fn is_single<T: Real>() -> bool {
    T::EPSILON.to_f64() > 1e-10
}

/// Large enough for every summand in it to have its full accuracy.
fn is_ample<T: Real>(x: T) -> bool {
    x.to_f64() > if is_single::<T>() { 1e-30 } else { 1e-280 }
}

/// log(1 − eᵛ) for v ≤ 0, not below log 1e-7.
fn log_not<T: Real>(v: T) -> T {
    let floor = T::from_f64(TRUTH_EPS.ln());
    if !log_not_is_exact(v) {
        return floor;
    }
    let value = if v.to_f64() > -std::f64::consts::LN_2 {
        (-v.exp_m1()).ln()
    } else {
        (-v.exp()).ln_1p()
    };
    value.max(floor)
}

/// Whether log(1 − eᵛ) is above its floor.
fn log_not_is_exact<T: Real>(v: T) -> bool {
    -v.exp_m1() > T::from_f64(TRUTH_EPS)
}

#[cfg(test)]
mod tests {
    use super::super::touched::Touched;
    use super::*;

    /// The gradient of one row or one column.
    fn backward<T: Real, const N: usize>(
        literals: &mut Literals<T>,
        how: (OutputKind, Space),
        z: &[T; N],
        by: [[T; N]; 2],
    ) -> [T; N] {
        let mut lane = by.map(|by| {
            let mut table = Touched::default();
            table.clear(N);
            table.all_mut().copy_from_slice(&by);
            table
        });
        let mut gradient = [T::ZERO; N];
        let width = if how.0 == OutputKind::Softmax { N } else { 1 };
        let by = ByLanes::of(std::iter::once(&mut lane));
        literals.backward(how, width, z, by, &mut gradient, Threads(None));
        gradient
    }

    /// The paper's own check of its first theorem, in float32.
    #[test]
    fn log_not_sigmoid_is_stable() {
        let x = [0.0_f32, 10.0, 100.0, 1000.0, 10000.0];
        let mut literals = Literals::default();
        literals.forward(
            (OutputKind::Sigmoid, Space::Log),
            [true; 2],
            1,
            &x,
            Threads(None),
        );
        let expected = [
            -std::f32::consts::LN_2,
            -10.000046,
            -100.0,
            -1000.0,
            -10000.0,
        ];
        for (found, expected) in literals.negative.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= expected.abs() * 1e-6,
                "{found} {expected}"
            );
        }
        let how = (OutputKind::Sigmoid, Space::Log);
        let gradient = backward(&mut literals, how, &x, [[0.0; 5], [1.0; 5]]);
        for (found, expected) in gradient.iter().zip([-0.5, -0.99995, -1.0, -1.0, -1.0]) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }

    /// Every finite logit has finite literals and gradients, to the end of the range.
    #[test]
    fn the_largest_numbers_stay_finite() {
        for kind in [OutputKind::Sigmoid, OutputKind::Softmax] {
            let z = [f64::MAX, -f64::MAX, 1e300, 0.0];
            let mut literals = Literals::default();
            literals.forward((kind, Space::Log), [true; 2], 4, &z, Threads(None));
            let mut all = literals.positive.iter().chain(&literals.negative);
            assert!(all.all(|x| x.is_finite() && *x <= 0.0), "{literals:?}");
            let gradient = backward(&mut literals, (kind, Space::Log), &z, [[1.0; 4]; 2]);
            assert!(
                gradient.iter().all(|g| g.is_finite()),
                "{kind:?} {gradient:?}"
            );
        }
    }

    /// Close to certainty the log of the arg-max is minus the others' share, to the last digit, and so is its slope.
    #[test]
    fn log_softmax_is_exact_next_to_certainty() {
        for gap in [1.0_f32, 10.0, 18.0, 25.0, 60.0] {
            for negated in [false, true] {
                let z = [gap, 0.0, 0.0];
                let how = (OutputKind::Softmax, Space::Log);
                let mut literals = Literals::default();
                literals.forward(how, [true, negated], 3, &z, Threads(None));
                let exact = -(2.0 * (-f64::from(gap)).exp()).ln_1p();
                let found = f64::from(literals.positive[0]);
                let close = |found: f64, exact: f64| (found - exact).abs() <= exact.abs() * 1e-6;
                assert!(close(found, exact), "{gap}: {found} {exact}");
                let gradient = backward(&mut literals, how, &z, [[1.0, 0.0, 0.0], [0.0; 3]]);
                let found = f64::from(gradient[0]);
                assert!(close(found, -exact.exp_m1()), "{gap}: {found}");
            }
        }
    }

    /// The same for the second theorem: the arg-max far above the others, and a logit of exactly 0.
    #[test]
    fn log_not_softmax_is_stable() {
        for gap in [0.0_f32, 10.0, 100.0, 1000.0, 10000.0] {
            let z = [gap, 0.0, 0.0];
            let mut literals = Literals::default();
            literals.forward(
                (OutputKind::Softmax, Space::Log),
                [true; 2],
                3,
                &z,
                Threads(None),
            );
            let exact = 2.0_f64.ln() - (f64::from(gap) + (2.0 * (-f64::from(gap)).exp()).ln_1p());
            let found = f64::from(literals.negative[0]);
            assert!(
                (found - exact).abs() <= exact.abs() * 1e-6,
                "{gap}: {found} {exact}"
            );
            let how = (OutputKind::Softmax, Space::Log);
            let gradient = backward(&mut literals, how, &z, [[0.0; 3], [1.0, 0.0, 0.0]]);
            assert!(gradient.iter().all(|g| g.is_finite()));
            assert!((gradient.iter().sum::<f32>()).abs() < 1e-6);
        }
    }
}
