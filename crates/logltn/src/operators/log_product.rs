//! The log of a product of truth degrees: `forall` of `prod`, where logs begin.

use super::aggregate::{Accumulated, Aggregate, Block, Slopes, State};
use super::laws::{Additive, AggregatorLaws, Summand};
use super::{Affine, Aggregator, Domain, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct LogProduct;

impl Operator for LogProduct {
    const DOMAIN: Domain = Domain::TruthsToLogs;
    const FORMULAS: &'static [Formula] = &[Formula::new(
        "",
        "truth degrees",
        "Σ log π0(x)",
        "gives a log; the outermost `forall` of `prod` only",
    )];
}

impl Aggregate for LogProduct {
    const LAWS: AggregatorLaws = AggregatorLaws {
        idempotent: false,
        regroups: false,
        picks_one: false,
        semiring: None,
        additive: Some(Additive {
            summand: Summand::Log,
            projection: Affine::away_from_zero,
            state: |total, count| State {
                count,
                ..State::new(total)
            },
            slope: |by, _, _| by,
        }),
        of_logs: Some(Aggregator::Sum),
        wants_complements: false,
    };

    /// `a`: the sum of logs.
    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(s: &Settings<f64>, block: Block<T>, to: Accumulated<T>) {
        for (out, x) in to.work.iter_mut().zip(block.values) {
            *out = T::from_f64(s.away_from_zero(x.to_f64()));
        }
        T::kernels().ln(to.work);
        let logs = Block {
            values: to.work,
            ..block
        };
        logs.add_up(to.states);
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a += other.a;
    }

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, to: Slopes<T>) {
        for segment in block.segments {
            let g = (to.by)(segment.parent) * s.slope();
            for i in segment.start..segment.end {
                let x = s.away_from_zero(block.values[i].to_f64());
                to.out[i] = T::from_f64(g * block.weight(i) / x);
            }
        }
    }
}
