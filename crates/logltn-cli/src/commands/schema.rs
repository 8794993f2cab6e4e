//! `logltn schema`: the manifest's JSON Schema.

use crate::console;
use crate::outcome::Outcome;

/// Print the JSON Schema of manifests, for editors and other programs.
///
/// With the extension Even Better TOML of VS Code, `#:schema ./logltn.schema.json` in the first line of a manifest gives completion
/// and checks. `logltn check` reports what depends on the theory.
#[derive(clap::Args)]
pub struct Arguments {}

/// Runs the command.
pub fn run(_: &Arguments) -> Outcome {
    console::print_json(&logltn_train::manifest::keys::schema())
}
