//! Each rewrite by name: where it is applied, what it becomes, and where it must not be.

use logltn::{
    ColumnData, Data, Engine, Output, Parameters, Plan, PlanOptions, Semantics, Source, Theory,
};

const DECLARATIONS: &str = "
    sort A = 0..9  sort B = 0..19  sort Item
    table pairs(x: Item, n: Int)
    predicate P(A)  predicate Q(B)  predicate R(A, B)  predicate S()  predicate digit(Item, A)
";

fn data(formula: &str) -> Data {
    let text = format!("{DECLARATIONS} axiom a: {formula}");
    let theory = Theory::parse(Source::new("forms.ltn", text)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_size("Item", 4).expect("a size");
    let columns = vec![
        ColumnData::Individuals(vec![0, 1, 2, 3]),
        ColumnData::Int(vec![0, 7, 18, 99]),
    ];
    data.set_rows("pairs", columns).expect("rows");
    data
}

fn plan(formula: &str, semantics: &Semantics, rewrite: bool) -> Plan {
    let outputs = [
        Output::sigmoid(),
        Output::sigmoid(),
        Output::sigmoid(),
        Output::sigmoid(),
        Output::softmax(),
    ];
    Plan::new_with(
        &data(formula),
        &outputs,
        semantics,
        &PlanOptions {
            narrow: rewrite,
            eliminate: rewrite,
            ..PlanOptions::default()
        },
    )
    .expect("a plan")
}

/// Value, empty `exists`, and the derivatives by every number, ordered by predicate and row.
fn evaluate(plan: Plan) -> (f64, u64, Vec<f64>) {
    let mut engine = Engine::<f64>::new(plan);
    let mut order: Vec<usize> = (0..engine.requests().len()).collect();
    order.sort_by_key(|&r| engine.requests()[r].predicate);
    for &request in &order {
        let seed = 10.0 * f64::from(engine.requests()[request].predicate.0);
        let width = engine.requests()[request].width;
        let rows: Vec<u32> = (0..engine.requests()[request].rows())
            .flat_map(|row| engine.requests()[request].row(row).iter().copied().last())
            .collect();
        for (i, x) in engine.numbers_mut(request).iter_mut().enumerate() {
            let row = rows.get(i / width).copied().unwrap_or(0);
            *x = (seed + f64::from(row) + 0.3 * (i % width) as f64).sin() * 3.0;
        }
    }
    let parameters = Parameters {
        alpha: 2.5,
        ..Parameters::default()
    };
    let value = engine
        .evaluate_with_gradients(&parameters)
        .expect("a value")
        .clone();
    let gradients = order.iter().flat_map(|&r| engine.gradient(r).to_vec());
    (value.sat, value.axioms[0].empty_exists, gradients.collect())
}

fn named(name: &str) -> Semantics {
    Semantics::named(name).expect("a semantics")
}

/// What the formula becomes; it must equal what was written.
fn rewritten(formula: &str, semantics: &Semantics) -> Option<String> {
    let plan_rewritten = plan(formula, semantics, true);
    let plan_written = plan(formula, semantics, false);
    let after: Vec<String> = plan_rewritten
        .rewrites(0)
        .map(|rewrite| {
            assert!(rewrite.cost_after < rewrite.cost_before, "{rewrite:?}");
            rewrite.after.clone()
        })
        .collect();
    let (a, b) = (&plan_rewritten.axioms()[0], &plan_written.axioms()[0]);
    assert_eq!(a.groundings, b.groundings, "{formula}");
    assert_eq!(a.empty_exists, b.empty_exists, "{formula}");
    assert_eq!(plan_written.rewrites(0).count(), 0);
    let (found, expected) = (evaluate(plan_rewritten), evaluate(plan_written));
    assert!(
        (found.0 - expected.0).abs() < 1e-9,
        "{formula}: {} {}",
        found.0,
        expected.0
    );
    assert_eq!(found.1, expected.1, "{formula}");
    assert_eq!(found.2.len(), expected.2.len(), "{formula}");
    for (a, b) in found.2.iter().zip(&expected.2) {
        assert!((a - b).abs() < 1e-9, "{formula}");
    }
    (!after.is_empty()).then(|| after.join("; "))
}

fn assert_rewritten(formula: &str, semantics: &str, expected: &str) {
    let found = rewritten(formula, &named(semantics));
    assert_eq!(found.as_deref(), Some(expected), "{formula}, {semantics}");
}

fn assert_as_written(formula: &str, semantics: &Semantics) {
    assert_eq!(
        rewritten(formula, semantics),
        None,
        "{formula}, {semantics}"
    );
}

#[test]
fn exists_over_or() {
    let formula = "exists x: A, y: B. P(x) or Q(y) or S()";
    let split = "(exists x. P(x)) or (exists y. Q(y)) or S()";
    for semantics in ["logltn", "logltn-sum", "logltn-max"] {
        assert_rewritten(formula, semantics, split);
    }
    // S() would count once instead of 200 times, and each of the others too few times.
    assert_as_written(formula, &named("logltn-lse"));
    let differ = named("logltn").with("or", "max").expect("an override");
    assert_as_written(formula, &differ);
    // The guard ties them, so bindings are counted for each.
    let tied = "exists x: A, y: B where x < y. P(x) or Q(y)";
    let split = "(exists x: A, y: B where x < y. P(x)) or (exists x: A, y: B where x < y. Q(y))";
    for semantics in ["logltn", "logltn-sum", "logltn-max", "logltn-lse"] {
        assert_rewritten(tied, semantics, split);
    }
    assert_as_written(tied, &differ);
    assert_as_written(
        "exists x: A, y: B where x < y. R(x, y) or not R(x, y)",
        &named("logltn"),
    );
    assert_rewritten(
        "exists x: A, y: B where x < 4 and y != 3. P(x) -> Q(y)",
        "logltn",
        "(exists x where x < 4. not P(x)) or (exists y where y != 3. Q(y))",
    );
    // What is empty is false and counted, whatever else there is.
    assert_as_written(
        "exists x: A, y: B where x > 100. P(x) or Q(y)",
        &named("logltn"),
    );
}

#[test]
fn forall_over_and() {
    let formula = "forall x: A, y: B. P(x) and Q(y) and not P(x)";
    assert_rewritten(
        formula,
        "logltn",
        "(forall x. P(x) and not P(x)) and (forall y. Q(y))",
    );
    // A sum over y counts P(x) once for each y.
    assert_as_written(formula, &named("logltn-sum"));
    let tied = "forall x: A, y: B where x < y. P(x) and R(x, y) and not P(x)";
    let split = "(forall x: A, y: B where x < y. P(x) and not P(x)) \
        and (forall x: A, y: B where x < y. R(x, y))";
    for semantics in ["logltn", "logltn-sum", "logltn-max"] {
        assert_rewritten(tied, semantics, split);
    }
    let min = named("logltn").with("and", "min").expect("an override");
    assert_as_written(formula, &min);
    for semantics in ["stable", "godel", "lukasiewicz"] {
        assert_as_written(formula, &named(semantics));
    }
}

#[test]
fn vacuous_quantifiers() {
    for semantics in ["logltn", "logltn-max"] {
        assert_rewritten("forall x: A. S()", semantics, "S()");
        assert_rewritten(
            "exists x: A, y: B where y < 3. P(x)",
            semantics,
            "(exists x. P(x))",
        );
    }
    assert_as_written("forall x: A where x > 100. S()", &named("logltn"));
    assert_as_written("forall x: A. S()", &named("logltn-sum"));
}

#[test]
fn exists_over_and() {
    assert_rewritten(
        "exists x: A, y: B. P(x) and Q(y) and S()",
        "logltn",
        "(exists x. P(x)) and (exists y. Q(y)) and S()",
    );
    for semantics in ["logltn", "logltn-max", "logltn-lse"] {
        assert_rewritten(
            "exists x, u: A, y, z: B where x + y = 11 and u + z = 7. P(x) and Q(y) and P(u) and Q(z)",
            semantics,
            "(exists x, y where x + y = 11. P(x) and Q(y)) and (exists u, z where u + z = 7. P(u) and Q(z))",
        );
        assert_rewritten(
            "exists x, z: A, y: B where x < y and z < y. P(x) and Q(y) and P(z)",
            semantics,
            "exists x, y where x < y. P(x) and Q(y) and (exists z where z < y. P(z))",
        );
    }
    let mean = named("logltn").with("exists", "mean").expect("an override");
    assert_as_written("exists x: A, y: B. P(x) and Q(y)", &mean);
    let min = named("logltn").with("and", "min").expect("an override");
    assert_as_written("exists x: A, y: B. P(x) and Q(y)", &min);
    assert_as_written("exists x: A, y: B. R(x, y)", &named("logltn"));
}

/// A guard that keeps nothing for some rows: the floor, no gradient, counted.
#[test]
fn empty_for_some_rows() {
    let formula = "forall (x, n) in pairs. exists a, b, c, d: A where a + b + c + d = n. \
        digit(x, a) and P(b) and P(c) and P(d) and S()";
    let found = rewritten(formula, &named("logltn")).expect("a rewrite");
    assert!(found.starts_with("S() and "), "{found}");
    let plan = plan(formula, &named("logltn"), true);
    assert_eq!(plan.axioms()[0].empty_exists, 1);
    assert!(plan.warnings().to_string().contains("n = 99"));
}

#[test]
fn the_plan_shows_it() {
    let formula = "forall (x, n) in pairs. exists a, b: A, c, d: A where 10*a + b + 10*c + d = n. \
        digit(x, a) and P(b) and P(c) and P(d)";
    insta::assert_snapshot!(plan(formula, &named("logltn"), true).to_string());
}

/// How many bindings quantifiers visit, if some are counted beforehand; the result must equal what was written.
fn counted(formula: &str, semantics: &str) -> bool {
    rewritten(formula, &named(semantics));
    let plan = plan(formula, &named(semantics), true);
    plan.to_string().contains("counted beforehand")
}

#[test]
fn bindings_that_a_formula_does_not_tell_apart() {
    for semantics in [
        "logltn",
        "logltn-sum",
        "logltn-max",
        "logltn-lse",
        "logltn-prob",
        "stable",
        "godel",
        "lukasiewicz",
        "goguen",
    ] {
        for formula in [
            "forall x: A, y: B where x != y. P(x)",
            "forall x: A, y: B where x < y. P(x) -> S()",
            "forall x, u: A, y: B where x < u and u < y. R(x, y) <-> P(x)",
            "forall x: A. P(x) or (forall y, z: B where x < y and y != z. Q(y))",
            "forall x: A. P(x) -> (exists y: B, z: A where y != z and y != x. Q(y))",
            "forall (x, n) in pairs, y: B where n != y. Q(y)",
        ] {
            assert!(counted(formula, semantics), "{formula}, {semantics}");
        }
        // Nothing is left out, or an empty `exists` would be counted too rarely.
        for formula in [
            "forall x: A, y: B where x != y. P(x) -> Q(y)",
            "forall x: A, y: B where x != y. P(x) -> (exists z: A where z + 3 < x. P(z))",
        ] {
            assert!(!counted(formula, semantics), "{formula}, {semantics}");
        }
    }
}
