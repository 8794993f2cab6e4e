//! Every operator of the list: its laws are true, its slopes are those of its values, and its states merge.

use super::*;
use crate::parameters::Parameters;

/// Numbers in (0, 1), the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Operands of an operator.
    fn operands(&mut self, domain: Domain, count: usize) -> Vec<f64> {
        let operand = |x: f64| match domain {
            Domain::Logs => 3.0 * x.ln(),
            Domain::Either | Domain::Truths | Domain::TruthsToLogs => x,
        };
        (0..count).map(|_| operand(self.next())).collect()
    }
}

fn settings() -> Settings<f64> {
    let parameters = Parameters {
        alpha: 1.7,
        p: 2.5,
        p_forall: 3.0,
    };
    Settings::new(&parameters, 1e-3)
}

#[track_caller]
fn assert_near(name: &str, found: f64, expected: f64, tolerance: f64) {
    let near = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
    assert!(near, "{name}: {found} instead of {expected}");
}

/// The aggregate of some values, cut into blocks whose states are merged, and the derivatives by them.
fn aggregate(
    aggregator: Aggregator,
    values: &[f64],
    weights: Option<&[f64]>,
    blocks: usize,
) -> (f64, Vec<f64>) {
    let (s, aggregation) = (settings(), aggregator.computation::<f64>());
    let mut complements = vec![0.0; values.len()];
    super::complements(values, &mut complements);
    let size = values.len().div_ceil(blocks);
    let mut buffers = [(); 4].map(|()| vec![0.0; values.len()]);
    let segments: Vec<[Segment; 1]> = (0..=values.len())
        .map(|end| {
            [Segment {
                parent: 0,
                start: 0,
                end,
            }]
        })
        .collect();
    let block = |from: usize| {
        let to = (from + size).min(values.len());
        Block {
            values: &values[from..to],
            complements: &complements[from..to],
            segments: &segments[to - from],
            weights: weights.map(|w| &w[from..to]),
        }
    };
    let [work, scratch, out, by_complements] = &mut buffers;
    let mut total: Option<State> = None;
    for from in (0..values.len()).step_by(size) {
        let len = size.min(values.len() - from);
        let mut states = [(aggregation.start)()];
        let to = Accumulated {
            states: &mut states,
            work: &mut work[..len],
            scratch: &mut scratch[..len],
        };
        aggregation.accumulate(&s, block(from), to);
        match &mut total {
            None => total = Some(states[0]),
            Some(total) => aggregation.merge(&s, total, &states[0]),
        }
    }
    let mut states = [total.expect("some values")];
    for from in (0..values.len()).step_by(size) {
        let len = size.min(values.len() - from);
        let to = Slopes {
            states: &mut states,
            by: &|_| 1.0,
            fresh: false,
            out: &mut out[from..from + len],
            by_complements: &mut by_complements[from..from + len],
            scratch: &mut scratch[..len],
        };
        (aggregation.slopes)(&s, block(from), to);
    }
    if aggregation.laws.wants_complements {
        super::add_slopes(values, by_complements, out);
    }
    ((aggregation.value)(&s, &states[0]), out.clone())
}

/// Compares slopes with differences of values.
fn check_slopes(name: &str, at: &[f64], slopes: &[f64], value: impl Fn(&[f64]) -> f64) {
    for (i, slope) in slopes.iter().enumerate() {
        let moved = |by: f64| {
            let mut at = at.to_vec();
            at[i] += by;
            value(&at)
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert_near(name, *slope, difference, 1e-6);
    }
}

#[test]
fn aggregators_merge_and_have_the_slopes_of_their_values() {
    let mut numbers = Numbers(1);
    for &aggregator in Aggregator::ALL {
        for count in [1, 2, 5, 40] {
            let values = numbers.operands(aggregator.domain(), count);
            let (value, slopes) = aggregate(aggregator, &values, None, 1);
            for blocks in [2, 3] {
                let (other, others) = aggregate(aggregator, &values, None, blocks);
                assert_near(aggregator.name(), other, value, 1e-12);
                for (a, b) in others.iter().zip(&slopes) {
                    assert_near(aggregator.name(), *a, *b, 1e-12);
                }
            }
            let of = |values: &[f64]| aggregate(aggregator, values, None, 1).0;
            check_slopes(aggregator.name(), &values, &slopes, of);
        }
    }
}

/// Also of weight 0, where the member may be anything.
#[test]
fn a_weight_counts_as_copies() {
    let mut numbers = Numbers(2);
    for &aggregator in Aggregator::ALL {
        let values = numbers.operands(aggregator.domain(), 4);
        let picks_one = aggregator.laws().picks_one;
        let weights = [2.0, 0.0, 1.0, 3.0];
        let copies: Vec<f64> = (values.iter().zip(weights))
            .flat_map(|(x, w)| vec![*x; if picks_one { 1 } else { w as usize }])
            .collect();
        let (value, slopes) = aggregate(aggregator, &values, Some(&weights), 2);
        let (expected, _) = aggregate(aggregator, &copies, None, 1);
        assert_near(aggregator.name(), value, expected, 1e-12);
        let of = |values: &[f64]| aggregate(aggregator, values, Some(&weights), 1).0;
        check_slopes(aggregator.name(), &values, &slopes, of);
        assert!(picks_one || slopes[1] == 0.0, "{aggregator}");
    }
}

#[test]
fn aggregators_keep_their_laws() {
    let (s, mut numbers) = (settings(), Numbers(3));
    for &aggregator in Aggregator::ALL {
        let (name, laws) = (aggregator.name(), aggregator.laws());
        let of = |values: &[f64]| aggregate(aggregator, values, None, 1).0;
        let values = numbers.operands(aggregator.domain(), 12);
        let (value, slopes) = aggregate(aggregator, &values, None, 1);
        if laws.idempotent {
            assert_near(name, of(&[values[0]; 5]), values[0], 1e-12);
        }
        if laws.regroups {
            let groups: Vec<f64> = values.chunks(3).map(of).collect();
            assert_near(name, of(&groups), value, 1e-12);
        }
        let given: Vec<&f64> = slopes.iter().filter(|slope| **slope != 0.0).collect();
        if laws.picks_one {
            assert!(values.contains(&value) && given == [&1.0], "{name}");
        }
        if laws.semiring.is_some() {
            let moved: Vec<f64> = values.iter().map(|v| v - 0.75).collect();
            assert_near(name, of(&moved), value - 0.75, 1e-12);
        }
        assert_eq!(
            laws.is_linear(),
            laws.linear_slope(1.0, &s, 12.0).is_some(),
            "{name}"
        );
        if let Some(slope) = laws.linear_slope(1.0, &s, 12.0) {
            assert!(slopes.iter().all(|s| *s == slope), "{name}");
        }
        if let Some(additive) = laws.additive {
            let Affine { slope, start } = (additive.projection)(s.eps);
            let summand = |x: &f64| match additive.summand {
                Summand::Itself => slope * x + start,
                Summand::Log => (slope * x + start).ln(),
                Summand::Power(p) => (slope * x + start).powf(s.exponent(p)),
            };
            let state = (additive.state)(values.iter().map(summand).sum(), 12.0);
            let made = (aggregator.computation::<f64>().value)(&s, &state);
            assert_near(name, made, value, 1e-12);
        }
        if let Some(or) = laws.or {
            let (joined, _) = connect(&or.computation(), &values);
            assert_near(name, joined, value, 1e-12);
        }
        if let Some(other) = laws.of_logs {
            let logs: Vec<f64> = values.iter().map(|x| s.away_from_zero(*x).ln()).collect();
            assert_near(name, aggregate(other, &logs, None, 1).0, value, 1e-12);
        }
    }
}

/// The value of a connective and the derivatives by its members.
fn connect(connection: &Connection<f64>, members: &[f64]) -> (f64, Vec<f64>) {
    let n = members.len();
    let columns: Vec<Vec<f64>> = members.iter().map(|x| vec![*x]).collect();
    let complements: Vec<Vec<f64>> = (members.iter())
        .map(|x| {
            let mut out = vec![0.0];
            super::complements(&[*x], &mut out);
            out
        })
        .collect();
    let operands = Members {
        values: &columns,
        len: 1,
        complements: &complements,
    };
    let (mut slopes, mut by_complements) = (vec![vec![0.0]; n], vec![vec![0.0]; n]);
    let (mut out, mut scratch) = ([0.0], [0.0]);
    let to = Forward {
        slopes: &mut slopes,
        out: &mut out,
        scratch: &mut scratch,
    };
    (connection.forward)(settings(), operands, to);
    let to = Backward {
        by: &[1.0],
        slopes: &mut slopes,
        by_complements: &mut by_complements,
        scratch: &mut scratch,
    };
    (connection.backward)(settings(), operands, to);
    if connection.laws.wants_complements {
        for ((x, by), slope) in members.iter().zip(&by_complements).zip(&mut slopes) {
            super::add_slopes(&[*x], by, slope);
        }
    }
    (out[0], slopes.concat())
}

#[test]
fn connectives_keep_their_laws_and_have_the_slopes_of_their_values() {
    let mut numbers = Numbers(4);
    let and = And::ALL
        .iter()
        .map(|op| (op.name(), op.domain(), op.computation()));
    let or = Or::ALL
        .iter()
        .map(|op| (op.name(), op.domain(), op.computation()));
    for (name, domain, connection) in and.chain(or) {
        let of = |members: &[f64]| connect(&connection, members).0;
        for count in [2, 3, 6] {
            let members = numbers.operands(domain, count);
            let (value, slopes) = connect(&connection, &members);
            check_slopes(name, &members, &slopes, of);
            if connection.laws.adds {
                assert_near(name, value, members.iter().sum(), 1e-12);
            }
            if connection.laws.associative {
                let inner = of(&members[..count - 1]);
                assert_near(name, of(&[inner, members[count - 1]]), value, 1e-12);
            }
            if connection.laws.semiring.is_some() {
                let moved: Vec<f64> = members.iter().map(|v| v - 0.75).collect();
                assert_near(name, of(&moved), value - 0.75, 1e-12);
            }
        }
        if let Some(polynomial) = connection.laws.polynomial {
            let [x, y] = [numbers.next(), numbers.next()];
            assert_near(
                name,
                at(polynomial(settings().eps), x, y),
                of(&[x, y]),
                1e-12,
            );
        }
    }
}

fn at(polynomial: Polynomial, x: f64, y: f64) -> f64 {
    let [p, q] = polynomial.projections;
    let (x, y) = (p.slope * x + p.start, q.slope * y + q.start);
    let value = polynomial.value;
    value.constant + value.first * x + value.second * y + value.both * x * y
}

#[test]
fn implications_and_negations_keep_their_laws() {
    let (s, mut numbers) = (settings(), Numbers(5));
    for op in Implies::ALL
        .iter()
        .filter(|op| op.domain() == Domain::Truths)
    {
        let computation = op.computation::<f64>();
        for _ in 0..20 {
            let operands = [numbers.next(), numbers.next()];
            let of = |at: &[f64]| {
                let mut out = [0.0];
                (computation.forward)(s, [&at[..1], &at[1..]], &mut out);
                out[0]
            };
            let (mut by_x, mut by_y) = ([0.0], [0.0]);
            let [x, y] = operands;
            let slopes = [&mut by_x[..], &mut by_y[..]];
            (computation.backward)(s, [&[x], &[y]], &[1.0], slopes);
            check_slopes(op.name(), &operands, &[by_x[0], by_y[0]], of);
            if let Some(polynomial) = op.laws().polynomial {
                assert_near(op.name(), at(polynomial(s.eps), x, y), of(&operands), 1e-12);
            }
        }
    }
    for op in Not::ALL.iter().filter(|op| op.domain() == Domain::Truths) {
        let computation = op.computation::<f64>();
        let x = numbers.next();
        let (mut out, mut by) = ([0.0], [0.0]);
        (computation.forward)(&[x], &mut out);
        (computation.backward)(&[x], &[1.0], &mut by);
        if let Some(affine) = op.laws().affine {
            assert_near(op.name(), out[0], affine.slope * x + affine.start, 1e-12);
            assert_near(op.name(), by[0], affine.slope, 1e-12);
        }
    }
}

/// What the documents and messages say of an operator is about it, and there are no two of one name.
#[test]
fn the_list_is_in_order() {
    for (i, entry) in ALL.iter().enumerate() {
        assert!(ALL[..i].iter().all(|other| other.name != entry.name));
        assert!(!entry.formulas.is_empty() && !entry.roles.is_empty());
        for formula in entry.formulas {
            let roles = entry.roles.contains(&formula.roles);
            assert!(formula.roles.is_empty() || roles, "{}", entry.name);
        }
    }
}
