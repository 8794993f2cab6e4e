//! Addition of N-digit numbers from images of their digits: exact, and linear in N.

use logltn::{
    ColumnData, Data, Engine, Evaluation, Output, Parameters, Plan, PlanOptions, Semantics, Source,
    Theory,
};

/// How the theory says that the digits add up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// One equation, `10*a1 + a0 + 10*b1 + b0 = n`.
    Flat,
    /// One equation per column, with carries as variables: `a0 + b0 = s0 + 10*c1`, …
    Carries,
}

/// The least significant digit is number 0.
fn theory(digits: usize, form: Form) -> Theory {
    let list = |name: &str| {
        let names: Vec<String> = (0..digits).map(|i| format!("{name}{i}")).collect();
        names.join(", ")
    };
    let images = |name: &str| {
        let columns: Vec<String> = (0..digits).map(|i| format!("{name}{i}: Image")).collect();
        columns.join(", ")
    };
    let literals: Vec<String> = (0..digits)
        .flat_map(|i| [format!("digit(x{i}, a{i})"), format!("digit(y{i}, b{i})")])
        .collect();
    let (sum_columns, sum_names, guard, carries) = match form {
        Form::Flat => {
            let terms: Vec<String> = (0..digits)
                .flat_map(|i| {
                    let power = 10_i64.pow(i as u32);
                    [format!("{power}*a{i}"), format!("{power}*b{i}")]
                })
                .collect();
            let guard = format!("{} = n", terms.join(" + "));
            ("n: Int".to_string(), "n".to_string(), guard, String::new())
        }
        Form::Carries => {
            let columns: Vec<String> = (0..=digits).map(|i| format!("s{i}: Int")).collect();
            let names: Vec<String> = (0..=digits).map(|i| format!("s{i}")).collect();
            let mut equations: Vec<String> = (0..digits)
                .map(|i| match i {
                    0 => "a0 + b0 = s0 + 10*c1".to_string(),
                    _ => format!("a{i} + b{i} + c{i} = s{i} + 10*c{}", i + 1),
                })
                .collect();
            equations.push(format!("c{digits} = s{digits}"));
            let carries: Vec<String> = (1..=digits).map(|i| format!("c{i}")).collect();
            let carries = format!(", {}: Carry", carries.join(", "));
            (
                columns.join(", "),
                names.join(", "),
                equations.join(" and "),
                carries,
            )
        }
    };
    let text = format!(
        "sort Image  sort Digit = 0..9  sort Carry = 0..1
        table sums({}, {}, {sum_columns})
        predicate digit(Image, Digit)
        axiom addition: forall ({}, {}, {sum_names}) in sums.
            exists {}, {}: Digit{carries} where {guard}. {}",
        images("x"),
        images("y"),
        list("x"),
        list("y"),
        list("a"),
        list("b"),
        literals.join(" and "),
    );
    Theory::parse(Source::new("addition.ltn", text)).expect("a theory")
}

fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*state >> 33) as f64 / (1_u64 << 31) as f64
}

/// Sums of random numbers; the images are all different.
fn data(theory: &Theory, digits: usize, form: Form, rows: usize) -> Data {
    let mut state = 7 + digits as u64;
    let mut data = Data::new(theory);
    data.set_size("Image", 2 * digits * rows).expect("a size");
    let mut columns: Vec<ColumnData> = (0..2 * digits)
        .map(|k| ColumnData::Individuals((0..rows).map(|i| (k * rows + i) as u32).collect()))
        .collect();
    let mut sums: Vec<Vec<i64>> = vec![Vec::new(); digits + 1];
    let mut totals = Vec::new();
    for _ in 0..rows {
        let (mut carry, mut total) = (0, 0);
        for (i, column) in sums[..digits].iter_mut().enumerate() {
            let sum =
                (10.0 * random(&mut state)) as i64 + (10.0 * random(&mut state)) as i64 + carry;
            column.push(sum % 10);
            carry = sum / 10;
            total += sum % 10 * 10_i64.pow(i as u32);
        }
        sums[digits].push(carry);
        totals.push(total + carry * 10_i64.pow(digits as u32));
    }
    match form {
        Form::Flat => columns.push(ColumnData::Int(totals)),
        Form::Carries => columns.extend(sums.into_iter().map(ColumnData::Int)),
    }
    data.set_rows("sums", columns).expect("rows");
    data
}

fn fill(engine: &mut Engine<f64>, scale: f64) {
    let mut state = 11;
    for x in engine.numbers_mut(0) {
        *x = scale * (random(&mut state) - 0.5);
    }
}

fn evaluate(plan: Plan, scale: f64, alpha: f64) -> (Evaluation, Vec<f64>) {
    let mut engine = Engine::<f64>::new(plan);
    fill(&mut engine, scale);
    let parameters = Parameters {
        alpha,
        ..Parameters::default()
    };
    let value = engine
        .evaluate_with_gradients(&parameters)
        .expect("a value")
        .clone();
    (value, engine.gradient(0).to_vec())
}

fn plan(digits: usize, form: Form, rows: usize, rewrite: bool, semantics: &str) -> Plan {
    let theory = theory(digits, form);
    let data = data(&theory, digits, form, rows);
    let semantics = Semantics::named(semantics).expect("a semantics");
    Plan::new_with(
        &data,
        &[Output::softmax()],
        &semantics,
        &PlanOptions {
            narrow: rewrite,
            eliminate: rewrite,
            ..PlanOptions::default()
        },
    )
    .expect("a plan")
}

fn assert_near(a: f64, b: f64, what: &str) {
    assert!(
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        "{what}: {a} and {b}"
    );
}

#[test]
fn both_forms_equal_the_plan_as_written() {
    for digits in [1, 2] {
        for form in [Form::Flat, Form::Carries] {
            for semantics in ["logltn", "logltn-lse", "logltn-max"] {
                for (alpha, scale) in [(0.1, 4.0), (1.0, 4.0), (100.0, 4.0), (2.0, 2e4)] {
                    let found = evaluate(plan(digits, form, 6, true, semantics), scale, alpha);
                    let expected = evaluate(plan(digits, form, 6, false, semantics), scale, alpha);
                    let what = format!("{digits} digits, {form:?}, {semantics}, α = {alpha}");
                    assert_near(found.0.sat, expected.0.sat, &what);
                    for (a, b) in found.1.iter().zip(&expected.1) {
                        assert_near(*a, *b, &what);
                    }
                }
            }
        }
    }
}

/// The log-probability of a sum by going through all pairs of numbers.
fn log_probability(logits: &[f64], digits: usize, sum: i64) -> (f64, f64) {
    let log_softmax = |image: usize| -> Vec<f64> {
        let own = &logits[10 * image..10 * image + 10];
        let total = own.iter().map(|z| z.exp()).sum::<f64>().ln();
        own.iter().map(|z| z - total).collect()
    };
    let logs: Vec<Vec<f64>> = (0..2 * digits).map(log_softmax).collect();
    let largest = 10_i64.pow(digits as u32);
    let of = |offset: usize, number: i64| -> f64 {
        let digit = |i: usize| (number / 10_i64.pow(i as u32) % 10) as usize;
        (0..digits).map(|i| logs[offset + i][digit(i)]).sum()
    };
    let (mut probability, mut tuples) = (0.0, 0.0);
    for a in 0..largest {
        let b = sum - a;
        if (0..largest).contains(&b) {
            probability += (of(0, a) + of(digits, b)).exp();
            tuples += 1.0;
        }
    }
    (probability.ln(), tuples)
}

/// With α = 1 the truth of a sum, plus the log of the number of pairs that have it, is its log-probability.
#[test]
fn truth_is_exact_probability() {
    for digits in [1, 2, 3] {
        for form in [Form::Flat, Form::Carries] {
            let plan = plan(digits, form, 1, true, "logltn");
            let theory = plan.data().theory();
            let rows = plan
                .data()
                .table(theory.table("sums").expect("a table"))
                .expect("rows");
            let int = |column: &ColumnData| match column {
                ColumnData::Int(cells) => cells[0],
                _ => unreachable!("a column of numbers"),
            };
            let sums = &rows.columns[2 * digits..];
            let sum: i64 = (sums.iter().enumerate())
                .map(|(i, c)| int(c) * 10_i64.pow(i as u32))
                .sum();
            let groundings = plan.axioms()[0].groundings;
            let mut engine = Engine::<f64>::new(plan);
            fill(&mut engine, 6.0);
            // One row per image, in order.
            let logits = engine.numbers_mut(0).to_vec();
            let truth = engine
                .evaluate(&Parameters::default())
                .expect("a value")
                .sat;
            let (expected, tuples) = log_probability(&logits, digits, sum);
            assert_eq!(groundings as f64, tuples);
            assert_near(
                truth + tuples.ln(),
                expected,
                &format!("{digits} digits, {form:?}"),
            );
        }
    }
}

/// The cost of a row grows by the same amount with each digit, and so does the plan.
#[test]
fn cost_is_linear_in_the_number_of_digits() {
    for form in [Form::Carries, Form::Flat] {
        let costs: Vec<f64> = (2..=15)
            .map(|digits| {
                let plan = plan(digits, form, 40, true, "logltn");
                let rewrite = plan.rewrites(0).next().expect("a rewrite");
                assert!(rewrite.cost_after < rewrite.cost_before);
                assert!(
                    plan.memory_bytes() < digits * 100_000,
                    "{digits}: {}",
                    plan.memory_bytes()
                );
                rewrite.cost_after
            })
            .collect();
        let steps: Vec<f64> = costs.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        println!("{form:?}: {costs:.0?}");
        assert!(mean < 300.0, "{form:?}: {costs:?}");
        for step in &steps {
            assert!((step - mean).abs() < 0.25 * mean, "{form:?}: {costs:?}");
        }
    }
}

/// Single precision, in batches that leave nothing behind, on steps that go through several blocks.
#[test]
fn batches_in_single_precision() {
    let (digits, rows) = (4, 300);
    let theory = theory(digits, Form::Flat);
    let mut data = data(&theory, digits, Form::Flat, rows);
    data.set_batched("sums").expect("a table");
    let table = theory.table("sums").expect("a table");
    let plan = Plan::new(&data, &[Output::softmax()], &Semantics::default()).expect("a plan");
    assert_eq!(plan.rewrites(0).count(), 1);
    let mut single = Engine::<f32>::new(plan.clone());
    let mut double = Engine::<f64>::new(plan);
    let mut state = 5;
    let batches: [Vec<u32>; 4] = [
        (0..rows as u32).collect(),
        vec![7],
        (0..rows as u32).rev().step_by(3).collect(),
        vec![4, 4, 200],
    ];
    for batch in &batches {
        single.set_batches([(table, &batch[..])]).expect("a batch");
        double.set_batches([(table, &batch[..])]).expect("a batch");
        for i in 0..single.numbers_mut(0).len() {
            let x = (6.0 * random(&mut state)) as f32;
            single.numbers_mut(0)[i] = x;
            double.numbers_mut(0)[i] = f64::from(x);
        }
        let parameters = Parameters {
            alpha: 2.0,
            ..Parameters::default()
        };
        let a = single
            .evaluate_with_gradients(&parameters)
            .expect("a value")
            .loss;
        let b = double
            .evaluate_with_gradients(&parameters)
            .expect("a value")
            .loss;
        assert!((a - b).abs() < 1e-5 * b.abs(), "{a} and {b}");
        for (a, b) in single.gradient(0).iter().zip(double.gradient(0)) {
            assert!((f64::from(*a) - b).abs() < 1e-5, "{a} and {b}");
        }
    }
}

/// 10^30 tuples of digits: counted, evaluated, and with the gradient of a sum of probabilities.
#[test]
fn fifteen_digits() {
    for form in [Form::Carries, Form::Flat] {
        let plan = plan(15, form, 30, true, "logltn");
        assert!(plan.axioms()[0].groundings > 1_000_000_000_000_000);
        let (value, gradient) = evaluate(plan, 4.0, 1.0);
        assert!(value.sat.is_finite() && value.sat < 0.0);
        // Softmax: the derivatives by the logits of an image add up to 0.
        for own in gradient.chunks(10) {
            assert!(own.iter().any(|g| *g != 0.0));
            assert!(own.iter().sum::<f64>().abs() < 1e-12);
        }
    }
    let values: Vec<f64> = [Form::Carries, Form::Flat]
        .map(|form| evaluate(plan(15, form, 30, true, "logltn"), 4.0, 3.0).0.sat)
        .to_vec();
    assert_near(values[0], values[1], "both forms");
}
