//! Closed forms in memory: sizes at which several lanes work, double precision, mistakes, metrics, restarts.

use logltn::{Code, ColumnData, Diagnostics, Parameters};
use logltn_learn::{
    Builder, ClosedForm, Constant, Individuals, Known, Metric, MetricKind, Network, Session, State,
};
use logltn_nn::Activation;

fn built(builder: Builder) -> Session {
    builder.build().unwrap_or_else(|errors| panic!("{errors}"))
}

fn errors(builder: Builder) -> Diagnostics {
    builder.build().err().expect("mistakes")
}

const ENTITIES: usize = 90;
const WIDTH: usize = 20;

/// All pairs of 90 entities under two relations: 16,200 rows of 20 numbers, enough for several lanes.
fn graph() -> Builder {
    Session::builder(
        "sort E  sort R  predicate linked(E, R, E)
        axiom some: forall x: E, r: R. exists y: E. linked(x, r, y)
        axiom no: forall x, y: E, r: R. not linked(x, r, y)",
    )
    .sort("E", Individuals::from(ENTITIES).learnable(WIDTH))
    .sort("R", Individuals::from(2).learnable(WIDTH))
    .closed_form(
        "linked",
        ClosedForm::logit("margin - norm(h + r - t)")
            .args(["h", "r", "t"])
            .learn("margin", 1.0),
    )
    .learning_rate(0.01)
    .steps(5)
}

fn blocks(session: &mut Session) -> Vec<(String, Vec<f32>, Vec<f32>)> {
    let mut found = Vec::new();
    session
        .model_mut()
        .visit_parameters(&mut |name, values, gradients| {
            found.push((name.to_string(), values.to_vec(), gradients.to_vec()));
        });
    found
}

#[test]
fn many_rows_have_the_gradient_that_follows_by_hand() {
    // One axiom with a mean over all: the derivative by each logit is known.
    let mut session = built(
        Session::builder(
            "sort E  sort R  predicate linked(E, R, E)
            axiom no: forall x, y: E, r: R. not linked(x, r, y)",
        )
        .sort("E", Individuals::from(ENTITIES).learnable(WIDTH))
        .sort("R", Individuals::from(2).learnable(WIDTH))
        .closed_form(
            "linked",
            ClosedForm::logit("margin - norm(h + r - t)")
                .args(["h", "r", "t"])
                .learn("margin", 1.0),
        )
        .learning_rate(0.0)
        .steps(5),
    );
    session.step().expect("a step");
    let found = blocks(&mut session);
    let vectors = |block: usize, i: usize| -> Vec<f64> {
        let row = &found[block].1[i * WIDTH..(i + 1) * WIDTH];
        row.iter().map(|&x| f64::from(x)).collect()
    };
    let mut by_entities = vec![0.0; ENTITIES * WIDTH];
    let mut by_relations = vec![0.0; 2 * WIDTH];
    let mut by_margin = 0.0;
    let rows = (ENTITIES * ENTITIES * 2) as f64;
    for (h, r, t) in
        (0..ENTITIES).flat_map(|h| (0..2).flat_map(move |r| (0..ENTITIES).map(move |t| (h, r, t))))
    {
        let (a, b, c) = (vectors(0, h), vectors(1, r), vectors(0, t));
        let way: Vec<f64> = (0..WIDTH).map(|k| a[k] + b[k] - c[k]).collect();
        let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
        // The loss is minus the mean of log(1 − S(z)).
        let by_logit = 1.0 / (1.0 + (-(1.0 - length)).exp()) / rows;
        by_margin += by_logit;
        for k in 0..WIDTH {
            let by = -by_logit * way[k] / length;
            by_entities[h * WIDTH + k] += by;
            by_relations[r * WIDTH + k] += by;
            by_entities[t * WIDTH + k] -= by;
        }
    }
    for (block, expected) in [by_entities, by_relations, vec![by_margin]]
        .iter()
        .enumerate()
    {
        let (name, _, gradients) = &found[block];
        assert_eq!(gradients.len(), expected.len(), "{name}");
        for (at, (g, e)) in gradients.iter().zip(expected).enumerate() {
            assert!(
                (f64::from(*g) - e).abs() < 1e-6,
                "{name}[{at}]: {g}, expected {e}"
            );
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let mut session = built(graph());
            while !session.is_done() {
                session.step().expect("a step");
            }
            let bits = |x: &f32| x.to_bits();
            let blocks = blocks(&mut session).into_iter();
            blocks
                .map(|(_, values, _)| values.iter().map(bits).collect::<Vec<u32>>())
                .collect::<Vec<_>>()
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn a_restored_session_goes_on_with_the_same_bits() {
    let finish = |session: &mut Session| -> State {
        while !session.is_done() {
            session.step().expect("a step");
        }
        session.weights()
    };
    let mut whole = built(graph());
    let expected = finish(&mut whole);
    let mut half = built(graph());
    half.step().and_then(|_| half.step()).expect("steps");
    let state = half.state();
    let mut resumed = built(graph().training(|t| t.seed = 9));
    let mut same_seed = built(graph());
    assert!(resumed.restore(&state).is_err(), "another seed");
    same_seed.restore(&state).expect("its state");
    assert_eq!(finish(&mut same_seed), expected);
    let (shape, margin) = expected.tensor("linked.margin").expect("the margin");
    assert!(shape == [1] && margin[0] != 1.0, "{margin:?}");
    // It is taken as a whole, and stays where it is if that is wanted.
    let freeze = |training: &mut logltn_learn::Training| training.freeze = vec!["linked".into()];
    let mut frozen = built(graph().training(freeze));
    let only = ["linked".to_string()];
    let begun = frozen
        .begin_with(&expected, Some(&only))
        .expect("its margin");
    assert_eq!(begun.taken, ["linked.margin"]);
    let after = finish(&mut frozen);
    assert_eq!(
        after.tensor("linked.margin"),
        expected.tensor("linked.margin")
    );
    assert_ne!(after.tensor("embedding.E"), expected.tensor("embedding.E"));
}

#[test]
fn evaluation_is_in_double_precision() {
    let points: Vec<f64> = vec![0.1, 0.7, -0.3, 1e-9, 2.5, 1.0 / 3.0];
    let mut session = built(
        Session::builder(
            "sort P  sort N = -2..2  table rows(x: P, y: Real)
            predicate near(P, P)  predicate at(P, Real)  predicate low(N)
            axiom near: forall x, y: P. near(x, y)
            axiom at: forall (x, y) in rows. at(x, y)
            axiom low: forall n: N. low(n)",
        )
        .sort("P", Individuals::features([2], points.clone()))
        .table(
            "rows",
            vec![
                ColumnData::Individuals(vec![0, 2]),
                ColumnData::Real(vec![0.1 + 1e-12, 0.2]),
            ],
        )
        .closed_form(
            "near",
            ClosedForm::log_truth("-dist(x, y) / 3").args(["x", "y"]),
        )
        .closed_form(
            "at",
            ClosedForm::truth("exp(-abs(y - max(x)))").args(["x", "y"]),
        )
        .closed_form("low", ClosedForm::logit("-0.1 * a1"))
        .steps(1),
    );
    let found = session.evaluate(&Parameters::default()).expect("truths");
    let dist = |i: usize, j: usize| {
        let (a, b) = (&points[2 * i..2 * i + 2], &points[2 * j..2 * j + 2]);
        ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
    };
    let pairs = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
    let near = pairs.map(|(i, j)| -dist(i, j) / 3.0).sum::<f64>() / 9.0;
    let at = |y: f64, most: f64| ((-(y - most).abs()).exp() + 1e-7).ln();
    let at = (at(0.1 + 1e-12, 0.7) + at(0.2, 2.5)) / 2.0;
    let low = (-2..=2)
        .map(|n| -(0.1 * f64::from(n)).exp().ln_1p())
        .sum::<f64>()
        / 5.0;
    for (found, expected) in found.truths.iter().zip([near, at, low]) {
        assert!(
            (found - expected).abs() < 1e-13,
            "{found}, expected {expected}"
        );
    }
    assert!(blocks(&mut session).is_empty(), "nothing is learnt");
}

#[test]
fn numbers_that_cannot_be_are_shown_with_their_binding() {
    let theory = "sort P  constant hub: P  table rows(x: P, y: Real)
        function f(P): Real  predicate eq(Real, Real)  predicate like(P, P)
        axiom a: forall (x, y) in rows. eq(f(x), y)
        axiom b: forall x: P. like(x, hub)";
    // What is of data alone is found before the first step.
    let said = |eq: ClosedForm, like: ClosedForm| -> Vec<Diagnostics> {
        let built = Session::builder(theory)
            .sort("P", Individuals::named(["ann", "bob"]).learnable(2))
            .constant("hub", Constant::Learnable(2))
            .table(
                "rows",
                vec![
                    ColumnData::Individuals(vec![0, 1]),
                    ColumnData::Real(vec![0.25, 4.5]),
                ],
            )
            .function("f", Network::mlp(&[], Activation::Tanh))
            .closed_form("eq", eq.args(["u", "v"]))
            .closed_form("like", like)
            .steps(1)
            .build();
        let mut session = match built {
            Ok(session) => session,
            Err(errors) => return vec![errors],
        };
        let evaluated = session.evaluate(&Parameters::default()).map(drop);
        [session.step().map(drop), evaluated]
            .into_iter()
            .filter_map(Result::err)
            .collect()
    };
    let no = || ClosedForm::logit("dot(a1, a2)");
    for (eq, like, words) in [
        (
            ClosedForm::log_truth("rate * v - 1 + 0 * u").learn("rate", 1.0),
            no(),
            &[
                "`eq(f(bob), 4.5)` has the log truth 3.5",
                "at most 0",
                "`rate` is 1",
                "softplus(rate)",
            ][..],
        ),
        (
            ClosedForm::truth("v"),
            no(),
            &["`eq(f(bob), 4.5)` has the truth 4.5", "between 0 and 1"],
        ),
        (
            ClosedForm::logit("log(v - 4.5)"),
            no(),
            &["`eq(f(ann), 0.25)` has the logit NaN", "division by 0"],
        ),
        (
            ClosedForm::logit("1 / (v - 4.5) + u"),
            no(),
            &["`eq(f(bob), 4.5)` has the logit inf"],
        ),
        (
            ClosedForm::logit("0"),
            ClosedForm::truth("2 + 0 * dot(a1, a2)"),
            &["`like(ann, hub)` has the truth 2"],
        ),
    ] {
        let found = said(eq, like);
        assert!(!found.is_empty(), "{words:?}");
        for error in found {
            let found = error.iter().next().expect("one");
            assert_eq!(found.code(), Code::ClosedFormOutOfRange, "{error}");
            for words in words {
                assert!(error.to_string().contains(words), "{error}");
            }
        }
    }
    let cosine = ClosedForm::truth("(1 + dot(a1, a2) / (norm(a1) * norm(a2))) / 2");
    assert!(said(ClosedForm::logit("u + v"), cosine).is_empty());
}

#[test]
fn roundings_are_no_mistakes() {
    // Cosines of vectors with themselves are sometimes a little above 1.
    let points: Vec<f32> = (0..3000).map(|i| (i * 7 % 13) as f32 + 0.1).collect();
    let mut session = built(
        Session::builder("sort P  predicate same(P, P)  axiom a: forall x: P. same(x, x)")
            .sort("P", Individuals::features([3], points))
            .closed_form(
                "same",
                ClosedForm::truth("dot(a1, a2) / (norm(a1) * norm(a2))"),
            )
            .steps(1),
    );
    let step = session.step().expect("a step");
    assert!(step.sat.abs() < 1e-5, "{}", step.sat);
    assert!(session.predict("same", &[7, 7]).expect("a cosine")[0] <= 1.0);
}

#[test]
fn mistakes_are_shown_in_their_place() {
    let theory = "sort P  sort Q = {a, b}  predicate p(P, Q, Real[3])  axiom a: forall x: Q. not p(c, x, g(c))
        constant c: P  function g(P): Real[3]";
    let with = |form: ClosedForm| {
        errors(
            Session::builder(theory)
                .sort(
                    "P",
                    Individuals::from(2).field("place", [2], vec![0.0_f32; 4]),
                )
                .constant("c", Constant::Row(0))
                .function("g", Network::mlp(&[2], Activation::Tanh))
                .closed_form("p", form)
                .steps(1),
        )
    };
    let named = |text: &str| ClosedForm::logit(text).args(["x", "y", "z"]);
    for (form, code, column, words) in [
        (
            named("norm(x) + y"),
            Code::NoFeatures,
            11,
            "sort `Q` has no features",
        ),
        (
            named("norm(x + z)"),
            Code::SizesDisagree,
            6,
            "a vector of 2 cannot be added to one of 3",
        ),
        (
            named("1 - dist(x, 0)"),
            Code::SizesDisagree,
            5,
            "two vectors of the same length",
        ),
        (named("2 * z"), Code::WrongShape, 1, "this is a vector of 3"),
        (
            named("norm(x.size)"),
            Code::UnknownField,
            8,
            "`x` has no field `size`",
        ),
        (
            named("norm(z.size)"),
            Code::UnknownField,
            8,
            "write `z` for all its numbers",
        ),
        (
            named("norm(x) * rate"),
            Code::UnknownVariable,
            11,
            "is in `learn`, with its first value",
        ),
        (
            named("norm(x) * "),
            Code::MalformedExpression,
            11,
            "the end of the string",
        ),
        (
            named("1").learn("x", 1.0),
            Code::DuplicateName,
            1,
            "`x` is an argument",
        ),
        (
            named("r").learn("r", Vec::new()),
            Code::EmptyValue,
            1,
            "no first value",
        ),
        (named("r").learn("r", f64::NAN), Code::NotFinite, 1, "NaN"),
        (
            ClosedForm::logit("1").args(["x"]),
            Code::WrongNumberOfArguments,
            1,
            "3 arguments",
        ),
    ] {
        let text = form.text().to_string();
        let found = with(form);
        let first = found.iter().next().expect("a mistake");
        assert_eq!(
            (first.code(), first.column()),
            (code, Some(column)),
            "{text}: {found}"
        );
        assert!(found.to_string().contains(words), "{text}: {found}");
    }
    // Independent ones together.
    let found = with(named("norm(x + z) + dot(x, z) + w"));
    assert_eq!(found.error_count(), 3, "{found}");
}

#[test]
fn functions_have_no_fields() {
    let found = errors(
        Session::builder(
            "sort P  predicate p(P)  function g(P): P  axiom a: forall x: P. p(g(x)) and p(x)",
        )
        .sort(
            "P",
            Individuals::from(2)
                .field("place", [2], vec![0.0_f32; 4])
                .field("size", [], vec![1.0_f32; 2]),
        )
        .function("g", Network::mlp(&[2], Activation::Tanh))
        .closed_form("p", ClosedForm::logit("norm(a1.place)"))
        .steps(1),
    );
    assert!(found.to_string().contains("lacks the numbers"), "{found}");
}

#[test]
fn metrics_of_closed_forms() {
    let columns = |cells: [&[u32]; 2]| -> Vec<ColumnData> {
        cells
            .map(|cells| ColumnData::Individuals(cells.to_vec()))
            .to_vec()
    };
    let truths = |kind| {
        let rows = columns([&[0, 0, 1, 2], &[1, 3, 2, 0]]);
        Metric::new(
            kind,
            "near",
            Known::Truths(rows, vec![true, false, true, false]),
        )
    };
    let ranks = |kind, k| {
        let rows = columns([&[0, 3], &[1, 2]]);
        let known = Known::Facts {
            rows,
            of: 1,
            filter: Vec::new(),
            k,
        };
        Metric::new(kind, "near", known)
    };
    let points: Vec<f64> = vec![0.0, 1.0, 2.5, 7.0];
    let session =
        Session::builder("sort P  predicate near(P, P)  axiom a: forall x, y: P. near(x, y)")
            .sort("P", Individuals::features([1], points))
            .closed_form(
                "near",
                ClosedForm::log_truth("-dist(x, y) / 3").args(["x", "y"]),
            )
            .metric(truths(MetricKind::Accuracy))
            .metric(truths(MetricKind::AveragePrecision))
            .metric(ranks(MetricKind::Mrr, 0))
            .metric(ranks(MetricKind::Hits, 2))
            .steps(1);
    let mut session = built(session);
    let found: Vec<f64> = session
        .measure()
        .expect("values")
        .into_iter()
        .map(|(_, x)| x)
        .collect();
    // Distances 1, 7, 1.5 and 2.5 make the truths 0.72, 0.10, 0.61 and 0.43. Both answers come second, after the
    // individual itself.
    assert_eq!(found, [1.0, 1.0, 0.5, 1.0]);
}

/// ComplEx: the real part of a sum of products of three complex numbers, the last one conjugated.
const COMPLEX: &str = "sum(re(h) * re(r) * re(t)) + sum(im(h) * re(r) * im(t)) \
                       + sum(re(h) * im(r) * im(t)) - sum(im(h) * im(r) * re(t))";

fn complex(h: &[f64], r: &[f64], t: &[f64]) -> f64 {
    let half = h.len() / 2;
    let real = |k: usize| {
        let (a, b) = (
            h[k] * r[k] - h[half + k] * r[half + k],
            h[k] * r[half + k] + h[half + k] * r[k],
        );
        a * t[k] + b * t[half + k]
    };
    (0..half).map(real).sum()
}

/// Sizes at which rows are computed one by one, and sizes at which they are products of matrices; sparse steps and dense ones.
#[test]
fn a_softmax_over_entities_has_the_loss_and_the_gradients_that_follow_by_hand() {
    let mut random = logltn_learn::random::Random::new(8, 0);
    for (entities, relations, width, facts, sparse) in [
        (2, 1, 2, 0, false),
        (2, 1, 2, 1, true),
        (5, 2, 4, 7, false),
        (5, 3, 6, 9, true),
        (70, 2, 18, 40, false),
        (130, 3, 34, 60, true),
    ] {
        let mut column = |size: usize| (0..facts).map(|_| random.below(size) as u32).collect();
        let columns: [Vec<u32>; 3] = [column(entities), column(relations), column(entities)];
        let optimizer = match sparse {
            true => logltn_learn::Optimizer::SparseAdam,
            false => logltn_learn::Optimizer::Sgd {
                momentum: 0.0,
                weight_decay: 0.0,
            },
        };
        let mut session = built(
            Session::builder(
                "sort E  sort R  table facts(h: E, r: R, t: E)  predicate tail(E, R, E)
                axiom facts: forall (h, r, t) in facts. tail(h, r, t)",
            )
            .sort("E", Individuals::from(entities).learnable(width))
            .sort("R", Individuals::from(relations).learnable(width))
            .table(
                "facts",
                columns.clone().map(ColumnData::Individuals).to_vec(),
            )
            .closed_form("tail", ClosedForm::softmax(COMPLEX).args(["h", "r", "t"]))
            .training(|training| training.optimizer = optimizer)
            .learning_rate(0.0)
            .steps(2),
        );
        let step = session.step().expect("a step");
        let found = blocks(&mut session);
        let vector = |block: usize, i: u32| -> Vec<f64> {
            let row = &found[block].1[i as usize * width..][..width];
            row.iter().map(|&x| f64::from(x)).collect()
        };
        let mut by = [vec![0.0; entities * width], vec![0.0; relations * width]];
        let mut loss = 0.0;
        let rows = columns[0].iter().zip(&columns[1]).zip(&columns[2]);
        for ((&h, &r), &t) in rows {
            let (a, b) = (vector(0, h), vector(1, r));
            let scores: Vec<f64> = (0..entities as u32)
                .map(|e| complex(&a, &b, &vector(0, e)))
                .collect();
            let all = scores.iter().map(|s| s.exp()).sum::<f64>();
            loss += (all.ln() - scores[t as usize]) / facts as f64;
            for (e, score) in scores.iter().enumerate() {
                let by_score =
                    (score.exp() / all - f64::from(u8::from(e == t as usize))) / facts as f64;
                let c = vector(0, e as u32);
                // The score is linear in each of the three.
                for k in 0..width {
                    let unit: Vec<f64> = (0..width).map(|i| f64::from(u8::from(i == k))).collect();
                    by[0][h as usize * width + k] += by_score * complex(&unit, &b, &c);
                    by[1][r as usize * width + k] += by_score * complex(&a, &unit, &c);
                    by[0][e * width + k] += by_score * complex(&a, &b, &unit);
                }
            }
        }
        let context = format!("{entities} entities, {facts} facts");
        assert!(
            (step.loss - loss).abs() < 1e-5,
            "{context}: {} {loss}",
            step.loss
        );
        for (block, expected) in by.iter().enumerate() {
            let (name, _, gradients) = &found[block];
            for (at, (g, e)) in gradients.iter().zip(expected).enumerate() {
                assert!(
                    (f64::from(*g) - e).abs() < 1e-5,
                    "{context}: {name}[{at}]: {g}, expected {e}"
                );
            }
        }
        // What it says of a row, a number for each entity.
        let said = session.predict("tail", &[1, 0]).expect("numbers");
        assert_eq!(said.len(), entities);
        for (e, said) in said.iter().enumerate() {
            let score = complex(&vector(0, 1), &vector(1, 0), &vector(0, e as u32));
            assert!(
                (f64::from(*said) - score).abs() < 1e-5,
                "{context}: {said} {score}"
            );
        }
    }
}

#[test]
fn a_vector_of_odd_length_has_no_halves() {
    let found = errors(
        Session::builder("sort E  predicate p(E)  axiom a: forall x: E. p(x)")
            .sort("E", Individuals::from(3).learnable(5))
            .closed_form("p", ClosedForm::logit("sum(re(x))").args(["x"]))
            .steps(1),
    );
    assert!(found.to_string().contains("`x` is 5 numbers"), "{found}");
}
