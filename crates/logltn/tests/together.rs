//! Many processes, here threads, each with some of the rows of every table: the same truths and loss as one with all rows, to
//! the bit the same on each, and gradients whose mean is that of one.

use std::sync::{Barrier, Mutex};

use crate::cases::compare::{near, unambiguous_gradients};
use crate::cases::random_case::{random_case, random_parameters, random_semantics};
use crate::cases::rng::Rng;
use crate::reference::Case;
use logltn::theory::TableId;
use logltn::{
    Code, ColumnData, Data, Diagnostics, Engine, Evaluation, Output, Parameters, Plan, PlanOptions,
    Semantics, Severity, Source, Theory, Wanted,
};

/// What a process found: truths and loss, and its gradients by all numbers of the case.
type Found = (Evaluation, Vec<Vec<f64>>);

/// Evaluates some rows of some tables, with others if there is an exchange.
fn run(
    engine: &mut Engine<f64>,
    case: &Case,
    parameters: &Parameters,
    exchange: Option<&mut logltn::Exchange>,
) -> Result<Found, Diagnostics> {
    let mut places = Vec::new();
    for request in 0..engine.requests().len() {
        let of = engine.requests()[request].clone();
        let predicate = of.predicate.0 as usize;
        let mut own = Vec::new();
        for row in 0..of.rows() {
            let mut individuals = of.row(row).to_vec();
            if case.outputs[predicate].per_class {
                individuals.push(0);
            }
            let first = case.position(of.predicate, &individuals);
            own.extend(first..first + of.width);
        }
        let numbers = engine.numbers_mut(request);
        for (number, &place) in numbers.iter_mut().zip(&own) {
            *number = case.numbers[predicate][place];
        }
        places.push((predicate, own));
    }
    let wanted = Some(Wanted::OfLoss);
    let evaluation = match exchange {
        None => engine.evaluate_in_place(parameters, wanted, &mut []),
        Some(exchange) => engine.evaluate_together(parameters, wanted, &mut [], exchange),
    };
    let evaluation = evaluation?.clone();
    let mut gradients: Vec<Vec<f64>> = case.numbers.iter().map(|n| vec![0.0; n.len()]).collect();
    for (request, (predicate, own)) in places.iter().enumerate() {
        for (&place, derivative) in own.iter().zip(engine.gradient(request)) {
            gradients[*predicate][place] += derivative;
        }
    }
    Ok((evaluation, gradients))
}

/// Each process with its rows of each table.
fn run_together(
    plan: &Plan,
    case: &Case,
    parameters: &Parameters,
    shares: &[Vec<(TableId, Vec<u32>)>],
) -> Vec<Result<Found, Diagnostics>> {
    let sent = Mutex::new(vec![Vec::new(); shares.len()]);
    let barrier = Barrier::new(shares.len());
    std::thread::scope(|scope| {
        let process = |rank: usize| {
            let (sent, barrier) = (&sent, &barrier);
            move || {
                let mut engine = Engine::<f64>::new(plan.clone());
                let own = shares[rank].iter();
                (engine.set_batches(own.map(|(table, rows)| (*table, &rows[..])))).expect("rows");
                let parts = plan.shares().len();
                run(
                    &mut engine,
                    case,
                    parameters,
                    Some(&mut |numbers| {
                        assert_eq!(numbers.len(), 5 * parts);
                        sent.lock().unwrap()[rank] = numbers.to_vec();
                        barrier.wait();
                        Ok((rank, sent.lock().unwrap().concat()))
                    }),
                )
            }
        };
        let threads: Vec<_> = (0..shares.len()).map(|r| scope.spawn(process(r))).collect();
        threads
            .into_iter()
            .map(|t| t.join().expect("a process"))
            .collect()
    })
}

/// Whether it was refused, compared, and compared with gradients.
fn compare(
    case: &mut Case,
    semantics: &Semantics,
    parameters: &Parameters,
    rng: &mut Rng,
) -> Result<[u32; 3], String> {
    let theory = case.theory.clone();
    let tables: Vec<TableId> = (0..theory.tables.len() as u32).map(TableId).collect();
    for table in &theory.tables {
        if case.data.set_batched(&table.name).is_err() {
            return Ok([0; 3]);
        }
    }
    let options = PlanOptions {
        sharded: true,
        ..PlanOptions::default()
    };
    let Ok(whole) = Plan::new(&case.data, &case.outputs, semantics) else {
        return Ok([0; 3]);
    };
    let plan = match Plan::new_with(&case.data, &case.outputs, semantics, &options) {
        Ok(plan) => plan,
        Err(errors) => {
            let errors_only = errors.iter().filter(|e| e.severity() == Severity::Error);
            let codes: Vec<Code> = errors_only.map(|e| e.code()).collect();
            return match codes.iter().all(|c| *c == Code::NotShardable) {
                true => Ok([1, 0, 0]),
                false => Err(errors.to_string()),
            };
        }
    };
    if !plan.shares().iter().any(|(_, sharded)| *sharded) {
        return Ok([0; 3]);
    }
    let one = run(&mut Engine::new(whole), case, parameters, None).map_err(|e| e.to_string())?;
    let processes = 1 + rng.below(4);
    let mut shares = vec![Vec::new(); processes];
    for &table in &tables {
        let rows = case.data.table(table).map_or(0, |t| t.rows as u32);
        let owner: Vec<usize> = (0..rows).map(|_| rng.below(processes)).collect();
        for (rank, share) in shares.iter_mut().enumerate() {
            let own = (0..rows).filter(|row| owner[*row as usize] == rank);
            share.push((table, own.collect::<Vec<u32>>()));
        }
    }
    let all = run_together(&plan, case, parameters, &shares);
    let all: Vec<Found> = (all.into_iter().collect::<Result<_, _>>()).map_err(|e| e.to_string())?;
    for (evaluation, _) in &all {
        if *evaluation != all[0].0 && evaluation.loss.is_finite() {
            return Err(format!(
                "not the same to the bit: {evaluation:?}, {:?}",
                all[0].0
            ));
        }
    }
    for (together, alone) in all[0].0.axioms.iter().zip(&one.0.axioms) {
        if !near(together.truth, alone.truth, 1e-9) || together.empty_exists != alone.empty_exists {
            return Err(format!(
                "{processes} processes: {together:?}, one: {alone:?}"
            ));
        }
    }
    if !one.0.loss.is_finite() {
        return Ok([0; 3]);
    }
    if !near(all[0].0.loss, one.0.loss, 1e-9) {
        return Err(format!("loss {} and {}", all[0].0.loss, one.0.loss));
    }
    if unambiguous_gradients(case, semantics, parameters, 1e-10, 1e-9).is_none() {
        return Ok([0, 1, 0]);
    }
    for (predicate, alone) in one.1.iter().enumerate() {
        for (place, alone) in alone.iter().enumerate() {
            let sum: f64 = all.iter().map(|(_, g)| g[predicate][place]).sum();
            let mean = sum / processes as f64;
            if !near(mean, *alone, 1e-9) {
                return Err(format!(
                    "gradient {place} of {predicate}: mean {mean:e}, one {alone:e}"
                ));
            }
        }
    }
    Ok([0, 1, 1])
}

#[test]
fn random_theories() {
    let mut total = [0; 3];
    for seed in 0..2000 {
        let mut random = random_case(seed);
        let mut rng = Rng::new(!seed);
        let (semantics, parameters) = (random_semantics(&mut rng), random_parameters(&mut rng));
        match compare(&mut random.case, &semantics, &parameters, &mut rng) {
            Ok(counted) => (total.iter_mut().zip(counted)).for_each(|(a, b)| *a += b),
            Err(error) => panic!(
                "seed {seed}, {semantics}, {parameters:?}\n{error}\n{}",
                random.text
            ),
        }
    }
    println!("refused, compared, with gradients: {total:?}");
    assert!(
        total[0] > 20 && total[1] > 100 && total[2] > 60,
        "{total:?}"
    );
}

const TABLES: &str = "
    sort P  sort C = {a, b}  table rows(x: P, n: Int)  table fixed(x: P)  constant first: P
    predicate p(P, C)  predicate q(C)
";

fn plan(axiom: &str, streams_sort: bool, semantics: &str) -> Result<Plan, Diagnostics> {
    let theory = Theory::parse(Source::new("t", format!("{TABLES}\naxiom it: {axiom}")))?;
    let mut data = Data::new(&theory);
    match streams_sort {
        true => data.set_streamed_size("P")?,
        false => data.set_size("P", 3)?,
    }
    data.set_streamed("rows")?;
    data.set_rows("fixed", vec![ColumnData::Individuals(vec![0, 2])])?;
    let learnable = logltn::ConstantData::Learnable;
    let is = if streams_sort {
        learnable
    } else {
        logltn::ConstantData::Row(0)
    };
    data.set_constant("first", is)?;
    let options = PlanOptions {
        sharded: true,
        ..PlanOptions::default()
    };
    let semantics = Semantics::named(semantics).expect("a name");
    Plan::new_with(
        &data,
        &[Output::sigmoid(), Output::sigmoid()],
        &semantics,
        &options,
    )
}

#[test]
fn what_would_have_to_see_other_rows_is_refused() {
    for (axiom, streams_sort, part) in [
        (
            "forall c: C. exists (x, n) in rows. p(x, c)",
            false,
            "table `rows`",
        ),
        (
            "(forall (x, n) in rows. p(x, a)) or q(a)",
            false,
            "table `rows`",
        ),
        (
            "forall x: P. exists y: P. p(x, a) and p(y, b)",
            true,
            "comes with the call",
        ),
        (
            "forall x, y: P. p(x, a) or p(y, b)",
            true,
            "different processes",
        ),
        ("forall (x) in fixed. p(x, a)", true, "table `fixed`"),
        (
            "forall x: P where rows(x, 1). p(x, a)",
            false,
            "table `rows`",
        ),
        (
            "forall x: P where not exists y: P. y = x. p(x, a)",
            true,
            "sort `P`",
        ),
        // A definition is inside a formula, wherever it stands.
        (
            "forall c: C. some(c)\ndefine some(c: C): exists (x, n) in rows. p(x, c)",
            false,
            "table `rows`",
        ),
        (
            "forall (x, n) in rows. d(x)\ndefine d(y: P): exists z: P. p(y, a) and p(z, b)",
            true,
            "comes with the call",
        ),
    ] {
        let errors = plan(axiom, streams_sort, "logltn").expect_err(axiom);
        let codes: Vec<Code> = errors.iter().map(|e| e.code()).collect();
        assert_eq!(codes, [Code::NotShardable], "{axiom}: {errors}");
        assert!(errors.to_string().contains(part), "{axiom}: {errors}");
    }
    // Truth degrees that are joined by a product do not add up.
    let both = "(forall (x, n) in rows. p(x, a)) and (forall c: C. q(c))";
    assert!(plan(both, false, "stable").is_err());
}

#[test]
fn what_each_process_can_see_of_its_own_is_shared() {
    for (axiom, streams_sort, expected) in [
        (
            "forall (x, n) in rows. exists c: C. p(x, c)",
            false,
            vec![true],
        ),
        (
            "exists (x, n) in rows where n > 1. p(x, a) or p(first, b)",
            false,
            vec![true],
        ),
        ("forall x: P, c: C. p(x, c) and q(c)", true, vec![true]),
        ("exists x: P, c: C. p(x, c) and q(c)", true, vec![true]),
        ("forall c: C. q(c)", true, vec![false]),
        (
            "(forall (x, n) in rows. p(x, a)) and (forall c: C. q(c))",
            false,
            vec![true, false],
        ),
        ("not exists (x, n) in rows. p(x, a)", true, vec![true]),
        (
            "forall (x, n) in rows. d(x)\ndefine d(y: P): exists c: C. p(y, c) and q(c)",
            false,
            vec![true],
        ),
    ] {
        let plan = plan(axiom, streams_sort, "logltn").unwrap_or_else(|e| panic!("{axiom}: {e}"));
        let shares: Vec<bool> = plan.shares().iter().map(|(_, s)| *s).collect();
        assert_eq!(shares, expected, "{axiom}");
    }
}
