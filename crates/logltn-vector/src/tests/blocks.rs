//! An element's result depends on the element alone, and reductions have one order.

use super::{Bits, Kernels, all, applied, negative_literal, positive_literal, sigmoid};

/// A kernel, made to work in place.
type InPlace<T> = fn(&Kernels<T>, &mut [T]);

fn kernels<T: Bits>() -> Vec<(&'static str, InPlace<T>)> {
    vec![
        ("exp", |k, x| k.exp(x)),
        ("ln", |k, x| k.ln(x)),
        ("sigmoid", sigmoid),
        ("elu", |k, x| k.elu(x)),
        ("tanh", |k, x| k.tanh(x)),
        ("log_sigmoid", positive_literal),
        ("log_sigmoid, negative", negative_literal),
        ("log1p_exp_neg", |k, x| k.log1p_exp_neg(x)),
        ("log1p_exp_neg_with_exp", |k, x| {
            k.log1p_exp_neg_with_exp(x, &mut vec![T::ZERO; x.len()]);
        }),
        ("log1p_exp_neg_with_exp, exp", |k, x| {
            k.log1p_exp_neg_with_exp(&mut x.to_vec(), x);
        }),
        ("exp_scaled_difference", |k, x| {
            let c = x.iter().map(|&x| x * x).collect::<Vec<T>>();
            k.exp_scaled_difference(x, T::from_f64(0.3), &c);
        }),
        ("exp_scaled_difference_from", |k, x| {
            k.exp_scaled_difference_from(x, T::from_f64(0.3), T::from_f64(2.1));
        }),
        ("pow", |k, x| k.pow(x, T::from_f64(1.7))),
        ("square", |k, x| k.pow(x, T::from_f64(2.0))),
        ("root", |k, x| k.pow(x, T::from_f64(-0.5))),
    ]
}

fn bits<T: Bits>(x: &[T]) -> Vec<u64> {
    x.iter().map(|x| x.bits()).collect()
}

fn every_length_and_place<T: Bits>() {
    let x: Vec<T> = (0..70)
        .map(|i| T::from_f64(0.013 + 0.37 * f64::from(i)))
        .collect();
    for kind in all::<T>() {
        for (name, kernel) in kernels::<T>() {
            let alone: Vec<T> = x
                .iter()
                .flat_map(|&x| applied(&[x], |x| kernel(&kind, x)))
                .collect();
            for start in [0, 1, 7] {
                for end in start..=x.len() {
                    let together = applied(&x[start..end], |x| kernel(&kind, x));
                    assert_eq!(
                        bits(&together),
                        bits(&alone[start..end]),
                        "{} {name} {start}..{end}",
                        kind.name()
                    );
                }
            }
        }
    }
}

#[test]
fn every_length_and_place_f32() {
    every_length_and_place::<f32>();
}

#[test]
fn every_length_and_place_f64() {
    every_length_and_place::<f64>();
}

#[test]
fn with_exp_is_both() {
    let x: Vec<f32> = (0..100).map(|i| 0.9 * i as f32).collect();
    for kind in all::<f32>() {
        let mut e = vec![0.0; x.len()];
        let softplus = applied(&x, |x| kind.log1p_exp_neg_with_exp(x, &mut e));
        assert_eq!(softplus, applied(&x, |x| kind.log1p_exp_neg(x)));
        let negative: Vec<f32> = x.iter().map(|x| -x).collect();
        assert_eq!(e, applied(&negative, |x| kind.exp(x)));
    }
}

/// The documented order, written out.
fn sum_in_order(x: &[f32]) -> f32 {
    let mut partial = [0.0f32; 16];
    for (i, x) in x.iter().enumerate() {
        partial[i % 16] += x;
    }
    let eight: [f32; 8] = std::array::from_fn(|i| partial[i] + partial[i + 8]);
    let four: [f32; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

#[test]
fn sums_have_one_order() {
    let x: Vec<f32> = (0..200)
        .map(|i| (i as f32 * 1.7).sin() * 10f32.powi(i % 9))
        .collect();
    for kind in all::<f32>() {
        for length in 0..x.len() {
            let x = &x[..length];
            assert_eq!(kind.sum(x).to_bits(), sum_in_order(x).to_bits(), "{length}");
        }
    }
}

#[test]
fn greatest_and_least() {
    for kind in all::<f64>() {
        assert_eq!(kind.max(&[]), f64::NEG_INFINITY);
        assert_eq!(kind.min(&[]), f64::INFINITY);
        assert_eq!(kind.max(&[f64::NAN, -3.0, f64::NAN]), -3.0);
        assert_eq!(kind.min(&[f64::NAN, -3.0, f64::NAN]), -3.0);
        for place in 0..50 {
            let mut x = vec![0.0; 50];
            x[place] = 1.0;
            assert_eq!((kind.max(&x), kind.min(&x)), (1.0, 0.0));
            x[place] = -1.0;
            assert_eq!((kind.max(&x), kind.min(&x)), (0.0, -1.0));
        }
    }
}

#[test]
#[should_panic(expected = "slices of one length")]
fn slices_of_different_lengths_are_a_bug() {
    <f32 as super::Real>::kernels().sigmoid(&[0.0; 3], &mut [0.0; 4]);
}
