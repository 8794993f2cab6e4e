//! A closed form run over a block of rows, forwards and backwards.

use logltn::vector::{Real, Task, run_task};

use super::lengths::Shape;
use super::syntax::{Binary, Fold, Pair, Unary};
use super::tape::{Flow, Op, Tape};

/// Numbers that are added up side by side: always in this order, so that the bits do not depend on the processor.
const LANES: usize = 16;

/// The numbers of a block: results, derivatives by them, and room to compute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work<T> {
    values: Vec<T>,
    by: Vec<T>,
    scratch: [Vec<T>; 3],
}

impl<T: Real> Work<T> {
    /// Room for a block of a closed form.
    pub fn prepare(&mut self, tape: &Tape) {
        self.values.resize(tape.numbers, T::ZERO);
        for scratch in &mut self.scratch {
            scratch.resize(tape.longest, T::ZERO);
        }
    }

    /// The numbers of a leaf in a block of so many rows, to be filled in.
    pub fn leaf_mut(&mut self, tape: &Tape, leaf: usize, rows: usize) -> &mut [T] {
        &mut self.values[tape.leaf_range(leaf, rows)]
    }

    /// Computes a block whose leaves are filled in, with these numbers that are learnt.
    pub fn forward<'l>(&mut self, tape: &Tape, rows: usize, learnt: impl Fn(usize) -> &'l [f32]) {
        for (op, &start) in tape.ops.iter().zip(&tape.starts) {
            match op {
                Op::Learnt(at) => {
                    let learnt = learnt(*at);
                    let values = self.values[start..start + learnt.len()].iter_mut();
                    values
                        .zip(learnt)
                        .for_each(|(value, &x)| *value = T::from_f64(f64::from(x)));
                }
                Op::Number(bits) => self.values[start] = T::from_f64(f64::from_bits(*bits)),
                _ => {}
            }
        }
        let work = self;
        run_task(Forward { tape, work, rows });
    }

    /// The result for each row.
    pub fn result(&self, tape: &Tape, out: &mut [T]) {
        let start = tape.starts[tape.root];
        match tape.shapes[tape.root].varying {
            true => out.copy_from_slice(&self.values[start..start + out.len()]),
            false => out.fill(self.values[start]),
        }
    }

    /// The derivatives by all results that are `active`, from those by the result of each row. The block must have been
    /// computed.
    pub fn backward(&mut self, tape: &Tape, rows: usize, active: &[bool], by_result: &[T]) {
        self.by.resize(tape.numbers, T::ZERO);
        for (at, flow) in tape.flows.iter().enumerate() {
            if active[at] && *flow == Flow::AddedUp {
                Place::of(tape, at, rows)
                    .all_mut(&mut self.by)
                    .fill(T::ZERO);
            }
        }
        let start = tape.starts[tape.root];
        match tape.shapes[tape.root].varying {
            true => self.by[start..start + rows].copy_from_slice(by_result),
            false => self.by[start] = T::kernels().sum(by_result),
        }
        let work = self;
        run_task(Backward {
            tape,
            work,
            rows,
            active,
        });
    }

    /// The derivative by the numbers of a leaf, and whether it has the other sign.
    pub fn by_leaf(&self, tape: &Tape, leaf: usize, rows: usize) -> (&[T], bool) {
        let (range, opposite) = tape.by_leaf_range(leaf, rows);
        (&self.by[range], opposite)
    }

    /// The derivatives by what is learnt.
    pub fn by_learnt<'w>(&'w self, tape: &'w Tape) -> impl Iterator<Item = (usize, &'w [T])> {
        let ops = tape.ops.iter().enumerate();
        ops.filter_map(|(place, op)| match op {
            Op::Learnt(at) => {
                let start = tape.starts[tape.derivatives(place).0];
                Some((*at, &self.by[start..start + tape.shapes[place].length]))
            }
            _ => None,
        })
    }
}

fn numbers(shape: Shape, rows: usize) -> usize {
    shape.length * if shape.varying { rows } else { 1 }
}

/// One result among those of a block.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    shape: Shape,
    rows: usize,
}

impl Place {
    #[inline(always)]
    fn of(tape: &Tape, at: usize, rows: usize) -> Place {
        Place {
            start: tape.starts[at],
            shape: tape.shapes[at],
            rows,
        }
    }

    #[inline(always)]
    fn all<T>(self, values: &[T]) -> &[T] {
        &values[self.start..self.start + numbers(self.shape, self.rows)]
    }

    #[inline(always)]
    fn all_mut<T>(self, values: &mut [T]) -> &mut [T] {
        &mut values[self.start..self.start + numbers(self.shape, self.rows)]
    }

    /// The numbers of one row.
    #[inline(always)]
    fn row<T>(self, values: &[T], row: usize) -> &[T] {
        let start = self.start
            + if self.shape.varying {
                row * self.shape.length
            } else {
                0
            };
        &values[start..start + self.shape.length]
    }

    #[inline(always)]
    fn row_mut<T>(self, values: &mut [T], row: usize) -> &mut [T] {
        let start = self.start
            + if self.shape.varying {
                row * self.shape.length
            } else {
                0
            };
        &mut values[start..start + self.shape.length]
    }

    /// How often an operation with this result is done.
    #[inline(always)]
    fn times(self) -> usize {
        if self.shape.varying { self.rows } else { 1 }
    }

    /// Its numbers in the shape of a result: themselves, or copied as often as needed.
    #[inline(always)]
    fn expanded<'v, T: Real>(self, as_is: Place, values: &'v [T], room: &'v mut [T]) -> &'v [T] {
        if self.shape == as_is.shape {
            return self.all(values);
        }
        let length = as_is.shape.length;
        let room = &mut room[..numbers(as_is.shape, as_is.rows)];
        match (self.shape.varying, self.shape.length) {
            (false, 1) => room.fill(values[self.start]),
            _ => {
                for (row, room) in room.chunks_exact_mut(length).enumerate() {
                    match self.row(values, row) {
                        [one] => room.fill(*one),
                        all => room.copy_from_slice(all),
                    }
                }
            }
        }
        room
    }

    /// Passes f(g, a, b) on as derivatives by these numbers; g, a and b have the shape of the result.
    #[inline(always)]
    fn pass_on<T: Real>(
        self,
        result: Place,
        [g, a, b]: [&[T]; 3],
        into: Towards<'_, T>,
        f: impl Fn(T, T, T) -> T,
    ) {
        let Towards { by, found, once } = into;
        if self.shape == result.shape {
            return update(self.all_mut(by), once, [g, a, b], f);
        }
        let found = &mut found[..g.len()];
        update(found, true, [g, a, b], f);
        if self.shape == NUMBER {
            by[self.start] += sum(found);
            return;
        }
        for (row, found) in found.chunks_exact(result.shape.length).enumerate() {
            match self.row_mut(by, row) {
                [one] if once => *one = sum(found),
                [one] => *one += sum(found),
                all => update(all, once, [found; 3], |x, _, _| x),
            }
        }
    }
}

/// One number for all rows.
const NUMBER: Shape = Shape {
    length: 1,
    varying: false,
};

/// Where derivatives are passed on to.
struct Towards<'a, T> {
    by: &'a mut [T],
    /// Room for those of a result.
    found: &'a mut [T],
    /// Nothing has been, and nothing else will be.
    once: bool,
}

/// Writes f(a, b, c), or adds it. Vectors are often short, so they are cut into pieces of a fixed size, which need no
/// loop over what is left.
#[inline(always)]
fn update<T: Real>(to: &mut [T], once: bool, [a, b, c]: [&[T]; 3], f: impl Fn(T, T, T) -> T) {
    match once {
        true => update_with(to, [a, b, c], |to, a, b, c| *to = f(a, b, c)),
        false => update_with(to, [a, b, c], |to, a, b, c| *to += f(a, b, c)),
    }
}

#[inline(always)]
fn update_with<T: Real>(to: &mut [T], from: [&[T]; 3], f: impl Fn(&mut T, T, T, T)) {
    let (to, to_rest) = to.as_chunks_mut::<LANES>();
    let [(a, a_rest), (b, b_rest), (c, c_rest)] = from.map(|from| from.as_chunks::<LANES>());
    for (((to, a), b), c) in to.iter_mut().zip(a).zip(b).zip(c) {
        // On its own, or the compiler must reckon with numbers that change while they are read.
        let mut new = *to;
        for k in 0..LANES {
            f(&mut new[k], a[k], b[k], c[k]);
        }
        *to = new;
    }
    let rest = to_rest.iter_mut().zip(a_rest).zip(b_rest).zip(c_rest);
    rest.for_each(|(((to, &a), &b), &c)| f(to, a, b, c));
}

/// The sum of something of each pair of numbers.
#[inline(always)]
fn sum_of<T: Real>(a: &[T], b: &[T], f: impl Fn(T, T) -> T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a.remainder().iter().zip(b.remainder());
    for (a, b) in a.zip(b) {
        for k in 0..LANES {
            lanes[k] += f(a[k], b[k]);
        }
    }
    for (lane, (&a, &b)) in lanes.iter_mut().zip(rest) {
        *lane += f(a, b);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for k in 0..half {
            lanes[k] += lanes[k + half];
        }
        half /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn sum<T: Real>(x: &[T]) -> T {
    sum_of(x, x, |x, _| x)
}

/// Whether the second of two is the greater; NaN goes through.
#[inline(always)]
fn second_is_max<T: Real>(a: T, b: T) -> bool {
    b > a || b.is_nan()
}

#[inline(always)]
fn second_is_min<T: Real>(a: T, b: T) -> bool {
    b < a || b.is_nan()
}

/// The place of the least or greatest number, the first of equal ones.
#[inline(always)]
fn extreme<T: Real>(fold: Fold, x: &[T]) -> usize {
    let better = |best: usize, k: usize| {
        let second = match fold {
            Fold::Min => second_is_min(x[best], x[k]),
            _ => second_is_max(x[best], x[k]),
        };
        if second && !x[best].is_nan() { k } else { best }
    };
    (1..x.len()).fold(0, better)
}

struct Forward<'a, T> {
    tape: &'a Tape,
    work: &'a mut Work<T>,
    rows: usize,
}

impl<T: Real> Task for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Work {
            values, scratch, ..
        } = self.work;
        for (at, op) in self.tape.ops.iter().enumerate() {
            let result = Place::of(self.tape, at, self.rows);
            let place = |at: usize| Place::of(self.tape, at, self.rows);
            // Operands stand before their results.
            let (before, rest) = values.split_at_mut(result.start);
            let out = &mut rest[..numbers(result.shape, self.rows)];
            match *op {
                Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) => {}
                Op::Unary(f, x) => unary(f, place(x).all(before), out),
                Op::Binary(f, x, y) => {
                    let [first, second, _] = scratch;
                    let a = place(x).expanded(result, before, first);
                    let b = place(y).expanded(result, before, second);
                    binary(f, a, b, out);
                }
                Op::Fold(f, x) => {
                    let x = place(x);
                    for (row, out) in out.iter_mut().enumerate() {
                        *out = folded(f, x.row(before, row));
                    }
                }
                Op::Pair(f, x, y) => {
                    let (x, y) = (place(x), place(y));
                    for (row, out) in out.iter_mut().enumerate() {
                        let (a, b) = (x.row(before, row), y.row(before, row));
                        *out = match f {
                            Pair::Dot => sum_of(a, b, |a, b| a * b),
                            Pair::Dist => sum_of(a, b, |a, b| (a - b) * (a - b)).sqrt(),
                        };
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn map<T: Real>(x: &[T], out: &mut [T], f: impl Fn(T) -> T) {
    out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(x));
}

#[inline(always)]
fn map2<T: Real>(a: &[T], b: &[T], out: &mut [T], f: impl Fn(T, T) -> T) {
    let pairs = out.iter_mut().zip(a).zip(b);
    pairs.for_each(|((out, &a), &b)| *out = f(a, b));
}

#[inline(always)]
fn unary<T: Real>(f: Unary, x: &[T], out: &mut [T]) {
    match f {
        Unary::Negate => map(x, out, |x| -x),
        Unary::Abs => map(x, out, |x| x.abs()),
        Unary::Sqrt => map(x, out, |x| x.sqrt()),
        Unary::Exp => {
            out.copy_from_slice(x);
            T::kernels().exp(out);
        }
        Unary::Log => {
            out.copy_from_slice(x);
            T::kernels().ln(out);
        }
        Unary::Tanh => {
            out.copy_from_slice(x);
            T::kernels().tanh(out);
        }
        Unary::Sigmoid => T::kernels().sigmoid(x, out),
        Unary::Softplus => {
            // max(x, 0) + log(1 + e^−|x|)
            map(x, out, |x| x.abs());
            T::kernels().log1p_exp_neg(out);
            let pairs = out.iter_mut().zip(x);
            pairs.for_each(|(out, &x)| *out += if x > T::ZERO { x } else { T::ZERO });
        }
    }
}

#[inline(always)]
fn binary<T: Real>(f: Binary, a: &[T], b: &[T], out: &mut [T]) {
    match f {
        Binary::Add => map2(a, b, out, |a, b| a + b),
        Binary::Subtract => map2(a, b, out, |a, b| a - b),
        Binary::Multiply => map2(a, b, out, |a, b| a * b),
        Binary::Divide => map2(a, b, out, |a, b| a / b),
        Binary::Min => map2(a, b, out, |a, b| if second_is_min(a, b) { b } else { a }),
        Binary::Max => map2(a, b, out, |a, b| if second_is_max(a, b) { b } else { a }),
    }
}

#[inline(always)]
fn folded<T: Real>(f: Fold, x: &[T]) -> T {
    match f {
        Fold::Sum => sum(x),
        Fold::Mean => sum(x) / T::from_f64(x.len() as f64),
        Fold::Norm => sum_of(x, x, |a, b| a * b).sqrt(),
        Fold::Min | Fold::Max => x[extreme(f, x)],
    }
}

/// 1/x, and 0 at 0: the slope of a length where there is none.
#[inline(always)]
fn inverse_or_0<T: Real>(x: T) -> T {
    if x == T::ZERO { T::ZERO } else { T::ONE / x }
}

struct Backward<'a, T> {
    tape: &'a Tape,
    work: &'a mut Work<T>,
    rows: usize,
    active: &'a [bool],
}

impl<T: Real> Task for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Work {
            values,
            by,
            scratch,
        } = self.work;
        for (at, op) in self.tape.ops.iter().enumerate().rev() {
            if !self.active[at] {
                continue;
            }
            let result = Place::of(self.tape, at, self.rows);
            let place = |at: usize| Place::of(self.tape, at, self.rows);
            let (by_before, by_rest) = by.split_at_mut(result.start);
            let (source, _) = self.tape.derivatives(at);
            let g = &by_rest[self.tape.starts[source] - result.start..];
            let g = &g[..numbers(result.shape, self.rows)];
            let out = result.all(values);
            // Whether derivatives by an operand are to be found, and whether only here.
            let wanted = |at: usize| match self.tape.flows[at] {
                Flow::Same(_) | Flow::Opposite(_) => None,
                Flow::Once => self.active[at].then_some(true),
                Flow::AddedUp => self.active[at].then_some(false),
            };
            match *op {
                Op::Leaf(_) | Op::Learnt(_) | Op::Number(_) => {}
                Op::Unary(f, x) => {
                    if let Some(once) = wanted(x) {
                        let x = place(x);
                        let room = &mut scratch[0][..g.len()];
                        let by = x.all_mut(by_before);
                        unary_backward(f, g, x.all(values), out, room, by, once);
                    }
                }
                Op::Binary(f, x, y) => {
                    let [first, second, found] = scratch;
                    let wanted = [x, y].map(wanted);
                    let (x, y) = (place(x), place(y));
                    let (mut a, mut b) = (g, g);
                    if !matches!(f, Binary::Add | Binary::Subtract) {
                        a = x.expanded(result, values, first);
                        b = y.expanded(result, values, second);
                    }
                    let by = by_before;
                    if let Some(once) = wanted[0] {
                        let into = Towards { by, found, once };
                        binary_by_first(f, [g, a, b], x, result, into);
                    }
                    if let Some(once) = wanted[1] {
                        let into = Towards { by, found, once };
                        binary_by_second(f, [g, a, b], out, y, result, into);
                    }
                }
                Op::Fold(f, x) => {
                    let Some(once) = wanted(x) else {
                        continue;
                    };
                    let x = place(x);
                    for row in 0..result.times() {
                        let (x, by) = (x.row(values, row), x.row_mut(by_before, row));
                        let mut all = |share: T| update(by, once, [x; 3], |_, _, _| share);
                        match f {
                            Fold::Sum => all(g[row]),
                            Fold::Mean => all(g[row] / T::from_f64(x.len() as f64)),
                            Fold::Norm => {
                                let factor = g[row] * inverse_or_0(out[row]);
                                update(by, once, [x; 3], |x, _, _| factor * x);
                            }
                            Fold::Min | Fold::Max => {
                                if once {
                                    by.fill(T::ZERO);
                                }
                                by[extreme(f, x)] += g[row];
                            }
                        }
                    }
                }
                Op::Pair(f, x, y) => {
                    let wanted = [x, y].map(wanted);
                    let (x, y) = (place(x), place(y));
                    for row in 0..result.times() {
                        let (a, b) = (x.row(values, row), y.row(values, row));
                        let factor = match f {
                            Pair::Dot => g[row],
                            Pair::Dist => g[row] * inverse_or_0(out[row]),
                        };
                        for (to, once, a, b) in [(x, wanted[0], a, b), (y, wanted[1], b, a)] {
                            let Some(once) = once else {
                                continue;
                            };
                            let by = to.row_mut(by_before, row);
                            match f {
                                Pair::Dot => update(by, once, [b; 3], |b, _, _| factor * b),
                                Pair::Dist => {
                                    update(by, once, [a, b, b], |a, b, _| factor * (a - b));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What follows for x of f(x) = `out`.
#[inline(always)]
fn unary_backward<T: Real>(
    f: Unary,
    g: &[T],
    x: &[T],
    out: &[T],
    room: &mut [T],
    by: &mut [T],
    once: bool,
) {
    match f {
        Unary::Negate => update(by, once, [g; 3], |g, _, _| -g),
        Unary::Abs => with_slope(by, once, g, x, |x| {
            let down = if x < T::ZERO { -T::ONE } else { T::ZERO };
            if x > T::ZERO { T::ONE } else { down }
        }),
        Unary::Sqrt => with_slope(by, once, g, out, |y| inverse_or_0(y + y)),
        Unary::Exp => with_slope(by, once, g, out, |y| y),
        Unary::Log => with_slope(by, once, g, x, |x| T::ONE / x),
        Unary::Tanh => with_slope(by, once, g, out, |y| (T::ONE - y) * (T::ONE + y)),
        Unary::Sigmoid => {
            // S(x) S(−x) = e^−|x| / (1 + e^−|x|)², to full accuracy on both sides.
            map(x, room, |x| -x.abs());
            T::kernels().exp(room);
            with_slope(by, once, g, room, |e| e / ((T::ONE + e) * (T::ONE + e)));
        }
        Unary::Softplus => {
            T::kernels().sigmoid(x, room);
            with_slope(by, once, g, room, |s| s);
        }
    }
}

#[inline(always)]
fn with_slope<T: Real>(by: &mut [T], once: bool, g: &[T], of: &[T], slope: impl Fn(T) -> T) {
    update(by, once, [g, of, of], |g, x, _| g * slope(x));
}

/// What follows for a of f(a, b).
#[inline(always)]
fn binary_by_first<T: Real>(
    f: Binary,
    gab: [&[T]; 3],
    x: Place,
    result: Place,
    into: Towards<'_, T>,
) {
    match f {
        Binary::Add | Binary::Subtract => x.pass_on(result, gab, into, |g, _, _| g),
        Binary::Multiply => x.pass_on(result, gab, into, |g, _, b| g * b),
        Binary::Divide => x.pass_on(result, gab, into, |g, _, b| g / b),
        Binary::Min => x.pass_on(result, gab, into, |g, a, b| {
            if second_is_min(a, b) { T::ZERO } else { g }
        }),
        Binary::Max => x.pass_on(result, gab, into, |g, a, b| {
            if second_is_max(a, b) { T::ZERO } else { g }
        }),
    }
}

/// What follows for b of f(a, b) = `out`.
#[inline(always)]
fn binary_by_second<T: Real>(
    f: Binary,
    gab: [&[T]; 3],
    out: &[T],
    y: Place,
    result: Place,
    into: Towards<'_, T>,
) {
    let [g, _, b] = gab;
    match f {
        Binary::Add => y.pass_on(result, gab, into, |g, _, _| g),
        Binary::Subtract => y.pass_on(result, gab, into, |g, _, _| -g),
        Binary::Multiply => y.pass_on(result, gab, into, |g, a, _| g * a),
        Binary::Divide => y.pass_on(result, [g, b, out], into, |g, b, out| -(g * out / b)),
        Binary::Min => y.pass_on(result, gab, into, |g, a, b| {
            if second_is_min(a, b) { g } else { T::ZERO }
        }),
        Binary::Max => y.pass_on(result, gab, into, |g, a, b| {
            if second_is_max(a, b) { g } else { T::ZERO }
        }),
    }
}
