//! Functions given by data: `values`, one for every tuple of individuals.

use logltn::theory::{ArgumentSort, Function, SortId};
use logltn::{Code, Data, Diagnostic, Diagnostics, FunctionData, Theory};
use logltn_data::CsvFile;
use logltn_data::problems::{Problems, counted};

use super::cells::{Cells, read_column};
use super::number_tables::{Numbers, counted_or_many, product, sorts_of, tuples};
use super::report::Report;

/// Reads the values of all functions that the manifest gives values for.
pub(super) fn read(
    report: &mut Report<'_>,
    theory: &Theory,
    data: &mut Data,
    cells: &[Cells<'_>],
    known: impl Fn(SortId) -> bool,
) {
    let manifest = report.manifest;
    for function in &theory.functions {
        let given = manifest.functions.get(&function.name);
        let Some(file) = given.and_then(|g| g.values.as_ref()) else {
            continue;
        };
        let Some(sorts) = sorts_of(&function.arguments) else {
            let what = format!(
                "function `{}` cannot be given by data: it has an argument that is a number or a vector, not one of \
                 finitely many individuals",
                function.name
            );
            let error = Diagnostic::error(Code::VectorArgument, what);
            report.push(file.span, "", error.help("give it a `network`"));
            continue;
        };
        let path = manifest.resolve(file);
        let shape = Shape {
            theory,
            function,
            sizes: sorts.iter().map(|&sort| data.size(sort)).collect(),
            sorts,
        };
        let all_known = shape.sorts.iter().all(|&sort| known(sort));
        let column = given.and_then(|g| g.column.as_ref());
        let values = match (function.result, column) {
            (result @ (ArgumentSort::Vector(1) | ArgumentSort::Sort(_)), Some(column)) => {
                CsvFile::read(&path).and_then(|file| {
                    let place = manifest.column(&file, column)?;
                    if all_known {
                        shape.check_size(&file, file.rows(), 1, 1)?;
                    }
                    let Some(sort) = result.sort() else {
                        return file.reals(place).map(FunctionData::Reals);
                    };
                    let mut problems = Problems::new();
                    let values = read_column(&file, place, &cells[sort], &mut problems);
                    problems.finish(FunctionData::Individuals(values))
                })
            }
            (ArgumentSort::Vector(width), _) => Numbers::read(&path).and_then(|numbers| {
                if all_known {
                    shape.check(&numbers, width)?;
                }
                Ok(FunctionData::Reals(numbers.values))
            }),
            (ArgumentSort::Sort(sort), None) => {
                let mut problems = Problems::new();
                let file = CsvFile::read_as_far_as_possible(&path, &mut problems);
                let values = file.map_or(Vec::new(), |file| {
                    let fits = match all_known && problems.is_empty() {
                        true => shape.check_size(&file, file.rows(), file.columns().len(), 1),
                        false => Ok(()),
                    };
                    match fits {
                        Ok(()) => read_column(&file, 0, &cells[sort], &mut problems),
                        Err(errors) => {
                            problems.extend(errors);
                            Vec::new()
                        }
                    }
                });
                problems.finish(FunctionData::Individuals(values))
            }
        };
        let all_known = all_known && function.result.sort().is_none_or(&known);
        let set = values.and_then(|values| match all_known {
            true => data.set_function(&function.name, values),
            false => Ok(()),
        });
        report.read(file.span, set);
    }
}

/// The layout that a file must have for a function.
struct Shape<'a> {
    theory: &'a Theory,
    function: &'a Function,
    sorts: Vec<SortId>,
    sizes: Vec<usize>,
}

impl Shape<'_> {
    fn check(&self, numbers: &Numbers, width: usize) -> Result<(), Diagnostics> {
        match &numbers.csv {
            Some(file) => self.check_size(file, numbers.rows, numbers.columns, width),
            // One array of all values, with any division into rows.
            None if product(&self.sizes).and_then(|n| n.checked_mul(width))
                == Some(numbers.values.len()) =>
            {
                Ok(())
            }
            None => Err(self
                .wrong(&numbers.name, numbers.rows, numbers.columns, width)
                .into()),
        }
    }

    fn check_size(
        &self,
        file: &CsvFile,
        rows: usize,
        columns: usize,
        width: usize,
    ) -> Result<(), Diagnostics> {
        let expected = product(&self.sizes);
        if expected == Some(rows) && columns == width {
            return Ok(());
        }
        let error = self.wrong(file.name(), rows, columns, width);
        let is_value = |c: &String| c.trim().parse::<f64>().is_ok();
        let help = if columns > width && expected == Some(rows) {
            Some("give the values alone: their order says whose they are")
        } else if expected == Some(rows + 1) && file.columns().iter().all(is_value) {
            Some("the first line is the header: add one, with any text")
        } else {
            None
        };
        Err(match help {
            Some(help) => error.help(help),
            None => error,
        }
        .into())
    }

    fn wrong(&self, name: &str, rows: usize, columns: usize, width: usize) -> Diagnostic {
        let what = format!(
            "{name}: expected {} of {} for function `{}`, found {} of {}",
            counted_or_many(product(&self.sizes), "row"),
            counted(width, "column"),
            self.function.name,
            counted(rows, "row"),
            counted(columns, "column")
        );
        let note = tuples(self.theory, &self.sorts, &self.sizes);
        Diagnostic::error(Code::WrongShape, what).note(note)
    }
}
