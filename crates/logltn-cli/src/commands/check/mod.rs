//! `logltn check`: is everything right, and how much work is it?

pub mod document;
mod human;
mod warnings;

use std::path::PathBuf;

use logltn::{Diagnostics, Pass, PlanOptions};
use logltn_train::train::{TrainOptions, Trainer};

use crate::commands::train::MEASURED;
use crate::commands::{identify, load};
use crate::console;
use crate::outcome::Outcome;

/// Check theory, manifest and data, and print what each axiom means.
///
/// Prints each axiom with its negation normal form and the number of its groundings before and after guards.
#[derive(clap::Args)]
pub struct Arguments {
    /// The manifest, a `.toml` file
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,
    /// Print the plan as well, and every member of a family
    #[arg(long)]
    plan: bool,
    /// With `--plan`, only what one pass of the planner made of the axioms
    #[arg(long, value_name = "NAME", requires = "plan", value_parser = PASSES)]
    pass: Option<String>,
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

const PASSES: [&str; Pass::ALL.len()] = {
    let mut names = [""; Pass::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Pass::ALL[i].name();
        i += 1;
    }
    names
};

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome, Diagnostics> {
    let (project, mut found) = load(&arguments.manifest, None)?;
    let options = PlanOptions {
        keep_forms: arguments.plan,
        ..PlanOptions::default()
    };
    let is_wanted =
        |pass: &Pass| (arguments.pass.as_deref()).is_none_or(|name| name == pass.name());
    let passes: Vec<Pass> = Pass::ALL.into_iter().filter(is_wanted).collect();
    let passes = arguments.plan.then_some(passes.as_slice());
    // Report now what training would refuse. A manifest without `[train]` may still get a length by a flag.
    let train = project.manifest.train.as_ref();
    // Only a host program that supplies numbers may leave this open, and it does not train from this manifest alone.
    if train.is_some() {
        found.extend(project.left_to_the_host());
    }
    let training = TrainOptions {
        steps: (train.is_none_or(|train| train.phases.is_empty())).then_some(1),
        ..TrainOptions::default()
    };
    let mut trainer = match Trainer::new_with(project, &training, &options) {
        Ok(trainer) if !found.has_errors() => trainer,
        made => {
            found.extend(made.err().unwrap_or_default());
            return Err(found);
        }
    };
    let work = trainer.step_work(MEASURED)?;
    let (project, plan) = (trainer.project(), trainer.plan());
    found.extend(plan.warnings().clone());
    warnings::nothing_left(&trainer, plan, &mut found);
    warnings::one_sided(project, &mut found);
    found.extend(work.warning().map(Diagnostics::from).unwrap_or_default());
    // A single pass is printed on request only.
    let open = match arguments.pass {
        Some(_) => Vec::new(),
        None => identify::not_fixed(project),
    };
    if arguments.json {
        let document = document::document(project, plan, passes, &work, &open, &found);
        return Ok(console::print_json(&document));
    }
    let mut text = human::text(project, plan, passes, &work);
    for one in &open {
        text += &one.line(&arguments.manifest);
    }
    let outcome = console::print(&text);
    console::report(&found);
    Ok(outcome)
}
