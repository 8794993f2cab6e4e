//! Against the truth: `f64` for `f32`; values from 60 digits and the standard library for `f64`.

use super::references;
use super::{Bits, Kernels, all, applied, error, negative_literal, positive_literal, sigmoid};

/// Every `stride`-th float between two non-negative ones, as blocks.
fn blocks(low: f32, high: f32, stride: usize) -> impl Iterator<Item = Vec<f32>> {
    let mut bits = (low.to_bits()..=high.to_bits()).step_by(stride);
    std::iter::from_fn(move || {
        let block: Vec<f32> = bits.by_ref().take(4096).map(f32::from_bits).collect();
        (!block.is_empty()).then_some(block)
    })
}

/// Checks a kernel on a block.
fn check<T: Bits>(
    kind: &Kernels<T>,
    x: &[T],
    allowed: f64,
    kernel: impl FnOnce(&Kernels<T>, &mut [T]),
    truth: impl Fn(f64) -> f64,
) {
    let y = applied(x, |y| kernel(kind, y));
    for (&x, &y) in x.iter().zip(&y) {
        let truth = truth(x.to_f64());
        let error = error(y, truth);
        assert!(
            error <= allowed,
            "{}: {x:?} gives {y:?}, truth {truth:e}, {error} ulp",
            kind.name()
        );
    }
}

/// All kernels of one number, on every `stride`-th `f32`.
fn check_f32(stride: usize) {
    for kind in all::<f32>() {
        for x in blocks(0.0, f32::INFINITY, stride) {
            check(&kind, &x, 1.0, |k, x| k.ln(x), f64::ln);
        }
        for x in blocks(0.0, 110.0, stride) {
            let negative: Vec<f32> = x.iter().map(|x| -x).collect();
            check(&kind, &x, 1.1, |k, x| k.exp(x), f64::exp);
            check(&kind, &negative, 1.1, |k, x| k.exp(x), f64::exp);
            let truth = |x: f64| (-x).exp().ln_1p();
            check(&kind, &x, 2.0, |k, x| k.log1p_exp_neg(x), truth);
            for z in [x, negative] {
                check_sigmoids(&kind, &z, 2.0);
                check_activations(&kind, &z);
            }
        }
    }
}

/// `sigmoid` and both results of `log_sigmoid`.
fn check_sigmoids<T: Bits>(kind: &Kernels<T>, z: &[T], allowed: f64) {
    let log = |z: f64| z.min(0.0) - (-z.abs()).exp().ln_1p();
    let truth = |z: f64| {
        if z < 0.0 {
            z.exp() / (1.0 + z.exp())
        } else {
            1.0 / (1.0 + (-z).exp())
        }
    };
    check(kind, z, allowed + 0.5, sigmoid, truth);
    check(kind, z, allowed, positive_literal, log);
    check(kind, z, allowed, negative_literal, |z| log(-z));
}

/// `elu` and `tanh`.
fn check_activations<T: Bits>(kind: &Kernels<T>, x: &[T]) {
    let elu = |x: f64| if x > 0.0 { x } else { x.exp_m1() };
    check(kind, x, 3.0, |k, x| k.elu(x), elu);
    check(kind, x, 4.0, |k, x| k.tanh(x), f64::tanh);
}

#[test]
fn f32_against_f64() {
    check_f32(9973);
}

#[test]
#[ignore = "takes 7 minutes: cargo test --release -p logltn-vector every_f32 -- --ignored"]
fn every_f32() {
    check_f32(1);
}

#[test]
fn f64_against_sixty_digits() {
    for kind in all::<f64>() {
        for (table, kernel) in [
            (
                &references::EXP,
                Kernels::exp as fn(&Kernels<f64>, &mut [f64]),
            ),
            (&references::LN, Kernels::ln),
            (&references::LOG1P_EXP_NEG, Kernels::log1p_exp_neg),
        ] {
            let x: Vec<f64> = table.iter().map(|&(x, _)| x).collect();
            let y = applied(&x, |y| kernel(&kind, y));
            for (&y, &(x, truth)) in y.iter().zip(table) {
                let error = error(y, truth);
                assert!(
                    error <= 1.0,
                    "{}: {x:?} gives {y:?}, truth {truth:?}, {error} ulp",
                    kind.name()
                );
            }
        }
    }
}

/// The standard library's functions are within one unit themselves.
#[test]
fn f64_against_std() {
    let grid: Vec<f64> = (0..100_000).map(|i| f64::from(i) * 0.007_301).collect();
    let fine: Vec<f64> = (0..100_000)
        .map(|i| 0.5 + f64::from(i) / 50_000.0)
        .collect();
    let spread: Vec<f64> = (0..100_000)
        .map(|i| (f64::from(i) * 0.02093 - 1072.0).exp2())
        .collect();
    for kind in all::<f64>() {
        for x in [&grid, &fine, &spread] {
            let negative: Vec<f64> = x.iter().map(|x| -x).collect();
            check(&kind, x, 2.0, |k, x| k.exp(x), f64::exp);
            check(&kind, &negative, 2.0, |k, x| k.exp(x), f64::exp);
            check(&kind, x, 2.0, |k, x| k.ln(x), f64::ln);
            let truth = |x: f64| (-x).exp().ln_1p();
            check(&kind, x, 3.0, |k, x| k.log1p_exp_neg(x), truth);
            check_sigmoids(&kind, x, 3.0);
            check_sigmoids(&kind, &negative, 3.0);
            check_activations(&kind, x);
            check_activations(&kind, &negative);
        }
    }
}

/// The relative error of powers grows with the power at most, also where the result is tiny.
fn check_powers<T: Bits>(x: &[T], relative: f64) {
    let least_normal = f64::from(T::LEAST_EXPONENT).exp2();
    for kind in all::<T>() {
        for p in [
            0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 7.3, 20.0, -0.5, -1.0, -3.7,
        ] {
            let p = T::from_f64(p);
            let y = applied(x, |y| kind.pow(y, p));
            let allowed = relative * p.to_f64().abs().max(1.0);
            for (&x, &y) in x.iter().zip(&y) {
                let truth = x.to_f64().powf(p.to_f64());
                let right = if truth < least_normal {
                    y.to_f64() <= least_normal * (1.0 + allowed)
                } else if truth > T::MAX_VALUE.to_f64() {
                    y == T::INFINITY
                } else {
                    (y.to_f64() - truth).abs() <= allowed * truth
                };
                assert!(
                    right,
                    "{}: {x:?}^{p:?} gives {y:?}, truth {truth:e}",
                    kind.name()
                );
            }
        }
    }
}

#[test]
fn powers() {
    let truths: Vec<f64> = (0..=4000).map(|i| f64::from(i) / 4000.0).collect();
    let spread = |low: f64, high: f64| -> Vec<f64> {
        (0..4000)
            .map(|i| (low + (high - low) * f64::from(i) / 4000.0).exp2())
            .collect()
    };
    let to_f32 = |x: Vec<f64>| -> Vec<f32> { x.into_iter().map(|x| x as f32).collect() };
    check_powers(&to_f32(truths.clone()), 1e-6);
    check_powers(&to_f32(spread(-149.0, 128.0)), 1e-6);
    check_powers(&truths, 1e-14);
    check_powers(&spread(-1074.0, 1024.0), 1e-14);
}

#[test]
fn scaled_differences() {
    let x: Vec<f32> = (0..1000).map(|i| i as f32 * -0.037).collect();
    let c: Vec<f32> = (0..1000).map(|i| i as f32 * -0.036 + 0.25).collect();
    for kind in all::<f32>() {
        for alpha in [0.5, 1.0, 3.7] {
            let each = applied(&x, |x| kind.exp_scaled_difference(x, alpha, &c));
            for (i, y) in each.into_iter().enumerate() {
                let truth = f64::from(alpha * (x[i] - c[i])).exp();
                assert!(error(y, truth) <= 1.1, "{} {alpha} {i}", kind.name());
            }
            let from_one = applied(&x, |x| kind.exp_scaled_difference_from(x, alpha, 0.25));
            let of_many = applied(&x, |x| kind.exp_scaled_difference(x, alpha, &[0.25; 1000]));
            assert_eq!(from_one, of_many);
        }
    }
}

/// log(1 − eˣ) and its slope, by the loops of this machine.
struct LogNots<'a>(&'a [f32], Vec<(f32, f32)>);

impl crate::Task for LogNots<'_> {
    type Output = Vec<(f32, f32)>;

    #[inline(always)]
    fn run<const FUSED: bool>(mut self) -> Vec<(f32, f32)> {
        for &x in self.0 {
            self.1.push(crate::Function::of::<FUSED>(crate::LogNot, x));
        }
        self.1
    }
}

#[test]
fn logs_of_complements_and_their_slopes() {
    for x in blocks(1e-30, 200.0, 10_007) {
        let x: Vec<f32> = x.iter().map(|x| -x).collect();
        let found = crate::run_task(LogNots(&x, Vec::new()));
        for (&x, (log, slope)) in x.iter().zip(found) {
            let x = f64::from(x);
            let truth = match x > -0.5 {
                true => (-x.exp_m1()).ln(),
                false => (-x.exp()).ln_1p(),
            };
            let slope_truth = -1.0 / (-x).exp_m1();
            let near = |a: f32, b: f64| {
                (f64::from(a) - b).abs() <= 4e-7 * b.abs() + f64::from(f32::MIN_POSITIVE)
            };
            assert!(near(log, truth), "{x:e}: {log:e}, truth {truth:e}");
            assert!(
                near(slope, slope_truth),
                "{x:e}: {slope:e}, truth {slope_truth:e}"
            );
        }
    }
}
