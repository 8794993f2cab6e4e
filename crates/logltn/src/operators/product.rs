//! The product of truth degrees.

use super::aggregate::{Accumulated, Aggregate, Block, Running, Slopes, State};
use super::connective::Fold;
use super::laws::{AggregatorLaws, ConnectiveLaws};
use super::{
    Affine, And, Bilinear, Domain, Formula, Kept, Operator, Polynomial, Reduction, Settings,
};
use crate::vector::Real;

pub(crate) struct Product;

impl Operator for Product {
    const DOMAIN: Domain = Domain::Truths;
    const FORMULAS: &'static [Formula] = &[
        Formula::new(
            "and",
            "truth degrees",
            "π0(x) π0(y)",
            "n-ary: folds from the left, projections at every step",
        ),
        Formula::new("aggregator", "truth degrees", "Π π0(x)", ""),
    ];
}

impl Fold<And> for Product {
    const LAWS: ConnectiveLaws = ConnectiveLaws {
        polynomial: Some(|eps| Polynomial {
            projections: [Affine::away_from_zero(eps); 2],
            value: Bilinear {
                constant: 0.0,
                first: 0.0,
                second: 0.0,
                both: 1.0,
            },
        }),
        ..ConnectiveLaws::NONE
    };
    const EXPRESSED: &'static str = "away_from_zero(x) * away_from_zero(y)";

    #[inline(always)]
    fn of<T: Real>(s: Settings<T>, x: T, y: T) -> T {
        s.away_from_zero(x) * s.away_from_zero(y)
    }

    #[inline(always)]
    fn slopes<T: Real>(s: Settings<T>, x: T, y: T) -> (T, T) {
        (
            s.slope() * s.away_from_zero(y),
            s.slope() * s.away_from_zero(x),
        )
    }
}

impl Aggregate for Product {
    const LAWS: AggregatorLaws = AggregatorLaws::NONE;

    const EXPRESSED: Reduction = Reduction {
        keeps: &[
            Kept::sum(
                "logs",
                "w * log(where(away_from_zero(x) == 0, 1, away_from_zero(x)))",
            ),
            Kept::sum("zeros", "where(away_from_zero(x) == 0, 1, 0)"),
            Kept::sum(
                "zero",
                "where(away_from_zero(x) == 0, power(away_from_zero(x), w), 0)",
            ),
        ],
        value: "exp(logs) * where(zeros == 0, 1, where(zeros == 1, zero, 0))",
    };

    type Running = Product;

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        match state.b > 0.0 {
            true => 0.0,
            false => state.a,
        }
    }
}

impl Running for Product {
    /// `a`: the product of those that are not 0; `b`: the number of zeros.
    fn start() -> State {
        State::new(1.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        for segment in block.segments {
            let state = &mut to.states[segment.parent];
            for i in segment.start..segment.end {
                let x = s.away_from_zero(block.values[i].to_f64());
                let power = match block.weights {
                    None => x,
                    Some(weights) => x.powf(weights[i]),
                };
                if power == 0.0 {
                    state.b += 1.0;
                } else {
                    state.a *= power;
                }
            }
        }
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a *= other.a;
        state.b += other.b;
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        for segment in block.segments {
            let state = &to.states[segment.parent];
            let g = (to.by)(segment.parent) * s.slope();
            for i in segment.start..segment.end {
                let x = s.away_from_zero(block.values[i].to_f64());
                let w = block.weight(i);
                let zero = x.powf(w) == 0.0;
                // d xʷ/dx = w xʷ⁻¹
                let others = match (zero, state.b == f64::from(u8::from(zero))) {
                    (false, true) => state.a * w / x,
                    (true, true) => state.a * w * x.powf(w - 1.0),
                    (_, false) => 0.0,
                };
                to.out[i] = T::from_f64(g * others);
            }
        }
    }
}
