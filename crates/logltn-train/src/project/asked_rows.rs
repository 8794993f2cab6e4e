//! The rows of a file that a predicate or function is queried at.

use std::path::Path;

use logltn::theory::ArgumentSort;
use logltn::{Code, ColumnData, Diagnostic, Diagnostics};
use logltn_data::CsvFile;
use logltn_data::problems::Problems;
use logltn_learn::metrics::Subject;
use logltn_learn::{Answers, Asked, AskedRows};

use super::Project;
use super::cells::{Cells, read_column};
use super::magnitudes;
use super::tables::{Wanted, quoted};
use crate::manifest::Spanned;

impl Project {
    /// The names of the arguments of a predicate or function: `args`, or a1, a2, ….
    pub fn argument_names(&self, symbol: &str) -> Vec<String> {
        let theory = self.theory();
        if let Some(definition) = theory.definition(symbol) {
            let parameters = theory[definition].parameters().iter();
            return parameters.map(|p| p.name.clone()).collect();
        }
        if let Some(args) = self.given_names(symbol) {
            return args.iter().map(|arg| arg.value.clone()).collect();
        }
        let arity = match (theory.predicate(symbol), theory.function(symbol)) {
            (Some(id), _) => theory[id].arguments.len(),
            (_, Some(id)) => theory[id].arguments.len(),
            (None, None) => 0,
        };
        (1..=arity).map(|i| format!("a{i}")).collect()
    }

    /// The `args` of a predicate or function.
    pub(super) fn given_names(&self, symbol: &str) -> Option<&Spanned<Vec<Spanned<String>>>> {
        let predicate = self.manifest.predicates.get(symbol);
        let function = self.manifest.functions.get(symbol);
        (predicate.and_then(|p| p.args.as_ref())).or_else(|| function.and_then(|f| f.args.as_ref()))
    }

    /// The rows of a CSV whose columns are named as the arguments. The one of the classes may be left out, and is not read.
    ///
    /// # Errors
    /// With all that is wrong with the file: its header, individuals that do not exist, and what is not a number.
    pub fn asked_rows(&self, path: &Path, asked: &Asked) -> Result<AskedRows, Diagnostics> {
        let mut problems = Problems::new();
        let Some(file) = CsvFile::read_as_far_as_possible(path, &mut problems) else {
            return problems.finish(AskedRows::default());
        };
        let names = self.argument_names(asked.name());
        let (read, rest) = names.split_at(asked.arguments().len().min(names.len()));
        let mut columns: Vec<&str> = read.iter().map(String::as_str).collect();
        let class = match (asked.answers(), rest) {
            (Answers::Classes(_), [class]) => Some(class.as_str()),
            _ => None,
        };
        columns.extend(class.filter(|class| file.columns().iter().any(|c| c == class)));
        let listed = quoted(read.iter().map(String::as_str));
        let name = asked.name();
        let wanted = Wanted {
            columns,
            missing: format!("missing for `{name}`"),
            extra: format!("no argument of `{name}`"),
            mend_extra: "remove it from the file".to_string(),
            mend_missing: None,
            note: match class {
                Some(class) => format!(
                    "its columns are the arguments of `{name}`, {listed}; the class, `{class}`, may be left out"
                ),
                None => format!("its columns are the arguments of `{name}`, {listed}"),
            },
        };
        let positions = match wanted.find(&file) {
            Ok(positions) => positions,
            Err(error) => {
                problems.push(|| error);
                return problems.finish(AskedRows::default());
            }
        };
        let subject = match asked.is_function() {
            true => Subject::Function,
            false => Subject::Predicate,
        };
        let of = (subject, name, asked.arguments());
        // After an error the columns may have different lengths.
        let rows = AskedRows::of(&self.read_arguments(&file, of, &positions, &mut problems));
        if rows.is_none() {
            problems.push(|| {
                let what = format!("{}: there are too many numbers to index", file.name());
                Diagnostic::error(Code::TooManyTuples, what)
            });
        }
        problems.finish(rows.unwrap_or_default())
    }

    /// The columns of a file that hold the arguments of a predicate or a function.
    pub(super) fn read_arguments(
        &self,
        file: &CsvFile,
        (subject, name, arguments): (Subject, &str, &[ArgumentSort]),
        positions: &[usize],
        problems: &mut Problems,
    ) -> Vec<ColumnData> {
        let read = magnitudes::reads_numbers(&self.manifest, subject, name);
        let columns = (arguments.iter().zip(positions)).map(|(argument, &at)| match argument {
            ArgumentSort::Sort(sort) => {
                let known = Cells::of(&self.theory()[*sort], Some(self.data.size(*sort)));
                ColumnData::Individuals(read_column(file, at, &known, problems))
            }
            ArgumentSort::Vector(_) => {
                let numbers = file.reals_into(at, problems);
                if read {
                    magnitudes::check_column(file, at, &numbers, problems);
                }
                ColumnData::Real(numbers)
            }
        });
        columns.collect()
    }
}
