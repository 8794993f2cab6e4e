//! The log of a product of truth degrees: `forall` of `prod`, where logs begin.

use super::aggregate::{self, Aggregate, Block, Slopes, State};
use super::laws::{Additive, AggregatorLaws, Summand};
use super::{Affine, Aggregator, Domain, Formula, Operator, Settings};
use crate::vector::Real;

pub(crate) struct LogProduct;

impl Operator for LogProduct {
    const DOMAIN: Domain = Domain::TruthsToLogs;
    const FORMULAS: &'static [Formula] = &[Formula {
        roles: "",
        of: "truth degrees",
        is: "Σ log π0(x)",
        remarks: "gives a log; the outermost `forall` of `prod` only",
    }];
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
    };

    /// `a`: the sum of logs.
    fn start() -> State {
        State::new(0.0)
    }

    fn accumulate<T: Real>(
        s: &Settings<f64>,
        block: Block<T>,
        states: &mut [State],
        work: &mut [T],
        _: &mut [T],
    ) {
        for (out, x) in work.iter_mut().zip(block.values) {
            *out = T::from_f64(s.away_from_zero(x.to_f64()));
        }
        T::kernels().ln(work);
        let logs = Block {
            values: work,
            ..block
        };
        aggregate::add_up(logs, states);
    }

    fn merge(_: &Settings<f64>, state: &mut State, other: &State) {
        state.a += other.a;
    }

    fn value(_: &Settings<f64>, state: &State) -> f64 {
        state.a
    }

    fn slopes<T: Real>(s: &Settings<f64>, block: Block<T>, slopes: Slopes<T>) {
        for segment in block.segments {
            let g = (slopes.by)(segment.parent) * s.slope();
            for i in segment.start..segment.end {
                let x = s.away_from_zero(block.values[i].to_f64());
                slopes.out[i] = T::from_f64(g * block.weight(i) / x);
            }
        }
    }
}
