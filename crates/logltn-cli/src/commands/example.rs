//! `logltn example`: LTN's examples and more, written, trained, shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics};
use logltn_examples::{EXAMPLES, Example, Shown, Sources, example};

use crate::commands::train;
use crate::console;
use crate::folder::free_folder;
use crate::outcome::Outcome;
use crate::text::{Align, table};

/// Write and train one of the examples; without a name, list them.
///
/// The folder gets the theory, its manifest, its data and a run: a project to change and train again.
#[derive(clap::Args)]
pub struct Arguments {
    /// The example's name
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The folder for theory, manifest, data and run; it must be empty or new [default: logltn-NAME]
    #[arg(long, value_name = "DIR", requires = "name")]
    out: Option<PathBuf>,
    /// The folder that holds `classics/` and `mnist/` [default: what LOGLTN_DATA names, or what the repository ships;
    /// else a stand-in]
    #[arg(long, value_name = "DIR", requires = "name")]
    data: Option<PathBuf>,
    /// Print the list as one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let Some(name) = &arguments.name else {
        return match arguments.json {
            true => console::print_json(&names()),
            false => console::print(&list()),
        };
    };
    match example(name) {
        Ok(_) if arguments.json => {
            let what = "`--json` applies to the list of examples only";
            let error = Diagnostic::error(Code::FlagDoesNotApply, what)
                .help("leave it out; the run's folder has `metrics.jsonl`");
            console::wrong_input(&Diagnostics::from(error), true)
        }
        Ok(example) => try_out(example, arguments),
        Err(error) => console::wrong_input(&Diagnostics::from(error), arguments.json),
    }
}

/// Each example by name, with what it is about.
fn names() -> BTreeMap<&'static str, &'static str> {
    EXAMPLES.iter().map(|e| (e.name, e.about)).collect()
}

pub fn list() -> String {
    let row = |example: &&Example| vec![example.name.to_string(), example.about.to_string()];
    let rows: Vec<Vec<String>> = EXAMPLES.iter().map(row).collect();
    let table = table(&[Align::Left, Align::Left], &rows);
    format!("{table}\ntry one with `logltn example NAME`\n")
}

fn try_out(example: &Example, arguments: &Arguments) -> Outcome {
    let folder = match &arguments.out {
        Some(out) => match must_be_empty(out, "choose another folder with `--out`") {
            Ok(()) => out.clone(),
            Err(error) => return console::wrong_input(&Diagnostics::from(error), false),
        },
        None => free_folder(Path::new(&format!("logltn-{}", example.name))),
    };
    let sources = Sources {
        data: arguments.data.clone(),
        stand_ins: false,
    };
    let written = match example.write(&sources, &folder) {
        Ok(written) => written,
        Err(errors) => return console::wrong_input(&errors, false),
    };
    console::complain(&format!(
        "theory, manifest and data are in {}\ndata: {}\n",
        folder.display(),
        written.data
    ));
    let run = folder.join("run");
    let outcome = train::run_command(&train::prepared(written.manifest.clone(), run.clone()));
    if outcome != Outcome::Done {
        return outcome;
    }
    match example.show(&written.manifest, &run) {
        Ok(shown) => console::print(&for_people(&shown)),
        Err(errors) => console::failed(&errors, false),
    }
}

/// No existing file is overwritten.
pub fn must_be_empty(folder: &Path, help: &str) -> Result<(), Diagnostic> {
    let taken = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.exists(),
    };
    match taken {
        false => Ok(()),
        true => Err(Diagnostic::error(
            Code::FolderTaken,
            format!("{}: something is there already", folder.display()),
        )
        .help(help)),
    }
}

fn for_people(shown: &Shown) -> String {
    let mut text = String::new();
    for found in &shown.tables {
        let is_number = |row: &Vec<String>, i: usize| {
            let number = |cell: &String| cell == "–" || cell.parse::<f64>().is_ok();
            row.get(i).is_none_or(number)
        };
        let align: Vec<Align> = (0..found.header.len())
            .map(|i| match found.rows.iter().all(|row| is_number(row, i)) {
                true => Align::Right,
                false => Align::Left,
            })
            .collect();
        let rows: Vec<Vec<String>> = std::iter::once(&found.header)
            .chain(&found.rows)
            .cloned()
            .collect();
        text += &format!("\n{}\n{}", found.title, table(&align, &rows));
    }
    if !shown.pictures.is_empty() {
        text.push('\n');
    }
    for picture in &shown.pictures {
        text += &format!("picture  {}\n", picture.display());
    }
    text
}
