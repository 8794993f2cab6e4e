//! The figures of the paper's tables, in the units of the paper: adjusted Rand index from 0 to 1, accuracy in percent.

use std::fmt;

use super::Task;

/// A mean over runs with its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
}

/// A system that the paper compares with, by the figures its own authors give.
#[derive(Clone, Debug)]
pub struct Other {
    /// What it is called.
    pub name: &'static str,
    pub(super) samples: usize,
    pub(super) figure: Option<Figure>,
}

/// What the authors of another system say of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub mean: f64,
    /// Not known for all.
    pub sd: Option<f64>,
    /// Digits after the point.
    pub digits: usize,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits;
        write!(f, "{:.digits$}", self.mean)?;
        self.sd.map_or(Ok(()), |sd| write!(f, " ± {sd:.digits$}"))
    }
}

const fn other(name: &'static str, samples: usize, mean: f64, sd: f64) -> Other {
    of(name, samples, mean, Some(sd), 2)
}

/// As others cite it, without a standard deviation.
pub(super) const fn cited(name: &'static str, samples: usize, mean: f64, digits: usize) -> Other {
    of(name, samples, mean, None, digits)
}

const fn of(
    name: &'static str,
    samples: usize,
    mean: f64,
    sd: Option<f64>,
    digits: usize,
) -> Other {
    let figure = Some(Figure { mean, sd, digits });
    Other {
        name,
        samples,
        figure,
    }
}

const fn figure(mean: f64, sd: f64) -> Published {
    Published { mean, sd }
}

/// The paper's first table: configuration, clustering, MNISTAdd with 1,500 and with 15,000 samples.
#[rustfmt::skip] // a table reads better than a column
const RESULTS: [(&str, [Published; 3]); 7] = [
    ("prod", [figure(0.37, 0.18), figure(88.39, 0.97), figure(95.39, 0.33)]),
    ("stable-2", [figure(0.71, 0.10), figure(62.77, 37.16), figure(80.34, 32.82)]),
    ("stable-6", [figure(0.62, 0.05), figure(30.51, 34.19), figure(95.12, 0.62)]),
    ("logltn", [figure(0.71, 0.06), figure(88.29, 0.78), figure(95.61, 0.51)]),
    ("logltn-lse", [figure(0.72, 0.05), figure(75.35, 29.96), figure(95.27, 0.53)]),
    ("logltn-max", [figure(0.35, 0.17), figure(48.39, 36.80), figure(80.81, 32.64)]),
    ("logltn-sum", [figure(0.36, 0.22), figure(88.49, 0.88), figure(95.62, 0.42)]),
];

/// The paper's third table: configuration, average precision of partOf and balanced type accuracy in percent,
/// violations.
#[rustfmt::skip] // a table reads better than a column
const PASCAL_PART: [(&str, [Published; 3]); 4] = [
    ("prod", [figure(71.38, 10.38), figure(53.40, 1.81), figure(16_312.8, 4_180.2)]),
    ("stable-2", [figure(18.62, 28.16), figure(1.90, 0.46), figure(1_196.0, 2_674.3)]),
    ("stable-6", [figure(64.85, 3.05), figure(34.53, 1.62), figure(24_324.5, 14_052.3)]),
    ("logltn", [figure(69.57, 4.33), figure(55.54, 1.00), figure(10_708.2, 1_455.9)]),
];

/// What the paper reports for a configuration, if it does.
///
/// ```
/// use logltn_paper::{Task, published};
/// assert_eq!(published(Task::Clustering, "logltn", None, "ari").unwrap().mean, 0.71);
/// assert_eq!(published(Task::MnistAdd, "logltn", Some(15_000), "accuracy").unwrap().mean, 95.61);
/// assert_eq!(published(Task::MnistAdd, "logltn", Some(500), "accuracy"), None);
/// ```
pub fn published(
    task: Task,
    configuration: &str,
    samples: Option<usize>,
    metric: &str,
) -> Option<Published> {
    if task == Task::PascalPart {
        let names = ["partof_ap", "type_accuracy", "violations"];
        let column = names.iter().position(|name| *name == metric)?;
        let row = PASCAL_PART.iter().find(|row| row.0 == configuration)?;
        return samples.is_none().then_some(row.1[column]);
    }
    let column = match (task, samples, metric) {
        (Task::Clustering, None, "ari") => 0,
        (Task::MnistAdd, Some(1_500), "accuracy") => 1,
        (Task::MnistAdd, Some(15_000), "accuracy") => 2,
        _ => return None,
    };
    let row = RESULTS.iter().find(|(name, _)| *name == configuration)?;
    Some(row.1[column])
}

/// The paper's second table, without logLTN's own row.
const OTHERS: [Other; 6] = [
    other("DeepProbLog", 1_500, 87.21, 1.92),
    Other {
        name: "DeepStochLog",
        samples: 1_500,
        figure: None,
    },
    other("NeuPSL", 1_500, 87.05, 1.48),
    other("DeepProbLog", 15_000, 95.16, 1.70),
    other("DeepStochLog", 15_000, 96.40, 0.10),
    other("NeuPSL", 15_000, 93.91, 0.37),
];

/// The best published accuracies for addition of N digits, from sums alone: N = 1, 2, 4 and 15 are 30,000, 15,000,
/// 7,500 and 2,000 sums.
const ADDITION: [Other; 9] = [
    cited("DeepStochLog", 30_000, 97.9, 1),
    cited("DeepStochLog", 15_000, 96.4, 1),
    cited("DeepStochLog", 7_500, 92.7, 1),
    cited("DeepProofLog", 7_500, 94.0, 1),
    cited("A-NeSI", 7_500, 92.6, 1),
    cited("DeepSoftLog", 7_500, 93.5, 1),
    cited("DeepProofLog", 2_000, 80.8, 1),
    cited("A-NeSI", 2_000, 75.9, 1),
    cited("DeepSoftLog", 2_000, 77.1, 1),
];

/// How many minutes they train, on machines of their own.
const ADDITION_MINUTES: [Other; 6] = [
    cited("DeepProofLog", 7_500, 25.0, 0),
    cited("A-NeSI", 7_500, 70.0, 0),
    cited("DeepSoftLog", 7_500, 880.0, 0),
    cited("DeepProofLog", 2_000, 42.0, 0),
    cited("A-NeSI", 2_000, 917.0, 0),
    cited("DeepSoftLog", 2_000, 1325.0, 0),
];

/// The accuracy of concepts on rsbench's MNAdd-Half and MNAdd-EvenOdd, which are 2,940 and 6,720 rows: from sums alone, without
/// labels of concepts. None was found for the other tasks.
const SHORTCUTS: [Other; 4] = [
    cited("independent", 2_940, 42.8, 1),
    cited("bears", 2_940, 43.3, 1),
    cited("NeSyDM", 2_940, 79.4, 1),
    cited("NeSyDM", 6_720, 20.3, 1),
];

/// What others report, for the same task and number of samples.
pub(super) fn others(
    task: Task,
    samples: Option<usize>,
    metric: &str,
) -> impl Iterator<Item = &'static Other> {
    let all: &[Other] = match (task, metric) {
        (Task::MnistAdd, "accuracy") => &OTHERS,
        (Task::MultiAdd, "accuracy") => &ADDITION,
        (Task::MultiAdd, "minutes") => &ADDITION_MINUTES,
        (Task::Shortcuts, "concept_accuracy") => &SHORTCUTS,
        _ => &[],
    };
    all.iter()
        .filter(move |other| samples == Some(other.samples))
}

#[cfg(test)]
mod tests {
    use super::super::CONFIGURATIONS;
    use super::*;

    #[test]
    fn every_cell_of_the_papers_table_is_there() {
        for configuration in CONFIGURATIONS {
            for (task, samples, metric) in [
                (Task::Clustering, None, "ari"),
                (Task::MnistAdd, Some(1_500), "accuracy"),
                (Task::MnistAdd, Some(15_000), "accuracy"),
            ] {
                let found = published(task, configuration.name, samples, metric);
                assert!(found.is_some(), "{configuration:?} {samples:?}");
            }
        }
        for name in ["prod", "stable-2", "stable-6", "logltn"] {
            for metric in ["partof_ap", "type_accuracy", "violations"] {
                let found = published(Task::PascalPart, name, None, metric);
                assert!(found.is_some(), "{name} {metric}");
            }
        }
        assert_eq!(published(Task::PascalPart, "logltn", None, "ari"), None);
        assert_eq!(
            published(Task::PascalPart, "logltn-sum", None, "violations"),
            None
        );
        assert_eq!(published(Task::Clustering, "godel", None, "ari"), None);
        assert_eq!(others(Task::MnistAdd, Some(1_500), "accuracy").count(), 3);
        assert_eq!(others(Task::Clustering, None, "ari").count(), 0);
        assert_eq!(others(Task::MultiAdd, Some(7_500), "accuracy").count(), 4);
        let names = others(Task::MultiAdd, Some(2_000), "minutes").map(|o| o.name);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["DeepProofLog", "A-NeSI", "DeepSoftLog"]
        );
    }
}
