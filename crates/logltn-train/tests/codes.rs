//! Every deed among the examples of `Code` is done here, in a program or to a run.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::Folder;
use logltn::theory::SortId;
use logltn::{
    ColumnData, Data, Diagnostic, Diagnostics, Engine, Output, Parameters, Plan, PlanOptions,
    Request, Semantics, Source, Theory,
};
use logltn_diagnostics::{Code, Mistake, SURROUNDINGS, early};
use logltn_learn::{Grounding, foretell};
use logltn_train::manifest::Manifest;
use logltn_train::project::Project;
use logltn_train::run_directory::RunDirectory;
use logltn_train::train::{Outcome, RunOptions, TrainOptions, Trainer, Watch, evaluate_run, run};

/// The files beside the examples, with more or others.
fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&[]);
    for (name, content) in SURROUNDINGS {
        folder.write(name, &content.bytes());
    }
    for (name, content) in files {
        folder.write(name, content.as_bytes());
    }
    folder
}

/// A manifest of the files beside the examples, with these lines at the end.
fn manifest(rest: &str) -> String {
    format!("theory = \"theory.ltn\"\n[sorts]\nPoint = {{ features = \"points.csv\" }}\n{rest}")
}

const NETWORK: &str = "[predicates]\ngood = { network = { mlp = [4] }, output = \"sigmoid\" }\n";

fn errors<T>(result: Result<T, Diagnostics>) -> Diagnostics {
    result.err().expect("a mistake")
}

fn train(trainer: &mut Trainer) -> Diagnostics {
    errors((0..50).try_for_each(|_| trainer.step().map(drop)))
}

/// What metrics say before the first step.
fn measured(metric: &str, predicates: &str) -> Diagnostics {
    let metric = format!("[evaluate]\nmetrics = [{{ metric = {metric} }}]\n");
    let text = manifest(&format!("{predicates}[train]\nsteps = 3\n{metric}"));
    let folder = folder(&[
        ("m.toml", &text),
        ("test.csv", "a1,truth\n0,1\n1,1\n"),
        ("plain.csv", "a1\n0\n1\n"),
    ]);
    let trainer = Trainer::new(folder.project(), &TrainOptions::default());
    errors(trainer.and_then(|mut trainer| trainer.measure()))
}

/// What is said of the gradients of two axioms in a truth semantics, after the first steps.
fn balance(axioms: &str) -> Diagnostics {
    let theory = format!("sort Point\npredicate good(Point)\npredicate sure(Point)\n{axioms}");
    let text = manifest(&format!(
        "{NETWORK}sure = {{ truth = \"sure.csv\" }}\n[train]\nsteps = 3\n"
    ));
    let text = format!("semantics = \"lukasiewicz\"\n{text}");
    let folder = folder(&[
        ("theory.ltn", &theory),
        ("m.toml", &text),
        ("sure.csv", "sure\n1\n1\n1\n"),
    ]);
    let mut trainer = folder.trainer();
    trainer.step().expect("a step");
    let mut found = trainer.balance();
    trainer.step().expect("another");
    found.extend(trainer.balance());
    found
}

/// What `Engine::set_batches` says of a row of a table.
fn batch(row: u32, batched: bool) -> Diagnostics {
    let text = "sort Point\ntable few(x: Point)\npredicate good(Point)\n\
        axiom all: forall (x) in few. good(x)\n";
    let theory = Theory::parse(Source::new("theory.ltn", text)).expect("a theory");
    let mut data = Data::new(&theory);
    data.set_size("Point", 3).expect("a size");
    let rows = vec![ColumnData::Individuals(vec![0, 1, 2])];
    data.set_rows("few", rows).expect("rows");
    if batched {
        data.set_batched("few").expect("a table");
    }
    let semantics = Semantics::named("logltn").expect("the usual one");
    let plan = Plan::new(&data, &[Output::sigmoid()], &semantics).expect("a plan");
    let mut engine = Engine::<f32>::new(plan);
    let table = theory.table("few").expect("a table");
    errors(engine.set_batches([(table, &[row][..])]))
}

/// A finished run in the folder `run`.
fn finished(folder: &Folder) -> Outcome {
    let mut trainer = folder.trainer();
    let directory = RunDirectory::create(&folder.dir.path().join("run")).expect("a folder");
    let options = RunOptions::default();
    let stop = AtomicBool::new(false);
    run(&mut trainer, &directory, &options, &stop, &mut ()).expect("a run")
}

/// What is said at the end of a training, and its folder.
fn said_at_the_end(files: &[(&str, &str)]) -> (Diagnostics, Folder) {
    struct Said(Diagnostics);
    impl Watch for Said {
        fn warning(&mut self, warning: &Diagnostic) {
            self.0.push(warning.clone());
        }
    }
    let folder = folder(files);
    let mut trainer = folder.trainer();
    let directory = RunDirectory::create(&folder.dir.path().join("run")).expect("a folder");
    let (options, stop) = (RunOptions::default(), AtomicBool::new(false));
    let mut said = Said(Diagnostics::new());
    run(&mut trainer, &directory, &options, &stop, &mut said).expect("a run");
    (said.0, folder)
}

/// What is said at the end of a training with a rule, where `even` is true of those digits that pass a guard.
fn rules(even: &str) -> Diagnostics {
    let theory = format!(
        "sort Digit = 0..9\npredicate even(Digit)\npredicate good(Digit)\n\
         axiom even: forall digit: Digit where {even}. even(digit)\n\
         axiom odd: forall digit: Digit where not {even}. not even(digit)\n\
         axiom rule: forall d: Digit. even(d) -> good(d)\naxiom none (weight 100): forall d: Digit. not good(d)\n"
    );
    let text = "theory = \"theory.ltn\"\n[predicates]\neven = { learnable = true }\ngood = { learnable = true }\n\
                [train]\nsteps = 200\nlearning_rate = 0.1\n";
    let (said, folder) = said_at_the_end(&[("theory.ltn", &theory), ("m.toml", text)]);
    // The run knows it, too.
    let directory = RunDirectory::open(&folder.dir.path().join("run")).expect("a run");
    let info = directory.info().expect("a run");
    let whole = info.whole.expect("few groundings");
    let [rule] = &whole.rules[..] else {
        panic!("{:?}", whole.rules)
    };
    assert_eq!((&rule.name[..], rule.groundings), ("rule", 10));
    assert_eq!(rule.premises, u64::from(even == "digit = 0"));
    assert_eq!(rule.broken, rule.premises);
    said
}

/// A few labels, and links: from the thing `0` of class `a` to those from `first` on, from `1` of class `b` to the others.
fn links(first: usize) -> Diagnostics {
    let theory = "sort Thing = 0..39\nsort Class = {a, b, c}\ntable known(x: Thing, k: Class)\n\
        table links(x: Thing, y: Thing)\npredicate class(Thing, Class)\n\
        axiom labels: forall (x, k) in known. class(x, k)\n\
        axiom agree: forall (x, y) in links. exists k: Class. class(x, k) and class(y, k)\n";
    let text = "theory = \"theory.ltn\"\n[tables]\nknown = { rows = \"known.csv\" }\nlinks = { rows = \"links.csv\" }\n\
        [predicates]\nclass = { learnable = true, output = \"softmax\" }\n[train]\nsteps = 200\nlearning_rate = 0.1\n";
    let others: String = (4..40)
        .map(|i| format!("{},{i}\n", u8::from(i < first)))
        .collect();
    let (said, _) = said_at_the_end(&[
        ("theory.ltn", theory),
        ("m.toml", text),
        ("known.csv", "x,k\n0,a\n1,b\n2,c\n3,c\n"),
        ("links.csv", &format!("x,y\n{others}")),
    ]);
    said
}

/// Where other things are of another class nothing is said.
#[test]
fn classes_that_have_not_collapsed() {
    let said = links(20);
    assert!(
        said.iter().all(|d| d.code() != Code::ClassesCollapsed),
        "{said}"
    );
}

/// A network that says nothing.
struct Silent;

impl Grounding for Silent {
    fn forward(&mut self, _: &Request, _: &mut [f32]) -> Result<(), Diagnostics> {
        Ok(())
    }
    fn backward(&mut self, _: &Request, _: &[f32]) {}
    fn visit_parameters(&mut self, _: &mut dyn FnMut(&str, &mut [f32], &mut [f32])) {}
}

/// Does what the example of a code says.
fn done(code: Code) -> Diagnostics {
    match code {
        Code::TableNotBatched => batch(0, false),
        Code::RowOutOfRange => batch(5, true),
        Code::NotStreamed => {
            let plan = Arc::clone(folder(&[]).trainer().plan());
            errors(Engine::<f64>::new(plan).stream(&[(SortId(0), 3)], Vec::new()))
        }
        #[cfg(unix)]
        Code::FileUnreadable => {
            let folder = folder(&[]);
            let points = folder.dir.path().join("points.csv");
            std::fs::remove_file(&points).expect("it is there");
            std::os::unix::fs::symlink(&points, &points).expect("a link");
            let mut found = Diagnostics::new();
            Project::load(&folder.dir.path().join("m.toml"), &mut found);
            found
        }
        Code::FileTooLarge => {
            let folder = folder(&[("m.toml", &"#\n".repeat(50_000_000))]);
            errors(Manifest::read(folder.dir.path().join("m.toml")))
        }
        Code::FileChanged => {
            let folder = folder(&[]);
            let project = folder.project();
            folder.write("points.csv", b"a,b,c\n0,1,2\n1,0,2\n2,2,2\n");
            let sort = project.theory().sort("Point").expect("a sort");
            errors(project.features_of(sort))
        }
        Code::MetricDoesNotFit => measured(
            "\"accuracy\", predicate = \"good\", rows = \"plain.csv\"",
            NETWORK,
        ),
        Code::MetricUndefined => measured(
            "\"roc_auc\", predicate = \"good\", rows = \"test.csv\"",
            NETWORK,
        ),
        Code::CannotPredict => measured(
            "\"roc_auc\", predicate = \"good\", rows = \"test.csv\"",
            "[predicates]\ngood = { output = \"sigmoid\" }\n",
        ),
        Code::TrainingHasBegun => {
            let mut trainer = folder(&[]).trainer();
            trainer.step().expect("a step");
            errors(trainer.ground("good", Box::new(Silent)))
        }
        Code::TrainingDiverged => {
            let text = manifest(&format!(
                "{NETWORK}[train]\nsteps = 50\nlearning_rate = 1e30\n"
            ));
            train(&mut folder(&[("m.toml", &text)]).trainer())
        }
        Code::Interrupted => {
            let mut trainer = folder(&[]).trainer();
            trainer.set_stop(Arc::new(AtomicBool::new(true)));
            errors(trainer.step())
        }
        Code::SlowStep => {
            let theory = "sort Thing = 1..1000\npredicate near(Thing, Thing)\n\
                axiom a: forall x, y, z, w: Thing. near(x, y) and near(z, w) -> near(x, w)\n";
            let text = "theory = \"theory.ltn\"\n[predicates]\nnear = { learnable = true }\n[train]\nsteps = 1\n";
            let folder = folder(&[("theory.ltn", theory), ("m.toml", text)]);
            let work = folder.trainer().step_work(Duration::from_millis(200));
            work.expect("an estimate").warning().expect("a word").into()
        }
        Code::SlowWork => {
            static SAID: Mutex<Vec<Diagnostic>> = Mutex::new(Vec::new());
            early::listen(|warning| SAID.lock().expect("nobody panics").push(warning.clone()));
            let text = "sort Thing = 1..1000\npredicate near(Thing, Thing)\n\
                axiom a: forall x, y, z, w: Thing. near(x, y) or near(z, w)\n";
            let theory = Theory::parse(Source::new("theory.ltn", text)).expect("a theory");
            let options = PlanOptions {
                narrow: false,
                eliminate: false,
                ..PlanOptions::default()
            };
            let semantics = Semantics::named("logltn").expect("the usual one");
            let outputs = [Output::sigmoid()];
            let plan = Plan::new_with(&Data::new(&theory), &outputs, &semantics, &options);
            let mut engine = Engine::<f64>::new(plan.expect("a plan"));
            foretell(&mut engine, &Parameters::default(), 1.0, "the question");
            let said = SAID.lock().expect("nobody panics");
            said.iter().cloned().collect()
        }
        // min(1 + y, 1) is 1 whatever y is.
        Code::VanishingGradient => balance(
            "axiom dead: forall x: Point. sure(x) or good(x)\naxiom live: forall x: Point. good(x)\n",
        ),
        Code::NothingLearnt => {
            let theory =
                "sort Point\npredicate good(Point)\naxiom a: forall x: Point. not good(x)\n";
            let text = format!(
                "semantics = \"godel\"\n{}",
                manifest(&format!("{NETWORK}[train]\nsteps = 3\n"))
            );
            let folder = folder(&[("theory.ltn", theory), ("m.toml", &text)]);
            match finished(&folder) {
                Outcome::Finished { nothing_moved, .. } => (*nothing_moved.expect("a word")).into(),
                other => panic!("{other:?}"),
            }
        }
        Code::DominatingGradient => balance(
            "axiom light: forall x: Point. good(x)\naxiom heavy (weight 1000): forall x: Point. good(x)\n\
             axiom other: forall x: Point. sure(x)\n",
        ),
        Code::RuleNotKept => rules("digit = 0"),
        Code::PremiseNeverTrue => rules("digit > 9"),
        Code::ClassesCollapsed => links(4),
        Code::RunExists => {
            let folder = folder(&[]);
            finished(&folder);
            errors(RunDirectory::create(&folder.dir.path().join("run")))
        }
        Code::FolderTaken => errors(RunDirectory::create(folder(&[]).dir.path())),
        #[cfg(unix)]
        Code::LinkInRun => {
            let folder = folder(&[]);
            finished(&folder);
            let path = folder.dir.path().join("run");
            std::fs::remove_file(path.join("metrics.csv")).expect("it is there");
            std::os::unix::fs::symlink("../points.csv", path.join("metrics.csv")).expect("a link");
            errors(RunDirectory::resume(&path))
        }
        Code::RunInUse => {
            let folder = folder(&[]);
            let run = folder.dir.path().join("run");
            let _first = RunDirectory::create(&run).expect("a folder");
            errors(RunDirectory::resume(&run))
        }
        Code::RunDamaged => {
            let folder = folder(&[]);
            finished(&folder);
            folder.write("run/run.json", b"{ \"seed\": ");
            let run = RunDirectory::open(&folder.dir.path().join("run")).expect("a run");
            errors(run.info())
        }
        Code::RunNotDescribed => {
            let folder = folder(&[]);
            finished(&folder);
            let path = folder.dir.path().join("run");
            let text = std::fs::read_to_string(path.join("run.json")).expect("a record");
            let mut record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let model = record.as_object_mut().and_then(|r| r.remove("model"));
            assert!(model.is_some(), "{text}");
            record.as_object_mut().and_then(|r| r.remove("check"));
            folder.write("run/run.json", record.to_string().as_bytes());
            let (semantics, parameters) = (Semantics::default(), Parameters::default());
            let found = evaluate_run(&folder.project(), &path, &semantics, &parameters, false);
            found.unwrap_or_else(|errors| panic!("{errors}")).0.warnings
        }
        Code::NotShardable => errors(in_parts("forall c: C. exists (x) in rows. p(x, c)")),
        Code::RanksDisagree => {
            let plan = in_parts("forall (x) in rows. p(x, a)").expect("a plan");
            let mut engine = Engine::<f64>::new(plan);
            // The others send more, as of another theory.
            let mut exchange =
                |own: &[f64]| -> Result<_, Diagnostics> { Ok((0, vec![0.0; 2 * own.len() + 1])) };
            let parameters = Parameters::default();
            let found = engine.evaluate_together(&parameters, None, &mut [], &mut exchange);
            found.err().unwrap_or_default()
        }
        _ => panic!("no test makes `{code}`: do here what its example says"),
    }
}

/// A plan for several processes, each with rows of its own.
fn in_parts(axiom: &str) -> Result<Plan, Diagnostics> {
    let text = format!(
        "sort P  sort C = {{a, b}}  table rows(x: P)  predicate p(P, C)  axiom it: {axiom}"
    );
    let mut data = Data::new(&Theory::parse(Source::new("t", text))?);
    data.set_size("P", 3)?;
    data.set_streamed("rows")?;
    let options = PlanOptions {
        sharded: true,
        ..PlanOptions::default()
    };
    let semantics = Semantics::default();
    Plan::new_with(&data, &[Output::sigmoid()], &semantics, &options)
}

#[test]
fn deeds_have_the_mistakes_that_they_are_examples_of() {
    let mut wrong = String::new();
    for code in Code::ALL {
        let example = code.example();
        match example.mistake {
            Mistake::Action(_) => {}
            // Each of these is made by the test of the crate that knows how.
            Mistake::Theory(_) | Mistake::Files { .. } | Mistake::Unmakeable(_) => continue,
        }
        if cfg!(not(unix)) && *code == Code::FileUnreadable {
            continue;
        }
        // Made by the program's own tests, crates/logltn-cli/tests/dashboard.rs, and by those of the Python package,
        // crates/logltn-py/tests/test_around.py.
        if matches!(
            code,
            Code::CannotListen
                | Code::NothingToChoose
                | Code::SquashedTwice
                | Code::HiddenParameters
        ) {
            continue;
        }
        let found = done(*code);
        let right = |d: &logltn::Diagnostic| d.code() == *code && d.severity() == example.severity;
        if !found.iter().any(right) {
            let codes: Vec<Code> = found.iter().map(|d| d.code()).collect();
            wrong += &format!("{code}: {codes:?}\n{found}\n");
        }
    }
    assert!(wrong.is_empty(), "not as their examples say:\n{wrong}");
}
