//! Where output goes: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use logltn::{Diagnostics, Severity};
use logltn_diagnostics::{harmless, is_obeyed};
use serde::Serialize;

use crate::outcome::Outcome;
use crate::text::counted;

/// Further messages are not printed.
const MOST_MESSAGES: usize = 50;

/// Writes a result to standard output, what it quotes from input made [`harmless`]. A closed pipe (`| head`) is not a failure.
pub fn print(text: &str) -> Outcome {
    write(&harmless(text))
}

/// Writes text that another program reads, as it is.
pub fn print_raw(text: &str) -> Outcome {
    write(text)
}

fn write(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Outcome::Done,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Outcome::Done,
        Err(error) => {
            complain(&format!(
                "error: cannot write to standard output: {error}\n"
            ));
            Outcome::Failed
        }
    }
}

/// Writes one JSON document to standard output.
pub fn print_json(document: &impl Serialize) -> Outcome {
    match serde_json::to_string_pretty(document) {
        // Written as JSON escapes: the document stays equivalent.
        Ok(text) => write(&(json_escapes(&text) + "\n")),
        Err(error) => {
            complain(&format!("error: {error}\n"));
            Outcome::Failed
        }
    }
}

/// The characters that [`harmless`] would change, as escapes of JSON. They occur in strings only.
pub fn json_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_obeyed(c) {
            true => out += &format!("\\u{:04x}", c as u32),
            false => out.push(c),
        }
    }
    out
}

/// Writes to standard error, what it quotes from input made [`harmless`].
pub fn complain(text: &str) {
    to_standard_error(&harmless(text));
}

/// If standard error is closed, nothing more can be reported.
fn to_standard_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Writes errors and warnings to standard error, and how many there are if there are errors.
pub fn report(found: &Diagnostics) {
    if found.is_empty() {
        return;
    }
    let mut text = found.render(colours(), MOST_MESSAGES);
    if found.has_errors() {
        let warnings = found.iter().count() - found.error_count();
        text += &format!("\n{}", counted(found.error_count(), "error"));
        if warnings > 0 {
            text += &format!(", {}", counted(warnings, "warning"));
        }
        text.push('\n');
    }
    // The colours are ours; quoted text has been made harmless.
    to_standard_error(&text);
}

/// A progress bar at a terminal; elsewhere nothing is shown.
pub fn progress_bar(length: u64, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
    bar
}

/// On a terminal, unless colours are switched off (no-color.org).
fn colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && io::stderr().is_terminal()
}

/// An error or warning as JSON.
#[derive(Serialize)]
pub struct Message<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    notes: &'a [String],
    help: Option<&'a str>,
}

/// All of them, in the order found.
pub fn messages(found: &Diagnostics) -> Vec<Message<'_>> {
    found
        .iter()
        .map(|d| {
            let place = d.place();
            Message {
                severity: match d.severity() {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
                code: d.code().name(),
                message: d.message(),
                file: place.map(|(file, ..)| file),
                line: place.map(|(_, line, _)| line),
                column: place.map(|(.., column)| column),
                notes: d.notes(),
                help: d.help_text(),
            }
        })
        .collect()
}

/// Reports what is wrong with the input; with `json` also on standard output, as `{"errors": […]}`.
pub fn wrong_input(found: &Diagnostics, json: bool) -> Outcome {
    tell(found, json);
    Outcome::WrongInput
}

/// How a command ends that looks at its input first.
pub fn ended(answer: Result<Outcome, Diagnostics>, json: bool) -> Outcome {
    answer.unwrap_or_else(|errors| wrong_input(&errors, json))
}

/// Reports a failure with valid input in the same way.
pub fn failed(found: &Diagnostics, json: bool) -> Outcome {
    tell(found, json);
    Outcome::Failed
}

fn tell(found: &Diagnostics, json: bool) {
    report(found);
    if json {
        let errors: Vec<_> = messages(found);
        print_json(&serde_json::json!({ "errors": errors }));
    }
}
