//! `logltn new`: a project from one CSV file, or an example to start from.

mod columns;
mod texts;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_data::problems::shown;
use logltn_data::{ColumnKind, CsvFile, Preparation, is_missing, mixed_column, read_bytes};
use logltn_train::project::Project;

use crate::commands::example;
use crate::console;
use crate::outcome::Outcome;
use crate::text::number;

use columns::{Task, Use, Wanted};
use texts::Plan;

/// Make a project from a CSV file: a folder with a theory, a manifest and the data, ready to train.
///
/// One column is the target and the others are features: numbers are scaled, categories and dates become numbers, missing
/// cells are allowed. Some rows are held out, and training ends with the accuracy on them. Without `--from` the folder gets
/// an example; without a name, the examples are listed.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder to make; theory and manifest get its name
    #[arg(value_name = "NAME")]
    name: Option<PathBuf>,
    /// The CSV file, with a line of column names
    #[arg(long, value_name = "FILE", requires = "name")]
    from: Option<PathBuf>,
    /// The column to predict
    #[arg(long, value_name = "COLUMN", requires = "from")]
    target: Option<String>,
    /// A column whose values name the rows
    #[arg(long, value_name = "COLUMN", requires = "from")]
    names: Option<String>,
    /// The share of rows held out for testing, unless a column `split` says `train` or `test` [default: 0.2]
    #[arg(long, value_name = "FRACTION", requires = "from", value_parser = fraction)]
    test: Option<f64>,
    /// Whether the column holds classes or numbers [default: by its values]
    #[arg(long, value_name = "WHAT", requires = "from")]
    predict: Option<Wanted>,
}

fn fraction(text: &str) -> Result<f64, String> {
    number(text, "a share above 0 and below 1, such as 0.2", |x| {
        x > 0.0 && x < 1.0
    })
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let Some(name) = &arguments.name else {
        let how = "from a CSV file: `logltn new NAME --from data.csv --target COLUMN`\n\
                   with example data: `logltn new NAME`\n\nother examples\n";
        return console::print(&format!("{how}{}", example::list()));
    };
    match make(arguments, name) {
        Ok((said, warnings)) => {
            console::report(&warnings);
            console::print(&said)
        }
        Err(errors) => console::wrong_input(&errors, false),
    }
}

/// Makes the project, and describes it.
fn make(arguments: &Arguments, folder: &Path) -> Result<(String, Diagnostics), Diagnostics> {
    let stem = project_name(folder)?;
    example::must_be_empty(folder, "choose another name")?;
    let (bytes, from) = match &arguments.from {
        Some(from) => (read_bytes(from)?, from.clone()),
        None => (flowers().into_bytes(), PathBuf::from("flowers.csv")),
    };
    let file = CsvFile::parse(&bytes, &from.display().to_string())?;
    let (target, names) = target_and_names(arguments, &file)?;
    let task = columns::task(&file, target, arguments.predict)?;
    let is_split = |column: usize| column != target && Some(column) != names;
    let split = columns::split(&file)?.filter(|column| is_split(*column));
    if let (Some(_), Some(_)) = (split, arguments.test) {
        let what = format!(
            "`--test` cannot be given: the column `split` of {} says which rows are for testing",
            file.name()
        );
        return Err(Diagnostic::error(Code::ConflictingKeys, what)
            .help("leave it out, or rename the column")
            .into());
    }
    let Columns {
        features,
        except,
        left_out,
    } = features(&file, target, names, split)?;
    // Messages name the given file: the copy is removed if it is refused.
    let columns: Vec<usize> = features.iter().map(|(column, _)| *column).collect();
    Preparation::fit(&file, &columns, &BTreeMap::new(), |_| true)?;
    let learnt_from = (0..file.rows()).filter(|row| {
        let in_train = split.is_none_or(|split| file.cell(*row, split) == "train");
        in_train && !is_missing(file.cell(*row, target))
    });
    let labelled = learnt_from.count();
    check_split(&file, target, split, labelled)?;
    let test = arguments.test.unwrap_or(0.2);
    let rows_to_learn = match split {
        Some(_) => labelled,
        None => (labelled as f64 * (1.0 - test)).round() as usize,
    };
    let copy = match from
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
    {
        Some(name) if name.to_lowercase().ends_with(".csv") && arguments.from.is_some() => name,
        _ => format!("{stem}.csv"),
    };
    let plan = Plan {
        name: stem.clone(),
        file: &file,
        copy,
        target,
        names,
        split,
        test,
        task,
        features,
        except,
    };
    let made = [
        (format!("{stem}.ltn"), plan.theory().into_bytes()),
        (
            format!("{stem}.toml"),
            plan.manifest(rows_to_learn).into_bytes(),
        ),
        (plan.copy.clone(), bytes),
    ];
    write(folder, &made)?;
    let manifest = folder.join(format!("{stem}.toml"));
    let mut warnings = Diagnostics::new();
    if let (Task::Classes(_), Some(mixed)) = (&plan.task, mixed_column(&file, target)) {
        warnings.push(mixed);
    }
    if Project::load(&manifest, &mut warnings).is_none() {
        remove(folder, &made);
        return Err(warnings);
    }
    Ok((said(&plan, &manifest, folder, &left_out), warnings))
}

/// The last part of the folder's path.
fn project_name(folder: &Path) -> Result<String, Diagnostics> {
    let stem = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty() && !stem.starts_with('.'))
        .ok_or_else(|| {
            let what = format!("`{}` cannot be the name of a project", folder.display());
            Diagnostic::error(Code::ValueOutOfRange, what)
                .help("give the name of a new folder, such as `iris`")
                .into()
        })
}

/// The column to predict, and that of names, which can be asked for.
fn target_and_names(
    arguments: &Arguments,
    file: &CsvFile,
) -> Result<(usize, Option<usize>), Diagnostics> {
    let target = match (&arguments.target, &arguments.from) {
        (Some(target), _) => file.column_index(target)?,
        (None, Some(_)) => ask_target(file)?,
        (None, None) => file.column_index("species")?,
    };
    let names = match (&arguments.names, &arguments.from) {
        (Some(names), _) => Some(file.column_index(names)?),
        (None, Some(_)) => ask_names(file, target)?,
        (None, None) => None,
    };
    if names == Some(target) {
        let what = format!(
            "column {} cannot be both target and names",
            shown(&file.columns()[target])
        );
        return Err(Diagnostic::error(Code::ConflictingKeys, what).into());
    }
    if let Some(names) = names {
        file.names(names)?;
    }
    Ok((target, names))
}

/// What the columns of a file are used for.
struct Columns {
    features: Vec<(usize, ColumnKind)>,
    except: Vec<usize>,
    /// Those of no use, with the reason.
    left_out: Vec<String>,
}

fn features(
    file: &CsvFile,
    target: usize,
    names: Option<usize>,
    split: Option<usize>,
) -> Result<Columns, Diagnostics> {
    let (mut features, mut except, mut left_out) = (Vec::new(), vec![target], Vec::new());
    except.extend(split);
    for column in 0..file.columns().len() {
        if column == target || Some(column) == names || Some(column) == split {
            continue;
        }
        match columns::feature(file, column) {
            Use::Feature(kind) => features.push((column, kind)),
            Use::LeftOut(why) => {
                except.push(column);
                left_out.push(format!("{}: {why}", column_name(file, column)));
            }
        }
    }
    if features.is_empty() {
        let what = format!(
            "{}: no column is left to predict {} from",
            file.name(),
            column_name(file, target)
        );
        let mut error = Diagnostic::error(Code::NoFeatures, what);
        for why in left_out.iter().take(5) {
            error = error.note(format!("column {why}"));
        }
        return Err(error.into());
    }
    Ok(Columns {
        features,
        except,
        left_out,
    })
}

/// Otherwise an empty test set would be noticed only after training.
fn check_split(
    file: &CsvFile,
    target: usize,
    split: Option<usize>,
    labelled: usize,
) -> Result<(), Diagnostic> {
    let Some(split) = split else { return Ok(()) };
    let tested = (0..file.rows())
        .any(|row| file.cell(row, split) == "test" && !is_missing(file.cell(row, target)));
    let part = match (labelled, tested) {
        (0, _) => "train",
        (_, false) => "test",
        _ => return Ok(()),
    };
    let what = format!(
        "{}: column {} is missing in every row whose `split` is `{part}`",
        file.name(),
        column_name(file, target)
    );
    Err(Diagnostic::error(Code::NothingToTrain, what))
}

fn column_name(file: &CsvFile, column: usize) -> String {
    match file.columns()[column].as_str() {
        "" => format!("{} (no name)", column + 1),
        name => shown(name),
    }
}

/// The description of the project, and the next commands.
fn said(plan: &Plan<'_>, manifest: &Path, folder: &Path, left_out: &[String]) -> String {
    let file = plan.file;
    let (symbol, target) = (plan.symbol(), plan.target);
    let mut text = format!("{}: theory, manifest and data\n", folder.display());
    if let Some(written) = file.written() {
        let _ = writeln!(text, "the file is read with {written}");
    }
    let unlabelled = (0..file.rows())
        .filter(|row| is_missing(file.cell(*row, target)))
        .count();
    let what = match &plan.task {
        Task::Classes(classes) => {
            let names = classes.iter().map(|class| shown(class)).collect();
            format!("one of {} classes ({})", classes.len(), first_few(names))
        }
        Task::Number { .. } => "a number".to_string(),
    };
    let _ = writeln!(
        text,
        "to predict: {}, {what}, of {} rows",
        column_name(file, target),
        file.rows()
    );
    if unlabelled > 0 {
        let _ = writeln!(
            text,
            "unlabelled: {unlabelled} rows have no label; rules apply to them too"
        );
    }
    if symbol != file.columns()[target] {
        let _ = writeln!(text, "in the theory it is called `{symbol}`");
    }
    for (kind, what) in [
        (ColumnKind::Number, "numbers"),
        (ColumnKind::Category, "categories"),
        (ColumnKind::Date, "dates"),
    ] {
        let names: Vec<String> = (plan.features.iter())
            .filter(|(_, k)| *k == kind)
            .map(|(column, _)| column_name(file, *column))
            .collect();
        if !names.is_empty() {
            let _ = writeln!(text, "{what}: {}", first_few(names));
        }
    }
    for why in left_out {
        let _ = writeln!(text, "left out: {why}");
    }
    let run = folder.join("run");
    let (manifest, run) = (argument(manifest), argument(&run));
    let _ = write!(
        text,
        "\nlogltn train {manifest} --out {run}\nlogltn predict {manifest} --run {run} {symbol} --features Row={}\n",
        argument(&folder.join(&plan.copy))
    );
    text
}

/// A list that is not too long.
fn first_few(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(12);
    names.truncate(12);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// A path as it can be pasted to a shell.
fn argument(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:".contains(c);
    match text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Whether there is a terminal to ask at.
fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for one of these columns; `None` without an answer.
fn ask(file: &CsvFile, columns: &[usize], question: &str) -> Result<Option<usize>, Diagnostics> {
    let mut shown = String::new();
    for &column in columns {
        let _ = writeln!(shown, "  {:>3}  {}", column + 1, column_name(file, column));
    }
    console::complain(&format!("{shown}{question} "));
    let _ = io::stderr().flush();
    let mut line = String::new();
    let _ = io::stdin().lock().read_line(&mut line);
    let answer = line.trim();
    let is_name = file.columns().iter().any(|name| name == answer);
    match answer.parse::<usize>() {
        _ if answer.is_empty() => Ok(None),
        Ok(n) if !is_name && columns.contains(&n.wrapping_sub(1)) => Ok(Some(n - 1)),
        _ => Ok(Some(file.column_index(answer)?)),
    }
}

/// Asks which column to predict, at a terminal.
fn ask_target(file: &CsvFile) -> Result<usize, Diagnostics> {
    let columns: Vec<usize> = (0..file.columns().len()).collect();
    if can_ask() {
        let question = "which column should be predicted? (name or number)";
        if let Some(target) = ask(file, &columns, question)? {
            return Ok(target);
        }
    }
    let list: Vec<String> = columns.iter().map(|c| column_name(file, *c)).collect();
    Err(Diagnostic::error(
        Code::MissingKey,
        format!("{}: which column should be predicted?", file.name()),
    )
    .note(format!("its columns are {}", list.join(", ")))
    .help("name it with `--target COLUMN`")
    .into())
}

/// Asks which column names the rows, at a terminal and if some column could.
fn ask_names(file: &CsvFile, target: usize) -> Result<Option<usize>, Diagnostics> {
    let columns: Vec<usize> = (0..file.columns().len())
        .filter(|c| *c != target && !file.columns()[*c].is_empty())
        .filter(|c| columns::could_be_names(file, *c))
        .collect();
    match columns.is_empty() || !can_ask() {
        true => Ok(None),
        false => ask(file, &columns, "which column names the rows? (Enter: none)"),
    }
}

fn write(folder: &Path, made: &[(String, Vec<u8>)]) -> Result<(), Diagnostics> {
    let fail = |path: &Path, error: io::Error| {
        let what = format!("{}: cannot be written: {error}", path.display());
        Diagnostics::from(Diagnostic::error(Code::CannotWrite, what))
    };
    std::fs::create_dir_all(folder).map_err(|error| fail(folder, error))?;
    for (name, bytes) in made {
        let path = folder.join(name);
        if let Err(error) = std::fs::write(&path, bytes) {
            remove(folder, made);
            return Err(fail(&path, error));
        }
    }
    Ok(())
}

/// A half-written project is removed.
fn remove(folder: &Path, made: &[(String, Vec<u8>)]) {
    for (name, _) in made {
        let _ = std::fs::remove_file(folder.join(name));
    }
    let _ = std::fs::remove_dir(folder);
}

/// An example of a file: made-up flowers of three species, some without a colour, some without a species.
fn flowers() -> String {
    let mut text = String::from("petal_length,petal_width,colour,found,species\n");
    let mut state = 1u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let species = [
        ("setosa", 1.5, 0.3),
        ("versicolor", 4.3, 1.3),
        ("virginica", 5.5, 2.0),
    ];
    for i in 0..150 {
        let (name, length, width) = species[i % 3];
        let spread = |random: &mut dyn FnMut() -> f64| random() + random() + random() - 1.5;
        let length = length + 0.8 * spread(&mut random);
        let width = (width + 0.3 * spread(&mut random)).max(0.1);
        let colour = match random() {
            x if x < 0.1 => "",
            x if x < 0.5 => "blue",
            x if x < 0.8 => ["white", "violet", "violet"][i % 3],
            _ => "violet",
        };
        let found = format!(
            "2024-{:02}-{:02}",
            4 + (random() * 3.0) as u32,
            1 + (random() * 28.0) as u32
        );
        let name = if i % 10 == 9 { "" } else { name };
        let _ = writeln!(text, "{length:.1},{width:.1},{colour},{found},{name}");
    }
    text
}
