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
        use console::ended;
        match self {
            Command::Demo(arguments) => demo::run(&arguments),
            Command::New(arguments) => new::run(&arguments),
            Command::Check(arguments) => ended(check::run(&arguments), arguments.json),
            Command::Advise(arguments) => ended(advise::run(&arguments), arguments.json),
            Command::Train(arguments) => train::run_command(&arguments),
            Command::Eval(arguments) => ended(eval::run(&arguments), arguments.json),
            Command::Example(arguments) => example::run(&arguments),
            Command::Query(arguments) => ended(query::run(&arguments), arguments.json),
            Command::Explain(arguments) => ended(explain::run(&arguments), arguments.json),
            Command::Predict(arguments) => ended(predict::run(&arguments), arguments.json),
            Command::Sample(arguments) => ended(sample::run(&arguments), false),
            Command::Entails(arguments) => ended(entails::run(&arguments), arguments.json),
            Command::Identify(arguments) => ended(identify::run(&arguments), arguments.json),
            Command::Mine(arguments) => ended(mine::run(&arguments), arguments.json),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Dashboard(arguments) => dashboard::run(&arguments),
            Command::Sweep(arguments) => ended(sweep::run(&arguments), arguments.json),
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

/// The project of a manifest with its warnings, as a run has it if there is one.
fn load(manifest: &Path, run: Option<&Path>) -> Result<(Project, Diagnostics), Diagnostics> {
    let mut found = Diagnostics::new();
    let project = match run {
        Some(run) => Project::load_for_run(manifest, run, &mut found),
        None => Project::load(manifest, &mut found),
    };
    match project {
        Some(project) => Ok((project, found)),
        None => Err(found),
    }
}

/// Errors after the warnings that were found before them.
fn after(warnings: &Diagnostics) -> impl Fn(Diagnostics) -> Diagnostics {
    move |errors| {
        let mut found = warnings.clone();
        found.extend(errors);
        found
    }
}
