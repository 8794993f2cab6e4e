//! What questions cost beside an evaluation: `cargo run --release -p logltn --example asking`.
//!
//! Ten million groundings of a clause, of an `and` and of an `exists`; each question goes through all of them, and should
//! take no more than three times as long as the truth of the axiom.

use std::time::Instant;

use logltn::{Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics, Source, Theory};

fn main() -> Result<(), logltn::Diagnostics> {
    let questions = [
        ("clause", "R(x, y) -> Q(y)"),
        ("clause of three", "P(x) and Q(y) -> R(y, x)"),
        ("conjunction", "P(x) and R(x, y) and Q(y)"),
        ("exists", "exists c: C. S(x, c) and T(y, c)"),
    ];
    for name in ["logltn", "logltn-prob", "stable", "prod"] {
        let semantics = Semantics::named(name).expect("a semantics");
        // Of numbers far from 0 nearly all bindings are equally true, and few can be passed over unseen.
        for (spread, numbers) in [(2.0, "even"), (60.0, "sure")] {
            for (what, body) in questions {
                ask(
                    &semantics,
                    spread,
                    &format!("{name:12} {numbers}  {what}"),
                    body,
                )?;
            }
        }
    }
    Ok(())
}

fn ask(
    semantics: &Semantics,
    spread: f64,
    what: &str,
    body: &str,
) -> Result<(), logltn::Diagnostics> {
    let text = format!(
            "sort A  sort C = 0..3  predicate P(A)  predicate Q(A)  predicate R(A, A)  predicate S(A, C)  predicate T(A, C)
             axiom a: forall x: A, y: A. {body}"
        );
    let theory = Theory::parse(Source::new("asking.ltn", text))?;
    let mut data = Data::new(&theory);
    data.set_size("A", 3163)?;
    let outputs = [Output::sigmoid(); 5];
    let options = PlanOptions::default();
    let text = format!("find x: A, y: A. {body}");
    let query = theory.parse_query(Source::new("query", text))?;
    let plans = [
        Plan::new(&data, &outputs, semantics)?,
        Plan::for_explaining(&data, &outputs, semantics, &options)?,
        Plan::for_query(&data, &outputs, semantics, &query, &options)?,
    ];
    let mut engines = plans.map(Engine::<f64>::new);
    for engine in &mut engines {
        let mut state = 1_u64;
        for request in 0..engine.requests().len() {
            for x in engine.numbers_mut(request) {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                *x = spread * ((state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0);
            }
        }
    }
    let parameters = Parameters {
        alpha: 4.0,
        ..Parameters::default()
    };
    // In turns, so that what else the machine does hits all three.
    let mut seconds = [f64::INFINITY; 3];
    for _ in 0..5 {
        for (kind, (engine, best)) in engines.iter_mut().zip(&mut seconds).enumerate() {
            let start = Instant::now();
            match kind {
                0 => drop(engine.evaluate(&parameters)?.clone()),
                1 => drop(engine.explain(&parameters, 10)?),
                _ => drop(engine.answers(&parameters, 10)?),
            }
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let [evaluate, explain, find] = seconds;
    println!(
        "{what:32} evaluate {:7.1} ms   explain {:7.1} ms ({:.2}×)   find {:7.1} ms ({:.2}×)",
        1e3 * evaluate,
        1e3 * explain,
        explain / evaluate,
        1e3 * find,
        find / evaluate
    );
    Ok(())
}
