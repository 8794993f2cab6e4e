//! The gradient of the loss by every parameter, against finite differences, for every way in which networks can stand
//! behind predicates.

use logltn::{ColumnData, Diagnostics, Output, Parameters, Request};
use logltn_learn::{
    Behind, Builder, ClosedForm, Constant, Grounding, Individuals, Network, Session,
};
use logltn_nn::{Activation, LayerSpec};

const POINTS: [f64; 8] = [0.5, -1.0, 1.25, 0.75, -0.5, 0.25, 0.1, 1.5];

/// A theory over four points of a sort `P`.
fn theory(text: &str) -> Builder {
    let points = Individuals::features([2], POINTS.to_vec());
    Session::builder(text).sort("P", points)
}

fn tanh(widths: &[usize]) -> Network {
    Network::mlp(widths, Activation::Tanh)
}

/// A session whose gradients can be looked at.
struct Setup(Session);

impl From<Builder> for Setup {
    fn from(builder: Builder) -> Setup {
        // No step moves anything.
        let built = builder
            .training(|t| t.seed = 3)
            .learning_rate(0.0)
            .steps(1000)
            .build();
        Setup(built.unwrap_or_else(|errors| panic!("{errors}")))
    }
}

impl Setup {
    /// The loss with the numbers of the model, in double precision where the logic is concerned.
    fn loss(&mut self) -> f64 {
        self.0
            .evaluate(&Parameters::default())
            .expect("a value")
            .loss
    }

    /// The gradients of every block of parameters, by name.
    fn gradients(&mut self) -> Vec<(String, Vec<f32>)> {
        self.0.step().unwrap_or_else(|errors| panic!("{errors}"));
        let mut found = Vec::new();
        (self.0.model_mut())
            .visit_parameters(&mut |name, _, g| found.push((name.to_string(), g.to_vec())));
        found
    }

    fn nudge(&mut self, block: usize, at: usize, by: f32) {
        let mut number = 0;
        self.0.model_mut().visit_parameters(&mut |_, values, _| {
            if number == block {
                values[at] += by;
            }
            number += 1;
        });
    }

    /// Compares all gradients with slopes. `stopped` names blocks whose slope is not passed on.
    fn check(&mut self, expected_blocks: &[&str], stopped: &[&str]) {
        // Away from the zero biases of the start, where many gradients are the same.
        let mut n = 0;
        self.0.model_mut().visit_parameters(&mut |_, values, _| {
            for value in values {
                n += 1;
                *value += 0.1 * ((n * 37 % 17) as f32 / 17.0 - 0.5);
            }
        });
        let found = self.gradients();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected_blocks);
        for (block, (name, gradients)) in found.iter().enumerate() {
            if stopped.contains(&name.as_str()) {
                assert!(gradients.iter().all(|g| *g == 0.0), "{name}: {gradients:?}");
                continue;
            }
            assert!(
                gradients.iter().any(|g| g.abs() > 1e-4),
                "{name}: the gradient vanishes, so nothing is tested: {gradients:?}"
            );
            for (at, &gradient) in gradients.iter().enumerate() {
                // Within a large step the maximum of a pool may change hands; a small one is less exact.
                let slopes = [5e-3, 1e-3].map(|step| self.slope(block, at, step));
                let close =
                    |slope: &f64| (slope - f64::from(gradient)).abs() < 2e-4 + 5e-3 * slope.abs();
                assert!(
                    slopes.iter().any(close),
                    "{name}[{at}]: the gradient is {gradient}, the slope {slopes:?}"
                );
            }
        }
    }

    fn slope(&mut self, block: usize, at: usize, step: f32) -> f64 {
        self.nudge(block, at, step);
        let above = self.loss();
        self.nudge(block, at, -2.0 * step);
        let below = self.loss();
        self.nudge(block, at, step);
        (above - below) / (2.0 * f64::from(step))
    }
}

#[test]
fn an_mlp() {
    let built = theory(
        "sort P  sort C = 0..2  predicate c(P, C)  predicate near(P, P)
        axiom a: forall x: P. exists c: C. c(x, c)
        axiom b: forall x, y: P. near(x, y) -> not c(x, 0) or c(y, 1)",
    )
    .predicate("c", tanh(&[4, 3]), Output::softmax())
    .predicate(
        "near",
        Network::mlp(&[3], Activation::Elu),
        Output::sigmoid(),
    );
    Setup::from(built).check(&["c", "near"], &[]);
}

#[test]
fn convolutions_and_other_layers() {
    let pixels: Vec<f32> = (0..3 * 6 * 6)
        .map(|i| (i * 29 % 23) as f32 / 11.0 - 1.0)
        .collect();
    let layers = [
        LayerSpec::Conv {
            filters: 2,
            kernel: 3,
        },
        LayerSpec::Activation(Activation::Tanh),
        LayerSpec::Pool(2),
        LayerSpec::Flatten,
        LayerSpec::Dense(4),
        LayerSpec::Activation(Activation::Sigmoid),
    ];
    let built = Session::builder(
        "sort I  sort C = 0..2  predicate digit(I, C)
        axiom a: forall x: I. exists c: C. digit(x, c)  axiom b: forall x: I. not digit(x, 1)",
    )
    .sort("I", Individuals::features([6, 6], pixels))
    .predicate("digit", Network::layers(layers), Output::softmax());
    Setup::from(built).check(&["digit"], &[]);
}

#[test]
fn a_trunk_behind_two_predicates() {
    let built = theory(
        "sort P  sort C = 0..1  predicate c(P, C)  predicate good(P)
        axiom a: forall x: P. good(x) -> c(x, 0)  axiom b: exists x: P. good(x)",
    )
    .network("trunk", tanh(&[4]))
    .predicate("c", Behind::shared("trunk"), Output::softmax())
    .predicate("good", Behind::shared("trunk"), Output::sigmoid());
    Setup::from(built).check(&["networks.trunk", "c", "good"], &[]);
}

fn reading_logits(inputs: &[&str]) -> Setup {
    let part = tanh(&[3]).inputs(inputs.iter().copied().chain(["y"]));
    let built = theory(
        "sort P  sort C = 0..2  predicate c(P, C)  predicate part(P, P)
        axiom a: forall x, y: P. part(x, y)",
    )
    .predicate("c", tanh(&[3]), Output::softmax())
    .predicate(
        "part",
        Behind::from(part).args(["x", "y"]),
        Output::sigmoid(),
    );
    built.into()
}

#[test]
fn logits_of_another_predicate() {
    reading_logits(&["c(x)"]).check(&["c", "part"], &[]);
    reading_logits(&["c(x)", "stop(c(y))", "c(y)"]).gradients();
}

#[test]
fn stopped_logits_pass_no_gradient() {
    reading_logits(&["stop(c(x))", "stop(c(y))"]).check(&["c", "part"], &["c"]);
}

/// Rows of a network, and of the trunk below it, that others only read with `stop` leave the gradient by the other rows
/// as it is.
#[test]
fn rows_that_are_only_read_have_no_gradient() {
    let gradients = |inputs: [&str; 2]| {
        let part = Behind::from(tanh(&[3]).inputs(inputs)).args(["x", "y"]);
        let built = theory(
            "sort P  sort C = 0..2  table some(x: P)  predicate c(P, C)  predicate part(P, P)
            axiom a: forall (x) in some. c(x, 0)  axiom b: forall x, y: P. part(x, y)",
        )
        .table("some", vec![ColumnData::Individuals(vec![2, 1])])
        .network("trunk", tanh(&[4]))
        .predicate("c", Behind::shared("trunk"), Output::softmax())
        .predicate("part", part, Output::sigmoid());
        let mut found = Setup::from(built).gradients();
        found.retain(|(name, _)| name != "part");
        found
    };
    let apart = gradients(["x", "y"]);
    let reading = gradients(["stop(c(y))", "stop(c(x))"]);
    assert_eq!(apart.len(), 2);
    for ((name, apart), (_, reading)) in apart.iter().zip(&reading) {
        assert!(apart.iter().any(|g| g.abs() > 1e-3), "{name}: {apart:?}");
        assert_eq!(apart, reading, "{name}");
    }
    // With a gradient through one of them, they differ.
    let learning = gradients(["c(y)", "stop(c(x))"]);
    assert_ne!(learning[0].1, apart[0].1);
}

#[test]
fn containment_of_boxes() {
    let boxes = vec![0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 2.0, 1.5, 0.1, 0.1, 0.3, 0.8];
    let built = |text: &str, inputs: [&str; 2]| {
        let part = Behind::from(tanh(&[3]).inputs(inputs)).args(["x", "y"]);
        Session::builder(text)
            .sort("B", Individuals::features([4], boxes.clone()))
            .predicate("part", part, Output::sigmoid())
    };
    let both = ["containment(x, y)", "containment(y, x)"];
    let text = "sort B  predicate part(B, B)  axiom a: forall x, y: B. part(x, y)";
    Setup::from(built(text, both)).check(&["part"], &[]);

    // A learnable box gets a gradient, unless it is stopped.
    let text =
        "sort B  constant frame: B  predicate part(B, B)  axiom a: forall x: B. part(x, frame)";
    let framed = |inputs| built(text, inputs).constant("frame", Constant::Learnable(4));
    let mut setup = Setup::from(framed(both));
    setup
        .0
        .model_mut()
        .visit_parameters(&mut |name, values, _| {
            if name == "constants.B" {
                values.copy_from_slice(&[-0.2, 0.45, 0.65, 1.7]);
            }
        });
    setup.check(&["part", "constants.B"], &[]);
    let stopped = ["stop(containment(x, y))", "stop(containment(y, x))"];
    Setup::from(framed(stopped)).check(&["part", "constants.B"], &["constants.B"]);
}

#[test]
fn values_of_functions() {
    let built = theory(
        "sort P  function v(P, P): Real[3]  function f(P): P  function r(P): Real
        predicate q(Real[3])  predicate s(Real)  predicate p(P)
        axiom vector: forall x, y: P. q(v(x, y))
        axiom real: forall x: P. s(r(x))
        axiom sorts: forall x: P. p(x) -> p(f(x))
        axiom inside: exists x: P. q(v(x, f(x)))",
    )
    .function("v", tanh(&[3]))
    .function("f", tanh(&[2]))
    .function("r", tanh(&[2]))
    .predicate("q", tanh(&[3]), Output::sigmoid())
    .predicate("s", tanh(&[2]), Output::sigmoid())
    .predicate("p", tanh(&[3]), Output::sigmoid());
    let mut setup = Setup::from(built);
    let mut names: Vec<String> = setup.gradients().into_iter().map(|(n, _)| n).collect();
    let order: Vec<&str> = names.iter().map(String::as_str).collect();
    setup.check(&order, &[]);
    names.sort_unstable();
    assert_eq!(names, ["f", "p", "q", "r", "s", "v"]);
}

#[test]
fn a_function_of_its_own_value() {
    let built = theory(
        "sort P  function f(P): P  predicate p(P)
        axiom once: forall x: P. p(f(x))
        axiom thrice: forall x: P. p(f(f(f(x)))) -> p(f(f(x)))",
    )
    .function("f", tanh(&[3]))
    .predicate("p", tanh(&[3]), Output::sigmoid());
    Setup::from(built).check(&["p", "f"], &[]);
}

#[test]
fn a_trunk_that_reads_what_came_from_itself() {
    let built =
        theory("sort P  function f(P): P  predicate p(P)  axiom a: forall x: P. p(x) -> p(f(x))")
            .network("trunk", tanh(&[4]))
            .function("f", Behind::shared("trunk"))
            .predicate("p", Behind::shared("trunk"), Output::sigmoid());
    Setup::from(built).check(&["networks.trunk", "p", "f"], &[]);
}

#[test]
fn learnable_constants_and_embeddings() {
    let built = |network: Network| {
        theory(
            "sort P  sort Q  constant near: P  constant far: P  predicate likes(P, Q)
            axiom a: forall x: P, y: Q. likes(x, y)
            axiom b: forall y: Q. likes(near, y) and not likes(far, y)",
        )
        .sort("Q", Individuals::named(["ann", "bob", "eve"]).learnable(3))
        .constant("near", Constant::Learnable(2))
        .constant("far", Constant::Learnable(2))
        .predicate(
            "likes",
            Behind::from(network).args(["x", "y"]),
            Output::sigmoid(),
        )
    };
    let blocks = ["likes", "constants.P", "embedding.Q"];
    Setup::from(built(tanh(&[4]))).check(&blocks, &[]);
    let stopped = tanh(&[4]).inputs(["x", "stop(y)"]);
    Setup::from(built(stopped)).check(&blocks, &["embedding.Q"]);
}

/// A network of the test's own: `w · (individual + 1) + b`, squashed.
struct Own {
    parameters: [f32; 2],
    gradients: [f32; 2],
}

impl Grounding for Own {
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        for (row, number) in numbers.iter_mut().enumerate() {
            let x = request.row(row)[0] as f32 + 1.0;
            *number = (self.parameters[0] * x + self.parameters[1]).tanh();
        }
        Ok(())
    }

    fn backward(&mut self, request: &Request, by_numbers: &[f32]) {
        for (row, by) in by_numbers.iter().enumerate() {
            let x = request.row(row)[0] as f32 + 1.0;
            let y = (self.parameters[0] * x + self.parameters[1]).tanh();
            self.gradients[0] += by * (1.0 - y * y) * x;
            self.gradients[1] += by * (1.0 - y * y);
        }
    }

    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        visit("own", &mut self.parameters, &mut self.gradients);
    }
}

#[test]
fn a_network_of_the_hosts_own() {
    let own = Own {
        parameters: [0.3, -0.2],
        gradients: [0.0; 2],
    };
    let built = theory(
        "sort P  predicate host(P)  predicate p(P)
        axiom a: forall x: P. host(x) -> p(x)  axiom b: exists x: P. host(x)",
    )
    .host("host", own, Output::sigmoid())
    .predicate("p", tanh(&[3]), Output::sigmoid());
    Setup::from(built).check(&["p", "host.host.own"], &[]);
}

#[test]
fn numbers_of_its_own() {
    let built = theory(
        "sort P  sort C = 0..2  predicate rain()  predicate wet(P)  predicate kind(P, C)  predicate near(P, P)
        constant here: P
        axiom a: forall x: P. rain() -> wet(x)
        axiom b: forall x: P. exists c: C. kind(x, c) and not wet(x)
        axiom c: forall x, y: P where x != y. near(x, y) and wet(x) -> wet(y) or kind(y, 1)
        axiom d: near(here, here) or rain()",
    )
    .constant("here", Constant::Learnable(2))
    .learnable("rain", 0.5, Output::sigmoid())
    .learnable("wet", 0.0, Output::sigmoid())
    .learnable("kind", 0.0, Output::softmax())
    .learnable("near", -1.0, Output::sigmoid());
    let mut setup = Setup::from(built);
    let mut shapes = Vec::new();
    let model = setup.0.model_mut();
    for (name, numbers) in [("rain", 1), ("wet", 5), ("kind", 15), ("near", 25)] {
        let shape = model.shape(name).expect("a table").to_vec();
        assert_eq!(shape.iter().product::<usize>(), numbers, "{name}");
        shapes.push(shape);
    }
    assert_eq!(shapes, [vec![1], vec![5], vec![5, 3], vec![5, 5]]);
    assert_eq!(setup.0.predict("rain", &[]).unwrap(), [0.5]);
    assert_eq!(
        setup.0.predict("near", &[0, 3, 2, 1]).unwrap(),
        [-1.0, -1.0]
    );
    assert_eq!(setup.0.predict("kind", &[3]).unwrap(), [0.0, 0.0, 0.0]);
    // What nothing asks about does not move; the vector of the constant is read by nobody.
    let blocks = ["constants.P", "rain", "wet", "kind", "near"];
    setup.check(&blocks, &["constants.P"]);
}

#[test]
fn numbers_as_arguments() {
    let built = theory(
        "sort P  table prices(x: P, y: Real, n: Int)
        predicate eq(Real, Real)  function f(P): Real  function g(Real): Real
        axiom a: forall (x, y, n) in prices. eq(f(x), y)
        axiom b: forall (x, y, n) in prices. eq(g(y), n) or eq(g(f(x)), 0.5)
        axiom c: not eq(1.5, -0.5)",
    )
    .table(
        "prices",
        vec![
            ColumnData::Individuals(vec![0, 1, 3, 3]),
            ColumnData::Real(vec![0.5, -1.25, 0.5, 2.0]),
            ColumnData::Int(vec![1, 0, -1, 1]),
        ],
    )
    .predicate("eq", tanh(&[4]), Output::sigmoid())
    .function("f", tanh(&[3]))
    .function("g", tanh(&[2]));
    Setup::from(built).check(&["f", "eq", "g"], &[]);
}

#[test]
fn a_closed_form_over_learnt_vectors() {
    let built = Session::builder(
        "sort E  sort R  constant hub: E  predicate linked(E, R, E)  predicate near(E, E)
        axiom a: forall x, y: E, r: R. linked(x, r, y) -> not linked(y, r, x)
        axiom b: forall x: E. exists r: R. linked(x, r, hub) or near(x, hub)
        axiom c: forall x, y: E. near(x, y) <-> near(y, x)",
    )
    .sort("E", Individuals::from(3).learnable(4))
    .sort("R", Individuals::from(2).learnable(4))
    .constant("hub", Constant::Learnable(4))
    .closed_form(
        "linked",
        ClosedForm::logit("margin - norm(h + r - t)")
            .args(["h", "r", "t"])
            .learn("margin", 1.0),
    )
    .closed_form(
        "near",
        ClosedForm::truth("exp(-softplus(rate) * dist(a1 * axis, a2))")
            .learn("axis", [1.0, 0.5, -0.5, 2.0])
            .learn("rate", 0.5),
    );
    let blocks = [
        "embedding.E",
        "constants.E",
        "embedding.R",
        "linked.margin",
        "near.axis",
        "near.rate",
    ];
    Setup::from(built).check(&blocks, &[]);
}

#[test]
fn a_closed_form_over_functions_and_numbers() {
    let built = theory(
        "sort P  sort D = 3..7  table prices(x: P, y: Real, d: D)
        predicate eq(Real, Real)  predicate like(Real[3], P)  predicate even(D, P)
        function f(P): Real  function g(P): Real[3]
        axiom a: forall (x, y, d) in prices. eq(f(x), y) and even(d, x)
        axiom b: forall x: P. like(g(x), x) or eq(f(x), f(x)) or not eq(f(x), 0.5)
        axiom c: forall d: D, x: P. even(d, x) or eq(f(x), 2)",
    )
    .table(
        "prices",
        vec![
            ColumnData::Individuals(vec![0, 1, 3, 3]),
            ColumnData::Real(vec![0.5, -1.25, 0.5, 2.0]),
            ColumnData::Individuals(vec![0, 1, 2, 4]),
        ],
    )
    .closed_form(
        "eq",
        ClosedForm::log_truth("-rate * dist(u, v)")
            .args(["u", "v"])
            .learn("rate", 0.5),
    )
    .closed_form("like", ClosedForm::logit("mean(a1) * sum(a2) - 0.5"))
    .closed_form(
        "even",
        ClosedForm::logit("weight * (d - 5) + dot(x, direction)")
            .args(["d", "x"])
            .learn("direction", [0.3, -0.2])
            .learn("weight", -0.25),
    )
    .function("f", tanh(&[3]))
    .function("g", tanh(&[2]));
    let mut setup = Setup::from(built);
    // 0.25 · 2 less for the integer 7 than for 5, whatever its place in the sort.
    let said = setup.0.predict("even", &[2, 0, 4, 0]).unwrap();
    assert!((said[0] - said[1] - 0.5).abs() < 1e-6, "{said:?}");
    let blocks = ["f", "g", "eq.rate", "even.direction", "even.weight"];
    setup.check(&blocks, &[]);
}

#[test]
fn a_closed_form_over_fields() {
    let boxes = Individuals::from(3)
        .field("place", [2], vec![0.5_f64, -1.0, 0.25, 0.75, 1.5, 0.1])
        .field("size", [], vec![1.0_f64, 2.0, 0.5]);
    let built = Session::builder(
        "sort B  predicate over(B, B)  predicate big(B)
        axiom a: forall x, y: B. over(x, y) -> big(x) and not big(y)",
    )
    .sort("B", boxes)
    .closed_form(
        "over",
        ClosedForm::logit("w * dist(x.place, y.place) - x.size / y.size + bias")
            .args(["x", "y"])
            .learn("w", 0.5)
            .learn("bias", 0.0),
    )
    .closed_form(
        "big",
        ClosedForm::truth("sigmoid(slope * sum(a1))").learn("slope", 0.3),
    );
    let mut setup = Setup::from(built);
    let said = setup.0.predict("big", &[1]).unwrap();
    let sum = 0.25 + 0.75 + 2.0;
    assert!(
        (said[0] - 1.0 / (1.0 + (-0.3_f32 * sum).exp())).abs() < 1e-6,
        "{said:?}"
    );
    setup.check(&["over.w", "over.bias", "big.slope"], &[]);
}
