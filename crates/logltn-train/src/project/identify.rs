//! Whether the axioms fix the classes of a predicate, given the manifest's labels, tables and numbers.

use std::path::{Path, PathBuf};
use std::time::Instant;

use logltn::theory::PredicateId;
use logltn::{Code, Data, Diagnostic, Diagnostics, Identified, Identify, OutputKind, Support};
use logltn_data::CsvFile;
use logltn_data::problems::{Problems, shown};

use super::Project;

/// The options of the question.
#[derive(Clone, Debug)]
pub struct IdentifyOptions {
    /// The predicate; by default the only learnt softmax.
    pub predicate: Option<String>,
    /// For an axiom, a CSV file of the true classes that occur in it.
    pub supports: Vec<(String, PathBuf)>,
    /// How many maps are listed.
    pub list: usize,
    /// When to give up.
    pub until: Option<Instant>,
}

impl Default for IdentifyOptions {
    fn default() -> IdentifyOptions {
        IdentifyOptions {
            predicate: None,
            supports: Vec::new(),
            list: 10,
            until: None,
        }
    }
}

impl Project {
    /// The predicates whose classes are learnt.
    pub fn learnt_classes(&self) -> Vec<PredicateId> {
        let all = (0..self.outputs.len())
            .filter(|i| self.outputs[*i].kind == OutputKind::Softmax && self.numbers[*i].is_none());
        all.map(|i| PredicateId(i as u32)).collect()
    }

    /// Which maps of a predicate's classes all axioms allow. Warnings go to `out`.
    ///
    /// # Errors
    /// As [`Identify::identify`], or with the errors in labels and supports.
    pub fn identify(
        &self,
        options: &IdentifyOptions,
        out: &mut Diagnostics,
    ) -> Result<Identified, Diagnostics> {
        let named = options.predicate.as_deref();
        let predicate = Identify::choose(self.theory(), &self.learnt_classes(), named)?;
        let labels = self.class_labels(predicate, out)?;
        let mut supports = Vec::new();
        for (axiom, path) in &options.supports {
            supports.push(read_support(&self.data, predicate, axiom, path)?);
        }
        let given: Vec<bool> = self.numbers.iter().map(Option::is_some).collect();
        let known = |p: PredicateId, row: &[u32], class: u32| self.crisp(p, row, class);
        let question = Identify {
            given: &given,
            known: &known,
            labels: labels.as_deref(),
            supports: &supports,
            list: options.list,
            until: options.until,
            ..Identify::new(&self.data, &self.outputs, predicate)
        };
        let identified = question.identify()?;
        out.extend(identified.warnings.iter().cloned());
        Ok(identified)
    }

    /// The true class of each individual, if the manifest has labels that are classes of the predicate.
    pub fn class_labels(
        &self,
        predicate: PredicateId,
        out: &mut Diagnostics,
    ) -> Result<Option<Vec<u32>>, Diagnostics> {
        let sorts = Identify::sorts(self.theory(), predicate);
        let Some((_, Some(sort))) = sorts else {
            return Ok(None);
        };
        let (Some(labels), Some(classes)) = (
            self.labels_of(sort)?,
            Identify::classes(&self.data, predicate),
        ) else {
            return Ok(None);
        };
        let places: Vec<Option<u32>> = labels.iter().map(|l| classes.get(l).copied()).collect();
        let name = &self.theory()[predicate].name;
        let Some(wrong) = places.iter().position(Option::is_none) else {
            return Ok(Some(places.into_iter().flatten().collect()));
        };
        let sort = &self.theory()[sort].name;
        let what = format!(
            "the label {} of individual {wrong} of sort `{sort}` is not a class of `{name}`",
            shown(&labels[wrong])
        );
        match places.iter().all(Option::is_none) {
            // Clusters, say, which have their own numbers.
            true => {
                out.push(
                    Diagnostic::warning(Code::NoLabels, format!("{what}, nor is any other"))
                        .help("the labels are not used here"),
                );
                Ok(None)
            }
            false => Err(Diagnostic::error(Code::UnknownIndividual, what)
                .help("write labels as the classes are written")
                .into()),
        }
    }

    /// Whether a predicate given by numbers is true or false for a row; `None` if it is in between.
    fn crisp(&self, predicate: PredicateId, row: &[u32], class: u32) -> Option<bool> {
        let numbers = self.numbers[predicate].as_ref()?;
        let at = numbers.row(row)?.start + class as usize;
        let value = *numbers.values.get(at)?;
        match (self.outputs[predicate].kind, value) {
            (OutputKind::Truth, 1.0) | (OutputKind::LogTruth, 0.0) => Some(true),
            (OutputKind::Truth, 0.0) | (OutputKind::LogTruth, f64::NEG_INFINITY) => Some(false),
            _ => None,
        }
    }
}

/// Reads the true classes that occur in an axiom.
///
/// # Errors
/// If the file cannot be read, or has what is not a class.
pub fn read_support(
    data: &Data,
    predicate: PredicateId,
    axiom: &str,
    path: &Path,
) -> Result<Support, Diagnostics> {
    let file = CsvFile::read(path)?;
    let classes = Identify::classes(data, predicate).unwrap_or_default();
    let name = &data.theory()[predicate].name;
    let mut problems = Problems::new();
    let mut rows = Vec::with_capacity(file.rows());
    for row in file.whole_rows() {
        let mut own = Vec::with_capacity(file.columns().len());
        for column in 0..file.columns().len() {
            let cell = file.cell(row, column);
            match classes.get(cell) {
                Some(class) => own.push(*class),
                None => problems.push(|| {
                    let what = format!(
                        "{}: expected a class of `{name}`, found {}",
                        file.place(row, column),
                        shown(cell)
                    );
                    Diagnostic::error(Code::UnknownIndividual, what)
                }),
            }
        }
        rows.push(own);
    }
    let columns = file.columns().iter();
    problems.finish(Support {
        axiom: axiom.to_string(),
        columns: columns.map(|c| Support::variables(c)).collect(),
        rows,
        name: file.name().to_string(),
    })
}
