//! Tasks of rsbench on MNIST in which wrong concepts satisfy the rules: reasoning shortcuts. Not a task of the paper.
//!
//! `plain` has the labels of the task alone; `labels` adds ten labelled images of each class that `logltn identify` names;
//! `spread` has 20 labelled images of all classes in turn, with which training begins; `ensemble` is three runs that
//! are told to disagree. Inside, the size of the training data tells the tasks apart.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, did_you_mean};
use logltn_learn::metrics::{calibration_error, collapse};
use logltn_learn::{Apart, By, largest};
use logltn_train::project::IdentifyOptions;
use logltn_train::train::{TrainOptions, Trainer};

use super::configuration::stable;
use super::jobs::{Finding, Found, Progress};
use super::mnist::{self, Digits};
use super::record::{Job, Portion};
use super::training::{predicate, train};
use super::{
    About, Configuration, DataKind, Experiment, Metric, Options, PROBABILITY, data_folders, load,
};

const CONCEPTS: Metric = Metric::greater(
    "concept_accuracy",
    "accuracy of single concepts on the test images, in %",
    1,
);
const LABELS: Metric = Metric::greater(
    "label_accuracy",
    "test rows whose concepts, each the likeliest, give the right label, in %",
    1,
);
const COLLAPSE: Metric =
    Metric::smaller("collapse", "classes that occur and are never predicted", 1);
const CALIBRATION: Metric = Metric::smaller(
    "calibration_error",
    "expected calibration error of the concepts, in %",
    1,
);

/// The rows of a semantics: by kinds of help.
macro_rules! rows {
    ($($name:literal $title:literal $of:expr;)*) => {
        [$(
            Configuration { name: $name, title: $title, ..$of },
            Configuration { name: concat!($name, "-labels"), title: concat!($title, ", identify's labels"), ..$of },
            Configuration { name: concat!($name, "-spread"), title: concat!($title, ", labels of all classes first"), ..$of },
            Configuration { name: concat!($name, "-ensemble"), title: concat!($title, ", ensemble of 3"), ..$of },
        )*]
    };
}

/// Semantics by kinds of help.
pub(super) const ALL: [Configuration; 12] = rows![
    "logltn" "logLTN" Configuration::of("", "", "logltn");
    "probability" "probability" PROBABILITY;
    "stable-2" "LTN-Stable (p=2)" stable("", "", 2.0);
];

/// How many labelled images there may be in all.
const LABELLED: usize = 20;
const MEMBERS: usize = 3;
/// What the members' disagreement counts.
const DIVERSITY: f64 = 0.2;
/// Steps with nothing but labelled images.
const FIRST_STEPS: u64 = 150;
const BATCH: usize = 32;

const SOURCE: &str = "Neurosymbolic Diffusion Models (arXiv:2505.13138), which has independent networks and bears beside its own; no label of \
                      a concept was used there, as in the rows without `-labels` and `-spread`";

/// One of rsbench's tasks.
struct Shortcut {
    name: &'static str,
    title: &'static str,
    classes: usize,
    /// How many rows there are for training and for testing, as in rsbench where it says so.
    rows: [usize; 2],
    /// The concepts of a row that occur, one digit of the text for each image.
    combinations: &'static [&'static str],
    /// The guard over the classes a, b, … of a row's images, and the numbers m and n of its label.
    guard: &'static str,
    /// The label of concepts.
    label: fn(&[i64]) -> [i64; 2],
}

/// rsbench's MNAdd-Half and MNAdd-EvenOdd, the examples of its generators for MNMath (`2*a + b` and `a + b`, of digits 0 to 2)
/// and MNLogic (`(a and b) or not c`), and the parity of four bits, which its evaluation has as MNLogic.
const TASKS: [Shortcut; 5] = [
    Shortcut {
        name: "half",
        title: "MNAdd-Half",
        classes: 5,
        rows: [2_940, 420],
        combinations: &["00", "01", "23", "24"],
        guard: "a + b = m and n = 0",
        label: |c| [c[0] + c[1], 0],
    },
    Shortcut {
        name: "even-odd",
        title: "MNAdd-EvenOdd",
        classes: 10,
        rows: [6_720, 960],
        combinations: &["06", "28", "46", "48", "15", "37", "19", "39"],
        guard: "a + b = m and n = 0",
        label: |c| [c[0] + c[1], 0],
    },
    Shortcut {
        name: "math",
        title: "MNMath",
        classes: 3,
        rows: [2_000, 400],
        combinations: &["0120", "2101", "0002"],
        guard: "2 * a + b = m and c + d = n",
        label: |c| [2 * c[0] + c[1], c[2] + c[3]],
    },
    Shortcut {
        name: "logic",
        title: "MNLogic",
        classes: 2,
        rows: [2_001, 401],
        combinations: &["001", "010", "000"],
        guard: "max(a * b, 1 - c) = m and n = 0",
        label: |c| [(c[0] * c[1]).max(1 - c[2]), 0],
    },
    Shortcut {
        name: "parity",
        title: "MNLogic, parity of four",
        classes: 2,
        rows: [2_002, 402],
        combinations: &[
            "0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111", "1000", "1001", "1010",
            "1011", "1100", "1101", "1110", "1111",
        ],
        guard: "(a + b + c + d) % 2 = m and n = 0",
        label: |c| [c.iter().sum::<i64>() % 2, 0],
    },
];

impl Shortcut {
    fn images(&self) -> usize {
        self.combinations[0].len()
    }

    /// The variables of a row's images, and of their classes.
    fn variables(&self) -> [Vec<String>; 2] {
        let letters = "abcd".chars().take(self.images());
        [
            (0..self.images()).map(|i| format!("x{i}")).collect(),
            letters.map(String::from).collect(),
        ]
    }

    fn theory(&self, labelled: bool) -> String {
        let [images, classes] = self.variables();
        let columns = images.iter().map(|x| format!("{x}: Image"));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let atoms = images.iter().zip(&classes);
        let atoms = atoms
            .map(|(x, c)| format!("digit({x}, {c})"))
            .collect::<Vec<_>>();
        let mut text = format!(
            "sort Image\nsort Digit = 0..{}\ntable rows({columns}, m: Int, n: Int)\npredicate digit(Image, Digit)\n\
             axiom rule: forall ({}, m, n) in rows. exists {}: Digit where {}. {}\n",
            self.classes - 1,
            images.join(", "),
            classes.join(", "),
            self.guard,
            atoms.join(" and ")
        );
        if labelled {
            text += "table labelled(x: Image, d: Digit)\naxiom labels: forall (x, d) in labelled. digit(x, d)\n";
        }
        text
    }

    fn concepts(&self, row: usize) -> Vec<i64> {
        let text = self.combinations[row % self.combinations.len()].bytes();
        text.map(|digit| i64::from(digit - b'0')).collect()
    }
}

/// Images of MNIST by digit, each taken in turn.
struct Taken<'d> {
    digits: &'d Digits,
    by_digit: Vec<Vec<usize>>,
    next: Vec<usize>,
}

impl<'d> Taken<'d> {
    fn new(digits: &'d Digits) -> Taken<'d> {
        let mut by_digit = vec![Vec::new(); mnist::DIGITS];
        for (i, label) in digits.labels.iter().enumerate() {
            by_digit[usize::from(*label)].push(i);
        }
        Taken {
            digits,
            by_digit,
            next: vec![0; mnist::DIGITS],
        }
    }

    fn take(&mut self, digit: i64) -> Result<&'d [u8], Diagnostics> {
        let all = &self.by_digit[digit as usize];
        let at = &mut self.next[digit as usize];
        *at += 1;
        match all.len() {
            0 => {
                let what = format!("MNIST has no image of a {digit}");
                Err(Diagnostic::error(Code::NotEnoughData, what).into())
            }
            many => Ok(self.digits.image(all[(*at - 1) % many])),
        }
    }
}

/// The task.
pub(super) struct Shortcuts {
    about: About,
    place: PathBuf,
    steps: u64,
    tasks: Vec<&'static Shortcut>,
    work: PathBuf,
}

/// The tasks asked for; with `--quick` those that are ambiguous in rsbench.
fn tasks(options: &Options) -> Result<Vec<&'static Shortcut>, Diagnostics> {
    let known = TASKS.map(|t| t.name);
    if let Some(strange) = options.parts.iter().find(|n| !known.contains(&n.as_str())) {
        let message = format!("there is no task `{strange}`");
        return Err(unknown(message, strange, &known).into());
    }
    Ok(match (options.parts.is_empty(), options.quick) {
        (true, true) => TASKS[..2].iter().collect(),
        (true, false) => TASKS.iter().collect(),
        _ => (TASKS.iter())
            .filter(|t| options.parts.iter().any(|n| n == t.name))
            .collect(),
    })
}

/// The rows of these semantics.
fn configurations(semantics: &[String]) -> Result<Vec<Configuration>, Diagnostics> {
    let known = ["logltn", "probability", "stable"];
    if let Some(strange) = semantics.iter().find(|n| !known.contains(&n.as_str())) {
        let message = format!("shortcuts are not run under `{strange}`");
        return Err(unknown(message, strange, &known).into());
    }
    let asked =
        |c: &Configuration| semantics.is_empty() || semantics.iter().any(|s| s == c.semantics);
    Ok(ALL.into_iter().filter(asked).collect())
}

fn unknown(message: String, name: &str, known: &[&str]) -> Diagnostic {
    let all: Vec<String> = known.iter().map(|n| format!("`{n}`")).collect();
    let all = format!("there are {}", all.join(", "));
    let help = match did_you_mean(name, known.iter().copied()) {
        Some(help) => format!("{help} {all}"),
        None => all,
    };
    Diagnostic::error(Code::UnknownConfiguration, message).help(help)
}

impl Shortcuts {
    pub fn new(options: &Options) -> Result<Shortcuts, Diagnostics> {
        let steps = options.steps.unwrap_or(1_300);
        let place = mnist::find(options.data.as_deref())?;
        let title = format!("real: MNIST in {}", place.display());
        let own = [("steps", steps.to_string())];
        let tasks = tasks(options)?;
        let about = About::new(
            &[CONCEPTS, LABELS, COLLAPSE, CALIBRATION],
            DataKind::Real,
            title,
            own,
        );
        let portion = |task: &&Shortcut| Portion {
            part: Some(task.title),
            ..Portion::of(task.rows[0])
        };
        Ok(Shortcuts {
            about: About {
                portions: tasks.iter().map(portion).collect(),
                sources: vec![SOURCE.to_string()],
                ..about.with_configurations(&configurations(&options.semantics)?)
            },
            place,
            steps,
            tasks,
            work: PathBuf::new(),
        })
    }

    fn task(&self, job: &Job) -> Result<&'static Shortcut, Diagnostics> {
        let own = |task: &&&Shortcut| Some(task.title) == job.portion.part;
        let found = self.tasks.iter().find(own).copied();
        Ok(found.ok_or_else(|| Diagnostic::error(Code::Internal, "a run without a task"))?)
    }

    /// Images, rows, the labels of everything, and a manifest for each way to label.
    fn write(&self, task: &Shortcut, [train, test]: [&Digits; 2]) -> Result<(), Diagnostics> {
        let folder = self.work.join(task.name);
        data_folders::make_folder(&folder)?;
        let [images, _] = task.variables();
        let (mut pixels, mut truth) = (Vec::new(), String::from("digit\n"));
        let mut count = 0;
        let mut add = |image: &[u8], digit: i64| {
            pixels.extend_from_slice(image);
            let _ = writeln!(truth, "{digit}");
            count += 1;
            count - 1
        };
        let mut train_images = Taken::new(train);
        let mut test_images = Taken::new(test);
        let mut files = vec![(String::new(), String::new()); 2];
        for (part, (name, text)) in files.iter_mut().enumerate() {
            *name = ["rows.csv", "test.csv"][part].to_string();
            *text = format!("{},m,n\n", images.join(","));
            for row in 0..task.rows[part] {
                let concepts = task.concepts(row);
                for &digit in &concepts {
                    let image = match part {
                        0 => train_images.take(digit)?,
                        _ => test_images.take(digit)?,
                    };
                    let _ = write!(text, "{},", add(image, digit));
                }
                let [m, n] = (task.label)(&concepts);
                let _ = writeln!(text, "{m},{n}");
            }
        }
        // Others than those of the rows.
        let mut label = |classes: &[u32], each: usize| -> Result<String, Diagnostics> {
            let mut text = String::from("x,d\n");
            for &class in classes {
                for _ in 0..each {
                    let image = train_images.take(i64::from(class))?;
                    let _ = writeln!(text, "{},{class}", add(image, i64::from(class)));
                }
            }
            Ok(text)
        };
        let every: Vec<u32> = (0..task.classes as u32).collect();
        let spread = label(&every, (LABELLED / task.classes).max(1))?;
        let mut each_class = Vec::new();
        for class in &every {
            each_class.push(label(&[*class], LABELLED / 2)?);
        }
        files.push(("spread.csv".to_string(), spread));
        for (class, text) in each_class.into_iter().enumerate() {
            files.push((format!("class-{class}.csv"), text));
        }
        files.push(("truth.csv".to_string(), truth));
        files.push(("plain.ltn".to_string(), task.theory(false)));
        files.push(("labelled.ltn".to_string(), task.theory(true)));
        files.push(("plain.toml".to_string(), self.manifest("plain.ltn", None)));
        let images = mnist::images_file(train.shape, &pixels);
        data_folders::write_files(&folder, &[("images.idx", images)])?;
        data_folders::write_files(&folder, &files)?;
        self.write_labels(task, &folder)
    }

    /// The network starts undecided, and α stays at 1, where the rule is the exact probability up to a constant.
    fn manifest(&self, theory: &str, labelled: Option<&str>) -> String {
        let table = labelled.map_or(String::new(), |file| {
            format!("labelled = {{ rows = \"{file}\" }}\n")
        });
        format!(
            r#"theory = "{theory}"

[sorts.Image]
features = "images.idx"
labels = {{ file = "truth.csv" }}

[tables]
rows = {{ rows = "rows.csv", batch = {BATCH} }}
{table}
[predicates.digit]
network = {{ layers = [
    {{ conv = [8, 5] }}, "elu", {{ pool = 2 }}, {{ conv = [16, 5] }}, "elu", {{ pool = 2 }},
    "flatten", {{ dropout = 0.3 }}, {{ dense = 64 }}, "elu" ], undecided = true }}
output = "softmax"

[schedule]
alpha = 1

[train]
steps = {steps}
optimizer = "adam"
learning_rate = {{ linear = [0.002, 0] }}
"#,
            steps = self.steps
        )
    }

    /// Asks which classes to label, and writes what that leads to.
    fn write_labels(&self, task: &Shortcut, folder: &Path) -> Result<(), Diagnostics> {
        let project = load(&folder.join("plain.toml"))?;
        let found = project.identify(&IdentifyOptions::default(), &mut Diagnostics::new())?;
        let mut rows = String::from("x,d\n");
        for label in found.labels.iter().take(LABELLED / (LABELLED / 2)) {
            let path = folder.join(format!("class-{}.csv", label.class));
            let text = logltn_data::read_text(&path).map_err(|error| {
                Diagnostic::error(Code::FileUnreadable, format!("{}: {error}", path.display()))
            })?;
            rows.extend(text.split_inclusive('\n').skip(1));
        }
        // Where nothing is ambiguous there is nothing to label.
        let asked = match found.labels.is_empty() {
            true => self.manifest("plain.ltn", None),
            false => self.manifest("labelled.ltn", Some("asked.csv")),
        };
        let steps = format!("steps = {}", self.steps);
        let phases =
            format!("phases = [{{ steps = {FIRST_STEPS}, axioms = [\"labels\"] }}, {{ {steps} }}]");
        let spread = self.manifest("labelled.ltn", Some("spread.csv"));
        let spread = spread.replace(&steps, &phases);
        let note = format!("{}: {} maps\n", task.name, found.maps);
        data_folders::write_files(
            folder,
            &[
                ("asked.csv", rows),
                ("labels.toml", asked),
                ("spread.toml", spread),
                ("maps.txt", note),
            ],
        )
    }
}

fn probabilities(trainer: &mut Trainer, images: &[u32]) -> Result<Vec<Vec<f64>>, Diagnostics> {
    let predicate = predicate(trainer.project(), "digit")?;
    let logits = trainer.model_mut().predict(predicate, images, 1)?;
    let width = logits.len() / images.len().max(1);
    let softmax = |row: &[f32]| {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let exps: Vec<f64> = row.iter().map(|x| f64::from(x - most).exp()).collect();
        let sum: f64 = exps.iter().sum();
        exps.into_iter().map(|e| e / sum).collect()
    };
    Ok(logits.chunks_exact(width.max(1)).map(softmax).collect())
}

impl Shortcut {
    /// All metrics of the predictions for the test images.
    fn measure(&self, said: &[Vec<f64>], finding: &mut Finding) -> Result<(), Diagnostics> {
        let task = self;
        let predicted: Vec<usize> = said.iter().map(|p| largest(p)).collect();
        let certain: Vec<f64> = said.iter().map(|p| p[largest(p)]).collect();
        let known: Vec<usize> = (0..task.rows[1])
            .flat_map(|row| task.concepts(row))
            .map(|c| c as usize)
            .collect();
        let right: Vec<bool> = predicted.iter().zip(&known).map(|(p, k)| p == k).collect();
        let share = |right: usize, of: usize| 100.0 * right as f64 / of.max(1) as f64;
        let rows = predicted.chunks_exact(task.images()).enumerate();
        let labels = rows.filter(|(row, said)| {
            let said: Vec<i64> = said.iter().map(|c| *c as i64).collect();
            (task.label)(&said) == (task.label)(&task.concepts(*row))
        });
        let count = right.iter().filter(|r| **r).count();
        for (metric, value) in [
            (CONCEPTS, share(count, right.len())),
            (LABELS, share(labels.count(), task.rows[1])),
            (COLLAPSE, collapse(&predicted, &known)?),
            (CALIBRATION, 100.0 * calibration_error(&certain, &right)?),
        ] {
            finding.metrics.insert(metric.name.to_string(), value);
        }
        Ok(())
    }
}

impl Experiment for Shortcuts {
    fn about(&self) -> &About {
        &self.about
    }

    fn steps(&self, _: Portion) -> u64 {
        self.steps
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        self.work = folder.to_path_buf();
        if jobs.is_empty() {
            return Ok(());
        }
        let [train, test] = mnist::read(&self.place)?;
        for task in &self.tasks {
            if jobs.iter().any(|job| job.portion.part == Some(task.title)) {
                self.write(task, [&train, &test])?;
            }
        }
        Ok(())
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let task = self.task(job)?;
        let name = job.configuration.name;
        let help = ["-labels", "-spread", "-ensemble"];
        let help = help
            .into_iter()
            .find(|end| name.ends_with(end))
            .unwrap_or("");
        let file = match help {
            "-labels" => "labels.toml",
            "-spread" => "spread.toml",
            _ => "plain.toml",
        };
        let members = if help == "-ensemble" { MEMBERS } else { 1 };
        let first = task.rows[0] * task.images();
        let tested: Vec<u32> = (first..first + task.rows[1] * task.images())
            .map(|i| i as u32)
            .collect();
        let mut mean: Vec<Vec<f64>> = vec![vec![0.0; task.classes]; tested.len()];
        let mut before: Vec<f32> = Vec::new();
        let mut all = Finding::default();
        for number in 0..members {
            let mut project = load(&self.work.join(task.name).join(file))?;
            job.configuration.configure(&mut project, By::Step, 1.0);
            let options = TrainOptions {
                seed: Some(job.seed.wrapping_add(1_000 * number as u64)),
                ..TrainOptions::default()
            };
            let mut trainer = Trainer::new(project, &options)?;
            let everyone: Vec<u32> = (0..trainer.project().data.size(logltn::theory::SortId(0)))
                .map(|i| i as u32)
                .collect();
            if number > 0 {
                trainer.set_apart(Apart {
                    weight: DIVERSITY,
                    members: number,
                    said: [("digit".to_string(), before.clone())].into(),
                });
            }
            let steps = self.steps;
            let Some(found) = train(&mut trainer, steps, progress, |_, _, _| Ok(()))? else {
                return Ok(None);
            };
            (all.sat, all.training) = (found.sat, all.training + found.training);
            for (to, from) in mean.iter_mut().zip(probabilities(&mut trainer, &tested)?) {
                to.iter_mut()
                    .zip(from)
                    .for_each(|(to, p)| *to += p / members as f64);
            }
            if number + 1 < members {
                before.resize(everyone.len() * task.classes, 0.0);
                let said = probabilities(&mut trainer, &everyone)?;
                let to = before.iter_mut().zip(said.iter().flatten());
                to.for_each(|(to, p)| *to += *p as f32);
            }
        }
        task.measure(&mean, &mut all)?;
        Ok(Some(all))
    }
}
