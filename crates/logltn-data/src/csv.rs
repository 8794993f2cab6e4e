//! Tables as text with one header line: tables, features, labels and predicates given by numbers.

use std::path::Path;

use logltn_diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use rustc_hash::FxHashMap;

use super::array::{Array, Values};
use super::decimal_comma;
use super::file::read_bytes;
use super::problems::{Problems, counted, shown};
use super::records::{Records, in_words};

/// A CSV file: named columns, and cells that stay text until a column is read as integers, numbers or
/// labels. Blanks around cells are ignored. Cells may be separated by semicolons, tabs or bars instead of commas, as the
/// header has it; then numbers may have decimal commas.
///
/// ```
/// use logltn_data::CsvFile;
/// let file = CsvFile::parse(b"x,label\n1.5,cat\n2,dog\n", "points.csv")?;
/// assert_eq!(file.columns(), ["x", "label"]);
/// assert_eq!(file.reals(file.column_index("x")?)?, [1.5, 2.0]);
/// assert_eq!(file.labels(1)?, ["cat", "dog"]);
/// let wrong = file.column_index("lable").unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `label`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CsvFile {
    name: String,
    columns: Vec<String>,
    /// The header and all rows, each as wide as the header.
    records: Records,
    separator: u8,
    decimal_commas: bool,
}

/// How a cell failed to be what its column should hold.
struct Wrong {
    code: Code,
    what: String,
    help: Option<&'static str>,
}

impl CsvFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<CsvFile, Diagnostics> {
        CsvFile::parse(&read_bytes(path)?, &path.display().to_string())
    }

    /// Reads the bytes of a file; `name` stands for it in messages.
    pub fn parse(bytes: &[u8], name: &str) -> Result<CsvFile, Diagnostics> {
        let mut problems = Problems::new();
        let file = CsvFile::parse_as_far_as_possible(bytes, name, &mut problems);
        all_or_problems(file, problems, name)
    }

    /// Reads a file even if some rows are not as long as the header, so that its other mistakes are reported at
    /// the same time. [`CsvFile::whole_rows`] are the rows of the right length.
    pub fn read_as_far_as_possible(path: &Path, problems: &mut Problems) -> Option<CsvFile> {
        match read_bytes(path) {
            Ok(bytes) => {
                let name = path.display().to_string();
                CsvFile::parse_as_far_as_possible(&bytes, &name, problems)
            }
            Err(found) => {
                problems.extend(found);
                None
            }
        }
    }

    fn parse_as_far_as_possible(
        bytes: &[u8],
        name: &str,
        problems: &mut Problems,
    ) -> Option<CsvFile> {
        let (mut records, separator) = match Records::table(bytes, name) {
            Ok(records) => records,
            Err(found) => {
                problems.extend(found);
                return None;
            }
        };
        let columns: Vec<String> = (0..records.width(0))
            .map(|c| records.cell(0, c).to_string())
            .collect();
        let decimal_commas =
            separator != b',' && decimal_comma::replace(&mut records, separator, name, problems);
        let file = CsvFile {
            name: name.to_string(),
            columns,
            records,
            separator,
            decimal_commas,
        };
        file.check_names(problems);
        file.check_widths(problems);
        file.check_blank_lines(problems);
        if file.header_is_numbers() {
            problems.note_first(NUMERIC_HEADER);
        }
        Some(file)
    }

    /// The name or path in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the file is written, in words, if not with commas between cells.
    ///
    /// ```
    /// use logltn_data::CsvFile;
    /// let file = CsvFile::parse(b"x;y\n1,5;2\n", "points.csv")?;
    /// assert_eq!(file.written().as_deref(), Some("semicolons between cells, decimal commas"));
    /// assert_eq!(file.reals(0)?, [1.5]);
    /// # Ok::<(), logltn_diagnostics::Diagnostics>(())
    /// ```
    pub fn written(&self) -> Option<String> {
        let decimal = if self.decimal_commas {
            ", decimal commas"
        } else {
            ""
        };
        (self.separator != b',')
            .then(|| format!("{}s between cells{decimal}", in_words(self.separator)))
    }

    /// The names in the header. One of them may be empty, as in files written by pandas.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows, not counting the header.
    pub fn rows(&self) -> usize {
        self.records.len() - 1
    }

    /// The rows that are as long as the header: all of them, unless the file was read as far as possible.
    pub fn whole_rows(&self) -> impl Iterator<Item = usize> {
        let width = self.columns.len();
        (0..self.rows()).filter(move |row| self.records.width(row + 1) == width)
    }

    /// The text of a cell.
    ///
    /// # Panics
    /// If there is no such row (from 0, the header not counted) or column (from 0).
    pub fn cell(&self, row: usize, column: usize) -> &str {
        assert!(column < self.columns.len(), "no column {column}");
        self.records.cell(row + 1, column)
    }

    /// Where a cell is, as messages say it: ``points.csv, row 17 (line 19), column `x` ``. Rows
    /// count from 0, as individuals do; lines from 1, the header's.
    pub fn place(&self, row: usize, column: usize) -> String {
        format!(
            "{}, row {} (line {}), {}",
            self.name,
            row,
            self.records.line(row + 1),
            self.column_in_words(column)
        )
    }

    /// The 0-based position of a column.
    pub fn column_index(&self, name: &str) -> Result<usize, Diagnostic> {
        if let Some(index) = self.columns.iter().position(|c| c == name) {
            return Ok(index);
        }
        const MOST_LISTED: usize = 20;
        let mut list: Vec<String> = self
            .columns
            .iter()
            .take(MOST_LISTED)
            .map(|c| {
                if c.is_empty() {
                    "(no name)".into()
                } else {
                    shown(c)
                }
            })
            .collect();
        if self.columns.len() > MOST_LISTED {
            list.push(format!("… and {} more", self.columns.len() - MOST_LISTED));
        }
        let error = Diagnostic::error(
            Code::UnknownColumn,
            format!("{}: there is no column {}", self.name, shown(name)),
        )
        .note(format!("its columns are {}", list.join(", ")));
        if self.header_is_numbers() {
            return Err(error.note(NUMERIC_HEADER));
        }
        Err(error.maybe_help(did_you_mean(name, self.columns.iter().map(String::as_str))))
    }

    /// A column as integers.
    pub fn ints(&self, column: usize) -> Result<Vec<i64>, Diagnostics> {
        self.column(column, integer)
    }

    /// A column as finite numbers.
    pub fn reals(&self, column: usize) -> Result<Vec<f64>, Diagnostics> {
        self.column(column, real)
    }

    /// A column as integers; mistakes are added to `problems`.
    pub fn ints_into(&self, column: usize, problems: &mut Problems) -> Vec<i64> {
        self.column_into(column, integer, problems)
    }

    /// A column as finite numbers; mistakes are added to `problems`.
    pub fn reals_into(&self, column: usize, problems: &mut Problems) -> Vec<f64> {
        self.column_into(column, real, problems)
    }

    /// A column as labels: any text that is not empty.
    pub fn labels(&self, column: usize) -> Result<Vec<String>, Diagnostics> {
        self.column(column, |cell| {
            if cell.is_empty() {
                Err(Wrong {
                    code: Code::EmptyValue,
                    what: "expected a label, found an empty cell".to_string(),
                    help: None,
                })
            } else {
                Ok(cell.to_string())
            }
        })
    }

    /// A column as names: labels without duplicates.
    ///
    /// ```
    /// use logltn_data::CsvFile;
    /// let file = CsvFile::parse(b"name,age\nann,7\nbob,8\nann,9\n", "people.csv")?;
    /// let wrong = file.names(0).unwrap_err().to_string();
    /// assert!(wrong.contains("the name `ann` is in row 0 and again in row 2"), "{wrong}");
    /// # Ok::<(), logltn_diagnostics::Diagnostics>(())
    /// ```
    pub fn names(&self, column: usize) -> Result<Vec<String>, Diagnostics> {
        let names = self.labels(column)?;
        let mut problems = Problems::new();
        let mut first: FxHashMap<&str, usize> = FxHashMap::default();
        for (row, name) in names.iter().enumerate() {
            let Some(earlier) = first.insert(name, row) else {
                continue;
            };
            problems.push(|| {
                Diagnostic::error(
                    Code::DuplicateName,
                    format!(
                        "{}: the name {} is in row {} and again in row {}",
                        self.name,
                        shown(name),
                        earlier,
                        row
                    ),
                )
                .help("the names of individuals must differ")
            });
        }
        problems.finish(())?;
        Ok(names)
    }

    /// All columns as numbers: an array with the rows and columns of the file.
    pub fn matrix(&self) -> Result<Array, Diagnostics> {
        let columns: Vec<usize> = (0..self.columns.len()).collect();
        self.numbers(&columns)
    }

    /// Some columns as numbers, in this order: an array with the rows of the file.
    pub fn numbers(&self, columns: &[usize]) -> Result<Array, Diagnostics> {
        let mut problems = Problems::new();
        if self.rows() == 0 {
            problems.push(|| self.no_rows());
        }
        let array = self.numbers_into(columns, &mut problems);
        problems.finish(array)
    }

    /// The error for a file without rows where some are needed.
    pub fn no_rows(&self) -> Diagnostic {
        Diagnostic::error(
            Code::EmptyFile,
            format!("{}: the file has a header line but no rows", self.name),
        )
    }

    /// Reads a file of numbers, which may have no rows; mistakes in rows and in cells are reported together.
    pub fn parse_matrix(bytes: &[u8], name: &str) -> Result<(CsvFile, Array), Diagnostics> {
        let mut problems = Problems::new();
        let read = CsvFile::parse_as_far_as_possible(bytes, name, &mut problems).map(|file| {
            let columns: Vec<usize> = (0..file.columns.len()).collect();
            let array = file.numbers_into(&columns, &mut problems);
            (file, array)
        });
        all_or_problems(read, problems, name)
    }

    fn numbers_into(&self, columns: &[usize], problems: &mut Problems) -> Array {
        let nothing_yet = problems.is_empty();
        let mut values = Vec::with_capacity(self.rows() * columns.len());
        for row in self.whole_rows() {
            for &column in columns {
                match real(self.cell(row, column)) {
                    Ok(value) => values.push(value),
                    Err(wrong) => problems.push(|| self.wrong_cell(row, column, wrong)),
                }
            }
        }
        if nothing_yet && self.header_is_numbers() {
            problems.note_first(NUMERIC_HEADER);
        }
        Array {
            shape: vec![self.rows(), columns.len()],
            values: Values::F64(values.into()),
        }
    }

    fn column<T>(
        &self,
        column: usize,
        parse: impl Fn(&str) -> Result<T, Wrong>,
    ) -> Result<Vec<T>, Diagnostics> {
        let mut problems = Problems::new();
        let values = self.column_into(column, parse, &mut problems);
        problems.finish(values)
    }

    fn column_into<T>(
        &self,
        column: usize,
        parse: impl Fn(&str) -> Result<T, Wrong>,
        problems: &mut Problems,
    ) -> Vec<T> {
        let nothing_yet = problems.is_empty();
        let mut values = Vec::with_capacity(self.rows());
        for row in self.whole_rows() {
            match parse(self.cell(row, column)) {
                Ok(value) => values.push(value),
                Err(wrong) => problems.push(|| self.wrong_cell(row, column, wrong)),
            }
        }
        if nothing_yet && self.header_is_numbers() {
            problems.note_first(NUMERIC_HEADER);
        }
        values
    }

    fn wrong_cell(&self, row: usize, column: usize, wrong: Wrong) -> Diagnostic {
        Diagnostic::error(
            wrong.code,
            format!("{}: {}", self.place(row, column), wrong.what),
        )
        .maybe_help(wrong.help.map(str::to_string))
    }

    fn column_in_words(&self, column: usize) -> String {
        match self.columns.get(column).map(String::as_str) {
            None | Some("") => format!("column {column} (no name)"),
            Some(name) => format!("column {}", shown(name)),
        }
    }

    /// A file of numbers may well have the header `0,1,2`, so this is not an error; but if something else is wrong, a forgotten header line may be why.
    fn header_is_numbers(&self) -> bool {
        self.columns.iter().all(|c| c.parse::<f64>().is_ok())
    }

    fn check_names(&self, problems: &mut Problems) {
        let mut seen = FxHashMap::default();
        for (i, column) in self.columns.iter().enumerate() {
            let Some(first) = seen.insert(column.as_str(), i) else {
                continue;
            };
            let line = self.records.line(0);
            problems.push(|| {
                let (name, first, second) = (&self.name, first + 1, i + 1);
                let what = if column.is_empty() {
                    format!("columns {first} and {second} have no name; only one column may be without one")
                } else {
                    format!(
                        "columns {first} and {second} are both named {}",
                        shown(column)
                    )
                };
                Diagnostic::error(
                    Code::DuplicateName,
                    format!("{name}, header (line {line}): {what}"),
                )
                .help("give every column a different name")
            });
        }
    }

    fn check_widths(&self, problems: &mut Problems) {
        let width = self.columns.len();
        for row in 0..self.rows() {
            let found = self.records.width(row + 1);
            if found == width {
                continue;
            }
            problems.push(|| {
                let line = self.records.line(row + 1);
                let error = Diagnostic::error(
                    Code::MalformedCsv,
                    format!(
                        "{}, row {} (line {line}): expected {} as in the header, found {found}",
                        self.name,
                        row,
                        counted(width, "cell")
                    ),
                );
                self.explain_width(error, row, found)
            });
        }
    }

    /// With several columns a blank line cannot be a row. With one column it may be a row whose cell is
    /// empty, and skipping it would silently shift all later rows.
    fn check_blank_lines(&self, problems: &mut Problems) {
        if let (1, Some(line)) = (self.columns.len(), self.records.blank_line()) {
            problems.push(|| {
                Diagnostic::error(
                    Code::MalformedCsv,
                    format!(
                        "{}, line {line}: expected a row, found a blank line",
                        self.name
                    ),
                )
                .help("remove the line, or write `\"\"` for an empty cell")
            });
        }
    }

    fn explain_width(&self, error: Diagnostic, row: usize, found: usize) -> Diagnostic {
        let holds = |what| (0..found).any(|c| self.records.cell(row + 1, c).contains(what));
        let separator = in_words(self.separator);
        if found < self.columns.len() && holds(&[',', ';', '\t', '|'][..]) {
            error.help(format!(
                "separate cells with {separator}s, as in the header"
            ))
        } else if holds(&['\n'][..]) {
            error.help("the row goes over several lines: look for a quote `\"` too many")
        } else if found > self.columns.len() {
            error.help(format!(
                "a cell that contains a {separator} must be in quotes `\"…\"`"
            ))
        } else {
            error
        }
    }
}

/// What was read, if there were no problems. (If nothing was read, there were some.)
fn all_or_problems<T>(read: Option<T>, problems: Problems, name: &str) -> Result<T, Diagnostics> {
    let read = problems.finish(read)?;
    read.ok_or_else(|| Diagnostic::error(Code::Internal, format!("{name}: cannot be read")).into())
}

const NUMERIC_HEADER: &str = "the header line consists of numbers: every CSV file starts with a line \
                              of column names; is it missing?";

fn integer(cell: &str) -> Result<i64, Wrong> {
    cell.parse().map_err(|error: std::num::ParseIntError| {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        match error.kind() {
            PosOverflow | NegOverflow => Wrong {
                code: Code::NumberTooLarge,
                what: format!("the integer {} does not fit into 64 bits", shown(cell)),
                help: None,
            },
            _ => Wrong {
                code: Code::MalformedNumber,
                what: format!("expected an integer, found {}", shown(cell)),
                help: cell
                    .parse::<f64>()
                    .is_ok_and(|x| x.fract() == 0.0)
                    .then_some("write it without a decimal point"),
            },
        }
    })
}

fn real(cell: &str) -> Result<f64, Wrong> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if cell.contains(|c: char| c.is_ascii_digit()) => Err(Wrong {
            code: Code::NumberTooLarge,
            what: format!("the number {} is too large", shown(cell)),
            help: Some("the largest number is about 1.8e308"),
        }),
        Ok(_) => Err(Wrong {
            code: Code::NotFinite,
            what: format!("expected a finite number, found {}", shown(cell)),
            help: None,
        }),
        Err(_) => Err(Wrong {
            code: Code::MalformedNumber,
            what: format!("expected a number, found {}", shown(cell)),
            help: (cell.contains(',') && cell.replace(',', ".").parse::<f64>().is_ok())
                .then_some("write the decimal point as a dot"),
        }),
    }
}
