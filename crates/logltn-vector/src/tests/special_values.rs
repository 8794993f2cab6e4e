//! Zeros, infinities, NaN, and the ends of the range.

use super::{Bits, all, applied, error};

fn same<T: Bits>(got: T, wanted: T) -> bool {
    got == wanted || (got.is_nan() && wanted.is_nan())
}

fn check<T: Bits>(name: &str, pairs: &[(T, T)], kernel: impl Fn(&mut [T])) {
    let x: Vec<T> = pairs.iter().map(|p| p.0).collect();
    for (got, &(x, wanted)) in applied(&x, |x| kernel(x)).into_iter().zip(pairs) {
        assert!(
            same(got, wanted),
            "{name}: {x:?} gives {got:?}, not {wanted:?}"
        );
    }
}

fn elementary<T: Bits>() {
    let (zero, one, infinity) = (T::ZERO, T::ONE, T::INFINITY);
    for kind in all::<T>() {
        let name = kind.name();
        let exp = [
            (zero, one),
            (-zero, one),
            (T::NEG_INFINITY, zero),
            (T::MIN_VALUE, zero),
            (T::from_f64(-1e4), zero),
            (T::from_f64(1e4), infinity),
            (T::MAX_VALUE, infinity),
            (infinity, infinity),
            (T::NAN, T::NAN),
        ];
        check(name, &exp, |x| kind.exp(x));
        let ln = [
            (one, zero),
            (zero, T::NEG_INFINITY),
            (-zero, T::NEG_INFINITY),
            (infinity, infinity),
            (-one, T::NAN),
            (T::NEG_INFINITY, T::NAN),
            (T::NAN, T::NAN),
        ];
        check(name, &ln, |x| kind.ln(x));
        let log1p_exp_neg = [
            (zero, T::from_f64(std::f64::consts::LN_2)),
            (T::MAX_VALUE, zero),
            (infinity, zero),
            (T::NAN, T::NAN),
        ];
        check(name, &log1p_exp_neg, |x| kind.log1p_exp_neg(x));
        let sigmoid = [
            (zero, T::from_f64(0.5)),
            (infinity, one),
            (T::NEG_INFINITY, zero),
            (T::MAX_VALUE, one),
            (T::MIN_VALUE, zero),
            (T::NAN, T::NAN),
        ];
        check(name, &sigmoid, |x| super::sigmoid(&kind, x));
        let elu = [
            (zero, zero),
            (infinity, infinity),
            (T::MAX_VALUE, T::MAX_VALUE),
            (T::NEG_INFINITY, -one),
            (T::MIN_VALUE, -one),
            (T::NAN, T::NAN),
        ];
        check(name, &elu, |x| kind.elu(x));
        let tanh = [
            (zero, zero),
            (infinity, one),
            (T::MAX_VALUE, one),
            (T::NEG_INFINITY, -one),
            (T::MIN_VALUE, -one),
            (T::NAN, T::NAN),
        ];
        check(name, &tanh, |x| kind.tanh(x));
    }
}

#[test]
fn special_values() {
    elementary::<f32>();
    elementary::<f64>();
}

/// Around the greatest and the least x with a normal exponential, neighbour by neighbour.
#[test]
fn ends_of_the_range_of_exp() {
    fn around<T: Bits>(end: f64, allowed: f64) {
        let middle = T::from_f64(end).bits();
        let x: Vec<T> = (middle - 50..=middle + 50).map(T::with_bits).collect();
        for kind in all::<T>() {
            for (y, &x) in applied(&x, |x| kind.exp(x)).into_iter().zip(&x) {
                let error = error(y, x.to_f64().exp());
                assert!(
                    error <= allowed,
                    "{}: {x:?} gives {y:?}, {error} ulp",
                    kind.name()
                );
            }
        }
    }
    around::<f32>(f64::from(f32::MAX).ln(), 1.1);
    around::<f32>(f64::from(f32::MIN_POSITIVE).ln(), 1.1);
    around::<f64>(f64::MAX.ln(), 1.5);
    around::<f64>(f64::MIN_POSITIVE.ln(), 1.5);
}

#[test]
fn powers_of_special_values() {
    fn check_powers<T: Bits>() {
        let (zero, one, infinity) = (T::ZERO, T::ONE, T::INFINITY);
        for kind in all::<T>() {
            for p in [0.5, 1.0, 2.0, 2.5, 40.0] {
                let pairs = [
                    (zero, zero),
                    (one, one),
                    (infinity, infinity),
                    (T::NAN, T::NAN),
                ];
                check(kind.name(), &pairs, |x| kind.pow(x, T::from_f64(p)));
            }
            let pairs = [
                (zero, infinity),
                (one, one),
                (infinity, zero),
                (-one, T::NAN),
            ];
            check(kind.name(), &pairs, |x| kind.pow(x, T::from_f64(-1.5)));
            let pairs = [zero, one, infinity, T::NAN, T::MIN_VALUE].map(|x| (x, one));
            check(kind.name(), &pairs, |x| kind.pow(x, zero));
        }
        // Exactly the argument and its square, whatever the number.
        let x: Vec<T> = (0..100).map(|i| T::from_f64(0.1 * f64::from(i))).collect();
        for kind in all::<T>() {
            assert_eq!(applied(&x, |x| kind.pow(x, one)), x);
            let squares: Vec<T> = x.iter().map(|&x| x * x).collect();
            assert_eq!(applied(&x, |x| kind.pow(x, one + one)), squares);
        }
    }
    check_powers::<f32>();
    check_powers::<f64>();
}

/// The literals of a confident network: finite, and not 0 as long as the truth is a normal number.
#[test]
fn confident_sigmoids() {
    let z = [80.0f32, -80.0, 1e4, -1e4, f32::MAX, f32::MIN];
    for kind in all::<f32>() {
        let mut positive = [0.0; 6];
        let mut negative = [0.0; 6];
        kind.log_sigmoid(&z, &mut positive, &mut negative);
        assert!(error(positive[0], -(-80f64).exp()) <= 1.1);
        assert!(error(negative[1], -(-80f64).exp()) <= 1.1);
        assert_eq!(positive[1..], [-80.0, 0.0, -1e4, 0.0, f32::MIN]);
        assert_eq!(
            (negative[0], &negative[2..]),
            (-80.0, &[-1e4, 0.0, f32::MIN, 0.0][..])
        );
    }
}

#[test]
fn not_a_number_goes_through_both_literals() {
    for kind in all::<f64>() {
        let (mut positive, mut negative) = ([0.0], [0.0]);
        kind.log_sigmoid(&[f64::NAN], &mut positive, &mut negative);
        assert!(positive[0].is_nan() && negative[0].is_nan());
    }
}
