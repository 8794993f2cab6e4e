//! Figures over runs, beside the published ones.

use serde_json::{Value, json};

use super::published::{Other, Published, others, published};
use super::record::{Job, Portion, RunRecord};
use super::{Configuration, DataKind, Experiment, Metric, Task};

/// A task's table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The task.
    pub task: Task,
    /// On what data.
    pub data: DataKind,
    /// The same in words.
    pub data_title: String,
    /// What the figures depend on.
    pub settings: Vec<(String, String)>,
    /// The figures.
    pub cells: Vec<Cell>,
    /// What other systems are reported to reach on the very same data: the metric, and the system.
    pub others: Vec<(&'static str, Other)>,
    /// Where that was read.
    pub sources: Vec<String>,
    /// How long this session took: less than the table, if an earlier one had begun it.
    pub seconds: f64,
}

/// A figure of a table: a metric of one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The configuration.
    pub configuration: Configuration,
    /// On what.
    pub portion: Portion,
    /// The metric.
    pub metric: Metric,
    /// Its value in each run.
    pub runs: Vec<f64>,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (n − 1), 0 for a single run.
    pub sd: f64,
    /// What the paper says.
    pub published: Option<Published>,
    /// The mean of the theory's satisfaction at the last step.
    pub sat: f64,
    /// The mean time of a run.
    pub seconds: f64,
}

/// How ours compares with the published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within two published standard deviations.
    Within,
    /// Further away, on the good side.
    Better,
    /// Further away, on the bad side.
    Worse,
}

/// A part of a table with its own heading: a line of column heads and the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// What it is of.
    pub title: String,
    /// The heads of the columns.
    pub header: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

fn mean_of(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

impl Cell {
    fn new(
        task: Task,
        configuration: Configuration,
        portion: Portion,
        metric: Metric,
        records: &[&RunRecord],
    ) -> Cell {
        let value = |r: &&RunRecord| r.metrics.get(metric.name).copied().unwrap_or(f64::NAN);
        let runs: Vec<f64> = records.iter().map(value).collect();
        let mean = mean_of(runs.iter().copied());
        let squares: f64 = runs.iter().map(|x| (x - mean) * (x - mean)).sum();
        let sd = match runs.len() {
            0 | 1 => 0.0,
            n => (squares / (n - 1) as f64).sqrt(),
        };
        Cell {
            configuration,
            portion,
            metric,
            mean,
            sd,
            published: published(task, configuration.name, portion.samples, metric.name),
            sat: mean_of(records.iter().map(|r| r.sat)),
            seconds: mean_of(records.iter().map(|r| r.seconds)),
            runs,
        }
    }

    /// How it compares, if there is something to compare with.
    pub fn verdict(&self) -> Option<Verdict> {
        let Published { mean, sd } = self.published?;
        let away = self.mean - mean;
        // Published figures are rounded, so exactly two deviations may come out as a bit more.
        Some(if away.abs() <= 2.0 * sd + 1e-9 {
            Verdict::Within
        } else if (away < 0.0) == self.metric.smaller_is_better {
            Verdict::Better
        } else {
            Verdict::Worse
        })
    }

    fn figure(&self, figure: Published) -> String {
        let digits = self.metric.digits;
        format!("{:.digits$} ± {:.digits$}", figure.mean, figure.sd)
    }

    fn ours(&self) -> String {
        let digits = self.metric.digits;
        match self.runs.len() {
            1 => format!("{:.digits$}", self.mean),
            _ => self.figure(Published {
                mean: self.mean,
                sd: self.sd,
            }),
        }
    }
}

impl Table {
    pub(super) fn new(
        task: Task,
        experiment: &dyn Experiment,
        records: &[(Job, RunRecord)],
        seconds: f64,
    ) -> Table {
        let about = experiment.about();
        let mut cells = Vec::new();
        for &portion in &about.portions {
            // By metric first: each has its own section.
            for &metric in about.metrics {
                for &configuration in &about.configurations {
                    let own: Vec<&RunRecord> = (records.iter())
                        .filter(|(job, _)| {
                            job.configuration == configuration && job.portion == portion
                        })
                        .map(|(_, record)| record)
                        .collect();
                    if !own.is_empty() {
                        cells.push(Cell::new(task, configuration, portion, metric, &own));
                    }
                }
            }
        }
        Table {
            task,
            data: about.data,
            data_title: about.data_title.clone(),
            settings: about.settings.clone().into_iter().collect(),
            cells,
            others: (about.metrics.iter())
                .flat_map(|metric| {
                    let others = experiment.others(metric.name).into_iter();
                    others.map(|other| (metric.name, other))
                })
                .collect(),
            sources: about.sources.clone(),
            seconds,
        }
    }

    /// `{"task": …, "data": …, "cells": […], "seconds": …}`, as `--json` prints it.
    pub fn json(&self) -> Value {
        let cells: Vec<Value> = (self.cells.iter())
            .map(|cell| {
                let mut entry = json!({
                    "config": cell.configuration.name,
                    "samples": cell.portion.samples,
                    "metric": cell.metric.name,
                    "mean": cell.mean,
                    "sd": cell.sd,
                    "runs": cell.runs,
                    "published": cell.published.map(|p| json!({ "mean": p.mean, "sd": p.sd })),
                });
                if let Some(digits) = cell.portion.digits {
                    entry["digits"] = digits.into();
                }
                if let Some(part) = cell.portion.part {
                    entry["part"] = part.into();
                }
                entry
            })
            .collect();
        let mut document = json!({
            "task": self.task.name(),
            "data": self.data.name(),
            "cells": cells,
            "seconds": self.seconds,
        });
        if !self.others.is_empty() {
            let others = self.others.iter().map(|(metric, other)| {
                let mean = other.figure.map(|figure| figure.mean);
                json!({ "system": other.name, "metric": metric, "mean": mean })
            });
            document["others"] = others.collect();
            document["sources"] = json!(self.sources);
        }
        document
    }

    /// Whether ours and the published figures are of the same data.
    fn comparable(&self) -> bool {
        self.data == DataKind::Real
    }

    /// The table for people, a section for each metric and size of data.
    pub fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        let mut last = None;
        for cell in &self.cells {
            let at = (cell.portion, cell.metric.name);
            if last != Some(at) {
                self.finish(&mut sections, last);
                last = Some(at);
                let title = match cell.portion.in_words() {
                    Some(portion) => format!("{portion}: {}", cell.metric.title),
                    None => cell.metric.title.to_string(),
                };
                let header = [
                    "configuration",
                    "ours",
                    "runs",
                    "published",
                    "",
                    "sat at the end",
                    "s/run",
                ];
                sections.push(Section {
                    title,
                    header: header.map(String::from).to_vec(),
                    rows: Vec::new(),
                });
            }
            if let Some(section) = sections.last_mut() {
                section.rows.push(self.row(cell));
            }
        }
        self.finish(&mut sections, last);
        sections
    }

    fn row(&self, cell: &Cell) -> Vec<String> {
        let verdict = match cell.verdict() {
            _ if !self.comparable() => "",
            None | Some(Verdict::Within) => "",
            Some(Verdict::Better) => "▲",
            Some(Verdict::Worse) => "▼",
        };
        let log = if cell.configuration.sat_is_log() {
            "log "
        } else {
            ""
        };
        vec![
            cell.configuration.name.to_string(),
            cell.ours(),
            cell.runs.len().to_string(),
            cell.published.map_or("–".into(), |p| cell.figure(p)),
            verdict.to_string(),
            format!("{log}{:.3}", cell.sat),
            format!("{:.1}", cell.seconds),
        ]
    }

    /// Systems that were not run end the section.
    fn finish(&self, sections: &mut [Section], last: Option<(Portion, &str)>) {
        let (Some(section), Some((Portion { samples, .. }, metric))) = (sections.last_mut(), last)
        else {
            return;
        };
        let mut all: Vec<&Other> = others(self.task, samples, metric).collect();
        let of_these = |other: &Other| other.samples == 0 || Some(other.samples) == samples;
        let own = self.others.iter();
        let own = own.filter(|(of, other)| *of == metric && of_these(other));
        all.extend(own.map(|(_, other)| other));
        for other in all {
            let figure = other.figure.map_or("–".into(), |figure| figure.to_string());
            let mut row = vec![String::new(); section.header.len()];
            row[0] = other.name.to_string();
            row[1] = "not run".to_string();
            row[3] = figure;
            section.rows.push(row);
        }
    }

    /// What the marks mean, and what must be known about the data.
    pub fn legend(&self) -> String {
        if self.data == DataKind::SimulatedFeatures {
            return "The features are SIMULATED, the published figures are for features that a detector computed from pictures: ours show how the configurations compare with each other, not with the paper."
                .into();
        }
        if !self.comparable() {
            return "The published figures are for other data than ours, so no comparison is made."
                .into();
        }
        if !self.sources.is_empty() {
            return format!(
                "Mean ± standard deviation (n − 1) over runs. Figures of others, which were not run, are from {}.",
                self.sources.join("; ")
            );
        }
        "Mean ± standard deviation (n − 1) over runs. ▲ ▼: ours is better or worse than the published mean by more than two \
         published standard deviations."
            .into()
    }

    /// The settings in one line.
    pub fn settings_line(&self) -> String {
        let parts: Vec<String> = (self.settings.iter())
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        parts.join(", ")
    }
}
