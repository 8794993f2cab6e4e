//! A trained example, to be asked.

use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, OutputKind, Parameters, Semantics};
use logltn_learn::{Evaluated, Session, State, largest};
use logltn_train::project::{Features, Project};
use logltn_train::run_directory::RunDirectory;
use logltn_train::train::{TrainOptions, Trainer, evaluate_run};

use crate::sources::{Row, rows};

/// The networks of a run, with the data that they were trained on.
pub struct Learnt {
    trainer: Trainer,
    weights: State,
    folder: PathBuf,
    run: PathBuf,
}

impl Learnt {
    pub(crate) fn load(manifest: &Path, run: &Path) -> Result<Learnt, Diagnostics> {
        let mut found = Diagnostics::new();
        let project = Project::load(manifest, &mut found).ok_or(found)?;
        let mut trainer = Trainer::new(project, &TrainOptions::default())?;
        let weights = RunDirectory::open(run)?.weights()?.ok_or_else(|| {
            let message = format!("{}: the run is not finished", run.display());
            Diagnostic::error(Code::NotTrained, message)
                .help("continue the training with `logltn train … --resume`")
        })?;
        trainer.restore_weights(&weights)?;
        Ok(Learnt {
            trainer,
            weights,
            folder: manifest.parent().unwrap_or(Path::new("")).to_path_buf(),
            run: run.to_path_buf(),
        })
    }

    /// Where the manifest is.
    pub(crate) fn manifest(&self) -> PathBuf {
        PathBuf::from(self.project().manifest.source.name())
    }

    /// The folder of the run.
    pub(crate) fn run(&self) -> &Path {
        &self.run
    }

    fn project(&self) -> &Project {
        self.trainer.project()
    }

    /// The truth of every axiom with LTN's operators, and the metrics: in `stable`, unless it was trained with truth
    /// degrees anyway. α, p and p_forall are those that training ended with.
    pub(crate) fn in_truth_space(&self) -> Result<(Evaluated, Vec<(String, f64)>), Diagnostics> {
        let project = self.project();
        let own = project.manifest.semantics;
        let semantics = match Semantics::named("stable") {
            Some(stable) if own.sat_is_log() => stable,
            _ => own,
        };
        let last = project.manifest.schedule.last(true);
        evaluate_run(project, &self.run, &semantics, &last, false)
    }

    /// The value of a predicate for rows of individuals, one after the other, as truth degrees: for each row one, or one for
    /// each class.
    pub(crate) fn truths(
        &mut self,
        predicate: &str,
        rows: &[u32],
    ) -> Result<Vec<f64>, Diagnostics> {
        truths(&mut self.trainer, predicate, rows)
    }

    /// Asks the session with what was learnt, and the parameters that training ended with.
    pub(crate) fn ask<A>(
        &mut self,
        question: impl FnOnce(&mut Session, &Parameters) -> Result<A, Diagnostics>,
    ) -> Result<A, Diagnostics> {
        let last = self.project().manifest.schedule.last(true);
        question(&mut self.trainer, &last)
    }

    /// What a predicate said before training, as truth degrees.
    pub(crate) fn truths_at_first(
        &self,
        predicate: &str,
        rows: &[u32],
    ) -> Result<Vec<f64>, Diagnostics> {
        let mut fresh = Trainer::new(self.project().clone(), &TrainOptions::default())?;
        truths(&mut fresh, predicate, rows)
    }

    /// The truest class of each of the first `count` individuals.
    pub(crate) fn classes(
        &mut self,
        predicate: &str,
        count: usize,
    ) -> Result<Vec<usize>, Diagnostics> {
        let individuals: Vec<u32> = (0..count as u32).collect();
        let logits = self.trainer.predict(predicate, &individuals)?;
        let classes = (logits.len() / count.max(1)).max(1);
        Ok(logits.chunks_exact(classes).map(largest).collect())
    }

    /// The features of a sort's individuals, a row for each.
    pub(crate) fn features(&self, sort: &str) -> Result<Vec<Vec<f64>>, Diagnostics> {
        let Some(id) = self.project().theory().sort(sort) else {
            return Ok(Vec::new());
        };
        let features = Features::of(&self.project().features_of(id)?);
        let rows = features.values.chunks_exact(features.width.max(1));
        Ok(rows.map(<[f64]>::to_vec).collect())
    }

    /// The true classes of a sort's individuals, for evaluation.
    pub(crate) fn labels(&self, sort: &str) -> Result<Vec<String>, Diagnostics> {
        let labels = match self.project().theory().sort(sort) {
            Some(id) => self.project().labels_of(id)?,
            None => None,
        };
        Ok(labels.unwrap_or_default())
    }

    /// The names of a sort's individuals.
    pub(crate) fn names(&self, sort: &str) -> Vec<String> {
        let theory = self.project().theory();
        let Some(id) = theory.sort(sort) else {
            return Vec::new();
        };
        let size = self.project().data.size(id);
        (0..size).map(|i| theory[id].individual_name(i)).collect()
    }

    /// A column of numbers of a file beside the manifest.
    pub(crate) fn column(&self, file: &str, column: usize) -> Result<Vec<f64>, Diagnostics> {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let message = format!("{}: cannot be read: {error}", path.display());
            Diagnostic::error(Code::FileUnreadable, message)
        })?;
        let header: Vec<&str> = text.lines().next().unwrap_or("").split(',').collect();
        let number = |row: &Row<'_>| Ok(row.numbers(column..column + 1)?[0]);
        rows(&text, &path, &header)?.iter().map(number).collect()
    }

    /// The values of a function of one argument.
    pub(crate) fn values(
        &mut self,
        function: &str,
        individuals: &[u32],
    ) -> Result<Vec<f64>, Diagnostics> {
        let knowledge = self.project().knowledge()?;
        let Some(id) = knowledge.theory().function(function) else {
            return Ok(Vec::new());
        };
        let values = (self.trainer.model_mut()).values(&knowledge, id, individuals, 1)?;
        Ok(values.into_iter().map(f64::from).collect())
    }

    /// The numbers of a tensor of the run, such as `embedding.Person`.
    pub(crate) fn tensor(&self, name: &str) -> Vec<f64> {
        let found = self.weights.tensor(name);
        found.map_or(Vec::new(), |(_, values)| {
            values.iter().map(|&x| f64::from(x)).collect()
        })
    }

    /// Where a picture goes.
    pub(crate) fn picture(&self, name: &str) -> Result<PathBuf, Diagnostics> {
        let folder = self.run.join("pictures");
        logltn_standin::data_folders::make_folder(&folder)?;
        Ok(folder.join(name))
    }
}

fn truths(trainer: &mut Trainer, predicate: &str, rows: &[u32]) -> Result<Vec<f64>, Diagnostics> {
    let numbers = trainer.predict(predicate, rows)?;
    let project = trainer.project();
    let output = (project.theory().predicate(predicate)).map(|id| project.outputs[id]);
    let each = |truth: fn(f64) -> f64| numbers.iter().map(|&x| truth(x.into())).collect();
    Ok(match output.map(|output| output.kind) {
        Some(OutputKind::Softmax) => {
            let arguments = (project.theory().predicate(predicate))
                .map_or(1, |id| project.theory()[id].arguments.len() - 1);
            let tuples = rows.len() / arguments.max(1);
            let classes = (numbers.len() / tuples.max(1)).max(1);
            numbers.chunks_exact(classes).flat_map(softmax).collect()
        }
        Some(OutputKind::Truth) => each(|truth| truth),
        Some(OutputKind::LogTruth) => each(f64::exp),
        Some(OutputKind::Sigmoid) | None => each(|logit| 1.0 / (1.0 + (-logit).exp())),
    })
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let parts: Vec<f64> = logits.iter().map(|&x| f64::from(x - most).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|x| x / sum).collect()
}
