//! What a manifest says of a training, and its session does: phases, batches, schedules, networks, metrics.
//! (What a session does besides is tested where it lives.)

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::Folder;
use logltn::Diagnostic;
use logltn_learn::Step;
use logltn_train::run_directory::{RunDirectory, RunStatus, StepRecord};
use logltn_train::train::{Outcome, RunOptions, Trainer, Watch, run};

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
fn phases_have_their_own_axioms() {
    let folder = folder(
        "[train]\nphases = [ { steps = 2, axioms = [\"some[green]\", \"all\"] }, { steps = 1, axioms = [\"pairs\"] }, { epochs = 2 } ]\n",
    );
    let mut trainer = folder.trainer();
    let axioms = trainer.axioms();
    let names: Vec<&str> = axioms.iter().map(|a| a.0.as_str()).collect();
    let expected = ["some[red]", "some[green]", "some[blue]", "all", "pairs"];
    assert_eq!(names, expected);
    let weights: Vec<f64> = axioms.iter().map(|a| a.1).collect();
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

// --- metrics -----------------------------------------------------------------------------------

#[test]
fn metrics_on_numbers_known_by_hand() {
    let theory = "sort P\nsort C = {a, b}\npredicate c(P, C)\npredicate good(P)\npredicate net(P)\n\
        axiom ax: forall x: P. c(x, a) or good(x) or net(x)\n";
    let manifest = "theory = \"t.ltn\"\n[sorts.P]\nfeatures = \"p.csv\"\nlabels = { file = \"labels.csv\", column = \"kind\" }\n\
        [predicates]\nc = { args = [\"x\", \"c\"], logits = \"c.csv\", output = \"softmax\" }\ngood = { args = [\"x\"], logits = \"good.csv\", output = \"sigmoid\" }\n\
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
        { metric = \"row_accuracy\", table = \"sums\", name = \"train\" },\n\
        { metric = \"row_accuracy\", table = \"sums\", rows = \"test.csv\", name = \"test\" } ]\n";
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

/// Asks to stop where something is odd: between a step and its metrics.
struct StopWhenWarned<'a>(&'a AtomicBool);

impl Watch for StopWhenWarned<'_> {
    fn warning(&mut self, _: &Diagnostic) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn stopped_before_its_last_metric_a_run_ends_with_the_same_bits() {
    // The first axiom has no gradient, which is said at step 10, the last.
    let folder = Folder::new(&[
        (
            "t.ltn",
            "sort Point\npredicate good(Point)\npredicate sure(Point)\n\
             axiom dead: forall x: Point. sure(x) or good(x)\naxiom live: forall x: Point. good(x)\n",
        ),
        ("points.csv", "a\n1\n2\n3\n"),
        ("sure.csv", "sure\n1\n1\n1\n"),
        ("good.csv", "x,truth\n0,1\n1,0\n2,1\n"),
        (
            "m.toml",
            "theory = 't.ltn'\nsemantics = 'lukasiewicz'\nsorts.Point.features = 'points.csv'\n[predicates]\n\
             good = { args = ['x'], network = { mlp = [4] }, output = 'sigmoid' }\nsure = { truth = 'sure.csv' }\n\
             [train]\nsteps = 10\n[evaluate]\nevery = 5\n\
             metrics = [{ metric = 'accuracy', predicate = 'good', rows = 'good.csv' }]\n",
        ),
    ]);
    let go = |name: &str, resume: bool, stop: &AtomicBool, watch: &mut dyn Watch| {
        let directory = RunDirectory::resume(&folder.dir.path().join(name)).expect("a folder");
        let options = RunOptions {
            resume,
            tensorboard: true,
            ..RunOptions::default()
        };
        let outcome = run(&mut folder.trainer(), &directory, &options, stop, watch);
        outcome.unwrap_or_else(|errors| panic!("{errors}"))
    };
    let stop = AtomicBool::new(false);
    let cut = go("cut", false, &stop, &mut StopWhenWarned(&stop));
    assert!(matches!(cut, Outcome::Interrupted { done: 10 }), "{cut:?}");
    let records = |name: &str| -> Vec<StepRecord> {
        let directory = RunDirectory::open(&folder.dir.path().join(name)).expect("a run");
        let records = directory.records().expect("records");
        records
            .map(|record| StepRecord {
                step_time: 0.0,
                ..record.expect("a record")
            })
            .collect()
    };
    // The last one is still without its metrics.
    assert_eq!(records("cut").len(), 10);
    assert_eq!(records("cut").last().map(|r| r.metrics.len()), Some(0));
    let never = AtomicBool::new(false);
    let finished = go("cut", true, &never, &mut ());
    assert!(matches!(finished, Outcome::Finished { .. }), "{finished:?}");
    go("whole", false, &never, &mut ());
    let file = |run: &str, name: &str| {
        std::fs::read(folder.dir.path().join(run).join(name)).expect("a file")
    };
    for name in ["weights.safetensors", "checkpoint.safetensors"] {
        assert!(file("cut", name) == file("whole", name), "{name}");
    }
    assert_eq!(records("cut"), records("whole"));
    assert_eq!(records("cut").last().map(|r| r.metrics.len()), Some(1));
    // Times aside, there is one event for each step, as ever.
    let events = "tensorboard/events.out.tfevents.0.logltn";
    assert_eq!(file("cut", events).len(), file("whole", events).len());
}

#[test]
fn a_run_without_a_gradient_that_was_killed_before_it_said_so_says_so() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            "sort Point\npredicate good(Point)\naxiom a: forall x: Point. not good(x)\n",
        ),
        ("points.csv", "a\n1\n2\n"),
        (
            "m.toml",
            "theory = 't.ltn'\nsemantics = 'godel'\nsorts.Point.features = 'points.csv'\n\
             predicates.good = { network = { mlp = [4] }, output = 'sigmoid' }\ntrain.steps = 3\n",
        ),
    ]);
    let path = folder.dir.path().join("run");
    let never = AtomicBool::new(false);
    let options = RunOptions {
        resume: true,
        ..RunOptions::default()
    };
    let directory = RunDirectory::resume(&path).expect("a folder");
    let go = || {
        let outcome = run(&mut folder.trainer(), &directory, &options, &never, &mut ());
        outcome.unwrap_or_else(|errors| panic!("{errors}"))
    };
    let Outcome::Finished {
        nothing_moved: Some(first),
        ..
    } = go()
    else {
        panic!("it has learnt something")
    };
    // As if killed between its weights and its last words.
    let words = directory.info().expect("a record");
    assert_eq!(words.reason, first.message());
    let mut without = words.clone();
    without.status = RunStatus::Running;
    without.reason.clear();
    directory.write_info(&without).expect("a file");
    let Outcome::AlreadyFinished {
        nothing_moved: Some(again),
    } = go()
    else {
        panic!("it has learnt something")
    };
    assert_eq!(again.message(), first.message());
    let info = directory.info().expect("a record");
    assert_eq!((info.status, info.steps), (words.status, words.steps));
    assert_eq!(info.reason, words.reason);
    // Now it is finished.
    let again = go();
    assert!(
        matches!(
            again,
            Outcome::AlreadyFinished {
                nothing_moved: None
            }
        ),
        "{again:?}"
    );
}

/// Stops after the last step, when there is nothing left but to look at the whole theory.
struct StopAtTheEnd<'a>(&'a AtomicBool);

impl Watch for StopAtTheEnd<'_> {
    fn step(&mut self, record: &StepRecord, total: u64) {
        if record.step == total {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn stopped_before_its_last_words_a_run_is_not_finished_and_says_them_when_resumed() {
    let folder = folder("[train]\nsteps = 4\n");
    let go = |name: &str, resume: bool, stop: &AtomicBool, watch: &mut dyn Watch| {
        let directory = RunDirectory::resume(&folder.dir.path().join(name)).expect("a folder");
        let options = RunOptions {
            resume,
            ..RunOptions::default()
        };
        let outcome = run(&mut folder.trainer(), &directory, &options, stop, watch);
        let info = directory.info().expect("run.json");
        (outcome.unwrap_or_else(|errors| panic!("{errors}")), info)
    };
    let (stop, never) = (AtomicBool::new(false), AtomicBool::new(false));
    let (cut, info) = go("cut", false, &stop, &mut StopAtTheEnd(&stop));
    assert!(matches!(cut, Outcome::Interrupted { done: 4 }), "{cut:?}");
    assert_eq!(info.status, RunStatus::Interrupted);
    let (cut, info) = go("cut", true, &stop, &mut ());
    assert!(matches!(cut, Outcome::Interrupted { done: 4 }), "{cut:?}");
    assert_eq!(info.status, RunStatus::Interrupted);
    let (_, resumed) = go("cut", true, &never, &mut ());
    let (_, undisturbed) = go("whole", false, &never, &mut ());
    assert_eq!(resumed.status, RunStatus::Finished);
    let last = undisturbed.whole.expect("truths").last.expect("the last");
    let made_up = resumed.whole.expect("truths").last.expect("the last");
    assert_eq!((last.axioms, last.loss), (made_up.axioms, made_up.loss));
}

/// Stops after a step.
struct StopAfter<'a>(u64, &'a AtomicBool);

impl Watch for StopAfter<'_> {
    fn step(&mut self, record: &StepRecord, _: u64) {
        self.1.store(record.step == self.0, Ordering::Relaxed);
    }
}

/// `f` grows forever, so its distance from 1 gets smaller, and then larger.
#[test]
fn early_stopping_keeps_the_best_weights_however_often_it_is_interrupted() {
    let folder = Folder::new(&[
        (
            "t.ltn",
            "sort P\nfunction f(P): Real\npredicate large(Real)\naxiom a: forall x: P. large(f(x))\n",
        ),
        ("points.csv", "a\n1\n2\n3\n"),
        ("known.csv", "x,value\n0,1\n1,1\n2,1\n"),
        (
            "m.toml",
            "theory = 't.ltn'\nsorts.P.features = 'points.csv'\n\
             functions.f = { args = ['x'], network = { mlp = [4] }, output = 'linear' }\n\
             predicates.large = { args = ['u'], closed_form = { logit = 'u' } }\n\
             [train]\nsteps = 500\nlearning_rate = 0.01\ncheckpoint_every = 7\n\
             early_stop = { metric = 'rmse', patience = 3 }\n[evaluate]\nevery = 5\n\
             metrics = [{ metric = 'rmse', function = 'f', rows = 'known.csv' }]\n",
        ),
    ]);
    let go = |name: &str, stop: &AtomicBool, watch: &mut dyn Watch| {
        let directory = RunDirectory::resume(&folder.dir.path().join(name)).expect("a folder");
        let options = RunOptions {
            resume: true,
            ..RunOptions::default()
        };
        let outcome = run(&mut folder.trainer(), &directory, &options, stop, watch);
        (
            outcome.unwrap_or_else(|errors| panic!("{errors}")),
            directory,
        )
    };
    let never = AtomicBool::new(false);
    let (outcome, whole) = go("whole", &never, &mut ());
    let records: Vec<StepRecord> = (whole.records().expect("records"))
        .map(|record| record.expect("a record"))
        .collect();
    let measured = || records.iter().filter(|record| !record.metrics.is_empty());
    let value = |record: &StepRecord| record.metrics[0].1;
    let best = measured()
        .min_by(|a, b| value(a).total_cmp(&value(b)))
        .expect("a best one");
    assert_eq!(records.len() as u64, best.step + 15);
    let info = whole.info().expect("run.json");
    let kept = info.kept.clone().expect("what was kept");
    assert_eq!((kept.step, kept.value), (best.step, value(best)));
    assert_eq!(
        (kept.stopped_after, &kept.metrics),
        (Some(3), &best.metrics)
    );
    let said = format!(
        "stopped early after step {} of 500: the best rmse(f), ",
        best.step + 15
    );
    assert!(info.reason.starts_with(&said), "{}", info.reason);
    let Outcome::Finished { metrics, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(metrics, best.metrics);
    let file = |run: &str, name: &str| {
        std::fs::read(folder.dir.path().join(run).join(name)).expect("a file")
    };
    let measure = |name: &str| {
        let weights = logltn_train::run_directory::decode(&file("whole", name), name);
        let mut trainer = folder.trainer();
        trainer
            .restore_weights(&weights.expect("weights"))
            .expect("they fit");
        trainer.measure().expect("metrics")
    };
    assert_eq!(measure("weights.safetensors"), best.metrics);
    let last = records.last().expect("a last one");
    assert_eq!(measure("last.safetensors"), last.metrics);

    for at in [
        1,
        best.step - 1,
        best.step,
        best.step + 1,
        best.step + 14,
        best.step + 15,
    ] {
        let name = format!("cut{at}");
        let stop = AtomicBool::new(false);
        let (outcome, _) = go(&name, &stop, &mut StopAfter(at, &stop));
        assert!(
            matches!(outcome, Outcome::Interrupted { done } if done == at),
            "{outcome:?}"
        );
        let (_, cut) = go(&name, &never, &mut ());
        for file_name in [
            "weights.safetensors",
            "last.safetensors",
            "checkpoint.safetensors",
        ] {
            assert!(
                file(&name, file_name) == file("whole", file_name),
                "{at} {file_name}"
            );
        }
        let cut = cut.info().expect("run.json");
        assert_eq!(
            (&cut.kept, &cut.reason, cut.status),
            (&info.kept, &info.reason, info.status)
        );
    }
}
