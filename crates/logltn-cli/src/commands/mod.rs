//! The commands, one file each.

mod advise;
pub mod check;
mod compare;
mod completions;
mod dashboard;
mod demo;
mod entails;
mod eval;
mod example;
pub mod explain;
mod fmt;
mod gradients;
pub mod identify;
mod lsp;
mod mcp;
mod meaning;
mod mine;
mod new;
mod predict;
pub mod query;
#[cfg(feature = "reproduce")]
mod reproduce;
mod sample;
mod schema;
mod sweep;
mod train;
mod violated;

use std::path::Path;

use clap::Subcommand;
use logltn::Diagnostics;
use logltn_train::project::Project;

use crate::console;
use crate::outcome::Outcome;

/// What the program can do.
#[derive(Subcommand)]
pub enum Command {
    Demo(demo::Arguments),
    New(new::Arguments),
    Check(check::Arguments),
    Advise(advise::Arguments),
    Train(train::Arguments),
    Eval(eval::Arguments),
    Example(example::Arguments),
    Query(query::Arguments),
    Explain(explain::Arguments),
    Predict(predict::Arguments),
    Sample(sample::Arguments),
    Entails(entails::Arguments),
    Identify(identify::Arguments),
    Mine(mine::Arguments),
    Compare(compare::Arguments),
    Dashboard(dashboard::Arguments),
    Sweep(sweep::Arguments),
    #[cfg(feature = "reproduce")]
    Reproduce(reproduce::Arguments),
    Fmt(fmt::Arguments),
    Schema(schema::Arguments),
    Lsp(lsp::Arguments),
    Mcp(mcp::Arguments),
    Completions(completions::Arguments),
    Man(completions::ManArguments),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Outcome {
        match self {
            Command::Demo(arguments) => demo::run(&arguments),
            Command::New(arguments) => new::run(&arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Advise(arguments) => advise::run(&arguments),
            Command::Train(arguments) => train::run_command(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Example(arguments) => example::run(&arguments),
            Command::Query(arguments) => query::run(&arguments),
            Command::Explain(arguments) => explain::run(&arguments),
            Command::Predict(arguments) => predict::run(&arguments),
            Command::Sample(arguments) => sample::run(&arguments),
            Command::Entails(arguments) => entails::run(&arguments),
            Command::Identify(arguments) => identify::run(&arguments),
            Command::Mine(arguments) => mine::run(&arguments),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Dashboard(arguments) => dashboard::run(&arguments),
            Command::Sweep(arguments) => sweep::run(&arguments),
            #[cfg(feature = "reproduce")]
            Command::Reproduce(arguments) => reproduce::run(&arguments),
            Command::Fmt(arguments) => fmt::run(&arguments),
            Command::Schema(arguments) => schema::run(&arguments),
            Command::Lsp(arguments) => lsp::run(&arguments),
            Command::Mcp(arguments) => mcp::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments),
            Command::Man(arguments) => completions::man(&arguments),
        }
    }
}

/// The project of a manifest with its warnings, as a run has it if there is one; or what is wrong with it has been reported.
fn load(
    manifest: &Path,
    run: Option<&Path>,
    json: bool,
) -> Result<(Project, Diagnostics), Outcome> {
    let mut found = Diagnostics::new();
    let project = match run {
        Some(run) => Project::load_for_run(manifest, run, &mut found),
        None => Project::load(manifest, &mut found),
    };
    match project {
        Some(project) => Ok((project, found)),
        None => Err(console::wrong_input(&found, json)),
    }
}
