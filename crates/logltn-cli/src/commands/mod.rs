//! The commands, each in a file of its own.

mod check;
mod compare;
mod dashboard;
mod demo;
mod entails;
mod eval;
mod example;
pub mod explain;
mod gradients;
mod meaning;
mod mine;
mod predict;
pub mod query;
mod reproduce;
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
    Check(check::Arguments),
    Train(train::Arguments),
    Eval(eval::Arguments),
    Example(example::Arguments),
    Query(query::Arguments),
    Explain(explain::Arguments),
    Predict(predict::Arguments),
    Entails(entails::Arguments),
    Mine(mine::Arguments),
    Compare(compare::Arguments),
    Dashboard(dashboard::Arguments),
    Sweep(sweep::Arguments),
    Reproduce(reproduce::Arguments),
}

impl Command {
    /// Does it.
    pub fn run(self) -> Outcome {
        match self {
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Train(arguments) => train::run_command(&arguments),
            Command::Eval(arguments) => eval::run(&arguments),
            Command::Example(arguments) => example::run(&arguments),
            Command::Query(arguments) => query::run(&arguments),
            Command::Explain(arguments) => explain::run(&arguments),
            Command::Predict(arguments) => predict::run(&arguments),
            Command::Entails(arguments) => entails::run(&arguments),
            Command::Mine(arguments) => mine::run(&arguments),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Dashboard(arguments) => dashboard::run(&arguments),
            Command::Sweep(arguments) => sweep::run(&arguments),
            Command::Reproduce(arguments) => reproduce::run(&arguments),
        }
    }
}

/// The project of a manifest with its warnings; or what is wrong with it has been reported.
fn load(manifest: &Path, json: bool) -> Result<(Project, Diagnostics), Outcome> {
    let mut found = Diagnostics::new();
    match Project::load(manifest, &mut found) {
        Some(project) => Ok((project, found)),
        None => Err(console::wrong_input(&found, json)),
    }
}
