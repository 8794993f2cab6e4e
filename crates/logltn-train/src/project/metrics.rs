//! The metrics of a manifest, with the rows that they look at.

use logltn::theory::{ArgumentSort, ColumnSort};
use logltn::{Code, ColumnData, Diagnostic, Diagnostics};
use logltn_data::CsvFile;
use logltn_learn::{Known, Metric, MetricKind, Place};

use super::Project;
use crate::manifest::{self, MetricTruth};

impl Project {
    /// All metrics of the manifest.
    ///
    /// # Errors
    /// With all that is wrong with their files.
    pub fn metrics(&self) -> Result<Vec<Metric>, Diagnostics> {
        let mut out = Diagnostics::new();
        let mut metrics = Vec::new();
        for metric in self.manifest.evaluate.iter().flat_map(|e| &e.metrics) {
            match self.known(metric) {
                Ok(known) => metrics.push(Metric {
                    kind: metric.kind,
                    predicate: metric.predicate.value.clone(),
                    known,
                    name: metric.name.as_ref().map(|name| name.value.clone()),
                    place: Place::new(&self.manifest.source, metric.span),
                }),
                Err(errors) => out.extend(errors),
            }
        }
        out.into_result(metrics).map(|(metrics, _)| metrics)
    }

    fn known(&self, metric: &manifest::Metric) -> Result<Known, Diagnostics> {
        let theory = self.theory();
        let wrong = |code, message: String| {
            let source = &self.manifest.source;
            Diagnostics::from(Diagnostic::error(code, message).at(source, metric.span, ""))
        };
        Ok(match &metric.truth {
            MetricTruth::Labels(sort) => {
                let id = theory.sort(&sort.value).ok_or_else(|| {
                    wrong(
                        Code::UnknownSort,
                        format!("the theory has no sort `{}`", sort.value),
                    )
                })?;
                let labels = self.labels_of(id)?.ok_or_else(|| {
                    let what = format!("sort `{}` has no `labels` in the manifest", sort.value);
                    wrong(Code::NoLabels, what)
                })?;
                let sort = sort.value.clone();
                Known::Labels { sort, labels }
            }
            MetricTruth::Table(table) => Known::Table(table.value.clone()),
            MetricTruth::Rows {
                file,
                table: Some(table),
            } if metric.kind == MetricKind::RowAccuracy => {
                let file = CsvFile::read(&self.manifest.resolve(&file.value))?;
                let mut columns = Vec::new();
                if let Some(id) = theory.table(&table.value) {
                    for column in &theory[id].columns {
                        let at = file.column_index(&column.name)?;
                        columns.push(self.read_column(&file, at, column.sort)?);
                    }
                }
                let table = table.value.clone();
                Known::RowsOf { table, columns }
            }
            MetricTruth::Rows { file, .. } => {
                let file = CsvFile::read(&self.manifest.resolve(&file.value))?;
                let ranks = metric.kind.ranks();
                let predicate = theory.predicate(&metric.predicate);
                // Whether it fits the metric at all is for the session to say, and comes first.
                match predicate.filter(|id| ranks || self.outputs[id.index()].per_class) {
                    Some(id) => {
                        Known::Rows(self.metric_rows(&file, &theory[id].arguments, ranks)?)
                    }
                    None => Known::Rows(Vec::new()),
                }
            }
        })
    }

    /// Columns are the predicate's arguments in order; a ranking metric has the truth (1 or 0) after them.
    fn metric_rows(
        &self,
        file: &CsvFile,
        arguments: &[ArgumentSort],
        ranks: bool,
    ) -> Result<Vec<ColumnData>, Diagnostics> {
        let count = arguments.len() + usize::from(ranks);
        if file.columns().len() != count {
            let what = if ranks {
                "its predicate's arguments and the truth, 1 or 0"
            } else {
                "its predicate's arguments, the last of which is the right class"
            };
            return Err(Diagnostic::error(
                Code::WrongShape,
                format!(
                    "{}: expected {count} columns, {what}, found {}",
                    file.name(),
                    file.columns().len()
                ),
            )
            .into());
        }
        let mut columns = Vec::new();
        for (i, argument) in arguments.iter().enumerate() {
            let ArgumentSort::Sort(sort) = argument else {
                return Err(Diagnostic::error(
                    Code::VectorArgument,
                    format!(
                        "{}: a predicate of vectors cannot be measured on rows",
                        file.name()
                    ),
                )
                .into());
            };
            columns.push(self.read_column(file, i, ColumnSort::Sort(*sort))?);
        }
        if ranks {
            columns.push(self.read_column(file, arguments.len(), ColumnSort::Int)?);
        }
        Ok(columns)
    }
}
