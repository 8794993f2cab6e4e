//! The rows of a file that a predicate or function is queried at.

use std::path::Path;

use logltn::theory::ArgumentSort;
use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::CsvFile;
use logltn_data::problems::Problems;
use logltn_learn::{Answers, Asked};

use super::Project;
use super::cells::{Cells, read_column};
use super::magnitudes;
use super::tables::{Wanted, quoted};

/// Rows that a predicate or a function is queried at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedRows {
    /// The arguments, row by row: individuals by their indexes, numbers by their places among `numbers`.
    pub arguments: Vec<u32>,
    /// The numbers, as in the file.
    pub numbers: Vec<f64>,
}

impl Project {
    /// The names of the arguments of a predicate or function: `args`, or a1, a2, ….
    pub fn argument_names(&self, symbol: &str) -> Vec<String> {
        let theory = self.theory();
        let predicate = self.manifest.predicates.get(symbol);
        let function = self.manifest.functions.get(symbol);
        let args = (predicate.and_then(|p| p.args.as_ref()))
            .or_else(|| function.and_then(|f| f.args.as_ref()));
        if let Some(definition) = theory.definition(symbol) {
            let parameters = theory[definition].parameters().iter();
            return parameters.map(|p| p.name.clone()).collect();
        }
        let arity = match theory.predicate(symbol) {
            Some(id) => theory[id].arguments.len(),
            None => (theory.functions.iter())
                .find(|f| f.name == symbol)
                .map_or(0, |f| f.arguments.len()),
        };
        match args {
            Some(args) => args.iter().map(|arg| arg.value.clone()).collect(),
            None => (1..=arity).map(|i| format!("a{i}")).collect(),
        }
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
        let (mut cells, mut numbers) = (Vec::new(), Vec::new());
        let single = match asked.is_function() {
            true => magnitudes::function_reads_numbers(&self.manifest, name),
            false => magnitudes::reads_numbers(&self.manifest, name),
        };
        for (argument, position) in asked.arguments().iter().zip(positions) {
            cells.push(match argument {
                ArgumentSort::Sort(sort) => {
                    let known = Cells::of(&self.theory()[*sort], Some(self.data.size(*sort)));
                    read_column(&file, position, &known, &mut problems)
                }
                ArgumentSort::Vector(_) => {
                    let column = file.reals_into(position, &mut problems);
                    if single {
                        magnitudes::check_column(&file, position, &column, &mut problems);
                    }
                    let first = numbers.len();
                    numbers.extend(column);
                    (first..numbers.len()).map(|at| at as u32).collect()
                }
            });
        }
        let rows = cells.first().map_or(0, Vec::len);
        // After an error the columns may have different lengths.
        let row = |row: usize| cells.iter().filter_map(move |column| column.get(row));
        if u32::try_from(numbers.len()).is_err() {
            problems.push(|| {
                let what = format!("{}: there are too many numbers to index", file.name());
                Diagnostic::error(Code::TooManyTuples, what)
            });
        }
        problems.finish(AskedRows {
            arguments: (0..rows).flat_map(row).copied().collect(),
            numbers,
        })
    }
}
