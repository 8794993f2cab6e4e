//! Nanoseconds per element of the vector kernels, next to the standard library's functions.
//!
//! `cargo bench -p logltn-vector --bench vector`: the throughput column (items per second) is the one to read.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use logltn_vector::{Kernels, Real};

/// Fits the innermost cache in either precision.
const LENGTH: usize = 1024;

const KINDS: [&str; 3] = ["avx512", "avx2", "portable"];

fn main() {
    divan::main();
}

/// From −20 to 0: log truth degrees.
fn logs<T: Real>() -> Vec<T> {
    (0..LENGTH)
        .map(|i| T::from_f64(-20.0 * (i as f64 + 0.5) / LENGTH as f64))
        .collect()
}

/// From 0 to 20.
fn positive<T: Real>() -> Vec<T> {
    logs::<T>().into_iter().map(|x| -x).collect()
}

/// Runs `work` on a copy of `data`: the copy is timed too.
fn run<T: Real>(
    bencher: Bencher,
    kind: &str,
    data: Vec<T>,
    mut work: impl FnMut(&Kernels<T>, &mut [T]),
) {
    let available = Kernels::<T>::all_available();
    let Some(kernels) = available.iter().find(|k| k.name() == kind) else {
        eprintln!("this machine has no {kind}");
        return;
    };
    let mut x = data.clone();
    bencher
        .counter(ItemsCount::new(data.len()))
        .bench_local(|| {
            x.copy_from_slice(&data);
            work(kernels, black_box(&mut x));
        });
}

fn run_std<T: Real>(bencher: Bencher, data: Vec<T>, function: impl Fn(T) -> T) {
    let mut x = data.clone();
    bencher.counter(ItemsCount::new(LENGTH)).bench_local(|| {
        for (x, &v) in x.iter_mut().zip(black_box(&data)) {
            *x = function(v);
        }
        black_box(&mut x);
    });
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn exp<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, logs::<T>(), |k, x| k.exp(x));
}

#[divan::bench(types = [f32, f64])]
fn exp_std<T: Real>(bencher: Bencher) {
    run_std(bencher, logs::<T>(), T::exp);
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn ln<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, positive::<T>(), |k, x| k.ln(x));
}

#[divan::bench(types = [f32, f64])]
fn ln_std<T: Real>(bencher: Bencher) {
    run_std(bencher, positive::<T>(), T::ln);
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn log_sigmoid<T: Real>(bencher: Bencher, kind: &str) {
    let mut positive = vec![T::ZERO; LENGTH];
    let mut negative = vec![T::ZERO; LENGTH];
    let available = Kernels::<T>::all_available();
    let Some(kernels) = available.iter().find(|k| k.name() == kind) else {
        return;
    };
    let z = logs::<T>();
    bencher.counter(ItemsCount::new(LENGTH)).bench_local(|| {
        kernels.log_sigmoid(
            black_box(&z),
            black_box(&mut positive),
            black_box(&mut negative),
        );
    });
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn sigmoid<T: Real>(bencher: Bencher, kind: &str) {
    let mut out = vec![T::ZERO; LENGTH];
    run(bencher, kind, logs::<T>(), |k, x| k.sigmoid(x, &mut out));
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn log1p_exp_neg<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, positive::<T>(), |k, x| k.log1p_exp_neg(x));
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn pow<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, positive::<T>(), |k, x| {
        k.pow(x, T::from_f64(2.5))
    });
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn sum<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, logs::<T>(), |k, x| {
        black_box(k.sum(x));
    });
}

#[divan::bench(types = [f32, f64], args = KINDS)]
fn max<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, logs::<T>(), |k, x| {
        black_box(k.max(x));
    });
}

/// A short slice, where the incomplete block matters.
#[divan::bench(types = [f32, f64], args = KINDS)]
fn exp_of_ten<T: Real>(bencher: Bencher, kind: &str) {
    run(bencher, kind, logs::<T>()[..10].to_vec(), |k, x| k.exp(x));
}
