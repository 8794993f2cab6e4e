//! CLUTRR's stories of families: rules are learnt from short stories and answer longer ones. Not a task of the paper.
//!
//! There are two sets, trained on stories of 2 and 3 steps and on 2 to 4; how many stories there are to learn from tells them apart. The
//! steps of a story are given, in its order. Without CLUTRR the stories are made up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, Parameters};
use logltn_data::CsvFile;
use logltn_examples::stories::{Stories as Project, THEORY};
use logltn_standin::{Family, Story};

use super::jobs::{Found, Progress};
use super::published::{Other, cited};
use super::record::{Job, Portion};
use super::training::{train, trainer};
use super::{About, Configuration, DataKind, Experiment, Metric, Options, data_folders, load};

/// Stories of this many steps are asked.
const STEPS: [usize; 9] = [2, 3, 4, 5, 6, 7, 8, 9, 10];

/// In the order of [`STEPS`].
#[rustfmt::skip]
const METRICS: [Metric; 9] = [
    Metric::greater("steps_2", "stories of 2 steps that are answered right, in %", 1),
    Metric::greater("steps_3", "stories of 3 steps that are answered right, in %", 1),
    Metric::greater("steps_4", "stories of 4 steps that are answered right, in %", 1),
    Metric::greater("steps_5", "stories of 5 steps that are answered right, in %", 1),
    Metric::greater("steps_6", "stories of 6 steps that are answered right, in %", 1),
    Metric::greater("steps_7", "stories of 7 steps that are answered right, in %", 1),
    Metric::greater("steps_8", "stories of 8 steps that are answered right, in %", 1),
    Metric::greater("steps_9", "stories of 9 steps that are answered right, in %", 1),
    Metric::greater("steps_10", "stories of 10 steps that are answered right, in %", 1),
];

pub(super) const ALL: [Configuration; 1] = [Configuration::of(
    "stories",
    "rules that are learnt",
    "logltn",
)];

/// The surest ways to put a story together count most, in training and in answering: what is said of pairs that have no word (a wife's
/// brother) is never sure, and matters little.
const ALPHA: f64 = 2.0;

/// A set: its folder, the file to learn from, how many stories that has, and the steps they have.
struct Set {
    folder: &'static str,
    train: &'static str,
    stories: usize,
    steps: &'static [usize],
}

const SETS: [Set; 2] = [
    Set {
        folder: "089907f8",
        train: "1.2,1.3_train.csv.gz",
        stories: 10_094,
        steps: &[2, 3],
    },
    Set {
        folder: "db9b8f04",
        train: "1.2,1.3,1.4_train.csv.gz",
        stories: 15_083,
        steps: &[2, 3, 4],
    },
];

/// Where figures of others were read; the first set has the first, the second the others.
const SOURCES: [&str; 3] = [
    "[1] Minervini et al. 2020 (CTP with attention), as on paperswithcode.com",
    "[2] github.com/uclnlp/ctp, README.md, one run with linear reformulators",
    "[3] github.com/alex4321/ctp, README.md, one run with memory",
];

/// A system, the place of its set, and its accuracy by [`STEPS`] where that was reported.
#[rustfmt::skip] // a table reads better than a column
const OTHERS: [(&str, usize, [f64; 9]); 3] = [
    ("CTP [1]", 0, [f64::NAN, f64::NAN, 99.0, 99.0, 99.0, 96.0, 94.0, 89.0, 90.0]),
    ("CTP [2]", 1, [100.0, 72.0, 74.0, 97.8, 96.2, 98.1, 97.8, 94.4, 89.3]),
    ("CTP [3]", 1, [100.0, 95.3, 94.8, 99.5, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN]),
];

/// How many made-up stories of each length are asked.
const MADE_UP: usize = 100;

/// The stories of a set.
struct Told {
    learnt: Vec<Story>,
    asked: Vec<Story>,
    words: Vec<String>,
}

/// The task.
pub(super) struct Stories {
    about: About,
    place: Option<PathBuf>,
    steps: u64,
    told: Vec<Option<Told>>,
    work: PathBuf,
}

impl Stories {
    pub fn new(options: &Options) -> Result<Stories, Diagnostics> {
        let files = SETS.map(|set| format!("{}/{}", set.folder, set.train));
        let files = files.each_ref().map(String::as_str);
        // The folder itself may be named, too.
        let itself = options.data.as_deref().filter(|given| {
            let whole = |file: &&str| given.join(file).is_file();
            files.iter().all(whole)
        });
        let place = match itself {
            Some(given) => Some(given.to_path_buf()),
            None => data_folders::find(options.data.as_deref(), "clutrr", &files)?,
        };
        if let (Some(data), None) = (&options.data, &place) {
            let what = format!("{}: there is no CLUTRR", data.display());
            let help = format!(
                "it holds `clutrr/{}` and the other files, or leave out `--data` for made-up stories",
                files[0]
            );
            return Err(Diagnostic::error(Code::FileNotFound, what)
                .help(help)
                .into());
        }
        let steps = options.steps.unwrap_or(300);
        let title = match &place {
            Some(place) => format!(
                "real: CLUTRR in {}, the steps of each story given",
                place.display()
            ),
            None => "made-up stories, a tenth as many; CLUTRR was not found".to_string(),
        };
        let own = [("steps", steps.to_string())];
        let sets = if options.quick { &SETS[..1] } else { &SETS };
        Ok(Stories {
            about: About {
                portions: sets.iter().map(|set| Portion::of(set.stories)).collect(),
                sources: SOURCES.map(String::from).to_vec(),
                ..About::new(&METRICS, DataKind::at(&place), title, own).with_configurations(&ALL)
            },
            place,
            steps,
            told: Vec::new(),
            work: PathBuf::new(),
        })
    }

    fn read(&self, number: usize) -> Result<Told, Diagnostics> {
        let set = &SETS[number];
        let (learnt, asked) = match &self.place {
            Some(place) => {
                let folder = place.join(set.folder);
                let mut asked = Vec::new();
                for steps in STEPS {
                    asked.extend(read(&folder.join(format!("1.{steps}_test.csv.gz")))?);
                }
                (read(&folder.join(set.train))?, asked)
            }
            None => {
                let (family, seed) = (Family::new(), number as u64);
                let each = set.stories / 10 / set.steps.len();
                let learnt = set.steps.iter().map(|steps| (2 * seed, *steps, each));
                let asked = STEPS.iter().map(|steps| (2 * seed + 1, *steps, MADE_UP));
                let [learnt, asked] = [learnt.collect::<Vec<_>>(), asked.collect()].map(|all| {
                    let each = all.into_iter();
                    each.flat_map(|(seed, steps, count)| family.stories(seed, steps, count))
                        .collect()
                });
                (learnt, asked)
            }
        };
        let words: BTreeSet<&String> = (learnt.iter().chain(&asked))
            .flat_map(|story: &Story| story.told.iter().chain([&story.answer]))
            .collect();
        Ok(Told {
            words: words.into_iter().cloned().collect(),
            learnt,
            asked,
        })
    }
}

/// The stories of a file of CLUTRR.
fn read(path: &Path) -> Result<Vec<Story>, Diagnostics> {
    let name = path.display().to_string();
    let file = CsvFile::parse(&logltn_data::read_unpacked(path)?, &name)?;
    let [told, answer] = ["edge_types", "target"].map(|column| file.column_index(column));
    let (told, answer) = (told?, answer?);
    let mut stories = Vec::with_capacity(file.rows());
    for row in 0..file.rows() {
        // `['sister', 'daughter']`
        let cell = file.cell(row, told).split('\'');
        let words: Vec<String> = cell.skip(1).step_by(2).map(str::to_string).collect();
        if words.is_empty() {
            let what = format!(
                "{}: `{}` is no list of words in quotes",
                file.place(row, told),
                file.cell(row, told)
            );
            return Err(Diagnostic::error(Code::MalformedCsv, what).into());
        }
        stories.push(Story {
            told: words,
            answer: file.cell(row, answer).to_string(),
        });
    }
    Ok(stories)
}

/// Each step sees other stories, so seeds differ.
fn manifest(steps: u64) -> String {
    format!(
        r#"theory = "stories.ltn"
semantics = "logltn"

[sorts.Story]
individuals = "stories.txt"
[sorts.Kin]
individuals = "kin.txt"

[tables]
spans   = {{ rows = "spans.csv" }}
answers = {{ rows = "answers.csv", batch = 512 }}

[predicates.rule]
args = ["first", "second", "is"]
learnable = true
output = "softmax"

[schedule]
alpha = {ALPHA}

[train]
steps = {steps}
optimizer = "sgd"
learning_rate = 30
"#
    )
}

impl Experiment for Stories {
    fn about(&self) -> &About {
        &self.about
    }

    fn others(&self, metric: &str) -> Vec<Other> {
        let at = METRICS.iter().position(|m| m.name == metric).unwrap_or(0);
        let own = OTHERS.iter().filter(|(.., figures)| !figures[at].is_nan());
        own.map(|(name, set, figures)| cited(name, SETS[*set].stories, figures[at], 1))
            .collect()
    }

    fn steps(&self, _: Portion) -> u64 {
        self.steps
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        self.work = folder.to_path_buf();
        for (number, set) in SETS.iter().enumerate() {
            if !jobs
                .iter()
                .any(|job| job.portion == Portion::of(set.stories))
            {
                self.told.push(None);
                continue;
            }
            let told = self.read(number)?;
            let words: Vec<&str> = told.words.iter().map(String::as_str).collect();
            let files = Project::new(&words, &told.learnt, &told.asked).files();
            let place = folder.join(set.folder);
            data_folders::make_folder(&place)?;
            let files = files.iter().map(|file| (file.name, &file.bytes));
            data_folders::write_files(&place, &files.collect::<Vec<_>>())?;
            let manifest = manifest(self.steps);
            let texts = [("stories.ltn", THEORY), ("stories.toml", &manifest)];
            data_folders::write_files(&place, &texts)?;
            self.told.push(Some(told));
        }
        Ok(())
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let number = SETS
            .iter()
            .position(|set| Portion::of(set.stories) == job.portion);
        let (set, told) = (number.and_then(|n| Some((&SETS[n], self.told.get(n)?.as_ref()?))))
            .ok_or_else(|| Diagnostic::error(Code::Internal, "a run without stories"))?;
        let project = load(&self.work.join(set.folder).join("stories.toml"))?;
        let mut trainer = trainer(project, job)?;
        let Some(mut finding) = train(&mut trainer, self.steps, progress, |_, _, _| Ok(()))? else {
            return Ok(None);
        };
        let words: Vec<&str> = told.words.iter().map(String::as_str).collect();
        let parameters = Parameters {
            alpha: ALPHA,
            ..Parameters::default()
        };
        let project = Project::new(&words, &told.learnt, &told.asked);
        let said = project.answers(&mut trainer, &parameters)?;
        for (steps, metric) in STEPS.iter().zip(METRICS) {
            let asked = told.asked.iter().zip(&said);
            let own: Vec<bool> = asked
                .filter(|(story, _)| story.told.len() == *steps)
                .map(|(story, said)| story.answer == words[*said])
                .collect();
            let right = own.iter().filter(|right| **right).count();
            let share = 100.0 * right as f64 / own.len().max(1) as f64;
            finding.metrics.insert(metric.name.to_string(), share);
        }
        Ok(Some(finding))
    }
}
