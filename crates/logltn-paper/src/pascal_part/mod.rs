//! Task 3: say what is in the boxes of pictures, and which box is part of which, from 5 % of the labels and 57 rules.

mod annotations;
mod hdf5;
mod measures;
mod project;
mod split;

use std::path::{Path, PathBuf};

use logltn::theory::PredicateId;
use logltn::{Code, ColumnData, Diagnostic, Diagnostics};
use logltn_learn::By;
use logltn_report::{Chart, write_charts};
use logltn_train::project::Project;

use super::configuration::with_prob;
use super::curves::curves;
use super::jobs::{Found, Progress};
use super::record::{Job, Portion, RunRecord};
use super::training::{predicate, train, trainer};
use super::{
    About, CONFIGURATIONS, Configuration, DataKind, Experiment, Metric, Options, data_folders, load,
};
use crate::standin::SceneBox;
use annotations::Annotations;
use measures::{Measures, TestSet};
use project::Look;
use split::{Pairs, Split};

const STEPS: u64 = 1000;
/// The examples come first, the rules after this many steps.
const PRETRAINING: u64 = 100;
/// How often the curves have a point, as in the paper.
const EVERY: u64 = 100;
/// The curves are measured on every so-manieth test picture, the figures of the table on all of them.
const CURVES_ON: usize = 24;
/// Numbers that describe a box.
const WIDTH: usize = 1024;
/// The noise of simulated features. With it, 1,000 steps on 5 % of the labels alone give a balanced type accuracy near
/// the paper's 55 %; docs/notes.md#what-are-pascal-parts-simulated-features has the calibration.
const NOISE: f64 = 3.8;

const METRICS: [Metric; 3] = [
    Metric::greater(
        "partof_ap",
        "average precision of partOf on test pairs, in %",
        2,
    ),
    Metric::greater(
        "type_accuracy",
        "balanced accuracy of types on test boxes, in %",
        2,
    ),
    Metric::smaller("violations", "mereological violations among test pairs", 1),
];
const SIMULATED_METRICS: [Metric; 3] = [
    Metric {
        title: "SIMULATED features: average precision of partOf on test pairs, in %",
        ..METRICS[0]
    },
    Metric {
        title: "SIMULATED features: balanced accuracy of types on test boxes, in %",
        ..METRICS[1]
    },
    Metric {
        title: "SIMULATED features: mereological violations among test pairs",
        ..METRICS[2]
    },
];

/// Where boxes and their features come from.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// The authors' features, with their annotations.
    Hdf5(PathBuf),
    /// Annotations, without features.
    Annotations(PathBuf),
    /// Neither.
    Nowhere,
}

/// The task.
pub(super) struct PascalPart {
    about: About,
    place: Place,
    options: Options,
    steps: u64,
    look: Look,
    loaded: Option<Loaded>,
}

struct Loaded {
    project: Project,
    /// `type` and `part_of`.
    predicates: [PredicateId; 2],
    train: Vec<SceneBox>,
    pairs: Pairs,
    test: TestSet,
    /// Some of the test pictures, for the curves.
    sample: TestSet,
}

impl PascalPart {
    pub fn new(options: &Options) -> Result<PascalPart, Diagnostics> {
        let place = find(options.data.as_deref())?;
        let look = look(options, &place)?;
        if options.pictures == Some(0) {
            return Err(Diagnostic::error(
                Code::ValueOutOfRange,
                "`--pictures 0`: nothing to learn from",
            )
            .into());
        }
        let steps = options.steps.unwrap_or(STEPS);
        let alpha_end = [("alpha_end", options.alpha_end.to_string())];
        let (kind, metrics) = match place {
            Place::Hdf5(_) => (DataKind::Real, &METRICS),
            _ => (DataKind::SimulatedFeatures, &SIMULATED_METRICS),
        };
        let names = ["prod", "stable-2", "stable-6", "logltn"];
        let own = |c: &Configuration| names.contains(&c.name);
        let of_the_paper: Vec<Configuration> = CONFIGURATIONS.into_iter().filter(own).collect();
        let mut about = About {
            configurations: with_prob(&of_the_paper),
            ..About::new(metrics, kind, data_title(&place), alpha_end)
        };
        let mut set = |key: &str, value: String| about.settings.insert(key.into(), value);
        set("steps", steps.to_string());
        let annotations = match place {
            Place::Nowhere => "made up",
            _ => "real",
        };
        set("annotations", annotations.into());
        if !matches!(place, Place::Hdf5(_)) {
            set("noise", look.noise.to_string());
            set("rectified", look.rectified.to_string());
        }
        let all = "all".to_string();
        set("pictures", options.pictures.map_or(all, |n| n.to_string()));
        let axioms = match (options.examples_only, options.released) {
            (true, _) => "examples only",
            (false, true) => "released code's",
            (false, false) => "paper's",
        };
        set("axioms", axioms.into());
        let moved = if options.released { "twice" } else { "once" };
        set("type_network_moved", format!("{moved} a step"));
        Ok(PascalPart {
            about,
            place,
            options: options.clone(),
            steps,
            look,
            loaded: None,
        })
    }

    fn loaded(&self) -> Result<&Loaded, Diagnostics> {
        let missing = || Diagnostic::error(Code::Internal, "the boxes were not read").into();
        self.loaded.as_ref().ok_or_else(missing)
    }

    /// The boxes, their features, and how many numbers each box has.
    fn read(&self) -> Result<(Annotations, Vec<f32>, usize), Diagnostics> {
        let annotations = match &self.place {
            Place::Hdf5(folder) => {
                let [train, test] = hdf5::FILES.map(|name| hdf5::read(&folder.join(name)));
                return self.described(folder, train?, test?);
            }
            Place::Annotations(folder) => {
                let mut annotations = Annotations::read(folder)?;
                if let Some(pictures) = self.options.pictures {
                    annotations.keep(pictures);
                }
                annotations
            }
            Place::Nowhere => Annotations::made_up(self.options.pictures),
        };
        let features = project::simulated(&annotations, WIDTH, self.look);
        Ok((annotations, features, WIDTH))
    }

    /// The same, if features come with the boxes.
    fn described(
        &self,
        folder: &Path,
        train: hdf5::Described,
        test: hdf5::Described,
    ) -> Result<(Annotations, Vec<f32>, usize), Diagnostics> {
        let width = train.width;
        if width != test.width {
            let message = format!(
                "{}: training boxes have {width} features, test boxes {}",
                folder.display(),
                test.width
            );
            return Err(Diagnostic::error(Code::SizesDisagree, message).into());
        }
        let mut annotations = Annotations {
            train: train.boxes,
            test: test.boxes,
        };
        if let Some(pictures) = self.options.pictures {
            annotations.keep(pictures);
        }
        // Boxes lie picture after picture, so the first pictures have the first features.
        let mut features = train.features;
        features.truncate(annotations.train.len() * width);
        let test_numbers = annotations.test.len() * width;
        features.extend(test.features.into_iter().take(test_numbers));
        Ok((annotations, features, width))
    }

    fn write_files(
        &self,
        folder: &Path,
        annotations: &Annotations,
        split: &Split,
    ) -> Result<(), Diagnostics> {
        let manifest = project::manifest(self.steps, self.pretraining());
        let mut files = project::tables(&annotations.train, split);
        files.push((
            "pascal_part.ltn".into(),
            project::theory(self.options.released),
        ));
        files.push(("pascal_part.toml".into(), manifest));
        data_folders::write_files(folder, &files)
    }

    /// Steps on the examples alone.
    fn pretraining(&self) -> u64 {
        match self.options.examples_only {
            true => self.steps,
            false => (self.steps / 10).min(PRETRAINING),
        }
    }
}

/// The authors' features if they are there, else annotations.
fn find(data: Option<&Path>) -> Result<Place, Diagnostics> {
    const NAME: &str = "pascal-part";
    if let Some(folder) = data_folders::find(data, NAME, &hdf5::FILES)? {
        return Ok(Place::Hdf5(folder));
    }
    for (one, other) in [(0, 1), (1, 0)] {
        let [one, other] = [hdf5::FILES[one], hdf5::FILES[other]];
        if let Some(folder) = data_folders::find(data, NAME, &[one])? {
            let message = format!("{}: there is `{one}`, but no `{other}`", folder.display());
            return Err(Diagnostic::error(Code::FileNotFound, message)
                .help("both are needed; without either, features are simulated")
                .into());
        }
    }
    Ok(match data_folders::find(data, NAME, &annotations::FILES)? {
        Some(folder) => Place::Annotations(folder),
        None => Place::Nowhere,
    })
}

/// What simulated features are to look like, if the options make sense.
fn look(options: &Options, place: &Place) -> Result<Look, Diagnostics> {
    let simulates = options.noise.is_some() || options.rectified;
    if let (Place::Hdf5(folder), true) = (place, simulates) {
        let message = "`--noise` and `--rectified` are for simulated features";
        let note = format!("there are real ones in {}", folder.display());
        return Err(Diagnostic::error(Code::FlagDoesNotApply, message)
            .note(note)
            .help("leave the flags out, or name another folder with `--data`")
            .into());
    }
    let noise = options.noise.unwrap_or(NOISE);
    if !(noise >= 0.0 && noise.is_finite()) {
        let message = format!("`--noise {noise}` is not a positive number");
        return Err(Diagnostic::error(Code::ValueOutOfRange, message).into());
    }
    let rectified = options.rectified;
    Ok(Look { noise, rectified })
}

fn data_title(place: &Place) -> String {
    const WHY: &str = "Figures say how configurations compare, not how good they are on pictures";
    match place {
        Place::Hdf5(folder) => format!("real: annotations and features in {}", folder.display()),
        Place::Annotations(folder) => format!(
            "SIMULATED features of the real annotations in {}. {WHY}",
            folder.display()
        ),
        Place::Nowhere => format!(
            "SIMULATED features of made-up pictures. {WHY}; `--data DIR` names a folder with the real annotations in pascal-part/"
        ),
    }
}

impl Experiment for PascalPart {
    fn about(&self) -> &About {
        &self.about
    }

    fn steps(&self, _: Portion) -> u64 {
        self.steps
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        let Some(first) = jobs.first() else {
            return Ok(());
        };
        let (annotations, features, width) = self.read()?;
        let pairs = Pairs::of(&annotations.train);
        let split = Split::draw(&annotations.train, &pairs, first.seed, self.steps);
        // The files go beside the manifest, so that `logltn train` can do the first run.
        self.write_files(folder, &annotations, &split)?;
        project::write_boxes(folder, &annotations, features, width)?;
        let project = load(&folder.join("pascal_part.toml"))?;
        let predicates = [
            predicate(&project, "type")?,
            predicate(&project, "part_of")?,
        ];
        let Annotations { train, test } = annotations;
        let tests = |every: usize| TestSet::new(&test, train.len(), every);
        self.loaded = Some(Loaded {
            project,
            predicates,
            pairs,
            test: tests(1),
            sample: tests(CURVES_ON),
            train,
        });
        Ok(())
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let loaded = self.loaded()?;
        let mut project = loaded.project.clone();
        (job.configuration).configure(&mut project, By::Step, self.options.alpha_end);
        loaded.set_tables(&mut project, job.seed, self.steps)?;
        let mut trainer = trainer(project, job)?;
        if self.options.released {
            // There the list of weights to be trained has those of the type network twice: as its own, and among those
            // of partOf, whose network contains it.
            trainer.move_twice("type");
        }
        let scale = loaded.test.pairs() as f64 / loaded.sample.pairs().max(1) as f64;
        let found = train(&mut trainer, EVERY, progress, |trainer, step, finding| {
            let mut found = loaded.sample.measure(trainer, loaded.predicates)?;
            found.violations *= scale;
            for (metric, value) in METRICS.iter().zip(figures(found)) {
                finding.note(*metric, step as f64, value);
            }
            Ok(())
        })?;
        let Some(mut finding) = found else {
            return Ok(None);
        };
        let found = loaded.test.measure(&mut trainer, loaded.predicates)?;
        for (metric, value) in METRICS.iter().zip(figures(found)) {
            finding.metrics.insert(metric.name.to_string(), value);
        }
        Ok(Some(finding))
    }

    fn draw(
        &self,
        records: &[(Job, RunRecord)],
        folder: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let title = format!(
            "During training, mean over runs, on every {CURVES_ON}th test picture{}",
            match self.about.data {
                DataKind::Real => "",
                _ => ": SIMULATED features",
            }
        );
        let charts: Vec<Chart> = (METRICS.iter().zip(self.about.metrics))
            .map(|(&metric, shown)| {
                let scaled = match metric.smaller_is_better {
                    true => ", scaled up",
                    false => "",
                };
                Chart {
                    title: format!("{} (every {CURVES_ON}th picture{scaled})", shown.title),
                    x_label: "step".into(),
                    y_label: metric.name.into(),
                    curves: curves(
                        records,
                        &self.about.configurations,
                        Portion::default(),
                        metric,
                    ),
                    ..Chart::default()
                }
            })
            .collect();
        write_charts(&charts, &folder.join("curves.svg"))?;
        Ok(vec![(title, "curves.svg".to_string())])
    }
}

/// In the order of [`METRICS`].
fn figures(found: Measures) -> [f64; 3] {
    [found.partof_ap, found.type_accuracy, found.violations]
}

impl Loaded {
    /// Each run has labels of its own, by its seed.
    fn set_tables(&self, project: &mut Project, seed: u64, steps: u64) -> Result<(), Diagnostics> {
        let split = Split::draw(&self.train, &self.pairs, seed, steps);
        let types = (split.labelled.iter()).map(|&x| self.train[x as usize].type_id as u32);
        let types = ColumnData::Individuals(types.collect());
        let pairs = |pairs: &[[u32; 2]]| {
            let column = |i: usize| pairs.iter().map(move |pair| pair[i]).collect();
            [0, 1].map(|i| ColumnData::Individuals(column(i))).to_vec()
        };
        let tables = [
            ("parts", pairs(&split.parts)),
            ("not_parts", pairs(&split.not_parts)),
            ("pairs", pairs(&split.pairs)),
            (
                "labelled",
                vec![ColumnData::Individuals(split.labelled), types],
            ),
        ];
        for (name, columns) in tables {
            project.data.set_rows(name, columns)?;
            project.data.set_batched(name)?;
        }
        Ok(())
    }
}
