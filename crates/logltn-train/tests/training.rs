//! What a training does, step by step: phases, batches, schedules, optimisers, metrics, warnings, checkpoints.

mod common;

use common::Folder;
use logltn::{Diagnostics, Request};
use logltn_learn::{Grounding, Step};
use logltn_train::train::Trainer;

const POINTS: &str = "a,b\n0.5,-1\n1.25,0.75\n-0.5,0.25\n0.1,1.5\n-1,-0.5\n";

const THEORY: &str = "sort P\nsort C = {red, green, blue}\n\
    table few(x: P)\ntable many(x: P, y: P)\n\
    predicate c(P, C)\npredicate near(P, P)\n\
    axiom some for k: C: exists x: P. c(x, k)\n\
    axiom all (weight 3): forall (x) in few. c(x, red)\n\
    axiom pairs: forall (x, y) in many. near(x, y)\n";

fn manifest(train: &str) -> String {
    format!(
        "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [tables]\nfew = {{ rows = \"few.csv\", batch = 2 }}\nmany = {{ rows = \"many.csv\", batch = 3 }}\n\
        [predicates.c]\nnetwork = {{ mlp = [4], activation = \"tanh\" }}\noutput = \"softmax\"\n\
        [predicates.near]\nnetwork = {{ mlp = [4], activation = \"tanh\" }}\noutput = \"sigmoid\"\n{train}"
    )
}

fn folder(train: &str) -> Folder {
    Folder::new(&[
        ("t.ltn", THEORY),
        ("m.toml", &manifest(train)),
        ("p.csv", POINTS),
        ("few.csv", "x\n0\n1\n2\n"),
        ("many.csv", "x,y\n0,1\n1,2\n2,3\n3,4\n4,0\n0,2\n1,3\n"),
    ])
}

fn steps(trainer: &mut Trainer) -> Vec<Step> {
    let mut found = Vec::new();
    while !trainer.is_done() {
        found.push(trainer.step().unwrap_or_else(|errors| panic!("{errors}")));
    }
    found
}

fn parameters(trainer: &mut Trainer) -> Vec<(String, Vec<f32>)> {
    let mut found = Vec::new();
    trainer
        .model_mut()
        .visit_parameters(&mut |name, values, _| found.push((name.to_string(), values.to_vec())));
    found
}

#[test]
fn an_undecided_network_finds_all_classes_equally_likely_at_first() {
    let train = "[train]\nphases = [ { steps = 200, axioms = [\"all\"] } ]\n";
    let undecided = folder(train);
    let text = manifest(train).replacen("\"tanh\" }", "\"tanh\", undecided = true }", 1);
    undecided.write("m.toml", text.as_bytes());
    let mut trainer = undecided.trainer();
    let steps = steps(&mut trainer);
    assert!((steps[0].sat + 3f64.ln()).abs() < 1e-6, "{}", steps[0].sat);
    assert!(steps[199].sat > steps[0].sat, "it learns all the same");
    // The other layers, and the other network, are as they were.
    let [mut with, mut without] = [undecided, folder(train)].map(|f| f.trainer());
    let [with, without] = [&mut with, &mut without].map(parameters);
    let pairs = with.iter().zip(&without);
    let changed: Vec<&String> = pairs.filter(|(a, b)| a != b).map(|(a, _)| &a.0).collect();
    assert_eq!(changed.len(), 1, "{changed:?}");
}

#[test]
fn phases_have_their_own_axioms() {
    let folder = folder(
        "[train]\nphases = [ { steps = 2, axioms = [\"some[green]\", \"all\"] }, { steps = 1, axioms = [\"pairs\"] }, { epochs = 2 } ]\n",
    );
    let mut trainer = folder.trainer();
    let names: Vec<&str> = trainer.axioms().iter().map(|a| a.0.as_str()).collect();
    let expected = ["some[red]", "some[green]", "some[blue]", "all", "pairs"];
    assert_eq!(names, expected);
    let weights: Vec<f64> = trainer.axioms().iter().map(|a| a.1).collect();
    assert_eq!(weights, [1.0, 1.0, 1.0, 3.0, 1.0]);
    // The largest table has 7 rows in batches of 3.
    assert_eq!(trainer.steps_per_epoch(), 3);
    assert_eq!(trainer.total(), 2 + 1 + 2 * 3);

    let before = parameters(&mut trainer);
    let mut records = Vec::new();
    for _ in 0..2 {
        records.push(trainer.step().expect("a step"));
    }
    let after = parameters(&mut trainer);
    assert_ne!(after[0], before[0], "`c` learns");
    assert_eq!(after[1], before[1], "`near` is in no axiom of the phase");
    records.extend(steps(&mut trainer));
    assert_ne!(parameters(&mut trainer)[1], before[1]);
    assert_eq!(records.len(), 9);
    for record in &records {
        let present = match record.step {
            1 | 2 => [false, true, false, true, false],
            3 => [false, false, false, false, true],
            _ => [true; 5],
        };
        assert_eq!(
            record
                .axioms
                .iter()
                .map(|a| !a.is_nan())
                .collect::<Vec<_>>(),
            present
        );
        // The weighted mean of those that are there.
        let parts = (record.axioms.iter().zip(&weights)).filter(|(a, _)| !a.is_nan());
        let (sum, weight) = parts.fold((0.0, 0.0), |(s, n), (a, w)| (s + a * w, n + w));
        assert!((record.sat - sum / weight).abs() < 1e-6, "{record:?}");
        assert_eq!(record.loss, -record.sat);
    }
}

#[test]
fn schedules_go_from_their_first_to_their_last_value() {
    let folder = folder(
        "[schedule]\nalpha = { linear = [1, 4] }\np = { exponential = [2, 8], by = \"epoch\" }\n[train]\nepochs = 3\n",
    );
    let records = steps(&mut folder.trainer());
    assert_eq!(records.len(), 9);
    let alpha: Vec<f64> = records.iter().map(|r| r.parameters.alpha).collect();
    assert_eq!((alpha[0], alpha[8]), (1.0, 4.0));
    assert!((alpha[4] - 2.5).abs() < 1e-12);
    let p: Vec<f64> = records.iter().map(|r| r.parameters.p).collect();
    for (step, expected) in [2.0, 4.0, 8.0].into_iter().flat_map(|p| [p; 3]).enumerate() {
        assert!((p[step] - expected).abs() < 1e-12, "{p:?}");
    }
    assert!(records.iter().all(|r| r.parameters.p_forall == 2.0));
}

/// Remembers which individuals were asked for in each step.
struct Spy {
    seen: std::sync::Arc<std::sync::Mutex<Vec<Vec<u32>>>>,
    parameters: [f32; 1],
    gradients: [f32; 1],
}

impl Grounding for Spy {
    fn forward(&mut self, request: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        numbers.fill(self.parameters[0]);
        let rows = (0..request.rows()).map(|row| request.row(row)[0]).collect();
        self.seen.lock().expect("one thread").push(rows);
        Ok(())
    }
    fn backward(&mut self, _: &Request, by_numbers: &[f32]) {
        self.gradients[0] += by_numbers.iter().sum::<f32>();
    }
    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        visit("only", &mut self.parameters, &mut self.gradients);
    }
}

/// One logit for all: `forall x. p(x)` has the loss −log σ(w), whose derivative is −σ(−w).
fn one_parameter(
    train: &str,
    rows: &str,
) -> (Trainer, std::sync::Arc<std::sync::Mutex<Vec<Vec<u32>>>>) {
    let theory = "sort P\ntable t(x: P)\npredicate p(P)\naxiom a: forall (x) in t. p(x)\n";
    let manifest = format!(
        "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\n[tables]\nt = {{ {rows} }}\n[predicates.p]\noutput = \"sigmoid\"\n{train}"
    );
    let folder = Folder::new(&[
        ("t.ltn", theory),
        ("m.toml", &manifest),
        ("p.csv", POINTS),
        ("rows.csv", "x\n0\n1\n2\n3\n4\n"),
    ]);
    let mut trainer = folder.trainer();
    let seen = std::sync::Arc::default();
    let spy = Spy {
        seen: std::sync::Arc::clone(&seen),
        parameters: [0.5],
        gradients: [0.0],
    };
    trainer.ground("p", Box::new(spy)).expect("declared");
    (trainer, seen)
}

/// Its logits are fine, its gradient is not.
struct Exploding([f32; 1], [f32; 1]);

impl Grounding for Exploding {
    fn forward(&mut self, _: &Request, numbers: &mut [f32]) -> Result<(), Diagnostics> {
        numbers.fill(self.0[0]);
        Ok(())
    }
    fn backward(&mut self, _: &Request, by_numbers: &[f32]) {
        self.1[0] = by_numbers[0] * f32::INFINITY;
    }
    fn visit_parameters(&mut self, visit: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {
        visit("only", &mut self.0, &mut self.1);
    }
}

#[test]
fn a_gradient_that_is_not_finite_names_step_axiom_and_predicate() {
    let (mut trainer, _) = one_parameter("[train]\nsteps = 4\n", "rows = \"rows.csv\"");
    let exploding = Exploding([0.5], [0.0]);
    trainer.ground("p", Box::new(exploding)).expect("declared");
    let error = trainer
        .step()
        .expect_err("an infinite gradient")
        .to_string();
    for part in ["step 1", "network of `p`", "axiom `a`"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(trainer.done(), 0, "the step does not count");
}

#[test]
fn a_pass_sees_every_row_once_in_another_order_each_time() {
    let (mut trainer, seen) =
        one_parameter("[train]\nepochs = 4\n", "rows = \"rows.csv\", batch = 2");
    assert_eq!(steps(&mut trainer).len(), 4 * 3);
    let seen = seen.lock().expect("one thread").clone();
    let mut orders = Vec::new();
    for pass in seen.chunks(3) {
        assert_eq!(pass.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
        let mut all = pass.concat();
        orders.push(
            pass.iter()
                .map(|b| {
                    let mut b = b.clone();
                    b.sort_unstable();
                    b
                })
                .collect::<Vec<_>>(),
        );
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }
    orders.dedup();
    assert!(orders.len() > 1, "shuffled anew");
}

fn trained(train: &str) -> Vec<f32> {
    let (mut trainer, _) = one_parameter(train, "rows = \"rows.csv\"");
    let mut values = Vec::new();
    while !trainer.is_done() {
        trainer.step().expect("a step");
        values.push(parameters(&mut trainer)[0].1[0]);
    }
    values
}

#[test]
fn a_learning_rate_may_change_by_epoch() {
    // Five rows in batches of two: three steps an epoch. The gradient is the same whatever the rows.
    let train = "[train]\nepochs = 3\noptimizer = \"sgd\"\nlearning_rate = { linear = [0.3, 0.1], by = \"epoch\" }\n";
    let (mut trainer, _) = one_parameter(train, "rows = \"rows.csv\", batch = 2");
    let mut w = 0.5f64;
    for rate in [0.3, 0.3, 0.3, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1] {
        trainer.step().expect("a step");
        w += rate / (1.0 + w.exp());
        let found = f64::from(parameters(&mut trainer)[0].1[0]);
        assert!((found - w).abs() < 1e-5, "{found} is not {w}");
    }
    assert!(trainer.is_done());
}

/// The short name and the layers it stands for are one network: same weights, same loss, step by step.
#[test]
fn lenet_is_what_the_documentation_says() {
    let theory = "sort I\nsort C = 0..2\npredicate digit(I, C)\n\
        axiom a: forall x: I. exists c: C. digit(x, c)\naxiom b: forall x: I. not digit(x, 1)\n";
    let run = |network: &str| {
        let manifest = format!(
            "theory = \"t.ltn\"\n[sorts.I]\nfeatures = \"i.npy\"\n[predicates.digit]\noutput = \"softmax\"\n\
            network = {{ {network} }}\n[train]\nsteps = 3\n"
        );
        let folder = Folder::new(&[("t.ltn", theory), ("m.toml", &manifest)]);
        let pixels: Vec<f32> = (0..3 * 28 * 28)
            .map(|i| (i * 29 % 23) as f32 / 22.0)
            .collect();
        folder.npy("i.npy", &[3, 28, 28], &pixels);
        let mut trainer = folder.trainer();
        let losses: Vec<f64> = steps(&mut trainer).iter().map(|step| step.loss).collect();
        (losses, parameters(&mut trainer))
    };
    let short = run("cnn = \"lenet\"");
    let long = run(
        "layers = [{ conv = [6, 5] }, \"elu\", { pool = 2 }, { conv = [16, 5] }, \"elu\", { pool = 2 }, \
        \"flatten\", { dense = 100 }, \"elu\", { dense = 84 }, \"elu\"]",
    );
    assert_eq!(short, long);
    assert_ne!(short.0[0], short.0[2], "something is learnt");
}

/// The optimisers written out for a single number.
#[test]
fn optimisers_do_what_their_papers_say() {
    let slope = |w: f64| -1.0 / (1.0 + w.exp());
    let (rate, decay, momentum) = (0.1, 0.2, 0.9);
    let written_out = |step: &mut dyn FnMut(f64, f64, i32) -> f64| -> Vec<f64> {
        let mut w = 0.5;
        (1..=4)
            .map(|t| {
                w = step(w, slope(w), t);
                w
            })
            .collect()
    };
    let same = |found: Vec<f32>, expected: Vec<f64>| {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            assert!((f64::from(*a) - b).abs() < 1e-5, "{found:?} {expected:?}");
        }
    };
    let (mut m, mut v) = (0.0, 0.0);
    let mut adam = |g: f64, t: i32| {
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        let (m, v) = (m / (1.0 - 0.9_f64.powi(t)), v / (1.0 - 0.999_f64.powi(t)));
        rate * m / (v.sqrt() + 1e-8)
    };
    let expected = written_out(&mut |w, g, t| w - adam(g, t));
    same(
        trained("[train]\nsteps = 4\nlearning_rate = 0.1\n"),
        expected,
    );
    let (mut m, mut v) = (0.0, 0.0);
    let mut adam = |g: f64, t: i32| {
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        let (m, v) = (m / (1.0 - 0.9_f64.powi(t)), v / (1.0 - 0.999_f64.powi(t)));
        rate * m / (v.sqrt() + 1e-8)
    };
    let expected = written_out(&mut |w, g, t| w * (1.0 - rate * decay) - adam(g, t));
    let adamw =
        "[train]\nsteps = 4\nlearning_rate = 0.1\noptimizer = \"adamw\"\nweight_decay = 0.2\n";
    same(trained(adamw), expected);
    let mut speed = 0.0;
    let expected = written_out(&mut |w, g, _| {
        speed = momentum * speed + g;
        w * (1.0 - rate * decay) - rate * speed
    });
    let sgd = "[train]\nsteps = 4\nlearning_rate = 0.1\noptimizer = \"sgd\"\nmomentum = 0.9\nweight_decay = 0.2\n";
    same(trained(sgd), expected);
    let expected = written_out(&mut |w, g, _| w - rate * g.clamp(-0.05, 0.05));
    let clipped =
        "[train]\nsteps = 4\nlearning_rate = 0.1\noptimizer = \"sgd\"\nclip_norm = 0.05\n";
    same(trained(clipped), expected);
}

#[test]
fn a_restored_training_goes_on_with_the_same_bits() {
    let train = "[schedule]\nalpha = { linear = [1, 4] }\n[train]\nlearning_rate = 0.05\n\
        phases = [ { steps = 5, axioms = [\"all\", \"some\"] }, { steps = 9 } ]\n";
    let folder = folder(train);
    // What dropout drops depends on the step.
    let dropping = manifest(train).replace(
        "{ mlp = [4], activation = \"tanh\" }",
        "{ layers = [{ dense = 9 }, \"tanh\", { dropout = 0.5 }] }",
    );
    folder.write("m.toml", dropping.as_bytes());
    let mut whole = folder.trainer();
    let records = steps(&mut whole);
    for at in [1, 4, 5, 6, 13] {
        let mut first = folder.trainer();
        for _ in 0..at {
            first.step().expect("a step");
        }
        let checkpoint = first.state();
        let mut second = folder.trainer();
        second.restore(&checkpoint).expect("the same training");
        assert_eq!(second.done(), at);
        let rest = steps(&mut second);
        assert_eq!(rest.len(), records.len() - at as usize);
        for (a, b) in rest.iter().zip(&records[at as usize..]) {
            assert_eq!(a.loss.to_bits(), b.loss.to_bits(), "step {}", b.step);
        }
        assert_eq!(second.weights(), whole.weights());
    }
}

// --- metrics -----------------------------------------------------------------------------------

#[test]
fn metrics_on_numbers_known_by_hand() {
    let theory = "sort P\nsort C = {a, b}\npredicate c(P, C)\npredicate good(P)\npredicate net(P)\n\
        axiom ax: forall x: P. c(x, a) or good(x) or net(x)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\nlabels = { file = \"labels.csv\", column = \"kind\" }\n\
        [predicates]\nc = { logits = \"c.csv\", output = \"softmax\" }\ngood = { logits = \"good.csv\", output = \"sigmoid\" }\n\
        net = { network = { mlp = [2], activation = \"tanh\" }, output = \"sigmoid\" }\n\
        [train]\nsteps = 2\n[evaluate]\nmetrics = [\n\
        { metric = \"accuracy\", predicate = \"c\", rows = \"test.csv\" },\n\
        { metric = \"balanced_accuracy\", predicate = \"c\", rows = \"test.csv\", name = \"fair\" },\n\
        { metric = \"adjusted_rand_index\", predicate = \"c\", labels = \"P\" },\n\
        { metric = \"average_precision\", predicate = \"good\", rows = \"truth.csv\" },\n\
        { metric = \"roc_auc\", predicate = \"good\", rows = \"truth.csv\" } ]\n";
    let folder = Folder::new(&[
        ("t.ltn", theory),
        ("m.toml", manifest),
        ("p.csv", POINTS),
        // Predicted: a a b b a.
        ("c.csv", "a,b\n2,1\n3,0\n0,1\n-2,-1\n0.5,0\n"),
        ("labels.csv", "kind\nu\nu\nv\nv\nu\n"),
        // Right: yes, yes, yes, yes, no.
        ("test.csv", "x,c\n0,a\n1,a\n2,b\n3,b\n4,b\n"),
        ("good.csv", "good\n4\n3\n2\n1\n0\n"),
        // Ranked: true, false, true, false, false.
        ("truth.csv", "x,truth\n0,1\n1,0\n2,1\n3,0\n4,0\n"),
    ]);
    let mut trainer = folder.trainer();
    let found = trainer
        .measure()
        .unwrap_or_else(|errors| panic!("{errors}"));
    let expected = [
        ("accuracy(c)", 0.8),
        ("fair", (1.0 + 2.0 / 3.0) / 2.0),
        ("adjusted_rand_index(c)", 1.0),
        ("average_precision(good)", (1.0 + 2.0 / 3.0) / 2.0),
        ("roc_auc(good)", 5.0 / 6.0),
    ];
    assert_eq!(found.len(), expected.len());
    for ((name, value), (expected_name, expected)) in found.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert!(
            (value - expected).abs() < 1e-12,
            "{name}: {value}, not {expected}"
        );
    }
    // Measuring in the middle changes nothing.
    let mut plain = folder.trainer();
    trainer.step().expect("a step");
    trainer.measure().expect("metrics");
    trainer.step().expect("a step");
    steps(&mut plain);
    assert_eq!(trainer.weights(), plain.weights());
}

#[test]
fn rows_of_an_addition_are_right_or_wrong() {
    let theory = "sort I\nsort D = 0..2\ntable sums(x: I, y: I, n: Int)\npredicate digit(I, D)\npredicate net(I)\n\
        axiom addition: forall (x, y, n) in sums. exists d, e: D where d + e = n. digit(x, d) and digit(y, e)\n\
        axiom other: forall x: I. net(x)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.I]\nfeatures = \"p.csv\"\n[tables]\nsums = { rows = \"sums.csv\", batch = 2 }\n\
        [predicates]\ndigit = { logits = \"d.csv\", output = \"softmax\" }\n\
        net = { network = { mlp = [2], activation = \"tanh\" }, output = \"sigmoid\" }\n\
        [train]\nsteps = 1\n[evaluate]\nmetrics = [\n\
        { metric = \"row_accuracy\", predicate = \"digit\", table = \"sums\", name = \"train\" },\n\
        { metric = \"row_accuracy\", predicate = \"digit\", table = \"sums\", rows = \"test.csv\", name = \"test\" } ]\n";
    let folder = Folder::new(&[
        ("t.ltn", theory),
        ("m.toml", manifest),
        ("p.csv", POINTS),
        // The digits read: 0 1 2 1 0.
        ("d.csv", "0,1,2\n1,0,0\n0,1,0\n0,0,1\n0,2,1\n3,2,1\n"),
        // Right: 0+1=1, 1+2=3; wrong: 2+1≠4; right: 0+0=0.
        ("sums.csv", "x,y,n\n0,1,1\n1,2,3\n2,3,4\n0,4,0\n"),
        ("test.csv", "x,y,n\n0,0,1\n2,2,4\n"),
    ]);
    let found = folder
        .trainer()
        .measure()
        .unwrap_or_else(|errors| panic!("{errors}"));
    let expected = [("train".to_string(), 0.75), ("test".to_string(), 0.5)];
    assert_eq!(found, expected);
}

#[test]
fn a_metric_that_gets_no_better_stops_the_training() {
    let train = "[train]\nsteps = 50\nearly_stop = { metric = \"accuracy\", patience = 3 }\n\
        [evaluate]\nevery = 2\nmetrics = [ { metric = \"accuracy\", predicate = \"c\", rows = \"test.csv\" } ]\n";
    let folder = folder(train);
    folder.write("test.csv", b"x,c\n0,red\n1,red\n");
    let mut trainer = folder.trainer();
    let mut noted = Vec::new();
    let values = [0.1, 0.5, 0.4, 0.6, 0.6, 0.2, 0.5, 0.9];
    while !trainer.is_done() {
        trainer.step().expect("a step");
        if trainer.measure_is_due() {
            noted.push(trainer.done());
            let value = values[noted.len() - 1];
            trainer.note_metrics(&[("accuracy(c)".to_string(), value)]);
        }
    }
    // Three evaluations without anything better than 0.6.
    assert_eq!(noted, [2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(trainer.done(), 14);
}

// --- warnings ----------------------------------------------------------------------------------

fn warnings(axioms: &str, numbers: &str) -> String {
    let theory = format!("sort P\npredicate p(P)\npredicate q(P)\n{axioms}");
    let manifest = "theory = \"t.ltn\"\nsemantics = \"lukasiewicz\"\n[sorts.P]\nfeatures = \"p.csv\"\n\
        [predicates]\np = { truth = \"p_truth.csv\" }\nq = { network = { mlp = [2], activation = \"tanh\" }, output = \"sigmoid\" }\n\
        [train]\nsteps = 2\n";
    let folder = Folder::new(&[
        ("t.ltn", &theory),
        ("m.toml", manifest),
        ("p.csv", POINTS),
        ("p_truth.csv", numbers),
    ]);
    let mut trainer = folder.trainer();
    trainer.step().unwrap_or_else(|errors| panic!("{errors}"));
    trainer.balance().to_string()
}

#[test]
fn gradients_that_vanish_or_outweigh_the_others_are_warned_of() {
    let half = "p\n0.5\n0.5\n0.5\n0.5\n0.5\n";
    let fine = warnings(
        "axiom a: forall x: P. p(x)\naxiom b: forall x: P. q(x)\n",
        half,
    );
    assert_eq!(fine, "");
    let heavy =
        "axiom a (weight 0.0001): forall x: P. p(x)\naxiom b (weight 100): forall x: P. q(x)\n";
    let said = warnings(heavy, half);
    assert!(said.contains("`b` is more than 100 times"), "{said}");
    assert!(said.contains("step 1"), "{said}");
    // min(1 + y, 1) is 1 whatever y is.
    let sure = "p\n1\n1\n1\n1\n1\n";
    let said = warnings(
        "axiom dead: forall x: P. p(x) or q(x)\naxiom b: forall x: P. q(x)\n",
        sure,
    );
    assert!(said.contains("axiom `dead` vanishes"), "{said}");
    assert!(!said.contains("axiom `b` vanishes"), "{said}");
}
