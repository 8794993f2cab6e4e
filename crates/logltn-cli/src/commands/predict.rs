//! `logltn predict`: the values of a predicate or a function.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use logltn::theory::{ArgumentSort, Sort, SortKind};
use logltn::{Code, Diagnostic, Diagnostics, OutputKind, harmless};
use logltn_learn::AskedRows;
use logltn_learn::{Answers, Foretold, Predictions};
use logltn_train::train::{Asking, Predictor};

use crate::commands::meaning::Operators;
use crate::console;
use crate::ctrl_c::{self, Unsaved};
use crate::outcome::Outcome;
use crate::standard_input;
use crate::text::thousands;
use crate::whole_file::{self, failed};

/// Print the values of a predicate, function or definition as CSV.
///
/// For all tuples of individuals, for the rows of a file, or for new individuals. Only what the predicate needs is read:
/// tables, params and axioms of the manifest that it does not use are skipped. A predicate with classes gives the most
/// probable one. Where axioms are laws
/// (`hard = true` in the manifest, or `--given`), they are read too, and truths are probabilities given that all of them hold.
/// The value of a definition depends on the semantics and on everything that the manifest names. Under `probability`, one that
/// begins with `forall` gets the mean over these `forall`s, as an axiom does; `query --joint` asks for the whole event.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// The predicate, function or definition
    #[arg(value_name = "PREDICATE")]
    symbol: String,
    /// The folder of a run, finished or not; needed where something is learnt
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Read the individuals of a sort, with their features, from this file; `-` is standard input
    #[arg(long, value_name = "SORT=FILE", value_parser = sort_and_file)]
    features: Vec<(String, PathBuf)>,
    /// The format of standard input [default: recognised]
    #[arg(long, value_parser = ["csv", "npy", "npz", "safetensors", "idx"])]
    format: Option<String>,
    /// Predict for the rows of this CSV file, whose columns are named after the arguments; `-` is standard input
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Add a column for each class
    #[arg(long)]
    classes: bool,
    /// As rules, the most confident first: `father, sister -> aunt  0.998`
    #[arg(long, conflicts_with_all = ["classes", "world", "json"])]
    rules: bool,
    /// Take these axioms as laws instead of those that the manifest makes hard; `none` for none
    #[arg(long, value_name = "AXIOM,…")]
    given: Option<String>,
    /// What is true in the most probable world that keeps all laws, instead of how probable each atom is
    #[arg(long, conflicts_with = "classes")]
    world: bool,
    /// Write to this file instead
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    operators: Operators,
}

fn sort_and_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((sort, file)) if !sort.is_empty() && !file.is_empty() => {
            Ok((sort.trim().to_string(), PathBuf::from(file)))
        }
        _ => Err("expected a sort and a file, `Point=points.csv`".to_string()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (mut features, mut rows) = (arguments.features.clone(), arguments.rows.clone());
    let from_input = (features
        .iter_mut()
        .map(|(_, file)| (file, arguments.format.as_deref())))
    .chain(rows.iter_mut().map(|file| (file, Some("csv"))))
    .filter(|(file, _)| standard_input::is_it(file));
    // Kept until all of it has been read.
    let input = standard_input::keep(from_input.collect())?;
    let done = from_files(arguments, &features, rows.as_deref());
    done.map_err(|errors| match &input {
        Some(input) => input.named(&errors),
        None => errors,
    })
}

fn from_files(
    arguments: &Arguments,
    features: &[(String, PathBuf)],
    rows: Option<&Path>,
) -> Result<Outcome, Diagnostics> {
    let Arguments { manifest, run, .. } = arguments;
    let given = arguments.given.as_deref().map(super::sample::listed_laws);
    let mut predictor = Predictor::load(&Asking {
        manifest,
        run: run.as_deref(),
        symbols: std::slice::from_ref(&arguments.symbol),
        features,
        given: given.as_deref(),
    })?;
    let by_class = [(arguments.classes, "classes"), (arguments.rules, "rules")];
    if let Some((_, flag)) = by_class.into_iter().find(|(given, _)| *given)
        && !matches!(predictor.asked().answers(), Answers::Classes(_))
    {
        let what = format!("`--{flag}`: `{}` has no classes", arguments.symbol);
        return Err(Diagnostic::error(Code::NoClasses, what)
            .help("a predicate has classes if it is a softmax, or has a number for each individual of its last argument")
            .into());
    }
    if arguments.world && predictor.asked().is_function() {
        let what = format!("`--world`: `{}` is a function", arguments.symbol);
        let error = Diagnostic::error(Code::NoClasses, what);
        return Err(error.help("worlds assign truth to predicates").into());
    }
    let rows = rows.map(|path| predictor.rows(path));
    let rows = rows.transpose()?;
    let count = predictor.count(rows.as_ref())?;
    if let Some(out) = &arguments.out {
        predictor.project().may_write(out)?;
    }
    let (semantics, last) = predictor.meaning();
    predictor.mean(
        arguments.operators.semantics(semantics),
        arguments.operators.parameters(last),
    );
    console::report(predictor.warnings());
    let bar = progress(count, arguments.out.is_none());
    let written = write(&mut predictor, rows.as_ref(), arguments, &bar);
    bar.finish_and_clear();
    match written {
        Ok(()) => Ok(Outcome::Done),
        // Laws are compiled, and definitions planned, before the first row is written: what these refuse is the input.
        Err(errors) if !errors.iter().any(is_failure) => Err(errors),
        Err(errors) => {
            console::report(&errors);
            Ok(Outcome::Failed)
        }
    }
}

/// Whether a prediction ended for a reason that is not in the input.
fn is_failure(error: &Diagnostic) -> bool {
    matches!(
        error.code(),
        Code::CannotWrite | Code::Interrupted | Code::NotFinite | Code::TooMuchMemory
    )
}

/// A progress bar, unless rows go to the same terminal.
fn progress(count: u64, to_stdout: bool) -> ProgressBar {
    if to_stdout && io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = "{bar:30} {human_pos}/{human_len} rows  {per_sec}  {elapsed} elapsed, {eta} left";
    console::progress_bar(count, style)
}

fn write(
    predictor: &mut Predictor,
    rows: Option<&AskedRows>,
    arguments: &Arguments,
    bar: &ProgressBar,
) -> Result<(), Diagnostics> {
    let Some(path) = &arguments.out else {
        let out = BufWriter::new(io::stdout().lock());
        let name = Path::new("standard output");
        return write_to(predictor, rows, arguments, bar, out, name).map(drop);
    };
    // The file is written whole or not at all, also on Ctrl-C.
    let (stop, _unsaved) = (ctrl_c::asks_to_stop(), Unsaved::new());
    let out = Stoppable {
        out: BufWriter::new(whole_file::beside(path)?),
        stop,
    };
    let Stoppable { out, .. } = write_to(predictor, rows, arguments, bar, out, path)?;
    let file = out.into_inner().map_err(|e| failed(path, e.error()))?;
    file.persist(path).map_err(|e| failed(path, &e.error))?;
    Ok(())
}

/// Fails on Ctrl-C.
struct Stoppable<W> {
    out: W,
    stop: Arc<AtomicBool>,
}

impl<W: Write> Write for Stoppable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(io::Error::other("it was asked to stop")),
            false => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_to<W: Write>(
    predictor: &mut Predictor,
    rows: Option<&AskedRows>,
    arguments: &Arguments,
    bar: &ProgressBar,
    mut out: W,
    name: &Path,
) -> Result<W, Diagnostics> {
    let numbers = rows.map_or(&[][..], |rows| &rows.numbers);
    let page = Page::new(predictor, numbers, arguments.classes);
    if arguments.world {
        let text = page.world(predictor, rows, arguments.json)?;
        return finish(out, name, &text);
    }
    if arguments.rules {
        let text = page.rules(predictor, rows)?;
        return finish(out, name, &harmless(&text));
    }
    // A file gets the names as they are; a terminal would interpret control characters.
    let at_terminal = arguments.out.is_none() && io::stdout().is_terminal();
    let shown = |text: &str| match at_terminal {
        true => harmless(text).into_owned(),
        false => text.to_string(),
    };
    let mut failed = None;
    let mut text = match arguments.json {
        true => page.json_head(),
        false => page.csv_head(),
    };
    let mut first = true;
    let (foretold, mut done) = (Foretold::default(), 0);
    let all = predictor.count(rows)?;
    predictor.each_block(rows, |block, said| {
        done += said.rows().count() as u64;
        foretold.done(done, all, || format!("there are {} rows", thousands(all)));
        for (row, numbers) in said.rows().enumerate() {
            let cells = &block[row * page.columns.len()..][..page.columns.len()];
            match arguments.json {
                true => page.json_row(&mut text, cells, said, numbers, first),
                false => page.csv_row(&mut text, cells, said, numbers),
            }
            if let Some(&disagreement) = said.disagreement.get(row) {
                Page::disagreement(&mut text, disagreement, arguments.json);
            }
            text.push_str(if arguments.json { "}" } else { "\n" });
            first = false;
        }
        if let Err(error) = out.write_all(shown(&text).as_bytes()) {
            failed = Some(error);
            return ControlFlow::Break(());
        }
        text.clear();
        bar.inc(said.rows().count() as u64);
        ControlFlow::Continue(())
    })?;
    if arguments.json {
        text += if first { "]" } else { "\n  ]" };
        if !predictor.warnings().is_empty() {
            let warnings = serde_json::to_string(&console::messages(predictor.warnings()));
            text += &format!(",\n  \"warnings\": {}", warnings.unwrap_or_default());
        }
        text += "\n}\n";
    }
    match failed {
        Some(error) => written(Err(error), name).map(|()| out),
        None => finish(out, name, &shown(&text)),
    }
}

/// Writes the last of it.
fn finish<W: Write>(mut out: W, name: &Path, text: &str) -> Result<W, Diagnostics> {
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written(result, name).map(|()| out)
}

/// The result of writing.
pub(super) fn written(result: io::Result<()>, name: &Path) -> Result<(), Diagnostics> {
    match result {
        // A closed pipe (`| head`) is not a failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(failed(name, &error).into()),
        _ => Ok(()),
    }
}

/// How rows are written.
struct Page<'a> {
    symbol: String,
    is_softmax: bool,
    is_function: bool,
    columns: Vec<String>,
    /// For a class too.
    all_columns: Vec<String>,
    /// The sort of each argument; `None` if it is a number.
    sorts: Vec<Option<Sort>>,
    /// The arguments that are numbers.
    numbers: &'a [f64],
    /// The names of the classes, if there are classes.
    class_names: Option<Vec<String>>,
    class_sort: Option<Sort>,
    all_classes: bool,
    values: usize,
    /// For a function whose values are individuals.
    value_sort: Option<Sort>,
    /// Whether several runs answer together.
    ensemble: bool,
}

impl<'a> Page<'a> {
    fn new(predictor: &Predictor, numbers: &'a [f64], all_classes: bool) -> Page<'a> {
        let (asked, project) = (predictor.asked(), predictor.project());
        let theory = project.theory();
        let class_sort = match asked.answers() {
            Answers::Classes(sort) => Some(sort),
            Answers::Truth | Answers::Values(_) | Answers::Individual(_) => None,
        };
        Page {
            symbol: asked.name().to_string(),
            is_softmax: (asked.predicate()).is_some_and(|(_, o)| o.kind == OutputKind::Softmax),
            is_function: asked.is_function(),
            columns: predictor.columns(),
            all_columns: project.argument_names(asked.name()),
            sorts: (asked.arguments().iter())
                .map(|argument| match argument {
                    ArgumentSort::Sort(sort) => Some(theory[*sort].clone()),
                    ArgumentSort::Vector(_) => None,
                })
                .collect(),
            numbers,
            class_names: class_sort.map(|sort| {
                let size = project.data.size(sort);
                (0..size).map(|i| individual(&theory[sort], i)).collect()
            }),
            class_sort: class_sort.map(|sort| theory[sort].clone()),
            all_classes,
            values: match asked.answers() {
                Answers::Values(width) => width,
                Answers::Individual(_) => 1,
                Answers::Truth | Answers::Classes(_) => 0,
            },
            value_sort: match asked.answers() {
                Answers::Individual(sort) => Some(theory[sort].clone()),
                _ => None,
            },
            ensemble: predictor.members() > 1,
        }
    }

    fn csv_head(&self) -> String {
        let mut head: Vec<String> = self.columns.iter().map(|c| quoted(c)).collect();
        match (&self.class_names, self.is_function) {
            (_, true) if self.values == 1 => head.push("value".to_string()),
            (_, true) => head.extend((1..=self.values).map(|i| format!("value{i}"))),
            (Some(classes), false) => {
                head.extend(["prediction", "truth"].map(String::from));
                if self.all_classes {
                    head.extend(classes.iter().map(|c| quoted(c)));
                }
            }
            (None, false) => head.push("truth".to_string()),
        }
        if self.ensemble {
            head.push("disagreement".to_string());
        }
        head.join(",") + "\n"
    }

    /// The arguments of a row as text, individuals in this way.
    fn cells<'c>(
        &'c self,
        row: &'c [u32],
        individual: fn(&Sort, usize) -> String,
    ) -> impl Iterator<Item = String> + 'c {
        let row = self.sorts.iter().zip(row);
        row.map(move |(sort, &i)| match sort {
            Some(sort) => individual(sort, i as usize),
            None => exact(self.numbers[i as usize]),
        })
    }

    fn csv_row(&self, text: &mut String, row: &[u32], said: &Predictions, numbers: &[f64]) {
        for cell in self.cells(row, csv_individual) {
            *text += &cell;
            text.push(',');
        }
        match (said.answers, &self.class_names) {
            (Answers::Individual(_), _) => {
                if let (Some(sort), [index]) = (&self.value_sort, numbers) {
                    *text += &csv_individual(sort, *index as usize);
                }
            }
            (Answers::Classes(_), Some(names)) => {
                let class = logltn_learn::largest(numbers);
                *text += &quoted(&names[class]);
                text.push(',');
                *text += &exact(numbers[class]);
                if self.all_classes {
                    for &number in numbers {
                        text.push(',');
                        *text += &exact(number);
                    }
                }
            }
            _ => {
                for (i, &number) in numbers.iter().enumerate() {
                    *text += if i == 0 { "" } else { "," };
                    *text += &exact(number);
                }
            }
        }
    }

    /// What follows from what, the most confident first; of equals in the order of the tuples.
    fn rules(
        &self,
        predictor: &mut Predictor,
        rows: Option<&AskedRows>,
    ) -> Result<String, Diagnostics> {
        let names = self.class_names.as_deref().unwrap_or_default();
        let mut rules: Vec<(String, &str, f64)> = Vec::new();
        predictor.each_block(rows, |block, said| {
            for (row, numbers) in said.rows().enumerate() {
                let cells = &block[row * self.columns.len()..][..self.columns.len()];
                let premise = self.cells(cells, individual).collect::<Vec<_>>();
                let premise = premise.join(", ");
                let class = logltn_learn::largest(numbers);
                rules.push((premise, &names[class], numbers[class]));
            }
            ControlFlow::Continue(())
        })?;
        rules.sort_by(|(_, _, a), (_, _, b)| b.total_cmp(a));
        let width = |text: &str| text.chars().count();
        let widest = |of: fn(&(String, &str, f64)) -> usize| rules.iter().map(of).max();
        let premises = widest(|(premise, ..)| premise.chars().count()).unwrap_or(0);
        let conclusions = widest(|(_, conclusion, _)| conclusion.chars().count()).unwrap_or(0);
        let mut text = String::new();
        for (premise, conclusion, truth) in &rules {
            let _ = writeln!(
                text,
                "{premise}{} -> {conclusion}{}  {truth:.3}",
                " ".repeat(premises - width(premise)),
                " ".repeat(conclusions - width(conclusion)),
            );
        }
        Ok(text)
    }

    /// How far the members of an ensemble disagree.
    fn disagreement(text: &mut String, disagreement: f64, json: bool) {
        *text += if json { ", \"disagreement\": " } else { "," };
        *text += &exact(disagreement);
    }

    /// The whole document of the most probable world.
    fn world(
        &self,
        predictor: &mut Predictor,
        rows: Option<&AskedRows>,
        json: bool,
    ) -> Result<String, Diagnostics> {
        let (arguments, world) = predictor.world(rows)?;
        // Each class has its own row, unless they exclude each other.
        let with_class = self.class_sort.as_ref().filter(|_| !self.is_softmax);
        let columns = match with_class {
            Some(_) => &self.all_columns,
            None => &self.columns,
        };
        let mut text = match json {
            true => format!(
                "{{\n  \"predicate\": {},\n  \"log_probability\": {},\n  \"rows\": [",
                string(&self.symbol),
                // The probability of a world found by a minimum cut is unknown.
                match world.log_probability {
                    log if log.is_nan() => "null".to_string(),
                    log => exact(log).to_string(),
                }
            ),
            false => {
                let mut head: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
                head.push("prediction".to_string());
                head.join(",") + "\n"
            }
        };
        let individual = if json {
            json_individual
        } else {
            csv_individual
        };
        let arity = self.columns.len();
        let mut first = true;
        for (row, states) in world.states.iter().enumerate() {
            let tuple = &arguments[row * arity..(row + 1) * arity];
            for (class, &state) in states.iter().enumerate() {
                let mut cells: Vec<String> = self.cells(tuple, individual).collect();
                cells.extend(with_class.map(|sort| individual(sort, class)));
                let said = match (&self.class_sort, self.is_softmax) {
                    (Some(sort), true) => individual(sort, state as usize),
                    _ => state.to_string(),
                };
                if json {
                    let named = columns.iter().zip(&cells);
                    let named = named.map(|(name, cell)| format!("{}: {cell}", string(name)));
                    let named: Vec<String> = named.collect();
                    let comma = if std::mem::take(&mut first) { "" } else { "," };
                    let arguments = named.join(", ");
                    let _ = write!(
                        text,
                        "{comma}\n    {{\"arguments\": {{{arguments}}}, \"prediction\": {said}}}"
                    );
                } else {
                    cells.push(said);
                    text += &cells.join(",");
                    text.push('\n');
                }
            }
        }
        if json {
            text += if first { "]\n}\n" } else { "\n  ]\n}\n" };
        }
        Ok(text)
    }

    fn json_head(&self) -> String {
        let what = match self.is_function {
            true => "function",
            false => "predicate",
        };
        format!("{{\n  \"{what}\": {},\n  \"rows\": [", string(&self.symbol))
    }

    fn json_row(
        &self,
        text: &mut String,
        row: &[u32],
        said: &Predictions,
        numbers: &[f64],
        first: bool,
    ) {
        *text += if first { "\n    " } else { ",\n    " };
        *text += "{\"arguments\": {";
        let cells = self.cells(row, json_individual);
        for (k, (name, argument)) in self.columns.iter().zip(cells).enumerate() {
            *text += if k == 0 { "" } else { ", " };
            let _ = write!(text, "{}: {argument}", string(name));
        }
        text.push_str("}, ");
        match (said.answers, &self.class_names, &self.class_sort) {
            (Answers::Classes(_), Some(names), Some(sort)) => {
                let class = logltn_learn::largest(numbers);
                let (truth, prediction) = (exact(numbers[class]), json_individual(sort, class));
                let _ = write!(text, "\"truth\": {truth}, \"prediction\": {prediction}");
                if self.all_classes {
                    *text += ", \"classes\": {";
                    for (k, (name, &number)) in names.iter().zip(numbers).enumerate() {
                        *text += if k == 0 { "" } else { ", " };
                        let _ = write!(text, "{}: {}", string(name), exact(number));
                    }
                    text.push('}');
                }
            }
            (Answers::Individual(_), ..) => {
                if let (Some(sort), [index]) = (&self.value_sort, numbers) {
                    let value = json_individual(sort, *index as usize);
                    let _ = write!(text, "\"value\": {value}");
                }
            }
            (Answers::Values(_), ..) if numbers.len() != 1 => {
                let values: Vec<String> = numbers.iter().map(|&x| exact(x)).collect();
                let _ = write!(text, "\"value\": [{}]", values.join(", "));
            }
            (answers, ..) => {
                let key = match answers {
                    Answers::Values(_) | Answers::Individual(_) => "value",
                    Answers::Truth | Answers::Classes(_) => "truth",
                };
                let number = numbers.first().copied().unwrap_or_default();
                let _ = write!(text, "\"{key}\": {}", exact(number));
            }
        }
    }
}

/// An individual by its name if it has one, otherwise by its number.
pub(super) fn individual(sort: &Sort, index: usize) -> String {
    match sort.kind == SortKind::Data && sort.labels.is_empty() {
        true => index.to_string(),
        false => sort.individual_name(index),
    }
}

fn csv_individual(sort: &Sort, index: usize) -> String {
    quoted(&individual(sort, index))
}

fn json_individual(sort: &Sort, index: usize) -> String {
    match sort.labels.is_empty() {
        true => individual(sort, index),
        false => string(&individual(sort, index)),
    }
}

/// The shortest number that is read back as the same.
fn exact(number: f64) -> String {
    let text = format!("{number:?}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_string(),
        None => text,
    }
}

/// A cell of a CSV.
pub(super) fn quoted(cell: &str) -> String {
    let plain = |c: char| !matches!(c, ',' | '"' | '\n' | '\r');
    match cell.chars().all(plain) && cell.trim() == cell && !cell.is_empty() {
        true => cell.to_string(),
        false => format!("\"{}\"", cell.replace('"', "\"\"")),
    }
}

fn string(text: &str) -> String {
    console::json_escapes(&serde_json::Value::from(text).to_string())
}
