//! Task 1: sort the samples of the gene expression data into five clusters, by three axioms and no label.

use std::path::{Path, PathBuf};

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::{CsvFile, read_bytes};
use logltn_learn::By;
use logltn_learn::metrics::adjusted_rand_index;
use logltn_report::{ScatterPanel, pca_2d, write_scatter};
use logltn_train::project::{Features, Project};

use super::curves::{curves, draw_chart};
use super::jobs::{Found, Progress};
use super::record::{Job, Portion, RunRecord};
use super::training::{predicate, train, trainer};
use super::{About, DataKind, Experiment, Metric, Options, data_folders, load};
use crate::standin::files::clustering_project;

const STEPS: u64 = 1000;
/// How often the curve has a point.
const EVERY: u64 = 50;
const CLUSTERS: usize = 5;
const FILES: [&str; 2] = ["pca_16d.csv", "labels.csv"];
const ARI: Metric = Metric::greater("ari", "adjusted Rand index", 2);

/// The task.
pub(super) struct Clustering {
    about: About,
    /// The real data, if they are there.
    place: Option<PathBuf>,
    percentile: f64,
    alpha_end: f64,
    steps: u64,
    loaded: Option<Loaded>,
}

struct Loaded {
    project: Project,
    predicate: PredicateId,
    points: Vec<(f64, f64)>,
    labels: Vec<usize>,
    /// The names of the true classes.
    names: Vec<String>,
}

impl Clustering {
    pub fn new(options: &Options) -> Result<Clustering, Diagnostics> {
        let percentile = options.percentile;
        if !(percentile > 0.0 && percentile < 100.0) {
            return Err(Diagnostic::error(
                Code::ValueOutOfRange,
                format!("`--percentile {percentile}` is not between 0 and 100"),
            )
            .help("the paper has 2.5, its authors' released code 5")
            .into());
        }
        let place = data_folders::find(options.data.as_deref(), "tcga", &FILES)?;
        let steps = options.steps.unwrap_or(STEPS);
        let own = [
            ("alpha_end", options.alpha_end.to_string()),
            ("percentile", percentile.to_string()),
            ("steps", steps.to_string()),
        ];
        let title = match &place {
            Some(place) => format!("real: gene expression in {}", place.display()),
            None => "STAND-IN: 801 points made up from figures of the gene expression data. \
                     Not to be compared with the paper; `--data DIR` names a folder with the real ones in tcga/"
                .to_string(),
        };
        Ok(Clustering {
            about: About::new(&[ARI], DataKind::at(&place), title, own),
            place,
            percentile,
            alpha_end: options.alpha_end,
            steps,
            loaded: None,
        })
    }

    /// The manifest of `theories/`, with this table's numbers.
    fn manifest(&self) -> String {
        format!(
            r#"theory = "clustering.ltn"

[sorts.Point]
features = "points.csv"
labels = {{ file = "labels.csv", column = "Class" }}

[params]
near = {{ percentile = {:?}, of = "dist(Point, Point)" }}

[predicates.C]
network = {{ mlp = [16, 16, 16], activation = "elu" }}
output = "softmax"

[train]
steps = {}
optimizer = "adam"
learning_rate = 0.002
"#,
            self.percentile, self.steps
        )
    }

    fn loaded(&self) -> Result<&Loaded, Diagnostics> {
        let missing =
            || Diagnostic::error(Code::Internal, "the clustering data were not read").into();
        self.loaded.as_ref().ok_or_else(missing)
    }
}

impl Experiment for Clustering {
    fn about(&self) -> &About {
        &self.about
    }

    fn steps(&self, _: Portion) -> u64 {
        self.steps
    }

    fn prepare(&mut self, _: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        // The files go beside the manifest, so that `logltn train` can run what was run here.
        let embedded = clustering_project();
        let bytes = |path: &str| -> Vec<u8> {
            let file = embedded.iter().find(|file| file.path == path);
            file.map_or(Vec::new(), |file| file.bytes.clone())
        };
        let [points, labels] = match &self.place {
            Some(place) => {
                let [points, labels] = FILES.map(|name| read_bytes(&place.join(name)));
                [points?, labels?]
            }
            None => [
                bytes("clustering/points.csv"),
                bytes("clustering/labels.csv"),
            ],
        };
        let manifest = self.manifest();
        data_folders::write_files(
            folder,
            &[
                ("clustering.ltn", &bytes("clustering.ltn")[..]),
                ("points.csv", &points),
                ("labels.csv", &labels),
                ("clustering.toml", manifest.as_bytes()),
            ],
        )?;
        let project = load(&folder.join("clustering.toml"))?;
        let sort = (project.theory().sort("Point"))
            .ok_or_else(|| Diagnostic::error(Code::Internal, "the theory has no `Point`"))?;
        let predicate = predicate(&project, "C")?;
        let features = Features::of(&project.features_of(sort)?);
        let file = CsvFile::read(&folder.join("labels.csv"))?;
        let (names, labels) = numbered(&file.labels(file.column_index("Class")?)?);
        self.loaded = Some(Loaded {
            points: pca_2d(&features.values, features.width)?,
            names,
            labels,
            predicate,
            project,
        });
        Ok(())
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let loaded = self.loaded()?;
        let mut project = loaded.project.clone();
        (job.configuration).configure(&mut project, By::Step, self.alpha_end);
        let mut trainer = trainer(project, job)?;
        let everybody: Vec<u32> = (0..loaded.labels.len() as u32).collect();
        train(&mut trainer, EVERY, progress, |trainer, step, finding| {
            let logits = (trainer.model_mut()).predict(loaded.predicate, &everybody, 1)?;
            finding.classes = logits.chunks_exact(CLUSTERS).map(largest).collect();
            let ari = adjusted_rand_index(&finding.classes, &loaded.labels)
                .map_err(|error| Diagnostic::error(Code::MetricUndefined, error.to_string()))?;
            finding.note(ARI, step as f64, ari);
            Ok(())
        })
    }

    fn draw(
        &self,
        records: &[(Job, RunRecord)],
        folder: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let loaded = self.loaded()?;
        let mut panels = Vec::new();
        for &configuration in &self.about.configurations {
            let mut own: Vec<&RunRecord> = (records.iter())
                .filter(|(job, _)| job.configuration == configuration)
                .map(|(_, record)| record)
                .collect();
            let ari = |record: &RunRecord| record.metrics.get(ARI.name).copied().unwrap_or(0.0);
            own.sort_by(|a, b| ari(a).total_cmp(&ari(b)));
            // The paper shows a "typical" run: here that is the one in the middle.
            let Some(typical) = own.get((own.len().max(1) - 1) / 2) else {
                continue;
            };
            panels.push(ScatterPanel {
                title: format!("{}: ARI {:.2}", configuration.name, ari(typical)),
                points: loaded.points.clone(),
                class: typical.classes.clone(),
                class_names: (0..CLUSTERS).map(|c| c.to_string()).collect(),
                ..ScatterPanel::default()
            });
        }
        panels.push(ScatterPanel {
            title: "the true classes".into(),
            points: loaded.points.clone(),
            class: loaded.labels.clone(),
            class_names: loaded.names.clone(),
            ..ScatterPanel::default()
        });
        let title = match self.about.data {
            DataKind::Real => "Clusters of the median run (2-D PCA)",
            _ => "Clusters of the median run (2-D PCA), stand-in data",
        };
        write_scatter(&panels, 4, title, &folder.join("assignments.svg"))?;
        let learning = draw_chart(
            folder,
            "curves.svg",
            "Adjusted Rand index during training, mean over runs".into(),
            ["step", "ARI"],
            curves(records, &self.about.configurations, Portion::default(), ARI),
        )?;
        Ok(vec![
            (title.to_string(), "assignments.svg".to_string()),
            learning,
        ])
    }
}

/// The names that occur, and the number among them of each.
fn numbered(labels: &[String]) -> (Vec<String>, Vec<usize>) {
    let mut names: Vec<String> = Vec::new();
    let mut number = |label: &String| {
        let known = names.iter().position(|name| name == label);
        known.unwrap_or_else(|| {
            names.push(label.clone());
            names.len() - 1
        })
    };
    let numbers = labels.iter().map(&mut number).collect();
    (names, numbers)
}

/// The place of the largest number.
pub(super) fn largest(numbers: &[f32]) -> usize {
    let better = |best: usize, k: usize| if numbers[k] > numbers[best] { k } else { best };
    (1..numbers.len()).fold(0, better)
}
