//! What a closed form computes for a block of rows.

use logltn::vector::{Real, Task, run_task};
use logltn_nn::Floats;

use super::plan::Plan;
use super::sums::{Derivatives, MOST_TERMS, Sum, To, Vectors, direction, inverse_or_0};
use super::syntax::{Binary, Unary};
use super::tape::{Op, Shape};

/// The numbers of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work<T> {
    values: Vec<T>,
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
    pub table: usize,
}

/// The leaves that are read where they are.
pub(crate) type Places<'r, 'a, T> = &'r dyn Fn(usize) -> Option<InPlace<'a, T>>;

impl<T: Real> Work<T> {
    /// Room for a block of this many rows.
    pub fn prepare(&mut self, plan: &Plan, rows: usize) {
        if self.values.len() < plan.numbers {
            self.values.resize(plan.numbers, T::ZERO);
        }
        let Starts { leaves, own, same } = &mut self.rows;
        leaves.resize(leaves.len().max(plan.leaves.len()), Vec::new());
        for starts in leaves.iter_mut().chain([own, same]) {
            starts.resize(starts.len().max(rows), 0);
        }
    }

    /// Where the vector of each row begins, for a leaf that is read in place; to be filled in.
    pub fn starts_mut(&mut self, leaf: usize, rows: usize) -> &mut [u32] {
        &mut self.rows.leaves[leaf][..rows]
    }

    /// The numbers of a leaf in a block of this many rows, to be filled in.
    pub fn leaf_mut(&mut self, plan: &Plan, leaf: usize, rows: usize) -> &mut [T] {
        self.result_mut(plan, plan.leaves[leaf], rows)
    }

    /// The numbers of a result in a block of this many rows; none if there is no room for them.
    pub fn result(&self, plan: &Plan, at: usize, rows: usize) -> &[T] {
        &self.values[plan.range(at, rows)]
    }

    /// The same, to be filled in.
    pub fn result_mut(&mut self, plan: &Plan, at: usize, rows: usize) -> &mut [T] {
        &mut self.values[plan.range(at, rows)]
    }

    /// The result for each row.
    pub fn root(&self, plan: &Plan, out: &mut [T]) {
        let rows = out.len() / plan.shapes[plan.root].length.max(1);
        match self.result(plan, plan.root, rows) {
            [one] => out.fill(*one),
            all => out.copy_from_slice(all),
        }
    }

    /// Computes a block whose leaves and known sums are filled in, with these numbers that are learnt. On the way back, `by`
    /// are the derivatives by the result of each row, and those by what is read where it is are added to the tables.
    pub fn run<'l>(
        &mut self,
        plan: &Plan,
        rows: usize,
        learnt: &dyn Fn(usize) -> &'l [f32],
        places: Places<'_, '_, T>,
        (by, tables): (&[T], &mut [Floats]),
    ) {
        let work = self;
        run_task(Run {
            plan,
            work,
            rows,
            learnt,
            places,
            by,
            tables,
        });
    }
}

struct Run<'a, 'l, 'p, T> {
    plan: &'a Plan,
    work: &'a mut Work<T>,
    rows: usize,
    learnt: &'a dyn Fn(usize) -> &'l [f32],
    places: Places<'a, 'p, T>,
    by: &'a [T],
    tables: &'a mut [Floats],
}

impl<T: Real> Task for Run<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (plan, rows) = (self.plan, self.rows);
        let Work {
            values,
            rows: starts,
        } = self.work;
        for &at in &plan.run {
            let Some(start) = plan.starts[at] else {
                continue;
            };
            // Operands stand before their results.
            let (before, rest) = values.split_at_mut(start);
            let shape = plan.shapes[at];
            let out = &mut rest[..shape.numbers(rows)];
            let get = Get { plan, rows, before };
            match plan.ops[at] {
                Op::Leaf(_) | Op::Term(..) => {}
                Op::ByRoot if shape.varying => out.copy_from_slice(self.by),
                Op::ByRoot => out[0] = T::kernels().sum(self.by),
                Op::Learnt(which) => {
                    let learnt = (self.learnt)(which).iter();
                    let pairs = out.iter_mut().zip(learnt);
                    pairs.for_each(|(out, &x)| *out = T::from_f64(f64::from(x)));
                }
                Op::Number(bits) => out[0] = T::from_f64(f64::from_bits(bits)),
                Op::Unary(f, x) => unary(f, get.all(x), out),
                Op::Binary(f, x, y) => binary(f, get.all(x), get.all(y), out),
                Op::Spread(x) => spread(get.all(x), plan.shapes[x], shape.length, out),
                Op::Slope(f, [g, x]) => slope(f, get.all(g), get.all(x), out),
                Op::Chosen(f, second, [g, a, b]) => {
                    chosen(f, second, [get.all(g), get.all(a), get.all(b)], out);
                }
                Op::Total(x) => total(get.all(x), out),
                Op::Extreme { greatest, of } => {
                    let x = get.all(of).chunks_exact(plan.shapes[of].length);
                    for (x, out) in x.zip(out) {
                        *out = x[extreme(greatest, x)];
                    }
                }
                Op::AtExtreme(greatest, [g, of]) => {
                    let rows = out.chunks_exact_mut(shape.length);
                    let x = get.all(of).chunks_exact(shape.length);
                    for ((out, x), &g) in rows.zip(x).zip(get.all(g)) {
                        out.fill(T::ZERO);
                        out[extreme(greatest, x)] = g;
                    }
                }
                Op::Sum(sum) => {
                    let length = plan.shapes[sum.terms()[0]].length;
                    let all = vectors(&sum, get, starts, out.len(), self.places);
                    sum.forward(all, length, out);
                }
                Op::SumSlopes(sum, g) => {
                    let terms = sum.terms();
                    let length = plan.shapes[terms[0]].length;
                    let g = get.all(g);
                    let all = vectors(&sum, get, starts, g.len(), self.places);
                    let mut to = [To::Nowhere; MOST_TERMS];
                    for (i, &term) in terms.iter().enumerate() {
                        let own = at + 1 + i;
                        if let Some(place) = in_place(plan, self.places, term) {
                            to[i] = To::Table(place.table);
                        } else if let Some(first) = plan.starts[own] {
                            let first = first - start;
                            rest[first..][..plan.shapes[own].numbers(rows)].fill(T::ZERO);
                            to[i] = To::Block(first);
                        }
                    }
                    let into = Derivatives {
                        block: rest,
                        tables: self.tables,
                    };
                    sum.backward(all, length, g, to, into);
                }
            }
        }
    }
}

/// Earlier results.
#[derive(Clone, Copy)]
struct Get<'a, T> {
    plan: &'a Plan,
    rows: usize,
    before: &'a [T],
}

impl<'a, T> Get<'a, T> {
    /// The numbers of one; none if it is not needed.
    #[inline(always)]
    fn all(self, at: usize) -> &'a [T] {
        &self.before[self.plan.range(at, self.rows)]
    }
}

#[inline(always)]
fn in_place<'p, T>(plan: &Plan, places: Places<'_, 'p, T>, at: usize) -> Option<InPlace<'p, T>> {
    match plan.ops[at] {
        Op::Leaf(leaf) => places(leaf),
        _ => None,
    }
}

/// The vectors of a sum in this many rows of a block.
#[inline(always)]
fn vectors<'v, 'p: 'v, T: Real>(
    sum: &Sum,
    get: Get<'v, T>,
    starts: &'v mut Starts,
    rows: usize,
    places: Places<'_, 'p, T>,
) -> [Vectors<'v, T>; MOST_TERMS] {
    let (plan, terms) = (get.plan, sum.terms());
    let length = plan.shapes[terms[0]].length;
    let own = starts.own[..rows].iter_mut().enumerate();
    own.for_each(|(row, start)| *start = (row * length) as u32);
    let Starts { leaves, own, same } = &*starts;
    std::array::from_fn(|i| {
        let at = terms[i.min(terms.len() - 1)];
        if let Op::Leaf(leaf) = plan.ops[at]
            && let Some(place) = places(leaf)
        {
            return Vectors {
                numbers: place.numbers,
                starts: &leaves[leaf][..rows],
            };
        }
        let varying = plan.shapes[at].varying;
        Vectors {
            numbers: get.all(at),
            starts: &if varying { own } else { same }[..rows],
        }
    })
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

/// g times the slope of a function, where `of` is its argument; its result where that is simpler.
#[inline(always)]
fn slope<T: Real>(f: Unary, g: &[T], of: &[T], out: &mut [T]) {
    match f {
        Unary::Negate => map(g, out, |g| -g),
        Unary::Abs => map2(g, of, out, |g, x| g * direction(x)),
        Unary::Sqrt => map2(g, of, out, |g, y| g * inverse_or_0(y + y)),
        Unary::Exp => map2(g, of, out, |g, y| g * y),
        Unary::Log => map2(g, of, out, |g, x| g * (T::ONE / x)),
        Unary::Tanh => map2(g, of, out, |g, y| g * ((T::ONE - y) * (T::ONE + y))),
        Unary::Sigmoid => {
            // S(x) S(−x) = e^−|x| / (1 + e^−|x|)², to full accuracy on both sides.
            map(of, out, |x| -x.abs());
            T::kernels().exp(out);
            let pairs = out.iter_mut().zip(g);
            pairs.for_each(|(e, &g)| *e = g * (*e / ((T::ONE + *e) * (T::ONE + *e))));
        }
        Unary::Softplus => {
            T::kernels().sigmoid(of, out);
            out.iter_mut().zip(g).for_each(|(out, &g)| *out = g * *out);
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

/// g where the first of a and b is chosen, or where the second is.
#[inline(always)]
fn chosen<T: Real>(f: Binary, second: bool, [g, a, b]: [&[T]; 3], out: &mut [T]) {
    let all = out.iter_mut().zip(g).zip(a).zip(b);
    all.for_each(|(((out, &g), &a), &b)| {
        let found = match f {
            Binary::Min => second_is_min(a, b),
            _ => second_is_max(a, b),
        };
        *out = if found == second { g } else { T::ZERO };
    });
}

/// The numbers of x, as often as there is room.
#[inline(always)]
fn spread<T: Real>(x: &[T], shape: Shape, length: usize, out: &mut [T]) {
    match (shape.varying, shape.length) {
        (false, 1) => out.fill(x[0]),
        (true, _) => (out.chunks_exact_mut(length).zip(x)).for_each(|(out, x)| out.fill(*x)),
        (false, _) => (out.chunks_exact_mut(length)).for_each(|out| out.copy_from_slice(x)),
    }
}

/// All rows of x, added up; or all its numbers.
#[inline(always)]
fn total<T: Real>(x: &[T], out: &mut [T]) {
    match out {
        [one] => *one = T::kernels().sum(x),
        _ => {
            out.fill(T::ZERO);
            for x in x.chunks_exact(out.len()) {
                out.iter_mut().zip(x).for_each(|(out, &x)| *out += x);
            }
        }
    }
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
