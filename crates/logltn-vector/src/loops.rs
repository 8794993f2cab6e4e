//! Loops over slices: what a kernel does, independent of the instructions.
//!
//! Everything is `inline(always)`: the code must end up inside the functions of [`super::kernels`], which say for which
//! processor it is compiled. Blocks have a fixed size so that no element is ever left to slow scalar code: the last,
//! incomplete block is filled up with ones, computed like the others, and cut.

use super::elementary::{
    Elu, Exp, ExpScaledDifference, ExpScaledDifferenceFrom, Function, Ln, Log1pExpNeg, LogSigmoid,
    Power, Sigmoid, Tanh,
};
use super::real::Real;

/// The number of elements that are computed together, and the number of partial sums.
const BLOCK: usize = 16;

type Block<T> = [T; BLOCK];

/// Fills up the last, incomplete block.
#[inline(always)]
fn fill_up<T: Real>(tail: &[T]) -> Block<T> {
    let mut block = [T::ONE; BLOCK];
    block[..tail.len()].copy_from_slice(tail);
    block
}

#[inline(always)]
fn map_block<T: Real, const FUSED: bool>(x: &Block<T>, f: impl Function<T, T>) -> Block<T> {
    let mut result = [T::ZERO; BLOCK];
    for (result, &x) in result.iter_mut().zip(x) {
        *result = f.of::<FUSED>(x);
    }
    result
}

#[inline(always)]
fn map_block_with<T: Real, const FUSED: bool>(
    x: &Block<T>,
    c: &Block<T>,
    f: impl Function<(T, T), T>,
) -> Block<T> {
    let mut result = [T::ZERO; BLOCK];
    for ((result, &x), &c) in result.iter_mut().zip(x).zip(c) {
        *result = f.of::<FUSED>((x, c));
    }
    result
}

#[inline(always)]
fn map_block_to_two<T: Real, const FUSED: bool>(
    x: &Block<T>,
    f: impl Function<T, (T, T)>,
) -> (Block<T>, Block<T>) {
    let mut first = [T::ZERO; BLOCK];
    let mut second = [T::ZERO; BLOCK];
    for ((first, second), &x) in first.iter_mut().zip(&mut second).zip(x) {
        (*first, *second) = f.of::<FUSED>(x);
    }
    (first, second)
}

/// x = f(x)
#[inline(always)]
fn map<T: Real, const FUSED: bool>(x: &mut [T], f: impl Function<T, T>) {
    let (blocks, tail) = x.as_chunks_mut::<BLOCK>();
    for block in blocks {
        *block = map_block::<T, FUSED>(block, f);
    }
    if !tail.is_empty() {
        let block = map_block::<T, FUSED>(&fill_up(tail), f);
        tail.copy_from_slice(&block[..tail.len()]);
    }
}

/// out = f(x)
#[inline(always)]
fn map_into<T: Real, const FUSED: bool>(x: &[T], out: &mut [T], f: impl Function<T, T>) {
    assert_eq!(x.len(), out.len(), "slices of one length");
    let (x_blocks, x_tail) = x.as_chunks::<BLOCK>();
    let (out_blocks, out_tail) = out.as_chunks_mut::<BLOCK>();
    for (x, out) in x_blocks.iter().zip(out_blocks) {
        *out = map_block::<T, FUSED>(x, f);
    }
    if !x_tail.is_empty() {
        let block = map_block::<T, FUSED>(&fill_up(x_tail), f);
        out_tail.copy_from_slice(&block[..x_tail.len()]);
    }
}

/// x = f(x, c)
#[inline(always)]
fn map_with<T: Real, const FUSED: bool>(x: &mut [T], c: &[T], f: impl Function<(T, T), T>) {
    assert_eq!(x.len(), c.len(), "slices of one length");
    let (x_blocks, x_tail) = x.as_chunks_mut::<BLOCK>();
    let (c_blocks, c_tail) = c.as_chunks::<BLOCK>();
    for (x, c) in x_blocks.iter_mut().zip(c_blocks) {
        *x = map_block_with::<T, FUSED>(x, c, f);
    }
    if !x_tail.is_empty() {
        let block = map_block_with::<T, FUSED>(&fill_up(x_tail), &fill_up(c_tail), f);
        x_tail.copy_from_slice(&block[..x_tail.len()]);
    }
}

/// (first, second) = f(x)
#[inline(always)]
fn map_to_two<T: Real, const FUSED: bool>(
    x: &[T],
    first: &mut [T],
    second: &mut [T],
    f: impl Function<T, (T, T)>,
) {
    assert_eq!(x.len(), first.len(), "slices of one length");
    assert_eq!(x.len(), second.len(), "slices of one length");
    let (x_blocks, x_tail) = x.as_chunks::<BLOCK>();
    let (first_blocks, first_tail) = first.as_chunks_mut::<BLOCK>();
    let (second_blocks, second_tail) = second.as_chunks_mut::<BLOCK>();
    for ((x, first), second) in x_blocks.iter().zip(first_blocks).zip(second_blocks) {
        (*first, *second) = map_block_to_two::<T, FUSED>(x, f);
    }
    if !x_tail.is_empty() {
        let (one, two) = map_block_to_two::<T, FUSED>(&fill_up(x_tail), f);
        first_tail.copy_from_slice(&one[..x_tail.len()]);
        second_tail.copy_from_slice(&two[..x_tail.len()]);
    }
}

/// (x, second) = f(x)
#[inline(always)]
fn map_and_keep<T: Real, const FUSED: bool>(
    x: &mut [T],
    second: &mut [T],
    f: impl Function<T, (T, T)>,
) {
    assert_eq!(x.len(), second.len(), "slices of one length");
    let (x_blocks, x_tail) = x.as_chunks_mut::<BLOCK>();
    let (second_blocks, second_tail) = second.as_chunks_mut::<BLOCK>();
    for (x, second) in x_blocks.iter_mut().zip(second_blocks) {
        (*x, *second) = map_block_to_two::<T, FUSED>(x, f);
    }
    if !x_tail.is_empty() {
        let (one, two) = map_block_to_two::<T, FUSED>(&fill_up(x_tail), f);
        x_tail.copy_from_slice(&one[..x_tail.len()]);
        second_tail.copy_from_slice(&two[..x_tail.len()]);
    }
}

/// Combines all elements: element i goes to partial result i mod 16, and these are combined in pairs, halving. The
/// order is the same whatever the instructions, hence so are the bits of the result.
#[inline(always)]
fn reduce<T: Real>(x: &[T], start: T, combine: impl Fn(T, T) -> T) -> T {
    let mut partial = [start; BLOCK];
    let (blocks, tail) = x.as_chunks::<BLOCK>();
    for block in blocks {
        for (partial, &x) in partial.iter_mut().zip(block) {
            *partial = combine(*partial, x);
        }
    }
    for (partial, &x) in partial.iter_mut().zip(tail) {
        *partial = combine(*partial, x);
    }
    let mut width = BLOCK / 2;
    while width > 0 {
        let (low, high) = partial.split_at_mut(width);
        for (low, &high) in low.iter_mut().zip(high.iter()) {
            *low = combine(*low, high);
        }
        width /= 2;
    }
    partial[0]
}

#[inline(always)]
pub fn exp<T: Real, const FUSED: bool>(x: &mut [T]) {
    map::<T, FUSED>(x, Exp);
}

#[inline(always)]
pub fn ln<T: Real, const FUSED: bool>(x: &mut [T]) {
    map::<T, FUSED>(x, Ln);
}

#[inline(always)]
pub fn log_sigmoid<T: Real, const FUSED: bool>(z: &[T], positive: &mut [T], negative: &mut [T]) {
    map_to_two::<T, FUSED>(z, positive, negative, LogSigmoid);
}

#[inline(always)]
pub fn sigmoid<T: Real, const FUSED: bool>(z: &[T], out: &mut [T]) {
    map_into::<T, FUSED>(z, out, Sigmoid);
}

#[inline(always)]
pub fn elu<T: Real, const FUSED: bool>(x: &mut [T]) {
    map::<T, FUSED>(x, Elu);
}

#[inline(always)]
pub fn tanh<T: Real, const FUSED: bool>(x: &mut [T]) {
    map::<T, FUSED>(x, Tanh);
}

#[inline(always)]
pub fn log1p_exp_neg<T: Real, const FUSED: bool>(x: &mut [T]) {
    map::<T, FUSED>(x, Log1pExpNeg);
}

#[inline(always)]
pub fn log1p_exp_neg_with_exp<T: Real, const FUSED: bool>(x: &mut [T], e: &mut [T]) {
    map_and_keep::<T, FUSED>(x, e, Log1pExpNeg);
}

#[inline(always)]
pub fn exp_scaled_difference<T: Real, const FUSED: bool>(x: &mut [T], alpha: T, c: &[T]) {
    map_with::<T, FUSED>(x, c, ExpScaledDifference { alpha });
}

#[inline(always)]
pub fn exp_scaled_difference_from<T: Real, const FUSED: bool>(x: &mut [T], alpha: T, c: T) {
    map::<T, FUSED>(x, ExpScaledDifferenceFrom { alpha, c });
}

#[inline(always)]
pub fn pow<T: Real, const FUSED: bool>(x: &mut [T], p: T) {
    if p == T::ONE {
        // As it is.
    } else if p == T::TWO {
        // Not in blocks, of which the compiler would gather sixteen at once.
        x.iter_mut().for_each(|x| *x *= *x);
    } else if p == T::ZERO {
        x.fill(T::ONE);
    } else {
        map::<T, FUSED>(x, Power::new(p));
    }
}

#[inline(always)]
pub fn sum<T: Real, const FUSED: bool>(x: &[T]) -> T {
    reduce(x, T::ZERO, |a, b| a + b)
}

#[inline(always)]
pub fn max<T: Real, const FUSED: bool>(x: &[T]) -> T {
    reduce(x, T::NEG_INFINITY, |a, b| if b > a { b } else { a })
}

#[inline(always)]
pub fn min<T: Real, const FUSED: bool>(x: &[T]) -> T {
    reduce(x, T::INFINITY, |a, b| if b < a { b } else { a })
}
