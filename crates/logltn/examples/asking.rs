//! What questions cost beside an evaluation: `cargo run --release -p logltn --example asking`.
//!
//! Ten million groundings of a clause, of an `and` and of an `exists`; each question goes through all of them, and should
//! take no more than three times as long as the truth of the axiom.

use std::time::Instant;

use logltn::{Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics, Source, Theory};

fn main() -> Result<(), logltn::Diagnostics> {
    let size = 3163;
    for (what, body) in [
        ("clause", "R(x, y) -> Q(y)"),
        ("clause of three", "P(x) and Q(y) -> R(y, x)"),
        ("conjunction", "P(x) and R(x, y) and Q(y)"),
        ("exists", "exists c: C. S(x, c) and T(y, c)"),
    ] {
        let text = format!(
            "sort A  sort C = 0..3  predicate P(A)  predicate Q(A)  predicate R(A, A)  predicate S(A, C)  predicate T(A, C)
             axiom a: forall x: A, y: A. {body}"
        );
        let theory = Theory::parse(Source::new("asking.ltn", text))?;
        let mut data = Data::new(&theory);
        data.set_size("A", size)?;
        let outputs = [Output::sigmoid(); 5];
        let (semantics, options) = (Semantics::default(), PlanOptions::default());
        let text = format!("find x: A, y: A. {body}");
        let query = theory.parse_query(Source::new("query", text))?;
        let plans = [
            Plan::new(&data, &outputs, &semantics)?,
            Plan::for_explaining(&data, &outputs, &semantics, &options)?,
            Plan::for_query(&data, &outputs, &semantics, &query, &options)?,
        ];
        let mut seconds = Vec::new();
        for (kind, plan) in plans.into_iter().enumerate() {
            let mut engine = Engine::<f64>::new(plan);
            let mut state = 1_u64;
            for request in 0..engine.requests().len() {
                for x in engine.numbers_mut(request) {
                    state = state
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    *x = (state >> 33) as f64 / f64::from(1_u32 << 29) - 2.0;
                }
            }
            let parameters = Parameters {
                alpha: 4.0,
                ..Parameters::default()
            };
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                let start = Instant::now();
                match kind {
                    0 => drop(engine.evaluate(&parameters)?.clone()),
                    1 => drop(engine.explain(&parameters, 10)?),
                    _ => drop(engine.answers(&parameters, 10)?),
                }
                best = best.min(start.elapsed().as_secs_f64());
            }
            seconds.push(best);
        }
        let [evaluate, explain, find] = seconds[..] else {
            continue;
        };
        println!(
            "{what:16} evaluate {:7.1} ms   explain {:7.1} ms ({:.2}×)   find {:7.1} ms ({:.2}×)",
            1e3 * evaluate,
            1e3 * explain,
            explain / evaluate,
            1e3 * find,
            find / evaluate
        );
    }
    Ok(())
}
