//! A closed form run over a block of rows, forwards and backwards.

use std::ops::DerefMut;

use logltn::vector::{Real, Task, run_task};

use super::lengths::Shape;
use super::sums::{Derivatives, MOST_TERMS, Sum, To, Vectors, direction, inverse_or_0};
use super::syntax::{Binary, Unary};
use super::tape::{Again, Flow, Op, Tape};

/// Numbers that are added up side by side: always in this order, so that the bits do not depend on the processor.
const LANES: usize = 16;

/// The numbers of a block: results, derivatives by them, and room to compute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work<T> {
    values: Vec<T>,
    by: Vec<T>,
    scratch: [Vec<T>; 3],
    rows: Starts,
}

/// Where the vectors of a block's rows begin.
#[derive(Clone, Debug, Default)]
struct Starts {
    /// Of each leaf that is read where it is.
    leaves: Vec<Vec<u32>>,
    /// Of vectors of the block that follow each other, for the operation at hand.
    own: Vec<u32>,
    /// For a vector that is the same in all rows.
    same: Vec<u32>,
}

/// Numbers of an argument that are read where they are.
pub(crate) struct InPlace<'a, T> {
    pub numbers: &'a [T],
    /// The table to which the derivatives by them are added, at the same places.
    pub table: Option<usize>,
}

/// The leaves that are read where they are.
pub(crate) type Places<'r, 'a, T> = &'r dyn Fn(usize) -> Option<InPlace<'a, T>>;

impl<T: Real> Work<T> {
    /// Room for a block of a closed form.
    pub fn prepare(&mut self, tape: &Tape) {
        self.values.resize(tape.numbers, T::ZERO);
        for scratch in &mut self.scratch {
            scratch.resize(tape.longest, T::ZERO);
        }
        let leaves = tape.leaves().len();
        self.rows.leaves.resize(leaves, Vec::new());
        self.rows.own.resize(tape.rows, 0);
        self.rows.same.resize(tape.rows, 0);
    }

    /// Where the vector of each row begins, for a leaf that is read in place; to be filled in.
    pub fn starts_mut(&mut self, leaf: usize, rows: usize) -> &mut [u32] {
        let starts = &mut self.rows.leaves[leaf];
        if starts.len() < rows {
            starts.resize(rows, 0);
        }
        &mut starts[..rows]
    }

    /// The numbers of a leaf in a block of this many rows, to be filled in.
    pub fn leaf_mut(&mut self, tape: &Tape, leaf: usize, rows: usize) -> &mut [T] {
        &mut self.values[tape.leaf_range(leaf, rows)]
    }

    /// Computes a block whose leaves are filled in, with these numbers that are learnt; all of it, or what the way back
    /// needs.
    pub fn forward<'l>(
        &mut self,
        tape: &Tape,
        rows: usize,
        learnt: impl Fn(usize) -> &'l [f32],
        places: Places<'_, '_, T>,
        again: Option<&Again>,
    ) {
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
        run_task(Forward {
            tape,
            work,
            rows,
            places,
            again,
        });
    }

    /// The sums that are kept for the way back, one after the other.
    pub fn keep(&self, tape: &Tape, again: &Again, kept: &mut [T]) {
        let rows = kept.len() / again.kept.len().max(1);
        for (&at, kept) in again.kept.iter().zip(kept.chunks_exact_mut(rows.max(1))) {
            kept.copy_from_slice(Operand::of(tape, at, rows).all(&self.values));
        }
    }

    /// Puts them back.
    pub fn put_back(&mut self, tape: &Tape, again: &Again, kept: &[T]) {
        let rows = kept.len() / again.kept.len().max(1);
        for (&at, kept) in again.kept.iter().zip(kept.chunks_exact(rows.max(1))) {
            let values = Operand::of(tape, at, rows).all_mut(&mut self.values);
            values.copy_from_slice(kept);
        }
    }

    /// Puts in a result that is known, one number for each row.
    pub fn put(&mut self, tape: &Tape, at: usize, rows: usize, numbers: impl Iterator<Item = T>) {
        let values = Operand::of(tape, at, rows).all_mut(&mut self.values);
        values.iter_mut().zip(numbers).for_each(|(to, x)| *to = x);
    }

    /// The derivatives by a result, one for each row.
    pub fn by(&self, tape: &Tape, at: usize, rows: usize) -> &[T] {
        Operand::of(tape, tape.derivatives(at).0, rows).all(&self.by)
    }

    /// The result for each row.
    pub fn result(&self, tape: &Tape, out: &mut [T]) {
        let start = tape.starts[tape.root];
        match tape.shapes[tape.root].varying {
            true => out.copy_from_slice(&self.values[start..start + out.len()]),
            false => out.fill(self.values[start]),
        }
    }

    /// The derivatives by all results that are `active`, from those by the result of each row. What the way back needs of
    /// the block must be there. Those by what is read where it is are added to the tables. It ends at results that are
    /// `known` from elsewhere.
    pub fn backward(
        &mut self,
        tape: &Tape,
        (active, known): (&[bool], &[usize]),
        by_result: &[T],
        places: Places<'_, '_, T>,
        tables: &mut [impl DerefMut<Target = [T]>],
    ) {
        let rows = by_result.len();
        self.by.resize(tape.numbers, T::ZERO);
        for (at, flow) in tape.flows.iter().enumerate() {
            let elsewhere = tape.leaf_numbers[at].is_some_and(|leaf| places(leaf).is_some());
            if active[at] && *flow == Flow::AddedUp && !elsewhere {
                Operand::of(tape, at, rows)
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
            known,
            places,
            tables,
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
struct Operand {
    start: usize,
    shape: Shape,
    rows: usize,
}

impl Operand {
    #[inline(always)]
    fn of(tape: &Tape, at: usize, rows: usize) -> Operand {
        Operand {
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
    fn expanded<'v, T: Real>(self, as_is: Operand, values: &'v [T], room: &'v mut [T]) -> &'v [T] {
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
        result: Operand,
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

/// The sum of some numbers.
#[inline(always)]
fn sum<T: Real>(x: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (pieces, rest) = x.as_chunks::<LANES>();
    for piece in pieces {
        for k in 0..LANES {
            lanes[k] += piece[k];
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += x;
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
fn extreme<T: Real>(greatest: bool, x: &[T]) -> usize {
    let better = |best: usize, k: usize| {
        let second = match greatest {
            false => second_is_min(x[best], x[k]),
            true => second_is_max(x[best], x[k]),
        };
        if second && !x[best].is_nan() { k } else { best }
    };
    (1..x.len()).fold(0, better)
}

/// The vectors of a sum in all rows of a block, whose own are `values`.
#[inline(always)]
fn vectors<'v, 'p: 'v, T: Real>(
    sum: &Sum,
    tape: &Tape,
    values: &'v [T],
    starts: &'v mut Starts,
    rows: usize,
    places: Places<'_, 'p, T>,
) -> [Vectors<'v, T>; MOST_TERMS] {
    let terms = sum.terms();
    let length = tape.shapes[terms[0]].length;
    let Starts { leaves, own, same } = starts;
    let own = &mut own[..rows];
    own.iter_mut()
        .enumerate()
        .for_each(|(row, start)| *start = (row * length) as u32);
    let (own, same) = (&*own, &same[..rows]);
    std::array::from_fn(|i| {
        let at = terms[i.min(terms.len() - 1)];
        if let Some(leaf) = tape.leaf_numbers[at]
            && let Some(place) = places(leaf)
        {
            return Vectors {
                numbers: place.numbers,
                starts: &leaves[leaf][..rows],
            };
        }
        Vectors {
            numbers: &values[tape.starts[at]..],
            starts: if tape.shapes[at].varying { own } else { same },
        }
    })
}

struct Forward<'a, 'p, T> {
    tape: &'a Tape,
    work: &'a mut Work<T>,
    rows: usize,
    places: Places<'a, 'p, T>,
    /// Only what the way back needs.
    again: Option<&'a Again>,
}

impl<T: Real> Task for Forward<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Work {
            values,
            scratch,
            rows: starts,
            ..
        } = self.work;
        for (at, op) in self.tape.ops.iter().enumerate() {
            if self.again.is_some_and(|again| !again.computed[at]) {
                continue;
            }
            let result = Operand::of(self.tape, at, self.rows);
            let place = |at: usize| Operand::of(self.tape, at, self.rows);
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
                Op::Extreme { greatest, of } => {
                    let x = place(of);
                    for (row, out) in out.iter_mut().enumerate() {
                        let x = x.row(before, row);
                        *out = x[extreme(greatest, x)];
                    }
                }
                Op::Sum(sum) => {
                    let length = self.tape.shapes[sum.terms()[0]].length;
                    let all = vectors(&sum, self.tape, before, starts, out.len(), self.places);
                    sum.forward(all, length, out);
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

struct Backward<'a, 'p, T, Table> {
    tape: &'a Tape,
    work: &'a mut Work<T>,
    rows: usize,
    active: &'a [bool],
    known: &'a [usize],
    places: Places<'a, 'p, T>,
    tables: &'a mut [Table],
}

impl<T: Real, Table: DerefMut<Target = [T]>> Task for Backward<'_, '_, T, Table> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Work {
            values,
            by,
            scratch,
            rows: starts,
        } = self.work;
        for (at, op) in self.tape.ops.iter().enumerate().rev() {
            if !self.active[at] || self.known.contains(&at) {
                continue;
            }
            let result = Operand::of(self.tape, at, self.rows);
            let place = |at: usize| Operand::of(self.tape, at, self.rows);
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
                Op::Extreme { greatest, of } => {
                    let Some(once) = wanted(of) else {
                        continue;
                    };
                    let x = place(of);
                    for (row, &g) in g.iter().enumerate().take(result.times()) {
                        let (x, by) = (x.row(values, row), x.row_mut(by_before, row));
                        if once {
                            by.fill(T::ZERO);
                        }
                        by[extreme(greatest, x)] += g;
                    }
                }
                Op::Sum(sum) => {
                    let terms = sum.terms();
                    let length = self.tape.shapes[terms[0]].length;
                    let all = vectors(&sum, self.tape, values, starts, g.len(), self.places);
                    let to = std::array::from_fn(|i| {
                        let Some(&at) = terms.get(i).filter(|at| self.active[**at]) else {
                            return To::Nowhere;
                        };
                        let leaf = self.tape.leaf_numbers[at];
                        match leaf.and_then(self.places) {
                            Some(place) => place.table.map_or(To::Nowhere, To::Table),
                            None => To::Block(self.tape.starts[at]),
                        }
                    });
                    let into = Derivatives {
                        block: by_before,
                        tables: self.tables,
                    };
                    sum.backward(all, length, [g, out], to, into);
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
        Unary::Abs => with_slope(by, once, g, x, direction),
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
    x: Operand,
    result: Operand,
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
    y: Operand,
    result: Operand,
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
