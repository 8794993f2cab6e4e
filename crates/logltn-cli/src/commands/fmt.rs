//! `logltn fmt`: theories in their standard form.

use std::io::Read;
use std::path::{Path, PathBuf};

use logltn::{Code, Diagnostic, Diagnostics, Source};
use logltn_train::project::read_theory_file;
use logltn_train::run_directory::write_atomically;

use crate::console;
use crate::outcome::Outcome;
use crate::text::counted;

/// Format theories: one declaration per line, regular spaces and indentation, words instead of symbols.
///
/// Comments are kept, the meaning does not change, and formatting twice changes nothing. Line breaks inside a declaration
/// are kept where a line may end; lines longer than 120 characters are broken. A file with a mistake in its syntax is left
/// as it is.
#[derive(clap::Args)]
pub struct Arguments {
    /// Theories, `.ltn` files; `-` formats standard input to standard output
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write nothing; list files that are not formatted, and end with status 1 if there are any
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut wrong = Diagnostics::new();
    let mut failed = Diagnostics::new();
    let mut changed = 0;
    for path in &arguments.files {
        let is_input = path == Path::new("-");
        let read = if is_input {
            read_input()
        } else {
            read_file(path)
        };
        let formatted = read.and_then(|(text, source)| Ok((text, logltn::format(&source)?)));
        let (text, formatted) = match formatted {
            Ok(both) => both,
            Err(errors) => {
                wrong.extend(errors);
                continue;
            }
        };
        let differs = text != formatted;
        changed += usize::from(differs);
        if arguments.check {
            if differs {
                console::print(&format!("{}\n", path.display()));
            }
        } else if is_input {
            console::print_raw(&formatted);
        } else if differs && let Err(error) = write_atomically(path, formatted.as_bytes()) {
            failed.push(error);
        }
    }
    if !wrong.is_empty() {
        console::report(&failed);
        return console::wrong_input(&wrong, false);
    }
    if !failed.is_empty() {
        return console::failed(&failed, false);
    }
    if arguments.check && changed > 0 {
        let files = counted(changed, "file");
        console::complain(&format!(
            "{files} not in standard form: `logltn fmt` rewrites them\n"
        ));
        return Outcome::Failed;
    }
    Outcome::Done
}

fn read_file(path: &Path) -> Result<(String, Source), Diagnostics> {
    if path.is_file()
        && path
            .extension()
            .is_some_and(|extension| extension == "toml")
    {
        let what = format!("`{}` is a manifest: `fmt` is for theories", path.display());
        return Err(Diagnostic::error(Code::NotAFile, what)
            .help("give the `.ltn` file that it names")
            .into());
    }
    let source = read_theory_file(path)?;
    // As it is on the disk: a byte-order mark is not part of the source.
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| source.text().to_string());
    Ok((text, source))
}

fn read_input() -> Result<(String, Source), Diagnostics> {
    let mut text = String::new();
    let read = std::io::stdin()
        .lock()
        .take(Source::MAX_BYTES as u64)
        .read_to_string(&mut text);
    match read {
        Ok(_) => Ok((text.clone(), Source::new("standard input", text))),
        Err(error) => {
            let what = format!("cannot read standard input: {error}");
            Err(Diagnostic::error(Code::FileUnreadable, what).into())
        }
    }
}
