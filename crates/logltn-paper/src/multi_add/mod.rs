//! Addition of numbers of many digits: learn to read digits from nothing but sums.
//!
//! Not a task of the paper: the benchmark on which exact systems give up between 4 and 15 digits. Here the existential
//! over all digits and carries is evaluated by elimination, in time linear in the number of digits. With α = 1 it is,
//! up to a constant, the exact logarithm of the probability of the sum.

mod theory;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_report::Curve;
use logltn_train::train::Trainer;

use super::clustering::largest;
use super::curves::{curves, draw_chart};
use super::jobs::{Found, Progress};
use super::mnist::{self, DIGITS};
use super::published::others;
use super::record::{Job, Portion, RunRecord};
use super::training::{predicate, train, trainer};
use super::{
    About, CONFIGURATIONS, Configuration, DataKind, Experiment, Metric, Options, Task,
    data_folders, load,
};
pub use theory::addition_theory;

/// Numbers of digits of the published figures, and one between.
const NUMBERS_OF_DIGITS: [usize; 5] = [1, 2, 4, 8, 15];
const MOST_DIGITS: usize = 100;
/// Of MNIST, for training and for testing.
const IMAGES: [usize; 2] = [60_000, 10_000];
const EPOCHS: u64 = 20;
const QUICK_EPOCHS: u64 = 3;
/// A batch is as many sums as have so many images, but at least one: the network then sees about the same number of
/// images in a step, and makes about the same number of steps, whatever the number of digits.
const BATCH_IMAGES: usize = 64;

const ACCURACY: Metric = Metric::greater(
    "accuracy",
    "accuracy of the whole predicted sum on the test sums, in %",
    2,
);
const DIGIT_ACCURACY: Metric = Metric::greater(
    "digit_accuracy",
    "accuracy of single digits on the same images, in %",
    2,
);
const MINUTES: Metric = Metric::smaller(
    "minutes",
    "minutes of training, without evaluation (by the clock; a run has one core if there are several at once)",
    2,
);

/// `logltn`: from sums alone.
const SUMS: Configuration = CONFIGURATIONS[3];
/// What the network can reach when every digit is labelled: same batches, same schedule.
pub(super) const CEILING: Configuration =
    Configuration::of("ceiling", "the same network, every digit told", "logltn");

/// The task.
pub(super) struct MultiAdd {
    about: About,
    place: PathBuf,
    epochs: u64,
    digits: Vec<usize>,
    /// How many images there are for training and for testing.
    images: [usize; 2],
    /// Where the projects are.
    work: PathBuf,
    test_labels: Vec<usize>,
}

/// How many sums of this many digits can be made if each image is used once.
fn sums(images: usize, digits: usize) -> usize {
    images / (2 * digits)
}

/// All training sums of numbers with this many digits.
fn portion(images: [usize; 2], digits: usize) -> Portion {
    Portion {
        digits: Some(digits),
        ..Portion::of(sums(images[0], digits))
    }
}

/// How many sums of this many digits make a batch: as many as have 64 images, but at least one.
fn addition_batch(digits: usize) -> usize {
    (BATCH_IMAGES / (2 * digits)).max(1)
}

impl MultiAdd {
    pub fn new(options: &Options) -> Result<MultiAdd, Diagnostics> {
        MultiAdd::with_images(options, IMAGES)
    }

    fn with_images(options: &Options, images: [usize; 2]) -> Result<MultiAdd, Diagnostics> {
        let mut digits = match (options.digits.is_empty(), options.quick) {
            (false, _) => options.digits.clone(),
            (true, true) => vec![1, 15],
            (true, false) => NUMBERS_OF_DIGITS.to_vec(),
        };
        digits.sort_unstable();
        digits.dedup();
        if let Some(&strange) = digits.iter().find(|d| !(1..=MOST_DIGITS).contains(*d)) {
            let message =
                format!("`--digits {strange}`: numbers have from 1 to {MOST_DIGITS} digits here");
            return Err(Diagnostic::error(Code::ValueOutOfRange, message).into());
        }
        let default = if options.quick { QUICK_EPOCHS } else { EPOCHS };
        let epochs = options.epochs.unwrap_or(default);
        let own = [
            ("alpha", "1".to_string()),
            ("epochs", epochs.to_string()),
            ("batch", format!("{BATCH_IMAGES} images")),
            ("learning_rate", "0.002 to 0".to_string()),
            ("dropout", "0.4".to_string()),
            ("undecided", "true".to_string()),
        ];
        let place = mnist::find(options.data.as_deref())?;
        let title = format!(
            "real: MNIST in {}; each image in one sum, operand k of row i of n is image k·n + i",
            place.display()
        );
        let about = About::new(
            &[ACCURACY, DIGIT_ACCURACY, MINUTES],
            DataKind::Real,
            title,
            own,
        );
        let portions = digits.iter().map(|d| portion(images, *d));
        Ok(MultiAdd {
            about: About {
                portions: portions.collect(),
                ..about.with_configurations(&[SUMS, CEILING])
            },
            place,
            epochs,
            digits,
            images,
            work: PathBuf::new(),
            test_labels: Vec::new(),
        })
    }

    /// How many test sums of a hundred, and digits of a hundred, come out right when each image shows its likeliest
    /// digit.
    fn accuracy(&self, trainer: &mut Trainer, digits: usize) -> Result<[f64; 2], Diagnostics> {
        let predicate = predicate(trainer.project(), "digit")?;
        let count = sums(self.images[1], digits);
        let used = 2 * digits * count;
        let images: Vec<u32> = (0..used).map(|i| (self.images[0] + i) as u32).collect();
        let logits = (trainer.model_mut()).predict(predicate, &images, 1)?;
        let found: Vec<usize> = logits.chunks_exact(DIGITS).map(largest).collect();
        let sum = |all: &[usize], i| theory::sum_of(&theory::operands(all, digits, count, i));
        let right = (0..count).filter(|&i| sum(&found, i) == sum(&self.test_labels, i));
        let read = (found.iter().zip(&self.test_labels)).filter(|(a, b)| a == b);
        Ok([
            100.0 * right.count() as f64 / count as f64,
            100.0 * read.count() as f64 / used as f64,
        ])
    }
}

/// The network and its training are the same for any number of digits. It starts undecided: with random output weights some
/// runs take each digit for a neighbour from the first steps on, which sums alone hardly tell from the truth.
fn manifest(theory: &str, table: &str, rows: &str, digits: usize, epochs: u64) -> String {
    format!(
        r#"theory = "{theory}"

[sorts.Image]
features = "images.idx"

[tables]
{table} = {{ rows = "{rows}", batch = {} }}

[predicates.digit]
network = {{ layers = [
    {{ conv = [16, 5] }}, "elu", {{ pool = 2 }},
    {{ conv = [32, 5] }}, "elu", {{ pool = 2 }},
    "flatten", {{ dropout = 0.4 }}, {{ dense = 128 }}, "elu", {{ dropout = 0.4 }} ], undecided = true }}
output = "softmax"

[schedule]
alpha = 1

[train]
epochs = {epochs}
optimizer = "adam"
learning_rate = {{ linear = [0.002, 0] }}
"#,
        addition_batch(digits)
    )
}

/// The manifest of a configuration.
fn manifest_name(configuration: Configuration, digits: usize) -> String {
    format!("{}-{digits}.toml", configuration.name)
}

impl Experiment for MultiAdd {
    fn about(&self) -> &About {
        &self.about
    }

    fn steps(&self, portion: Portion) -> u64 {
        let (samples, digits) = (portion.samples.unwrap_or(0), portion.digits.unwrap_or(1));
        self.epochs * samples.div_ceil(addition_batch(digits)) as u64
    }

    fn prepare(&mut self, jobs: &[Job], folder: &Path) -> Result<(), Diagnostics> {
        self.work = folder.to_path_buf();
        if jobs.is_empty() {
            return Ok(());
        }
        let [train, test] = mnist::read(&self.place)?;
        for (there, wanted) in [&train, &test].into_iter().zip(self.images) {
            if there.labels.len() < wanted {
                let message = format!(
                    "{}: {} images, where MNIST has {wanted}",
                    self.place.display(),
                    there.labels.len()
                );
                return Err(Diagnostic::error(Code::NotEnoughData, message).into());
            }
        }
        self.test_labels = test.labels.iter().map(|&l| usize::from(l)).collect();
        let images = mnist::idx([&train, &test], self.images);
        data_folders::write_files(folder, &[("images.idx", &images)])?;
        for &digits in &self.digits {
            let [sums, labels] = theory::rows(&train, digits, sums(self.images[0], digits));
            let name = |what: &str, end: &str| format!("{what}-{digits}.{end}");
            let write = |configuration, table, rows, theory| {
                let [of_theory, of_rows] = ["ltn", "csv"].map(|end| name(table, end));
                let manifest = manifest(&of_theory, table, &of_rows, digits, self.epochs);
                let of_manifest = manifest_name(configuration, digits);
                let files = [
                    (of_theory, theory),
                    (of_rows, rows),
                    (of_manifest, manifest),
                ];
                data_folders::write_files(folder, &files)
            };
            write(SUMS, "sums", sums, addition_theory(digits))?;
            let labelled = theory::labelled_theory(digits);
            write(CEILING, "labelled", labels, labelled)?;
        }
        Ok(())
    }

    fn run(&self, job: &Job, progress: &Progress<'_>) -> Found {
        let digits = (job.portion.digits)
            .ok_or_else(|| Diagnostic::error(Code::Internal, "a run without a number of digits"))?;
        // Read anew for each run: all images of all numbers of digits at once would take gigabytes.
        let project = load(&self.work.join(manifest_name(job.configuration, digits)))?;
        let mut trainer = trainer(project, job)?;
        let per_epoch = trainer.steps_per_epoch();
        let found = train(
            &mut trainer,
            per_epoch,
            progress,
            |trainer, step, finding| {
                let [whole, single] = self.accuracy(trainer, digits)?;
                let epoch = (step / per_epoch) as f64;
                finding.note(ACCURACY, epoch, whole);
                finding.note(DIGIT_ACCURACY, epoch, single);
                Ok(())
            },
        )?;
        Ok(found.map(|mut finding| {
            let minutes = finding.training.as_secs_f64() / 60.0;
            finding.metrics.insert(MINUTES.name.to_string(), minutes);
            finding
        }))
    }

    fn draw(
        &self,
        records: &[(Job, RunRecord)],
        folder: &Path,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let draw = |file: &str, title: String, x_label, curves| {
            draw_chart(folder, file, title, [x_label, "accuracy, %"], curves)
        };
        let mut drawn = Vec::new();
        if self.digits.len() > 1 {
            let title = "Accuracy of the whole sum by the number of digits".to_string();
            let curves = self.by_digits(records);
            drawn.push(draw("digits.svg", title, "digits of each number", curves)?);
        }
        for (digits, &portion) in self.digits.iter().zip(&self.about.portions) {
            let title = format!(
                "Accuracy of the whole sum during training, {digits} digits, mean over runs"
            );
            let curves = curves(records, &self.about.configurations, portion, ACCURACY);
            drawn.push(draw(
                &format!("curves-{digits}.svg"),
                title,
                "epoch",
                curves,
            )?);
        }
        Ok(drawn)
    }
}

impl MultiAdd {
    /// A line for each configuration and each published system.
    fn by_digits(&self, records: &[(Job, RunRecord)]) -> Vec<Curve> {
        let mut series: BTreeMap<(usize, &str), Vec<(f64, f64)>> = BTreeMap::new();
        for (&digits, &portion) in self.digits.iter().zip(&self.about.portions) {
            for (at, &configuration) in self.about.configurations.iter().enumerate() {
                let values: Vec<f64> = (records.iter())
                    .filter(|(j, _)| j.configuration == configuration && j.portion == portion)
                    .filter_map(|(_, record)| record.metrics.get(ACCURACY.name).copied())
                    .collect();
                if !values.is_empty() {
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    let points = series.entry((at, configuration.name)).or_default();
                    points.push((digits as f64, mean));
                }
            }
            for other in others(Task::MultiAdd, portion.samples, ACCURACY.name) {
                if let Some(figure) = other.figure {
                    let points = series.entry((usize::MAX, other.name)).or_default();
                    points.push((digits as f64, figure.mean));
                }
            }
        }
        (series.into_iter())
            .map(|((_, name), points)| Curve {
                name: name.to_string(),
                points,
                ..Curve::default()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::Quiet;
    use super::super::jobs::run_all;
    use super::*;

    #[test]
    fn batches_have_about_as_many_images_whatever_the_digits() {
        let images = |digits| 2 * digits * addition_batch(digits);
        assert_eq!([1, 2, 4, 8, 15].map(images), [64, 64, 64, 64, 60]);
        assert_eq!(addition_batch(100), 1);
        assert_eq!(SUMS.name, "logltn");
        // Sizes tell numbers of digits apart.
        let sizes: Vec<usize> = (1..=MOST_DIGITS).map(|d| sums(IMAGES[0], d)).collect();
        assert!(sizes.windows(2).all(|pair| pair[0] > pair[1]));
    }

    /// A few images, few steps: enough to see that every part does its own.
    #[test]
    fn a_small_table_from_images_to_pictures() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
        let options = Options {
            digits: vec![1, 3],
            epochs: Some(3),
            data: Some(data),
            ..Options::default()
        };
        let mut task =
            MultiAdd::with_images(&options, [510, 120]).expect("MNIST is in the repository");
        let [one, three] = task.about.portions[..] else {
            panic!("{:?}", task.about.portions)
        };
        assert_eq!([one, three].map(|p| p.samples), [Some(255), Some(85)]);
        assert_eq!([one, three].map(|p| p.digits), [Some(1), Some(3)]);
        // 8 batches of 32 sums, and 9 of 10.
        assert_eq!([one, three].map(|p| task.steps(p)), [3 * 8, 3 * 9]);
        let job = |configuration, portion| Job {
            configuration,
            portion,
            run: 0,
            seed: 1,
        };
        let jobs = [job(CEILING, one), job(SUMS, three)];
        let folder = tempfile::tempdir().expect("a folder");
        task.prepare(&jobs, folder.path()).expect("files");
        let stop = AtomicBool::new(false);
        let mut records = run_all(&task, &jobs, folder.path(), &stop, &Quiet).expect("two runs");
        records.sort_by_key(|(job, _)| job.portion.digits);
        let [(_, labelled), (_, summed)] = &records[..] else {
            panic!("{records:?}")
        };
        // A guess is right in 10 % of the digits.
        let read = labelled.metrics[DIGIT_ACCURACY.name];
        assert!(read > 20.0, "{labelled:?}");
        assert!(labelled.metrics[ACCURACY.name] > 0.0, "{labelled:?}");
        // Six digits that are guessed have a log truth of 6 log 0.1 = −13.8.
        assert!((-15.0..0.0).contains(&summed.sat), "{summed:?}");
        for record in [labelled, summed] {
            assert!(record.metrics[MINUTES.name] > 0.0);
            assert_eq!(record.curves[ACCURACY.name].len(), 3);
        }
        let drawn = task.draw(&records, folder.path()).expect("pictures");
        let names: Vec<&str> = drawn.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["digits.svg", "curves-1.svg", "curves-3.svg"]);
    }
}
