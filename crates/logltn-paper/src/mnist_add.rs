//! Task 2: learn to read digits from the sums of two-digit numbers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::theory::PredicateId;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_learn::By;
use logltn_train::project::Project;
use logltn_train::train::Trainer;

use super::clustering::largest;
use super::curves::{curves, draw_chart};
use super::jobs::{Found, Progress};
use super::mnist::{self, DIGITS, Digits};
use super::record::{Job, Portion, RunRecord};
use super::training::{predicate, train, trainer};
use super::{About, DataKind, Experiment, Metric, Options, data_folders, load};

const SAMPLES: [usize; 2] = [1_500, 15_000];
const EPOCHS: u64 = 20;
const BATCH: usize = 32;
/// Two numbers of two digits.
const OPERANDS: usize = 4;
const TEST_SUMS: usize = 2_500;
const ACCURACY: Metric = Metric::greater(
    "accuracy",
    "accuracy of the predicted sum on 2,500 test sums, in %",
    2,
);
const THEORY: &str = include_str!("../theories/mnist_add.ltn");

/// The task.
pub(super) struct MnistAdd {
    about: About,
    place: PathBuf,
    alpha_end: f64,
    undecided: bool,
    epochs: u64,
    samples: Vec<usize>,
    /// By the number of samples.
    loaded: BTreeMap<usize, Loaded>,
}

struct Loaded {
    project: Project,
    predicate: PredicateId,
    /// The images of all test sums: those of the first operand, then of the second, and so on.
    test_images: Vec<u32>,
    /// What the test sums add up to.
    test_sums: Vec<usize>,
}

impl MnistAdd {
    pub fn new(options: &Options) -> Result<MnistAdd, Diagnostics> {
        let place = mnist::find(options.data.as_deref())?;
        let mut samples = match (options.samples.is_empty(), options.quick) {
            (false, _) => options.samples.clone(),
            (true, true) => vec![SAMPLES[0]],
            (true, false) => SAMPLES.to_vec(),
        };
        samples.sort_unstable();
        samples.dedup();
        if samples.first() == Some(&0) {
            return Err(Diagnostic::error(
                Code::ValueOutOfRange,
                "`--samples 0`: nothing to learn from",
            )
            .into());
        }
        let epochs = options.epochs.unwrap_or(EPOCHS);
        let own = [
            ("alpha_end", options.alpha_end.to_string()),
            ("epochs", epochs.to_string()),
            ("undecided", options.undecided.to_string()),
        ];
        let title = format!("real: MNIST in {}", place.display());
        Ok(MnistAdd {
            about: About {
                portions: samples.iter().map(|n| Portion::of(*n)).collect(),
                ..About::new(&[ACCURACY], DataKind::Real, title, own)
            },
            place,
            alpha_end: options.alpha_end,
            undecided: options.undecided,
            epochs,
            samples,
            loaded: BTreeMap::new(),
        })
    }
}

/// The sums of `count` rows: operand k of row i is the image `k * count + i`.
fn sums(digits: &Digits, count: usize) -> Vec<usize> {
    let digit = |k: usize, i: usize| usize::from(digits.labels[k * count + i]);
    (0..count)
        .map(|i| 10 * digit(0, i) + digit(1, i) + 10 * digit(2, i) + digit(3, i))
        .collect()
}

fn at_least(digits: &Digits, count: usize, what: &str) -> Result<(), Diagnostics> {
    let there = digits.labels.len();
    if there >= count {
        return Ok(());
    }
    Err(Diagnostic::error(
        Code::NotEnoughData,
        format!("{what} need {count} images, but there are {there}"),
    )
    .help(format!("at most {} are possible", there / OPERANDS))
    .into())
}

fn manifest(samples: usize, epochs: u64, undecided: bool) -> String {
    format!(
        r#"theory = "mnist_add.ltn"

[sorts.Image]
features = "images-{samples}.idx"

[tables]
sums = {{ rows = "sums-{samples}.csv", batch = {BATCH} }}

[predicates.digit]
network = {{ layers = [
    {{ conv = [6, 5] }}, "elu", {{ pool = 2 }},
    {{ conv = [16, 5] }}, "elu", {{ pool = 2 }},
    "flatten", {{ dense = 100 }}, "elu", {{ dense = 84 }}, "elu" ], undecided = {undecided} }}
output = "softmax"

[train]
epochs = {epochs}
optimizer = "adam"
learning_rate = 0.001
"#
    )
}

impl Experiment for MnistAdd {
    fn about(&self) -> &About {
        &self.about
    }

    fn steps(&self, portion: Portion) -> u64 {
        self.epochs * portion.samples.unwrap_or(0).div_ceil(BATCH) as u64
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        let wanted: Vec<usize> = (self.samples.iter().copied())
            .filter(|&n| jobs.iter().any(|job| job.portion.samples == Some(n)))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let [train, test] = mnist::read(&self.place)?;
        at_least(&test, OPERANDS * TEST_SUMS, "2,500 test sums")?;
        let largest = wanted.iter().copied().max().unwrap_or(0);
        at_least(
            &train,
            OPERANDS.saturating_mul(largest),
            &format!("{largest} samples"),
        )?;
        for samples in wanted {
            let mut rows = "x1,x2,y1,y2,n\n".to_string();
            for (i, sum) in sums(&train, samples).into_iter().enumerate() {
                let [a, b, c, d] = [0, 1, 2, 3].map(|k| k * samples + i);
                rows += &format!("{a},{b},{c},{d},{sum}\n");
            }
            let images = mnist::idx([&train, &test], [OPERANDS * samples, OPERANDS * TEST_SUMS]);
            let manifest_name = format!("mnist_add-{samples}.toml");
            let manifest = manifest(samples, self.epochs, self.undecided);
            let files = [
                ("mnist_add.ltn".to_string(), THEORY.as_bytes()),
                (format!("images-{samples}.idx"), &images),
                (format!("sums-{samples}.csv"), rows.as_bytes()),
                (manifest_name.clone(), manifest.as_bytes()),
            ];
            data_folders::write_files(folder, &files)?;
            let project = load(&folder.join(manifest_name))?;
            let predicate = predicate(&project, "digit")?;
            let first = (OPERANDS * samples) as u32;
            let loaded = Loaded {
                project,
                predicate,
                test_images: (first..first + (OPERANDS * TEST_SUMS) as u32).collect(),
                test_sums: sums(&test, TEST_SUMS),
            };
            self.loaded.insert(samples, loaded);
        }
        Ok(())
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let loaded = (self.loaded.get(&job.portion.samples.unwrap_or(0)))
            .ok_or_else(|| Diagnostic::error(Code::Internal, "the images were not read"))?;
        let mut project = loaded.project.clone();
        (job.configuration).configure(&mut project, By::Epoch, self.alpha_end);
        let mut trainer = trainer(project, job)?;
        let per_epoch = trainer.steps_per_epoch();
        train(
            &mut trainer,
            per_epoch,
            progress,
            |trainer, step, finding| {
                let accuracy = loaded.accuracy(trainer)?;
                finding.note(ACCURACY, (step / per_epoch) as f64, accuracy);
                Ok(())
            },
        )
    }

    fn draw(
        &self,
        records: &[(Job, RunRecord)],
        folder: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let draw = |samples: &usize| {
            let of = curves(
                records,
                &self.about.configurations,
                Portion::of(*samples),
                ACCURACY,
            );
            draw_chart(
                folder,
                &format!("curves-{samples}.svg"),
                format!(
                    "Accuracy on the test sums during training, {samples} samples, mean over runs"
                ),
                ["epoch", "accuracy, %"],
                of,
            )
        };
        self.samples.iter().map(draw).collect()
    }
}

impl Loaded {
    /// How many test sums of a hundred come out right when each image shows its likeliest digit.
    fn accuracy(&self, trainer: &mut Trainer) -> Result<f64, Diagnostics> {
        let logits = (trainer.model_mut()).predict(self.predicate, &self.test_images, 1)?;
        let digits: Vec<usize> = logits.chunks_exact(DIGITS).map(largest).collect();
        let sum = |i: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| digits[k * TEST_SUMS + i]);
            10 * a + b + 10 * c + d
        };
        let right = (self.test_sums.iter().enumerate()).filter(|&(i, &known)| sum(i) == known);
        Ok(100.0 * right.count() as f64 / TEST_SUMS as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_take_their_own_stretch_of_the_images() {
        let digits = Digits {
            images: Vec::new(),
            labels: vec![1, 2, 3, 4, 5, 6, 7, 8],
            shape: [28, 28],
        };
        // Rows: 13 + 57 and 24 + 68.
        assert_eq!(sums(&digits, 2), [70, 92]);
        assert!(at_least(&digits, 8, "2 samples").is_ok());
        let error = at_least(&digits, 12, "3 samples").unwrap_err().to_string();
        assert!(error.contains("3 samples need 12 images") && error.contains("at most 2"));
    }
}
