//! The gradient of the loss by every parameter, against finite differences, for every way in which a
//! manifest can put networks behind predicates.

mod common;

use common::Folder;
use logltn::{Diagnostics, Engine, Parameters, Plan, Request};
use logltn_train::model::{Grounding, Model};
use logltn_train::project::Project;

/// A model with the engine that asks it.
struct Setup {
    project: Project,
    model: Model,
    engine: Engine<f32>,
}

impl Setup {
    fn new(files: &[(&str, &str)]) -> Setup {
        Setup::from(Folder::new(files).project())
    }

    /// The loss with the numbers of the model, in double precision where the logic is concerned.
    fn loss(&mut self) -> f64 {
        let plan = Plan::new(
            &self.project.data,
            &self.project.outputs,
            &self.project.manifest.semantics,
        );
        let mut engine = Engine::<f64>::new(plan.expect("a plan"));
        self.model.evaluate(&mut engine).expect("numbers");
        engine
            .evaluate(&Parameters::default())
            .expect("a value")
            .loss
    }

    /// The gradients of every block of parameters, by name.
    fn gradients(&mut self) -> Vec<(String, Vec<f32>)> {
        self.model.visit_gradients(&mut |g| g.fill(0.0));
        self.model.forward(&mut self.engine, true).expect("numbers");
        self.engine
            .evaluate_with_gradients(&Parameters::default())
            .expect("a value");
        self.model.backward(&self.engine);
        let mut found = Vec::new();
        self.model
            .visit_parameters(&mut |name, _, g| found.push((name.to_string(), g.to_vec())));
        found
    }

    fn nudge(&mut self, block: usize, at: usize, by: f32) {
        let mut number = 0;
        self.model.visit_parameters(&mut |_, values, _| {
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
        self.model.visit_parameters(&mut |_, values, _| {
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

const POINTS: &str = "a,b\n0.5,-1\n1.25,0.75\n-0.5,0.25\n0.1,1.5\n";

#[test]
fn an_mlp() {
    let theory = "sort P\nsort C = 0..2\npredicate c(P, C)\npredicate near(P, P)\n\
        axiom a: forall x: P. exists c: C. c(x, c)\n\
        axiom b: forall x, y: P. near(x, y) -> not c(x, 0) or c(y, 1)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [predicates.c]\nnetwork = { mlp = [4, 3], activation = \"tanh\" }\noutput = \"softmax\"\n\
        [predicates.near]\nnetwork = { mlp = [3], activation = \"elu\" }\noutput = \"sigmoid\"\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    Setup::new(&files).check(&["c", "near"], &[]);
}

#[test]
fn convolutions_and_other_layers() {
    let theory = "sort I\nsort C = 0..2\npredicate digit(I, C)\n\
        axiom a: forall x: I. exists c: C. digit(x, c)\naxiom b: forall x: I. not digit(x, 1)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.I]\nfeatures = \"i.npy\"\n\
        [predicates.digit]\noutput = \"softmax\"\n\
        network = { layers = [{ conv = [2, 3] }, \"tanh\", { pool = 2 }, \"flatten\", { dense = 4 }, \"sigmoid\"] }\n";
    let folder = Folder::new(&[("t.ltn", theory), ("m.toml", manifest)]);
    let pixels: Vec<f32> = (0..3 * 6 * 6)
        .map(|i| (i * 29 % 23) as f32 / 11.0 - 1.0)
        .collect();
    folder.npy("i.npy", &[3, 6, 6], &pixels);
    let mut setup = Setup::from(folder.project());
    setup.check(&["digit"], &[]);
}

impl From<Project> for Setup {
    fn from(project: Project) -> Setup {
        let mut model = Model::new(&project, 3).expect("a model");
        let plan = Plan::new(&project.data, &project.outputs, &project.manifest.semantics);
        let engine = Engine::new(plan.expect("a plan"));
        model.attach(&project, &engine).expect("attached");
        Setup {
            project,
            model,
            engine,
        }
    }
}

#[test]
fn a_trunk_behind_two_predicates() {
    let theory = "sort P\nsort C = 0..1\npredicate c(P, C)\npredicate good(P)\n\
        axiom a: forall x: P. good(x) -> c(x, 0)\naxiom b: exists x: P. good(x)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [networks.trunk]\nmlp = [4]\nactivation = \"tanh\"\n\
        [predicates.c]\nnetwork = \"trunk\"\noutput = \"softmax\"\n\
        [predicates.good]\nnetwork = \"trunk\"\noutput = \"sigmoid\"\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    Setup::new(&files).check(&["networks.trunk", "c", "good"], &[]);
}

fn reading_logits(input: &str) -> Setup {
    let theory = "sort P\nsort C = 0..2\npredicate c(P, C)\npredicate part(P, P)\n\
        axiom a: forall x, y: P. part(x, y)\n";
    let manifest = format!(
        "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [predicates.c]\nargs = [\"x\", \"c\"]\nnetwork = {{ mlp = [3], activation = \"tanh\" }}\noutput = \"softmax\"\n\
        [predicates.part]\nargs = [\"x\", \"y\"]\noutput = \"sigmoid\"\n\
        network = {{ mlp = [3], activation = \"tanh\", inputs = [{input}, \"y\"] }}\n"
    );
    let files = [("t.ltn", theory), ("m.toml", &manifest), ("p.csv", POINTS)];
    Setup::new(&files)
}

#[test]
fn logits_of_another_predicate() {
    reading_logits("\"c(x)\"").check(&["c", "part"], &[]);
    reading_logits("\"c(x)\", \"stop(c(y))\", \"c(y)\"").gradients();
}

#[test]
fn stopped_logits_pass_no_gradient() {
    reading_logits("\"stop(c(x))\", \"stop(c(y))\"").check(&["c", "part"], &["c"]);
}

/// Rows of a network, and of the trunk below it, that others only read with `stop` leave the gradient by the other rows
/// as it is.
#[test]
fn rows_that_are_only_read_have_no_gradient() {
    let theory = "sort P\nsort C = 0..2\ntable some(x: P)\npredicate c(P, C)\npredicate part(P, P)\n\
        axiom a: forall (x) in some. c(x, 0)\naxiom b: forall x, y: P. part(x, y)\n";
    let gradients = |input: &str| {
        let manifest = format!(
            "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n[tables]\nsome = {{ rows = \"some.csv\" }}\n\
            [networks.trunk]\nmlp = [4]\nactivation = \"tanh\"\n\
            [predicates.c]\nargs = [\"x\", \"c\"]\nnetwork = \"trunk\"\noutput = \"softmax\"\n\
            [predicates.part]\nargs = [\"x\", \"y\"]\noutput = \"sigmoid\"\n\
            network = {{ mlp = [3], activation = \"tanh\", inputs = [{input}] }}\n"
        );
        let files = [
            ("t.ltn", theory),
            ("m.toml", &manifest),
            ("p.csv", POINTS),
            ("some.csv", "x\n2\n1\n"),
        ];
        let mut found = Setup::new(&files).gradients();
        found.retain(|(name, _)| name != "part");
        found
    };
    let apart = gradients("\"x\", \"y\"");
    let reading = gradients("\"stop(c(y))\", \"stop(c(x))\"");
    assert_eq!(apart.len(), 2);
    for ((name, apart), (_, reading)) in apart.iter().zip(&reading) {
        assert!(apart.iter().any(|g| g.abs() > 1e-3), "{name}: {apart:?}");
        assert_eq!(apart, reading, "{name}");
    }
    // With a gradient through one of them, they differ.
    let learning = gradients("\"c(y)\", \"stop(c(x))\"");
    assert_ne!(learning[0].1, apart[0].1);
}

#[test]
fn containment_of_boxes() {
    let theory = "sort B\npredicate part(B, B)\naxiom a: forall x, y: B. part(x, y)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.B]\nfeatures = \"b.csv\"\n\
        [predicates.part]\nargs = [\"x\", \"y\"]\noutput = \"sigmoid\"\n\
        network = { mlp = [3], activation = \"tanh\", inputs = [\"containment(x, y)\", \"containment(y, x)\"] }\n";
    let boxes = "a,b,c,d\n0,0,1,1\n0.5,0.25,2,1.5\n0.1,0.1,0.3,0.8\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("b.csv", boxes)];
    Setup::new(&files).check(&["part"], &[]);

    // A learnable box gets a gradient, unless it is stopped.
    let theory =
        "sort B\nconstant frame: B\npredicate part(B, B)\naxiom a: forall x: B. part(x, frame)\n";
    let learnt = manifest.to_string() + "[constants.frame]\nlearnable = 4\n";
    let files = [("t.ltn", theory), ("m.toml", &learnt), ("b.csv", boxes)];
    let mut setup = Setup::new(&files);
    setup.model.visit_parameters(&mut |name, values, _| {
        if name == "constants.B" {
            values.copy_from_slice(&[-0.2, 0.45, 0.65, 1.7]);
        }
    });
    setup.check(&["part", "constants.B"], &[]);
    let stopped = learnt.replace("\"containment(x, y)\"", "\"stop(containment(x, y))\"");
    let stopped = stopped.replace("\"containment(y, x)\"", "\"stop(containment(y, x))\"");
    let files = [("t.ltn", theory), ("m.toml", &stopped), ("b.csv", boxes)];
    let mut setup = Setup::new(&files);
    setup.check(&["part", "constants.B"], &["constants.B"]);
}

#[test]
fn values_of_functions() {
    let theory = "sort P\nfunction v(P, P): Real[3]\nfunction f(P): P\nfunction r(P): Real\n\
        predicate q(Real[3])\npredicate s(Real)\npredicate p(P)\n\
        axiom vector: forall x, y: P. q(v(x, y))\n\
        axiom real: forall x: P. s(r(x))\n\
        axiom sorts: forall x: P. p(x) -> p(f(x))\n\
        axiom inside: exists x: P. q(v(x, f(x)))\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [functions]\nv = { network = { mlp = [3], activation = \"tanh\" } }\n\
        f = { network = { mlp = [2], activation = \"tanh\" } }\nr = { network = { mlp = [2], activation = \"tanh\" } }\n\
        [predicates]\nq = { network = { mlp = [3], activation = \"tanh\" }, output = \"sigmoid\" }\n\
        s = { network = { mlp = [2], activation = \"tanh\" }, output = \"sigmoid\" }\n\
        p = { network = { mlp = [3], activation = \"tanh\" }, output = \"sigmoid\" }\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    let mut setup = Setup::new(&files);
    let mut names: Vec<String> = setup.gradients().into_iter().map(|(n, _)| n).collect();
    let order: Vec<&str> = names.iter().map(String::as_str).collect();
    setup.check(&order, &[]);
    names.sort_unstable();
    assert_eq!(names, ["f", "p", "q", "r", "s", "v"]);
}

#[test]
fn a_function_of_its_own_value() {
    let theory = "sort P\nfunction f(P): P\npredicate p(P)\n\
        axiom once: forall x: P. p(f(x))\n\
        axiom thrice: forall x: P. p(f(f(f(x)))) -> p(f(f(x)))\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [functions.f]\nnetwork = { mlp = [3], activation = \"tanh\" }\n\
        [predicates.p]\nnetwork = { mlp = [3], activation = \"tanh\" }\noutput = \"sigmoid\"\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    Setup::new(&files).check(&["p", "f"], &[]);
}

#[test]
fn a_trunk_that_reads_what_came_from_itself() {
    let theory =
        "sort P\nfunction f(P): P\npredicate p(P)\naxiom a: forall x: P. p(x) -> p(f(x))\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [networks.trunk]\nmlp = [4]\nactivation = \"tanh\"\n\
        [functions.f]\nnetwork = \"trunk\"\n[predicates.p]\nnetwork = \"trunk\"\noutput = \"sigmoid\"\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    Setup::new(&files).check(&["networks.trunk", "p", "f"], &[]);
}

#[test]
fn learnable_constants_and_embeddings() {
    let theory = "sort P\nsort Q\nconstant near: P\nconstant far: P\npredicate likes(P, Q)\n\
        axiom a: forall x: P, y: Q. likes(x, y)\naxiom b: forall y: Q. likes(near, y) and not likes(far, y)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [sorts.Q]\nindividuals = [\"ann\", \"bob\", \"eve\"]\nlearnable = 3\n\
        [constants]\nnear = { learnable = 2 }\nfar = { learnable = 2 }\n\
        [predicates.likes]\nargs = [\"x\", \"y\"]\nnetwork = { mlp = [4], activation = \"tanh\" }\noutput = \"sigmoid\"\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    let blocks = ["likes", "constants.P", "embedding.Q"];
    Setup::new(&files).check(&blocks, &[]);

    let stopped = manifest.replace(
        "activation = \"tanh\" }",
        "activation = \"tanh\", inputs = [\"x\", \"stop(y)\"] }",
    );
    let files = [("t.ltn", theory), ("m.toml", &stopped), ("p.csv", POINTS)];
    Setup::new(&files).check(&blocks, &["embedding.Q"]);
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
    let theory = "sort P\npredicate host(P)\npredicate p(P)\naxiom a: forall x: P. host(x) -> p(x)\naxiom b: exists x: P. host(x)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [predicates.host]\noutput = \"sigmoid\"\n\
        [predicates.p]\nnetwork = { mlp = [3], activation = \"tanh\" }\noutput = \"sigmoid\"\n";
    let files = [("t.ltn", theory), ("m.toml", manifest), ("p.csv", POINTS)];
    let mut setup = Setup::new(&files);
    let own = Own {
        parameters: [0.3, -0.2],
        gradients: [0.0; 2],
    };
    let id = setup.project.theory().predicate("host").expect("declared");
    setup.model.ground(id, Box::new(own));
    setup.check(&["p", "host.0.own"], &[]);
}
